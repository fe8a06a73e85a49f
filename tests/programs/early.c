/* SPDX-License-Identifier: BSD-3-Clause */
/* early: what may be called before MPI_Init and after MPI_Finalize. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int flag, finalized, version, subversion, length, provided, rank;
    char text[MPI_MAX_LIBRARY_VERSION_STRING], error[MPI_MAX_ERROR_STRING];
    MPI_Initialized(&flag);
    MPI_Finalized(&finalized);
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(text, &length);
#ifdef MPI_SESSION_NULL /* of MPI 4.0, whatever MPI_VERSION says */
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "key", "value");
    MPI_Info_free(&info);
#endif
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("before: initialized %d, finalized %d, MPI %d or later\n", flag, finalized,
               version >= 3 ? 3 : version);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    MPI_Initialized(&flag);
    MPI_Finalized(&finalized);
    MPI_Get_version(&version, &subversion);
#ifdef MPI_SESSION_NULL
    MPI_Error_string(MPI_ERR_COMM, error, &length);
#else
    length = snprintf(error, sizeof error, "not to be asked for");
#endif
    if (rank == 0)
        printf("after: initialized %d, finalized %d, error text %s\n", flag, finalized,
               length > 0 ? "there" : "empty");
    return 0;
}
