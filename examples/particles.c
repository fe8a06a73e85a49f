/* SPDX-License-Identifier: BSD-3-Clause */
/* particles: a particle walk on a grid of cells that belong to ranks; who hears from whom first
 * differs from run to run.
 *
 *   particles [-n PARTICLES] [-s STEPS] [-b BATCH]
 *
 * The communication pattern of Monte Carlo transport codes such as MCB. Ranks form a periodic
 * two-dimensional grid. In a step each particle makes a number of moves that its own random numbers
 * decide; one that leaves goes to the buffer of that neighbour, and full buffers (BATCH particles)
 * are sent at once. Receives from all neighbours are posted at the beginning; MPI_Testsome looks at
 * them after every few particles, takes what has come, and posts the receive again. A step ends
 * when the particles that finished, counted over all ranks with a nonblocking reduction, are all of
 * them.
 *
 * The order of arrivals differs, but each particle carries its random state, so the sum of where
 * particles end is the same in every run. */
#include <stdint.h>
#include <string.h>

#include "example.h"

enum { NEIGHBOURS = 4, TAG_PARTICLES = 11 };

typedef struct {
    uint64_t random;
    int32_t moves; /* left in this step */
    int32_t cell;  /* of the rank's 8 × 8 cells */
} Particle;

enum { EDGE = 8 };

typedef struct {
    Particle *at;
    int n, capacity;
} Stack;

static void push(Stack *s, Particle p)
{
    if (s->n == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 64;
        s->at = realloc(s->at, sizeof *s->at * s->capacity);
        CHECK(s->at != NULL);
    }
    s->at[s->n++] = p;
}

static uint32_t draw(Particle *p)
{
    p->random = p->random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(p->random >> 33);
}

static MPI_Comm grid;
static int neighbours[NEIGHBOURS], batch = 8;
static Particle *incoming[NEIGHBOURS];
static MPI_Request receives[NEIGHBOURS];
static Stack outgoing[NEIGHBOURS], work, resting;

/* Sends that are under way, each with its buffer. */
static MPI_Request *sends;
static Particle **send_buffers;
static int n_sends, sends_capacity;

static void post(int k)
{
    MPI_Irecv(incoming[k], batch * (int)sizeof(Particle), MPI_BYTE, neighbours[k], TAG_PARTICLES,
              grid, &receives[k]);
}

static void send_buffer(int k)
{
    if (n_sends == sends_capacity) {
        sends_capacity = sends_capacity ? 2 * sends_capacity : 16;
        sends = realloc(sends, sizeof *sends * sends_capacity);
        send_buffers = realloc(send_buffers, sizeof *send_buffers * sends_capacity);
        CHECK(sends && send_buffers);
    }
    size_t bytes = sizeof(Particle) * outgoing[k].n;
    send_buffers[n_sends] = allocate(bytes);
    memcpy(send_buffers[n_sends], outgoing[k].at, bytes);
    MPI_Isend(send_buffers[n_sends], (int)bytes, MPI_BYTE, neighbours[k], TAG_PARTICLES, grid,
              &sends[n_sends]);
    n_sends++;
    outgoing[k].n = 0;
}

static void finish_sends(void)
{
    MPI_Waitall(n_sends, sends, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n_sends; i++)
        free(send_buffers[i]);
    n_sends = 0;
}

static void receive(void)
{
    int n, which[NEIGHBOURS];
    MPI_Status statuses[NEIGHBOURS];
    MPI_Testsome(NEIGHBOURS, receives, &n, which, statuses);
    for (int i = 0; i < n; i++) {
        int bytes, k = which[i];
        MPI_Get_count(&statuses[i], MPI_BYTE, &bytes);
        for (int j = 0; j < bytes / (int)sizeof(Particle); j++)
            push(&work, incoming[k][j]);
        post(k);
    }
}

/* Moves a particle until it rests (returns 1) or leaves. */
static int move(Particle p)
{
    while (p.moves > 0) {
        int x = p.cell % EDGE, y = p.cell / EDGE, k = -1;
        switch (p.moves--, draw(&p) % 4) {
        case 0:
            if (--x < 0) {
                x += EDGE;
                k = 0;
            }
            break;
        case 1:
            if (++x == EDGE) {
                x = 0;
                k = 1;
            }
            break;
        case 2:
            if (--y < 0) {
                y += EDGE;
                k = 2;
            }
            break;
        default:
            if (++y == EDGE) {
                y = 0;
                k = 3;
            }
            break;
        }
        p.cell = y * EDGE + x;
        if (k >= 0) {
            push(&outgoing[k], p);
            if (outgoing[k].n == batch)
                send_buffer(k);
            return 0;
        }
    }
    push(&resting, p);
    return 1;
}

static void step(long all)
{
    /* counted and total are MPI's while the reduction runs */
    long done = 0, counted, total, sum_of_all = 0;
    while (resting.n > 0) { /* a new step begins: everyone may move again */
        Particle p = resting.at[--resting.n];
        p.moves = 5 + (int)(draw(&p) % 20);
        push(&work, p);
    }
    MPI_Request sum = MPI_REQUEST_NULL;
    while (sum_of_all < all) {
        for (int i = 0; i < 16 && work.n > 0; i++)
            done += move(work.at[--work.n]);
        if (work.n == 0)
            for (int k = 0; k < NEIGHBOURS; k++)
                if (outgoing[k].n > 0)
                    send_buffer(k);
        receive();
        if (sum == MPI_REQUEST_NULL) {
            counted = done;
            MPI_Iallreduce(&counted, &total, 1, MPI_LONG, MPI_SUM, grid, &sum);
        }
        int flag;
        MPI_Test(&sum, &flag, MPI_STATUS_IGNORE);
        if (flag)
            sum_of_all = total;
    }
    finish_sends();
}

int main(int argc, char **argv)
{
    int n = 40, steps = 4, rank, size, dims[2] = {0, 0}, periods[2] = {1, 1};
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "n:s:b:")) != -1;)
        switch (o) {
        case 'n':
            n = number(optarg, 0, 1000000);
            break;
        case 's':
            steps = number(optarg, 0, 1000000);
            break;
        case 'b':
            batch = number(optarg, 1, 1000000);
            break;
        default:
            return 2;
        }
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Comm_rank(grid, &rank);
    MPI_Cart_shift(grid, 1, 1, &neighbours[0], &neighbours[1]);
    MPI_Cart_shift(grid, 0, 1, &neighbours[2], &neighbours[3]);

    for (int i = 0; i < n; i++) {
        Particle p = {.random = (uint64_t)rank * 1000003 + (uint64_t)i + 1,
                      .cell = i % (EDGE * EDGE)};
        draw(&p);
        push(&resting, p);
    }
    for (int k = 0; k < NEIGHBOURS; k++) {
        incoming[k] = allocate(sizeof(Particle) * batch);
        post(k);
    }
    for (int s = 0; s < steps; s++) {
        step((long)n * size);
        MPI_Barrier(grid);
    }
    for (int k = 0; k < NEIGHBOURS; k++) {
        MPI_Cancel(&receives[k]);
        MPI_Status status;
        int cancelled;
        MPI_Wait(&receives[k], &status);
        MPI_Test_cancelled(&status, &cancelled);
        CHECK(cancelled);
        free(incoming[k]);
        free(outgoing[k].at);
    }

    uint64_t own[2] = {0, (uint64_t)resting.n}, sums[2];
    for (int i = 0; i < resting.n; i++)
        own[0] += resting.at[i].random ^ (uint64_t)resting.at[i].cell << 32 ^ (uint64_t)rank;
    MPI_Reduce(own, sums, 2, MPI_UINT64_T, MPI_SUM, 0, grid);
    if (rank == 0) {
        CHECK(sums[1] == (uint64_t)n * size);
        printf("particles: %d x %d ranks, %d particles each, %d steps, checksum %016lx\n", dims[0],
               dims[1], n, steps, (unsigned long)sums[0]);
    }
    free(work.at);
    free(resting.at);
    free(sends);
    free(send_buffers);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
