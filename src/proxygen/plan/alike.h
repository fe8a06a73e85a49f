/* SPDX-License-Identifier: BSD-3-Clause */
/* alike.h: rules that are equal but for trip counts, and run by other ranks each, so that one
 * function does for all: for (int i = 0; i < rank + 2; i++). */
#ifndef PROXYGEN_ALIKE_H
#define PROXYGEN_ALIKE_H

#include "src/proxygen/model/model.h"

typedef struct AlikeRules AlikeRules;
AlikeRules *alike_new(const Plan *plan);
void alike_free(AlikeRules *a);
/* The rule whose function does for RULE: itself, or one before it in the plan's order. A NULL:
 * itself, always. */
guint alike_leader(const AlikeRules *a, guint rule);
/* Does a function do for that rule and others? */
gboolean alike_shared(const AlikeRules *a, guint rule);
/* The ranks that run a leader's function. */
RankList alike_ranks(const AlikeRules *a, guint leader);
/* By rank of these: how often each repeats the leader's symbol. NULL, as for A NULL: all as often
 * as it says. Newly allocated. */
gint64 *alike_trips(const AlikeRules *a, guint leader, guint symbol);

#endif
