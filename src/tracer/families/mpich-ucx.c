/* SPDX-License-Identifier: BSD-3-Clause */
/* mpich-ucx.c: see mpich-ucx.h.
 *
 * In MPI_Finalize, MPICH before 4.2 closes its connections (ucp_disconnect_nb). When they are
 * closed, it enters a barrier of the launcher, in which UCX makes no progress. UCX closes a
 * connection by TCP once the other rank has confirmed what this rank has sent. A rank that is in
 * the barrier confirms nothing, so ranks that close later wait for ever. A rank enters the barrier
 * early in two cases:
 * - It has sent nothing to them.
 * - They have confirmed what it has sent, although they have not yet begun to close. They do this
 *   in any MPI call that waits, such as those of the merge.
 *
 * The remedy: all ranks have received all messages, so nothing needs to be confirmed. The
 * connections stay open in MPI_Finalize. UCX closes them with all it has, after the barrier. */
#include "mpich-ucx.h"

#ifndef OPEN_MPI

#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "interpose/interpose.h"
#include "own.gen.h"

bool mpich_ucx_before(int major, int minor)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n, first, second;
    if (PMPI_Get_library_version(text, &n) != MPI_SUCCESS || !strstr(text, "ch4:ucx"))
        return false;
    const char *number = strpbrk(text, "0123456789");
    return number && sscanf(number, "%d.%d", &first, &second) == 2
           && (first < major || (first == major && second < minor));
}

typedef void *(*Disconnect)(void *endpoint);
static _Atomic Disconnect disconnect; /* UCX's function */
static atomic_bool stay_connected;

/* In place of ucp_disconnect_nb. NULL: it is done. */
static void *disconnect_at_end(void *endpoint)
{
    return atomic_load(&stay_connected) ? NULL : atomic_load(&disconnect)(endpoint);
}

static void *wrapper_of(const char *name, void *now, void *unused)
{
    (void)unused;
    if (strcmp(name, "ucp_disconnect_nb") != 0 || now == (void *)disconnect_at_end)
        return NULL;
    atomic_store(&disconnect, (Disconnect)now);
    return (void *)disconnect_at_end;
}

static void redirect(const Module *m, void *unused)
{
    module_redirect_from(m, wrapper_of, unused);
}

void mpich_ucx_finalize(void)
{
    if (!mpich_ucx_before(4, 2))
        return;
    atomic_store(&stay_connected, true);
    modules_each(redirect, NULL);
}

void mpich_ucx_finalized(void)
{
    atomic_store(&stay_connected, false);
}

#else

void mpich_ucx_finalize(void)
{
}

void mpich_ucx_finalized(void)
{
}

#endif
