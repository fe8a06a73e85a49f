/* SPDX-License-Identifier: BSD-3-Clause */
/* race_grid.c: particles move between the neighbours of a grid without edges. Each rank has a pool
 * of receives from anywhere, tests it, and posts again what has completed. Where a particle goes
 * next depends on what came before it. Each sends its particles one by one, or in bursts. */
#include "race.h"

enum { PARTICLES = 12, HOPS = 6, BURST = 8, MOST_AT_HOME = 1024 };
enum { TAG_PARTICLE = 140, TAG_DEAD, TAG_STOP };

typedef struct {
    int from, value, hops;
} Particle;

typedef struct {
    MPI_Comm comm;
    int next[4];
    int in_bursts;
    Particle burst[BURST], sent[BURST];
    int to[BURST], tag[BURST], n_burst, n_sent;
    MPI_Request sends[BURST];
    Particle at_home[MOST_AT_HOME]; /* stay on this rank for a hop */
    int n_at_home, dead, stopped;
} Grid;

static void flush(Grid *g)
{
    MPI_Waitall(g->n_sent, g->sends, MPI_STATUSES_IGNORE);
    g->n_sent = g->n_burst;
    g->n_burst = 0;
    for (int i = 0; i < g->n_sent; i++) {
        g->sent[i] = g->burst[i];
        MPI_Isend(&g->sent[i], 3, MPI_INT, g->to[i], g->tag[i], g->comm, &g->sends[i]);
    }
}

static void send_to(Grid *g, int to, int tag, Particle p)
{
    if (!g->in_bursts) {
        nap();
        MPI_Send(&p, 3, MPI_INT, to, tag, g->comm);
        return;
    }
    if (g->n_burst == BURST)
        flush(g);
    g->burst[g->n_burst] = p;
    g->to[g->n_burst] = to;
    g->tag[g->n_burst++] = tag;
}

static void count_dead(Grid *g)
{
    if (++g->dead < size * PARTICLES)
        return;
    for (int to = 1; to < size; to++)
        send_to(g, to, TAG_STOP, (Particle){0});
    g->stopped = 1;
}

static void move(Grid *g, Particle p)
{
    int to = g->next[(hash >> 20) % 4];
    p.from = rank;
    p.value = p.value * 31 + rank;
    if (p.hops-- > 0 && to == rank)
        g->at_home[g->n_at_home++] = p; /* at most all particles are here */
    else if (p.hops >= 0)
        send_to(g, to, TAG_PARTICLE, p);
    else if (rank == 0)
        count_dead(g);
    else
        send_to(g, 0, TAG_DEAD, p);
}

static void arrive(Grid *g, Particle p, const MPI_Status *s)
{
    mix(s->MPI_SOURCE);
    mix(p.value);
    if (s->MPI_TAG == TAG_STOP)
        g->stopped = 1;
    else if (s->MPI_TAG == TAG_DEAD)
        count_dead(g);
    else
        move(g, p);
}

static void receive(Grid *g, MPI_Request *request, Particle *p)
{
    MPI_Irecv(p, 3, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, g->comm, request);
}

static void run(int in_bursts)
{
    int dims[2] = {0, 0}, periods[2] = {1, 1}, n, which[POOL];
    MPI_Request pool[POOL];
    MPI_Status s[POOL];
    Particle in[POOL];
    Grid *g = calloc(1, sizeof *g);
    g->in_bursts = in_bursts;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &g->comm);
    for (int i = 0; i < 2; i++)
        MPI_Cart_shift(g->comm, i, 1, &g->next[2 * i], &g->next[2 * i + 1]);
    for (int i = 0; i < POOL; i++)
        receive(g, &pool[i], &in[i]);
    for (int i = 0; i < PARTICLES; i++)
        move(g, (Particle){rank, i, HOPS});
    while (!g->stopped) {
        while (g->n_at_home > 0)
            move(g, g->at_home[--g->n_at_home]);
        MPI_Testsome(POOL, pool, &n, which, s);
        if (n == 0)
            flush(g);
        for (int i = 0; i < n; i++) {
            Particle p = in[which[i]];
            receive(g, &pool[which[i]], &in[which[i]]);
            arrive(g, p, &s[i]);
        }
    }
    flush(g);
    flush(g);
    for (int i = 0; i < POOL; i++) {
        MPI_Cancel(&pool[i]);
        MPI_Wait(&pool[i], &s[i]);
    }
    MPI_Comm_free(&g->comm);
    free(g);
}

static void one_by_one(void)
{
    run(0);
}

static void bursts(void)
{
    run(1);
}

static const Part parts[] = {{"one_by_one", one_by_one}, {"bursts", bursts}};

/* race_grid [PART…]: all parts, or those. */
int main(int argc, char **argv)
{
    return race(argc, argv, parts, sizeof parts / sizeof *parts);
}
