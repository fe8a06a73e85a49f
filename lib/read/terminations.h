/* SPDX-License-Identifier: BSD-3-Clause */
/* terminations.h: how the ranks of a recording ended. */
#ifndef WEND_TERMINATIONS_H
#define WEND_TERMINATIONS_H

#include "program.h"

#include <glib.h>

#define WEND_ENDED_NOTHING "nothing was saved"

/* The termination of each rank of the job, as text:
 *
 * - NULL: the rank ended in MPI_Finalize.
 * - WEND_ENDED_NOTHING: the recording has nothing of the rank.
 * - Otherwise one of the WEND_ENDED texts of checkpoint-file.h, or the reason why recording
 *   stopped, with details.
 *
 * The caller frees the array, but not the strings, which are added to NAMES. */
const char **terminations_of(const WendProgram *p, GPtrArray *names);
/* Whether a rank did not reach MPI_Finalize, or the recording has nothing of it. */
gboolean terminations_any_early(const WendProgram *p);

#endif
