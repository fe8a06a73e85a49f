/* SPDX-License-Identifier: BSD-3-Clause */
/* send-order.c: keeps the wildcards of one process that serves all others, by making senders wait
 * for their turn.
 *
 * A master receives from any source, and in between from certain sources. The order of messages
 * decides which receive fits, and which rank waits. The receives can keep their wildcards if only
 * the recorded message can be there. So each process sends to the master when the master lets it,
 * on a communicator that the recording does not see. This makes the sends synchronous, which could
 * deadlock if the application relied on buffers. It cannot deadlock, and is only done, under these
 * conditions:
 * - The master is the only partner of all others, with blocking receives and probes on
 *   MPI_COMM_WORLD.
 * - It receives the messages of each process in the order in which they were sent, between the same
 *   collective calls.
 * - A message that it sends with a blocking send that may wait is received before the receiver's
 *   next turn.
 *
 * Then the events of each pair are in the same order at both ends. All cycles of waiting would
 * contain the master, whose order is the recorded one. */
#include "src/proxygen/plan/passes.h"

#include <string.h>

#include "src/proxygen/analysis/call-analysis.h"

/* A message between the master and another process, in order. */
typedef struct {
    gint64 tag;
    guint64 collectives; /* number of calls before it */
    /* of a message to the master: earlier messages from it; of a message from the master: earlier
     * messages to it */
    guint64 others;
    gboolean waits; /* the send may wait for its receive */
} LoggedMessage;

/* Sends and receives of the kinds that a master and its partners may use. */
static gboolean is_plain_send(const WendFunction *f)
{
    return f->operation == WEND_FN_MPI_Send && f->progress != WEND_PERSISTENT;
}

static gboolean is_plain_receive(const WendFunction *f, gboolean blocking)
{
    if (f->operation == WEND_FN_MPI_Probe)
        return TRUE;
    return f->operation == WEND_FN_MPI_Recv
           && (f->progress == WEND_BLOCKING || (!blocking && f->progress == WEND_NONBLOCKING));
}

/* Whether the master is the only partner of all ranks, and all calls are of known kinds. */
static gboolean is_star(Plan *plan, guint master)
{
    const WendProgram *p = plan->program;
    gint64 proc_null = program_constant_word("MPI_PROC_NULL"),
           any_source = program_constant_word("MPI_ANY_SOURCE"),
           world = program_constant_word("MPI_COMM_WORLD");
    for (guint t = 0; t < program_n_terminals(p); t++) {
        RankList ranks = plan->terminal_ranks[t];
        const WendShape *shape = program_shape(p, program_terminal(p, t)->shape);
        if (ranks.n == 0 || !(shape->function->flags & (WEND_F_SEND | WEND_F_RECV)))
            continue;
        call_pattern_decode(plan->call, t);
        const CallPattern *c = plan->call;
        const Arg *comm = call_pattern_arg_of_kind(c, WEND_KIND_COMM),
                  *dest = call_pattern_arg_named(c, "dest"),
                  *source = call_pattern_arg_named(c, "source");
        if (c->failed || (comm && comm->in[0].value != world))
            return FALSE;
        for (guint r = 0; r < ranks.n; r++) {
            gboolean is_master = ranks.ranks[r] == master;
            if ((c->function->flags & WEND_F_SEND) && !is_plain_send(c->function))
                return FALSE;
            if ((c->function->flags & WEND_F_RECV) && !is_plain_receive(c->function, is_master))
                return FALSE;
            if (!dest && !source)
                continue; /* MPI_Mrecv */
            gint64 partner =
                call_pattern_value(c, dest ? dest->in[0] : source->in[0], ranks.ranks[r]);
            if (partner == proc_null || (partner == any_source && !dest))
                /* other ranks get messages from the master only, because no other rank sends to
                 * them */
                continue;
            if (is_master ? partner == (gint64)master : partner != (gint64)master)
                return FALSE;
        }
    }
    return TRUE;
}

/* The sequence of the only thread with calls, or -1. */
static int only_sequence(const Plan *plan, guint rank)
{
    int found = -1;
    for (guint i = 0; i < plan->threads->len; i++) {
        const PlanThread *t = &g_array_index(plan->threads, PlanThread, i);
        if (!rank_list_has(t->ranks, rank))
            continue;
        if (found >= 0)
            return -1;
        found = (int)t->sequence;
    }
    return found;
}

static void give(Plan *plan, guint terminal, guint rank, gint32 source)
{
    Wildcard *w = g_hash_table_lookup(plan->send_order, GUINT_TO_POINTER(terminal));
    if (!w) {
        w = g_new0(Wildcard, 1);
        w->terminal = terminal;
        w->sources = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
        g_hash_table_insert(plan->send_order, GUINT_TO_POINTER(terminal), w);
    }
    GArray *sources = g_hash_table_lookup(w->sources, GUINT_TO_POINTER(rank));
    if (!sources)
        g_hash_table_insert(w->sources, GUINT_TO_POINTER(rank),
                            sources = g_array_new(FALSE, FALSE, sizeof(gint32)));
    g_array_append_val(sources, source);
}

/* The bytes that the call sends; G_MAXINT64 if unknown. */
static gint64 bytes_sent(const Plan *plan, guint terminal, guint rank)
{
    call_pattern_decode(plan->call, terminal);
    const Arg *buf = call_pattern_arg_named(plan->call, "buf");
    if (!buf || buf->param->count < 0 || buf->param->type < 0)
        return G_MAXINT64;
    return extent_data_size(
        plan->extents, plan->call->args[buf->param->type].in[0].value,
        call_pattern_number(plan->call, &plan->call->args[buf->param->count], rank, 0), rank);
}

typedef struct {
    GArray *to_master, *from_master;
} Log; /* of LoggedMessage */

/* Walks one rank. The master has one log for each rank, other ranks have one log. */
static gboolean log_rank(Plan *plan, guint rank, guint master, Log *logs)
{
    int sequence = only_sequence(plan, rank);
    if (sequence < 0)
        return FALSE;
    gboolean is_master = rank == master, good = TRUE;
    guint64 collectives = 0;
    gint64 proc_null = program_constant_word("MPI_PROC_NULL");
    /* for the master: messages that it has let come and not received */
    g_autofree guint *ahead = g_new0(guint, plan->n_ranks);
    WendWalk *walk = walk_new(plan->program, rank, (guint)sequence, WEND_WALK_MAIN);
    const WendCall *call;
    while (good && (call = walk_next(walk)) != NULL) {
        const WendFunction *f = call->function;
        guint32 flags = f->flags;
        if (flags & WEND_F_COLLECTIVE)
            collectives++;
        if (!(flags & (WEND_F_SEND | WEND_F_RECV)))
            continue;
        const WendArg *dest = call_arg(call, "dest"), *source = call_arg(call, "source"),
                      *tag = call_arg(call, "tag"), *status = call_arg(call, "status");
        if (dest && dest->n_in == 1) {
            if (dest->in[0] < 0)
                continue; /* MPI_PROC_NULL */
            Log *log = is_master ? &logs[dest->in[0]] : &logs[0];
            LoggedMessage m = {tag->in[0], collectives,
                               is_master ? log->to_master->len : log->from_master->len, FALSE};
            m.waits = f->progress == WEND_BLOCKING && f->mode != WEND_MODE_BUFFERED
                      && (f->mode == WEND_MODE_SYNCHRONOUS
                          || bytes_sent(plan, call->terminal, rank) > EAGER_BYTES);
            g_array_append_val(is_master ? log->from_master : log->to_master, m);
            continue;
        }
        if (!source || source->n_in != 1 || source->in[0] == proc_null)
            continue; /* MPI_Mrecv: its probe counted as the receive */
        gboolean probe = f->operation == WEND_FN_MPI_Probe && !(flags & WEND_F_MATCHED);
        if (!is_master) {
            LoggedMessage m = {tag->in[0], collectives, logs[0].to_master->len, FALSE};
            if (!probe)
                g_array_append_val(logs[0].from_master, m);
            continue;
        }
        if (!status || status->n_out != 1 || status->out[0] < 0
            || status->out[0] >= (gint64)plan->n_ranks) {
            good = FALSE;
            break;
        }
        guint who = (guint)status->out[0];
        gint32 let = ahead[who] ? -1 : (gint32)who;
        give(plan, call->terminal, rank, let);
        ahead[who] = probe;
        if (!probe) {
            LoggedMessage m = {status->out[1], collectives, logs[who].from_master->len, FALSE};
            g_array_append_val(logs[who].to_master, m);
        }
    }
    walk_free(walk);
    return good;
}

/* Whether the messages of a pair are in the same order at both ends, even if each send waits. */
static gboolean same_order(const Log *master, const Log *other, gint64 any_tag)
{
    if (master->to_master->len != other->to_master->len
        || master->from_master->len != other->from_master->len)
        return FALSE;
    for (guint i = 0; i < master->to_master->len; i++) {
        const LoggedMessage *taken = &g_array_index(master->to_master, LoggedMessage, i),
                            *sent = &g_array_index(other->to_master, LoggedMessage, i);
        if (taken->tag != sent->tag || taken->collectives != sent->collectives)
            return FALSE;
    }
    for (guint i = 0; i < master->from_master->len; i++) {
        const LoggedMessage *sent = &g_array_index(master->from_master, LoggedMessage, i),
                            *taken = &g_array_index(other->from_master, LoggedMessage, i);
        if (taken->tag != any_tag && taken->tag != sent->tag)
            return FALSE;
        if (sent->waits && taken->others > sent->others)
            return FALSE; /* the receiver would wait for a turn */
    }
    return TRUE;
}

static void log_clear(Log *log)
{
    g_array_unref(log->to_master);
    g_array_unref(log->from_master);
}

static Log log_new(void)
{
    return (Log){g_array_new(FALSE, FALSE, sizeof(LoggedMessage)),
                 g_array_new(FALSE, FALSE, sizeof(LoggedMessage))};
}

gboolean plan_send_order(Plan *plan, guint master)
{
    if (!plan->prefix || !is_star(plan, master))
        return FALSE;
    gint64 any_tag = program_constant_word("MPI_ANY_TAG");
    Log *logs = g_new(Log, plan->n_ranks);
    for (guint r = 0; r < plan->n_ranks; r++)
        logs[r] = log_new();
    gboolean good = log_rank(plan, master, master, logs);
    for (guint r = 0; r < plan->n_ranks && good; r++) {
        if (r == master)
            continue;
        Log own = log_new();
        good = log_rank(plan, r, master, &own) && same_order(&logs[r], &own, any_tag);
        log_clear(&own);
    }
    for (guint r = 0; r < plan->n_ranks; r++)
        log_clear(&logs[r]);
    g_free(logs);
    if (good)
        plan->master = (gint)master;
    else
        g_hash_table_remove_all(plan->send_order);
    return good;
}
