/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c: see objects.h. A generalized request of Wend's own is tested, which never completes.
 * MPI then makes progress in all that it does. A probe would not do: MPICH answers one of
 * MPI_COMM_SELF at once, and other communicators are the application's. */
#include "objects.h"

#include <pthread.h>

#include "own.gen.h"

static MPI_Request never = MPI_REQUEST_NULL;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int query(void *state, MPI_Status *status)
{
    (void)state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

void progress_make(void)
{
    int complete;
    if (pthread_mutex_trylock(&lock) != 0)
        return;
    if (never != MPI_REQUEST_NULL
        || PMPI_Grequest_start(query, release, cancel, NULL, &never) == MPI_SUCCESS)
        PMPI_Test(&never, &complete, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&lock);
}

void progress_close(void)
{
    pthread_mutex_lock(&lock);
    if (never != MPI_REQUEST_NULL && PMPI_Grequest_complete(never) == MPI_SUCCESS)
        PMPI_Request_free(&never);
    pthread_mutex_unlock(&lock);
}
