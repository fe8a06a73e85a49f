/* SPDX-License-Identifier: BSD-3-Clause */
/* datatypes: pairs of ranks exchange data through each way of describing it that MPI has.
 *
 *   datatypes [-i ITERATIONS]
 *
 * Among them a struct type with absolute addresses, sent from MPI_BOTTOM, that gathers a variable
 * on the stack, a static array and pieces of two heap blocks into one message. Rank r talks to r ^
 * 1; with an odd number of ranks the last one talks to itself. */
#include <stddef.h>
#include <string.h>

#include "example.h"

typedef struct {
    char kind;
    double position[3];
    int id;
    short flags[2];
} Atom;

enum { N = 6 };

static int rank, partner;
static double field[N], got_field[N]; /* static data */

static void exchange(const void *to, int to_count, MPI_Datatype to_type, void *from, int from_count,
                     MPI_Datatype from_type)
{
    MPI_Status status;
    int size, count;
    MPI_Sendrecv(to, to_count, to_type, partner, 5, from, from_count, from_type, partner, 5,
                 MPI_COMM_WORLD, &status);
    MPI_Type_size(to_type, &size);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == size * to_count);
}

/* One type over three pieces at absolute addresses. */
static MPI_Datatype gather(int *number, double *array, double *heap, double *strided)
{
    MPI_Datatype every_other, type;
    MPI_Type_vector(N, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Datatype types[4] = {MPI_INT, MPI_DOUBLE, MPI_DOUBLE, every_other};
    int lengths[4] = {1, N, N, 1};
    MPI_Aint at[4];
    MPI_Get_address(number, &at[0]);
    MPI_Get_address(array, &at[1]);
    MPI_Get_address(heap, &at[2]);
    MPI_Get_address(strided, &at[3]);
    MPI_Type_create_struct(4, lengths, at, types, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&every_other); /* TYPE keeps what it needs */
    return type;
}

static void absolute_addresses(int iteration)
{
    int step = 100 * rank + iteration, got_step = -1;
    double *heap = allocate(sizeof *heap * N), *got_heap = allocate(sizeof *heap * N);
    double *strided = allocate(sizeof *heap * 2 * N), *got_strided = allocate(sizeof *heap * 2 * N);
    for (int i = 0; i < N; i++) {
        field[i] = rank + i * 0.5;
        heap[i] = rank - i;
        strided[2 * i] = rank * 10 + i;
        strided[2 * i + 1] = got_strided[2 * i + 1] = -7;
    }
    MPI_Datatype out = gather(&step, field, heap, strided),
                 in = gather(&got_step, got_field, got_heap, got_strided);
    exchange(MPI_BOTTOM, 1, out, MPI_BOTTOM, 1, in);
    CHECK(got_step == 100 * partner + iteration);
    for (int i = 0; i < N; i++)
        CHECK(got_field[i] == partner + i * 0.5 && got_heap[i] == partner - i
              && got_strided[2 * i] == partner * 10 + i && got_strided[2 * i + 1] == -7);

    /* an address computed from another one */
    MPI_Aint base, third;
    MPI_Get_address(heap, &base);
    third = MPI_Aint_add(base, 2 * (MPI_Aint)sizeof *heap);
    CHECK(MPI_Aint_diff(third, base) == 2 * (MPI_Aint)sizeof *heap);
    int one = 1;
    MPI_Datatype single;
    MPI_Type_create_hindexed(1, &one, &third, MPI_DOUBLE, &single);
    MPI_Type_commit(&single);
    exchange(MPI_BOTTOM, 1, single, got_heap, 1, MPI_DOUBLE);
    CHECK(got_heap[0] == partner - 2);
    MPI_Type_free(&single);
    MPI_Type_free(&in);
    MPI_Type_free(&out);
    free(heap);
    free(got_heap);
    free(strided);
    free(got_strided);
}

static void structures(void)
{
    Atom atoms[N], got[N];
    memset(got, 0, sizeof got);
    for (int i = 0; i < N; i++)
        atoms[i] = (Atom){'A' + i, {rank, i, rank * i}, rank * N + i, {(short)rank, (short)i}};
    int lengths[4] = {1, 3, 1, 2};
    MPI_Aint at[4] = {offsetof(Atom, kind), offsetof(Atom, position), offsetof(Atom, id),
                      offsetof(Atom, flags)};
    MPI_Datatype types[4] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT}, plain, atom, copy;
    MPI_Type_create_struct(4, lengths, at, types, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(Atom), &atom);
    MPI_Type_commit(&atom);
    MPI_Type_set_name(atom, "Atom");
    MPI_Type_dup(atom, &copy);
    exchange(atoms, N, atom, got, N, copy);
    for (int i = 0; i < N; i++)
        CHECK(got[i].kind == 'A' + i && got[i].position[2] == partner * i
              && got[i].id == partner * N + i && got[i].flags[1] == i);

    /* some of them, by their numbers */
    int which[3] = {4, 0, 2}, twice[2] = {2, 1}, starts[2] = {3, 0};
    MPI_Datatype some, runs;
    MPI_Type_create_indexed_block(3, 1, which, atom, &some);
    MPI_Type_indexed(2, twice, starts, atom, &runs);
    MPI_Type_commit(&some);
    MPI_Type_commit(&runs);
    exchange(atoms, 1, some, got, 1, runs); /* 4, 0, 2 arrive as 3, 4, 0 */
    CHECK(got[3].id == partner * N + 4 && got[4].id == partner * N + 0
          && got[0].id == partner * N + 2);

    int integers, addresses, datatypes, combiner;
    MPI_Type_get_envelope(some, &integers, &addresses, &datatypes, &combiner);
    CHECK(combiner == MPI_COMBINER_INDEXED_BLOCK && integers == 5 && addresses == 0
          && datatypes == 1);
    int back[5];
    MPI_Datatype inner;
    MPI_Type_get_contents(some, integers, addresses, datatypes, back, NULL, &inner);
    CHECK(back[0] == 3 && back[2] == 4);
    MPI_Type_free(&inner);
    MPI_Type_free(&runs);
    MPI_Type_free(&some);
    MPI_Type_free(&copy);
    MPI_Type_free(&atom);
    MPI_Type_free(&plain);
}

static void matrices(void)
{
    double a[N][N], b[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = rank * 100 + i * N + j;
            b[i][j] = -1;
        }
    /* a matrix arrives transposed: rows are sent, columns received */
    MPI_Datatype column, columns;
    MPI_Type_vector(N, 1, N, MPI_DOUBLE, &column);
    MPI_Type_create_hvector(N, 1, sizeof(double), column, &columns);
    MPI_Type_commit(&columns);
    exchange(a, N * N, MPI_DOUBLE, b, 1, columns);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            CHECK(b[j][i] == partner * 100 + i * N + j);

    /* the middle of one into the corner of the other */
    int sizes[2] = {N, N}, sub[2] = {2, 3}, middle[2] = {2, 2}, corner[2] = {0, 0};
    MPI_Datatype from_middle, to_corner;
    MPI_Type_create_subarray(2, sizes, sub, middle, MPI_ORDER_C, MPI_DOUBLE, &from_middle);
    MPI_Type_create_subarray(2, sizes, sub, corner, MPI_ORDER_C, MPI_DOUBLE, &to_corner);
    MPI_Type_commit(&from_middle);
    MPI_Type_commit(&to_corner);
    exchange(a, 1, from_middle, b, 1, to_corner);
    CHECK(b[0][0] == partner * 100 + 2 * N + 2 && b[1][2] == partner * 100 + 3 * N + 4);

    /* the part of a block-cyclic distribution that process 0 of 2 × 1 would own */
    int distributions[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK},
        arguments[2] = {1, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 1};
    MPI_Datatype odd_rows;
    MPI_Type_create_darray(2, 0, 2, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_DOUBLE,
                           &odd_rows);
    MPI_Type_commit(&odd_rows);
    exchange(a, 1, odd_rows, b, N * N / 2, MPI_DOUBLE);
    CHECK(b[0][0] == partner * 100 && b[1][0] == partner * 100 + 2 * N);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(odd_rows, &lower, &extent);
    CHECK(lower == 0 && extent == (MPI_Aint)sizeof a);
    MPI_Type_free(&odd_rows);
    MPI_Type_free(&from_middle);
    MPI_Type_free(&to_corner);
    MPI_Type_free(&columns);
    MPI_Type_free(&column);
}

static void packed(void)
{
    int bytes, more, position = 0, header[2] = {rank, N}, got_header[2];
    double values[N], got[N];
    for (int i = 0; i < N; i++)
        values[i] = rank + i / 8.0;
    MPI_Pack_size(2, MPI_INT, MPI_COMM_WORLD, &bytes);
    MPI_Pack_size(N, MPI_DOUBLE, MPI_COMM_WORLD, &more);
    bytes += more;
    char *out = allocate(bytes), *in = allocate(bytes);
    MPI_Pack(header, 2, MPI_INT, out, bytes, &position, MPI_COMM_WORLD);
    MPI_Pack(values, N, MPI_DOUBLE, out, bytes, &position, MPI_COMM_WORLD);
    exchange(out, position, MPI_PACKED, in, bytes, MPI_PACKED);
    position = 0;
    MPI_Unpack(in, bytes, &position, got_header, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Unpack(in, bytes, &position, got, N, MPI_DOUBLE, MPI_COMM_WORLD);
    CHECK(got_header[0] == partner && got_header[1] == N && got[N - 1] == partner + (N - 1) / 8.0);
    free(out);
    free(in);

    MPI_Aint external, at = 0;
    MPI_Pack_external_size("external32", N, MPI_DOUBLE, &external);
    CHECK(external == N * 8);
    out = allocate(external);
    in = allocate(external);
    MPI_Pack_external("external32", values, N, MPI_DOUBLE, out, external, &at);
    exchange(out, (int)at, MPI_BYTE, in, (int)external, MPI_BYTE);
    at = 0;
    MPI_Unpack_external("external32", in, external, &at, got, N, MPI_DOUBLE);
    CHECK(got[1] == partner + 1 / 8.0);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    int iterations = 5, size;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "i:")) != -1;)
        switch (o) {
        case 'i':
            iterations = number(optarg, 0, 1000000);
            break;
        default:
            return 2;
        }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    partner = (rank ^ 1) < size ? rank ^ 1 : rank;
    for (int i = 0; i < iterations; i++) {
        absolute_addresses(i);
        structures();
        matrices();
        packed();
    }
    if (rank == 0)
        printf("datatypes: %d ranks, %d iterations\n", size, iterations);
    MPI_Finalize();
    return 0;
}
