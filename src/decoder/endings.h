/* SPDX-License-Identifier: BSD-3-Clause */
/* endings.h: how and where the ranks of a run ended that did not come to MPI_Finalize. */
#ifndef WEND_DECODER_ENDINGS_H
#define WEND_DECODER_ENDINGS_H

#include <glib.h>

#include "wend/read.h"

/* For each rank how, and the last calls of its threads; ranks for which that is the same words are
 * one. At most LIMIT such. Nothing unless a rank ended early. */
void endings_show(GString *out, WendRead *r, guint limit);

#endif
