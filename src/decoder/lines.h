/* SPDX-License-Identifier: BSD-3-Clause */
/* lines.h: a cache of the text of repeated calls of one sequence. Programs make the same call
 * millions of times without another call between. */
#ifndef WEND_DECODER_LINES_H
#define WEND_DECODER_LINES_H

#include <glib.h>

#include "wend/read.h"

typedef struct Lines Lines;

/* An empty cache. The caller frees it with lines_free. */
Lines *lines_new(void);
void lines_free(Lines *lines);

/* Appends the text that is kept for CALL. Returns FALSE if there is none. */
gboolean lines_append(const Lines *lines, GString *out, const WendReadCall *call);
/* Keeps a copy of TEXT, which the caller has written for CALL, if all calls of its signature have
 * the same text. */
void lines_keep(Lines *lines, const WendReadCall *call, const char *text, gsize n);
/* Forgets all texts. Call it when another sequence begins, because signatures then have other
 * texts. */
void lines_forget(Lines *lines);

#endif
