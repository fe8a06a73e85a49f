/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h: compares completions in different orders, and the calls that the program made upon each
 * (docs/comparing.md, "Equality of two recordings", rules 4 and 5). */
#ifndef WEND_DIFF_WINDOW_H
#define WEND_DIFF_WINDOW_H

#include <glib.h>

#include "items.h"

/* Compares two streams that are both at consecutive completions, in different orders. Returns TRUE
 * if the calls are equal up to the order of completions, and moves both streams behind them.
 * Otherwise returns FALSE, with the items at which the recordings part in *AT_A and *AT_B, and a
 * static text in *WHY. */
gboolean window_match(Items *a, Items *b, Item *at_a, Item *at_b, const char **why);

#endif
