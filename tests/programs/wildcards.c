/* wildcards: receives from any source that only one rank sends to. Rank 0 sends each other rank messages of different sizes, large ones among them, which come in
 * their order and so fit, beside receives that name it. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 8, LARGE = 20000 };

int main(int argc, char **argv)
{
    static int buffer[N + 1][LARGE];
    MPI_Request requests[N + 1];
    MPI_Status status;
    int rank, size, count, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int to = 1; rank == 0 && to < size; to++)
        for (int i = 0; i <= N; i++)
            MPI_Send(buffer[i], i == N ? LARGE : N - i, MPI_INT, to, 5, MPI_COMM_WORLD);
    if (rank > 0) {
        for (int i = 0; i < N; i++)
            MPI_Irecv(buffer[i], N - i, MPI_INT, i == 3 ? 0 : MPI_ANY_SOURCE, i % 2 ? 5 : MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
        MPI_Irecv(buffer[N], LARGE, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &requests[N]);
        for (int i = 0; i <= N; i++) {
            MPI_Wait(&requests[i], &status);
            MPI_Get_count(&status, MPI_INT, &count);
            sum += count;
        }
    }
    if (rank == 1)
        printf("%d elements\n", sum);
    MPI_Finalize();
    return 0;
}
