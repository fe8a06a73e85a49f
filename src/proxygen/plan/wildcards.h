/* SPDX-License-Identifier: BSD-3-Clause */
/* wildcards.h: decides which receives from any source keep the wildcard, and which are pinned. */
#ifndef PROXYGEN_WILDCARDS_H
#define PROXYGEN_WILDCARDS_H

#include "src/proxygen/model/model.h"

typedef struct {
    guint terminal;
    guint slot;        /* of its source */
    gint64 any_source; /* the word MPI_ANY_SOURCE */
    gboolean pinned;
    const char *reason; /* why it is pinned, for the comment and the report (changes.h) */
    /* rank -> GArray of gint32: the source of each call; -1 if nothing came */
    GHashTable *sources;
    /* rank -> GPtrArray of GArray of gint32: for each call that makes a persistent receive, the
     * source of each start. NULL unless the starts of one request have several sources */
    GHashTable *starts;
} Wildcard;

/* Fills in the plan's wildcards and turns. */
void plan_wildcards(Plan *plan);

#endif
