/* SPDX-License-Identifier: BSD-3-Clause */
/* interpose.h: how calls come to Wend and go on: references of loaded modules, the MPI library,
 * other tools. Files that call MPI for Wend itself include own.gen.h, which asks for this. */
#ifndef WEND_INTERPOSE_H
#define WEND_INTERPOSE_H

#include "module.h"      /* a module's references, and where they lead */
#include "mpi-library.h" /* the MPI library of this process */
#include "tools.h"       /* profilers and checkers in front of Wend and behind it */

#endif
