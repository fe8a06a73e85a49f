/* SPDX-License-Identifier: BSD-3-Clause */
/* outcomes.h: the requests that each Waitany, Testsome, … must complete. */
#ifndef PROXYGEN_OUTCOMES_H
#define PROXYGEN_OUTCOMES_H

#include "src/proxygen/model/model.h"

typedef enum {
    /* at most one request could complete, or all completions are equivalent */
    CHOICE_PLAIN,
    CHOICE_DRAIN, /* the calls of this site complete all pending requests: a loop */
    /* the calls that follow depend on the completed request: the other requests are hidden */
    CHOICE_FORCED
} ChoiceKind;
typedef struct {
    Site site;
    ChoiceKind kind;
    gboolean drains; /* after it, no request of its array is ever pending */
    /* DRAIN: number of requests to complete; -1 if it differs and is counted at run time */
    gint64 pending;
    gboolean constant; /* FORCED: always the entries in PICK */
    /* rank -> GArray of gint32: for each call, the number of entries and then the entries */
    GHashTable *picks;
    GArray *pick; /* the same for the first call */
} Choice;

/* Finds the calls that choose and are not plain. Returns FALSE with an error if the recording is
 * damaged. */
gboolean plan_outcomes(Plan *plan, GError **error);
/* The choice of the call at that position; NULL if it is plain. */
const Choice *plan_choice(const Plan *plan, guint rule, guint symbol);

#endif
