/* tagged [ITERATIONS]: each iteration has tags and sizes of its own, so that hardly a call comes again; one receive of each is completed in the next iteration, and by whichever comes first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 100 };

int main(int argc, char **argv)
{
    int iterations = argc > 1 ? atoi(argv[1]) : 2000, rank, size;
    static int out[2][MOST], in[3][MOST];
    long sum = 0;
    MPI_Request early = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < iterations; i++) {
        int count = 1 + i * 37 % MOST, which;
        MPI_Request requests[3] = {early};
        out[0][0] = out[1][0] = rank + i;
        MPI_Irecv(in[1 + i % 2], MOST, MPI_INT, left, iterations + i, MPI_COMM_WORLD, &early); /* sent in the next one */
        MPI_Irecv(in[0], count, MPI_INT, right, i, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(out[0], count, MPI_INT, left, i, MPI_COMM_WORLD, &requests[2]);
        if (i > 0)
            MPI_Send(out[1], 1 + i % 7, MPI_INT, right, iterations + i - 1, MPI_COMM_WORLD);
        for (int done = 0; done < 3 - (i == 0); done++) {
            MPI_Waitany(3, requests, &which, MPI_STATUS_IGNORE);
            sum += which;
        }
        sum += in[0][0];
    }
    MPI_Send(out[1], 1, MPI_INT, right, 2 * iterations - 1, MPI_COMM_WORLD);
    MPI_Wait(&early, MPI_STATUS_IGNORE);
    printf("tagged: rank %d: %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}
