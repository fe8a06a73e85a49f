/* SPDX-License-Identifier: BSD-3-Clause */
/* show-terminations.h: how and where the ranks of a run ended that did not reach MPI_Finalize. */
#ifndef WEND_DECODER_SHOW_TERMINATIONS_H
#define WEND_DECODER_SHOW_TERMINATIONS_H

#include <glib.h>

#include "wend/read.h"

/* Appends how each rank ended, and the last calls of its threads with their sites. Ranks with the
 * same text share one entry. At most LIMIT entries are written. Appends nothing if all ranks
 * reached MPI_Finalize. The site of a call that has returned takes a walk over all calls before
 * it. ALL: whatever that takes; else as long as there are not too many. COMMAND says which files
 * have no names. */
void show_terminations(GString *out, WendRead *r, const char *command, guint limit, gboolean all);

#endif
