/* SPDX-License-Identifier: BSD-3-Clause */
/* Each rank talks to itself on one communicator or another, with numbers by chance: calls that are
 * rows of a table, all of them with the caller's rank in the communicator, which is none of its
 * rank in the world: it takes the communicator to say it. */
#include <mpi.h>

enum { COMMS = 5, STEPS = 200 };

int main(int argc, char **argv)
{
    MPI_Comm comms[COMMS], half;
    unsigned state = 1;
    int me, out[64] = {0}, in[64];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me % 3, &half);
    MPI_Comm_rank(half, &me);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(half, &comms[i]);
    for (int i = 0; i < STEPS; i++) {
        state = state * 1103515245 + 12345;
        int which = (int)(state >> 16) % COMMS, tag = (int)(state >> 20) % 50,
            n = 1 + (int)(state >> 24) % 60;
        MPI_Sendrecv(out, n, MPI_INT, me, tag, in, n, MPI_INT, me, tag, comms[which],
                     MPI_STATUS_IGNORE);
        MPI_Bcast(out, n, MPI_INT, tag % 3, comms[which]);
    }
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Comm_free(&half);
    return MPI_Finalize();
}
