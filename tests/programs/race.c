/* SPDX-License-Identifier: BSD-3-Clause */
/* race.c: races of messages: wildcard receives, probes, and calls that choose. */
#include "race.h"

static void receive(void)
{
    if (rank > 0)
        send_all(10, 3);
    for (int i = 0; rank == 0 && i < MESSAGES * (size - 1); i++) {
        MPI_Status s;
        int v;
        MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        mix(v);
        mix(s.MPI_SOURCE);
        mix(s.MPI_TAG);
    }
}

/* A tag is open and the source is not, and the other way round. */
static void half_open(void)
{
    if (rank > 0)
        send_all(10, 1);
    for (int i = 0; rank == 0 && i < MESSAGES * (size - 1); i++) {
        MPI_Status s;
        int v;
        if (i % 2 == 0)
            MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &s);
        else
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s),
                MPI_Recv(&v, 1, MPI_INT, s.MPI_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        mix(v);
    }
}

/* A pool of receives that are posted again, beside bursts of sends. */
static void pool(void)
{
    MPI_Request in[POOL], out[MESSAGES];
    MPI_Status status[POOL];
    int buf[POOL], index[POOL], values[MESSAGES], sent = 0, got = 0, expected = 0, n;
    for (int from = 0; from < size; from++)
        for (int i = 0; i < MESSAGES; i++)
            expected += size > 1 && from != rank && (from + 1 + i % (size - 1)) % size == rank;
    for (int i = 0; i < POOL; i++)
        MPI_Irecv(&buf[i], 1, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD, &in[i]);
    while (sent < MESSAGES || got < expected) {
        if (sent < MESSAGES) {
            values[sent] = rank * 1000 + sent;
            MPI_Isend(&values[sent], 1, MPI_INT, (rank + 1 + sent % (size - 1)) % size, 20,
                      MPI_COMM_WORLD, &out[sent]);
            if (++sent % 4 == 0)
                nap();
        }
        MPI_Testsome(POOL, in, &n, index, status);
        for (int i = 0; i < n; i++) {
            mix(buf[index[i]]);
            mix(status[i].MPI_SOURCE);
            got++;
            MPI_Irecv(&buf[index[i]], 1, MPI_INT, MPI_ANY_SOURCE, 20, MPI_COMM_WORLD,
                      &in[index[i]]);
        }
    }
    MPI_Waitall(MESSAGES, out, MPI_STATUSES_IGNORE);
    for (int i = 0; i < POOL; i++) {
        MPI_Cancel(&in[i]);
        MPI_Wait(&in[i], MPI_STATUS_IGNORE);
    }
}

/* A master that looks for requests of workers. */
static void master(void)
{
    for (int i = 0; rank > 0 && i < MESSAGES; i++) {
        int v = i;
        nap();
        MPI_Send(&v, 1, MPI_INT, 0, 30, MPI_COMM_WORLD);
        MPI_Recv(&v, 1, MPI_INT, 0, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mix(v);
    }
    for (int n = 0; rank == 0 && n < MESSAGES * (size - 1);) {
        MPI_Status s;
        int v, found;
        MPI_Iprobe(MPI_ANY_SOURCE, 30, MPI_COMM_WORLD, &found, &s);
        if (!found)
            continue;
        MPI_Recv(&v, 1, MPI_INT, s.MPI_SOURCE, 30, MPI_COMM_WORLD, &s);
        mix(s.MPI_SOURCE);
        MPI_Send(&n, 1, MPI_INT, s.MPI_SOURCE, 31, MPI_COMM_WORLD);
        n++;
    }
}

/* All to all, with as many open receives as there are messages. */
static void any(void)
{
    MPI_Request in[MESSAGES], out[MESSAGES];
    int buf[MESSAGES], values[MESSAGES], expected = 0, i;
    for (int from = 0; from < size; from++)
        for (i = 0; i < MESSAGES; i++)
            expected += (from + i) % size == rank;
    for (i = 0; i < expected && i < MESSAGES; i++)
        MPI_Irecv(&buf[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &in[i]);
    for (i = 0; i < MESSAGES; i++) {
        values[i] = rank * 1000 + i;
        nap();
        MPI_Isend(&values[i], 1, MPI_INT, (rank + i) % size, 40 + i % 3, MPI_COMM_WORLD, &out[i]);
    }
    for (int n = 0; n < expected; n++) {
        MPI_Status s;
        if (n < MESSAGES) {
            MPI_Waitany(expected < MESSAGES ? expected : MESSAGES, in, &i, &s);
            mix(i);
            mix(buf[i]);
        } else {
            MPI_Recv(&i, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
            mix(i);
        }
    }
    MPI_Waitall(MESSAGES, out, MPI_STATUSES_IGNORE);
}

/* The nonblocking consensus of Hoefler, Siebert and Lumsdaine (2010). */
static void nbx(void)
{
    MPI_Request out[3], barrier;
    int n = rank % 3 + 1, in_barrier = 0, done = 0, found, all;
    for (int i = 0; i < n; i++)
        MPI_Issend(&rank, 1, MPI_INT, (rank + 1 + i) % size, 50, MPI_COMM_WORLD, &out[i]);
    while (!done) {
        MPI_Status s;
        MPI_Iprobe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &found, &s);
        if (found) {
            int v;
            MPI_Recv(&v, 1, MPI_INT, s.MPI_SOURCE, 50, MPI_COMM_WORLD, &s);
            mix(v);
        }
        if (in_barrier) {
            MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
            continue;
        }
        MPI_Testall(n, out, &all, MPI_STATUSES_IGNORE);
        if (all)
            MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        in_barrier = all;
    }
}

/* Two receives of one kind whose completions the program sees out of order: figure 3 of the paper
 * on clock delta compression. */
static void out_of_order(void)
{
    if (rank == 1)
        send_all(60, 1);
    for (int k = 0; rank == 0 && k < MESSAGES / 2; k++) {
        MPI_Request r[2];
        int buf[2], done[2] = {0, 0};
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&buf[i], 1, MPI_INT, MPI_ANY_SOURCE, 60, MPI_COMM_WORLD, &r[i]);
        while (!done[0] || !done[1])
            for (int i = 1; i >= 0; i--) {
                if (done[i])
                    continue;
                MPI_Test(&r[i], &done[i], MPI_STATUS_IGNORE);
                if (done[i])
                    mix(2 * buf[i] + i);
            }
    }
}

static void persistent(void)
{
    MPI_Request r[POOL];
    int buf[POOL], all = MESSAGES * (size - 1);
    if (rank > 0)
        send_all(70, 4);
    for (int i = 0; rank == 0 && i < POOL; i++)
        MPI_Recv_init(&buf[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[i]);
    if (rank == 0)
        MPI_Startall(POOL, r);
    for (int n = 0; rank == 0 && n < all;) {
        MPI_Status s;
        int i, found = 1;
        if (n % 2)
            MPI_Testany(POOL, r, &i, &found, &s);
        else
            MPI_Waitany(POOL, r, &i, &s);
        if (!found)
            continue;
        mix(buf[i]);
        mix(s.MPI_SOURCE);
        if (++n + POOL <= all)
            MPI_Start(&r[i]);
    }
    for (int i = 0; rank == 0 && i < POOL; i++)
        MPI_Request_free(&r[i]);
}

/* A persistent receive that is cancelled in time now and then. */
static void cancelled(void)
{
    int late = 0, value;
    if (rank == 1)
        send_all(80, 1);
    if (rank == 0) {
        MPI_Request r;
        MPI_Status s;
        MPI_Recv_init(&value, 1, MPI_INT, MPI_ANY_SOURCE, 80, MPI_COMM_WORLD, &r);
        for (int i = 0, flag; i < MESSAGES; i++) {
            MPI_Start(&r);
            nap();
            MPI_Cancel(&r);
            MPI_Wait(&r, &s);
            MPI_Test_cancelled(&s, &flag);
            late += !flag;
            mix(flag ? -1 : value);
        }
        MPI_Request_free(&r);
        for (; size > 1 && late < MESSAGES; late++) {
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 80, MPI_COMM_WORLD, &s);
            mix(value);
        }
    }
    /* One that never completes must take no message. */
    static MPI_Request never;
    static int nothing;
    if (rank == 0)
        MPI_Irecv(&nothing, 1, MPI_INT, MPI_ANY_SOURCE, 9999, MPI_COMM_WORLD, &never);
}

static void matched(void)
{
    if (rank > 0)
        send_all(90, 1);
    for (int n = 0; rank == 0 && n < MESSAGES * (size - 1);) {
        MPI_Message m;
        MPI_Request r;
        MPI_Status s;
        int v, found = 1;
        if (n % 2)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &m, &s);
        else
            MPI_Mprobe(MPI_ANY_SOURCE, 90, MPI_COMM_WORLD, &m, &s);
        if (!found)
            continue;
        if (n % 3) {
            MPI_Mrecv(&v, 1, MPI_INT, &m, &s);
        } else {
            MPI_Imrecv(&v, 1, MPI_INT, &m, &r);
            MPI_Wait(&r, &s);
        }
        mix(v);
        mix(s.MPI_SOURCE);
        n++;
    }
}

/* Messages that are too long for some receives, by chance of who comes first. */
static void too_long(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; rank > 0 && i < MESSAGES; i++) {
        int v[2] = {rank * 1000 + i, i};
        nap();
        MPI_Send(v, 1 + (rank + i) % 2, MPI_INT, 0, 130 + i % 2, MPI_COMM_WORLD);
    }
    for (int i = 0; rank == 0 && i < MESSAGES * (size - 1); i++) {
        MPI_Request r;
        MPI_Status s;
        int v[2] = {0, 0}, done = 0, rc, class = 0;
        if (i % 3 == 0) {
            rc = MPI_Recv(v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
        } else {
            MPI_Irecv(v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
            if (i % 3 == 1)
                rc = MPI_Wait(&r, &s);
            else
                do
                    rc = MPI_Test(&r, &done, &s);
                while (rc == MPI_SUCCESS && !done);
        }
        MPI_Error_class(rc, &class);
        mix(class == MPI_SUCCESS ? v[0] : class == MPI_ERR_TRUNCATE ? -1 : -2);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* The same with calls that choose one of two receives. */
static void too_long_any(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int i = 0; rank > 0 && i < MESSAGES; i++) {
        int v[2] = {rank * 1000 + i, i};
        nap();
        MPI_Send(v, 1 + (rank + i) % 2, MPI_INT, 0, 160 + i % 2, MPI_COMM_WORLD);
    }
    for (int i = 0; rank == 0 && i < MESSAGES * (size - 1); i += 2) {
        MPI_Request r[2];
        int v[2][2] = {{0}};
        for (int k = 0; k < 2; k++)
            MPI_Irecv(v[k], 1, MPI_INT, MPI_ANY_SOURCE, 160 + k, MPI_COMM_WORLD, &r[k]);
        for (int k = 0; k < 2; k++) {
            MPI_Status s = {.MPI_SOURCE = -1};
            int found = 0, index = -1, rc, class;
            if (i % 4 == 0)
                rc = MPI_Waitany(2, r, &index, &s);
            else
                do
                    rc = MPI_Testany(2, r, &index, &found, &s);
                while (rc == MPI_SUCCESS && !found);
            MPI_Error_class(rc, &class);
            mix(index);
            mix(class == MPI_SUCCESS && index >= 0 ? v[index][0]
                : class == MPI_ERR_TRUNCATE        ? -1
                                                   : -2);
            /* Open MPI may have ended both. */
            mix(r[0] == MPI_REQUEST_NULL);
            mix(r[1] == MPI_REQUEST_NULL);
            if (r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL)
                break;
        }
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void both_ways(void)
{
    for (int i = 0; i < MESSAGES; i++) {
        int v = rank * 1000 + i, w;
        MPI_Status s;
        nap();
        MPI_Sendrecv(&v, 1, MPI_INT, (rank + 1 + i) % size, 100, &w, 1, MPI_INT, MPI_ANY_SOURCE,
                     100, MPI_COMM_WORLD, &s);
        mix(w);
        MPI_Sendrecv_replace(&w, 1, MPI_INT, (rank + 1) % size, 101, MPI_ANY_SOURCE, MPI_ANY_TAG,
                             MPI_COMM_WORLD, &s);
        mix(w);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

#if MPI_VERSION >= 4
/* MPI_Isendrecv after messages from all ranks: MPICH gives its requests the statuses that requests
 * before them had. */
static void both_at_once(void)
{
    MPI_Request r[2];
    int v[2] = {rank, rank}, w, before[MESSAGES];
    for (int i = 0; i < MESSAGES; i++) {
        for (int k = 0; k < 2; k++) {
            MPI_Irecv(&before[k], 1, MPI_INT, MPI_ANY_SOURCE, 150, MPI_COMM_WORLD, &r[k]);
            nap();
            MPI_Send(&rank, 1, MPI_INT, (rank + 1 + (i + k) % 3) % size, 150, MPI_COMM_WORLD);
        }
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        mix(before[0]);
        MPI_Isendrecv(&v[0], 1, MPI_INT, (rank + 1) % size, 151, &w, 1, MPI_INT,
                      (rank + size - 1) % size, 151, MPI_COMM_WORLD, &r[0]);
        MPI_Isendrecv_replace(&v[1], 1, MPI_INT, (rank + 2) % size, 152,
                              (rank + 2 * size - 2) % size, 152, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        mix(w);
        mix(v[1]);
        nap();
        MPI_Isendrecv(&v[0], 1, MPI_INT, (rank + 1 + i % size) % size, 153, &w, 1, MPI_INT,
                      MPI_ANY_SOURCE, 153, MPI_COMM_WORLD, &r[0]);
        MPI_Isendrecv(&v[0], 1, MPI_INT, (rank + 2) % size, 154, &before[0], 1, MPI_INT,
                      (rank + 2 * size - 2) % size, 154, MPI_COMM_WORLD, &r[1]);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        mix(w);
        mix(before[0]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}
#endif

#ifndef OPEN_MPI
/* The order of neighbours is that in which the ranks' edges come. */
static void graph(void)
{
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Comm comm;
        int edges = 2, weighted, in, out, to[2] = {(rank + 1) % size, (rank + i) % size},
            weight[2] = {rank, i}, from[64], to_now[64], w_in[64], w_out[64];
        nap();
        MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &edges, to, i % 2 ? weight : MPI_UNWEIGHTED,
                              MPI_INFO_NULL, 0, &comm);
        MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
        MPI_Dist_graph_neighbors(comm, 64, from, w_in, 64, to_now, w_out);
        for (int k = 0; k < in; k++)
            mix(from[k] + (weighted ? 100 * w_in[k] : 0));
        for (int k = 0; k < out; k++)
            mix(to_now[k] + (weighted ? 100 * w_out[k] : 0));
        MPI_Comm_free(&comm);
    }
}
#endif

/* One receive of each round is freed before it completes. Its message has come when the barrier has
 * returned, as its sender waits for that. */
static void freed(void)
{
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request r[16];
        int v[16], n = size - 1 < 16 ? size - 1 : 16;
        for (int k = 0; rank == 0 && k < n; k++)
            MPI_Irecv(&v[k], 1, MPI_INT, MPI_ANY_SOURCE, 170, MPI_COMM_WORLD, &r[k]);
        if (rank == 0 && n > 0) {
            MPI_Request_free(&r[i % n]);
            MPI_Waitall(n, r, MPI_STATUSES_IGNORE);
        }
        int mine = 1000 * i + rank;
        nap();
        if (rank > 0 && rank <= n)
            MPI_Ssend(&mine, 1, MPI_INT, 0, 170, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; rank == 0 && k < n; k++)
            mix(v[k]);
    }
}

/* One receive of each round is never completed. Its message has come when the barrier has returned,
 * as with `freed`. */
static void unfinished(void)
{
    enum { MOST = 16 };
    static int v[MESSAGES][MOST];
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Request r[MOST];
        int n = size - 1 < MOST ? size - 1 : MOST;
        for (int k = 0; rank == 0 && k < n; k++)
            MPI_Irecv(&v[i][k], 1, MPI_INT, MPI_ANY_SOURCE, 175, MPI_COMM_WORLD, &r[k]);
        for (int k = 0; rank == 0 && k < n; k++)
            if (k != i % n)
                MPI_Wait(&r[k], MPI_STATUS_IGNORE);
        int mine = 1000 * i + rank;
        nap();
        if (rank > 0 && rank <= n)
            MPI_Ssend(&mine, 1, MPI_INT, 0, 175, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; rank == 0 && k < n; k++)
            mix(v[i][k]);
    }
}

static void get_status(void)
{
    MPI_Request r;
    MPI_Status s;
    long polls = 0;
    int v, found = 0;
    if (rank == 1)
        send_all(110, 1);
    for (int i = 0; rank == 0 && size > 1 && i < MESSAGES; i++) {
        MPI_Irecv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 110, MPI_COMM_WORLD, &r);
        for (found = 0; !found; polls++)
            MPI_Request_get_status(r, &found, &s);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        mix(v);
    }
    mix(polls);
}

static void intercommunicator(void)
{
    MPI_Comm half, both;
    int side = rank % 2, me, others, mates, v;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 120, &both);
    MPI_Comm_rank(half, &me);
    MPI_Comm_size(half, &mates);
    MPI_Comm_remote_size(both, &others);
    for (int i = 0; i < MESSAGES; i++) {
        v = rank * 1000 + i;
        if (side == 0) {
            nap();
            MPI_Send(&v, 1, MPI_INT, i % others, i, both);
        }
        for (int k = 0; side == 1 && i % mates == me && k < others; k++) {
            MPI_Status s;
            MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, both, &s);
            mix(v);
            mix(s.MPI_SOURCE);
        }
    }
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

static const Part parts[] = {{"receive", receive},
                             {"half_open", half_open},
                             {"pool", pool},
                             {"master", master},
                             {"any", any},
                             {"nbx", nbx},
                             {"out_of_order", out_of_order},
                             {"persistent", persistent},
                             {"cancelled", cancelled},
                             {"matched", matched},
                             {"too_long", too_long},
                             {"too_long_any", too_long_any},
                             {"both_ways", both_ways},
#if MPI_VERSION >= 4
                             {"both_at_once", both_at_once},
#else
                             {"both_at_once", NULL},
#endif
                             {"freed", freed},
                             {"unfinished", unfinished},
#ifndef OPEN_MPI /* 4.1 hangs in this at times, also without Wend */
                             {"graph", graph},
#else
                             {"graph", NULL},
#endif
                             {"get_status", get_status},
                             {"intercommunicator", intercommunicator}};

/* race [PART…]: all parts, or those. */
int main(int argc, char **argv)
{
    return race(argc, argv, parts, sizeof parts / sizeof *parts);
}
