/* SPDX-License-Identifier: BSD-3-Clause */
/* errhandlers.c: see errhandlers.h. */
#include "errhandlers.h"

#include <stddef.h>

#include "objects/objects.h"
#include "own.gen.h"

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
