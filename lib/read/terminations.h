/* SPDX-License-Identifier: BSD-3-Clause */
/* terminations.h: how the ranks of a recording ended. */
#ifndef WEND_TERMINATIONS_H
#define WEND_TERMINATIONS_H

#include "program.h"

#define WEND_ENDED_NOTHING "nothing was saved"

/* By rank (of all worlds): one of checkpoint-file.h's WEND_ENDED_... or a reason why recording
 * stopped, with what follows it; WEND_ENDED_NOTHING: the recording has nothing of it; NULL: in
 * MPI_Finalize. To be freed; the strings are added to NAMES. */
const char **wend_program_terminations(const WendProgram *p, GPtrArray *names);
/* Did a rank not come to MPI_Finalize, or is nothing of it there? */
gboolean wend_program_ended_early(const WendProgram *p);

#endif
