/* SPDX-License-Identifier: BSD-3-Clause */
/* order-leftovers.c: finds by elimination what receives got whose status is not in the recording:
 * they were freed before they completed, for example.
 *
 * What was sent on a channel, less what the other receives got, is left for these. The n-th receive
 * of a channel, in the order of posting, gets the n-th message. So a message that such a receive
 * takes moves those of later receives, and each must still get one that was sent before it
 * completed. A message was sent after a point of the receiver if the sender had a message from
 * there before, or both had passed a barrier. If several channels remain, one of them is chosen. */
#include "order-parts.h"

#include <string.h>

#include "lib/base/lower-bound.h"

typedef struct {
    guint comm;
    gint64 source, tag; /* as posted, words of MPI_ANY_SOURCE and MPI_ANY_TAG included; or as got */
    /* the calls of its sequence that posted it and completed it; ANSWER_NEVER: it is not known to
     * have completed */
    guint64 posted, completed;
} PostedReceive;

/* A receive of which it is not recorded what it got. */
typedef struct {
    PostedReceive receive;
    OrderAnswer *answer;
} OpenReceive;

/* The messages of a channel to the receiver, and who got them. */
typedef struct {
    ChannelKey channel;
    /* guint64: by message, the call of the receiver that it was certainly sent after; 0: unknown.
     * They ascend. */
    GArray *sent;
    GArray *receives; /* PostedReceive, by posting once they are sorted */
} Messages;

typedef struct {
    const WendProgram *p;
    WendMembers *members;
    guint rank;
    Allowance *allowance; /* an archive may stand for any number of messages */
    gboolean full;        /* it is used up */
    gboolean one_thread;  /* so its calls have an order */
    CallPlans *plans;
    WendDecoder *decoder;
    MessageWords words;
    GHashTable *channels; /* Messages, its own key: to the rank */
    GHashTable *replies;  /* channel to another process -> GArray of guint64: calls that sent */
    GArray *barriers;     /* guint64: calls of the rank that no rank leaves before all have come */
    /* the receives of the rank: */
    AnswerRow *rows;      /* what is known, by sequence */
    RankAnswers *answers; /* which calls completed them */
    gsize receives;       /* that the sequence at hand has posted so far */
    GArray *open;         /* OpenReceive */
} Leftovers;

/* -- channels -- */

/* The channel between the receiver and PROCESS, a rank of the job, in one direction. */
static ChannelKey channel_with(guint process, guint comm, gint64 tag)
{
    return (ChannelKey){.comm = comm, .from = process, .tag = tag};
}

static void messages_free(gpointer data)
{
    Messages *m = data;
    g_array_unref(m->sent);
    g_array_unref(m->receives);
    g_free(m);
}

/* Bytes of a channel with its arrays and its entry in a table. */
enum { CHANNEL_MEMORY = sizeof(Messages) + 400 };

static void takes(Leftovers *l, gsize bytes)
{
    l->full = !allowance_take(l->allowance, 1, bytes) || l->full;
}

static Messages *messages_of(Leftovers *l, ChannelKey c)
{
    Messages *m = g_hash_table_lookup(l->channels, &c);
    if (!m) {
        takes(l, CHANNEL_MEMORY);
        m = g_new(Messages, 1);
        *m = (Messages){c, g_array_new(FALSE, FALSE, sizeof(guint64)),
                        g_array_new(FALSE, FALSE, sizeof(PostedReceive))};
        g_hash_table_insert(l->channels, &m->channel, m);
    }
    return m;
}

static GArray *replies_of(Leftovers *l, ChannelKey c)
{
    GArray *calls = g_hash_table_lookup(l->replies, &c);
    if (!calls) {
        takes(l, CHANNEL_MEMORY);
        calls = g_array_new(FALSE, FALSE, sizeof(guint64));
        g_hash_table_insert(l->replies, g_memdup2(&c, sizeof c), calls);
    }
    return calls;
}

/* -- what is sent -- */

/* A walk over the calls of one sequence. */
typedef struct {
    guint rank, sequence;
    gboolean ordered; /* it is known what the sequence had received before a call */
    WendWalk *walk;
    guint64 after; /* the call of the receiver that it certainly comes after */
    gsize barriers;
    GHashTable *got; /* channel from the receiver -> number of messages, as a pointer */
} Sender;

/* The process that is PEER in the communicator of the word COMM, whose number becomes *NUMBER. -1:
 * none, or unknown. */
static gint process_in(const Leftovers *l, const Sender *s, gint64 comm, gint64 peer, guint *number)
{
    *number = comm != WEND_ABSENT ? members_of_walk(l->members, s->walk, s->rank, comm)
                                  : WEND_COMM_UNKNOWN;
    return *number == WEND_COMM_UNKNOWN || peer < 0
               ? -1
               : members_process(l->members, *number, s->rank, peer);
}

/* The channel of a send; process: the destination. FALSE: it is none, or unknown. */
static gboolean channel_of_send(const Leftovers *l, const Sender *s, const CallMaker *maker,
                                ChannelKey *c)
{
    const CallPlan *plan = maker->plan;
    if (!plan->sends || plan->partitioned)
        return FALSE;
    guint comm;
    gint process = process_in(l, s, call_plan_word(maker->call, plan->comm),
                              call_plan_word(maker->call, plan->dest), &comm);
    *c = channel_with((guint)process, comm, call_plan_word(maker->call, plan->send_tag));
    return process >= 0;
}

static void append(Leftovers *l, GArray *calls, guint64 index)
{
    takes(l, 2 * sizeof index); /* arrays grow by doubling */
    if (!l->full)
        g_array_append_val(calls, index);
}

static void sent(Leftovers *l, const Sender *s, const CallMaker *maker, guint64 index)
{
    ChannelKey c;
    if (!channel_of_send(l, s, maker, &c))
        return;
    if (s->rank == l->rank)
        append(l, replies_of(l, c), index);
    guint64 after = s->ordered && s->rank == l->rank ? index : s->after;
    if (c.from == l->rank)
        append(l, messages_of(l, channel_with(s->rank, c.comm, c.tag))->sent, after);
}

/* A send was cancelled in time. */
static void unsent(Leftovers *l, const Sender *s, const CallMaker *maker)
{
    ChannelKey c;
    if (!channel_of_send(l, s, maker, &c) || c.from != l->rank)
        return;
    GArray *all = messages_of(l, channel_with(s->rank, c.comm, c.tag))->sent;
    if (all->len > 0)
        g_array_set_size(all, all->len - 1);
}

/* -- what a sender knew -- */

/* The sender has got a message with the arguments of MAKER, the receive. As many as it has got on a
 * channel were sent by then. */
static void note_known(Leftovers *l, Sender *s, const CallMaker *maker, const gint64 *status)
{
    guint number;
    if (!s->ordered || s->rank == l->rank || (status[3] & 1)
        || process_in(l, s, call_plan_word(maker->call, maker->plan->comm), status[0], &number)
               != (gint)l->rank)
        return;
    ChannelKey c = channel_with(s->rank, number, status[1]);
    const GArray *calls = g_hash_table_lookup(l->replies, &c);
    gsize n = GPOINTER_TO_SIZE(g_hash_table_lookup(s->got, &c));
    g_hash_table_replace(s->got, g_memdup2(&c, sizeof c), GSIZE_TO_POINTER(n + 1));
    if (calls && n < calls->len)
        s->after = MAX(s->after, g_array_index(calls, guint64, n));
}

/* Whether no rank leaves the call before all have come to it. */
static gboolean is_barrier(const Leftovers *l, const Sender *s, const CallPlan *plan,
                           const WendCall *call)
{
    gint64 comm = call_plan_word(call, plan->comm);
    if (plan->request_made >= 0 || comm == WEND_ABSENT
        || call_plan_sync(plan, s->walk, call) != WEND_SYNC_ALL)
        return FALSE;
    guint number = members_of_walk(l->members, s->walk, s->rank, comm);
    return number != WEND_COMM_UNKNOWN && members_all(l->members, number, s->rank);
}

static void barrier(Leftovers *l, Sender *s, guint64 index)
{
    if (s->rank == l->rank)
        append(l, l->barriers, index);
    else if (s->barriers < l->barriers->len)
        s->after = MAX(s->after, g_array_index(l->barriers, guint64, s->barriers));
    s->barriers++;
}

/* -- what is received -- */

/* The process that is SOURCE in a communicator. -1: none, or unknown. */
static gint process_of(const Leftovers *l, guint comm, gint64 source)
{
    return comm == WEND_COMM_UNKNOWN || source < 0
               ? -1
               : members_process(l->members, comm, l->rank, source);
}

/* R got the message of STATUS, if that is known; else one from where it names. */
static void take(Leftovers *l, PostedReceive r, const gint64 *status)
{
    if (status) {
        r.source = status[0];
        r.tag = status[1];
    }
    gint process = process_of(l, r.comm, r.source);
    takes(l, process >= 0 ? 2 * sizeof r : 0);
    if (process >= 0 && !l->full)
        g_array_append_val(messages_of(l, channel_with((guint)process, r.comm, r.tag))->receives,
                           r);
}

/* The receive that CALL posts, with the arguments of MAKER. */
static PostedReceive receive_of(const Leftovers *l, const Sender *s, const WendCall *call,
                                const CallMaker *maker)
{
    const CallPlan *plan = maker->plan;
    guint comm =
        members_of_walk(l->members, s->walk, l->rank, call_plan_word(maker->call, plan->comm));
    return (PostedReceive){comm, call_plan_word(maker->call, plan->source),
                           call_plan_word(maker->call, plan->receive_tag), call->index,
                           ANSWER_NEVER};
}

static void posted(Leftovers *l, const Sender *s, const WendCall *call, const CallMaker *maker)
{
    const AnswerRow *row = &l->rows[s->sequence];
    Answer answer;
    do {
        if (!answers_next(l->answers, s->sequence, &answer))
            return;
    } while (answer.is_send);
    if (l->receives >= row->n)
        return;
    PostedReceive r = receive_of(l, s, call, maker);
    OrderAnswer *known = &row->at[l->receives++];
    gint64 status[] = {known->source, known->tag};
    r.completed = answer.completed_by;
    if (known->kind > ORDER_ANSWER_NONE)
        g_array_append_val(l->open, ((OpenReceive){r, known}));
    else if (known->kind != ORDER_ANSWER_NONE)
        take(l, r, known->kind == ORDER_ANSWER_MATCHED ? status : NULL);
}

/* A receive that waits, or a matched probe, got a message. */
static void received(Leftovers *l, const Sender *s, const CallMaker *self)
{
    const WendCall *call = self->call;
    const gint64 *status = call->failed ? NULL : call_plan_status(self->plan, call);
    gint64 truncated[4];
    PostedReceive r = receive_of(l, s, call, self);
    r.completed = call->index;
    if (status && !word_is_special(status[0]) && !word_is_special(status[1]))
        take(l, r, status);
    else if (answers_has_status(call))
        take(l, r, answers_truncated(call, self, truncated) ? truncated : NULL);
}

/* Whether a call that looks for messages took one. */
static gboolean has_taken(const WendCall *call, const CallPlan *plan)
{
    const WendArg *made = plan->message_made >= 0 ? &call->args[plan->message_made] : NULL;
    return made && made->n_out > 0 && made->out && word_is_handle(made->out[0]);
}

static void walk_receives(Leftovers *l, const Sender *s, const WendCall *call)
{
    const CallMaker self = {call, call_plans_of(l->plans, call)};
    const CallPlan *plan = self.plan;
    if (!plan || plan->persistent)
        return;
    if (plan->receives && plan->request_made < 0)
        received(l, s, &self);
    else if (call->failed)
        return;
    else if (plan->probes && !call->poll && has_taken(call, plan))
        received(l, s, &self);
    else if (call_plan_posts_receive(plan))
        posted(l, s, call, &self);
    const WendArg *requests = plan->starts ? &call->args[plan->requests] : NULL;
    for (gint64 i = 0; requests && i < requests->n_in; i++) {
        CallMaker maker = call_maker(l->plans, s->walk, l->decoder, l->rank, requests->in[i]);
        if (maker.call && call_plan_posts_receive(maker.plan))
            posted(l, s, call, &maker);
    }
}

/* -- the walks -- */

static void walk_completions(Leftovers *l, Sender *s, const WendCall *call)
{
    guint n;
    const gint64 *completed = walk_completed(s->walk, &n);
    for (guint i = 0; i < n; i++) {
        const gint64 *status = call_status_of(call, completed, i);
        CallMaker maker = {NULL, NULL};
        if (status)
            maker = call_maker(l->plans, s->walk, l->decoder, s->rank, completed[i]);
        if (maker.call && maker.plan->sends && (status[3] & 1))
            unsent(l, s, &maker);
        else if (maker.call)
            note_known(l, s, &maker, status);
    }
}

static void each_start(Leftovers *l, const Sender *s, const WendCall *call, const WendArg *requests)
{
    for (gint64 i = 0; i < requests->n_in; i++) {
        CallMaker maker = call_maker(l->plans, s->walk, l->decoder, s->rank, requests->in[i]);
        if (maker.call)
            sent(l, s, &maker, call->index);
    }
}

static void walk_call(Leftovers *l, Sender *s, const WendCall *call)
{
    const CallMaker self = {call, call_plans_of(l->plans, call)};
    const CallPlan *plan = self.plan;
    if (!plan)
        return;
    walk_completions(l, s, call);
    const gint64 *status = plan->receives ? call_plan_status(plan, call) : NULL;
    if (status)
        note_known(l, s, &self, status);
    if (plan->sends && !plan->persistent)
        sent(l, s, &self, call->index);
    if (plan->starts)
        each_start(l, s, call, &call->args[plan->requests]);
    if (s->ordered && is_barrier(l, s, plan, call))
        barrier(l, s, call->index);
}

static gboolean has_one_thread(const WendClass *class)
{
    guint threads = 0;
    for (guint q = 0; q < class->n_sequences; q++)
        threads += class->sequences[q].kind == WEND_SEQUENCE_THREAD;
    return threads == 1;
}

static void walk(Leftovers *l, guint rank)
{
    const WendClass *class = program_class(l->p, program_class_of(l->p, rank));
    gboolean one_thread = has_one_thread(class);
    for (guint q = 0; q < class->n_sequences; q++) {
        gboolean is_thread = class->sequences[q].kind == WEND_SEQUENCE_THREAD;
        Sender s = {.rank = rank,
                    .sequence = q,
                    .ordered = one_thread && is_thread && l->one_thread,
                    .walk = walk_new(l->p, rank, q, WEND_WALK_MAIN),
                    .got =
                        g_hash_table_new_full(channel_key_hash, channel_key_equal, g_free, NULL)};
        const WendCall *call;
        l->receives = 0;
        while (!l->full && (call = walk_next(s.walk))) {
            if (rank == l->rank)
                walk_receives(l, &s, call);
            if (!call->failed)
                walk_call(l, &s, call);
        }
        g_hash_table_unref(s.got);
        walk_free(s.walk);
    }
}

/* -- what is left -- */

static int by_channel(const void *a, const void *b)
{
    const ChannelKey *x = &(*(Messages *const *)a)->channel, *y = &(*(Messages *const *)b)->channel;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->tag < y->tag ? -1 : x->tag > y->tag;
}

static int by_posting(const void *a, const void *b)
{
    const PostedReceive *x = a, *y = b;
    return x->posted < y->posted ? -1 : x->posted > y->posted;
}

/* The channels on which messages are left, in a fixed order. */
static GPtrArray *channels_left(const Leftovers *l)
{
    GPtrArray *all = g_ptr_array_new();
    GHashTableIter i;
    gpointer value;
    g_hash_table_iter_init(&i, l->channels);
    while (g_hash_table_iter_next(&i, NULL, &value)) {
        Messages *m = value;
        if (m->receives->len >= m->sent->len)
            continue;
        g_array_sort(m->receives, by_posting);
        g_ptr_array_add(all, m);
    }
    g_ptr_array_sort(all, by_channel);
    return all;
}

/* Where R stands among the receives of M. */
static guint place_of(const Messages *m, const PostedReceive *r)
{
    return LOWER_BOUND(i, m->receives->len,
                       g_array_index(m->receives, PostedReceive, i).posted <= r->posted);
}

static gboolean came_in_time(const Messages *m, guint message, guint64 completed)
{
    return message < m->sent->len && g_array_index(m->sent, guint64, message) <= completed;
}

/* Whether R may have got a message of M: the envelope fits, and R and the receives behind it get
 * messages in time. */
static gboolean may_have_got(const Leftovers *l, const PostedReceive *r, const Messages *m)
{
    const ChannelKey *c = &m->channel;
    guint at = place_of(m, r);
    gboolean may =
        r->comm == c->comm && (r->tag == l->words.any_tag || r->tag == c->tag)
        && (r->source == l->words.any_source || process_of(l, r->comm, r->source) == (gint)c->from)
        && m->receives->len < m->sent->len && came_in_time(m, at, r->completed);
    for (guint i = at; may && i < m->receives->len; i++) {
        guint64 completed = g_array_index(m->receives, PostedReceive, i).completed;
        may = came_in_time(m, i + 1, completed) || !came_in_time(m, i, completed);
    }
    return may;
}

/* One of the receives that want a message. */
typedef struct {
    guint index, choices;
    gboolean completed;
} Wanting;

/* Those that certainly got one first, and of these the ones with fewer choices. */
static int by_choices(const void *a, const void *b)
{
    const Wanting *x = a, *y = b;
    if (x->completed != y->completed)
        return x->completed ? -1 : 1;
    if (x->choices != y->choices)
        return x->choices < y->choices ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static GArray *in_order(const Leftovers *l, GPtrArray *all, const PostedReceive *wanted, guint n)
{
    GArray *order = g_array_new(FALSE, FALSE, sizeof(Wanting));
    for (guint i = 0; i < n; i++) {
        Wanting w = {i, 0, wanted[i].completed != ANSWER_NEVER};
        for (guint k = 0; k < all->len; k++)
            w.choices += may_have_got(l, &wanted[i], all->pdata[k]);
        g_array_append_val(order, w);
    }
    g_array_sort(order, by_choices);
    return order;
}

/* The channel whose message was sent first, as far as that is known. NULL: none. */
static Messages *choose(const Leftovers *l, GPtrArray *all, const PostedReceive *r)
{
    Messages *best = NULL;
    guint64 least = G_MAXUINT64;
    for (guint k = 0; k < all->len; k++) {
        Messages *m = all->pdata[k];
        if (!may_have_got(l, r, m))
            continue;
        guint64 after = g_array_index(m->sent, guint64, place_of(m, r));
        if (!best || after < least) {
            best = m;
            least = after;
        }
    }
    return best;
}

/* The rank in a communicator that PROCESS has for the receiver. */
static gint64 source_of(const Leftovers *l, const ChannelKey *c)
{
    gint64 n = members_size(l->members, c->comm, l->rank);
    for (gint64 source = 0; source < n; source++)
        if (process_of(l, c->comm, source) == (gint)c->from)
            return source;
    return -1;
}

/* Gives messages that are left to N receives. GOT[i] becomes whether receive i gets one, and
 * WANTED[i] then has its source and tag. Those that are known to have completed come first. */
static void give(Leftovers *l, PostedReceive *wanted, gboolean *got, guint n)
{
    g_autoptr(GPtrArray) all = channels_left(l);
    g_autoptr(GArray) order = in_order(l, all, wanted, n);
    for (guint i = 0; i < n; i++) {
        guint who = g_array_index(order, Wanting, i).index;
        PostedReceive *r = &wanted[who];
        Messages *m = choose(l, all, r);
        gint64 source = m ? source_of(l, &m->channel) : -1;
        got[who] = source >= 0;
        if (!got[who])
            continue;
        g_array_insert_val(m->receives, place_of(m, r), *r);
        r->source = source;
        r->tag = m->channel.tag;
    }
}

/* Takes the open receives whose kind is KIND. */
static void collect(const Leftovers *l, gint32 kind, GArray *wanted, GPtrArray *answers)
{
    for (guint i = 0; i < l->open->len; i++) {
        const OpenReceive *o = &g_array_index(l->open, OpenReceive, i);
        if (o->answer->kind == kind) {
            g_array_append_val(wanted, o->receive);
            g_ptr_array_add(answers, o->answer);
        }
    }
}

/* Those that completed got a message; others perhaps. */
static void give_all(Leftovers *l)
{
    g_autoptr(GArray) wanted = g_array_new(FALSE, FALSE, sizeof(PostedReceive));
    g_autoptr(GPtrArray) answers = g_ptr_array_new();
    collect(l, ORDER_ANSWER_UNKNOWN, wanted, answers);
    collect(l, ORDER_ANSWER_FREED, wanted, answers);
    collect(l, ORDER_ANSWER_PENDING, wanted, answers);
    g_autofree gboolean *got = g_new0(gboolean, wanted->len + 1);
    give(l, (PostedReceive *)(gpointer)wanted->data, got, wanted->len);
    for (guint i = 0; i < wanted->len; i++) {
        const PostedReceive *r = &g_array_index(wanted, PostedReceive, i);
        const Answer answer = {.kind = ANSWER_MATCHED, .source = r->source, .tag = r->tag};
        if (got[i])
            *(OrderAnswer *)answers->pdata[i] = order_answers_answer(&answer);
    }
}

gboolean order_leftovers_give(const WendProgram *p, CallPlans *plans, guint rank, guint flags,
                              AnswerRow *receives, Allowance *allowance)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    Leftovers l = {
        .p = p,
        .members = members_new(p),
        .rank = rank,
        .allowance = allowance,
        .one_thread = has_one_thread(class),
        .plans = plans,
        .decoder = decoder_new(p),
        .words = call_plan_message_words(),
        .channels = g_hash_table_new_full(channel_key_hash, channel_key_equal, NULL, messages_free),
        .replies = g_hash_table_new_full(channel_key_hash, channel_key_equal, g_free,
                                         (GDestroyNotify)g_array_unref),
        .barriers = g_array_new(FALSE, FALSE, sizeof(guint64)),
        .rows = receives,
        .answers = answers_new(p, plans, rank, flags | ANSWERS_COMPLETIONS, G_MAXUINT, allowance),
        .open = g_array_new(FALSE, FALSE, sizeof(OpenReceive))};
    walk(&l, rank); /* first, as others refer to its calls */
    for (guint r = 0; r < program_ranks(p); r++)
        if (r != rank)
            walk(&l, r);
    gboolean good = !l.full && !allowance_error(allowance, "", NULL);
    if (good)
        give_all(&l);
    g_hash_table_unref(l.channels);
    g_hash_table_unref(l.replies);
    g_array_unref(l.barriers);
    answers_free(l.answers);
    g_array_unref(l.open);
    decoder_free(l.decoder);
    members_free(l.members);
    return good;
}
