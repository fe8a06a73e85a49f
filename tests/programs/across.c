/* SPDX-License-Identifier: BSD-3-Clause */
/* across: communicators that hold processes of several worlds, and what is made from them.
 *
 * Each message has the tag 100 * rank of the sender + rank of the receiver, as ranks of the job
 * (the ranks of all worlds, one world after the other). So a recording shows by itself whether a
 * reader knows who is at the other end. Run with 2 ranks.
 *
 *   across single    2 processes, started by all
 *   across multiple  MPI_Comm_spawn_multiple: 1 process and 2
 *   across leaders   ranks 0 and 1 start a world each, at the same time
 *   across turns     rank 1 is the root of the first start, rank 0 of the second
 *   across again     a started process starts another world
 *   across together  parents and children start a world as one communicator
 *   across ports     worlds that two ranks started connect to a port, and accept */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, TAGS = 100 };

static char *self; /* this program */
static int first;  /* rank of the job of this world's rank 0 */
static int rank;   /* of this process, in its world */

static void fail(const char *what)
{
    fprintf(stderr, "across: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A message to each partner, and one from each. */
static void meet(MPI_Comm comm)
{
    int n, inter, here, mine = first + rank, ids[MOST], out[MOST], in[MOST];
    MPI_Request requests[2 * MOST];
    MPI_Comm_test_inter(comm, &inter);
    MPI_Comm_rank(comm, &here);
    if (inter)
        MPI_Comm_remote_size(comm, &n);
    else
        MPI_Comm_size(comm, &n);
    if (n > MOST)
        fail("too many");
    MPI_Allgather(&mine, 1, MPI_INT, ids, 1, MPI_INT, comm);
    for (int i = 0; i < n; i++) {
        out[i] = mine;
        MPI_Irecv(&in[i], 1, MPI_INT, i, TAGS * ids[i] + mine, comm, &requests[2 * i]);
        MPI_Isend(&out[i], 1, MPI_INT, i, TAGS * mine + ids[i], comm, &requests[2 * i + 1]);
    }
    MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < n; i++)
        if (in[i] != ids[i])
            fail("message");
}

static void meet_and_free(MPI_Comm comm)
{
    if (comm == MPI_COMM_NULL)
        return;
    meet(comm);
    MPI_Comm_free(&comm);
}

static void use_intra(MPI_Comm all)
{
    MPI_Comm made, grid;
    MPI_Group group, part;
    MPI_Win win;
    int here, n, block[MOST] = {0}, whole = 0, edge = 0, sides[2] = {0, 2};
    MPI_Comm_rank(all, &here);
    MPI_Comm_size(all, &n);
    meet(all);
    MPI_Comm_dup(all, &made);
    meet_and_free(made);
    MPI_Comm_split(all, here % 2, -here, &made);
    meet_and_free(made);
    MPI_Comm_split(all, here / 2, 0, &made);
    meet(made);
    MPI_Comm_dup(made, &grid);
    meet_and_free(grid);
    MPI_Comm_free(&made);
    MPI_Cart_create(all, 1, &n, &whole, 0, &grid);
    meet_and_free(grid);
    if (n % 2 == 0) {
        sides[0] = n / 2;
        MPI_Cart_create(all, 2, sides, (int[]){0, 0}, 0, &grid);
        for (int i = 0; i < 2; i++) {
            MPI_Cart_sub(grid, (int[]){i, !i}, &made);
            meet_and_free(made);
        }
        MPI_Comm_free(&grid);
    }
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
    meet_and_free(made);
    /* the last one and the first, in this order */
    MPI_Comm_group(all, &group);
    MPI_Group_incl(group, 2, (int[]){n - 1, 0}, &part);
    MPI_Comm_create(all, part, &made);
    meet_and_free(made);
    if (here == 0 || here == n - 1) {
        MPI_Comm_create_group(all, part, 5, &made);
        meet_and_free(made);
    }
    MPI_Group_free(&part);
    MPI_Group_free(&group);
    /* the lower half and the upper half */
    MPI_Comm_split(all, here < n / 2, 0, &made);
    MPI_Intercomm_create(made, 0, all, here < n / 2 ? n / 2 : 0, 9, &grid);
    meet_and_free(grid);
    MPI_Comm_free(&made);
    MPI_Win_create(block, sizeof block, sizeof *block, MPI_INFO_NULL, all, &win);
    MPI_Win_fence(0, win);
    MPI_Put(&edge, 1, MPI_INT, (here + 1) % n, here, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    if (here == 0)
        for (int i = 1; i < n; i++)
            MPI_Recv(&edge, 1, MPI_INT, MPI_ANY_SOURCE, 1, all, MPI_STATUS_IGNORE);
    else
        MPI_Send(&here, 1, MPI_INT, 0, 1, all);
    MPI_Barrier(all);
}

static void use_inter(MPI_Comm other, int high)
{
    MPI_Comm made, all;
    int here;
    MPI_Comm_rank(other, &here);
    meet(other);
    MPI_Comm_dup(other, &made);
    meet_and_free(made);
    MPI_Comm_split(other, here == 0, 0, &made);
    meet_and_free(made);
    MPI_Intercomm_merge(other, high, &all);
    use_intra(all);
    MPI_Comm_free(&all);
    MPI_Intercomm_merge(other, !high, &all);
    meet(all);
    MPI_Comm_free(&all);
}

/* WHAT and FIRST are the arguments of the started processes. */
static MPI_Comm start(const char *what, int from, int n, int root, MPI_Comm by)
{
    char role[32], number[16], *arguments[] = {role, number, NULL};
    MPI_Comm made;
    snprintf(role, sizeof role, "%s", what);
    snprintf(number, sizeof number, "%d", from);
    MPI_Comm_spawn(self, arguments, n, MPI_INFO_NULL, root, by, &made, MPI_ERRCODES_IGNORE);
    return made;
}

static void with_children(const char *what, int from, int n, int root, MPI_Comm by)
{
    MPI_Comm children = start(what, from, n, root, by);
    use_inter(children, 0);
    MPI_Comm_disconnect(&children);
}

/* The parent's rank 0 passes the port on. */
static void pass_port(char *port, MPI_Comm other, int root)
{
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, root, other);
}

static void be_child(MPI_Comm parent, const char *what)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm all;
    if (strcmp(what, "again") == 0)
        with_children("plain", first + 1, 2, 0, MPI_COMM_WORLD);
    if (strcmp(what, "together") == 0) {
        MPI_Intercomm_merge(parent, 1, &all);
        with_children("plain", first + 2, 2, 1, all);
        MPI_Comm_free(&all);
    } else if (strcmp(what, "connects") == 0) {
        pass_port(port, parent, 0);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &all);
        use_inter(all, 1);
        MPI_Comm_disconnect(&all);
    } else if (strcmp(what, "accepts") == 0) {
        if (rank == 0) {
            MPI_Open_port(MPI_INFO_NULL, port);
            MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, parent);
        }
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &all);
        use_inter(all, 0);
        MPI_Comm_disconnect(&all);
        if (rank == 0)
            MPI_Close_port(port);
    } else {
        use_inter(parent, 1);
    }
    MPI_Comm_disconnect(&parent);
}

/* Rank 0's child accepts, and rank 1's connects. */
static void introduce(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm child = start(rank == 0 ? "accepts" : "connects", 2 + 2 * rank, 2, 0, MPI_COMM_SELF);
    if (rank == 0) {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, child, MPI_STATUS_IGNORE);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pass_port(port, child, MPI_ROOT);
    }
    MPI_Comm_disconnect(&child);
}

static void be_parent(const char *what)
{
    MPI_Comm children, all;
    if (strcmp(what, "single") == 0) {
        with_children("plain", 2, 2, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "multiple") == 0) {
        char *commands[] = {self, self}, *arguments[] = {"plain", "2", NULL},
             **both[] = {arguments, arguments};
        MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
        MPI_Comm_spawn_multiple(2, commands, both, (int[]){1, 2}, infos, 0, MPI_COMM_WORLD,
                                &children, MPI_ERRCODES_IGNORE);
        use_inter(children, 0);
        MPI_Comm_disconnect(&children);
    } else if (strcmp(what, "leaders") == 0) {
        with_children("plain", 2 + 2 * rank, 2 + rank, 0, MPI_COMM_SELF);
    } else if (strcmp(what, "turns") == 0) {
        with_children("plain", 4, 2, 1, MPI_COMM_WORLD);
        with_children("plain", 2, 2, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "again") == 0) {
        with_children("again", 2, 1, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "together") == 0) {
        children = start("together", 2, 2, 0, MPI_COMM_WORLD);
        MPI_Intercomm_merge(children, 0, &all);
        with_children("plain", 4, 2, 1, all);
        MPI_Comm_free(&all);
        MPI_Comm_disconnect(&children);
    } else if (strcmp(what, "ports") == 0) {
        introduce();
    } else {
        fail("what?");
    }
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    const char *what = argc > 1 ? argv[1] : "single";
    self = argv[0];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        first = argc > 2 ? atoi(argv[2]) : 0;
        be_child(parent, what);
    } else {
        be_parent(what);
    }
    MPI_Finalize();
    return 0;
}
