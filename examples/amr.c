/* SPDX-License-Identifier: BSD-3-Clause */
/* amr: blocks of different sizes that change owners, with neighbours that change with them, as on
 * an adaptively refined mesh.
 *
 *   amr [-b BLOCKS] [-e EPOCHS] [-i ITERATIONS]
 *
 * A ring of BLOCKS blocks for each rank, each with a level of refinement from 0 to 3 (2^level × 4
 * cells). In every epoch a moving front refines some blocks and coarsens others; then blocks are
 * spread anew so that ranks have about the same number of cells (all ranks compute the same plan
 * from gathered levels), they migrate, and for ITERATIONS iterations each block sends its border
 * cells to the blocks beside it: as many cells as the finer of the two has levels, so the number of
 * messages, their partners and sizes change from epoch to epoch. Partners talk through a graph
 * communicator of the epoch as well. Every block carries a checksum by which migration and exchange
 * are checked. */
#include <stdint.h>
#include <string.h>

#include "example.h"

enum { MAX_LEVEL = 3, BASE = 4 };

typedef struct {
    int id, level;
    uint64_t *cells;
    uint64_t from[2][MAX_LEVEL + 2]; /* border cells received from the left and the right */
} Block;

static int rank, size, n_blocks;
/* of its own, so that probes for blocks do not see the borders that faster ranks send already */
static MPI_Comm migration;

static int cells_of(int level)
{
    return BASE << level;
}
static int border_cells(int level, int other)
{
    return 1 + (level > other ? level : other);
}
static uint64_t value(int block, int cell)
{
    return (uint64_t)block * 1009 + (uint64_t)cell;
}

static int level_at(int block, int epoch)
{
    int front = (epoch * 5) % n_blocks, distance = abs(block - front);
    if (distance > n_blocks / 2)
        distance = n_blocks - distance;
    return distance > MAX_LEVEL ? 0 : MAX_LEVEL - distance;
}

static void allocate_cells(Block *b)
{
    b->cells = allocate(sizeof *b->cells * cells_of(b->level));
    for (int i = 0; i < cells_of(b->level); i++)
        b->cells[i] = value(b->id, i);
}

/* owner[b] for each block: contiguous runs of about equal numbers of cells; every rank has one
 * block at least. */
static void plan(const int *levels, int *owner)
{
    long total = 0, before = 0;
    for (int b = 0; b < n_blocks; b++)
        total += cells_of(levels[b]);
    for (int b = 0; b < n_blocks; b++) {
        int r = (int)(before * size / total);
        int at_least = b == 0 ? 0 : owner[b - 1], at_most = b == 0 ? 0 : owner[b - 1] + 1;
        if (size - 1 - at_least >= n_blocks - b) /* the remaining ranks need all that are left */
            r = at_most;
        owner[b] = r < at_least ? at_least : r > at_most ? at_most : r;
        before += cells_of(levels[b]);
    }
}

/* Blocks change owners; MINE (n of them) becomes what OWNER says. Sizes differ, so receivers
 * probe. */
static Block *migrate(Block *mine, int *n, const int *owner, const int *old_owner,
                      const int *levels)
{
    int kept = 0, sent = 0, expected = 0, want = 0;
    for (int b = 0; b < n_blocks; b++) {
        want += owner[b] == rank;
        expected += owner[b] == rank && old_owner[b] != rank;
    }
    Block *now = allocate(sizeof *now * want);
    MPI_Request *requests = allocate(sizeof *requests * (*n));
    Block *leaving = allocate(sizeof *leaving * (*n));
    for (int i = 0; i < *n; i++) {
        if (owner[mine[i].id] == rank) {
            now[kept++] = mine[i];
        } else {
            leaving[sent] = mine[i];
            MPI_Isend(mine[i].cells, cells_of(mine[i].level), MPI_UINT64_T, owner[mine[i].id],
                      mine[i].id, migration, &requests[sent]);
            sent++;
        }
    }
    for (int i = 0; i < expected; i++) {
        MPI_Status status;
        int count;
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, migration, &status);
        MPI_Get_count(&status, MPI_UINT64_T, &count);
        Block b = {.id = status.MPI_TAG, .level = levels[status.MPI_TAG]};
        CHECK(count == cells_of(b.level) && status.MPI_SOURCE == old_owner[b.id]);
        allocate_cells(&b);
        memset(b.cells, 0, sizeof *b.cells * count);
        MPI_Recv(b.cells, count, MPI_UINT64_T, status.MPI_SOURCE, status.MPI_TAG, migration,
                 MPI_STATUS_IGNORE);
        CHECK(b.cells[0] == value(b.id, 0) && b.cells[count - 1] == value(b.id, count - 1));
        now[kept++] = b;
    }
    CHECK(kept == want);
    MPI_Waitall(sent, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < sent; i++)
        free(leaving[i].cells);
    free(leaving);
    free(requests);
    free(mine);
    for (int i = 0; i < kept; i++) /* arrival order differs; what follows shall not */
        for (int j = i + 1; j < kept; j++)
            if (now[j].id < now[i].id) {
                Block t = now[i];
                now[i] = now[j];
                now[j] = t;
            }
    *n = kept;
    return now;
}

static void exchange(Block *mine, int n, const int *owner, const int *levels)
{
    MPI_Request *requests = allocate(sizeof *requests * 4 * n);
    int posted = 0;
    for (int i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            int other = (mine[i].id + (side ? 1 : n_blocks - 1)) % n_blocks;
            int count = border_cells(mine[i].level, levels[other]);
            /* the tag names the receiving block and its side */
            MPI_Irecv(mine[i].from[side], count, MPI_UINT64_T, owner[other], 2 * mine[i].id + side,
                      MPI_COMM_WORLD, &requests[posted++]);
            MPI_Isend(side ? mine[i].cells + cells_of(mine[i].level) - count : mine[i].cells, count,
                      MPI_UINT64_T, owner[other], 2 * other + !side, MPI_COMM_WORLD,
                      &requests[posted++]);
        }
    MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            int other = (mine[i].id + (side ? 1 : n_blocks - 1)) % n_blocks;
            int first =
                side ? 0 : cells_of(levels[other]) - border_cells(mine[i].level, levels[other]);
            CHECK(mine[i].from[side][0] == value(other, first));
        }
    free(requests);
}

/* Loads of the ranks beside this one, through a graph made for this epoch. */
static long neighbour_loads(const int *owner, const Block *mine, int n)
{
    int *partners = allocate(sizeof *partners * 2 * n), n_partners = 0;
    for (int i = 0; i < n; i++)
        for (int side = 0; side < 2; side++) {
            int r = owner[(mine[i].id + (side ? 1 : n_blocks - 1)) % n_blocks], known = r == rank;
            for (int k = 0; k < n_partners; k++)
                known |= partners[k] == r;
            if (!known)
                partners[n_partners++] = r;
        }
    MPI_Comm graph;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n_partners, partners, MPI_UNWEIGHTED, n_partners,
                                   partners, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    long load = 0, *loads = allocate(sizeof *loads * n_partners), sum = 0;
    for (int i = 0; i < n; i++)
        load += cells_of(mine[i].level);
    MPI_Neighbor_allgather(&load, 1, MPI_LONG, loads, 1, MPI_LONG, graph);
    for (int k = 0; k < n_partners; k++)
        sum += loads[k];
    MPI_Comm_free(&graph);
    free(loads);
    free(partners);
    return sum;
}

int main(int argc, char **argv)
{
    int blocks = 4, epochs = 6, iterations = 5;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "b:e:i:")) != -1;)
        switch (o) {
        case 'b':
            blocks = number(optarg, 1, 1000);
            break;
        case 'e':
            epochs = number(optarg, 0, 1000000);
            break;
        case 'i':
            iterations = number(optarg, 0, 1000000);
            break;
        default:
            return 2;
        }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &migration);
    n_blocks = blocks * size;

    int n = blocks, *owner = allocate(sizeof *owner * n_blocks),
        *old_owner = allocate(sizeof *owner * n_blocks);
    int *levels = allocate(sizeof *levels * n_blocks);
    Block *mine = allocate(sizeof *mine * n);
    for (int i = 0; i < n; i++) {
        mine[i] = (Block){.id = rank * blocks + i, .level = 0};
        allocate_cells(&mine[i]);
    }
    for (int b = 0; b < n_blocks; b++)
        owner[b] = b / blocks;

    long checksum = 0;
    for (int epoch = 0; epoch < epochs; epoch++) {
        int *pairs = allocate(sizeof *pairs * 2 * n), *counts = allocate(sizeof *counts * size),
            *at = allocate(sizeof *at * size);
        for (int i = 0; i < n; i++) {
            free(mine[i].cells);
            mine[i].level = level_at(mine[i].id, epoch);
            allocate_cells(&mine[i]);
            pairs[2 * i] = mine[i].id;
            pairs[2 * i + 1] = mine[i].level;
        }
        int twice = 2 * n;
        MPI_Allgather(&twice, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
        int total = 0;
        for (int r = 0; r < size; r++) {
            at[r] = total;
            total += counts[r];
        }
        CHECK(total == 2 * n_blocks);
        int *all = allocate(sizeof *all * total);
        MPI_Allgatherv(pairs, twice, MPI_INT, all, counts, at, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < n_blocks; i++)
            levels[all[2 * i]] = all[2 * i + 1];
        memcpy(old_owner, owner, sizeof *owner * n_blocks);
        plan(levels, owner);
        mine = migrate(mine, &n, owner, old_owner, levels);
        for (int it = 0; it < iterations; it++)
            exchange(mine, n, owner, levels);
        checksum += (epoch + 1) * neighbour_loads(owner, mine, n);
        free(pairs);
        free(counts);
        free(at);
        free(all);
    }
    long sum;
    MPI_Reduce(&checksum, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("amr: %d ranks, %d blocks, %d epochs, checksum %ld\n", size, n_blocks, epochs, sum);
    for (int i = 0; i < n; i++)
        free(mine[i].cells);
    free(mine);
    free(owner);
    free(old_owner);
    free(levels);
    MPI_Comm_free(&migration);
    MPI_Finalize();
    return 0;
}
