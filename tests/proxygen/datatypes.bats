# SPDX-License-Identifier: BSD-3-Clause
# Datatypes in proxies: of many parts, and of blocks that lead from one to another.
load compile
setup() { in_scratch; }

@test "datatypes of many parts are compiled in seconds" {
    cat >parts.c <<'C'
#include <mpi.h>
#include <stdlib.h>
enum { N = 200000 };
int main(int argc, char **argv)
{
    int *lengths = malloc(N * sizeof *lengths), size;
    MPI_Aint *places = malloc(N * sizeof *places);
    MPI_Datatype *types = malloc(N * sizeof *types), type, two[2];
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 3; k++) { /* the same numbers for others each time */
        MPI_Type_contiguous(1 + k, MPI_INT, &two[0]);
        MPI_Type_contiguous(2 + k, MPI_INT, &two[1]);
        for (int i = 0; i < N; i++) {
            lengths[i] = 1 + i % 3;
            places[i] = (MPI_Aint)i * 64;
            types[i] = two[i % 2];
        }
        MPI_Type_create_struct(N, lengths, places, types, &type);
        MPI_Type_commit(&type);
        MPI_Type_size(type, &size);
        MPI_Type_free(&type);
        MPI_Type_free(&two[1]);
        MPI_Type_free(&two[0]);
    }
    MPI_Finalize();
    return 0;
}
C
    compiles_in_seconds parts 1
}

@test "datatypes of many parts of random types are compiled in seconds" {
    cat >chance.c <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
    static int lengths[N];
    static MPI_Aint places[N];
    static MPI_Datatype types[N];
    MPI_Datatype type, some[8];
    unsigned long x = 1;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 8; i++)
        MPI_Type_contiguous(1 + i, MPI_INT, &some[i]);
    for (int k = 0; k < 2; k++) { /* others of the same each time */
        for (int i = 0; i < N; i++) {
            x = x * 6364136223846793005ul + 1442695040888963407ul;
            lengths[i] = 1;
            places[i] = 64l * i;
            types[i] = some[x >> 61];
        }
        MPI_Type_create_struct(N, lengths, places, types, &type);
        MPI_Type_free(&type);
    }
    for (int i = 0; i < 8; i++)
        MPI_Type_free(&some[i]);
    MPI_Finalize();
    return 0;
}
C
    # gcc takes minutes for 200,000
    local parts=20000
    [ -z "${LONG:-}" ] || parts=200000
    compiles_in_seconds chance 1 -DN=$parts
}

@test "datatypes of many parts that differ by rank are compiled in seconds" {
    cat >rows.c <<'C'
#include <mpi.h>
#include <stdlib.h>
enum { N = 100000 };
int main(int argc, char **argv)
{
    int *lengths = malloc(N * sizeof *lengths), rank;
    MPI_Aint *places = malloc(N * sizeof *places);
    MPI_Datatype type;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++) {
        lengths[i] = 1 + (i * (rank + 7)) % 3;
        places[i] = (MPI_Aint)i * 64 + rank * 16 * (i % 2);
    }
    MPI_Type_create_hindexed(N, lengths, places, MPI_INT, &type);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
C
    compiles_in_seconds rows 2
}

# As in parallel HDF5: the application computes the distance without asking MPI, and MPI never sees
# the other block.
@test "datatypes lead from one block to another, before it or behind it, by subtracted pointers" {
    cat >apart.c <<'C'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static void give(char *from, char *to, size_t bytes)
{
    int rank, length[2] = {(int)bytes, (int)bytes};
    MPI_Aint place[2] = {0, to - from};
    MPI_Datatype type;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_create_hindexed(2, length, place, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int i = 0; i < (int)bytes; i++)
        from[i] = to[i] = (char)(rank + i);
    MPI_Bcast(from, 1, type, 0, MPI_COMM_WORLD);
    if (from[bytes - 1] != (char)(bytes - 1) || to[bytes - 1] != (char)(bytes - 1))
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Type_free(&type);
}
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int k = 0; k < 3; k++) {
        size_t bytes = k < 2 ? 64 : 400000;
        char *one = malloc(bytes), *gap = malloc(3 * bytes), *other = malloc(bytes);
        give(one, other, bytes);
        give(other, one, bytes);
        free(other);
        free(gap);
        free(one);
    }
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 apart.c -o apart
    roundtrip 4 ./apart
    in_several_files 4
}

# Types of many blocks: as constants the arrays would be 2 MB of C.
@test "long arrays that follow a pattern are loops" {
    cat >blocks.c <<'C'
#include <mpi.h>
#include <stdlib.h>
enum { N = 20000 };
static int ones[N], lengths[N], places[N];
static MPI_Aint offsets[N];
static MPI_Datatype types[N];
static void exchange(MPI_Datatype type)
{
    MPI_Aint lb, extent;
    MPI_Type_commit(&type);
    MPI_Type_get_extent(type, &lb, &extent);
    char *memory = calloc(1, (size_t)(lb + extent));
    MPI_Bcast(memory, 1, type, 0, MPI_COMM_SELF);
    free(memory);
    MPI_Type_free(&type);
}
int main(int argc, char **argv)
{
    unsigned long x = 1;
    int rank;
    MPI_Datatype type, pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    for (int i = 0; i < N; i++) {
        ones[i] = 1;
        places[i] = i * (i + 1) / 2; /* rows of a triangle */
    }
    MPI_Type_indexed(N, ones, places, MPI_CHAR, &type);
    exchange(type);
    for (int i = 0; i < N; i++) { /* in pairs, backwards, the last one alone */
        lengths[i] = i == N - 1 ? 7 : i % 2 ? 3 : 2;
        offsets[i] = 64l * (N - i) - (i % 2 ? 24 : 0);
        types[i] = i < N / 2 && i % 2 ? MPI_INT : pair;
    }
    MPI_Type_create_hindexed(N, lengths, offsets, MPI_INT, &type);
    exchange(type);
    MPI_Type_create_struct(N, ones, offsets, types, &type);
    exchange(type);
    for (int i = 0; i < N; i++) { /* other values, steps and bounds on each rank */
        lengths[i] = i < 1000 * (rank + 1) ? 1 : 2 + rank;
        places[i] = (7 + rank * rank) * i + rank;
    }
    MPI_Type_indexed(N, lengths, places, MPI_INT, &type);
    exchange(type);
    if (argc > 1) { /* by chance */
        for (int i = 0; i < 500; i++) {
            x = x * 6364136223846793005ul + 1442695040888963407ul;
            places[i] = 100 * i + (int)(x >> 59);
        }
        MPI_Type_create_indexed_block(500, 1, places, MPI_INT, &type);
        exchange(type);
    }
    MPI_Type_free(&pair);
    MPI_Finalize();
    return 0;
}
C
    "$MPICC" -O2 blocks.c -o blocks
    roundtrip 4 ./blocks
    [ "$(wc -c <proxy.c)" -lt 20000 ]
    in_several_files 4
    rm -r app.dir proxy.dir proxy.c
    roundtrip 3 ./blocks by-chance
}
