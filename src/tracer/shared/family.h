/* SPDX-License-Identifier: BSD-3-Clause */
/* family.h: MPI libraries whose handles, constants and statuses are the same in memory are a
 * family: one libwend-FAMILY.so records programs of all of them. C11 and nothing else. */
#ifndef WEND_FAMILY_H
#define WEND_FAMILY_H

#include <stddef.h>

typedef struct {
    const char *name;  /* in the name of the library of Wend's */
    const char *title; /* for people */
    /* a symbol that all of them define, since programs refer to it by mpi.h, and no other library
     * does */
    const char *mark;
    const char *launchers[2]; /* names of files: what mpirun leads to */
} Family;

static const Family families[] = {
    {"mpich", "MPICH or a relative of it", "MPIR_Dup_fn", {"mpiexec.hydra", "mpiexec.mpich"}},
    {"openmpi", "Open MPI", "ompi_mpi_comm_world", {"orterun", "prterun"}},
};
enum { N_FAMILIES = sizeof families / sizeof *families };

#endif
