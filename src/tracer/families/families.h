/* SPDX-License-Identifier: BSD-3-Clause */
/* families.h: differences between MPI libraries: Fortran layers, spawned processes, and libraries
 * of another family, of another version, or that are loaded late. */
#ifndef WEND_FAMILIES_H
#define WEND_FAMILIES_H

#include "fortran.h"   /* calls of the Fortran layer that bypass the names that Wend defines */
#include "late-mpi.h"  /* an MPI library that is loaded after the start */
#include "mpich-ucx.h" /* MPICH over UCX */
#include "profiling-names.h" /* calls of the application by PMPI names */
#include "spawn.h"           /* processes that the application starts */
#include "foreign-mpi.h"     /* a library of another family */
#include "unrecorded.h"      /* functions that this libwend does not know */

#endif
