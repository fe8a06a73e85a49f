/* SPDX-License-Identifier: BSD-3-Clause */
/* target.h: the MPI libraries that a proxy may be compiled with, if Wend was built for them. For
 * each family a build makes a file from mpi.h (LIBRARY.target: name, functions, constants). */
#ifndef PROXYGEN_TARGET_H
#define PROXYGEN_TARGET_H

#include <glib.h>

/* Returns the names in NAMES (a set of identifiers of MPI) that the library of FAMILY ("mpich")
 * lacks, as a phrase: "Open MPI 4.1.4 lacks MPI_Pready and MPI_Parrived". The caller frees it. If
 * FAMILY is NULL, it is about the first library that lacks a name, of all that Wend was built for.
 * Returns NULL if nothing is lacking, and NULL with an error if there is no such family. */
char *target_lacks(const char *family, GHashTable *names, GError **error);

#endif
