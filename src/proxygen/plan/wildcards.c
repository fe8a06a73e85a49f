/* SPDX-License-Identifier: BSD-3-Clause */
/* wildcards.c: decides which receives from any source keep the wildcard, and which are pinned.
 *
 * A receive keeps its wildcard if these hold for its rank and communicator:
 * - No later receive names its source and could miss a message that the wildcard took.
 * - Every message that could come fits.
 * - The sends that could match are small enough to be eager in any MPI library, or are nonblocking
 *   and not synchronous. Their senders go on in any order of receives. If one is larger, no other
 *   receive is between the wildcard and the last one that could match it: what such a receive waits
 *   for may come after the send's completion.
 *
 * Then the k-th receive completes when k messages have come, from any source. By induction over the
 * recorded order no rank can hang. A receive also keeps its wildcard if all sends that could match
 * are of one rank: their order is that of the sends, so naming the rank would change nothing. And
 * it does if senders can wait for their turn (send-order.c). Otherwise it is pinned: it names the
 * source that the recorded receive got. Probes take no message and are unchanged.
 *
 * The check examines the messages of one phase (message-traffic.h), and pins in doubt. Within a
 * phase, messages are separated by the events that must happen before they are sent (precedence.h).
 * This is examined if the wildcard would be pinned otherwise. */
#include "src/proxygen/plan/passes.h"

#include <string.h>

#include "src/proxygen/plan/message-traffic.h"
#include "src/proxygen/analysis/call-analysis.h"

/* -- which are pinned -- */

static gboolean tags_meet(const MessageTraffic *t, gint64 a, gint64 b)
{
    return a == b || a == t->any_tag || b == t->any_tag;
}

static gboolean meet(const MessageTraffic *t, const PostedMessage *wildcard,
                     const PostedMessage *other)
{
    gboolean same =
        wildcard->comm == other->comm
        || (message_traffic_is_made(wildcard->comm) && message_traffic_is_made(other->comm)
            && (wildcard->comm == WEND_COMM_UNKNOWN || other->comm == WEND_COMM_UNKNOWN));
    gboolean together =
        other->phase == wildcard->phase || other->persistent || wildcard->persistent;
    return same && together && tags_meet(t, other->tag, wildcard->tag);
}

/* A wildcard that is examined. */
typedef struct {
    const PostedMessage *receive;
    guint rank;
    /* by rank: the first step that begins after it has returned; NULL: unknown */
    const guint64 *after;
} Judged;

static gboolean could_take(const MessageTraffic *t, const Judged *j, const PostedMessage *send)
{
    return meet(t, j->receive, send) && !(j->after && j->after[send->source] <= send->first);
}

/* The next send that the wildcard could match, from number *I on: sends to its rank, then sends to
 * unknown destinations. */
static const PostedMessage *next_send(const MessageTraffic *t, const Judged *j, guint *i)
{
    const GArray *known = t->sent->pdata[j->rank], *unknown = t->sent->pdata[t->plan->n_ranks];
    guint n = known ? known->len : 0, all = n + (unknown ? unknown->len : 0);
    while (*i < all) {
        const PostedMessage *send = *i < n ? &g_array_index(known, PostedMessage, *i)
                                           : &g_array_index(unknown, PostedMessage, *i - n);
        ++*i;
        if (could_take(t, j, send))
            return send;
    }
    return NULL;
}

/* Whether all sends that the wildcard could match are of one rank. */
static gboolean one_sender(const MessageTraffic *t, const Judged *j)
{
    const PostedMessage *send;
    gint64 sender = -1;
    for (guint i = 0; (send = next_send(t, j, &i)) != NULL; sender = send->source)
        if (sender >= 0 && send->source != sender)
            return FALSE;
    return TRUE;
}

/* Whether the wildcard could take a message that a receive with a named source needs. */
static gboolean could_take_from(const MessageTraffic *t, const Judged *j,
                                const PostedMessage *named_one)
{
    gint source = members_process(t->members, named_one->comm, j->rank, named_one->source);
    const PostedMessage *send;
    for (guint i = 0; (send = next_send(t, j, &i)) != NULL;)
        if ((source < 0 || send->source == source) && meet(t, named_one, send))
            return TRUE;
    return FALSE;
}

/* Whether the rank receives something else before it may have taken the message of SEND, with any
 * of its wildcards. */
static gboolean waits_before(const MessageTraffic *t, const Judged *j, const PostedMessage *send)
{
    const GArray *received = t->received->pdata[j->rank];
    guint64 last = 0;
    for (guint i = 0; i < received->len; i++) {
        const PostedMessage *w = &g_array_index(received, PostedMessage, i);
        if (w->source == t->any_source && meet(t, w, send))
            last = MAX(last, w->last);
    }
    for (guint i = 0; i < received->len; i++) {
        const PostedMessage *other = &g_array_index(received, PostedMessage, i);
        if (!(other->source == t->any_source && meet(t, other, send)) && other->first < last
            && other->last > j->receive->first)
            return TRUE;
    }
    return FALSE;
}

/* The reason why the wildcard must be pinned, or NULL. */
static const char *conflict_on(const MessageTraffic *t, const Judged *j, gint64 room)
{
    if (one_sender(t, j))
        return NULL;
    const GArray *received = t->received->pdata[j->rank];
    for (guint i = 0; i < received->len; i++) {
        const PostedMessage *other = &g_array_index(received, PostedMessage, i);
        /* A receive that was posted earlier is matched first. */
        if (meet(t, j->receive, other) && other->last > j->receive->first
            && other->source != t->any_source && could_take_from(t, j, other))
            return "another receive of this rank names its source and could miss its message";
    }
    const PostedMessage *send;
    for (guint i = 0; (send = next_send(t, j, &i)) != NULL;) {
        if (send->bytes < 0 || (room >= 0 && send->bytes > room && send->bytes != EAGER_BYTES + 1))
            return "a message of another sender might not fit";
    }
    for (guint i = 0; (send = next_send(t, j, &i)) != NULL;)
        if (send->waits
            || (send->bytes > EAGER_BYTES && (send->blocking || waits_before(t, j, send))))
            return "senders wait until their messages are received, so the order matters";
    return NULL;
}

static void wildcard_free(gpointer wildcard)
{
    Wildcard *w = wildcard;
    g_hash_table_destroy(w->sources);
    g_clear_pointer(&w->starts, g_hash_table_destroy);
    g_free(w);
}

/* The reason why the receive must be pinned, or NULL. AFTER is as in Judged. */
static const char *reason_to_pin(const MessageTraffic *t, const PostedMessage *one, guint rank,
                                 const guint64 *after)
{
    Plan *plan = t->plan;
    call_pattern_decode(plan->call, one->terminal);
    const WendFunction *f = plan->call->function;
    if (plan->options->pin)
        return "asked for with --pin";
    if (message_traffic_is_probe(f))
        return NULL;
    const Judged judged = {one, rank, after};
    return conflict_on(t, &judged,
                       message_traffic_is_matched_probe(f)
                           ? message_traffic_room(t, rank, one->phase)
                           : one->bytes);
}

static void pin(const MessageTraffic *t, const PostedMessage *one, const char *reason)
{
    Plan *plan = t->plan;
    call_pattern_decode(plan->call, one->terminal);
    const Arg *source = call_pattern_arg_named(plan->call, "source");
    if (!source->in[0].by_slot)
        return;
    Wildcard *w = g_new0(Wildcard, 1);
    w->terminal = one->terminal;
    w->pinned = TRUE;
    w->reason = reason;
    w->slot = source->in[0].slot;
    w->any_source = t->any_source;
    w->sources = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    if (one->persistent)
        w->starts = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    g_hash_table_insert(plan->wildcards, GUINT_TO_POINTER(w->terminal), w);
}

static gboolean is_pinned(const MessageTraffic *t, const PostedMessage *one)
{
    return g_hash_table_contains(t->plan->wildcards, GUINT_TO_POINTER(one->terminal));
}

typedef struct {
    const PostedMessage *receive;
    guint rank;
} PinQuestion;

/* Pins receives that have a conflict. Returns the receives that need the precedence of calls for a
 * decision. */
static GArray *pin_clear_cases(const MessageTraffic *t)
{
    GArray *open = g_array_new(FALSE, FALSE, sizeof(PinQuestion));
    for (guint r = 0; r < t->plan->n_ranks; r++) {
        const GArray *received = t->received->pdata[r];
        for (guint i = 0; received && i < received->len; i++) {
            const PinQuestion q = {&g_array_index(received, PostedMessage, i), r};
            const char *reason = q.receive->source == t->any_source && !is_pinned(t, q.receive)
                                     ? reason_to_pin(t, q.receive, r, NULL)
                                     : NULL;
            if (reason && q.receive->blocking && !t->no_order && !t->cancels
                && !t->plan->options->pin)
                g_array_append_val(open, q);
            else if (reason)
                pin(t, q.receive, reason);
        }
    }
    return open;
}

static void answer(MessageTraffic *t, const GArray *questions)
{
    t->asked = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < questions->len; i++)
        g_hash_table_add(t->asked,
                         GUINT_TO_POINTER(g_array_index(questions, PinQuestion, i).receive->phase));
    WendPrecedence *p = precedence_new(t->plan->program, t->members);
    message_traffic_report(t, p);
    for (guint i = 0; i < questions->len; i++) {
        const PinQuestion *q = &g_array_index(questions, PinQuestion, i);
        if (is_pinned(t, q->receive))
            continue;
        const guint64 *after = precedence_after(p, q->receive->phase, q->rank, q->receive->last);
        const char *reason = reason_to_pin(t, q->receive, q->rank, after);
        if (reason)
            pin(t, q->receive, reason);
    }
    precedence_free(p);
    g_hash_table_destroy(t->asked);
}

/* Tries turns, if all pinned receives are on one rank. Returns whether they work. */
static gboolean try_send_order(const MessageTraffic *t)
{
    Plan *plan = t->plan;
    gint master = -1;
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, plan->wildcards);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Wildcard *w = value;
        RankList ranks = plan->terminal_ranks[w->terminal];
        for (guint r = 0; r < ranks.n; r++) {
            if (program_slot(plan->program, w->terminal, w->slot, ranks.ranks[r]) != w->any_source)
                continue;
            if (master >= 0 && master != (gint)ranks.ranks[r])
                return FALSE;
            master = (gint)ranks.ranks[r];
        }
    }
    return master >= 0 && plan_send_order(plan, (guint)master);
}

/* -- the sources that recorded receives got -- */

typedef struct {
    guint terminal, index;
} PostedTerminal;

static void put_source(Plan *plan, guint rank, PostedTerminal posted, gint64 source)
{
    Wildcard *w = g_hash_table_lookup(plan->wildcards, GUINT_TO_POINTER(posted.terminal));
    gint32 one = source >= 0 ? (gint32)source : -1;
    if (w && w->starts) {
        const GPtrArray *starts = g_hash_table_lookup(w->starts, GUINT_TO_POINTER(rank));
        g_array_append_val((GArray *)starts->pdata[posted.index], one);
    } else if (w && one >= 0) {
        g_array_index((GArray *)g_hash_table_lookup(w->sources, GUINT_TO_POINTER(rank)), gint32,
                      posted.index) = one;
    }
}

/* Adds a call of a pinned receive. Returns its index. */
static guint post(Wildcard *w, guint rank)
{
    GArray *sources = g_hash_table_lookup(w->sources, GUINT_TO_POINTER(rank));
    if (!sources)
        g_hash_table_insert(w->sources, GUINT_TO_POINTER(rank),
                            sources = g_array_new(FALSE, FALSE, sizeof(gint32)));
    gint32 unknown = -1;
    g_array_append_val(sources, unknown);
    if (w->starts) {
        GPtrArray *starts = g_hash_table_lookup(w->starts, GUINT_TO_POINTER(rank));
        if (!starts)
            g_hash_table_insert(w->starts, GUINT_TO_POINTER(rank),
                                starts =
                                    g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref));
        g_ptr_array_add(starts, g_array_new(FALSE, FALSE, sizeof(gint32)));
    }
    return sources->len - 1;
}

/* Decides whether a persistent receive got all its messages from one rank, or needs a source for
 * each start. */
static void settle_starts(Plan *plan, Wildcard *w)
{
    GHashTableIter iter;
    gpointer rank, value;
    gboolean one_source = TRUE;
    g_hash_table_iter_init(&iter, w->starts);
    while (g_hash_table_iter_next(&iter, &rank, &value)) {
        const GPtrArray *starts = value;
        GArray *sources = g_hash_table_lookup(w->sources, rank);
        for (guint i = 0; i < starts->len; i++) {
            const GArray *list = starts->pdata[i];
            gint32 *first = &g_array_index(sources, gint32, i);
            for (guint k = 0; k < list->len; k++) {
                gint32 source = g_array_index(list, gint32, k);
                one_source &= *first < 0 || source < 0 || source == *first;
                *first = *first < 0 ? source : *first;
            }
        }
    }
    if (one_source)
        g_clear_pointer(&w->starts, g_hash_table_destroy);
    else
        plan->pins_at_start = TRUE;
}

/* Walks one sequence of one rank and fills in the sources of its pinned receives. */
static void find_sources(Plan *plan, guint rank, guint sequence)
{
    /* request -> PostedTerminal */
    g_autoptr(GHashTable) pending =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    WendWalk *walk = walk_new(plan->program, rank, sequence, WEND_WALK_MAIN);
    const WendCall *call;
    while ((call = walk_next(walk)) != NULL) {
        Wildcard *w = g_hash_table_lookup(plan->wildcards, GUINT_TO_POINTER(call->terminal));
        const WendArg *status = NULL;
        const gint64 *made = call_request_made(call);
        for (guint i = 0; i < call->n_args; i++)
            if (call->args[i].param->kind == WEND_KIND_STATUS)
                status = &call->args[i];
        if (w && w->pinned
            && program_slot(plan->program, call->terminal, w->slot, rank) == w->any_source) {
            PostedTerminal posted = {call->terminal, post(w, rank)};
            if (made)
                g_hash_table_insert(pending, g_memdup2(made, sizeof *made),
                                    g_memdup2(&posted, sizeof posted));
            else if (status && status->n_out > 0)
                put_source(plan, rank, posted, status->out[0]);
        }
        guint n;
        const gint64 *completed = walk_completed(walk, &n);
        for (guint i = 0; i < n && g_hash_table_size(pending) > 0; i++) {
            const PostedTerminal *posted = g_hash_table_lookup(pending, &completed[i]);
            if (!posted)
                continue;
            const gint64 *came = call_status_of(call, completed, i);
            put_source(plan, rank, *posted, came ? came[0] : -1);
            WendRequestState state;
            if (!walk_request(walk, completed[i], &state) || !state.persistent)
                g_hash_table_remove(pending, &completed[i]);
        }
    }
    walk_free(walk);
}

/* Fills in the sources of the plan's wildcards, and the sources of each start if one source is not
 * enough. */
static void find_all_sources(Plan *plan)
{
    for (guint i = 0; i < plan->threads->len; i++) {
        const PlanThread *thread = &g_array_index(plan->threads, PlanThread, i);
        for (guint r = 0; r < thread->ranks.n; r++)
            find_sources(plan, thread->ranks.ranks[r], thread->sequence);
    }
    GHashTableIter iter;
    gpointer pinned;
    g_hash_table_iter_init(&iter, plan->wildcards);
    while (g_hash_table_iter_next(&iter, NULL, &pinned))
        if (((Wildcard *)pinned)->starts)
            settle_starts(plan, pinned);
}

/* -- all -- */

void plan_wildcards(Plan *plan)
{
    plan->wildcards = g_hash_table_new_full(NULL, NULL, NULL, wildcard_free);
    plan->send_order = g_hash_table_new_full(NULL, NULL, NULL, wildcard_free);
    MessageTraffic *t = message_traffic_new(plan);
    if (t->wildcards) {
        message_traffic_note(t);
        g_autoptr(GArray) questions = pin_clear_cases(t);
        if (questions->len > 0)
            answer(t, questions);
    }
    /* Turns are in the recorded order, which loops do not keep. */
    if (!plan->options->pin && !plan->has_loops && !plan_worlds_several(plan)
        && g_hash_table_size(plan->wildcards) > 0 && try_send_order(t))
        g_hash_table_remove_all(plan->wildcards);
    if (g_hash_table_size(plan->wildcards) > 0)
        find_all_sources(plan);
    message_traffic_free(t);
}
