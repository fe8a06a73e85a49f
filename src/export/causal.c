/* SPDX-License-Identifier: BSD-3-Clause */
/* causal.c: see causal.h.
 *
 * Matching says which sequence goes on, and which messages its next call has. The call itself comes
 * from a walk that also gives times, sites and unsuccessful polls. */
#include "config.h"

#include "causal.h"

#include "lib/analysis/analysis.h"
#include "src/read/wrap.h"

/* Signatures that are kept decoded: of all sequences together, and of each at least. */
enum { KEEP_ALL = 1 << 16, KEEP_LEAST = 16 };

struct Causal {
    const Export *e;
    double origin;
    unsigned flags;
    Matching *matching;
    gboolean matched;      /* the matching has ended: what is left of each sequence follows */
    TimedCalls **all;      /* by location; NULL: has not begun */
    guint rank, sequence;  /* then: those before have ended */
    TimedCalls *going;     /* the sequence that goes on; NULL: it is to be chosen */
    guint64 index;         /* it goes on up to this call */
    CallMessages messages; /* of that call */
};

Causal *causal_new(const Export *e, double origin, unsigned flags)
{
    Causal *c = g_new0(Causal, 1);
    c->e = e;
    c->origin = origin;
    c->flags = flags;
    c->matching = wend_read_wrap_matching(e->reader, MATCHING_WITH_CALLS);
    c->all = g_new0(TimedCalls *, e->first_location[e->n_ranks] + 1);
    return c;
}

void causal_free(Causal *c)
{
    if (c == NULL)
        return;
    for (guint64 i = 0; i < c->e->first_location[c->e->n_ranks]; i++)
        timeline_calls_free(c->all[i]);
    g_free(c->all);
    matching_free(c->matching);
    g_free(c);
}

/* Lets a sequence go on up to call INDEX. Returns FALSE if a function of wend/read.h failed. */
static gboolean go_on(Causal *c, guint rank, guint sequence, guint64 index)
{
    const guint64 *first = c->e->first_location;
    TimedCalls **calls = &c->all[first[rank] + sequence];
    if (*calls == NULL) {
        *calls = timeline_calls_new(c->e->reader, rank, sequence, c->origin, c->flags);
        if (*calls != NULL)
            timeline_calls_keep(*calls, MAX(KEEP_ALL / (guint)first[c->e->n_ranks], KEEP_LEAST));
    }
    c->going = *calls;
    c->index = index;
    return c->going != NULL;
}

static gboolean is_chosen(const Causal *c, guint rank)
{
    return c->e->ranks == NULL || c->e->ranks[rank];
}

/* Chooses the sequence of the next call in causal order. Returns the result of causal_next. */
static int choose_by_matching(Causal *c, GError **error)
{
    MessageEvent e;
    while (matching_next(c->matching, &e)) {
        if (e.kind != MESSAGE_CALL || !is_chosen(c, e.call->rank))
            continue;
        c->messages = (CallMessages){e.sends, e.receives, e.n_sends, e.n_receives};
        return go_on(c, e.call->rank, e.sequence, e.call->index) ? 1 : WEND_READ_ERROR_INPUT;
    }
    if (matching_error(c->matching, c->e->recording, error))
        return WEND_READ_ERROR_INPUT;
    c->matched = TRUE;
    return 0;
}

/* Chooses a sequence that may have calls left: unsuccessful polls behind its last call. */
static int choose_left(Causal *c)
{
    const guint64 *first = c->e->first_location;
    c->messages = (CallMessages){0};
    while (c->rank < c->e->n_ranks) {
        if (is_chosen(c, c->rank) && c->sequence < first[c->rank + 1] - first[c->rank])
            return go_on(c, c->rank, c->sequence++, G_MAXUINT64) ? 1 : WEND_READ_ERROR_INPUT;
        c->rank++;
        c->sequence = 0;
    }
    return 0;
}

int causal_next(Causal *c, TimedCall *next, CallMessages *messages, GError **error)
{
    for (;;) {
        int status = 0;
        if (c->going == NULL && !c->matched)
            status = choose_by_matching(c, error);
        if (c->going == NULL && c->matched && (status = choose_left(c)) == 0)
            return 0;
        if (status < 0 || (status = timeline_calls_next(c->going, next)) < 0)
            return status;
        gboolean last = status == 0 || (!next->call->poll && next->call->index >= c->index);
        *messages = last ? c->messages : (CallMessages){0};
        if (last)
            c->going = NULL;
        if (status > 0)
            return 1;
    }
}
