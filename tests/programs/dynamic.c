/* SPDX-License-Identifier: BSD-3-Clause */
/* dynamic.c: memory in dynamic windows that is named in all ways that MPI has.
 *
 * dynamic CASE
 *   blocks    two blocks are allocated, attached and freed in each step, so that their addresses
 *             change places or come again
 *   bottom    MPI_BOTTOM and datatypes of addresses at the target, static memory, memory of
 *             MPI_Alloc_mem
 *   half      a window over every second process, with ranks of its own
 *   list      processes append to a list, whose links they read from the window */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

#define CHECK(what)                                                      \
    do                                                                   \
        if (!(what)) {                                                   \
            fprintf(stderr, "%d: line %d: %s\n", rank, __LINE__, #what); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                \
        }                                                                \
    while (0)

static void blocks(void)
{
    MPI_Win win;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int step = 0; step < 12; step++) {
        int *first = malloc(256), *second = malloc(256);
        MPI_Aint mine[2], there[2];
        memset(first, 0, 256);
        memset(second, 0, 256);
        MPI_Win_attach(win, first, 256);
        MPI_Win_attach(win, second, 256);
        MPI_Get_address(first, &mine[0]);
        MPI_Get_address(second, &mine[1]);
        MPI_Sendrecv(mine, 2, MPI_AINT, left, 0, there, 2, MPI_AINT, right, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        int values[2] = {step + 1, -step - 1};
        MPI_Win_fence(0, win);
        MPI_Put(&values[0], 1, MPI_INT, right, there[0], 1, MPI_INT, win);
        MPI_Put(&values[1], 1, MPI_INT, right, MPI_Aint_add(there[1], 8), 1, MPI_INT, win);
        MPI_Win_fence(0, win);
        CHECK(first[0] == step + 1 && second[2] == -step - 1 && second[0] == 0);
        MPI_Win_detach(win, first);
        MPI_Win_detach(win, second);
        free(first);
        free(second);
    }
    MPI_Win_free(&win);
}

static void bottom(void)
{
    static int fixed[16];
    int *made, right = (rank + 1) % size, left = (rank + size - 1) % size, values[2] = {3, 4},
               back = 0;
    MPI_Aint mine[2], there[2];
    MPI_Win win;
    MPI_Datatype type;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Alloc_mem(64, MPI_INFO_NULL, &made);
    memset(made, 0, 64);
    MPI_Win_attach(win, fixed, sizeof fixed);
    MPI_Win_attach(win, made, 64);
    MPI_Get_address(fixed, &mine[0]);
    MPI_Get_address(made, &mine[1]);
    MPI_Sendrecv(mine, 2, MPI_AINT, left, 0, there, 2, MPI_AINT, right, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    there[0] += 2 * (MPI_Aint)sizeof(int);
    MPI_Type_create_hindexed_block(2, 1, there, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Win_fence(0, win);
    MPI_Put(values, 2, MPI_INT, right, (MPI_Aint)MPI_BOTTOM, 1, type, win);
    MPI_Win_fence(0, win);
    CHECK(fixed[2] == 3 && made[0] == 4);
    MPI_Get(&back, 1, MPI_INT, right, there[0], 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(back == 3);
    MPI_Type_free(&type);
    MPI_Win_detach(win, fixed);
    MPI_Win_detach(win, made);
    MPI_Win_free(&win);
    MPI_Free_mem(made);
}

static void half(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    if (rank % 2) {
        int own, n, *block = calloc(8, sizeof *block), got = -1;
        MPI_Comm_rank(comm, &own);
        MPI_Comm_size(comm, &n);
        MPI_Aint at, *all = malloc(sizeof *all * (size_t)n);
        MPI_Win win;
        MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &win);
        block[5] = own;
        MPI_Win_attach(win, block, 8 * sizeof *block);
        MPI_Get_address(&block[5], &at);
        MPI_Allgather(&at, 1, MPI_AINT, all, 1, MPI_AINT, comm);
        MPI_Win_lock_all(0, win);
        MPI_Get(&got, 1, MPI_INT, (own + 1) % n, all[(own + 1) % n], 1, MPI_INT, win);
        MPI_Win_flush((own + 1) % n, win);
        MPI_Win_unlock_all(win);
        CHECK(got == (own + 1) % n);
        MPI_Barrier(comm);
        MPI_Win_detach(win, block);
        MPI_Win_free(&win);
        free(block);
        free(all);
    }
    MPI_Comm_free(&comm);
}

/* What a process knows of the others' memory it has read from the window, under exclusive locks. */
typedef struct {
    MPI_Aint where;
    int who, value;
} Link;

static void list(void)
{
    enum { EACH = 6 };
    Link *own[EACH + 1], nobody = {0, -1, 0}, at = nobody;
    MPI_Win win;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int i = 0; i <= EACH; i++)
        own[i] = NULL;
    if (rank == 0) {
        own[EACH] = malloc(sizeof(Link));
        *own[EACH] = nobody;
        MPI_Win_attach(win, own[EACH], sizeof(Link));
        MPI_Get_address(own[EACH], &at.where);
    }
    at.who = 0;
    MPI_Bcast(&at.where, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < EACH; i++) {
        Link new = {0, rank, i}, next = nobody;
        own[i] = malloc(sizeof(Link));
        *own[i] = nobody;
        MPI_Win_attach(win, own[i], sizeof(Link));
        MPI_Get_address(own[i], &new.where);
        for (;;) { /* to the end of the list */
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, at.who, 0, win);
            MPI_Get(&next, sizeof next, MPI_BYTE, at.who, at.where, sizeof next, MPI_BYTE, win);
            MPI_Win_flush(at.who, win);
            if (next.who < 0)
                MPI_Put(&new, sizeof new, MPI_BYTE, at.who, at.where, sizeof new, MPI_BYTE, win);
            MPI_Win_unlock(at.who, win);
            if (next.who < 0)
                break;
            at = next;
        }
        sched_yield();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i <= EACH; i++)
        if (own[i]) {
            MPI_Win_detach(win, own[i]);
            free(own[i]);
        }
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"blocks", blocks}, {"bottom", bottom}, {"half", half}, {"list", list}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (argc > 1 && strcmp(argv[1], cases[i].name) == 0)
            cases[i].run();
    MPI_Finalize();
    return 0;
}
