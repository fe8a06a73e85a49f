/* SPDX-License-Identifier: BSD-3-Clause */
/* output.h: the directory that a recording goes to. Rank 0 alone deals with it. */
#ifndef WEND_OUTPUT_H
#define WEND_OUTPUT_H

#include <stdbool.h>

#define OUTPUT_PREFIX "wend-" /* of a name that the tracer makes up */
#define OUTPUT_NEXT "-"       /* then 2, 3, …: of a further job under the same wend trace */

/* Finds the name and makes the directory (and those above it). NULL: it cannot be, and *PROBLEM
 * says why (malloc'ed; NULL: no memory). SPAWNED: a world that another one started. Given the same
 * name it has an archive of its own in that directory. */
char *output_open(bool spawned, char **problem);
/* nothing was written: removes the directory if output_open made it and it is empty */
void output_abandon(void);
bool output_is_claimed(void);       /* the folder for parts is there */
const char *output_directory(void); /* NULL before output_open */
const char *output_file(void);      /* the archive in it; NULL: that of the first world */
const char *output_job(void);       /* the batch system's job id, or NULL */

#include "parts.h"

#endif
