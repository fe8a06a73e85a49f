/* SPDX-License-Identifier: BSD-3-Clause */
/* displacements: datatypes whose displacements lead from one variable to another, as differences of
 * addresses that MPI was asked for. Where those are in different segments the numbers are others in
 * each run. Runs on 2 ranks. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(x)                                                              \
    do {                                                                      \
        if (!(x)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #x); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                     \
        }                                                                     \
    } while (0)

enum { N = 20 };
static int rank, fixed[4];

static void exchange(void *out, MPI_Datatype out_type, void *in, MPI_Datatype in_type)
{
    MPI_Sendrecv(out, 1, out_type, !rank, 7, in, 1, in_type, !rank, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* The columns of a matrix and what lies apart from it, counted from the first column; the matrix is
 * large enough to be mapped, the other is not. */
typedef struct {
    double *matrix, *apart;
    MPI_Datatype type;
} Panel;
static Panel panel(int columns)
{
    Panel p = {calloc(N, 100000), calloc(N, sizeof(double)), MPI_DATATYPE_NULL};
    int blocks[N + 1];
    MPI_Aint at[N + 1];
    MPI_Datatype types[N + 1];
    for (int i = 0; i <= columns; i++) {
        MPI_Get_address(i < columns ? p.matrix + 16 * i : p.apart + 2, &at[i]);
        blocks[i] = i < columns ? 5 : 10;
        types[i] = MPI_DOUBLE;
    }
    for (int i = 1; i <= columns; i++)
        at[i] -= at[0];
    at[0] = 0;
    MPI_Type_create_struct(columns + 1, blocks, at, types, &p.type);
    MPI_Type_commit(&p.type);
    return p;
}

static void free_panel(Panel p)
{
    MPI_Type_free(&p.type);
    free(p.matrix);
    free(p.apart);
}

static void panels(void)
{
    for (int columns = 3; columns <= N; columns += 5) {
        Panel out = panel(columns), in = panel(columns);
        for (int i = 0; i < columns; i++)
            out.matrix[16 * i + 4] = i + rank;
        out.apart[11] = rank + 0.5;
        exchange(out.matrix, out.type, in.matrix, in.type);
        CHECK(in.matrix[16 * (columns - 1) + 4] == columns - 1 + !rank
              && in.apart[11] == !rank + 0.5);
        free_panel(out);
        free_panel(in);
    }
}

/* MPI's own difference, of variables on the stack, in static data and on the heap, counted from one
 * that is in the middle of the row. */
static void variables(void)
{
    int local[4] = {rank}, *heap = malloc(sizeof *heap), one[3] = {4, 1, 4};
    MPI_Aint at[3], base, lower, extent;
    MPI_Datatype type, copy, pair;
    *heap = 10 + rank;
    fixed[3] = 20 + rank;
    MPI_Get_address(local, &at[0]);
    MPI_Get_address(heap, &base);
    MPI_Get_address(fixed, &at[2]);
    at[0] = MPI_Aint_diff(at[0], base);
    at[1] = 0;
    at[2] = MPI_Aint_diff(at[2], base);
    MPI_Type_create_hindexed(3, one, at, MPI_INT, &type);
    MPI_Type_get_extent(type, &lower, &extent); /* different in each run */
    MPI_Type_dup(type, &copy);
    MPI_Type_create_resized(copy, 0, sizeof(int), &pair);
    MPI_Type_get_extent(pair, &lower, &extent);
    CHECK(lower == 0 && extent == sizeof(int));
    MPI_Type_commit(&pair);
    int in[9];
    MPI_Datatype plain;
    MPI_Type_contiguous(9, MPI_INT, &plain);
    MPI_Type_commit(&plain);
    exchange(heap, pair, in, plain);
    CHECK(in[0] == !rank && in[4] == 10 + !rank && in[8] == 20 + !rank);

    int integers, addresses, datatypes, combiner, contents[4];
    MPI_Aint back[3];
    MPI_Datatype inner;
    MPI_Type_get_envelope(type, &integers, &addresses, &datatypes, &combiner);
    CHECK(addresses == 3);
    MPI_Type_get_contents(type, integers, addresses, datatypes, contents, back, &inner);
    CHECK(back[0] == at[0] && back[2] == at[2]);
    MPI_Type_free(&plain);
    MPI_Type_free(&pair);
    MPI_Type_free(&copy);
    MPI_Type_free(&type);
    free(heap);
}

/* Two arrays as two rows of one; and the way there and back with MPI_Aint_add. */
static void rows(void)
{
    double *first = calloc(2 * N, 10000), *second = calloc(N, sizeof(double)), in[2 * N];
    MPI_Aint a, b;
    MPI_Datatype type;
    MPI_Get_address(first, &a);
    MPI_Get_address(second, &b);
    CHECK(MPI_Aint_add(a, b - a) == b);
    for (int i = 0; i < N; i++)
        first[i] = second[i] = rank + i;
    MPI_Type_create_hvector(2, N, b - a, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(first, 1, type, !rank, 7, in, 2 * N, MPI_DOUBLE, !rank, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(in[N] == !rank && in[2 * N - 1] == !rank + N - 1);
    MPI_Type_free(&type);
    free(first);
    free(second);
}

/* What looks alike and is not: members of one structure, whose bound is just behind its block. */
static void members(void)
{
    typedef struct {
        int kind;
        double position[2];
    } Item;
    Item *items = malloc(3 * sizeof *items), *in = malloc(3 * sizeof *in);
    MPI_Aint at[3];
    int blocks[2] = {1, 2};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, plain, item;
    MPI_Get_address(&items->kind, &at[0]);
    MPI_Get_address(items->position, &at[1]);
    MPI_Get_address(items + 1, &at[2]);
    for (int i = 2; i >= 0; i--)
        at[i] -= at[0];
    MPI_Type_create_struct(2, blocks, at, types, &plain);
    MPI_Type_create_resized(plain, 0, at[2], &item);
    MPI_Type_commit(&item);
    for (int i = 0; i < 3; i++)
        items[i] = (Item){i, {rank, i}};
    MPI_Sendrecv(items, 3, item, !rank, 7, in, 3, item, !rank, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK(in[2].kind == 2 && in[2].position[0] == !rank);
    MPI_Type_free(&plain);
    MPI_Type_free(&item);
    free(items);
    free(in);
}

/* Extents that are as long as two blocks are apart, by chance. */
static void extents(void)
{
    char *one = malloc(100), *other = malloc(100);
    MPI_Aint from, to, low, extent;
    MPI_Datatype plain, placed;
    int length = 1;
    MPI_Get_address(one < other ? one : other, &from);
    MPI_Get_address(one < other ? other : one, &to);
    MPI_Type_contiguous((int)(to - from), MPI_BYTE, &plain);
    MPI_Type_get_extent(plain, &low, &extent);
    CHECK(low == 0 && extent == to - from);
    char *block = malloc((size_t)(to - from));
    MPI_Aint at;
    MPI_Get_address(block, &at);
    MPI_Type_create_struct(1, &length, &at, &plain, &placed);
    MPI_Type_get_extent(placed, &low, &extent);
    CHECK(low == at && extent == to - from);
    MPI_Type_free(&placed);
    MPI_Type_free(&plain);
    free(block);
    free(one);
    free(other);
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size == 2);
    panels();
    variables();
    rows();
    members();
    extents();
    if (rank == 0)
        printf("displacements: good\n");
    MPI_Finalize();
    return 0;
}
