/* SPDX-License-Identifier: BSD-3-Clause */
/* ends.h: how the ranks of a recording ended. */
#ifndef WEND_ENDS_H
#define WEND_ENDS_H

#include "program.h"

#define WEND_ENDED_NOTHING "nothing was saved"

/* By rank (of all worlds): one of saved.h's WEND_ENDED_... or a reason why recording stopped, with what follows it; WEND_ENDED_NOTHING: the recording has
 * nothing of it; NULL: in MPI_Finalize. To be freed; the strings are added to NAMES. */
const char **wend_program_ends(const WendProgram *p, GPtrArray *names);
/* Did a rank not come to MPI_Finalize, or is nothing of it there? */
gboolean wend_program_ended_early(const WendProgram *p);

#endif
