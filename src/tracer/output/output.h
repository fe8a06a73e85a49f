/* SPDX-License-Identifier: BSD-3-Clause */
/* output.h: the directory of the recording. Only rank 0 uses it. */
#ifndef WEND_OUTPUT_H
#define WEND_OUTPUT_H

#include <stdbool.h>

#define OUTPUT_PREFIX "wend-" /* of the default name */
#define OUTPUT_NEXT "-" /* followed by 2, 3, … for a further job under the same wend trace */

/* Finds the name, and makes the directory and those above it. Returns NULL on failure, with the
 * reason in *PROBLEM (malloc'ed; NULL: no memory). SPAWNED: this world was started by another one.
 * If it has the same output name, it gets an archive of its own in that directory. */
char *output_open(bool spawned, char **problem);
/* removes the directory if output_open made it and it is empty, because nothing was written */
void output_abandon(void);
bool output_is_claimed(void);       /* whether the folder for parts exists */
const char *output_directory(void); /* NULL before output_open */
const char *output_file(void);      /* name of the archive; NULL: that of the first world */
char *output_default_name(void);    /* malloc'ed; NULL: no memory */
const char *output_job(void);       /* the batch system's job id, or NULL */

#include "parts.h"

#endif
