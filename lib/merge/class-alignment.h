/* SPDX-License-Identifier: BSD-3-Clause */
/* class-alignment.h: turns classes that have most calls in common into one.
 *
 * Some ranks make a few calls more or fewer than others: at a border, in the last levels of a
 * multigrid, beside the root of a tree. All other calls are the same. Such classes become one at
 * the end of the merge. Its sequence has all calls of both, in an order that fits both. Each
 * terminal has the ranks that call it. Trip counts (variants.h) of 0 mark the ranks that leave a
 * call out. That takes a few bytes, like the condition around the call in the program. As classes
 * of their own the ranks would have their own rules, values and times. */
#ifndef WEND_CLASS_ALIGNMENT_H
#define WEND_CLASS_ALIGNMENT_H

#include "variants.h"

/* Aligns classes of M that are not in VARIANTS (of variants_join), where that takes fewer bytes,
 * and adds the new classes to VARIANTS. The result does not depend on the order in which ranks were
 * merged. false: a grammar is damaged. */
bool class_alignment_align(WendMerge *m, Map *variants);

#endif
