/* SPDX-License-Identifier: BSD-3-Clause */
/* expected.h: differences that were to be expected of a proxy, in words. */
#ifndef WEND_DIFF_EXPECTED_H
#define WEND_DIFF_EXPECTED_H

#include <glib.h>

/* PINNED: as comparison_key_pinned gives it, name of a function -> guint64. */
guint64 expected_calls(GHashTable *pinned);             /* in all */
void expected_append(GString *out, GHashTable *pinned); /* a line for each function, indented */

#endif
