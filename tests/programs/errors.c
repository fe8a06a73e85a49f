/* SPDX-License-Identifier: BSD-3-Clause */
/* errors: calls that fail, under MPI_ERRORS_RETURN and under handlers of the program's own; prints
 * the class of each. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

static int rank;
static int handled;

static void show(const char *what, int rc)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(rc, &class);
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(class, text, &length);
    if (rank == 0)
        printf("%s: %s\n", what, text);
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int r;
    MPI_Comm_rank(*comm, &r);
    handled += *code != MPI_SUCCESS && r == rank;
}

/* The code that the library gives is what this leaves; what the call should have given is not there
 * all the same. */
static void forgiving(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    *code = MPI_SUCCESS;
}

static void forgiven(void)
{
    MPI_Errhandler before, own;
    MPI_Comm made;
    int found = 1;
    memset(&made, 0x5a, sizeof made);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_create_errhandler(forgiving, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    show("forgiven", MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &made));
    show("forgiven", MPI_Iprobe(-77, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    show("asked for", MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_OTHER));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&own);
}

int main(int argc, char **argv)
{
    int size, value = 5, buffer[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Errhandler before, after;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);

    show("send to a rank that is not there", MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD));
    show("negative count", MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    show("tag below zero", MPI_Send(&value, 1, MPI_INT, 0, -5, MPI_COMM_WORLD));
    show("no datatype", MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_WORLD));
    show("no communicator", MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    show("root that is not there", MPI_Bcast(&value, 1, MPI_INT, size + 3, MPI_COMM_WORLD));
    show("no operation", MPI_Reduce(&value, buffer, 1, MPI_INT, MPI_OP_NULL, 0, MPI_COMM_WORLD));

#ifndef OPEN_MPI /* whose handles are pointers, and whose memory may be anybody's by then */
    MPI_Comm dup, stale;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    stale = dup;
    MPI_Comm_free(&dup);
    show("freed communicator", MPI_Send(&value, 1, MPI_INT, 0, 0, stale));
#endif

    /* a message that is too long for its receive; the receive by itself, and among others */
    MPI_Status status, statuses[2];
    MPI_Request requests[2];
    MPI_Isend(buffer, 4, MPI_INT, rank, 1, MPI_COMM_WORLD, &requests[0]);
    show("truncated", MPI_Recv(&value, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &status));
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Irecv(&value, 1, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(buffer, 4, MPI_INT, rank, 2, MPI_COMM_WORLD, &requests[1]);
    int rc = MPI_Waitall(2, requests, statuses);
    show("truncated, in Waitall", rc);
    show("  its status", rc == MPI_SUCCESS ? MPI_SUCCESS : statuses[0].MPI_ERROR);
    show("  the other's", rc == MPI_SUCCESS ? MPI_SUCCESS : statuses[1].MPI_ERROR);

#ifdef MPIR_ERRORS_THROW_EXCEPTIONS
    /* what MPICH's C++ programs set; the standard does not know it */
    MPI_File_set_errhandler(MPI_FILE_NULL, MPIR_ERRORS_THROW_EXCEPTIONS);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
#endif

    /* a handler of the program's own; then the library's own again */
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handler, &own);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
    if (rank == 0)
        printf("handler comes back: %s\n", after == own ? "yes" : "no");
    show("with a handler", MPI_Send(&value, 1, MPI_INT, size, 0, MPI_COMM_WORLD));
    if (rank == 0)
        printf("handler ran %d times\n", handled);
    MPI_Errhandler_free(&after);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    MPI_Errhandler_free(&own);

    forgiven();

    /* codes of the program's own */
    int class, code;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(code, "the program's own error");
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    if (rank == 0)
        printf("%s\n", text);
    MPI_Finalize();
    return 0;
}
