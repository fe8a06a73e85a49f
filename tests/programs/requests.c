/* SPDX-License-Identifier: BSD-3-Clause */
/* requests: requests that are hard to tell apart: many with one handle value in flight, on
 * MPI_PROC_NULL, copied between variables, persistent, completed some at a time and posted again,
 * of a communicator in the making, of communicators across groups. Run with an even number of
 * ranks. The last act of rank 0 is a probe for anything. What is received is checked. With an
 * argument: only what runs alike each time. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 16 };

static int rank, size, right, left;

static void expect(int got, int wanted, const char *where)
{
    if (got != wanted) {
        printf("rank %d: %s: %d instead of %d\n", rank, where, got, wanted);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Sends through one variable, kept in a list. */
static void through_one_variable(void)
{
    MPI_Request sends[N], receives[N], r;
    int out[N], in[N];
    for (int i = 0; i < N; i++) {
        out[i] = 100 * rank + i;
        MPI_Isend(&out[i], 1, MPI_INT, i % 4 == 3 ? MPI_PROC_NULL : right, i, MPI_COMM_WORLD, &r);
        sends[i] = r;
    }
    for (int i = 0; i < N; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, i % 4 == 3 ? MPI_PROC_NULL : left, i, MPI_COMM_WORLD,
                  &receives[i]);
    }
    for (int i = N - 1; i >= 0; i--)
        MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        MPI_Wait(&sends[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        expect(in[i], i % 4 == 3 ? -1 : 100 * left + i, "one variable");
}

static void persistent(void)
{
    MPI_Request r[3];
    int out = rank, in = -1, none = -1;
    MPI_Send_init(&out, 1, MPI_INT, right, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(&in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Recv_init(&none, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[2]);
    for (int i = 0; i < 5; i++) {
        out = rank + i;
        MPI_Startall(3, r);
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        expect(in, left + i, "persistent");
    }
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&r[i]);
}

/* Receives that are posted again as they complete. */
static void some_at_a_time(void)
{
    MPI_Request receives[4], sends[4 * N];
    int in[4], indices[4], count, done = 0, sum = 0, posted = 4;
    for (int i = 0; i < 4; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &receives[i]);
    for (int i = 0; i < 4 * N; i++)
        MPI_Isend(&size, 1, MPI_INT, i % 2 ? right : left, 2, MPI_COMM_WORLD, &sends[i]);
    while (done < 4 * N) {
        MPI_Waitsome(4, receives, &count, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++) {
            sum += in[indices[i]];
            done++;
            if (posted++ < 4 * N)
                MPI_Irecv(&in[indices[i]], 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD,
                          &receives[indices[i]]);
        }
    }
    MPI_Waitall(4 * N, sends, MPI_STATUSES_IGNORE);
    expect(sum, 4 * N * size, "some at a time");
}

static void communicators(void)
{
    MPI_Request r;
    MPI_Comm copy, half, other, merged, created = MPI_COMM_NULL;
    MPI_Group world, evens;
    int sum = 0, n;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
    expect(sum, size * (size - 1) / 2, "idup");
    MPI_Comm_split(copy, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, copy, 1 - rank % 2, 5, &other);
    MPI_Comm_remote_size(other, &n);
    expect(n, size / 2, "intercommunicator");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other);
    expect(sum, rank % 2 ? size / 2 * (size / 2 - 1) : size / 2 * (size / 2),
           "sum over the others");
    MPI_Intercomm_merge(other, rank % 2, &merged);
    MPI_Comm_group(merged, &world);
    int *members = malloc((size_t)size / 2 * sizeof *members);
    for (int i = 0; i < size / 2; i++)
        members[i] = i;
    MPI_Group_incl(world, size / 2, members, &evens);
    free(members);
    if (rank % 2 == 0) {
        MPI_Comm_create_group(merged, evens, 6, &created);
        MPI_Barrier(created);
        MPI_Comm_free(&created);
    }
    MPI_Comm_create(merged, evens, &created);
    if (created != MPI_COMM_NULL)
        MPI_Comm_free(&created);
    MPI_Group_free(&evens);
    MPI_Group_free(&world);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&other);
    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    int flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    through_one_variable();
    persistent();
    if (argc == 1)
        some_at_a_time();
    communicators();
    if (rank == 0)
        printf("all as expected\n");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        expect(flag, 0, "a probe for anything");
    }
    MPI_Finalize();
    return 0;
}
