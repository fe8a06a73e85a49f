/* SPDX-License-Identifier: BSD-3-Clause */
/* rma: one-sided halo exchange of a ring of cells, with each way of synchronizing that MPI has, and
 * atomic counters.
 *
 *   rma [-m fence|pscw|lock|lockall|shared|dynamic|all] [-n CELLS] [-i ITERATIONS]
 *
 * Each rank has CELLS cells and a halo cell on either side; an iteration puts the border cells to
 * the neighbours' halos (the lock modes get them) and replaces each cell by the sum of its
 * neighbours modulo 2^64, which doubles the total exactly. Afterwards every rank takes tickets from
 * a counter on rank 0 with MPI_Fetch_and_op, and adds to a histogram with MPI_Accumulate,
 * MPI_Get_accumulate and MPI_Compare_and_swap. */
#include <stdint.h>
#include <string.h>

#include "example.h"

static const char *const modes[] = {"fence", "pscw", "lock", "lockall", "shared", "dynamic"};
enum mode { FENCE, PSCW, LOCK, LOCKALL, SHARED, DYNAMIC, MODES };

static int rank, size, n = 32, left, right;

static uint64_t total(const uint64_t *u)
{
    uint64_t own = 0, sum;
    for (int i = 1; i <= n; i++)
        own += u[i];
    MPI_Allreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static void sweep(uint64_t *u)
{
    uint64_t before = u[0];
    for (int i = 1; i <= n; i++) {
        uint64_t next = before + u[i + 1];
        before = u[i];
        u[i] = next;
    }
}

/* Halos of one iteration. LEFT_AT and RIGHT_AT: address of the neighbours' array as target
 * displacements count (0 unless dynamic). */
static void exchange(enum mode mode, MPI_Win win, uint64_t *u, MPI_Group neighbours,
                     MPI_Aint left_at, MPI_Aint right_at)
{
    switch (mode) {
    case FENCE:
    case DYNAMIC: {
        MPI_Aint unit = mode == DYNAMIC ? (MPI_Aint)sizeof *u : 1;
        MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
        MPI_Put(&u[1], 1, MPI_UINT64_T, left, MPI_Aint_add(left_at, (n + 1) * unit), 1,
                MPI_UINT64_T, win);
        MPI_Put(&u[n], 1, MPI_UINT64_T, right, right_at, 1, MPI_UINT64_T, win);
        MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win);
        break;
    }
    case PSCW:
        MPI_Win_post(neighbours, 0, win);
        MPI_Win_start(neighbours, 0, win);
        MPI_Put(&u[1], 1, MPI_UINT64_T, left, n + 1, 1, MPI_UINT64_T, win);
        MPI_Put(&u[n], 1, MPI_UINT64_T, right, 0, 1, MPI_UINT64_T, win);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        break;
    case LOCK: {
        uint64_t from_left, from_right;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock(MPI_LOCK_SHARED, left, 0, win);
        MPI_Get(&from_left, 1, MPI_UINT64_T, left, n, 1, MPI_UINT64_T, win);
        MPI_Win_unlock(left, win);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win);
        MPI_Get(&from_right, 1, MPI_UINT64_T, right, 1, 1, MPI_UINT64_T, win);
        MPI_Win_unlock(right, win);
        MPI_Barrier(MPI_COMM_WORLD);
        u[0] = from_left;
        u[n + 1] = from_right;
        break;
    }
    case LOCKALL: {
        MPI_Request requests[2];
        uint64_t got[2];
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        MPI_Rget(&got[0], 1, MPI_UINT64_T, left, n, 1, MPI_UINT64_T, win, &requests[0]);
        MPI_Rget(&got[1], 1, MPI_UINT64_T, right, 1, 1, MPI_UINT64_T, win, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Win_flush_all(win);
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        u[0] = got[0];
        u[n + 1] = got[1];
        break;
    }
    default: {
        MPI_Aint bytes;
        int unit;
        uint64_t *at_left, *at_right;
        MPI_Win_shared_query(win, left, &bytes, &unit, &at_left);
        MPI_Win_shared_query(win, right, &bytes, &unit, &at_right);
        CHECK(bytes == (MPI_Aint)(sizeof *u * (n + 2)) && unit == (int)sizeof *u);
        MPI_Win_fence(0, win);
        u[0] = at_left[n];
        u[n + 1] = at_right[1];
        MPI_Win_fence(0, win);
        break;
    }
    }
}

static void halos(enum mode mode, int iterations)
{
    size_t bytes = sizeof(uint64_t) * (n + 2);
    uint64_t *u = NULL;
    MPI_Win win;
    MPI_Aint left_at = 0, right_at = 0;
    switch (mode) {
    case SHARED:
        MPI_Win_allocate_shared((MPI_Aint)bytes, sizeof *u, MPI_INFO_NULL, MPI_COMM_WORLD, &u,
                                &win);
        break;
    case FENCE:
    case LOCKALL:
        MPI_Win_allocate((MPI_Aint)bytes, sizeof *u, MPI_INFO_NULL, MPI_COMM_WORLD, &u, &win);
        break;
    case DYNAMIC: {
        u = allocate(bytes);
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, u, (MPI_Aint)bytes);
        MPI_Aint mine;
        MPI_Get_address(u, &mine);
        MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &right_at, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(&mine, 1, MPI_AINT, right, 1, &left_at, 1, MPI_AINT, left, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        break;
    }
    default:
        MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &u);
        MPI_Win_create(u, (MPI_Aint)bytes, sizeof *u, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        break;
    }
    MPI_Win_set_name(win, modes[mode]);

    int around[2] = {left, right};
    MPI_Group world, neighbours;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, left == right ? 1 : 2, around, &neighbours);
    MPI_Group_free(&world);

    for (int i = 0; i < n + 2; i++)
        u[i] = (uint64_t)(rank * 101 + i);
    MPI_Barrier(MPI_COMM_WORLD);
    uint64_t expected = total(u);
    for (int it = 0; it < iterations; it++) {
        exchange(mode, win, u, neighbours, left_at, right_at);
        sweep(u);
        expected *= 2;
    }
    CHECK(total(u) == expected);

    MPI_Group_free(&neighbours);
    if (mode == DYNAMIC)
        MPI_Win_detach(win, u);
    MPI_Win_free(&win);
    if (mode == DYNAMIC)
        free(u);
    else if (mode == PSCW || mode == LOCK)
        MPI_Free_mem(u);
}

/* Counters on rank 0: [0] tickets, [1] a sum, [2] a maximum, [3] a winner. */
static void counters(int iterations)
{
    long *counter, one = 1, ticket, last = -1;
    MPI_Win win;
    MPI_Win_allocate(rank == 0 ? 4 * sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &counter, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        memset(counter, 0, 4 * sizeof *counter);
        counter[3] = -1;
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int it = 0; it < iterations; it++) {
        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        CHECK(ticket > last);
        last = ticket;
        long mine = rank + 1, largest;
        MPI_Accumulate(&mine, 1, MPI_LONG, 0, 1, 1, MPI_LONG, MPI_SUM, win);
        MPI_Get_accumulate(&mine, 1, MPI_LONG, &largest, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_MAX,
                           win);
        MPI_Win_flush_local(0, win);
    }
    long nobody = -1, me = rank, found;
    MPI_Compare_and_swap(&me, &nobody, &found, MPI_LONG, 0, 3, win);
    MPI_Win_flush(0, win);
    int won = found == -1, winners;
    MPI_Win_unlock_all(win);
    MPI_Allreduce(&won, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(winners == 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        CHECK(counter[0] == (long)size * iterations);
        CHECK(counter[1] == (long)iterations * size * (size + 1) / 2);
        CHECK(counter[2] == (iterations > 0 ? size : 0));
        MPI_Win_unlock(0, win);
    }
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    int iterations = 10, first = 0, last = MODES - 1;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "m:n:i:")) != -1;)
        switch (o) {
        case 'm':
            if (strcmp(optarg, "all") == 0)
                break;
            for (first = 0; first < MODES && strcmp(optarg, modes[first]); first++)
                ;
            if (first == MODES) {
                fprintf(stderr, "unknown mode: %s\n", optarg);
                return 2;
            }
            last = first;
            break;
        case 'n':
            n = number(optarg, 1, 1000000);
            break;
        case 'i':
            iterations = number(optarg, 0, 1000000);
            break;
        default:
            return 2;
        }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int mode = first; mode <= last; mode++)
        halos((enum mode)mode, iterations);
    counters(iterations);
    if (rank == 0)
        printf("rma: %d ranks, %d cells each, %d iterations, %d of %d ways\n", size, n, iterations,
               last - first + 1, MODES);
    MPI_Finalize();
    return 0;
}
