/* SPDX-License-Identifier: BSD-3-Clause */
/* call_text.h: calls, ranks and sequences of a program as the commands write them. */
#ifndef WEND_DIFF_CALL_TEXT_H
#define WEND_DIFF_CALL_TEXT_H

#include <glib.h>

#include "lib/read/program.h"

/* CALL of WALK on one line. WALK NULL: without what only a walk knows. */
void call_text(GString *out, const WendProgram *p, const WendWalk *walk, const WendCall *call);

/* Argument I of CALL, a decoder's: what the caller gave or else what the run decided. Nothing where
 * there is neither. */
void call_text_value(GString *out, const WendProgram *p, const WendCall *call, guint i);

/* The name of an error class, newly allocated. NULL: the recording has none. */
char *call_text_error_class(const WendProgram *p, gint64 class);

/* How many words arg->in (IS_OUT: arg->out) points at. */
gsize call_text_words(const WendArg *arg, gboolean is_out);

/* "rank 5"; of a job with several worlds "rank 5 (rank 1 of world 1)". */
void call_text_rank(GString *out, const WendProgram *p, guint rank);
/* "thread 2", "callback 3" */
void call_text_sequence(GString *out, const WendSequence *sequence);

#endif
