/* SPDX-License-Identifier: BSD-3-Clause */
/* invalid: passes what is no handle, of each kind, alone or among others, and NULL for functions.
 * Prints the class of each error. What a library crashes at is left out: Open MPI's handles are
 * pointers, and it checks few of them before it follows them. */
#include <mpi.h>
#include <stdio.h>

static int rank;

static void show(const char *what, int code)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(code, &class);
    if (rank == 0)
        printf("%s: %d\n", what, class);
}

/* Numbers that are none of MPICH's handles; Open MPI gives its NULL, which is none of its own. */
#ifdef OPEN_MPI
#define NONE(type) MPI_##type##_f2c(-1)
#else
#define NONE(type) ((MPI_##type)12345)
#define MPI_Type MPI_Datatype
#endif

static void pass_requests(void)
{
    MPI_Request one = NONE(Request);
    int flag;
#ifndef OPEN_MPI
    show("MPI_Wait", MPI_Wait(&one, MPI_STATUS_IGNORE));
    show("MPI_Test", MPI_Test(&one, &flag, MPI_STATUS_IGNORE));
    show("MPI_Start", MPI_Start(&one));
#endif
    show("MPI_Cancel", MPI_Cancel(&one));
    show("MPI_Request_free", MPI_Request_free(&one));
    show("MPI_Request_get_status", MPI_Request_get_status(one, &flag, MPI_STATUS_IGNORE));
}

/* Among requests that go on. */
static void pass_arrays(void)
{
    enum { N = 4, LIVE = 0, NULLED = 2 };
    int value = rank, got = -1, n, index, flag, indices[N];
    MPI_Request all[N];
    MPI_Status statuses[N];
    for (int i = 0; i < N; i++)
        all[i] = i == NULLED ? MPI_REQUEST_NULL : NONE(Request);
    MPI_Irecv(&got, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &all[LIVE]);
    show("MPI_Waitall", MPI_Waitall(N, all, statuses));
    show("MPI_Waitany", MPI_Waitany(N, all, &index, statuses));
    show("MPI_Waitsome", MPI_Waitsome(N, all, &n, indices, statuses));
    show("MPI_Testall", MPI_Testall(N, all, &flag, statuses));
    show("MPI_Testany", MPI_Testany(N, all, &index, &flag, statuses));
    show("MPI_Testsome", MPI_Testsome(N, all, &n, indices, statuses));
    show("MPI_Waitall of nothing else", MPI_Waitall(1, &all[1], statuses));
    MPI_Send(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    show("MPI_Wait", MPI_Wait(&all[LIVE], &statuses[0]));
    if (rank == 0)
        printf("got %d\n", got);

    MPI_Request started[2] = {MPI_REQUEST_NULL, NONE(Request)};
    MPI_Recv_init(&got, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &started[0]);
    show("MPI_Startall", MPI_Startall(2, started));
    MPI_Request_free(&started[0]);
}

static void pass_handles(void)
{
    int value = 0, n;
    void *attribute;
    MPI_Datatype type = NONE(Type);
    MPI_Info info = NONE(Info);
    show("communicator", MPI_Barrier(NONE(Comm)));
    show("datatype", MPI_Send(&value, 1, type, rank, 0, MPI_COMM_WORLD));
    show("datatypes", MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8},
                                             (MPI_Datatype[]){MPI_INT, type}, &(MPI_Datatype){0}));
    show("datatype to free", MPI_Type_free(&type));
    show("group", MPI_Group_size(NONE(Group), &n));
    show("error handler", MPI_Comm_set_errhandler(MPI_COMM_WORLD, NONE(Errhandler)));
    show("info", MPI_Info_get_nkeys(info, &n));
    show("window", MPI_Win_fence(0, NONE(Win)));
    show("key", MPI_Comm_get_attr(MPI_COMM_WORLD, 0x6789abc, &attribute, &n));
#ifdef OPEN_MPI
    show("file", MPI_File_get_size(NONE(File), &(MPI_Offset){0}));
#else
    static char nothing[4096];
    MPI_Op op = NONE(Op);
    MPI_Message message = NONE(Message);
    show("info to free", MPI_Info_free(&info));
    show("file", MPI_File_get_size((MPI_File)(void *)nothing, &(MPI_Offset){0}));
    show("operation", MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, op, MPI_COMM_WORLD));
    show("operation to free", MPI_Op_free(&op));
    show("message", MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
#if MPI_VERSION >= 4
    MPI_Session session = NONE(Session);
    show("session", MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
    show("session to end", MPI_Session_finalize(&session));
#endif
#endif
}

static int no_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    (void)type, (void)extent, (void)extra;
    return MPI_ERR_OTHER;
}

/* Where NULL is one of MPI's own functions, and where it is none. */
static void pass_functions(void)
{
    show("data representation", MPI_Register_datarep("nothing", NULL, NULL, NULL, NULL));
    show("conversions of one", MPI_Register_datarep("none", MPI_CONVERSION_FN_NULL,
                                                    MPI_CONVERSION_FN_NULL, no_extent, NULL));
#ifndef OPEN_MPI
    MPI_Op op;
    MPI_Errhandler handler;
    MPI_Request request;
    show("user function", MPI_Op_create(NULL, 1, &op));
    show("handler", MPI_Comm_create_errhandler(NULL, &handler));
    show("generalized request", MPI_Grequest_start(NULL, NULL, NULL, NULL, &request));
#endif
    int key;
    show("key's functions",
         MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    pass_requests();
    pass_arrays();
    pass_handles();
    pass_functions();
    MPI_Finalize();
    return 0;
}
