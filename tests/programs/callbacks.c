/* SPDX-License-Identifier: BSD-3-Clause */
/* callbacks: functions of the program that MPI calls: reduction operators, attribute copy and
 * delete, error handlers, generalized requests. Some of them make MPI calls. What queries give back
 * must be what the program gave. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, copies, deletions, queries, frees, cancels;
static long keep = 4711;

static void maximum_of_absolutes(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int size;
    MPI_Type_size(*type, &size);
    if (size != sizeof(int))
        MPI_Abort(MPI_COMM_WORLD, 4);
    for (int i = 0; i < *n; i++)
        if (abs(((int *)in)[i]) > abs(((int *)inout)[i]))
            ((int *)inout)[i] = ((int *)in)[i];
}

static int copy(MPI_Comm comm, int key, void *extra, void *value, void *value_out, int *flag)
{
    int size;
    (void)key;
    MPI_Comm_size(comm, &size);
    copies += extra == &keep;
    *(void **)value_out = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    deletions += value == &copies && extra == &keep;
    return MPI_SUCCESS;
}

/* Gives the duplicate a block of its own, which MPI gets from here and not from a call. */
static int copy_block(MPI_Comm comm, int key, void *extra, void *value, void *value_out, int *flag)
{
    int *block = malloc(64);
    if (!block)
        return MPI_ERR_NO_MEM;
    (void)comm;
    (void)key;
    (void)extra;
    *block = *(int *)value + 1;
    *(void **)value_out = block;
    *flag = 1;
    return MPI_SUCCESS;
}
static int free_block(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)extra;
    free(value);
    return MPI_SUCCESS;
}

/* Some duplicates' blocks are asked for, and others are not; all are freed with them, after
 * other blocks that MPI has used. */
static void blocks(void)
{
    int key, flag, *block = malloc(64), *found;
    if (!block)
        MPI_Abort(MPI_COMM_WORLD, 4);
    *block = 10;
    MPI_Comm_create_keyval(copy_block, free_block, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, block);
    for (int i = 0; i < 3; i++) {
        MPI_Comm dup;
        int *buffer = calloc(100, sizeof *buffer);
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        if (i > 0) {
            MPI_Comm_get_attr(dup, key, &found, &flag);
            if (rank == 0)
                printf("block %d\n", flag ? *found : -1);
        }
        MPI_Bcast(buffer, 100, MPI_INT, 0, dup);
        free(buffer);
        MPI_Comm_free(&dup);
    }
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
}

static int query(void *extra, MPI_Status *status)
{
    queries += extra == &keep;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 2;
    status->MPI_TAG = 9;
    return MPI_SUCCESS;
}
static int release(void *extra)
{
    frees += extra == &keep;
    return MPI_SUCCESS;
}
static int cancel(void *extra, int complete)
{
    (void)complete;
    cancels += extra == &keep;
    return MPI_SUCCESS;
}

/* Looks at the datatype where it is not one that it knows. */
static void sums(void *in, void *inout, int *len, MPI_Datatype *datatype)
{
    MPI_Aint low, extent = sizeof(int);
    if (*datatype != MPI_INT)
        MPI_Type_get_extent(*datatype, &low, &extent);
    for (int i = 0; i < *len; i++)
        *(int *)((char *)inout + i * extent) += *(int *)((char *)in + i * extent);
}

static void reduce(int n, MPI_Datatype type, int stride, MPI_Op op)
{
    int in[20] = {0}, out[20] = {0};
    for (int i = 0; i < n; i++)
        in[i * stride] = i + rank;
    MPI_Allreduce(in, out, n, type, op, MPI_COMM_WORLD);
    if (rank == 0)
        printf("sum %d\n", out[(n - 1) * stride]);
}

/* One operator, for a datatype of the library's and for one that is there later, and for a
 * while. */
static void operators(void)
{
    MPI_Op op;
    MPI_Datatype wide;
    MPI_Op_create(sums, 1, &op);
    reduce(3, MPI_INT, 1, op);
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &wide);
    MPI_Type_commit(&wide);
    reduce(4, wide, 3, op);
    reduce(5, MPI_INT, 1, op);
    reduce(6, wide, 3, op);
    MPI_Type_free(&wide);
    reduce(7, MPI_INT, 1, op);
    MPI_Op_free(&op);
}

int main(int argc, char **argv)
{
    int size, value, result, key, flag, count, commutes;
    void *found;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI_Op op;
    MPI_Op_create(maximum_of_absolutes, 1, &op);
    value = rank % 2 ? rank : -rank;
    MPI_Allreduce(&value, &result, 1, MPI_INT, op, MPI_COMM_WORLD);
    MPI_Op_commutative(op, &commutes);
    MPI_Op_free(&op);
    if (rank == 0)
        printf("largest %d, commutes %d\n", abs(result), commutes);

    operators();

    MPI_Comm_create_keyval(copy, delete, &key, &keep);
    MPI_Comm_set_attr(MPI_COMM_WORLD, key, &copies);
    MPI_Comm dup;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_get_attr(dup, key, &found, &flag);
    if (rank == 0)
        printf("attribute: found %d, mine %d\n", flag, found == &copies);
    MPI_Comm_free(&dup);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
    MPI_Comm_free_keyval(&key);
    blocks();

    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &found, &flag);
    if (rank == 0)
        printf("largest tag: known %d, large enough %d\n", flag, *(int *)found >= 32767);

    MPI_Request request;
    MPI_Status status;
    MPI_Grequest_start(query, release, cancel, &keep, &request);
    MPI_Test(&request, &flag, &status);
    MPI_Cancel(&request);
    MPI_Grequest_complete(request);
    MPI_Wait(&request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    if (rank == 0)
        printf("generalized request: %d elements, source %d, tag %d\n", count, status.MPI_SOURCE,
               status.MPI_TAG);
    if (rank == 0)
        printf("copies %d deletions %d queries %d frees %d cancels %d\n", copies, deletions,
               queries, frees, cancels);
    MPI_Finalize();
    return 0;
}
