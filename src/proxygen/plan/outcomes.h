/* SPDX-License-Identifier: BSD-3-Clause */
/* outcomes.h: what each Waitany, Testsome, … has to complete. */
#ifndef PROXYGEN_OUTCOMES_H
#define PROXYGEN_OUTCOMES_H

#include "src/proxygen/model/model.h"

typedef enum {
    /* one request at most could complete, or whatever completes is the same */
    CHOICE_PLAIN,
    CHOICE_DRAIN, /* the calls of this site complete all that is pending: a loop */
    CHOICE_FORCED /* what follows depends on it: the other requests are hidden */
} ChoiceKind;
typedef struct {
    Site site;
    ChoiceKind kind;
    gboolean drains;   /* nothing is pending in its array after it, ever */
    gint64 pending;    /* DRAIN: requests to complete; -1: differs, count at run time */
    gboolean constant; /* FORCED: always the entries "pick" */
    /* rank -> GArray of gint32: for each call the number of entries, then the entries */
    GHashTable *picks;
    GArray *pick; /* of gint32, likewise: of the first call */
} Choice;

/* Finds the calls that are more than themselves. */
gboolean plan_outcomes(Plan *plan, GError **error);
/* What the call at that place is more than itself; NULL: nothing. */
const Choice *plan_choice(const Plan *plan, guint rule, guint symbol);

#endif
