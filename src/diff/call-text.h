/* SPDX-License-Identifier: BSD-3-Clause */
/* call-text.h: the text of calls, ranks and sequences of a program. */
#ifndef WEND_DIFF_CALL_TEXT_H
#define WEND_DIFF_CALL_TEXT_H

#include <glib.h>

#include "lib/read/program.h"

/* Appends CALL of WALK on one line. If WALK is NULL, the values that only a walk knows are
 * missing. */
void call_text(GString *out, const WendProgram *p, const WendWalk *walk, const WendCall *call);

/* Appends argument I of CALL, which a decoder gave: the caller's value, or else the run's. Appends
 * nothing if it has neither. */
void call_text_value(GString *out, const WendProgram *p, const WendCall *call, guint i);

/* The name of an error class, newly allocated. NULL if the recording has none. */
char *call_text_error_class(const WendProgram *p, gint64 class);

/* The number of words at arg->in (IS_OUT: arg->out). */
gsize call_text_words(const WendArg *arg, gboolean is_out);

/* Appends "rank 5"; in a job with several worlds, "rank 5 (rank 1 of world 1)". */
void call_text_rank(GString *out, const WendProgram *p, guint rank);
/* Appends "thread 2" or "callback 3". */
void call_text_sequence(GString *out, const WendSequence *sequence);

#endif
