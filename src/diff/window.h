/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h: completions in another order, and what the program did upon each.
 *
 * docs/comparing.md, "Equality of two recordings", rules 4 and 5. */
#ifndef WEND_DIFF_WINDOW_H
#define WEND_DIFF_WINDOW_H

#include <glib.h>

#include "items.h"

/* Both streams are at completions in a row, and the rows differ. TRUE: what follows is the same up
 * to the order of completions; both streams are moved behind it. FALSE: it is not; *AT_A and *AT_B
 * are where the recordings part, *WHY says how (static). */
gboolean window_match(Items *a, Items *b, Item *at_a, Item *at_b, const char **why);

#endif
