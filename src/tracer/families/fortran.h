/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran.h: calls that an MPI library's Fortran layer makes to other names than those that a
 * tracer defines. */
#ifndef WEND_FORTRAN_H
#define WEND_FORTRAN_H

#include <mpi.h>
#include <stdbool.h>

#include "interpose/interpose.h"
#include "library.gen.h"

/* Redirects these calls to Wend. Call it at the start of the process, because the first call of
 * "use mpi_f08" may be such a call, and when an MPI library is loaded late. */
void fortran_open(void);
/* The same for one module, which has been loaded since. SELF: of module_self. */
void fortran_look(const Module *m, void *self);

/* -- of each family: fortran_mpich.c, fortran_openmpi.c -- */

bool fortran_is_layer(const Module *m);
/* Wend's function for an internal function of the library that the layer calls instead of an MPI_
 * function. NULL: there is none. */
void *fortran_internal(const char *name);
/* Fortran names that Wend defines itself, ended by NULL. */
extern const char *const fortran_names[];

#endif
