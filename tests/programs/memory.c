/* SPDX-License-Identifier: BSD-3-Clause */
/* memory: what a call touches depends on what its handles stand for then. One thing after the
 * other, or the one that is named:
 *
 *   reuse       datatypes and communicators whose numbers come again for others of very different
 *               size, in loops of several periods
 *   absolute    several elements at MPI_BOTTOM of datatypes made of addresses, of datatypes made of
 *               those, and what they are made of reused
 *   strides     negative strides and bounds; vectors of blocks in any order
 *   neighbours  each kind of topology, its duplicate; displacements that are addresses
 *   numbers     small numbers where addresses are asked for
 *   mappings    memory from mmap, used from its end to its beginning
 *   stacks      a stack that grows, one that the program has made, and blocks that brk() adds
 *
 * The blocks are large, so that one that is too small in a proxy is noticed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { LARGE = 1 << 20 };

static int rank, size, next, previous;

static char *block(size_t bytes)
{
    char *made = calloc(1, bytes);
    if (!made)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return made;
}

/* To the next rank, from the previous one. */
static void pass(const void *out, int n, MPI_Datatype type, void *in, int n_in,
                 MPI_Datatype in_type)
{
    MPI_Sendrecv(out, n, type, next, 0, in, n_in, in_type, previous, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* All datatypes here have the same number. One element of some reaches over terabytes, but then
 * nothing is sent of it. */
static void reuse(void)
{
    char *out = block(LARGE), *in = block(LARGE);
    for (int i = 0; i < 30; i++) {
        MPI_Datatype type;
        if (i % 3 == 0)
            MPI_Type_create_resized(MPI_CHAR, 0, (MPI_Aint)1 << 40, &type);
        else if (i % 3 == 1)
            MPI_Type_contiguous(64, MPI_CHAR, &type);
        else
            MPI_Type_vector(2, 1, LARGE / 8 - 1, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        pass(out, i % 3 == 1 ? LARGE / 64 : 1, type, in, i % 3 == 1 ? LARGE / 64 : 1, type);
        for (int k = 0; k < 100; k++)
            pass(out, 1, type, in, 1, type);
        MPI_Type_free(&type);
    }
    free(out);
    free(in);
    for (int i = 0; i < 20; i++) {
        MPI_Comm comm;
        int members;
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? rank : 0, rank, &comm);
        MPI_Comm_size(comm, &members);
        out = block(LARGE);
        in = block((size_t)LARGE * (size_t)members);
        /* Of a communicator of one as much as fits; the sum over all ranks would be terabytes. */
        int count = members == 1 ? LARGE : 1000;
        MPI_Allgather(out, count, MPI_CHAR, in, count, MPI_CHAR, comm);
        MPI_Comm_free(&comm);
        free(out);
        free(in);
    }
}

static MPI_Datatype at_address(const void *where, MPI_Datatype type)
{
    MPI_Aint address;
    MPI_Datatype made;
    int one = 1;
    MPI_Get_address(where, &address);
    MPI_Type_create_struct(1, &one, &address, &type, &made);
    return made;
}

static void absolute(void)
{
    for (int i = 0; i < 6; i++) {
        char *out = block(LARGE), *in = block(LARGE);
        MPI_Datatype inner, from, to, more[2];
        MPI_Type_contiguous(i % 2 ? 4096 : 16, MPI_CHAR, &inner);
        from = at_address(out, inner);
        to = at_address(in, inner);
        MPI_Type_free(&inner);
        if (i >= 2) {
            MPI_Type_dup(from, &more[0]);
            MPI_Type_contiguous(2, to, &more[1]);
            MPI_Type_free(&from);
            MPI_Type_free(&to);
            from = more[0];
            to = more[1];
        }
        MPI_Type_commit(&from);
        MPI_Type_commit(&to);
        int n = (i % 2 ? 4096 : 16) == 16 ? LARGE / 16 : LARGE / 4096;
        pass(MPI_BOTTOM, n, from, MPI_BOTTOM, i >= 2 ? n / 2 : n, to);
        MPI_Type_free(&from);
        MPI_Type_free(&to);
        free(in);
        free(out);
    }
}

static void strides(void)
{
    enum { N = LARGE / 16 };
    double *out = (double *)block(LARGE), *in = (double *)block(LARGE);
    MPI_Datatype back, step;
    MPI_Type_vector(N, 1, -2, MPI_DOUBLE, &back);
    MPI_Type_commit(&back);
    pass(out + LARGE / 8 - 1, 1, back, in + LARGE / 8 - 1, 1, back);
    MPI_Type_create_resized(MPI_DOUBLE, 8, -16, &step);
    MPI_Type_commit(&step);
    pass(out + LARGE / 8 - 1, N, step, in + LARGE / 8 - 1, N, step);

    int *counts = malloc(sizeof *counts * (size_t)size),
        *places = malloc(sizeof *places * (size_t)size);
    for (int i = 0; i < size; i++) {
        counts[i] = 100;
        places[i] = (size - 1 - i) * (N / size);
    }
    MPI_Allgatherv(out, 100, MPI_DOUBLE, in + LARGE / 8 - 1, counts, places, step, MPI_COMM_WORLD);
    MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, in + LARGE / 8 - 1, counts, places,
                  step, MPI_COMM_WORLD);
    MPI_Type_free(&back);
    MPI_Type_free(&step);
    free(counts);
    free(places);
    free(out);
    free(in);
}

/* A graph in which each rank has as many neighbours as its number says, at least one; named by rank
 * 0 for all. */
static MPI_Comm uneven_graph(void)
{
    int edges = 0, *sources = malloc(sizeof *sources * (size_t)size),
        *degrees = malloc(sizeof *degrees * (size_t)size);
    int *destinations = malloc(sizeof *destinations * (size_t)(size * size));
    for (int i = 0; i < size; i++) {
        sources[i] = i;
        degrees[i] = i + 1;
        for (int k = 0; k <= i; k++)
            destinations[edges++] = (i + k) % size;
    }
    MPI_Comm graph;
    MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, sources, degrees, destinations,
                          MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    free(sources);
    free(degrees);
    free(destinations);
    return graph;
}

static void exchange(MPI_Comm comm, int in_degree, int out_degree)
{
    enum { EACH = LARGE / 4 };
    char *out = block((size_t)EACH * (size_t)out_degree),
         *in = block((size_t)EACH * (size_t)in_degree);
    MPI_Comm copy;
    MPI_Comm_dup(comm, &copy);
    MPI_Neighbor_alltoall(out, EACH, MPI_CHAR, in, EACH, MPI_CHAR, copy);
    MPI_Neighbor_allgather(out, EACH, MPI_CHAR, in, EACH, MPI_CHAR, comm);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&comm);
    free(out);
    free(in);
}

static void neighbours(void)
{
    MPI_Comm comm;
    int dims[1] = {size}, periods[1] = {1}, in_degree, out_degree, weighted;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
    exchange(comm, 2, 2);
    comm = uneven_graph();
    MPI_Dist_graph_neighbors_count(comm, &in_degree, &out_degree, &weighted);
    exchange(comm, in_degree, out_degree);

    /* A ring, with a block for each neighbour found by its address. */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    char *out = block(LARGE), *in = block(LARGE);
    MPI_Aint from, to;
    int count = LARGE;
    MPI_Datatype type = MPI_CHAR;
    MPI_Get_address(out, &from);
    MPI_Get_address(in, &to);
    MPI_Neighbor_alltoallw(MPI_BOTTOM, &count, &from, &type, MPI_BOTTOM, &count, &to, &type, comm);
    MPI_Comm_free(&comm);
    free(out);
    free(in);
}

static void numbers(void)
{
    MPI_Aint addresses[2];
    int blocks[2] = {256, 256};
    MPI_Datatype types[2] = {MPI_INT, MPI_BYTE}, type;
    MPI_Get_address((void *)0x1, &addresses[0]);
    MPI_Get_address((void *)0x2, &addresses[1]);
    MPI_Type_create_struct(2, blocks, addresses, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&type);
    MPI_Send((void *)0x10, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void mappings(void)
{
    char *all = mmap(NULL, 8 * LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 3; i >= 0; i--)
        pass(all + (size_t)2 * i * LARGE, LARGE, MPI_CHAR, all + (size_t)(2 * i + 1) * LARGE, LARGE,
             MPI_CHAR);
    munmap(all, 8 * LARGE);
}

/* Passes arrays from the deepest to the first. */
static void descend(int levels)
{
    double array[levels * 5000];
    if (levels > 1)
        descend(levels - 1);
    pass(array, 10, MPI_DOUBLE, array + 10, 10, MPI_DOUBLE);
}

static void on_another_stack(void)
{
    int here[2] = {rank, -1};
    pass(&here[0], 1, MPI_INT, &here[1], 1, MPI_INT);
}

static void stacks(void)
{
    enum { BLOCKS = 20, BYTES = 100000 /* malloc maps larger ones */ };
    static ucontext_t home, there;
    char *stack = block(LARGE), *blocks[BLOCKS];
    descend(2);
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = block(BYTES);
        pass(blocks[i], BYTES / 2, MPI_CHAR, blocks[i] + BYTES / 2, BYTES / 2, MPI_CHAR);
    }
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = LARGE;
    there.uc_link = &home;
    makecontext(&there, on_another_stack, 0);
    swapcontext(&home, &there);
    descend(10);
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    free(stack);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } parts[] = {
        {"reuse", reuse},           {"absolute", absolute}, {"strides", strides},
        {"neighbours", neighbours}, {"numbers", numbers},   {"mappings", mappings},
        {"stacks", stacks},
    };
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (argc < 2 || strcmp(argv[1], parts[i].name) == 0)
            parts[i].run();
    MPI_Finalize();
    return 0;
}
