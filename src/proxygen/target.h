/* SPDX-License-Identifier: BSD-3-Clause */
/* target.h: MPI libraries that a proxy may be compiled with, as far as Wend was built for them:
 * what they have of MPI is in a file for each family, which a build makes from mpi.h
 * (LIBRARY.target: name, functions, constants). */
#ifndef PROXYGEN_TARGET_H
#define PROXYGEN_TARGET_H

#include <glib.h>

/* What of NAMES (a set of identifiers of MPI) the library of FAMILY ("mpich") lacks, in a phrase:
 * "Open MPI 4.1.4 lacks MPI_Pready and MPI_Parrived"; caller frees. FAMILY NULL: all that Wend was
 * built for, the first that lacks anything. NULL: nothing is lacking, or an error: there is no such
 * family. */
char *target_lacks(const char *family, GHashTable *names, GError **error);

#endif
