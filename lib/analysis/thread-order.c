/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-order.c: see thread-order.h. */
#include "config.h"

#include "thread-order.h"

#include "base/containers.h"

enum { SEQUENCES_MOST = 256, CHANNEL_MEMORY = 192 };

typedef struct {
    ChannelKey channel;
    guint64 sends; /* FALSE or TRUE; of 8 bytes, since keys have no padding */
} UseKey;
/* The last use of a channel. */
typedef struct {
    guint64 step; /* of its sequence, from 1; 0: never used */
    guint sequence;
    gboolean unsure;
} Use;

struct ThreadOrder {
    guint n, most;
    guint64 *clocks; /* N x N: what each sequence knows of each */
    Map *uses;
};

guint64 thread_order_memory(guint n, guint most)
{
    guint64 clocks = n <= SEQUENCES_MOST ? (guint64)n * n * sizeof(guint64) : 0;
    return clocks + (guint64)most * CHANNEL_MEMORY;
}

ThreadOrder *thread_order_new(guint n, guint most)
{
    ThreadOrder *t = g_new0(ThreadOrder, 1);
    t->n = n;
    t->most = most;
    if (n <= SEQUENCES_MOST)
        t->clocks = g_new0(guint64, (gsize)n * n);
    t->uses = map_of_bytes(memory_free);
    return t;
}

void thread_order_free(ThreadOrder *t)
{
    if (!t)
        return;
    g_free(t->clocks);
    map_unref(t->uses);
    g_free(t);
}

void thread_order_after(ThreadOrder *t, guint later, guint earlier)
{
    if (!t->clocks || later == earlier)
        return;
    guint64 *to = &t->clocks[(gsize)later * t->n];
    const guint64 *from = &t->clocks[(gsize)earlier * t->n];
    for (guint i = 0; i < t->n; i++)
        to[i] = MAX(to[i], from[i]);
}

gboolean thread_order_use(ThreadOrder *t, guint sequence, const ChannelKey *key, gboolean sends)
{
    const UseKey with = {*key, sends != FALSE};
    if (!t->clocks || (map_size(t->uses) >= t->most && !map_has_bytes(t->uses, &with, sizeof with)))
        return FALSE;
    Use *use = map_entry(t->uses, &with, sizeof with, sizeof *use);
    guint64 *clock = &t->clocks[(gsize)sequence * t->n];
    if (use->step > 0 && use->sequence != sequence && clock[use->sequence] < use->step)
        use->unsure = TRUE;
    use->step = ++clock[sequence];
    use->sequence = sequence;
    return !use->unsure;
}

/* -- turns -- */

/* The outcome of the pseudo-call wend_turn. */
enum { TURN_THREAD = 2, TURN_CALLS, TURN_COUNT, TURN_WORDS };

/* What a sequence has to do with an order. */
typedef struct {
    guint64 first;  /* its MPI calls before the one with its first turn; G_MAXUINT64: it has none */
    guint64 before; /* turns from before the order was recorded, which have not been taken */
    guint64 skipped; /* turns of the order that are taken already */
    gboolean began_before;
} TurnTaker;

typedef struct {
    WendSequenceKind kind;
    gint64 comm;
    TurnTaker *takers;     /* by sequence */
    WendOutcomes *entries; /* those to come; NULL: there are no more */
    guint next, last;      /* sequences; SEQUENCE_NONE: none */
    guint64 left;          /* turns of NEXT */
    guint64 before;        /* of all sequences */
} RecordedOrder;

struct RecordedTurns {
    const WendClass *class;
    ThreadOrder *threads;
    gboolean *ended; /* by sequence */
    RecordedOrder *orders;
    guint n;
    GHashTable *receives, *sends; /* word of a communicator -> RecordedOrder */
};

guint thread_order_sequence(const WendClass *class, gint64 thread)
{
    for (guint q = 0; q < class->n_sequences; q++)
        if (class->sequences[q].kind == WEND_SEQUENCE_THREAD && class->sequences[q].id == thread)
            return q;
    return SEQUENCE_NONE;
}

gboolean turn_entries_next(WendOutcomes *entries, const WendClass *class, TurnEntry *e)
{
    guint64 repeats;
    const gint64 *words;
    guint n;
    if (!entries || !outcomes_next_run(entries, &repeats, &words, &n) || n < TURN_WORDS
        || words[TURN_COUNT] < 0)
        return FALSE;
    e->sequence = thread_order_sequence(class, words[TURN_THREAD]);
    e->calls = words[TURN_CALLS];
    if (__builtin_mul_overflow((guint64)words[TURN_COUNT], repeats, &e->n))
        e->n = G_MAXUINT64;
    return TRUE;
}

/* The shape of the pseudo-calls of an order. */
static guint32 turn_shape(const WendProgram *p, guint number)
{
    const WendRule *rule = program_rule(p, number);
    while (rule->n > 0 && rule->symbols->is_rule)
        rule = program_rule(p, rule->symbols->id);
    return rule->n > 0 ? program_terminal(p, rule->symbols->id)->shape : G_MAXUINT32;
}

WendOutcomes *turn_entries_open(const WendProgram *p, guint rank, guint order)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    guint sequence = class->n_sequences + order;
    guint32 shape = turn_shape(p, class->sequences[sequence].rule);
    return shape != G_MAXUINT32 ? program_outcomes(p, rank, sequence, shape) : NULL;
}

/* The order goes on to the next turn that is not taken. */
static void settle(const RecordedTurns *t, RecordedOrder *o)
{
    for (TurnEntry e;;) {
        if (o->left > 0) {
            TurnTaker *taker = &o->takers[o->next];
            guint64 n = t->ended[o->next] ? o->left : MIN(taker->skipped, o->left);
            taker->skipped -= MIN(taker->skipped, n);
            o->left -= n;
            if (o->left > 0)
                return;
        }
        if (!turn_entries_next(o->entries, t->class, &e)) {
            g_clear_pointer(&o->entries, outcomes_free);
            o->next = SEQUENCE_NONE;
            return;
        }
        o->next = e.sequence;
        o->left = e.sequence != SEQUENCE_NONE ? e.n : 0;
    }
}

/* Learns who takes turns, and which from before the order: those in front of the entry without
 * turns. Goes behind it. FALSE: there is none. */
static gboolean begin_order(const RecordedTurns *t, RecordedOrder *o, const WendProgram *p,
                            guint rank, guint order)
{
    WendOutcomes *all = turn_entries_open(p, rank, order);
    gboolean found = FALSE;
    for (TurnEntry e; turn_entries_next(all, t->class, &e);) {
        TurnTaker *taker = e.sequence != SEQUENCE_NONE ? &o->takers[e.sequence] : NULL;
        if (e.n == 0)
            found = TRUE;
        else if (taker != NULL && e.calls > 0 && taker->first == G_MAXUINT64)
            taker->first = (guint64)e.calls - 1;
        if (!taker || found)
            continue;
        taker->before = e.n;
        taker->began_before = TRUE;
        o->before += e.n;
    }
    if (all != NULL)
        outcomes_free(all);
    if (!found)
        return FALSE;
    o->entries = turn_entries_open(p, rank, order);
    for (TurnEntry e; turn_entries_next(o->entries, t->class, &e) && e.n > 0;)
        ;
    settle(t, o);
    return TRUE;
}

guint64 recorded_turns_memory(const WendProgram *p, guint rank)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    return (guint64) class->n_orders
           * (sizeof(RecordedOrder) + 200 + (guint64) class->n_sequences * sizeof(TurnTaker));
}

RecordedTurns *recorded_turns_new(const WendProgram *p, guint rank, ThreadOrder *threads)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    if (class->n_orders == 0)
        return NULL;
    RecordedTurns *t = g_new0(RecordedTurns, 1);
    t->class = class;
    t->threads = threads;
    t->ended = g_new0(gboolean, class->n_sequences);
    t->orders = g_new0(RecordedOrder, class->n_orders);
    t->receives = g_hash_table_new(g_int64_hash, g_int64_equal);
    t->sends = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint i = 0; i < class->n_orders; i++) {
        const WendSequence *s = &class->sequences[class->n_sequences + i];
        RecordedOrder *o = &t->orders[t->n++];
        *o = (RecordedOrder){.kind = s->kind, .comm = s->id, .last = SEQUENCE_NONE};
        o->takers = g_new0(TurnTaker, class->n_sequences);
        for (guint q = 0; q < class->n_sequences; q++)
            o->takers[q].first = G_MAXUINT64;
        if (begin_order(t, o, p, rank, i))
            g_hash_table_insert(s->kind == WEND_SEQUENCE_SENDS ? t->sends : t->receives, &o->comm,
                                o);
    }
    return t;
}

void recorded_turns_free(RecordedTurns *t)
{
    if (!t)
        return;
    for (guint i = 0; i < t->n; i++) {
        g_free(t->orders[i].takers);
        g_clear_pointer(&t->orders[i].entries, outcomes_free);
    }
    g_hash_table_destroy(t->receives);
    g_hash_table_destroy(t->sends);
    g_free(t->orders);
    g_free(t->ended);
    g_free(t);
}

guint recorded_turns_orders(const RecordedTurns *t)
{
    return t != NULL ? t->n : 0;
}

guint recorded_turns_find(const RecordedTurns *t, WendSequenceKind kind, gint64 comm)
{
    const RecordedOrder *o =
        t != NULL ? g_hash_table_lookup(kind == WEND_SEQUENCE_SENDS ? t->sends : t->receives, &comm)
                  : NULL;
    return o != NULL ? (guint)(o - t->orders) : SEQUENCE_NONE;
}

gboolean recorded_turns_may(const RecordedTurns *t, guint order, guint sequence, guint64 calls)
{
    const RecordedOrder *o = &t->orders[order];
    const TurnTaker *taker = &o->takers[sequence];
    if (calls < taker->first || taker->before > 0)
        return TRUE;
    return o->before == 0 && (o->next == SEQUENCE_NONE || o->next == sequence);
}

/* SEQUENCE goes on after the turn before, and so after all turns before that. */
static void come_after(const RecordedTurns *t, const RecordedOrder *o, guint sequence)
{
    if (!t->threads)
        return;
    if (o->last != SEQUENCE_NONE) {
        thread_order_after(t->threads, sequence, o->last);
        return;
    }
    for (guint q = 0; q < t->class->n_sequences; q++)
        if (o->takers[q].began_before)
            thread_order_after(t->threads, sequence, q);
}

gboolean recorded_turns_take(RecordedTurns *t, guint order, guint sequence, guint64 calls)
{
    RecordedOrder *o = &t->orders[order];
    TurnTaker *taker = &o->takers[sequence];
    if (calls < taker->first)
        return FALSE;
    if (taker->before > 0) {
        taker->before--;
        return --o->before == 0;
    }
    if (o->next == sequence && o->before == 0) {
        come_after(t, o, sequence);
        o->last = sequence;
        o->left--;
        settle(t, o);
        return o->next != sequence;
    }
    taker->skipped += o->next != SEQUENCE_NONE;
    return FALSE;
}

void recorded_turns_end(RecordedTurns *t, guint sequence)
{
    if (!t)
        return;
    t->ended[sequence] = TRUE;
    for (guint i = 0; i < t->n; i++) {
        RecordedOrder *o = &t->orders[i];
        o->before -= o->takers[sequence].before;
        o->takers[sequence].before = 0;
        settle(t, o);
    }
}

guint recorded_turns_next(const RecordedTurns *t, guint order)
{
    return t->orders[order].before == 0 ? t->orders[order].next : SEQUENCE_NONE;
}
