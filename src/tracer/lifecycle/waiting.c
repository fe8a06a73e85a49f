/* SPDX-License-Identifier: BSD-3-Clause */
/* waiting.c: see lifecycle.h. */
#include "lifecycle.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#include "objects/objects.h"
#include "own.gen.h"

static double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

/* The pause after each test is an eighth of the time waited so far, but at most 3 ms. So a wait
 * becomes an eighth longer at most. With pauses of 1 ms, 64 ranks that wait took a processor. With
 * 10 ms, each step of a collective operation came late, and MPI_Finalize took a quarter longer. */
bool waiting_for_request(MPI_Request *request, double seconds)
{
    const double longest = 0.003;
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        int done = 0;
        if (PMPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (done)
            return true;
        double waited = seconds_since(&start), pause = waited < 8 * longest ? waited / 8 : longest;
        if (waited > seconds)
            return false;
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause)}, NULL);
    }
}

static double limit = WAITING_SECONDS;
static bool failed;

void waiting_set_limit(double seconds)
{
    failed = false;
    limit = seconds;
}

bool waiting_failed(void)
{
    return failed;
}

static bool wait_for(MPI_Request *request)
{
    if (waiting_for_request(request, limit))
        return true;
    failed = true;
    limit = WAITING_SECONDS;
    return false;
}

bool waiting_send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    MPI_Request request;
    return PMPI_Isend(data, n, type, to, tag, comm, &request) == MPI_SUCCESS && wait_for(&request);
}

bool waiting_recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm)
{
    MPI_Request request;
    return PMPI_Irecv(data, n, type, from, tag, comm, &request) == MPI_SUCCESS
           && wait_for(&request);
}

bool waiting_bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm)
{
    MPI_Request request;
    int size;
    if (PMPI_Comm_size(comm, &size) != MPI_SUCCESS)
        return false;
    /* A session of one rank has no transport in MPICH, and PMPI_Test crashes without one. */
    return size == 1
           || (PMPI_Ibcast(data, n, type, root, comm, &request) == MPI_SUCCESS
               && wait_for(&request));
}

bool waiting_reduce(void *data, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    /* it stays in use if the time is over */
    static _Alignas(max_align_t) char values[WAITING_REDUCED];
    MPI_Request request;
    int size, bytes;
    if (PMPI_Comm_size(comm, &size) != MPI_SUCCESS || PMPI_Type_size(type, &bytes) != MPI_SUCCESS)
        return false;
    if (size == 1)
        return true;
    if (failed || (size_t)n * (size_t)bytes > sizeof values)
        return false;
    memcpy(values, data, (size_t)n * (size_t)bytes);
    if (PMPI_Iallreduce(MPI_IN_PLACE, values, n, type, op, comm, &request) != MPI_SUCCESS
        || !wait_for(&request))
        return false;
    memcpy(data, values, (size_t)n * (size_t)bytes);
    return true;
}

bool waiting_all(bool own, bool *all, MPI_Comm comm)
{
    int least = own;
    if (!waiting_reduce(&least, 1, MPI_INT, MPI_MIN, comm))
        return false;
    *all = least != 0;
    return true;
}

/* -- the application's error handlers -- */

void errhandlers_suspend(Errhandlers *e)
{
    const MPI_Comm comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    e->n = 0;
    for (size_t i = 0; i < sizeof comms / sizeof *comms; i++) {
        MPI_Errhandler before;
        if (PMPI_Comm_get_errhandler(comms[i], &before) != MPI_SUCCESS)
            continue;
        e->of[e->n].comm = comms[i];
        e->of[e->n++].before = before;
        PMPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
    }
}

void errhandlers_restore(Errhandlers *e)
{
    while (e->n > 0) {
        e->n--;
        PMPI_Comm_set_errhandler(e->of[e->n].comm, e->of[e->n].before);
        PMPI_Errhandler_free(&e->of[e->n].before);
    }
}
