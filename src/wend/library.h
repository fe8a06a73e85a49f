/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h: which libwend goes with a program: there is one for each family of MPI libraries
 * (src/tracer/shared/family.h). */
#ifndef WEND_LIBRARY_H
#define WEND_LIBRARY_H

#include <glib.h>

/* The libwend to preload into PROGRAM, a file: that of FAMILY; or, if that is NULL, of the family
 * of the MPI library that the program is linked with; or, if it is linked with none (a script,
 * Python), of the family of the launcher that it is, or that started this process; or the one that
 * is called libwend.so. Caller frees. NULL: there is none. */
char *library_for(const char *program, const char *family, GError **error);

/* The file in a line "<tab>NAME => FILE (ADDRESS)" of the dynamic linker's, if it can be MPI's: all
 * its libraries have that in their name. NULL: there is none. Caller frees. */
char *library_of_line(const char *line);

#endif
