/* SPDX-License-Identifier: BSD-3-Clause */
/* show-terminations.h: how and where the ranks of a run ended that did not come to MPI_Finalize. */
#ifndef WEND_DECODER_SHOW_TERMINATIONS_H
#define WEND_DECODER_SHOW_TERMINATIONS_H

#include <glib.h>

#include "wend/read.h"

/* For each rank how, and the last calls of its threads; ranks for which that is the same words are
 * one. At most LIMIT such. Nothing unless a rank ended early. */
void terminations_show(GString *out, WendRead *r, guint limit);

#endif
