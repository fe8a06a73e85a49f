/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h: finds the libwend for a program. There is one for each family of MPI libraries
 * (src/tracer/shared/family.h). */
#ifndef WEND_LIBRARY_H
#define WEND_LIBRARY_H

#include <glib.h>

/* The libwend to preload into PROGRAM, a file. The caller frees it. It is the first of these that
 * is known:
 * - the libwend of FAMILY;
 * - that of the MPI library which the program is linked with;
 * - that of the launcher which PROGRAM is or which started this process;
 * - libwend.so.
 *
 * On failure returns NULL with an error. */
char *library_for(const char *program, const char *family, GError **error);

/* The file in a line "<tab>NAME => FILE (ADDRESS)" of the dynamic linker, if it can be an MPI
 * library: all of them have "mpi" in their names. NULL otherwise. The caller frees it. */
char *library_of_line(const char *line);

#endif
