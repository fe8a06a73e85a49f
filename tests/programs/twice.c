/* SPDX-License-Identifier: BSD-3-Clause */
/* twice: one thing given as two arguments: a function as several types, an array as counts of both
 * sides (an error when buffers are the same too). */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int copies, deletions;

static int copy(MPI_Comm object, int key, void *extra, void *value, void *value_out, int *flag)
{
    (void)object;
    (void)key;
    (void)extra;
    *(void **)value_out = value;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm object, int key, void *value, void *extra)
{
    (void)object;
    (void)key;
    (void)value;
    (void)extra;
    deletions++;
    return MPI_SUCCESS;
}

static void keys(void)
{
    MPI_Comm comm;
    MPI_Datatype type, other;
    int comm_key, type_key;
    MPI_Comm_create_keyval(copy, delete, &comm_key, NULL);
    MPI_Type_create_keyval((MPI_Type_copy_attr_function *)(void (*)(void))copy,
                           (MPI_Type_delete_attr_function *)(void (*)(void)) delete, &type_key,
                           NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, comm_key, NULL);
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_set_attr(type, type_key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_dup(type, &other);
    MPI_Comm_free(&comm);
    MPI_Type_free(&other);
    MPI_Type_free(&type);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, comm_key);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Type_free_keyval(&type_key);
}

/* What all ranks see one tells: lines of several come in any order. */
static void tell(int rank, const char *call, int code)
{
    int class;
    MPI_Error_class(code, &class);
    if (rank == 0)
        printf("%s: %s\n", call,
               class == MPI_SUCCESS      ? "done"
               : class == MPI_ERR_BUFFER ? "MPI_ERR_BUFFER"
                                         : "another error");
}

static void alltoall(int rank, int size)
{
    int counts[64] = {0}, places[64] = {0}, *data = calloc(2 * (size_t)size, sizeof *data), code;
    MPI_Datatype types[64];
    MPI_Request request;
    for (int i = 0; i < size; i++) {
        counts[i] = 2;
        places[i] = 2 * i;
        types[i] = MPI_INT;
    }
    code =
        MPI_Alltoallv(data, counts, places, MPI_INT, data, counts, places, MPI_INT, MPI_COMM_WORLD);
    tell(rank, "MPI_Alltoallv", code);
    for (int i = 0; i < size; i++)
        places[i] *= (int)sizeof(int);
    code = MPI_Ialltoallw(data, counts, places, types, data, counts, places, types, MPI_COMM_WORLD,
                          &request);
    tell(rank, "MPI_Ialltoallw", code);
    if (code == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(data);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (size > 64)
        MPI_Abort(MPI_COMM_WORLD, 2);
    keys();
    alltoall(rank, size);
    if (rank == 0)
        printf("%d copies, %d deletions\n", copies, deletions);
    MPI_Finalize();
    return 0;
}
