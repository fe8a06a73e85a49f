/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/ranks: what the merge over ranks makes of the communication structures of common codes:
 * ranks [-l LEAST_RANKS] [-m MOST_RANKS] [-s STEPS] [--shard-ranks RANKS] [--sites] [STRUCTURE…].
 *
 * Ranks are simulated in this one process, without MPI (tests/unit/simulated.h), and merged as the
 * tracer merges them, over a binomial tree, each pair through bytes. For each structure and number
 * of ranks it prints bytes of the archive and beside it their ratio to those of the first number of
 * ranks at which all roles occur, classes, the largest part, the time on the critical path (the sum
 * over the steps of the tree of the longest, and the writing), the root's own time (what it takes
 * to receive in each step, and to write), the time in total, and what the root needs beyond its own
 * part at most, bytes from and to others included. CPU time. Ranks at the head of a subtree make
 * and write shards as the tracer's do: that is not the root's time.
 *
 * With --sites the same calls are also merged with their call sites, which are lines of this file
 * and of the simulation, and once more with call stacks (simulated_stack). For each of the two the
 * bytes of the archive are printed. The first number of ranks at which all roles occur is the
 * measure: the exit status is 1 if sites or stacks add over MORE bytes more than they do there. */
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../lib/archive/write.h"
#include "../lib/base/shared-file.h"
#include "../lib/merge/merge.h"
#include "../lib/merge/tree.h"
#include "../tests/unit/simulated.h"

#include <glib/gstdio.h>

enum { SMALLEST = 16, LARGEST = 16384 };
enum { MORE = 16 }; /* bytes that sites, or stacks, may add to those at fewer ranks */

static gint steps = 20;       /* iterations */
static gint shard_ranks = 64; /* as WEND_SHARD_RANKS */
static gboolean with_sites;   /* also merge with call sites, and with call stacks */

/* -- memory -- */

static gsize live, peak;

extern void *__libc_malloc(size_t n);
extern void __libc_free(void *p);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t n);

static void *count(void *p)
{
    if (p)
        live += malloc_usable_size(p);
    peak = MAX(peak, live);
    return p;
}

void *malloc(size_t n)
{
    return count(__libc_malloc(n));
}
void *calloc(size_t n, size_t size)
{
    return count(__libc_calloc(n, size));
}

void free(void *p)
{
    if (p)
        live -= malloc_usable_size(p);
    __libc_free(p);
}

void *realloc(void *p, size_t n)
{
    if (p)
        live -= malloc_usable_size(p);
    return count(__libc_realloc(p, n));
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* -- structures -- */

#define GRID WEND_SEGMENT(WEND_SEGMENT_HEAP, 0)

typedef struct {
    guint size[3];
} Dims;

/* As MPI_Dims_create: factors as near to each other as P has them, largest first. */
static Dims dims_of(guint p, guint n)
{
    Dims d = {{1, 1, 1}};
    for (guint left = n; left > 0; left--) {
        guint best = p;
        for (guint f = 1; f <= p; f++)
            if (p % f == 0 && pow(f, left) >= p - 0.5) {
                best = f;
                break;
            }
        d.size[n - left] = best;
        p /= best;
    }
    return d;
}

static void exchange(SimulatedRank *r, SimulatedSequence *s, const gint64 *peers, guint n,
                     gint64 count)
{
    gint64 requests[64];
    for (guint i = 0; i < n; i++)
        requests[i] = sim_irecv(r, s, GRID, 4096 * i, count, peers[i], 10 + (i ^ 1));
    for (guint i = 0; i < n; i++)
        requests[n + i] = sim_isend(r, s, GRID, 65536 + 4096 * i, count, peers[i], 10 + i);
    sim_waitall(r, s, 2 * n, requests);
}

typedef enum { BORDER_NULL, BORDER_LEFT_OUT, PERIODIC } Border;

/* Neighbours at DISTANCE in N dimensions, among the ranks whose coordinates are multiples of it. */
static guint neighbours(guint rank, Dims d, guint n, guint distance, Border border, gint64 *peers)
{
    guint n_peers = 0, stride = 1;
    for (guint k = 0; k < n; k++) {
        guint x = rank / stride % d.size[k];
        for (int up = 0; up < 2; up++) {
            gboolean inside = up ? x + distance < d.size[k] : x >= distance;
            guint to = (x + d.size[k] + (up ? distance : -distance)) % d.size[k];
            if (inside || border == PERIODIC)
                peers[n_peers++] = (gint64)rank + ((gint64)to - x) * stride;
            else if (border == BORDER_NULL)
                peers[n_peers++] = constant("MPI_PROC_NULL");
        }
        stride *= d.size[k];
    }
    return n_peers;
}

static void stencil(SimulatedRank *r, SimulatedSequence *s, guint n, Border border)
{
    gint64 peers[6];
    guint n_peers = neighbours(r->rank, dims_of(r->world, n), n, 1, border, peers);
    for (int i = 0; i < steps; i++) {
        exchange(r, s, peers, n_peers, 512);
        if (i % 10 == 9)
            sim_allreduce(r, s, 1);
    }
}

static void stencil_2d(SimulatedRank *r, SimulatedSequence *s)
{
    stencil(r, s, 2, BORDER_NULL);
}
static void stencil_2d_open(SimulatedRank *r, SimulatedSequence *s)
{
    stencil(r, s, 2, BORDER_LEFT_OUT);
}
static void stencil_2d_torus(SimulatedRank *r, SimulatedSequence *s)
{
    stencil(r, s, 2, PERIODIC);
}
static void stencil_3d(SimulatedRank *r, SimulatedSequence *s)
{
    stencil(r, s, 3, BORDER_NULL);
}
static void stencil_3d_open(SimulatedRank *r, SimulatedSequence *s)
{
    stencil(r, s, 3, BORDER_LEFT_OUT);
}
static void stencil_3d_torus(SimulatedRank *r, SimulatedSequence *s)
{
    stencil(r, s, 3, PERIODIC);
}

/* NAS CG: sums over a row in halving steps, then the partner across the diagonal. */
static void transpose(SimulatedRank *r, SimulatedSequence *s)
{
    Dims d = dims_of(r->world, 2);
    gint64 columns = d.size[0], rows = d.size[1], column = r->rank % columns,
           row = r->rank / columns;
    gint64 partner =
        columns == rows
            ? column * columns + row
            : 2 * (((gint64)r->rank / 2 % rows) * rows + (gint64)r->rank / 2 / rows) + r->rank % 2;
    for (int i = 0; i < steps; i++) {
        for (gint64 step = columns / 2; step >= 1; step /= 2) {
            gint64 peer = row * columns + (column ^ step);
            exchange(r, s, &peer, 1, 700);
        }
        exchange(r, s, &partner, 1, 700);
        sim_allreduce(r, s, 1);
    }
}

/* NAS MG: tori of each, each second, each fourth rank in each dimension. */
static void tori(SimulatedRank *r, SimulatedSequence *s)
{
    Dims d = dims_of(r->world, 3);
    for (int i = 0; i < steps; i++)
        for (guint distance = 1; distance <= 4; distance *= 2) {
            guint x = r->rank % d.size[0], y = r->rank / d.size[0] % d.size[1],
                  z = r->rank / d.size[0] / d.size[1];
            gint64 peers[6];
            if (x % distance || y % distance || z % distance)
                break;
            exchange(r, s, peers, neighbours(r->rank, d, 3, distance, PERIODIC, peers),
                     4096 / distance);
        }
}

/* NAS SP: a grid that the ranks do not divide evenly. */
static void sizes(SimulatedRank *r, SimulatedSequence *s)
{
    Dims d = dims_of(r->world, 2);
    gint64 peers[4];
    guint cells = 3 * d.size[0] + d.size[0] / 2, x = r->rank % d.size[0], y = r->rank / d.size[0];
    gint64 width = cells / d.size[0] + (x < cells % d.size[0]),
           height = cells / d.size[1] + (y < cells % d.size[1]);
    neighbours(r->rank, d, 2, 1, PERIODIC, peers);
    for (int i = 0; i < steps; i++)
        for (int k = 0; k < 2; k++)
            exchange(r, s, &peers[2 * k], 2, 5 * (k ? width : height) * 22);
}

/* The paper's Nek5000 (4.3.2): all send to rank 0, which answers. */
static void gather(SimulatedRank *r, SimulatedSequence *s)
{
    for (guint i = 1; r->rank == 0 && i < r->world; i++)
        sim_recv(r, s, 100, i, 5, i, 5, 800);
    if (r->rank > 0)
        sim_send(r, s, GRID, 0, 100, 0, 5);
    for (guint i = 1; r->rank == 0 && i < r->world; i++)
        sim_send(r, s, GRID, 800 * i, 100, i, 6);
    if (r->rank > 0)
        sim_recv(r, s, 100, 0, 6, 0, 6, 800);
}

static void binary_tree(SimulatedRank *r, SimulatedSequence *s)
{
    gint64 rank = r->rank;
    for (int i = 0; i < steps; i++) {
        for (gint64 child = 2 * rank + 1; child <= 2 * rank + 2 && child < r->world; child++)
            sim_recv(r, s, 10, child, 1, child, 1, 80);
        if (rank > 0)
            sim_send(r, s, GRID, 0, 10, (rank - 1) / 2, 1);
    }
}

static void binomial_tree(SimulatedRank *r, SimulatedSequence *s)
{
    gint64 rank = r->rank;
    for (int i = 0; i < steps; i++)
        for (gint64 bit = 1; bit < r->world; bit *= 2) {
            if (rank & bit) {
                sim_send(r, s, GRID, 0, 10, rank - bit, 1);
                break;
            }
            if (rank + bit < r->world)
                sim_recv(r, s, 10, rank + bit, 1, rank + bit, 1, 80);
        }
}

/* Each worker asks so often, in turn, and is told to stop. */
static void master(SimulatedRank *r, SimulatedSequence *s)
{
    gint64 any = constant("MPI_ANY_SOURCE");
    for (int i = 0; i <= steps; i++)
        for (guint worker = 1; worker < r->world; worker++) {
            if (r->rank == 0) {
                sim_recv(r, s, 10, any, 1, worker, 1, 80);
                sim_send(r, s, GRID, 0, i < steps ? 10 : 0, worker, 2);
            } else if (r->rank == worker) {
                sim_send(r, s, GRID, 0, 10, 0, 1);
                sim_recv(r, s, 10, 0, 2, 0, 2, i < steps ? 80 : 0);
            }
        }
}

/* A gather and its answer in each iteration. */
static void gathers(SimulatedRank *r, SimulatedSequence *s)
{
    for (int i = 0; i < steps; i++) {
        gather(r, s);
        sim_allreduce(r, s, 1);
    }
}

/* Rank 0 exchanges messages with each other rank in turn. */
static void pairs(SimulatedRank *r, SimulatedSequence *s)
{
    gboolean root = r->rank == 0;
    for (int i = 0; i < steps; i++)
        for (guint other = 1; other < r->world; other++) {
            gint64 requests[2], peer = root ? other : 0;
            if (!root && r->rank != other)
                continue;
            requests[0] = sim_irecv(r, s, GRID, root ? 8 * other : 0, 10, peer, root ? 4 : 5);
            requests[1] =
                sim_isend(r, s, GRID, root ? 80000000 + 8 * other : 80, 10, peer, root ? 5 : 4);
            sim_waitall(r, s, 2, requests);
        }
}

/* Rank 0 sends to all; the next one is 7,919 ranks further, modulo their number. */
static void shuffled(SimulatedRank *r, SimulatedSequence *s)
{
    for (int i = 0; i < steps; i++)
        for (guint k = 1; k < r->world; k++)
            if (r->rank == 0)
                sim_send(r, s, GRID, 800 * k, 100, (gint64)(k * 7919ull % r->world), 6);
            else if (r->rank == k)
                sim_recv(r, s, 100, 0, 6, 0, 6, 800);
}

static gint compare_peers(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

/* Neighbours in three random cycles over all ranks. */
static void random_graph(SimulatedRank *r, SimulatedSequence *s)
{
    static guint32 made, *place[3], *at[3];
    gint64 peers[6];
    for (int k = 0; made != r->world && k < 3; k++) {
        GRand *dice = g_rand_new_with_seed(100 + k);
        place[k] = g_renew(guint32, place[k], r->world);
        at[k] = g_renew(guint32, at[k], r->world);
        for (guint i = 0; i < r->world; i++) {
            guint j = g_rand_int_range(dice, 0, i + 1);
            at[k][i] = at[k][j];
            at[k][j] = i;
        }
        for (guint i = 0; i < r->world; i++)
            place[k][at[k][i]] = i;
        g_rand_free(dice);
    }
    made = r->world;
    for (int k = 0; k < 3; k++) {
        peers[2 * k] = at[k][(place[k][r->rank] + 1) % r->world];
        peers[2 * k + 1] = at[k][(place[k][r->rank] + r->world - 1) % r->world];
    }
    qsort(peers, 6, sizeof *peers, compare_peers);
    for (int i = 0; i < steps; i++)
        exchange(r, s, peers, 6, 512);
}

/* -- structures over iterations -- */

/* ScalaTrace II, figure 1: calls that only some iterations make. */
static void extra_calls(SimulatedRank *r, SimulatedSequence *s)
{
    gint64 next = (r->rank + 1) % r->world;
    for (int i = 0; i < steps; i++) {
        sim_allreduce(r, s, 1);
        if (i % 7 == 0)
            exchange(r, s, &next, 1, 512);
        if (i % 5 == 1)
            sim_send(r, s, GRID, 0, 10, next, 1);
        sim_allreduce(r, s, 2);
    }
}

/* Figure 2: the trip count of an inner loop follows from the outer one's (1 to 50). */
static void trip_counts(SimulatedRank *r, SimulatedSequence *s)
{
    gint64 next = (r->rank + 1) % r->world;
    for (int i = 0; i < steps; i++) {
        for (int k = 0; k <= i % 50; k++)
            exchange(r, s, &next, 1, 512);
        sim_allreduce(r, s, 1);
    }
}

/* Figure 4: each rank has a trip count of its own. */
static void trips_by_rank(SimulatedRank *r, SimulatedSequence *s)
{
    gint64 next = (r->rank + 1) % r->world;
    for (int i = 0; i < steps + (int)r->rank; i++)
        exchange(r, s, &next, 1, 512);
    sim_allreduce(r, s, 1);
}

/* A mesh that is refined every 5 steps: then all partners and sizes change at random. */
static void mesh(SimulatedRank *r, SimulatedSequence *s)
{
    enum { PEERS = 4 };
    GRand *common = g_rand_new_with_seed(5), *own = g_rand_new_with_seed(100 + r->rank);
    gint64 shift[PEERS] = {0}, count[PEERS] = {0}, requests[2 * PEERS];
    for (int i = 0; i < steps; i++) {
        for (int k = 0; k < PEERS && i % 5 == 0; k++) {
            shift[k] = g_rand_int_range(common, 1, (gint32)r->world);
            count[k] = g_rand_int_range(own, 1, 100);
        }
        for (int k = 0; k < PEERS; k++)
            requests[k] =
                sim_irecv(r, s, GRID, 4096 * k, 100, (r->rank + r->world - shift[k]) % r->world, k);
        for (int k = 0; k < PEERS; k++)
            requests[PEERS + k] = sim_isend(r, s, GRID, 65536 + 4096 * k, count[k],
                                            (r->rank + shift[k]) % r->world, k);
        sim_waitall(r, s, 2 * PEERS, requests);
    }
    g_rand_free(common);
    g_rand_free(own);
}

/* Solvers on matrices without structure (AMG): on each level other partners, sizes and numbers of
 * them on each rank, all random. Parts are of 10 KB, whatever the number of iterations. */
static void irregular(SimulatedRank *r, SimulatedSequence *s)
{
    enum { LEVELS = 6, PARTNERS_MIN = 2, PARTNERS_MAX = 8, COUNT_MAX = 5000 };
    for (int i = 0; i < steps; i++) {
        GRand *own = g_rand_new_with_seed(r->rank);
        for (int level = 0; level < LEVELS; level++) {
            gint64 peers[PARTNERS_MAX], count[PARTNERS_MAX], requests[2 * PARTNERS_MAX];
            gint n = g_rand_int_range(own, PARTNERS_MIN, PARTNERS_MAX + 1);
            for (gint k = 0; k < n; k++) {
                peers[k] = g_rand_int_range(own, 0, (gint32)r->world);
                count[k] = g_rand_int_range(own, 1, COUNT_MAX);
            }
            for (gint k = 0; k < n; k++)
                requests[k] = sim_irecv(r, s, GRID, 4096 * k, count[k], peers[k], level);
            for (gint k = 0; k < n; k++)
                requests[n + k] =
                    sim_isend(r, s, GRID, 65536 + 4096 * k, count[k], peers[k], level);
            sim_waitall(r, s, 2 * (guint)n, requests);
        }
        sim_allreduce(r, s, 1);
        g_rand_free(own);
    }
}

enum { SIZES = 4096 };

/* Random sizes, 12 bits each. */
static void chance(SimulatedRank *r, SimulatedSequence *s)
{
    GRand *own = g_rand_new_with_seed(r->rank);
    gint64 up = r->rank + 1 < r->world ? (gint64)r->rank + 1 : constant("MPI_PROC_NULL");
    for (int i = 0; i < steps; i++)
        sim_send(r, s, GRID, 0, g_rand_int_range(own, 1, SIZES + 1), up, 1);
    g_rand_free(own);
}

/* -- entropies -- */

/* What tells the neighbours of each: bits of P times a choice of 6 among P - 1, in bytes. */
static double graph_entropy(guint p)
{
    double choices = 0;
    for (int i = 0; i < 6; i++)
        choices += log2(p - 1 - i) - log2(i + 1);
    return p * choices / 8;
}

typedef struct {
    const char *name;
    void (*run)(SimulatedRank *r, SimulatedSequence *s);
    guint complete;      /* ranks from which on all roles occur */
    gboolean over_steps; /* it is about iterations: run if asked for */
} Structure;

static const Structure structures[] = {
    {"stencil-2d", stencil_2d, 16, FALSE},
    {"stencil-2d-open", stencil_2d_open, 16, FALSE},
    {"stencil-2d-torus", stencil_2d_torus, 16, FALSE},
    {"stencil-3d", stencil_3d, 64, FALSE},
    {"stencil-3d-open", stencil_3d_open, 64, FALSE},
    {"stencil-3d-torus", stencil_3d_torus, 64, FALSE},
    {"transpose", transpose, 64, FALSE},
    {"tori", tori, 1024, FALSE},
    {"sizes", sizes, 64, FALSE},
    {"gather", gather, 16, FALSE},
    {"binary-tree", binary_tree, 16, FALSE},
    {"binomial-tree", binomial_tree, 16, FALSE},
    {"master", master, 16, FALSE},
    {"random-graph", random_graph, 16, FALSE},
    {"extra-calls", extra_calls, 16, TRUE},
    {"trip-counts", trip_counts, 16, TRUE},
    {"trips-by-rank", trips_by_rank, 16, TRUE},
    {"mesh", mesh, 16, TRUE},
    {"chance", chance, 16, TRUE},
    {"irregular", irregular, 16, TRUE},
    {"gathers", gathers, 16, TRUE},
    {"pairs", pairs, 16, TRUE},
    {"shuffled", shuffled, 16, TRUE},
};

/* -- merging -- */

/* PART: bytes of the largest part. ROOT: seconds that rank 0 takes. READING and SHARD: the most
 * that one takes to read parts, and for a shard; all of them do it at the same time. SHARDS:
 * Vector, the frames that other ranks have, by rank. */
typedef struct {
    const Structure *structure;
    GHashTable *shards;
    guint ranks;
    gboolean sites;
    gsize part;
    double made, *step, total, root, reading, shard;
    WendArchiveResult result;
    double critical; /* path, in seconds */
    gsize needed;    /* by the root */
} Job;

static GByteArray *part_of(Job *j, guint rank)
{
    double began = seconds();
    SimulatedRank *r = simulated_new(rank, j->ranks, FALSE);
    r->noise = g_rand_new_with_seed(rank);
    r->sites = j->sites;
    j->structure->run(r, simulated_sequence(r, WEND_SEQUENCE_THREAD, 0));
    GByteArray *part = simulated_part(r);
    simulated_free(r);
    j->made += seconds() - began;
    j->part = MAX(j->part, part->len);
    return part;
}

/* Ranks [first, first + n), as far as there are any: the first one reads the parts of all. */
static WendMerge *read_parts(Job *j, guint first, guint n)
{
    WendMerge *m = NULL;
    double took = 0;
    for (guint rank = first; rank < MIN(first + n, j->ranks); rank++) {
        Error *error = NULL;
        GByteArray *part = part_of(j, rank);
        double began = seconds();
        WendMerge *one = merge_from_part(part->data, part->len, G_MAXUINT64, &error);
        if (!one || (m && !merge_unite(m, one, &error)))
            g_error("%s", error->message);
        if (!m)
            m = one;
        took += seconds() - began;
        g_byte_array_unref(part);
    }
    if (first == 0)
        j->root += took;
    j->reading = MAX(j->reading, took);
    j->total += took;
    return m;
}

/* RANK makes a shard of M before STEP, if it is one, as the tracer's ranks do. */
static void make_shard(Job *j, WendMerge *m, guint rank, guint step)
{
    Error *error = NULL;
    Vector *frame;
    guint32 least = (guint32)shard_ranks;
    if (!tree_may_shard(rank, step, j->ranks, least)
        || g_hash_table_contains(j->shards, GUINT_TO_POINTER(rank)))
        return;
    double began = seconds();
    if (!write_make_shard(m, least, &frame, &error))
        g_error("%s", error->message);
    double took = seconds() - began;
    j->shard = MAX(j->shard, took);
    j->total += took;
    if (frame)
        g_hash_table_insert(j->shards, GUINT_TO_POINTER(rank), frame);
}

/* As a rank sends what it has to another one; frees OTHER. From where the bytes are, "peak" counts.
 * Returns the seconds that the one that receives them takes. */
static double join(WendMerge *m, WendMerge *other)
{
    Error *error = NULL;
    Vector *bytes = merge_encode(other);
    merge_free(other);
    peak = live;
    double began = seconds();
    if (!merge_absorb(m, bytes->data, bytes->len, &error))
        g_error("%s", error->message);
    vector_unref(bytes);
    return seconds() - began;
}

/* Ranks [first, first + 2^height), as far as there are any. */
static WendMerge *merge(Job *j, guint first, guint height)
{
    if (height == 0 || tree_sends_parts(1u << (height - 1), (guint64)shard_ranks))
        return read_parts(j, first, 1u << height);
    guint middle = first + (1u << (height - 1));
    WendMerge *m = merge(j, first, height - 1);
    if (middle >= j->ranks)
        return m;
    make_shard(j, m, first, middle - first);
    WendMerge *other = merge(j, middle, height - 1);
    make_shard(j, other, middle, middle - first);
    double began = seconds();
    double absorbing = join(m, other), took = seconds() - began;
    if (first == 0)
        j->root += absorbing;
    j->step[height] = MAX(j->step[height], took);
    j->total += took;
    return m;
}

/* The ranks with shards write these, each at the same time as the others. Returns the seconds of
 * the longest. */
static double write_shards(Job *j, const SharedFile *file, const Vector *places,
                           const char *directory)
{
    double longest = 0;
    for (guint i = 0; i < places->len; i++) {
        const WendFramePlace *place = &VECTOR_AT(places, WendFramePlace, i);
        const Vector *frame = g_hash_table_lookup(j->shards, GUINT_TO_POINTER(place->rank));
        double began = seconds(), took;
        if (!frame || frame->len != place->bytes
            || !shared_file_contribute(directory, &file->key, place->offset, frame->data,
                                       frame->len))
            g_error("the shard of rank %u cannot be written", place->rank);
        took = seconds() - began;
        longest = MAX(longest, took);
        j->total += took;
    }
    return longest;
}

/* Writes the archive, as rank 0 and the ranks with shards do. Returns the seconds on the critical
 * path. */
static double write_job(Job *j, WendMerge *m, const char *directory, WendArchiveResult *result)
{
    Error *error = NULL;
    SharedFile file;
    AUTO(Vector) places = NULL;
    double began = seconds(), others = 0;
    bool good;
    if (!write_has_frames(m)) {
        good = write_archive(m, directory, NULL, result, &error);
    } else {
        good = write_archive_begin(m, directory, NULL, &file, &places, result, &error);
        double begun = seconds();
        others = good ? write_shards(j, &file, places, directory) : 0;
        began += seconds() - begun;
        good = good && shared_file_end(&file, &error);
    }
    if (!good)
        g_error("%s", error->message);
    double took = seconds() - began;
    j->root += took;
    j->total += took;
    return took + others;
}

/* Merges the ranks of J and writes the archive. */
static void merge_all(Job *j, const char *directory)
{
    guint height = 0;
    while (1u << height < j->ranks)
        height++;
    g_autofree double *step = j->step = g_new0(double, height + 1);
    j->shards = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)vector_unref);
    gsize before;
    WendMerge *m, *other;
    /* The last step apart: its memory is the root's. */
    before = live;
    m = merge(j, 0, height - 1);
    make_shard(j, m, 0, 1u << (height - 1));
    other = merge(j, 1u << (height - 1), height - 1);
    make_shard(j, other, 1u << (height - 1), 1u << (height - 1));
    double began = seconds();
    j->root += join(m, other);
    double joined = seconds() - began;
    j->critical = j->reading + j->shard + joined + write_job(j, m, directory, &j->result);
    j->total += joined;
    for (guint i = 1; i < height; i++)
        j->critical += step[i];
    j->needed = MAX(peak, before) - before;
    merge_free(m);
    g_hash_table_unref(j->shards);
}

/* The bytes of the archive with call sites, or with call stacks. */
static guint64 bytes_with_sites(const Structure *structure, guint ranks, gboolean stacks,
                                const char *directory)
{
    Job j = {.structure = structure, .ranks = ranks, .sites = TRUE};
    simulated_stacks = stacks;
    merge_all(&j, directory);
    simulated_stacks = FALSE;
    return j.result.bytes;
}

/* Bytes of an archive, and of the two with sites and with stacks (0 without --sites). */
typedef struct {
    guint64 bytes, sites, stacks;
} Sizes;

/* COMPLETE: the sizes at the first number of ranks that has all roles, or zeros. */
static Sizes run(const Structure *structure, guint ranks, const char *directory,
                 const Sizes *complete)
{
    Job j = {.structure = structure, .ranks = ranks};
    Sizes sizes = {0};
    if (with_sites) {
        sizes.sites = bytes_with_sites(structure, ranks, FALSE, directory);
        sizes.stacks = bytes_with_sites(structure, ranks, TRUE, directory);
    }
    merge_all(&j, directory); /* the last one: its archive stays */
    guint64 bytes = sizes.bytes = j.result.bytes;
    printf("%-18s %7u %10" G_GUINT64_FORMAT " %9" G_GUINT64_FORMAT, structure->name, ranks,
           j.result.totals.mpi_calls, bytes);
    if (structure->run == random_graph)
        printf(" %6.2f*", (double)bytes / graph_entropy(ranks));
    else if (structure->run == chance)
        printf(" %6.2f*", (double)bytes / ((double)ranks * steps * log2(SIZES) / 8));
    else if (ranks < structure->complete)
        printf(" %7s", "");
    else
        printf(" %7.2f", complete->bytes ? (double)bytes / (double)complete->bytes : 1.0);
    printf(" %8u %8.1f %10.1f %9.1f %9.2f %10.0f", j.result.classes, (double)j.part / 1024,
           1e3 * j.critical, 1e3 * j.root, j.total, (double)j.needed / 1024);
    if (with_sites)
        printf(" %11" G_GUINT64_FORMAT " %11" G_GUINT64_FORMAT, sizes.sites, sizes.stacks);
    printf("\n");
    fflush(stdout);
    return sizes;
}

/* Whether WHAT adds no more bytes to the archive than with the first number of ranks that has all
 * roles. Prints a line if not. */
static gboolean is_constant(const Structure *structure, guint ranks, const char *what, gint64 added,
                            gint64 added_first)
{
    if (added <= added_first + MORE)
        return TRUE;
    g_printerr("ranks: %s: %s add %" G_GINT64_FORMAT " bytes with %u ranks, and %" G_GINT64_FORMAT
               " with the first number of ranks that has all roles\n",
               structure->name, what, added, ranks, added_first);
    return FALSE;
}

static gboolean sites_are_constant(const Structure *structure, guint ranks, const Sizes *now,
                                   const Sizes *complete)
{
    if (!with_sites || structure->over_steps || complete->bytes == 0)
        return TRUE;
    return is_constant(structure, ranks, "call sites", (gint64)(now->sites - now->bytes),
                       (gint64)(complete->sites - complete->bytes))
           & is_constant(structure, ranks, "call stacks", (gint64)(now->stacks - now->bytes),
                         (gint64)(complete->stacks - complete->bytes));
}

int main(int argc, char **argv)
{
    gint least = SMALLEST, most = LARGEST;
    gboolean constant = TRUE;
    g_autofree char *keep = NULL;
    GError *error = NULL;
    const GOptionEntry options[] = {
        {"least", 'l', 0, G_OPTION_ARG_INT, &least, "ranks at first (16)", "RANKS"},
        {"most", 'm', 0, G_OPTION_ARG_INT, &most, "ranks at most (16384)", "RANKS"},
        {"steps", 's', 0, G_OPTION_ARG_INT, &steps, "iterations (20)", "STEPS"},
        {"shard-ranks", 0, 0, G_OPTION_ARG_INT, &shard_ranks,
         "so many ranks that have nothing in common make a shard (64)", "RANKS"},
        {"sites", 0, 0, G_OPTION_ARG_NONE, &with_sites,
         "also print the bytes of archives with call sites, and with call stacks", NULL},
        {"keep", 'k', 0, G_OPTION_ARG_FILENAME, &keep,
         "keep the archives there, as STRUCTURE.RANKS.tar.zst", "FOLDER"},
        {0}};
    g_autoptr(GOptionContext) context = g_option_context_new("[STRUCTURE…]");
    g_option_context_add_main_entries(context, options, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error)) {
        g_printerr("ranks: %s\n", error->message);
        return 2;
    }
    g_autofree char *directory = g_dir_make_tmp("wend-ranks-XXXXXX", &error);
    if (!directory) {
        g_printerr("ranks: %s\n", error->message);
        return 4;
    }
    g_autofree char *file = g_build_filename(directory, "trace.tar.zst", NULL);
    printf("%-18s %7s %10s %9s %7s %8s %8s %10s %9s %9s %10s%s\n", "structure", "ranks", "calls",
           "bytes", "ratio", "classes", "part KB", "critical", "root ms", "total s", "root KB",
           with_sites ? "  bytes with  bytes with" : "");
    printf("%-18s %7s %10s %9s %7s %8s %8s %10s %9s %9s %10s%s\n", "", "", "", "", "", "", "",
           "path ms", "", "", "", with_sites ? "       sites      stacks" : "");
    for (gsize i = 0; i < G_N_ELEMENTS(structures); i++) {
        gboolean asked = argc < 2 && !structures[i].over_steps;
        for (int k = 1; k < argc; k++)
            asked |= strcmp(argv[k], structures[i].name) == 0;
        Sizes complete = {0};
        for (guint ranks = MAX(2, least); asked && ranks <= (guint)most; ranks *= 4) {
            Sizes sizes = run(&structures[i], ranks, directory, &complete);
            constant &= sites_are_constant(&structures[i], ranks, &sizes, &complete);
            g_autofree char *kept =
                keep ? g_strdup_printf("%s/%s.%u.tar.zst", keep, structures[i].name, ranks) : NULL;
            if (kept && g_rename(file, kept)) {
                g_printerr("ranks: %s: %s\n", kept, g_strerror(errno));
                return 4;
            }
            if (ranks >= structures[i].complete && complete.bytes == 0)
                complete = sizes;
        }
    }
    printf("ratio: to the bytes at the first number of ranks that has all roles; *: to the entropy "
           "of the neighbours' numbers, or of the sizes\n");
    g_unlink(file);
    g_rmdir(directory);
    return constant ? 0 : 1;
}
