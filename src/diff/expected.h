/* SPDX-License-Identifier: BSD-3-Clause */
/* expected.h: the text of differences that are expected of a proxy. */
#ifndef WEND_DIFF_EXPECTED_H
#define WEND_DIFF_EXPECTED_H

#include <glib.h>

/* PINNED is the table of comparison_key_pinned: name of a function -> PinnedCalls. */
guint64 expected_calls(GHashTable *pinned); /* the sum of its numbers */
/* a line for each function and kind of change, indented */
void expected_append(GString *out, GHashTable *pinned);

#endif
