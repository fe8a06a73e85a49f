/* SPDX-License-Identifier: BSD-3-Clause */
/* statuses: what calls say about messages, with statuses and without; many sends whose requests
 * have the same value. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank;

static void show(const char *what, const MPI_Status *s)
{
    int count, cancelled;
    MPI_Get_count(s, MPI_INT, &count);
    MPI_Test_cancelled(s, &cancelled);
    if (rank == 0)
        printf("%s: source %d tag %d count %d cancelled %d\n", what, s->MPI_SOURCE, s->MPI_TAG,
               count, cancelled);
}

int main(int argc, char **argv)
{
    enum { N = 20 };
    int size, out[N], in[N], flag, index, n, which[N];
    MPI_Request requests[N], more[N];
    MPI_Status status, statuses[N];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;

    for (int i = 0; i < N; i++)
        out[i] = rank * 100 + i;
    /* small sends to others, to oneself and to nobody: MPICH completes them at once and gives all
     * of them one handle */
    for (int i = 0; i < N; i++)
        MPI_Isend(&out[i], 1, MPI_INT, i % 3 == 2 ? MPI_PROC_NULL : right, i, MPI_COMM_WORLD,
                  &requests[i]);
    for (int i = 0; i < N; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, i % 3 == 2 ? MPI_PROC_NULL : left, i, MPI_COMM_WORLD,
                  &more[i]);
    MPI_Waitall(N, more, statuses);
    show("first of Waitall", &statuses[0]);
    show("nobody's", &statuses[2]);
    MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[3], &status); /* null by now: an empty status */
    show("empty", &status);
    MPI_Waitany(3, &requests[4], &index, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("Waitany took one of three: %s\n", index >= 0 && index < 3 ? "yes" : "no");
    MPI_Waitsome(3, &requests[4], &n, which, MPI_STATUSES_IGNORE);
    MPI_Waitall(N, requests, MPI_STATUSES_IGNORE);
    MPI_Testall(N, requests, &flag, MPI_STATUSES_IGNORE);
    MPI_Testany(N, requests, &index, &flag, &status);
    MPI_Testsome(N, requests, &n, which, MPI_STATUSES_IGNORE);
    if (rank == 0)
        printf("all null: flag %d, index undefined %d, outcount undefined %d\n", flag,
               index == MPI_UNDEFINED, n == MPI_UNDEFINED);

    for (int i = 0; i < N; i++)
        if (i % 3 != 2 && in[i] != left * 100 + i)
            MPI_Abort(MPI_COMM_WORLD, 3);

    MPI_Irecv(in, N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Send(out, 5, MPI_INT, right, 77, MPI_COMM_WORLD);
    MPI_Wait(&requests[0], &status);
    if (rank == 0)
        printf("wildcard from the left: %d\n", status.MPI_SOURCE == left);
    MPI_Sendrecv(out, 3, MPI_INT, right, 1, in, N, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    status.MPI_SOURCE = status.MPI_SOURCE == left ? 0 : -99;
    show("Sendrecv", &status);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    if (rank == 0)
        printf("of nobody: %d %d\n", status.MPI_SOURCE == MPI_PROC_NULL,
               status.MPI_TAG == MPI_ANY_TAG);

    MPI_Irecv(in, 1, MPI_INT, left, 12345, MPI_COMM_WORLD, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    if (rank == 0)
        printf("cancelled %d\n", flag);

    /* requests that are freed while they are active; a persistent one that is waited for while it
     * is not */
    MPI_Isend(out, 1, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Request_free(&requests[0]);
    MPI_Recv(in, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv_init(in, 1, MPI_INT, left, 6, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], &status);
    show("inactive", &status);
    MPI_Request_free(&requests[0]);
    /* the same variable twice over, with two requests in flight that are copies of it */
    MPI_Request r, copy;
    MPI_Isend(&out[0], 1, MPI_INT, right, 8, MPI_COMM_WORLD, &r);
    copy = r;
    MPI_Isend(&out[1], 1, MPI_INT, right, 9, MPI_COMM_WORLD, &r);
    MPI_Recv(&in[1], 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&in[0], 1, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&copy, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (in[0] != left * 100 || in[1] != left * 100 + 1)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Finalize();
    return 0;
}
