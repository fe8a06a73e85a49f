/* SPDX-License-Identifier: BSD-3-Clause */
/* onesided.c: one-sided operations whose results depend on who came first. Each part also mixes
 * what is in the memory of the target at its end. */
#include "race.h"

enum { ROUNDS = 12, CELLS = 64 };

static MPI_Win win;
static long *memory;

/* MPICH 4.0 gives two ranks the same memory if their windows have 8 bytes. */
static void open_window(size_t cells)
{
    MPI_Win_allocate((MPI_Aint)(cells * sizeof *memory), sizeof *memory, MPI_INFO_NULL,
                     MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(memory, 0, cells * sizeof *memory);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_window(size_t cells)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
    for (size_t i = 0; i < cells; i++)
        mix(memory[i]);
    MPI_Win_unlock(rank, win);
    MPI_Win_free(&win);
}

/* The target calculates x = 3 * x + VALUE in its last cell, which shows the order of these calls.
 * Nothing is asked for, so that recorded results do not make up for it. */
static void follow(int target, long value)
{
    const unsigned long three = 3, more = (unsigned long)value;
    MPI_Accumulate(&three, 1, MPI_UNSIGNED_LONG, target, CELLS - 1, 1, MPI_UNSIGNED_LONG, MPI_PROD,
                   win);
    MPI_Accumulate(&more, 1, MPI_UNSIGNED_LONG, target, CELLS - 1, 1, MPI_UNSIGNED_LONG, MPI_SUM,
                   win);
    MPI_Win_flush(target, win);
}

/* Ranks draw tickets and do what the ticket says. */
static void tickets(void)
{
    const long one = 1;
    long ticket = 0;
    open_window(CELLS);
    MPI_Win_lock_all(0, win);
    while (ticket < (long)ROUNDS * size) {
        MPI_Fetch_and_op(&one, &ticket, MPI_LONG, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        mix(ticket);
        if (ticket % 3 == 0)
            nap();
    }
    MPI_Win_unlock_all(win);
    close_window(CELLS);
}

/* Several are under way at a time, to several targets. */
static void many(void)
{
    const long one = 1;
    long got[ROUNDS];
    open_window(CELLS);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    for (int k = 0; k < 4; k++) {
        nap();
        for (int i = 0; i < ROUNDS; i++)
            MPI_Fetch_and_op(&one, &got[i], MPI_LONG, (rank + i) % size, 0, MPI_SUM, win);
        MPI_Win_flush_local_all(win);
        for (int i = 0; i < ROUNDS; i++)
            mix(got[i]);
    }
    MPI_Win_unlock_all(win);
    close_window(CELLS);
}

/* A lock in memory, by which ranks append to a list. */
static void spin(void)
{
    const long free_value = 0, own = rank + 1;
    enum { LOCK, COUNT, LIST };
    open_window(CELLS);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < ROUNDS / 2; i++) {
        long was = -1, n;
        while (was != free_value) {
            MPI_Compare_and_swap(&own, &free_value, &was, MPI_LONG, 0, LOCK, win);
            MPI_Win_flush(0, win);
            mix(was);
            if (was != free_value)
                usleep(50);
        }
        MPI_Get(&n, 1, MPI_LONG, 0, COUNT, 1, MPI_LONG, win);
        MPI_Win_flush(0, win);
        mix(n);
        MPI_Put(&own, 1, MPI_LONG, 0, LIST + n, 1, MPI_LONG, win);
        n++;
        MPI_Put(&n, 1, MPI_LONG, 0, COUNT, 1, MPI_LONG, win);
        follow(0, own);
        MPI_Accumulate(&free_value, 1, MPI_LONG, 0, LOCK, 1, MPI_LONG, MPI_REPLACE, win);
        MPI_Win_flush(0, win);
        nap();
    }
    MPI_Win_unlock_all(win);
    close_window(CELLS);
}

/* Derived datatypes, and operations that do not commute. */
static void replacing(void)
{
    MPI_Datatype column;
    MPI_Request request;
    double in[4] = {rank + 0.5, rank + 1.5, rank + 2.5, rank + 3.5};
    open_window(CELLS);
    MPI_Type_vector(4, 1, 3, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    for (int i = 0; i < ROUNDS; i++) {
        double out[12] = {0};
        long bits;
        nap();
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        if (i % 2 == 0) {
            MPI_Get_accumulate(in, 4, MPI_DOUBLE, out, 1, column, 0, 0, 1, column, MPI_REPLACE,
                               win);
            MPI_Win_flush(0, win);
        } else {
            MPI_Rget_accumulate(in, 4, MPI_DOUBLE, out, 1, column, 0, 0, 1, column, MPI_REPLACE,
                                win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
        for (int k = 0; k < 12; k++) {
            memcpy(&bits, &out[k], sizeof bits);
            mix(bits);
        }
        MPI_Raccumulate(in, 1, MPI_DOUBLE, 0, 16 + i, 1, MPI_DOUBLE, MPI_REPLACE, win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Win_unlock(0, win);
        in[i % 4] += 0.1;
    }
    MPI_Type_free(&column);
    close_window(CELLS);
}

/* Exclusive epochs that append to a list, and shared ones that read it. */
static void append(void)
{
    open_window(CELLS);
    for (int i = 0; i < ROUNDS; i++) {
        long n, own = rank * 100 + i, list[CELLS], *at = list;
        int target = i % 3 == 2 ? size - 1 : 0;
        nap();
        if (i % 4 == 3) {
            MPI_Request request;
            MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
            MPI_Rget(at, CELLS, MPI_LONG, target, 0, CELLS, MPI_LONG, win, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            for (int k = 0; k < CELLS; k++)
                mix(list[k]);
            MPI_Win_unlock(target, win);
            continue;
        }
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
        MPI_Get(&n, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_flush_local(target, win);
        mix(n);
        MPI_Put(&own, 1, MPI_LONG, target, 1 + n % (CELLS - 2), 1, MPI_LONG, win);
        follow(target, own);
        n++;
        MPI_Put(&n, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
        MPI_Win_unlock(target, win);
    }
    close_window(CELLS);
}

/* Locks of two targets that are held at once and given in the order in which they were taken. */
static void nested(void)
{
    open_window(CELLS);
    for (int i = 0; i < ROUNDS; i++) {
        long n[2], own = rank * 100 + i;
        nap();
        for (int target = 0; target < 2 && target < size; target++) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
            MPI_Get(&n[target], 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
            MPI_Win_flush(target, win);
            MPI_Put(&own, 1, MPI_LONG, target, 1 + n[target] % (CELLS - 2), 1, MPI_LONG, win);
            follow(target, own);
            n[target]++;
        }
        for (int target = 0; target < 2 && target < size; target++) {
            MPI_Put(&n[target], 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
            mix(n[target]);
            MPI_Win_unlock(target, win);
        }
    }
    close_window(CELLS);
}

/* Epochs of all targets beside exclusive ones. */
static void phases(void)
{
    open_window(CELLS);
    for (int i = 0; i < ROUNDS; i++) {
        long own = rank * 100 + i, n;
        nap();
        if ((i + rank) % 2) {
            MPI_Win_lock_all(0, win);
            MPI_Fetch_and_op(&own, &n, MPI_LONG, 0, 1, MPI_REPLACE, win);
            MPI_Win_flush_local(0, win);
            mix(n);
            MPI_Accumulate(&n, 1, MPI_LONG, 0, 2, 1, MPI_LONG, MPI_SUM, win);
            MPI_Win_unlock_all(win);
        } else {
            long two[2];
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Get(two, 2, MPI_LONG, 0, 1, 2, MPI_LONG, win);
            MPI_Win_flush(0, win);
            mix(two[0]);
            mix(two[1]);
            two[1] = two[1] * 3 + two[0];
            MPI_Put(&two[1], 1, MPI_LONG, 0, 2, 1, MPI_LONG, win);
            follow(0, own);
            MPI_Win_unlock(0, win);
        }
    }
    close_window(CELLS);
}

/* What ranks accumulate at a target between fences, or for MPI_Win_post, has no order. The sum
 * that is left has. */
static void active(void)
{
    long one = rank + 1, sum, cells[8];
    MPI_Group world, first, others;
    int zero = 0;
    open_window(CELLS);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &zero, &first);
    MPI_Group_difference(world, first, &others);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Win_fence(0, win);
        nap();
        MPI_Get_accumulate(&one, 1, MPI_LONG, &sum, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_fence(0, win);
        mix(sum);
        MPI_Get(cells, 8, MPI_LONG, 0, 0, 8, MPI_LONG, win);
        MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
        mix(cells[0]);
    }
    for (int i = 0; i < ROUNDS && size > 1; i++) {
        if (rank == 0) {
            MPI_Win_post(others, 0, win);
            MPI_Win_wait(win);
        } else {
            MPI_Win_start(first, 0, win);
            nap();
            MPI_Fetch_and_op(&one, &sum, MPI_LONG, 0, 1, MPI_SUM, win);
            MPI_Win_complete(win);
            mix(sum);
        }
    }
    MPI_Group_free(&others);
    MPI_Group_free(&first);
    MPI_Group_free(&world);
    close_window(CELLS);
}

/* More data than an element of a side stream has, and more results than wait. */
static void large(void)
{
    enum { MANY = 20000, RESULTS = 5000 };
    long *data = malloc(MANY * sizeof *data), *got = malloc(RESULTS * sizeof *got);
    open_window(MANY);
    for (int i = 0; i < 4; i++) {
        nap();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
        MPI_Get(data, MANY, MPI_LONG, 0, 0, MANY, MPI_LONG, win);
        MPI_Win_flush(0, win);
        for (int k = 0; k < MANY; k++) {
            mix(data[k]);
            data[k] = data[k] * 2 + rank + k % 5;
        }
        MPI_Put(data, MANY, MPI_LONG, 0, 0, MANY, MPI_LONG, win);
        MPI_Win_unlock(0, win);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    for (int k = 0; k < RESULTS; k++)
        MPI_Get(&got[k], 1, MPI_LONG, 0, k, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    for (int k = 0; k < RESULTS; k++)
        mix(got[k]);
    close_window(MANY);
    free(data);
    free(got);
}

/* Rank 0 frees windows at once that others have only just made. */
static void bystander(void)
{
    enum { WINDOWS = 12 };
    for (int k = 0; k < WINDOWS; k++) {
        long cells[2] = {0}, got, next;
        MPI_Win_create(cells, sizeof cells, sizeof *cells, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        for (int i = 0; rank > 0 && i < ROUNDS; i++) {
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
            MPI_Get(&got, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
            MPI_Win_flush(0, win);
            next = got * 3 + rank;
            MPI_Put(&next, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
            MPI_Win_unlock(0, win);
            mix(got);
        }
        MPI_Win_free(&win);
        mix(cells[0]);
    }
}

static const Part parts[] = {
    {"tickets", tickets}, {"many", many},           {"spin", spin},     {"replacing", replacing},
    {"append", append},   {"nested", nested},       {"phases", phases}, {"active", active},
    {"large", large},     {"bystander", bystander},
};

int main(int argc, char **argv)
{
    return race(argc, argv, parts, sizeof parts / sizeof *parts);
}
