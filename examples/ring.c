/* SPDX-License-Identifier: BSD-3-Clause */
/* ring: a token goes round all ranks, and then everybody's data does.
 *
 *   ring [-l LAPS] [-b BYTES]
 *
 * First part: rank 0 sends a counter to rank 1, each rank adds one and sends it on, blocking; last
 * to first closes the ring. Second part: BYTES of each rank move one place with
 * MPI_Sendrecv_replace as often as there are ranks, so that they come home. */
#include <string.h>

#include "example.h"

int main(int argc, char **argv)
{
    int laps = 10, bytes = 100;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "l:b:")) != -1;)
        switch (o) {
        case 'l':
            laps = number(optarg, 0, 100000000);
            break;
        case 'b':
            bytes = number(optarg, 1, 100000000);
            break;
        default:
            return 2;
        }
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;

    long token = 0;
    for (int lap = 0; size > 1 && lap < laps; lap++) {
        MPI_Status status;
        if (rank == 0) {
            token++;
            MPI_Send(&token, 1, MPI_LONG, next, lap, MPI_COMM_WORLD);
            MPI_Recv(&token, 1, MPI_LONG, previous, lap, MPI_COMM_WORLD, &status);
        } else {
            MPI_Recv(&token, 1, MPI_LONG, previous, lap, MPI_COMM_WORLD, &status);
            token++;
            MPI_Send(&token, 1, MPI_LONG, next, lap, MPI_COMM_WORLD);
        }
        int count;
        MPI_Get_count(&status, MPI_LONG, &count);
        CHECK(status.MPI_SOURCE == previous && status.MPI_TAG == lap && count == 1);
        CHECK(token == (rank == 0 ? (long)(lap + 1) * size : (long)lap * size + rank + 1));
    }

    char *data = allocate(bytes);
    memset(data, 'a' + rank % 26, bytes);
    for (int step = 1; step <= size; step++) {
        MPI_Sendrecv_replace(data, bytes, MPI_CHAR, next, 7, previous, 7, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
        int owner = (rank - step % size + size) % size;
        for (int i = 0; i < bytes; i++)
            CHECK(data[i] == 'a' + owner % 26);
    }
    free(data);
    if (rank == 0)
        printf("ring: %d ranks, %d laps, token %ld\n", size, laps, token);
    MPI_Finalize();
    return 0;
}
