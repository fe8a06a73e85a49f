/* SPDX-License-Identifier: BSD-3-Clause */
/* class-alignment.h: classes whose calls are in great part the same, as one.
 *
 * At a border, in the last levels of a multigrid or beside the root of a tree ranks make some calls
 * more than others do, or fewer, and between these the same. Such classes become one at the end of
 * the merge: its sequence has all calls of both, in an order that fits both, and each terminal the
 * ranks that call it. Which ranks leave which calls out is told by trip counts (variants.h), of
 * which some are 0. Like the condition around a call in the program that ran, this takes no more
 * than a condition; as classes by themselves they would have rules, values and times each. */
#ifndef WEND_CLASS_ALIGNMENT_H
#define WEND_CLASS_ALIGNMENT_H

#include "variants.h"

/* Aligns classes of M that are not in VARIANTS (of variants_join), where that takes less; those
 * that it makes are in VARIANTS then. Classes are the same in whatever order ranks met. FALSE: a
 * grammar is damaged. */
gboolean align_classes(WendMerge *m, GHashTable *variants);

#endif
