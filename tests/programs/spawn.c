/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn: processes that MPI starts, and those that meet. Run with 2 ranks or more; what a started
 * process does its argument says.
 *
 *   spawn world      2 processes, started by all; messages and collective calls between the worlds
 *   spawn self       each rank starts one of its own, and then another
 *   spawn multiple   MPI_Comm_spawn_multiple: two kinds in one world
 *   spawn again      started processes start others
 *   spawn merge      one communicator of all, with receives from any source
 *   spawn early      parents that end before their children
 *   spawn connected  worlds that never disconnect
 *   spawn windows    one-sided operations between worlds, and in dynamic windows of a started world
 *   spawn functions  other functions given to MPI, and other objects of the same numbers, in each
 *                    world
 *   spawn ports      started processes connect to a port whose name they are told
 *   spawn halves     the two halves of one world meet at a port
 *   spawn doors      ranks 0 and 1 meet at three ports, in another order than that in which they
 *                    were opened, by both
 *   spawn serve FILE, spawn visit FILE   two jobs meet at a port whose name the one writes into a
 *                                        file
 *   spawn join       two ranks of one world meet over a socket
 *   spawn various    in turn by each rank as the root: receives from any child, a file that both
 *                    worlds open, other calls before MPI_Init
 *   spawn bare       started processes that are not recorded, more than there are parents
 *   spawn refused    calls that are wrong, and one that is not
 *   spawn dies       a started process is killed
 *   spawn probe      can this library do any of it? Exit status 77: no */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int rank, size;
static char *self; /* this program */

static void fail(const char *what)
{
    fprintf(stderr, "spawn: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_Comm start(char *what, int n, MPI_Comm by)
{
    char *arguments[] = {what, NULL};
    int codes[8];
    MPI_Comm made;
    if (MPI_Comm_spawn(self, arguments, n, MPI_INFO_NULL, 0, by, &made, codes) != MPI_SUCCESS)
        fail("MPI_Comm_spawn");
    return made;
}

/* What both sides do with each other: a broadcast from the parents' rank 0, and a message from each
 * child to the parent of the same rank. */
static void talk(MPI_Comm other, int child)
{
    int here, there, n = 0, got = 0;
    MPI_Comm_rank(other, &here);
    MPI_Comm_remote_size(other, &there);
    if (!child)
        n = 42;
    MPI_Bcast(&n, 1, MPI_INT, child ? 0 : here == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
    if (n != 42 && child)
        fail("broadcast");
    if (child && here < there) {
        n += here;
        MPI_Send(&n, 1, MPI_INT, here, 7, other);
    } else if (!child && here < there) {
        MPI_Recv(&got, 1, MPI_INT, here, 7, other, MPI_STATUS_IGNORE);
        if (got != 42 + here)
            fail("message");
    }
    MPI_Barrier(other);
}

static void meet_merged(MPI_Comm other, int child)
{
    MPI_Comm all;
    int sum = 0, one = 1, here, n, got;
    MPI_Intercomm_merge(other, child, &all);
    MPI_Comm_rank(all, &here);
    MPI_Comm_size(all, &n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
    if (sum != n)
        fail("sum");
    if (here == 0)
        for (int i = 1; i < n; i++)
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, all, MPI_STATUS_IGNORE);
    else
        MPI_Send(&here, 1, MPI_INT, 0, 3, all);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
}

static void put_to_next(MPI_Win win, MPI_Comm comm, const MPI_Aint *where)
{
    int here, n;
    MPI_Comm_rank(comm, &here);
    MPI_Comm_size(comm, &n);
    MPI_Win_fence(0, win);
    MPI_Put(&here, 1, MPI_INT, (here + 1) % n, where ? where[(here + 1) % n] : 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
}

static void use_windows(MPI_Comm other, int child)
{
    MPI_Comm all;
    MPI_Win win;
    int n, *block = calloc(16, sizeof *block);
    MPI_Aint where[16], mine;
    MPI_Intercomm_merge(other, child, &all);
    MPI_Win_create(block, sizeof *block, sizeof *block, MPI_INFO_NULL, all, &win);
    put_to_next(win, all, NULL);
    MPI_Win_free(&win);
    MPI_Comm_free(&all);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    if (n > 16)
        fail("too many");
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, block, 16 * sizeof *block);
    MPI_Get_address(block + child, &mine);
    MPI_Allgather(&mine, 1, MPI_AINT, where, 1, MPI_AINT, MPI_COMM_WORLD);
    put_to_next(win, MPI_COMM_WORLD, where);
    MPI_Win_detach(win, block);
    MPI_Win_free(&win);
    free(block);
}

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void ignore_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

static int delete_nothing(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return MPI_SUCCESS;
}

static void give_functions(MPI_Comm other, int child)
{
    int one = 1, sum, key;
    MPI_Op op;
    MPI_Errhandler handler;
    MPI_Datatype type;
    if (child) {
        MPI_Op_create(add, 1, &op);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
        MPI_Op_free(&op);
        MPI_Type_vector(3, 1, 2, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Type_free(&type);
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_nothing, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, &sum);
        MPI_Comm_delete_attr(MPI_COMM_SELF, key);
        MPI_Comm_free_keyval(&key);
    } else {
        MPI_Comm_create_errhandler(ignore_error, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
        MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
        MPI_Errhandler_free(&handler);
        MPI_Type_contiguous(100, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
        void *data = calloc(100, sizeof(double));
        MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
        free(data);
        MPI_Type_free(&type);
    }
    talk(other, child);
}

static void ring(MPI_Comm comm)
{
    int here, n, out = 0, in;
    MPI_Comm_rank(comm, &here);
    MPI_Comm_size(comm, &n);
    for (int i = 0; i < 10; i++) {
        MPI_Sendrecv(&out, 1, MPI_INT, (here + 1) % n, i, &in, 1, MPI_INT, (here + n - 1) % n, i,
                     comm, MPI_STATUS_IGNORE);
        out = in + 1;
    }
}

/* Each rank of the one side sends two messages to rank 0 of the other, which takes them as they
 * come, by two ways. */
static void gather(MPI_Comm other, int child)
{
    int here, there, n = 1, got;
    MPI_Comm_rank(other, &here);
    MPI_Comm_remote_size(other, &there);
    if (child) {
        MPI_Send(&n, 1, MPI_INT, 0, 1, other);
        MPI_Send(&n, 1, MPI_INT, 0, 2, other);
    } else if (here == 0) {
        MPI_Request requests[8];
        int which;
        for (int i = 0; i < there; i++)
            MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, other, &requests[i]);
        for (int i = 0; i < there; i++)
            MPI_Waitany(there, requests, &which, MPI_STATUS_IGNORE);
        for (int i = 0; i < there; i++)
            MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, other, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(other);
}

static void write_file(MPI_Comm by, int value)
{
    MPI_File file;
    int here;
    MPI_Comm_rank(by, &here);
    MPI_File_open(by, "spawn.file", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, here * (int)sizeof value, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void with_children(char *what, int n, void (*meet)(MPI_Comm other, int child))
{
    MPI_Comm children = start(what, n, MPI_COMM_WORLD);
    meet(children, 0);
    MPI_Comm_disconnect(&children);
}

static void be_child(MPI_Comm parent, const char *what)
{
    MPI_Comm met;
    char port[MPI_MAX_PORT_NAME];
    if (strcmp(what, "talks") == 0 || strcmp(what, "listens") == 0) {
        talk(parent, 1);
        if (*what == 't')
            ring(MPI_COMM_WORLD);
    } else if (strcmp(what, "again") == 0) {
        with_children("talks", 2, talk);
        talk(parent, 1);
    } else if (strcmp(what, "functions") == 0) {
        give_functions(parent, 1);
    } else if (strcmp(what, "windows") == 0) {
        use_windows(parent, 1);
    } else if (strcmp(what, "connected") == 0) {
        talk(parent, 1);
        ring(MPI_COMM_WORLD);
        return;
    } else if (strcmp(what, "gathered") == 0) {
        gather(parent, 1);
        write_file(MPI_COMM_WORLD, 2);
        MPI_Barrier(parent);
    } else if (strcmp(what, "dies") == 0) {
        talk(parent, 1);
        if (rank == 1)
            raise(SIGSEGV);
        MPI_Barrier(parent);
    } else if (strcmp(what, "merges") == 0) {
        meet_merged(parent, 1);
    } else if (strcmp(what, "lingers") == 0) {
        talk(parent, 1);
        MPI_Comm_disconnect(&parent);
        sleep(2);
        return;
    } else if (strcmp(what, "outlives") == 0) {
        MPI_Comm_disconnect(&parent);
        sleep(1);
        ring(MPI_COMM_WORLD);
        return;
    } else if (strcmp(what, "connects") == 0) {
        MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, parent);
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
        talk(met, 1);
        MPI_Comm_disconnect(&met);
    } else {
        fail("what?");
    }
    MPI_Comm_disconnect(&parent);
}

static void accept_child(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm children = start("connects", 2, MPI_COMM_WORLD), met;
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, children);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
    talk(met, 0);
    MPI_Comm_disconnect(&met);
    if (rank == 0)
        MPI_Close_port(port);
    MPI_Comm_disconnect(&children);
}

static void meet_at(const char *port, int accepts)
{
    MPI_Comm met;
    if (accepts)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &met);
    talk(met, !accepts);
    MPI_Comm_disconnect(&met);
}

static void meet_at_doors(void)
{
    enum { DOORS = 3 };
    static char names[2][DOORS][MPI_MAX_PORT_NAME];
    if (rank > 1)
        return;
    for (int i = 0; i < DOORS; i++)
        MPI_Open_port(MPI_INFO_NULL, names[rank][i]);
    MPI_Sendrecv(names[rank], sizeof names[0], MPI_CHAR, 1 - rank, 0, names[1 - rank],
                 sizeof names[0], MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = DOORS - 1; i >= 0; i--) {
        meet_at(names[0][i], rank == 0);
        meet_at(names[1][(i + 1) % DOORS], rank == 1);
    }
    for (int i = 0; i < DOORS; i++)
        MPI_Close_port(names[rank][i]);
}

/* Both jobs have the file's name; it is there when it is whole. */
static void meet_job(const char *file, int serves)
{
    char port[MPI_MAX_PORT_NAME] = "", part[4096];
    MPI_Comm met;
    snprintf(part, sizeof part, "%s.part", file);
    if (rank == 0 && serves) {
        MPI_Open_port(MPI_INFO_NULL, port);
        FILE *out = fopen(part, "w");
        fputs(port, out);
        fclose(out);
        rename(part, file);
    } else if (rank == 0) {
        FILE *in;
        while (!(in = fopen(file, "r")))
            usleep(10000);
        if (!fgets(port, sizeof port, in))
            fail("no port");
        fclose(in);
    }
    if (serves)
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
    else
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &met);
    talk(met, !serves);
    MPI_Comm_disconnect(&met);
    if (rank == 0 && serves)
        MPI_Close_port(port);
}

static void meet_halves(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, met;
    int upper = rank >= size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &half);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (upper)
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &met);
    else
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &met);
    talk(met, upper);
    MPI_Comm_disconnect(&met);
    if (rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
}

/* Ranks 0 and 1; a file that is no MPI's has the socket. */
static void join(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    MPI_Comm met;
    int fd = -1;
    snprintf(address.sun_path, sizeof address.sun_path, "spawn.socket");
    if (rank == 0) {
        int listening = socket(AF_UNIX, SOCK_STREAM, 0);
        unlink(address.sun_path);
        if (bind(listening, (void *)&address, sizeof address) != 0 || listen(listening, 1) != 0)
            fail("listen");
        MPI_Barrier(MPI_COMM_WORLD);
        fd = accept(listening, NULL, NULL);
        close(listening);
        unlink(address.sun_path);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 1) {
            fd = socket(AF_UNIX, SOCK_STREAM, 0);
            if (connect(fd, (void *)&address, sizeof address) != 0)
                fail("connect");
        }
    }
    if (rank < 2) {
        if (MPI_Comm_join(fd, &met) != MPI_SUCCESS)
            fail("MPI_Comm_join");
        talk(met, rank);
        MPI_Comm_disconnect(&met);
        close(fd);
    }
}

static void be_parent(const char *what)
{
    MPI_Comm children, others;
    if (strcmp(what, "world") == 0) {
        with_children("talks", 2, talk);
    } else if (strcmp(what, "self") == 0) {
        children = start("listens", 1, MPI_COMM_SELF);
        others = start("talks", 2, MPI_COMM_SELF);
        talk(others, 0);
        talk(children, 0);
        MPI_Comm_disconnect(&others);
        MPI_Comm_disconnect(&children);
    } else if (strcmp(what, "multiple") == 0) {
        char *commands[] = {self, self}, *first[] = {"talks", NULL},
             *second[] = {"talks", "loudly", NULL}, **arguments[] = {first, second};
        int n[] = {1, 2}, codes[3];
        MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
        MPI_Comm_spawn_multiple(2, commands, arguments, n, infos, 0, MPI_COMM_WORLD, &children,
                                codes);
        talk(children, 0);
        MPI_Comm_disconnect(&children);
    } else if (strcmp(what, "again") == 0) {
        with_children("again", 1, talk);
    } else if (strcmp(what, "merge") == 0) {
        with_children("merges", 2, meet_merged);
    } else if (strcmp(what, "early") == 0) {
        children = start("outlives", 2, MPI_COMM_WORLD);
        MPI_Comm_disconnect(&children);
    } else if (strcmp(what, "ports") == 0) {
        accept_child();
    } else if (strcmp(what, "halves") == 0) {
        meet_halves();
    } else if (strcmp(what, "doors") == 0) {
        meet_at_doors();
    } else if (strcmp(what, "join") == 0) {
        join();
    } else if (strcmp(what, "various") == 0) {
        for (int root = 0; root < size; root++) {
            char *arguments[] = {"gathered", NULL};
            write_file(MPI_COMM_WORLD, 1);
            MPI_Comm_spawn(self, arguments, 2 + root, MPI_INFO_NULL, root, MPI_COMM_WORLD,
                           &children, MPI_ERRCODES_IGNORE);
            gather(children, 0);
            MPI_Barrier(children);
            MPI_Comm_disconnect(&children);
        }
        if (rank == 0)
            MPI_File_delete("spawn.file", MPI_INFO_NULL);
    } else if (strcmp(what, "bare") == 0) {
        MPI_Info info;
        char *arguments[] = {"LD_PRELOAD=", self, "lingers", NULL};
        MPI_Info_create(&info);
        MPI_Info_set(info, "env", "LD_PRELOAD="); /* what Open MPI knows */
        MPI_Comm_spawn("env", arguments, size + 1, info, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
        MPI_Info_free(&info);
        talk(children, 0);
        ring(MPI_COMM_WORLD);
        MPI_Comm_disconnect(&children);
    } else if (strcmp(what, "functions") == 0) {
        with_children("functions", 3, give_functions);
    } else if (strcmp(what, "windows") == 0) {
        with_children("windows", 3, use_windows);
    } else if (strcmp(what, "connected") == 0) {
        children = start("connected", 2, MPI_COMM_WORLD);
        talk(children, 0);
    } else if (strcmp(what, "refused") == 0) {
        /* found by every rank: what the root alone finds leaves the others waiting in some
         * libraries */
        int class;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Error_class(MPI_Comm_spawn(self, MPI_ARGV_NULL, 2, MPI_INFO_NULL, size, MPI_COMM_WORLD,
                                       &children, MPI_ERRCODES_IGNORE),
                        &class);
        if (rank == 0)
            printf("refused: %s\n", class == MPI_SUCCESS ? "no" : "yes");
        be_parent("world");
    } else if (strcmp(what, "dies") == 0) {
        children = start("dies", 2, MPI_COMM_WORLD);
        talk(children, 0);
        MPI_Barrier(children);
    } else {
        fail("what?");
    }
}

/* Some libraries are made without: their calls fail, or have no launcher to ask. */
static int probe(void)
{
    MPI_Comm children;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    char *arguments[] = {"listens", NULL};
    char text[MPI_MAX_ERROR_STRING];
    int n, code = MPI_Comm_spawn(self, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                                 MPI_ERRCODES_IGNORE);
    if (code != MPI_SUCCESS) {
        MPI_Error_string(code, text, &n);
        printf("%s\n", text);
        return 77;
    }
    talk(children, 0);
    MPI_Comm_disconnect(&children);
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    const char *what = argc > 1 ? argv[1] : "world";
    int status = 0;
    self = argv[0];
    if (strcmp(what, "gathered") == 0) { /* a child */
        int flag, provided;
        MPI_Initialized(&flag);
        MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    } else {
        MPI_Init(&argc, &argv);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        be_child(parent, what);
    else if (strcmp(what, "probe") == 0)
        status = probe();
    else if (strcmp(what, "serve") == 0 || strcmp(what, "visit") == 0)
        meet_job(argc > 2 ? argv[2] : "port", *what == 's');
    else
        be_parent(what);
    MPI_Finalize();
    if (parent == MPI_COMM_NULL && rank == 0 && status == 0)
        printf("done\n");
    return status;
}
