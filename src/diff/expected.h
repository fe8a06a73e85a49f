/* SPDX-License-Identifier: BSD-3-Clause */
/* expected.h: the text of differences that are expected of a proxy. */
#ifndef WEND_DIFF_EXPECTED_H
#define WEND_DIFF_EXPECTED_H

#include <glib.h>

/* PINNED is the table of comparison_key_pinned: name of a function -> guint64. */
guint64 expected_calls(GHashTable *pinned);             /* the sum of its numbers */
void expected_append(GString *out, GHashTable *pinned); /* a line for each function, indented */

#endif
