/* SPDX-License-Identifier: BSD-3-Clause */
/* alike.h: rules that are equal except for trip counts, and that different ranks run. One function
 * serves them all: for (int i = 0; i < rank + 2; i++). */
#ifndef PROXYGEN_ALIKE_H
#define PROXYGEN_ALIKE_H

#include "src/proxygen/model/model.h"

typedef struct AlikeRules AlikeRules;
AlikeRules *alike_new(const Plan *plan);
void alike_free(AlikeRules *a);
/* The rule whose function serves RULE: RULE itself, or one before it in the plan's order. If A is
 * NULL, always RULE. */
guint alike_leader(const AlikeRules *a, guint rule);
/* Whether other rules share that function. */
gboolean alike_shared(const AlikeRules *a, guint rule);
/* The ranks that run the function of a leader. */
RankList alike_ranks(const AlikeRules *a, guint leader);
/* The repetition counts of the leader's symbol, by rank of these. NULL if all equal the symbol's
 * own count, or if A is NULL. Newly allocated. */
gint64 *alike_trips(const AlikeRules *a, guint leader, guint symbol);

#endif
