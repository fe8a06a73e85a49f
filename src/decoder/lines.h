/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.h: the text of calls that come again, of one sequence. Programs make the same call millions
 * of times in a row. */
#ifndef WEND_DECODER_LINES_H
#define WEND_DECODER_LINES_H

#include <glib.h>

#include "wend/read.h"

typedef struct Lines Lines;

Lines *lines_new(void);
void lines_free(Lines *lines);

/* Appends the text that was kept for CALL; FALSE: there is none. */
gboolean lines_append(const Lines *lines, GString *out, const WendReadCall *call);
/* Keeps TEXT, which the caller has written for CALL, if each call of this signature reads like
 * that. */
void lines_keep(Lines *lines, const WendReadCall *call, const char *text, gsize n);
/* Signatures read otherwise from now on: another sequence begins. */
void lines_forget(Lines *lines);

#endif
