/* SPDX-License-Identifier: BSD-3-Clause */
/* messages.c: which send met which receive, on simulated ranks.
 *
 * Random programs run here by MPI's rules, with any order of what ranks do at the same time. What
 * met what is known then, and compared with what lib/analysis/matching.h finds in the recording. */
#include "config.h"

#include "recorded.h"

#include <glib.h>
#include <string.h>
#include <sys/resource.h>

#include "../../lib/analysis/matching.h"
#include "../../lib/base/error.h"

enum { DOUBLE = 8, NOBODY = -1 };

static gint64 any_source, any_tag;

/* -- reading -- */

typedef struct {
    WendProgram *program;
    WendMembers *members;
    Matching *messages;
} Reading;

static Reading reading(const char *dir, guint flags, guint64 memory)
{
    Error *error = NULL;
    Reading r = {.program = program_open(dir, &error)};
    g_assert_null(error);
    r.members = members_new(r.program);
    r.messages = matching_new(r.program, r.members, flags, memory);
    return r;
}

static void reading_end(Reading *r)
{
    matching_free(r->messages);
    members_free(r->members);
    program_free(r->program);
}

static char *record_all(GPtrArray *ranks)
{
    return record(ranks, NULL, NULL);
}

/* -- calls -- */

static void wait_one(SimulatedRank *r, SimulatedSequence *s, gint64 request, gint64 source,
                     gint64 tag, gint64 bytes, gint64 flags)
{
    call(s, "MPI_Wait");
    shape(s, request);
    shape(s, 1);
    outcome(s, source);
    outcome(s, tag);
    outcome(s, bytes);
    outcome(s, flags);
    end(r, s, 1e-6);
    release(s, request);
}

static void barrier(SimulatedRank *r, SimulatedSequence *s)
{
    call(s, "MPI_Barrier");
    slot(s, r->rank);
    shape(s, constant("MPI_COMM_WORLD"));
    end(r, s, 1e-6);
}

static void cancel(SimulatedRank *r, SimulatedSequence *s, gint64 request)
{
    call(s, "MPI_Cancel");
    shape(s, request);
    end(r, s, 1e-6);
}

static GPtrArray *new_ranks(guint n)
{
    GPtrArray *ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint i = 0; i < n; i++) {
        SimulatedRank *r = simulated_new(i, n, FALSE);
        simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
        g_ptr_array_add(ranks, r);
    }
    return ranks;
}

static SimulatedRank *rank_at(GPtrArray *ranks, guint i)
{
    return g_ptr_array_index(ranks, i);
}

static SimulatedSequence *calls_of(GPtrArray *ranks, guint i)
{
    return g_ptr_array_index(rank_at(ranks, i)->sequences, 0);
}

/* -- random programs -- */

typedef struct {
    guint from, to;
    gint64 tag, count; /* of doubles: the number of the message, + 1 */
    guint64 call;
} Model;
typedef struct {
    gint64 source, tag; /* as posted */
    gint64 request;     /* NOBODY: blocking */
    guint64 call, completed;
    const Model *got; /* NULL: nothing yet */
    gboolean done;
} Posted;
typedef struct {
    GArray *posted;     /* Posted; those that have got nothing take messages in this order */
    GPtrArray *arrived; /* Model: not taken, in order */
    guint64 calls, barriers, at_barrier;
    gboolean waits; /* in the blocking receive that was posted last */
} ModelRank;

enum { MODEL_TAGS = 3, MODEL_OPEN = 6, MODEL_FAR = 8, MODEL_COUNT = 1 << 20 };

static gboolean fits(const Posted *p, const Model *m)
{
    return (p->source == any_source || p->source == (gint64)m->from)
           && (p->tag == any_tag || p->tag == m->tag);
}

static void arrive(ModelRank *to, Model *m)
{
    for (guint i = 0; i < to->posted->len; i++) {
        Posted *p = &g_array_index(to->posted, Posted, i);
        if (!p->got && fits(p, m)) {
            p->got = m;
            return;
        }
    }
    g_ptr_array_add(to->arrived, m);
}

static gboolean has_arrived(const ModelRank *r, const Posted *p)
{
    for (guint i = 0; i < r->arrived->len; i++)
        if (fits(p, r->arrived->pdata[i]))
            return TRUE;
    return FALSE;
}

static void post(ModelRank *r, Posted p)
{
    for (guint i = 0; i < r->arrived->len && !p.got; i++)
        if (fits(&p, r->arrived->pdata[i]))
            p.got = g_ptr_array_remove_index(r->arrived, i);
    g_array_append_val(r->posted, p);
}

static void model_wait(ModelRank *r, SimulatedRank *sim, SimulatedSequence *s, Posted *p)
{
    gint64 source =
               (gint64)p->got->from - (p->source == any_source ? (gint64)sim->rank : p->source),
           tag = p->got->tag - (p->tag == any_tag ? 0 : p->tag);
    wait_one(sim, s, p->request, source, tag, (MODEL_COUNT - p->got->count) * DOUBLE, 0);
    p->completed = r->calls++;
    p->done = TRUE;
}

/* The blocking receive that was posted last returns, if it has a message. */
static void model_receive(ModelRank *r, SimulatedRank *sim, SimulatedSequence *s)
{
    Posted *p = &g_array_index(r->posted, Posted, r->posted->len - 1);
    if (!p->got)
        return;
    sim_recv(sim, s, MODEL_COUNT, p->source, p->tag, p->got->from, p->got->tag,
             p->got->count * DOUBLE);
    p->call = p->completed = r->calls++;
    p->done = TRUE;
    r->waits = FALSE;
}

/* Runs STEPS steps of N ranks. Gives all messages and, by rank, what was posted. */
static ModelRank *run_model(GRand *rand, GPtrArray *ranks, guint steps, GPtrArray *messages)
{
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    guint n = ranks->len;
    ModelRank *model = g_new0(ModelRank, n);
    for (guint i = 0; i < n; i++) {
        model[i].posted = g_array_new(FALSE, FALSE, sizeof(Posted));
        model[i].arrived = g_ptr_array_new();
    }
    for (guint step = 0; step < steps; step++) {
        guint at = (guint)g_rand_int_range(rand, 0, (gint32)n);
        ModelRank *r = &model[at];
        SimulatedRank *sim = rank_at(ranks, at);
        SimulatedSequence *s = calls_of(ranks, at);
        if (r->waits) {
            model_receive(r, sim, s);
            continue;
        }
        guint far = (guint)g_rand_int_range(rand, 0, (gint32)MIN(n, MODEL_FAR));
        gint64 source = (at + n - far) % n, dest = (at + far) % n,
               tag = g_rand_int_range(rand, 0, MODEL_TAGS);
        guint open = 0;
        for (guint i = 0; i < r->posted->len; i++)
            open += !g_array_index(r->posted, Posted, i).done;
        switch (g_rand_int_range(rand, 0, 4)) {
        case 0:
        case 1: { /* a send */
            Model *m = g_new(Model, 1);
            gint64 request = NOBODY;
            *m = (Model){at, (guint)dest, tag, messages->len + 1, r->calls++};
            g_ptr_array_add(messages, m);
            if (tag == 0)
                sim_send(sim, s, heap, 0, m->count, dest, tag);
            else
                request = sim_isend(sim, s, heap, 0, m->count, dest, tag);
            if (tag != 0) {
                wait_one(sim, s, request, 0, 0, 0, 0);
                r->calls++;
            }
            arrive(&model[dest], m);
            break;
        }
        case 2: { /* a receive is posted; the last may be blocking */
            Posted p = {g_rand_int_range(rand, 0, 3) == 0 ? any_source : source,
                        g_rand_int_range(rand, 0, 3) == 0 ? any_tag : tag,
                        NOBODY,
                        0,
                        0,
                        NULL,
                        FALSE};
            if (g_rand_int_range(rand, 0, 3) == 0) {
                if (n > MODEL_FAR && !has_arrived(r, &p))
                    break; /* most of many ranks would soon wait for ever */
                r->waits = TRUE;
            } else if (open < MODEL_OPEN) {
                p.request = sim_irecv(sim, s, heap, 64, MODEL_COUNT, p.source, p.tag);
                p.call = r->calls++;
            } else {
                break;
            }
            post(r, p);
            break;
        }
        default: /* one of the receives that have a message completes */
            for (guint i = (guint)g_rand_int_range(rand, 0, 4); i < r->posted->len; i++) {
                Posted *p = &g_array_index(r->posted, Posted, i);
                if (p->got != NULL && !p->done) {
                    model_wait(r, sim, s, p);
                    break;
                }
            }
        }
    }
    /* All that got a message complete: else it is not known who got it. */
    for (guint i = 0; i < n; i++) {
        if (model[i].waits)
            model_receive(&model[i], rank_at(ranks, i), calls_of(ranks, i));
        for (guint k = 0; k < model[i].posted->len; k++) {
            Posted *p = &g_array_index(model[i].posted, Posted, k);
            if (p->got != NULL && !p->done)
                model_wait(&model[i], rank_at(ranks, i), calls_of(ranks, i), p);
        }
    }
    return model;
}

static gint64 key_of(guint rank, guint64 call)
{
    return (gint64)((guint64)rank << 40 | call);
}

/* A send is given before the call that completes its receive, and calls of a rank in order. */
static void check_order(guint64 *given, const MessageEvent *e)
{
    if (e->kind == MESSAGE_CALL) {
        g_assert_cmpuint(e->call->index, ==, given[e->call->rank]);
        given[e->call->rank]++;
    } else if (e->kind == MESSAGE_MATCHED && e->completed.call != MESSAGE_NO_CALL) {
        g_assert_cmpuint(e->sent.call, <, given[e->sent.rank]);
        g_assert_cmpuint(e->completed.call + 1, ==, given[e->posted.rank]);
    }
}

/* -- numbers of messages -- */

/* Which calls have the number of a message. */
typedef struct {
    gint64 sender, receiver; /* key_of; -1: none */
} Numbered;

static void number_call(GArray *numbers, const MessageEvent *e)
{
    gint64 key = key_of(e->call->rank, e->call->index);
    for (guint i = 0; i < e->n_sends + e->n_receives; i++) {
        gboolean sends = i < e->n_sends;
        guint64 number = sends ? e->sends[i] : e->receives[i - e->n_sends];
        g_assert_cmpuint(number, >, 0);
        while (numbers->len <= number) {
            const Numbered none = {-1, -1};
            g_array_append_val(numbers, none);
        }
        Numbered *n = &g_array_index(numbers, Numbered, number);
        gint64 *place = sends ? &n->sender : &n->receiver;
        g_assert_cmpint(*place, ==, -1);
        *place = key;
    }
}

/* The calls of E, a message that was received, have a number in common. */
static void check_number(const GArray *numbers, const MessageEvent *e)
{
    gint64 sender = key_of(e->sent.rank, e->sent.call);
    gint64 receiver = key_of(e->posted.rank, e->completed.call);
    for (guint i = 1; i < numbers->len; i++) {
        const Numbered *n = &g_array_index(numbers, Numbered, i);
        if (n->sender == sender && n->receiver == receiver)
            return;
    }
    g_assert_not_reached();
}

/* Two ranks that receive before they send, which no run can do: the order is broken, and a receive
 * is given before its send. */
static void test_numbers_in_broken_order(void)
{
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    g_autoptr(GPtrArray) ranks = new_ranks(2);
    for (gint64 rank = 0; rank < 2; rank++) {
        SimulatedRank *r = rank_at(ranks, (guint)rank);
        SimulatedSequence *s = calls_of(ranks, (guint)rank);
        sim_recv(r, s, 10, 1 - rank, 7, 1 - rank, 7, 8);
        sim_send(r, s, heap, 0, 1, 1 - rank, 7);
    }
    char *dir = record_all(ranks);
    Reading r = reading(dir, MATCHING_WITH_CALLS, 0);
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(Numbered));
    g_autoptr(GArray) matched = g_array_new(FALSE, FALSE, sizeof(MessageEvent));
    MessageEvent e;
    while (matching_next(r.messages, &e)) {
        if (e.kind == MESSAGE_CALL)
            number_call(numbers, &e);
        else
            g_array_append_val(matched, e);
    }
    g_assert_cmpuint(matching_broken(r.messages), ==, 1);
    g_assert_cmpuint(matched->len, ==, 2);
    for (guint i = 0; i < matched->len; i++)
        check_number(numbers, &g_array_index(matched, MessageEvent, i));
    reading_end(&r);
    discard(dir);
}

static void test_random(void)
{
    for (guint32 seed = 1; seed <= 60; seed++) {
        GRand *rand = g_rand_new_with_seed(seed);
        guint n = 1 + seed % 7;
        g_autoptr(GPtrArray) ranks = new_ranks(n);
        g_autoptr(GPtrArray) sent = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GHashTable) found =
            g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
        ModelRank *model = run_model(rand, ranks, 40 * seed, sent);
        char *dir = record_all(ranks);
        Reading r = reading(dir, MATCHING_WITH_CALLS, 0);
        MessageEvent e;
        g_autofree guint64 *given = g_new0(guint64, n);
        g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(Numbered));
        guint matched = 0, left = 0, open = 0;
        while (matching_next(r.messages, &e)) {
            check_order(given, &e);
            if (e.kind == MESSAGE_CALL)
                number_call(numbers, &e);
            else if (e.kind == MESSAGE_MATCHED && e.completed.call != MESSAGE_NO_CALL)
                check_number(numbers, &e);
            gint64 key = key_of(e.posted.rank, e.posted.call);
            if (e.kind == MESSAGE_MATCHED)
                g_hash_table_insert(found, g_memdup2(&key, sizeof key), g_memdup2(&e, sizeof e));
            matched += e.kind == MESSAGE_MATCHED;
            open += e.kind == MESSAGE_MATCHED && e.completed.call == MESSAGE_NO_CALL;
            left += e.kind == MESSAGE_NOT_TAKEN;
            g_assert_false(e.uncertain || e.outside || e.cancelled || e.truncated);
        }
        guint expected = 0;
        for (guint i = 0; i < n; i++) {
            for (guint k = 0; k < model[i].posted->len; k++) {
                const Posted *p = &g_array_index(model[i].posted, Posted, k);
                if (!p->done)
                    continue; /* nobody saw what it got */
                gint64 key = key_of(i, p->call);
                const MessageEvent *m = g_hash_table_lookup(found, &key);
                g_assert_nonnull(m);
                expected++;
                g_assert_cmpuint(m->completed.call, ==, p->completed);
                g_assert_cmpint(m->bytes_received, ==, p->got->count * DOUBLE);
                g_assert_cmpint(m->bytes_sent, ==, p->got->count * DOUBLE);
                g_assert_cmpuint(m->sent.rank, ==, p->got->from);
                g_assert_cmpuint(m->sent.call, ==, p->got->call);
                g_assert_cmpint(m->tag, ==, p->got->tag);
            }
            g_array_unref(model[i].posted);
            g_ptr_array_unref(model[i].arrived);
        }
        g_assert_cmpuint(matched - open, ==, expected);
        g_assert_cmpuint(matched + left, ==, sent->len);
        g_assert_cmpuint(matching_broken(r.messages), ==, 0);
        for (guint i = 0; i < n; i++)
            g_assert_cmpuint(given[i], ==, model[i].calls);
        g_free(model);
        reading_end(&r);
        discard(dir);
        g_rand_free(rand);
    }
}

/* -- a logical clock as a stamp -- */

typedef struct {
    gdouble *clocks;     /* by rank */
    GArray **starts;     /* gdouble, by rank: of each call */
    GPtrArray **meeting; /* guint, by rank: the calls of MPI_Barrier */
} Clocks;

static void stamp_clock(gpointer data, const WendCall *call, MessagePlace *place)
{
    const Clocks *c = data;
    place->start = ++c->clocks[place->rank];
    g_assert_cmpuint(call->index, ==, c->starts[place->rank]->len);
    g_array_append_val(c->starts[place->rank], place->start);
}

/* CALL of RANK is after what started at BEFORE, if it was made. */
static void check_after(const Clocks *c, guint rank, guint64 call, gdouble before)
{
    if (call < c->starts[rank]->len)
        g_assert_cmpfloat(g_array_index(c->starts[rank], gdouble, call), >, before);
}

static void check_barriers(const Clocks *c, guint n)
{
    for (guint i = 0; i < n; i++)
        for (guint k = 0; k < n; k++)
            for (guint b = 0; b < MIN(c->meeting[i]->len, c->meeting[k]->len); b++)
                check_after(c, i, GPOINTER_TO_UINT(c->meeting[i]->pdata[b]) + 1,
                            g_array_index(c->starts[k], gdouble,
                                          GPOINTER_TO_UINT(c->meeting[k]->pdata[b])));
}

/* Barriers, with other calls of each rank before and behind. */
static void add_barriers(GPtrArray *ranks)
{
    for (guint i = 0; i < ranks->len; i++) {
        SimulatedRank *r = rank_at(ranks, i);
        SimulatedSequence *s = calls_of(ranks, i);
        for (guint b = 0; b < 4; b++) {
            for (guint k = 0; k < 1 + (7 * i + 3 * b) % 5; k++) {
                sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 0, 1, i, MODEL_TAGS);
                sim_recv(r, s, 1, i, MODEL_TAGS, i, MODEL_TAGS, DOUBLE);
            }
            if (b < 3)
                barrier(r, s);
        }
    }
}

/* The call after a receive starts after the send, that after a barrier after all its calls. */
static void test_clock(void)
{
    for (guint32 seed = 1; seed <= 20; seed++) {
        GRand *rand = g_rand_new_with_seed(seed);
        guint n = 2 + seed % 6;
        g_autoptr(GPtrArray) ranks = new_ranks(n);
        g_autoptr(GPtrArray) sent = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(GArray) matched = g_array_new(FALSE, FALSE, sizeof(MessageEvent));
        ModelRank *model = run_model(rand, ranks, 40 * seed, sent);
        add_barriers(ranks);
        char *dir = record_all(ranks);
        Reading r = reading(dir, MATCHING_WITH_CALLS | MATCHING_WITH_WAITS, 0);
        Clocks c = {g_new0(gdouble, n), g_new(GArray *, n), g_new(GPtrArray *, n)};
        for (guint i = 0; i < n; i++) {
            c.starts[i] = g_array_new(FALSE, FALSE, sizeof(gdouble));
            c.meeting[i] = g_ptr_array_new();
        }
        matching_stamp(r.messages, stamp_clock, &c);
        MessageEvent e;
        while (matching_next(r.messages, &e)) {
            if (e.kind == MESSAGE_CALL && e.call->function->sync == WEND_SYNC_ALL)
                g_ptr_array_add(c.meeting[e.call->rank], GUINT_TO_POINTER(e.call->index));
            if (e.completed.call == MESSAGE_NO_CALL || e.sent.call == MESSAGE_NO_CALL)
                continue;
            gdouble *clock = &c.clocks[e.completed.rank];
            *clock = MAX(*clock, e.sent.start);
            if (e.kind == MESSAGE_MATCHED)
                g_array_append_val(matched, e);
        }
        for (guint i = 0; i < matched->len; i++) {
            const MessageEvent *m = &g_array_index(matched, MessageEvent, i);
            check_after(&c, m->completed.rank, m->completed.call + 1, m->sent.start);
        }
        g_assert_cmpuint(c.meeting[0]->len, ==, 3);
        check_barriers(&c, n);
        for (guint i = 0; i < n; i++) {
            g_array_unref(c.starts[i]);
            g_ptr_array_unref(c.meeting[i]);
            g_array_unref(model[i].posted);
            g_ptr_array_unref(model[i].arrived);
        }
        g_free(c.clocks);
        g_free(c.starts);
        g_free(c.meeting);
        g_free(model);
        reading_end(&r);
        discard(dir);
        g_rand_free(rand);
    }
}

/* -- single cases -- */

/* All events but calls. */
static GArray *events_of(const char *dir, guint64 *broken)
{
    Reading r = reading(dir, 0, 0);
    GArray *events = g_array_new(FALSE, FALSE, sizeof(MessageEvent));
    MessageEvent e;
    while (matching_next(r.messages, &e))
        g_array_append_val(events, e);
    *broken = matching_broken(r.messages);
    reading_end(&r);
    return events;
}

static const MessageEvent *event_at(const GArray *events, guint i)
{
    g_assert_cmpuint(i, <, events->len);
    return &g_array_index(events, MessageEvent, i);
}

/* A receive from any source that was posted first completes last: the one for a source and tag
 * gets the second message. */
static void test_ahead(void)
{
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    g_autoptr(GPtrArray) ranks = new_ranks(2);
    guint64 broken;
    for (gint64 i = 1; i <= 2; i++)
        sim_send(rank_at(ranks, 1), calls_of(ranks, 1), heap, 0, i, 0, 7);
    SimulatedRank *r = rank_at(ranks, 0);
    SimulatedSequence *s = calls_of(ranks, 0);
    gint64 first = sim_irecv(r, s, heap, 0, 10, any_source, 7),
           second = sim_irecv(r, s, heap, 100, 10, 1, 7);
    wait_one(r, s, second, 0, 0, 8 * DOUBLE, 0);
    wait_one(r, s, first, 1, 0, 9 * DOUBLE, 0);
    char *dir = record_all(ranks);
    g_autoptr(GArray) events = events_of(dir, &broken);
    g_assert_cmpuint(events->len, ==, 2);
    for (guint i = 0; i < 2; i++) {
        const MessageEvent *e = event_at(events, i);
        g_assert_cmpint(e->kind, ==, MESSAGE_MATCHED);
        g_assert_cmpint(e->bytes_sent, ==, e->bytes_received);
        g_assert_cmpuint(e->sent.call, ==, e->posted.call);
        g_assert_cmpuint(e->completed.call, ==, 2 + i);
        g_assert_cmpuint(e->posted.call, ==, 1 - i);
    }
    discard(dir);
}

/* A send that was cancelled does not meet the receive; the one after it does. What is cancelled is
 * known only after the answer of the receiver. */
static void test_cancelled(void)
{
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    g_autoptr(GPtrArray) ranks = new_ranks(2);
    guint64 broken;
    SimulatedRank *r = rank_at(ranks, 0);
    SimulatedSequence *s = calls_of(ranks, 0);
    gint64 request = sim_isend(r, s, heap, 0, 5, 1, 7);
    cancel(r, s, request);
    sim_send(r, s, heap, 0, 6, 1, 7);
    sim_recv(r, s, 10, 1, 8, 1, 8, 8);
    wait_one(r, s, request, 0, 0, 0, 1);
    r = rank_at(ranks, 1);
    s = calls_of(ranks, 1);
    sim_recv(r, s, 10, 0, 7, 0, 7, 6 * DOUBLE);
    sim_send(r, s, heap, 0, 1, 0, 8);
    gint64 never = sim_irecv(r, s, heap, 0, 10, 0, 9);
    cancel(r, s, never);
    wait_one(r, s, never, 0, 0, 0, 1);
    char *dir = record_all(ranks);
    g_autoptr(GArray) events = events_of(dir, &broken);
    g_assert_cmpuint(events->len, ==, 4);
    guint matched = 0, sends = 0, receives = 0;
    for (guint i = 0; i < events->len; i++) {
        const MessageEvent *e = event_at(events, i);
        if (e->kind == MESSAGE_MATCHED && e->tag == 7)
            g_assert_cmpuint(e->sent.call, ==, 2);
        matched += e->kind == MESSAGE_MATCHED;
        sends += e->kind == MESSAGE_NOT_TAKEN && e->cancelled && e->sent.call == 0;
        receives += e->kind == MESSAGE_NOT_ARRIVED && e->cancelled && e->posted.call == 2;
    }
    g_assert_cmpuint(matched, ==, 2);
    g_assert_cmpuint(sends, ==, 1);
    g_assert_cmpuint(receives, ==, 1);
    g_assert_cmpuint(broken, ==, 0);
    discard(dir);
}

/* Rank 2 is missing, and rank 1 waits for it in vain, then for rank 0: all others go on, and what
 * is left is said. */
static void test_gaps(void)
{
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    g_autoptr(GPtrArray) ranks = new_ranks(3);
    guint64 broken;
    SimulatedRank *r = rank_at(ranks, 0);
    SimulatedSequence *s = calls_of(ranks, 0);
    sim_send(r, s, heap, 0, 1, 2, 0); /* outside */
    sim_recv(r, s, 10, 1, 0, 1, 0, 8);
    sim_send(r, s, heap, 0, 2, 1, 0);
    sim_send(r, s, heap, 0, 3, 1, 0); /* not received */
    r = rank_at(ranks, 1);
    s = calls_of(ranks, 1);
    sim_recv(r, s, 10, 2, 0, 2, 0, 8); /* outside */
    sim_recv(r, s, 10, 0, 5, 0, 5, 8); /* its send is not recorded */
    barrier(r, s);                     /* alone */
    sim_send(r, s, heap, 0, 1, 0, 0);
    sim_recv(r, s, 10, 0, 0, 0, 0, 16);
    g_ptr_array_remove_index(ranks, 2);
    char *dir = record_all(ranks);
    g_autoptr(GArray) events = events_of(dir, &broken);
    guint matched = 0, outside = 0, sends = 0, receives = 0;
    for (guint i = 0; i < events->len; i++) {
        const MessageEvent *e = event_at(events, i);
        matched += e->kind == MESSAGE_MATCHED;
        outside += e->outside;
        sends += e->kind == MESSAGE_NOT_TAKEN && !e->outside && e->bytes_sent == 3 * DOUBLE;
        receives += e->kind == MESSAGE_NOT_ARRIVED && !e->outside && e->completed.call == 1;
    }
    g_assert_cmpuint(matched, ==, 2);
    g_assert_cmpuint(outside, ==, 2);
    g_assert_cmpuint(sends, ==, 1);
    g_assert_cmpuint(receives, ==, 1);
    g_assert_cmpuint(broken, >=, 1);
    discard(dir);
}

static void thread_note(SimulatedRank *r, SimulatedSequence *s, const char *function, gint64 thread)
{
    call(s, function);
    shape(s, thread);
    end(r, s, 0);
}

/* Two threads of rank 0 send on one channel: one after the other, since one joins the other
 * (ORDERED), or at any time. The receiver tells them apart by their sizes. */
static void check_threads(gboolean ordered)
{
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    g_autoptr(GPtrArray) ranks = new_ranks(2);
    guint64 broken;
    SimulatedRank *r = rank_at(ranks, 0);
    SimulatedSequence *main = calls_of(ranks, 0),
                      *other = simulated_sequence(r, WEND_SEQUENCE_THREAD, 1);
    if (ordered)
        thread_note(r, main, "wend_start", 1);
    sim_send(r, other, heap, 0, 1, 1, 7);
    if (ordered)
        thread_note(r, main, "wend_join", 1);
    sim_send(r, main, heap, 0, 2, 1, 7);
    for (gint64 i = 1; i <= 2; i++)
        sim_recv(rank_at(ranks, 1), calls_of(ranks, 1), 10, 0, 7, 0, 7, i * DOUBLE);
    char *dir = record_all(ranks);
    g_autoptr(GArray) events = events_of(dir, &broken);
    g_assert_cmpuint(events->len, ==, 2);
    guint uncertain = 0;
    for (guint i = 0; i < events->len; i++) {
        const MessageEvent *e = event_at(events, i);
        g_assert_cmpint(e->kind, ==, MESSAGE_MATCHED);
        uncertain += e->uncertain;
        if (ordered)
            g_assert_cmpint(e->bytes_sent, ==, e->bytes_received);
    }
    g_assert_cmpuint(uncertain > 0, ==, !ordered);
    g_assert_cmpuint(broken, ==, 0);
    discard(dir);
}

static void test_threads(void)
{
    check_threads(TRUE);
    check_threads(FALSE);
}

/* Three threads of rank 0 send to rank 1, at first with tags of their own, then with one tag, in an
 * order that is recorded. The main thread has sent before there were threads, and thread 2 takes no
 * turn before the order. At the end the order has turns of thread 1 that are not in the recording.
 * Rank 1 receives what was sent, in that order; the sizes say what. */
static void test_turns(void)
{
    enum { STEPS = 300, EARLY = 60, TAG = 9 };
    g_autoptr(GRand) rand = g_rand_new_with_seed(4);
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    for (guint round = 0; round < 20; round++) {
        g_autoptr(GPtrArray) ranks = new_ranks(2);
        SimulatedRank *r = rank_at(ranks, 0), *to = rank_at(ranks, 1);
        SimulatedSequence *of[3] = {calls_of(ranks, 0),
                                    simulated_sequence(r, WEND_SEQUENCE_THREAD, 1),
                                    simulated_sequence(r, WEND_SEQUENCE_THREAD, 2)},
                          *order = simulated_sequence(r, WEND_SEQUENCE_SENDS,
                                                      constant("MPI_COMM_WORLD")),
                          *received = calls_of(ranks, 1);
        gint64 before[3] = {0}, sent = 0;
        for (gint64 i = 1; i <= 2; i++) {
            sim_send(r, of[0], heap, 0, ++sent, 1, TAG);
            sim_recv(to, received, 2 * STEPS, 0, TAG, 0, TAG, sent * DOUBLE);
        }
        for (guint i = 0; i < EARLY; i++) {
            guint thread = (guint)g_rand_int_range(rand, 0, 2);
            sim_send(r, of[thread], heap, 0, ++sent, 1, thread);
            sim_recv(to, received, 2 * STEPS, 0, thread, 0, thread, sent * DOUBLE);
            before[thread]++;
        }
        sim_turn(r, order, 0, 3, before[0]);
        sim_turn(r, order, 1, 1, before[1]);
        sim_turn(r, order, 1, 0, 0);
        gboolean began = FALSE;
        for (guint i = EARLY; i < STEPS; i++) {
            guint thread = (guint)g_rand_int_range(rand, 0, 3);
            sim_send(r, of[thread], heap, 0, ++sent, 1, TAG);
            sim_recv(to, received, 2 * STEPS, 0, TAG, 0, TAG, sent * DOUBLE);
            sim_turn(r, order, thread, thread == 2 && !began ? 1 : 0, 1);
            began |= thread == 2;
        }
        sim_turn(r, order, 1, 0, 5);
        sim_send(r, of[0], heap, 0, ++sent, 1, TAG);
        sim_recv(to, received, 2 * STEPS, 0, TAG, 0, TAG, sent * DOUBLE);
        sim_turn(r, order, 0, 0, 1);
        char *dir = record_all(ranks);
        guint64 broken;
        g_autoptr(GArray) events = events_of(dir, &broken);
        g_assert_cmpint(events->len, ==, sent);
        for (guint i = 0; i < events->len; i++) {
            const MessageEvent *e = event_at(events, i);
            g_assert_cmpint(e->kind, ==, MESSAGE_MATCHED);
            g_assert_cmpint(e->bytes_sent, ==, e->bytes_received);
            g_assert_false(e->uncertain);
        }
        g_assert_cmpuint(broken, ==, 0);
        discard(dir);
    }
}

/* An order that no run can have, as in a damaged recording: the calls are given all the same. */
static void test_impossible_turns(void)
{
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), world = constant("MPI_COMM_WORLD");
    g_autoptr(GPtrArray) ranks = new_ranks(2);
    guint64 broken;
    SimulatedRank *r = rank_at(ranks, 0), *to = rank_at(ranks, 1);
    SimulatedSequence *a = calls_of(ranks, 0), *b = simulated_sequence(r, WEND_SEQUENCE_THREAD, 1),
                      *sends = simulated_sequence(r, WEND_SEQUENCE_SENDS, world),
                      *receives = simulated_sequence(r, WEND_SEQUENCE_RECEIVES, world),
                      *received = calls_of(ranks, 1);
    /* the first thread would have to receive what comes after its own send, and that wait for b */
    sim_recv(r, a, 1, 1, 7, 1, 7, DOUBLE);
    sim_send(r, a, heap, 0, 1, 1, 7);
    sim_send(r, b, heap, 0, 1, 1, 7);
    sim_turn(r, receives, 0, 1, 0);
    sim_turn(r, receives, 0, 1, G_MAXINT64);
    sim_turn(r, sends, 0, 1, 0);
    sim_turn(r, sends, 77, 1, 3); /* there is no such thread */
    sim_turn(r, sends, 0, 2, 1);
    sim_turn(r, sends, 1, 1, 1);
    sim_recv(to, received, 1, 0, 7, 0, 7, DOUBLE);
    sim_recv(to, received, 1, 0, 7, 0, 7, DOUBLE);
    sim_send(to, received, heap, 0, 1, 0, 7);
    char *dir = record_all(ranks);
    g_autoptr(GArray) events = events_of(dir, &broken);
    g_assert_cmpuint(events->len, ==, 3);
    for (guint i = 0; i < events->len; i++)
        g_assert_cmpint(event_at(events, i)->kind, ==, MESSAGE_MATCHED);
    g_assert_cmpuint(broken, >, 0);
    discard(dir);
}

/* Rank 0 broadcasts and then sends what rank 1 receives before its own broadcast: allowed to
 * happen, and the order is kept. A barrier holds all. */
static void test_collectives(void)
{
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    g_autoptr(GPtrArray) ranks = new_ranks(2);
    guint64 given[2] = {0};
    for (guint i = 0; i < 2; i++) {
        SimulatedRank *r = rank_at(ranks, i);
        SimulatedSequence *s = calls_of(ranks, i);
        if (i == 1)
            sim_recv(r, s, 1, 0, 7, 0, 7, DOUBLE);
        call(s, "MPI_Bcast");
        slot(s, i);
        shape(s, heap);
        slot(s, 0);
        slot(s, 1);
        shape(s, constant("MPI_DOUBLE"));
        slot(s, 0); /* root */
        shape(s, constant("MPI_COMM_WORLD"));
        end(r, s, 1e-6);
        if (i == 0)
            sim_send(r, s, heap, 0, 1, 1, 7);
        for (guint k = 0; k < 100 && i == 0; k++)
            sim_test(r, s, WEND_HANDLE(0, 0), FALSE); /* polls do not count */
        barrier(r, s);
    }
    char *dir = record_all(ranks);
    Reading r = reading(dir, MATCHING_WITH_CALLS, 0);
    MessageEvent e;
    while (matching_next(r.messages, &e)) {
        if (e.kind != MESSAGE_CALL)
            continue;
        guint rank = e.call->rank;
        if (strcmp(e.call->function->name, "MPI_Barrier") == 0)
            g_assert_cmpuint(given[1 - rank], >=, 2);
        if (strcmp(e.call->function->name, "MPI_Bcast") == 0 && rank == 1)
            g_assert_cmpuint(given[0], >=, 1);
        given[rank]++;
    }
    g_assert_cmpuint(given[0], ==, 3);
    g_assert_cmpuint(given[1], ==, 3);
    g_assert_cmpuint(matching_broken(r.messages), ==, 0);
    reading_end(&r);
    discard(dir);
}

/* -- memory and time -- */

/* Rank 0 sends a hundred thousand messages to each of its receivers, which could all be in flight:
 * few are. */
static void test_ahead_of_others(void)
{
    enum { RANKS = 4, MESSAGES = 20000 };
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    g_autoptr(GPtrArray) ranks = new_ranks(RANKS);
    for (guint i = 0; i < MESSAGES; i++) {
        for (guint k = 1; k < RANKS; k++) {
            sim_send(rank_at(ranks, 0), calls_of(ranks, 0), heap, 0, 1, k, 0);
            sim_recv(rank_at(ranks, k), calls_of(ranks, k), 1, 0, 0, 0, 0, DOUBLE);
        }
    }
    char *dir = record_all(ranks);
    Reading r = reading(dir, 0, 0);
    MessageEvent e;
    guint matched = 0;
    while (matching_next(r.messages, &e))
        matched += e.kind == MESSAGE_MATCHED;
    g_assert_cmpuint(matched, ==, (RANKS - 1) * MESSAGES);
    g_assert_cmpuint(matching_most_in_flight(r.messages), <=, 2 * RANKS);
    reading_end(&r);
    discard(dir);
}

/* Matching that nobody receives take no more memory than allowed. */
static void test_allowance(void)
{
    enum { MESSAGES = 100000 };
    gint64 heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    g_autoptr(GPtrArray) ranks = new_ranks(2);
    for (guint i = 0; i < MESSAGES; i++)
        sim_send(rank_at(ranks, 0), calls_of(ranks, 0), heap, 0, 1, 1, 0);
    barrier(rank_at(ranks, 0), calls_of(ranks, 0));
    barrier(rank_at(ranks, 1), calls_of(ranks, 1));
    char *dir = record_all(ranks);
    Reading r = reading(dir, 0, 4 << 20);
    MessageEvent e;
    Error *error = NULL;
    while (matching_next(r.messages, &e))
        continue;
    g_assert_true(matching_error(r.messages, "it", &error));
    g_assert_true(error && error->code == WEND_ERROR_INPUT);
    error_clear(&error);
    reading_end(&r);
    r = reading(dir, 0, 0);
    guint left = 0;
    while (matching_next(r.messages, &e))
        left += e.kind == MESSAGE_NOT_TAKEN;
    g_assert_cmpuint(left, ==, MESSAGES);
    reading_end(&r);
    discard(dir);
}

static void report(const Matching *m, guint64 matched, gint64 start, const struct rusage *before)
{
    struct rusage after;
    double seconds = (double)(g_get_monotonic_time() - start) / G_USEC_PER_SEC;
    getrusage(RUSAGE_SELF, &after);
    g_test_message("%" G_GUINT64_FORMAT " messages in %.2f s, at most %" G_GUINT64_FORMAT
                   " in flight, %ld KB more memory",
                   matched, seconds, matching_most_in_flight(m),
                   after.ru_maxrss - before->ru_maxrss);
}

/* 1,024 ranks that have nothing in common. */
static void test_irregular(void)
{
    enum { RANKS = 1024, STEPS = 300 };
    GRand *rand = g_rand_new_with_seed(1);
    g_autoptr(GPtrArray) ranks = new_ranks(RANKS);
    g_autoptr(GPtrArray) sent = g_ptr_array_new_with_free_func(g_free);
    ModelRank *model = run_model(rand, ranks, RANKS * STEPS, sent);
    char *dir = record_all(ranks);
    Reading r = reading(dir, 0, 0);
    struct rusage before;
    getrusage(RUSAGE_SELF, &before);
    gint64 start = g_get_monotonic_time();
    MessageEvent e;
    guint matched = 0, expected = 0;
    while (matching_next(r.messages, &e)) {
        g_assert_cmpint(e.kind, !=, MESSAGE_CALL);
        if (e.kind != MESSAGE_MATCHED || e.completed.call == MESSAGE_NO_CALL)
            continue;
        g_assert_cmpint(e.bytes_sent, ==, e.bytes_received);
        matched++;
    }
    for (guint i = 0; i < RANKS; i++) {
        for (guint k = 0; k < model[i].posted->len; k++)
            expected += g_array_index(model[i].posted, Posted, k).done;
        g_array_unref(model[i].posted);
        g_ptr_array_unref(model[i].arrived);
    }
    g_assert_cmpuint(matched, ==, expected);
    g_assert_cmpuint(matching_broken(r.messages), ==, 0);
    report(r.messages, matched, start, &before);
    g_free(model);
    reading_end(&r);
    discard(dir);
    g_rand_free(rand);
}

/* A stencil on 1,024 ranks: all messages match, in the memory of those in flight. */
static void test_stencil(void)
{
    enum { SIDE = 32 };
    guint iterations = g_test_perf() ? 1000 : 20;
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint i = 0; i < SIDE * SIDE; i++)
        g_ptr_array_add(ranks, simulated_stencil(i, SIDE, SIDE, iterations, FALSE));
    char *dir = record_all(ranks);
    struct rusage before;
    getrusage(RUSAGE_SELF, &before);
    gint64 start = g_get_monotonic_time();
    Reading r = reading(dir, 0, 0);
    MessageEvent e;
    guint64 matched = 0;
    while (matching_next(r.messages, &e)) {
        g_assert_cmpint(e.kind, ==, MESSAGE_MATCHED);
        g_assert_cmpint(e.bytes_sent, ==, e.bytes_received);
        matched++;
    }
    g_assert_cmpuint(matched, ==, (guint64)iterations * 4 * SIDE * (SIDE - 1));
    g_assert_cmpuint(matching_broken(r.messages), ==, 0);
    g_assert_cmpuint(matching_most_in_flight(r.messages), <=, 2 * 4 * SIDE * SIDE);
    report(r.messages, matched, start, &before);
    reading_end(&r);
    discard(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    any_source = constant("MPI_ANY_SOURCE");
    any_tag = constant("MPI_ANY_TAG");
    g_test_add_func("/messages/random", test_random);
    g_test_add_func("/messages/clock", test_clock);
    g_test_add_func("/messages/ahead", test_ahead);
    g_test_add_func("/messages/cancelled", test_cancelled);
    g_test_add_func("/messages/gaps", test_gaps);
    g_test_add_func("/messages/numbers-in-broken-order", test_numbers_in_broken_order);
    g_test_add_func("/messages/threads", test_threads);
    g_test_add_func("/messages/turns", test_turns);
    g_test_add_func("/messages/impossible-turns", test_impossible_turns);
    g_test_add_func("/messages/collectives", test_collectives);
    g_test_add_func("/messages/ahead-of-others", test_ahead_of_others);
    g_test_add_func("/messages/allowance", test_allowance);
    g_test_add_func("/messages/irregular", test_irregular);
    g_test_add_func("/messages/stencil", test_stencil);
    return g_test_run();
}
