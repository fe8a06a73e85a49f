/* SPDX-License-Identifier: BSD-3-Clause */
/* changes.h: where the proxy does not simply make the recorded calls: what it pins, reorders or
 * leaves out.
 *
 * Who writes such a call says so here. That gives the comment in the generated code, and the report
 * at the end, so that neither can lack what the other has. */
#ifndef PROXYGEN_CHANGES_H
#define PROXYGEN_CHANGES_H

#include "emitter.h"

typedef enum {
    CHANGE_SOURCE,         /* a receive or probe from any source names the one that came */
    CHANGE_SOURCES,        /* likewise a persistent one, for each start */
    CHANGE_NEIGHBOURS,     /* a graph is made with the recorded order of neighbours */
    CHANGE_TURNS,          /* a send waits until it is its turn in the recorded order */
    CHANGE_RECORDED_ORDER, /* requests complete in the recorded order */
    CHANGE_ANY_ORDER,      /* requests complete in whatever order, with what follows each */
    CHANGE_ALL_COMPLETE,   /* likewise, and nothing follows */
    CHANGE_LEFT_OUT,       /* the call is not made */
    CHANGES
} ProxyChange;

/* Counts how often the calls and rules of the plan are run: before anything is written. */
void changes_begin(Plan *plan);
void changes_free(struct Changes *changes);

/* Writes the comment before the calls of TERMINAL, and notes the change for the report. REASON is
 * static, a clause without a full stop; NULL: the kind of change says it all. */
void changes_comment(Emitter *e, GString *out, int indent, ProxyChange change, guint terminal,
                     const char *reason);
/* Notes it without a comment, where many calls would have the same one. */
void changes_note(Emitter *e, ProxyChange change, guint terminal, const char *reason);

/* The report: one line for each kind of change and reason, with the functions and how many of their
 * calls are changed, over all ranks. Newly allocated strings, in the order of the enum. */
GPtrArray *changes_report(const Plan *plan);

#endif
