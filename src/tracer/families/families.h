/* SPDX-License-Identifier: BSD-3-Clause */
/* families.h: in what MPI libraries differ: Fortran layers, processes that are spawned, libraries
 * of another family, of another version, and such as come late. */
#ifndef WEND_FAMILIES_H
#define WEND_FAMILIES_H

#include "fortran.h"     /* calls of the Fortran layer past the names that Wend defines */
#include "late-mpi.h"    /* an MPI library that came after the start */
#include "spawn.h"       /* processes that the application starts */
#include "foreign-mpi.h" /* a library of another family */
#include "unrecorded.h"  /* functions that this libwend does not know */

#endif
