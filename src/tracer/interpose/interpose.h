/* SPDX-License-Identifier: BSD-3-Clause */
/* interpose.h: how calls reach Wend and go on to the library: references of loaded modules, the MPI
 * library, other tools. Files in which Wend itself calls MPI include own.gen.h, which requires this
 * header. */
#ifndef WEND_INTERPOSE_H
#define WEND_INTERPOSE_H

#include "module.h"      /* references of a module, and their targets */
#include "lookups.h"     /* what modules get from the dynamic linker later */
#include "mpi-library.h" /* the MPI library of this process */
#include "tools.h"       /* profilers and checkers before and after Wend */

#endif
