/* SPDX-License-Identifier: BSD-3-Clause */
/* order-turns.c: finds the channel of each turn, and its number there.
 *
 * The recording has the order of turns on each communicator (src/tracer/objects/turns.h). MPI keeps
 * messages in order on each channel only: one source (or destination) and tag. So a turn waits for
 * the turns before it on its channel, and for none of other channels. A channel of one thread needs
 * no order. The rule by which a call takes turns is that of the wrappers (spec/wrappers.py,
 * Wrapper.turns). */
#include "order-parts.h"

#include <string.h>

#include "lib/base/containers.h"

enum { NONE = -1 };

/* A turn of a sequence. */
typedef struct {
    guint64 call; /* MPI calls of the sequence before this one */
    gint64 next;  /* of the same order in the sequence; NONE: the last */
    gint64 number;
    gint32 order;      /* NONE: its order was not recorded */
    gint32 peer, tag;  /* of the message */
    gint32 channel;    /* NONE: so far */
    gboolean is_known; /* peer and tag are */
} OrderTurn;

/* An order: receives or sends on one communicator. */
typedef struct {
    WendSequenceKind kind;
    gint64 comm;
    gint64 *next; /* by sequence: its next turn of this order; NONE: there is none */
    gint64 *last;
} TurnOrder;

typedef struct {
    gint32 number;  /* among those of several threads; NONE: one thread has it alone */
    guint sequence; /* of the first turn */
    gboolean is_shared;
    gint64 turns;
} TurnChannel;

struct OrderTurns {
    const WendProgram *p;
    const WendClass *class;
    const OrderAnswers *answers;
    Allowance *allowance;
    guint rank;
    TurnOrder *orders;
    GArray **turns; /* OrderTurn, by sequence */
    GArray *channels;
    Map *channel_of;     /* order, peer and tag -> its number */
    guint64 n_channels;  /* of several threads */
    WendStream *streams; /* by sequence */
    CallPlans *plans;
    MessageWords words;
    gint64 world, self;
    gboolean full; /* there are more turns or channels than the allowance has memory for */
};

/* Bytes of a thing in an array that grows, and of a channel with its entry in the table. */
enum { TURN_MEMORY = 2 * sizeof(OrderTurn), CHANNEL_MEMORY = 3 * sizeof(TurnChannel) + 100 };

/* -- the turns of a sequence -- */

static gint32 order_of(const OrderTurns *t, WendSequenceKind kind, gint64 comm)
{
    for (guint i = 0; i < t->class->n_orders; i++)
        if (t->orders[i].kind == kind && t->orders[i].comm == comm)
            return (gint32)i;
    return NONE;
}

static void add_turn(OrderTurns *t, guint sequence, gint64 comm, WendSequenceKind kind,
                     OrderTurn turn)
{
    GArray *turns = t->turns[sequence];
    if (turns->len >= G_MAXINT32 || !allowance_take(t->allowance, 1, TURN_MEMORY)) {
        t->full = TRUE;
        return;
    }
    turn.order = order_of(t, kind, comm);
    turn.channel = NONE;
    turn.next = NONE;
    if (turn.order != NONE) {
        TurnOrder *o = &t->orders[turn.order];
        if (o->last[sequence] == NONE)
            o->next[sequence] = turns->len;
        else
            g_array_index(turns, OrderTurn, o->last[sequence]).next = turns->len;
        o->last[sequence] = turns->len;
    }
    g_array_append_val(turns, turn);
}

/* The communicator, if threads take turns there. */
static gboolean comm_of(const OrderTurns *t, const CallMaker *of, gint64 *comm)
{
    *comm = call_plan_word(of->call, of->plan->comm);
    return word_is_handle(*comm) || *comm == t->world || *comm == t->self;
}

static gboolean is_small(gint64 word)
{
    return !word_is_special(word) && word == (gint32)word;
}

/* Peer and tag as the words of the arguments say. */
static OrderTurn as_posted(gint64 peer, gint64 tag, guint64 index)
{
    gboolean known = is_small(peer) && is_small(tag);
    return (OrderTurn){.call = index,
                       .peer = known ? (gint32)peer : 0,
                       .tag = known ? (gint32)tag : 0,
                       .is_known = known};
}

/* The message that a receive with a request gets, or its place if it is named. */
static OrderTurn answered(const OrderTurns *t, guint sequence, gsize posting, OrderTurn posted)
{
    const OrderAnswer *answer = order_answer(t->answers, sequence, posting);
    if (answer && answer->kind == ORDER_ANSWER_NONE)
        posted.is_known = FALSE;
    if (answer && answer->kind == ORDER_ANSWER_MATCHED) {
        posted.peer = answer->source;
        posted.tag = answer->tag;
        posted.is_known = TRUE;
    }
    return posted;
}

/* The same for a call that has the status. */
static OrderTurn received(const CallMaker *of, OrderTurn posted)
{
    gint64 truncated[4];
    const gint64 *status = of->call->failed ? NULL : call_plan_status(of->plan, of->call);
    if (of->plan->status >= 0 && answers_truncated(of->call, of, truncated))
        status = truncated;
    return posted.is_known || !status ? posted : as_posted(status[0], status[1], posted.call);
}

/* A walk of a sequence, a decoder for the calls that made its requests, and what came so far. */
typedef struct {
    guint sequence;
    WendWalk *walk;
    WendDecoder *decoder;
    guint64 calls;
    gsize postings; /* of receives */
} Following;

static void add_receive(OrderTurns *t, const Following *f, const CallMaker *of)
{
    gint64 comm, source = call_plan_word(of->call, of->plan->source);
    if (source == t->words.proc_null || !comm_of(t, of, &comm))
        return;
    OrderTurn turn = as_posted(source, call_plan_word(of->call, of->plan->receive_tag), f->calls);
    if (!call_plan_posts_receive(of->plan))
        turn = received(of, turn);
    else if (!of->call->failed)
        turn = answered(t, f->sequence, f->postings, turn);
    add_turn(t, f->sequence, comm, WEND_SEQUENCE_RECEIVES, turn);
}

static void add_send(OrderTurns *t, const Following *f, const CallMaker *of)
{
    gint64 comm, dest = call_plan_word(of->call, of->plan->dest);
    if (dest != t->words.proc_null && comm_of(t, of, &comm))
        add_turn(t, f->sequence, comm, WEND_SEQUENCE_SENDS,
                 as_posted(dest, call_plan_word(of->call, of->plan->send_tag), f->calls));
}

/* A persistent request that CALL starts. */
static void add_start(OrderTurns *t, Following *f, const WendCall *call, const CallMaker *maker)
{
    gint64 comm;
    if (!maker->call)
        return;
    const CallPlan *plan = maker->plan;
    gboolean receives = plan->receives;
    gint64 peer = call_plan_word(maker->call, receives ? plan->source : plan->dest),
           tag = call_plan_word(maker->call, receives ? plan->receive_tag : plan->send_tag);
    gboolean has_turn = (receives || plan->sends) && peer != t->words.proc_null
                        && !plan->partitioned && comm_of(t, maker, &comm);
    OrderTurn turn = as_posted(peer, tag, f->calls);
    if (receives && !call->failed)
        turn = answered(t, f->sequence, f->postings++, turn);
    if (has_turn)
        add_turn(t, f->sequence, comm, receives ? WEND_SEQUENCE_RECEIVES : WEND_SEQUENCE_SENDS,
                 turn);
}

static void add_call(OrderTurns *t, Following *f, const WendCall *call)
{
    const CallMaker self = {call, call_plans_of(t->plans, call)};
    const CallPlan *plan = self.plan;
    if (!plan || (plan->persistent && !plan->starts))
        return;
    const WendArg *requests = plan->starts ? &call->args[plan->requests] : NULL;
    for (gint64 i = 0; requests && i < requests->n_in; i++) {
        CallMaker maker = call_maker(t->plans, f->walk, f->decoder, t->rank, requests->in[i]);
        add_start(t, f, call, &maker);
    }
    if (plan->receives || plan->probes)
        add_receive(t, f, &self);
    if (plan->sends)
        add_send(t, f, &self);
    f->postings += !call->failed && call_plan_posts_receive(plan);
}

static void follow(OrderTurns *t, guint sequence)
{
    Following f = {.sequence = sequence,
                   .walk = walk_new(t->p, t->rank, sequence, WEND_WALK_MAIN),
                   .decoder = decoder_new(t->p)};
    const WendCall *call;
    while (!t->full && (call = walk_next(f.walk))) {
        if (call->function->flags & WEND_F_PSEUDO)
            continue;
        add_call(t, &f, call);
        f.calls++;
    }
    decoder_free(f.decoder);
    walk_free(f.walk);
}

/* -- their order -- */

static void put_in_order(OrderTurns *t, guint sequence, OrderTurn *turn)
{
    const gint32 key[] = {turn->order, turn->peer, turn->tag};
    bool is_new;
    if (!turn->is_known)
        return;
    guint number = map_number(t->channel_of, key, sizeof key, &is_new);
    if (is_new) {
        const TurnChannel channel = {NONE, sequence, FALSE, 0};
        t->full |= !allowance_take(t->allowance, 1, CHANNEL_MEMORY);
        g_array_append_val(t->channels, channel);
    }
    TurnChannel *c = &g_array_index(t->channels, TurnChannel, number);
    c->is_shared |= c->sequence != sequence;
    turn->channel = (gint32)number;
    turn->number = c->turns++;
}

/* Takes the turns of E. */
static void take_turns(OrderTurns *t, guint order, const TurnEntry *e)
{
    guint q = e->sequence;
    TurnOrder *o = &t->orders[order];
    if (q == SEQUENCE_NONE)
        return;
    GArray *turns = t->turns[q];
    while (e->calls > 0 && o->next[q] != NONE
           && g_array_index(turns, OrderTurn, o->next[q]).call < (guint64)e->calls - 1)
        o->next[q] = g_array_index(turns, OrderTurn, o->next[q]).next;
    for (guint64 n = e->n; n > 0 && o->next[q] != NONE; n--) {
        OrderTurn *turn = &g_array_index(turns, OrderTurn, o->next[q]);
        put_in_order(t, q, turn);
        o->next[q] = turn->next;
    }
}

static void read_order(OrderTurns *t, guint order)
{
    WendOutcomes *entries = turn_entries_open(t->p, t->rank, order);
    /* each has a turn, or is the first of a thread, or ends what was before the order */
    guint64 left = 2;
    for (guint q = 0; q < t->class->n_sequences; q++)
        left += t->turns[q]->len + 1;
    for (TurnEntry e; left > 0 && turn_entries_next(entries, t->class, &e); left--)
        take_turns(t, order, &e);
    if (entries)
        outcomes_free(entries);
}

/* -- the result -- */

static gboolean make_stream(OrderTurns *t, guint sequence)
{
    const GArray *turns = t->turns[sequence];
    WendStream *s = &t->streams[sequence];
    gsize taken = 0;
    s->flat = TRUE;
    for (guint i = 0; i < turns->len; i++) {
        const OrderTurn *turn = &g_array_index(turns, OrderTurn, i);
        const TurnChannel *c =
            turn->channel == NONE ? NULL : &g_array_index(t->channels, TurnChannel, turn->channel);
        gboolean is_shared = c && c->is_shared;
        gint64 words[ORDER_TURN_WORDS] = {is_shared ? c->number : NONE,
                                          is_shared ? turn->number : 0};
        if (!stream_add_run(s, words, ORDER_TURN_WORDS, 1)
            || !order_answers_admit(t->allowance, s, &taken))
            return FALSE;
    }
    return TRUE;
}

static void number_channels(OrderTurns *t)
{
    for (guint i = 0; i < t->channels->len; i++) {
        TurnChannel *c = &g_array_index(t->channels, TurnChannel, i);
        if (c->is_shared)
            c->number = (gint32)t->n_channels++;
    }
}

static void prepare(OrderTurns *t)
{
    guint n = t->class->n_sequences;
    t->plans = call_plans_new(t->p);
    t->words = call_plan_message_words();
    t->world = program_constant_word("MPI_COMM_WORLD");
    t->self = program_constant_word("MPI_COMM_SELF");
    t->channels = g_array_new(FALSE, FALSE, sizeof(TurnChannel));
    t->channel_of = map_of_bytes(NULL);
    t->turns = g_new0(GArray *, n + 1);
    t->streams = g_new0(WendStream, n + 1);
    for (guint q = 0; q < n; q++)
        t->turns[q] = g_array_new(FALSE, FALSE, sizeof(OrderTurn));
    t->orders = g_new0(TurnOrder, t->class->n_orders);
    for (guint i = 0; i < t->class->n_orders; i++) {
        const WendSequence *s = &t->class->sequences[n + i];
        t->orders[i] = (TurnOrder){s->kind, s->id, g_new(gint64, n + 1), g_new(gint64, n + 1)};
        for (guint q = 0; q < n; q++)
            t->orders[i].next[q] = t->orders[i].last[q] = NONE;
    }
}

OrderTurns *order_turns(const WendProgram *p, guint rank, Allowance *allowance,
                        const OrderAnswers *answers)
{
    OrderTurns *t = g_new0(OrderTurns, 1);
    t->p = p;
    t->rank = rank;
    t->answers = answers;
    t->allowance = allowance;
    t->class = program_class(p, program_class_of(p, rank));
    if (t->class->n_orders == 0)
        return t;
    prepare(t);
    for (guint q = 0; !t->full && q < t->class->n_sequences; q++)
        follow(t, q);
    for (guint i = 0; !t->full && i < t->class->n_orders; i++)
        read_order(t, i);
    number_channels(t);
    gboolean good = !t->full;
    for (guint q = 0; good && t->n_channels && q < t->class->n_sequences; q++)
        good = make_stream(t, q);
    if (good)
        return t;
    order_turns_free(t);
    return NULL;
}

WendStream *order_turns_of(const OrderTurns *t, guint sequence)
{
    return t->n_channels && t->streams[sequence].entries ? &t->streams[sequence] : NULL;
}

guint64 order_turns_channels(const OrderTurns *t)
{
    return t->n_channels;
}

void order_turns_free(OrderTurns *t)
{
    for (guint q = 0; t->turns && q < t->class->n_sequences; q++) {
        g_array_unref(t->turns[q]);
        stream_clear(&t->streams[q]);
    }
    for (guint i = 0; t->orders && i < t->class->n_orders; i++) {
        g_free(t->orders[i].next);
        g_free(t->orders[i].last);
    }
    if (t->channels)
        g_array_unref(t->channels);
    if (t->channel_of)
        map_unref(t->channel_of);
    if (t->plans)
        call_plans_free(t->plans);
    g_free(t->orders);
    g_free(t->turns);
    g_free(t->streams);
    g_free(t);
}
