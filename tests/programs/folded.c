/* SPDX-License-Identifier: BSD-3-Clause */
/* folded: long arrays that follow a pattern, or nearly.
 *
 *   folded               as displacements, lengths, types and ranks; what the displacements were
 *                        goes to folded.RANK, a line for each array
 *   folded addresses     of places in one block of memory, and in many
 *   folded chance        numbers of which some would be addresses of something */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHECK(x)                                                              \
    do {                                                                      \
        if (!(x)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #x); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                     \
        }                                                                     \
    } while (0)

enum { N = 2000 };
static int rank;
static FILE *told;

typedef MPI_Aint Element(long i);
static MPI_Aint line(long i)
{
    return 16 * i + 8 * rank;
}
static MPI_Aint back(long i)
{
    return 160000 - 8 * i * (rank + 1);
}
static MPI_Aint turns(long i)
{
    return i % 5 * 100000 + i / 5 * (8 + rank);
}
static MPI_Aint triangle(long i)
{
    return 4 * (i * (i + 1) / 2) + rank;
}
static MPI_Aint pieces(long i)
{
    return i < 700 ? 4 * i : i < 900 ? 1000000 + 8 * (i - 700) : 2000000 - 16 * i;
}
static MPI_Aint last(long i)
{
    return i == N - 1 ? 12345 + rank : 8 * i;
}
static MPI_Aint chance(long i)
{
    return 4 * (MPI_Aint)((i + 1 + rank) * 2654435761u % 65536);
}
static MPI_Aint negative(long i)
{
    return 8 * (i - 1000) - 8 * rank;
}
static MPI_Aint large(long i)
{
    return (i + 1 + rank) * ((MPI_Aint)1 << 48);
}

static void give(int n, Element *element)
{
    static int ints[N + 1], lengths[N + 1];
    static MPI_Aint places[N + 1];
    static MPI_Datatype types[N + 1];
    MPI_Datatype type, two;
    MPI_Group world, group;
    MPI_Type_contiguous(2, MPI_INT, &two);
    for (int i = 0; i < n; i++) {
        places[i] = element(i);
        ints[i] = (int)places[i];
        lengths[i] = i % 3 != 1;
        types[i] = i < n / 2 ? MPI_INT : i % 2 ? two : MPI_CHAR;
        fprintf(told, "%s%ld", i ? ", " : "", (long)places[i]);
    }
    fprintf(told, "\n");
    MPI_Type_create_hindexed_block(n, 1, places, MPI_INT, &type);
    MPI_Type_free(&type);
    MPI_Type_create_struct(n, lengths, places, types, &type);
    MPI_Type_free(&type);
    MPI_Type_indexed(n, lengths, ints, MPI_INT, &type);
    MPI_Type_free(&type);
    MPI_Type_free(&two);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    CHECK(MPI_Group_incl(world, n, ints, &group) != MPI_SUCCESS); /* there are not so many ranks */
    MPI_Group_free(&world);
}

static void exchange(MPI_Aint *places)
{
    MPI_Datatype type;
    MPI_Type_create_hindexed_block(N, 1, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
}

static void give_addresses(void)
{
    static int block[3 * N];
    static int *rows[N];
    static MPI_Aint places[N];
    for (int i = 0; i < N; i++)
        places[i] = (MPI_Aint)&block[3 * i];
    block[3 * (N - 1)] = rank ? 0 : 7;
    exchange(places);
    CHECK(block[3 * (N - 1)] == 7);
    for (int i = 0; i < N; i++) { /* as far apart as in a matrix, as a rule */
        CHECK((rows[i] = malloc(100 * sizeof(int))) != NULL);
        rows[i][0] = rank ? 0 : i;
        places[i] = (MPI_Aint)rows[i];
    }
    exchange(places);
    for (int i = 0; i < N; i++) {
        CHECK(rows[i][0] == i);
        free(rows[i]);
    }
}

static void give_numbers(void)
{
    static MPI_Aint places[N];
    enum { PAGE = 4096 };
    MPI_Datatype type;
    char *memory =
        mmap(NULL, (size_t)N * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    munmap(memory, (size_t)(N - 10) * PAGE); /* of N places the last ten are in memory */
    for (int i = 0; i < N; i++)
        places[i] = (MPI_Aint)(memory + (size_t)i * PAGE);
    MPI_Type_create_hindexed_block(N, 1, places, MPI_INT, &type);
    MPI_Type_free(&type);
    munmap(memory + (size_t)(N - 10) * PAGE, 10 * PAGE);
}

int main(int argc, char **argv)
{
    static Element *const all[] = {line, back,   turns,    triangle, pieces,
                                   last, chance, negative, large};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (argc > 1 && strcmp(argv[1], "addresses") == 0) {
        give_addresses();
    } else if (argc > 1) {
        give_numbers();
    } else {
        char name[32];
        snprintf(name, sizeof name, "folded.%d", rank);
        CHECK((told = fopen(name, "w")) != NULL);
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            give(N, all[i]);
        give(N + 1, turns);
        give(1024, line);
        give(1023, line);
        fclose(told);
    }
    MPI_Finalize();
    return 0;
}
