/* SPDX-License-Identifier: BSD-3-Clause */
/* fortran.h: the calls that an MPI library's Fortran layer makes past the names that a tracer
 * stands before. */
#ifndef WEND_FORTRAN_H
#define WEND_FORTRAN_H

#include <mpi.h>
#include <stdbool.h>

#include "interpose/interpose.h"
#include "library.gen.h"

/* When the process has started, for the first call of "use mpi_f08" is such a one; and when an MPI
 * library came later. */
void fortran_open(void);

/* -- of each family: fortran_mpich.c, fortran_openmpi.c -- */

bool fortran_is_layer(const Module *m);
/* What stands before a function of the library's own by which the layer does what MPI_ functions
 * do; NULL: nothing. */
void *fortran_internal(const char *name);
/* Fortran names that Wend defines itself; NULL ends them. */
extern const char *const fortran_names[];

#endif
