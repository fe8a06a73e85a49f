/* SPDX-License-Identifier: BSD-3-Clause */
/* wildcards.h: which receives from any source stay so, and what the others are pinned to. */
#ifndef PROXYGEN_WILDCARDS_H
#define PROXYGEN_WILDCARDS_H

#include "src/proxygen/model/model.h"

typedef struct {
    guint terminal;
    guint slot;        /* of its source */
    gint64 any_source; /* the word */
    gboolean pinned;
    const char *reason; /* why, for the comment and the report (changes.h) */
    /* rank -> GArray of gint32, one for each time the rank makes the call; -1 nothing came */
    GHashTable *sources;
    /* rank -> GPtrArray of GArray of gint32: of a persistent receive that gets messages of several
     * ranks, for each time the rank makes the call, one for each start; else NULL */
    GHashTable *starts;
} Wildcard;

/* Fills in the plan's wildcards and turns. */
void plan_wildcards(Plan *plan);

#endif
