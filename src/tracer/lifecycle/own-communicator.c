/* SPDX-License-Identifier: BSD-3-Clause */
/* own-communicator.c: see own-communicator.h. A rank knows whether there are several hosts from its
 * launcher's environment alone, so nothing is sent on one host. */
#include "own-communicator.h"

#include "lifecycle.h"
#include "objects/objects.h"
#include "own.gen.h"
#include "participation.h"
#include "shared/shared.h"

/* The number of seconds that MPI_Init waits for ranks that do not come. */
enum { PATIENCE = 20 };

MPI_Comm own_communicator_open(void)
{
    const State *s = state();
    MPI_Comm comm = MPI_COMM_NULL;
    long local = launcher_local_size();
    if (local <= 0 || local >= s->world_size
        || !participation_prove(limit_has_addresses(), PATIENCE))
        return MPI_COMM_NULL;
    /* Copies no attributes, unlike MPI_Comm_dup. Nobody has made a communicator yet, so MPI has
     * some left. */
    if (PMPI_Comm_create(MPI_COMM_WORLD, s->world_group, &comm) != MPI_SUCCESS)
        return MPI_COMM_NULL;
    if (comm != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return comm;
}
