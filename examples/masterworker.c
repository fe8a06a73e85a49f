/* SPDX-License-Identifier: BSD-3-Clause */
/* masterworker: rank 0 hands out tasks, the others work; who gets which task differs from run to
 * run.
 *
 *   masterworker [-t TASKS] [-p]
 *
 * A task is a range of numbers whose primes are to be counted; ranges differ in length, so messages
 * do too. The master receives with MPI_ANY_SOURCE and MPI_ANY_TAG (with -p it probes first,
 * MPI_Probe and MPI_Improbe in turn, and allocates what it needs); workers find out with MPI_Probe
 * whether a message is a task or the end. The sum over all tasks is known. */
#include <string.h>

#include "example.h"

enum { TASK = 1, RESULT, HELLO, END };

static int is_prime(int n)
{
    if (n < 2)
        return 0;
    for (int d = 2; d * d <= n; d++)
        if (n % d == 0)
            return 0;
    return 1;
}

static int task_size(int task)
{
    return 5 + task * 7 % 20;
}

static void send_task_or_end(int worker, int task, int tasks)
{
    if (task >= tasks) {
        MPI_Send(NULL, 0, MPI_INT, worker, END, MPI_COMM_WORLD);
        return;
    }
    int first = 0, n = task_size(task);
    for (int t = 0; t < task; t++)
        first += task_size(t);
    int *numbers = allocate(sizeof *numbers * n);
    for (int i = 0; i < n; i++)
        numbers[i] = first + i;
    MPI_Send(numbers, n, MPI_INT, worker, TASK, MPI_COMM_WORLD);
    free(numbers);
}

/* One message of any worker, of any kind: -1 for a hello, else a count of primes. */
static int receive_any(int with_probe, int turn, MPI_Status *status)
{
    int found = 0, values[2], n;
    if (!with_probe) {
        MPI_Recv(values, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
    } else if (turn % 2) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
        MPI_Get_count(status, MPI_INT, &n);
        CHECK(n <= 2);
        MPI_Recv(values, n, MPI_INT, status->MPI_SOURCE, status->MPI_TAG, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    } else {
        MPI_Message message;
        while (!found)
            MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &message, status);
        MPI_Get_count(status, MPI_INT, &n);
        CHECK(n <= 2);
        MPI_Mrecv(values, n, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
    MPI_Get_count(status, MPI_INT, &n);
    CHECK(n == (status->MPI_TAG == HELLO ? 0 : 2));
    return status->MPI_TAG == HELLO ? -1 : values[1];
}

static void master(int workers, int tasks, int with_probe)
{
    int next = 0, ended = 0, answers = 0;
    long primes = 0;
    for (int turn = 0; ended < workers; turn++) {
        MPI_Status status;
        int count = receive_any(with_probe, turn, &status);
        if (count >= 0) {
            primes += count;
            answers++;
        }
        ended += next >= tasks;
        send_task_or_end(status.MPI_SOURCE, next++, tasks);
    }
    CHECK(answers == tasks);
    long expected = 0;
    int all = 0;
    for (int t = 0; t < tasks; t++)
        all += task_size(t);
    for (int i = 0; i < all; i++)
        expected += is_prime(i);
    CHECK(primes == expected);
    printf("masterworker: %d workers, %d tasks, %ld primes below %d\n", workers, tasks, primes,
           all);
}

static void worker(void)
{
    MPI_Send(NULL, 0, MPI_INT, 0, HELLO, MPI_COMM_WORLD);
    for (;;) {
        MPI_Status status;
        int n;
        MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &n);
        int *numbers = allocate(sizeof *numbers * n);
        MPI_Recv(numbers, n, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        int result[2] = {n, 0};
        for (int i = 0; i < n; i++)
            result[1] += is_prime(numbers[i]);
        free(numbers);
        if (status.MPI_TAG == END)
            return;
        MPI_Send(result, 2, MPI_INT, 0, RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int tasks = 60, with_probe = 0, rank, size;
    MPI_Init(&argc, &argv);
    for (int o; (o = getopt(argc, argv, "t:p")) != -1;)
        switch (o) {
        case 't':
            tasks = number(optarg, 0, 100000);
            break;
        case 'p':
            with_probe = 1;
            break;
        default:
            return 2;
        }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size > 1); /* somebody has to work */
    if (rank == 0)
        master(size - 1, tasks, with_probe);
    else
        worker();
    MPI_Finalize();
    return 0;
}
