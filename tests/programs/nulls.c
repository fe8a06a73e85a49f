/* SPDX-License-Identifier: BSD-3-Clause */
/* nulls: NULL where a call gives a result: an error, which the program lets pass, or for the tool
 * interface no wish to know. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, n = 0, provided, verbosity, length = 0, failed = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    failed += MPI_Comm_rank(MPI_COMM_WORLD, NULL) != MPI_SUCCESS;
    failed += MPI_Comm_size(MPI_COMM_WORLD, NULL) != MPI_SUCCESS;
    failed += MPI_Type_size(MPI_INT, NULL) != MPI_SUCCESS;
    failed += MPI_Comm_dup(MPI_COMM_WORLD, NULL) != MPI_SUCCESS;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_cvar_get_num(&n);
    if (n > 0) {
        MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
        MPI_T_cvar_get_info(0, NULL, &length, &verbosity, NULL, NULL, NULL, NULL, NULL, NULL);
    }
    MPI_T_finalize();
    if (rank == 0)
        printf("%d calls failed\n", failed);
    MPI_Finalize();
    return 0;
}
