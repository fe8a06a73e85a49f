/* SPDX-License-Identifier: BSD-3-Clause */
/* keys: attribute keys that are freed while attributes have them, and named after that. */
#include <mpi.h>
#include <stdio.h>

static int deletions;

static int delete (MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)extra;
    deletions += value == &deletions;
    return MPI_SUCCESS;
}

/* Frees the key that it is called for. */
static int delete_all(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)value;
    (void)extra;
    return MPI_Comm_free_keyval(&key);
}

int main(int argc, char **argv)
{
    int key[3], first, rank;
    MPI_Comm twin;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete, &key[0], NULL);
    first = key[0];
    MPI_Comm_set_attr(MPI_COMM_SELF, key[0], &deletions);
    MPI_Comm_free_keyval(&key[0]);
    MPI_Comm_dup(MPI_COMM_SELF, &twin); /* with the attribute */
    for (int i = 0; i < 3; i++)         /* none of them is the first one */
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key[i], NULL);
    MPI_Comm_set_attr(twin, key[1], &deletions);
    MPI_Comm_delete_attr(MPI_COMM_SELF, first);
    MPI_Comm_delete_attr(twin, first);
    MPI_Comm_free(&twin);
    for (int i = 0; i < 3; i++)
        MPI_Comm_free_keyval(&key[i]);

    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_all, &key[0], NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key[0], NULL);
    MPI_Comm_delete_attr(MPI_COMM_SELF, key[0]);
    if (rank == 0)
        printf("%d deletions\n", deletions);
    MPI_Finalize();
    return 0;
}
