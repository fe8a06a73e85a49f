/* SPDX-License-Identifier: BSD-3-Clause */
/* changes.h: the calls that the proxy pins, reorders or leaves out.
 *
 * The code that writes such a call declares the change here. This gives the comment in the proxy
 * and the line in the report, so both always agree. */
#ifndef PROXYGEN_CHANGES_H
#define PROXYGEN_CHANGES_H

#include "emitter.h"

typedef enum {
    CHANGE_SOURCE,         /* a receive or probe names the source that came */
    CHANGE_SOURCES,        /* the same for a persistent receive, at each start */
    CHANGE_NEIGHBOURS,     /* a graph is made with the recorded order of neighbours */
    CHANGE_SEND_ORDER,     /* a send waits for its turn in the recorded order */
    CHANGE_RECORDED_ORDER, /* requests complete in the recorded order */
    CHANGE_ANY_ORDER,      /* requests complete in any order, each followed by its own calls */
    CHANGE_ALL_COMPLETE,   /* the same, and no calls follow */
    CHANGE_LEFT_OUT,       /* the call is not made */
    CHANGES
} ProxyChange;

/* Counts how often the calls and rules of the plan run. Call it before anything is written. */
void changes_begin(Plan *plan);
void changes_free(struct Changes *changes);

/* Writes the comment before the calls of TERMINAL, and notes the change for the report. REASON is
 * static, a clause without a full stop; NULL if the kind of change explains itself. */
void changes_comment(Emitter *e, Statements *out, ProxyChange change, guint terminal,
                     const char *reason);
/* Notes the change without a comment, for changes that many calls share. */
void changes_note(Emitter *e, ProxyChange change, guint terminal, const char *reason);

/* The report: one line for each kind of change and reason, with the functions and the number of
 * changed calls, over all ranks. The lines are in the order of the enum. The caller frees the
 * array. */
GPtrArray *changes_report(const Plan *plan);

#endif
