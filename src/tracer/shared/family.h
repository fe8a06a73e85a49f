/* SPDX-License-Identifier: BSD-3-Clause */
/* family.h: families of MPI libraries, whose handles, constants and statuses have the same
 * representation in memory. One libwend-FAMILY.so records programs of all libraries of a family.
 * C11 and nothing else. */
#ifndef WEND_FAMILY_H
#define WEND_FAMILY_H

#include <stddef.h>

typedef struct {
    const char *name;  /* in the name of libwend-NAME.so */
    const char *title; /* for people */
    /* a symbol that all libraries of the family define, because mpi.h refers to it, and no other
     * library does */
    const char *mark;
    const char *launchers[2]; /* file names of launchers, with links resolved */
} Family;

static const Family families[] = {
    {"mpich", "MPICH or a relative of it", "MPIR_Dup_fn", {"mpiexec.hydra", "mpiexec.mpich"}},
    {"openmpi", "Open MPI", "ompi_mpi_comm_world", {"orterun", "prterun"}},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

#endif
