/* SPDX-License-Identifier: BSD-3-Clause */
/* collectives: every collective operation of MPI, in the ways that MPI has of calling it.
 *
 *   collectives [-k blocking|nonblocking|persistent|all] [-r REPEATS]
 *
 * The operations are on MPI_COMM_WORLD and, for the neighbourhood ones, on a ring and on a directed
 * graph that has more in-edges on some ranks than on others. Each result is compared with what it
 * must be; rank 0 prints how many operations were checked. */
#include <string.h>

#include "example.h"

enum kind { BLOCKING, NONBLOCKING, PERSISTENT, KINDS };
static const char *const kind_names[KINDS] = {"blocking", "nonblocking", "persistent"};

static enum kind kind;
static int rank, size;
static long operations;

static void finish(MPI_Request *request)
{
    if (kind == PERSISTENT) {
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
        MPI_Request_free(request);
    } else {
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}

#if MPI_4
#define INIT(NAME, ...) MPI_##NAME##_init(__VA_ARGS__)
#else
#define INIT(NAME, ...) (void)0 /* main has seen to it that this is not reached */
#endif

/* Calls collective NAME in the current kind: MPI_Bcast is MPI_Ibcast when nonblocking and
 * MPI_Bcast_init when persistent. */
#define CALL(NAME, LOWER, ...)                                \
    do {                                                      \
        MPI_Request request;                                  \
        operations++;                                         \
        if (kind == BLOCKING) {                               \
            MPI_##NAME(__VA_ARGS__);                          \
        } else if (kind == NONBLOCKING) {                     \
            MPI_I##LOWER(__VA_ARGS__, &request);              \
            finish(&request);                                 \
        } else {                                              \
            INIT(NAME, __VA_ARGS__, MPI_INFO_NULL, &request); \
            finish(&request);                                 \
        }                                                     \
    } while (0)

static int *ints(int n)
{
    int *p = allocate(sizeof *p * n);
    for (int i = 0; i < n; i++)
        p[i] = -1;
    return p;
}

/* An operator that MPI does not have, and that does not commute: first map a, then map b. */
static void compose(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    const long *a = in; /* pairs (m, c): the map x -> m x + c */
    long *b = inout;
    for (int i = 0; i < *n; i++) {
        long m = a[2 * i], c = a[2 * i + 1];
        b[2 * i + 1] = (b[2 * i] * c + b[2 * i + 1]) % 10007;
        b[2 * i] = b[2 * i] * m % 10007;
    }
}

static void rooted(MPI_Comm comm)
{
    int root = size / 2, block = 3;
    CALL(Barrier, barrier, comm);

    int word[2] = {rank == root ? 41 : 0, rank == root ? 42 : 0};
    CALL(Bcast, bcast, word, 2, MPI_INT, root, comm);
    CHECK(word[0] == 41 && word[1] == 42);

    int *all = ints(size * block), own[3] = {rank, rank * 10, rank * 100};
    CALL(Gather, gather, own, block, MPI_INT, rank == root ? all : NULL, block, MPI_INT, root,
         comm);
    for (int r = 0; rank == root && r < size; r++)
        CHECK(all[r * block] == r && all[r * block + 2] == r * 100);
    if (rank == root)
        memcpy(&all[root * block], own, sizeof own);
    CALL(Gather, gather, rank == root ? MPI_IN_PLACE : own, block, MPI_INT, all, block, MPI_INT,
         root, comm);
    CALL(Scatter, scatter, all, block, MPI_INT, rank == root ? MPI_IN_PLACE : (void *)own, block,
         MPI_INT, root, comm);
    CHECK(own[1] == rank * 10);

    /* rank r has r + 1 numbers; they lie apart at the root */
    int *counts = ints(size), *at = ints(size), total = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = r + 1;
        at[r] = total + r;
        total += r + 1;
    }
    int *wide = ints(total + size), *mine = ints(rank + 1);
    for (int i = 0; i <= rank; i++)
        mine[i] = rank + i;
    CALL(Gatherv, gatherv, mine, rank + 1, MPI_INT, wide, counts, at, MPI_INT, root, comm);
    for (int r = 0; rank == root && r < size; r++)
        CHECK(wide[at[r]] == r && wide[at[r] + r] == 2 * r);
    CALL(Scatterv, scatterv, wide, counts, at, MPI_INT, mine, rank + 1, MPI_INT, root, comm);
    CHECK(mine[0] == rank && mine[rank] == 2 * rank);
    CALL(Allgatherv, allgatherv, mine, rank + 1, MPI_INT, wide, counts, at, MPI_INT, comm);
    for (int r = 0; r < size; r++)
        CHECK(wide[at[r]] == r && wide[at[r] + r] == 2 * r);
    free(all);
    free(counts);
    free(at);
    free(wide);
    free(mine);
}

static void everyone(MPI_Comm comm)
{
    int *all = ints(size), *to = ints(size), *from = ints(size);
    CALL(Allgather, allgather, &rank, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int r = 0; r < size; r++)
        CHECK(all[r] == r);
    all[rank] = 7 * rank;
    CALL(Allgather, allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, comm);
    CHECK(all[size - 1] == 7 * (size - 1));

    for (int r = 0; r < size; r++)
        to[r] = rank * 1000 + r;
    CALL(Alltoall, alltoall, to, 1, MPI_INT, from, 1, MPI_INT, comm);
    for (int r = 0; r < size; r++)
        CHECK(from[r] == r * 1000 + rank);
    CALL(Alltoall, alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, from, 1, MPI_INT, comm);
    CHECK(from[0] == rank * 1000 + 0);

    /* from rank a to rank b go (a + b) % 3 numbers: some ranks get nothing from some */
    int *scounts = ints(size), *rcounts = ints(size), *sat = ints(size), *rat = ints(size), n = 0;
    for (int r = 0; r < size; r++) {
        scounts[r] = rcounts[r] = (rank + r) % 3;
        sat[r] = rat[r] = n;
        n += scounts[r];
    }
    int *sbuf = ints(n), *rbuf = ints(n);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < scounts[r]; i++)
            sbuf[sat[r] + i] = rank * 1000 + r;
    CALL(Alltoallv, alltoallv, sbuf, scounts, sat, MPI_INT, rbuf, rcounts, rat, MPI_INT, comm);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < rcounts[r]; i++)
            CHECK(rbuf[rat[r] + i] == r * 1000 + rank);

    /* the same with displacements in bytes and a type for each rank: pairs of shorts and ints have
     * the same bytes */
    MPI_Datatype *stypes = allocate(sizeof *stypes * size),
                 *rtypes = allocate(sizeof *rtypes * size), two_shorts;
    MPI_Type_contiguous(2, MPI_SHORT, &two_shorts);
    MPI_Type_commit(&two_shorts);
    for (int r = 0; r < size; r++) {
        sat[r] *= (int)sizeof(int);
        rat[r] *= (int)sizeof(int);
        stypes[r] = rtypes[r] = (rank + r) % 2 ? two_shorts : MPI_INT;
    }
    CALL(Alltoallw, alltoallw, sbuf, scounts, sat, stypes, rbuf, rcounts, rat, rtypes, comm);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < rcounts[r]; i++)
            CHECK(rbuf[rat[r] / (int)sizeof(int) + i] == r * 1000 + rank);
    MPI_Type_free(&two_shorts);
    free(stypes);
    free(rtypes);
    free(sbuf);
    free(rbuf);
    free(scounts);
    free(rcounts);
    free(sat);
    free(rat);
    free(all);
    free(to);
    free(from);
}

static void reductions(MPI_Comm comm, MPI_Op composition)
{
    double x = rank + 1, sum = 0;
    CALL(Reduce, reduce, &x, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
    CHECK(rank != 0 || sum == size * (size + 1) / 2.0);
    CALL(Allreduce, allreduce, &x, &sum, 1, MPI_DOUBLE, MPI_MAX, comm);
    CHECK(sum == size);
    CALL(Allreduce, allreduce, MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_SUM, comm);
    CHECK(x == size * (size + 1) / 2.0);

    struct {
        double value;
        int where;
    } low = {(rank + 1) % size, rank}, lowest;
    CALL(Allreduce, allreduce, &low, &lowest, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    CHECK(lowest.value == 0 && lowest.where == size - 1);

    int *in = ints(size), *counts = ints(size), out = -1;
    for (int r = 0; r < size; r++) {
        in[r] = rank + r;
        counts[r] = 1;
    }
    CALL(Reduce_scatter_block, reduce_scatter_block, in, &out, 1, MPI_INT, MPI_SUM, comm);
    CHECK(out == size * (size - 1) / 2 + size * rank);
    CALL(Reduce_scatter, reduce_scatter, in, &out, counts, MPI_INT, MPI_MIN, comm);
    CHECK(out == rank);
    free(in);
    free(counts);

    int before = -1, upto = -1;
    CALL(Exscan, exscan, &rank, &before, 1, MPI_INT, MPI_SUM, comm);
    CALL(Scan, scan, &rank, &upto, 1, MPI_INT, MPI_SUM, comm);
    CHECK(upto == rank * (rank + 1) / 2 && (rank == 0 || before == upto - rank));

    long map[2] = {rank + 2, rank + 1}, composed[2], expected[2] = {1, 0};
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_LONG, &pair);
    MPI_Type_commit(&pair);
    CALL(Scan, scan, map, composed, 1, pair, composition, comm);
    for (int r = 0; r <= rank; r++) {
        long next[2] = {r + 2, r + 1};
        int one = 1;
        compose(expected, next, &one, &pair);
        expected[0] = next[0];
        expected[1] = next[1];
    }
    CHECK(composed[0] == expected[0] && composed[1] == expected[1]);
    if (kind == BLOCKING) { /* local: there is but one form */
        int a = rank, b = 100;
        MPI_Reduce_local(&a, &b, 1, MPI_INT, MPI_SUM);
        CHECK(b == rank + 100);
        operations++;
    }
    MPI_Type_free(&pair);
}

/* Each rank sends its number, and gets those of its in-neighbours in the order of SOURCES. */
static void neighbourhood(MPI_Comm comm, int indegree, const int *sources, int outdegree,
                          const int *destinations)
{
    int *in = ints(indegree), *out = ints(outdegree);
    CALL(Neighbor_allgather, neighbor_allgather, &rank, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int i = 0; i < indegree; i++)
        CHECK(in[i] == sources[i]);
    for (int i = 0; i < outdegree; i++)
        out[i] = rank * 1000 + destinations[i];
    CALL(Neighbor_alltoall, neighbor_alltoall, out, 1, MPI_INT, in, 1, MPI_INT, comm);
    for (int i = 0; i < indegree; i++)
        CHECK(in[i] == sources[i] * 1000 + rank);

    int *rcounts = ints(indegree), *rat = ints(indegree), *scounts = ints(outdegree),
        *sat = ints(outdegree);
    for (int i = 0; i < indegree; i++) {
        rcounts[i] = 1;
        rat[i] = indegree - 1 - i; /* backwards */
    }
    for (int i = 0; i < outdegree; i++) {
        scounts[i] = 1;
        sat[i] = i;
    }
    CALL(Neighbor_allgatherv, neighbor_allgatherv, &rank, 1, MPI_INT, in, rcounts, rat, MPI_INT,
         comm);
    for (int i = 0; i < indegree; i++)
        CHECK(in[indegree - 1 - i] == sources[i]);
    CALL(Neighbor_alltoallv, neighbor_alltoallv, out, scounts, sat, MPI_INT, in, rcounts, rat,
         MPI_INT, comm);
    for (int i = 0; i < indegree; i++)
        CHECK(in[indegree - 1 - i] == sources[i] * 1000 + rank);

    MPI_Aint *sbytes = allocate(sizeof *sbytes * outdegree),
             *rbytes = allocate(sizeof *rbytes * indegree);
    MPI_Datatype *stypes = allocate(sizeof *stypes * outdegree),
                 *rtypes = allocate(sizeof *rtypes * indegree);
    for (int i = 0; i < outdegree; i++) {
        sbytes[i] = (MPI_Aint)(i * sizeof(int));
        stypes[i] = MPI_INT;
    }
    for (int i = 0; i < indegree; i++) {
        rbytes[i] = (MPI_Aint)(i * sizeof(int));
        rtypes[i] = MPI_INT;
    }
    int topology;
    MPI_Topo_test(comm, &topology);
    /* MPICH 4.0.2 mixes up the two degrees in this one function, and a graph may have different
     * ones */
    if (topology == MPI_CART) {
        CALL(Neighbor_alltoallw, neighbor_alltoallw, out, scounts, sbytes, stypes, in, rcounts,
             rbytes, rtypes, comm);
        for (int i = 0; i < indegree; i++)
            CHECK(in[i] == sources[i] * 1000 + rank);
    }
    free(in);
    free(out);
    free(rcounts);
    free(rat);
    free(scounts);
    free(sat);
    free(sbytes);
    free(rbytes);
    free(stypes);
    free(rtypes);
}

int main(int argc, char **argv)
{
    int repeats = 3, first = BLOCKING, last = MPI_4 ? PERSISTENT : NONBLOCKING;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "k:r:")) != -1;)
        switch (o) {
        case 'k':
            if (strcmp(optarg, "all") == 0)
                break;
            for (first = 0; first < KINDS && strcmp(optarg, kind_names[first]); first++)
                ;
            if (first == KINDS) {
                fprintf(stderr, "unknown kind: %s\n", optarg);
                return 2;
            }
            if (first == PERSISTENT && !MPI_4) {
                fprintf(stderr, "the library has no persistent collectives\n");
                return 2;
            }
            last = first;
            break;
        case 'r':
            repeats = number(optarg, 0, 1000000);
            break;
        default:
            return 2;
        }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI_Op composition;
    MPI_Op_create(compose, 0, &composition);

    int periodic = 1;
    MPI_Comm ring, graph;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    int around[2];
    MPI_Cart_shift(ring, 0, 1, &around[0], &around[1]);
    /* everyone sends to rank 0, and rank 0 to the last */
    int *everybody = ints(size), to[2] = {0, size - 1};
    for (int r = 0; r < size; r++)
        everybody[r] = r;
    int sources[2] = {0, 0}, indegree = rank == 0 ? size : 0;
    if (rank == size - 1 && size > 1)
        sources[indegree++] = 0;
    int *in_edges = rank == 0 ? everybody : sources, outdegree = rank == 0 && size > 1 ? 2 : 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, indegree, in_edges, MPI_UNWEIGHTED, outdegree,
                                   to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);

    for (kind = first; (int)kind <= last; kind++)
        for (int i = 0; i < repeats; i++) {
            rooted(MPI_COMM_WORLD);
            everyone(MPI_COMM_WORLD);
            reductions(MPI_COMM_WORLD, composition);
            neighbourhood(ring, 2, around, 2, around);
            neighbourhood(graph, indegree, in_edges, outdegree, to);
        }
    if (rank == 0)
        printf("collectives: %d ranks, %ld operations checked\n", size, operations);
    free(everybody);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&ring);
    MPI_Op_free(&composition);
    MPI_Finalize();
    return 0;
}
