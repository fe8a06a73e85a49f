/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c: the order file of a rank has each of its calls, word by word, with outcomes and polls,
 * in order. What receives get. The turns of threads. A damaged file is safe to read. */
#include "random-ranks.h"
#include "recorded.h"

#include <glib.h>
#include <string.h>

#include "src/tracer/replay/order-read.h"
#include "src/wend/order-write.h"

static GBytes *order_of(const char *dir, guint rank)
{
    Error *error = NULL;
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    GBytes *bytes = order_write(p, rank, 0, NULL, NULL, &error);
    g_assert_null(error);
    program_free(p);
    return bytes;
}

static void open_order(Order *order, GBytes *bytes)
{
    gsize n;
    const void *data = g_bytes_get_data(bytes, &n);
    g_assert_true(order_read(order, data, n));
}

/* -- calls -- */

/* Streams of a sequence, opened at their first use. */
typedef struct {
    const Order *order;
    const OrderSequence *sequence;
    OrderStreamReader *readers;
    gboolean *opened;
} Outcomes;

static const int64_t *next_outcome(Outcomes *o, guint32 shape, size_t *n)
{
    for (guint i = 0; i < o->sequence->n_streams; i++) {
        const OrderStream *s = &o->order->streams[o->sequence->first_stream + i];
        if (s->shape != shape)
            continue;
        if (!o->opened[i])
            order_stream_open(&o->readers[i], o->order->bytes + s->first, s->n);
        o->opened[i] = TRUE;
        return order_stream_next(&o->readers[i], n);
    }
    return NULL;
}

static void check_row(const GArray *kept, const int64_t *words, size_t n, guint from)
{
    g_assert_cmpuint(kept->len, ==, n);
    for (guint i = from; i < n; i++)
        g_assert_cmpint(words[i], ==, g_array_index(kept, gint64, i));
}

static void check_terminal(const Order *o, const OrderTerminal *t, const SimulatedCall *kept)
{
    const OrderShape *shape = &o->shapes[t->shape];
    const WendFunction *f = function_by_name(kept->function);
    g_assert_cmpint(o->words[shape->first] >> 1, ==, f - mpi_functions);
    g_assert_cmpint(o->words[shape->first] & 1, ==, g_array_index(kept->shape, gint64, 0) & 1);
    check_row(kept->shape, o->words + shape->first, shape->n, 1);
    check_row(kept->slots, o->words + t->first, t->n, 0);
}

static void check_sequence(const Order *o, const SimulatedSequence *s)
{
    const OrderSequence *q = order_sequence(o, s->kind, s->id);
    g_assert_nonnull(q);
    OrderCursor calls, polls = {0};
    g_assert_true(order_cursor_open(&calls, o, q->rule));
    if (q->polls != WEND_ORDER_NO_RULE)
        g_assert_true(order_cursor_open(&polls, o, q->polls));
    Outcomes outcomes = {o, q, g_new0(OrderStreamReader, q->n_streams + 1),
                         g_new0(gboolean, q->n_streams + 1)};
    guint64 n_calls = 0;
    for (guint i = 0; i < s->kept->len; i++) {
        const SimulatedCall *kept = g_ptr_array_index(s->kept, i);
        const OrderTerminal *t = order_cursor_next(kept->poll ? &polls : &calls);
        g_assert_nonnull(t);
        check_terminal(o, t, kept);
        if (kept->poll)
            continue;
        size_t n;
        const int64_t *words = next_outcome(&outcomes, t->shape, &n);
        g_assert_nonnull(words);
        check_row(kept->outcome, words, n, 0);
        n_calls++;
    }
    g_assert_null(order_cursor_next(&calls));
    g_assert_cmpuint(q->calls, ==, n_calls);
    for (guint i = 0; i < q->n_streams; i++) {
        size_t n;
        if (outcomes.opened[i])
            g_assert_null(order_stream_next(&outcomes.readers[i], &n));
        order_stream_close(&outcomes.readers[i]);
    }
    order_cursor_close(&calls);
    order_cursor_close(&polls);
    g_free(outcomes.readers);
    g_free(outcomes.opened);
}

static void test_calls(void)
{
    for (guint32 seed = 1; seed <= 60; seed++) {
        g_autoptr(GPtrArray) ranks = random_ranks(seed, 1 + seed % 11);
        char *dir = record(ranks, NULL, NULL);
        for (guint i = 0; i < ranks->len; i++) {
            const SimulatedRank *r = g_ptr_array_index(ranks, i);
            GBytes *bytes = order_of(dir, r->rank);
            Order order;
            open_order(&order, bytes);
            g_assert_cmpuint(order.head->rank, ==, r->rank);
            g_assert_cmpuint(order.head->size, ==, ranks->len);
            g_assert_cmpuint(order.head->n_sequences, ==, r->sequences->len);
            for (guint q = 0; q < r->sequences->len; q++)
                check_sequence(&order, g_ptr_array_index(r->sequences, q));
            g_bytes_unref(bytes);
        }
        discard(dir);
    }
}

/* -- what receives get -- */

/* Request AT of N completes by MPI_Waitany, with a status relative to the receive. */
static void wait_any(SimulatedRank *r, SimulatedSequence *s, guint n, const gint64 *requests,
                     gint64 at, gint64 source, gint64 tag, gint64 flags)
{
    call(s, "MPI_Waitany");
    slot(s, n);
    shape(s, n);
    for (guint i = 0; i < n; i++)
        shape(s, requests[i]);
    shape(s, 1);
    outcome(s, at);
    outcome(s, source);
    outcome(s, tag);
    outcome(s, 0);
    outcome(s, flags);
    end(r, s, 1e-6);
    release(s, requests[at]);
}

static void check_answers(GBytes *bytes, OrderPosted kind, const gint64 (*expected)[3], guint n)
{
    Order order;
    OrderStreamReader reader;
    open_order(&order, bytes);
    const OrderSequence *q = order_sequence(&order, WEND_SEQUENCE_THREAD, 0);
    order_stream_open(&reader, order.bytes + q->answers[kind], q->answers_bytes[kind]);
    for (guint i = 0; i < n; i++) {
        size_t words;
        const int64_t *answer = order_stream_next(&reader, &words);
        g_assert_nonnull(answer);
        g_assert_cmpuint(words, ==, ORDER_ANSWER_WORDS);
        for (guint k = 0; k < words; k++)
            g_assert_cmpint(answer[k], ==, expected[i][k]);
    }
    size_t words;
    g_assert_null(order_stream_next(&reader, &words));
    order_stream_close(&reader);
}

static char *record_one(SimulatedRank *r)
{
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    g_ptr_array_add(ranks, r);
    return record(ranks, NULL, NULL);
}

/* Receives from any source complete in another order than they were posted, one is cancelled, one
 * is posted for a source, and one never completes. */
static void test_answers(void)
{
    gint64 any = constant("MPI_ANY_SOURCE"), heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    SimulatedRank *r = simulated_new(0, 1, FALSE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    gint64 q[5];
    q[0] = sim_irecv(r, s, heap, 0, 1, any, 5);
    q[1] = sim_irecv(r, s, heap, 8, 1, any, constant("MPI_ANY_TAG"));
    q[2] = sim_irecv(r, s, heap, 16, 1, 3, 5);
    q[3] = sim_irecv(r, s, heap, 24, 1, any, 6);
    q[4] = sim_irecv(r, s, heap, 32, 1, any, 7);
    wait_any(r, s, 5, q, 1, 4, 9, 0); /* relative to rank 0 and tag 0 */
    wait_any(r, s, 5, q, 2, 0, 0, 0);
    wait_any(r, s, 5, q, 0, 2, 0, 0);
    wait_any(r, s, 5, q, 3, 0, 0, 1); /* cancelled */
    char *dir = record_one(r);
    GBytes *bytes = order_of(dir, 0);
    static const gint64 expected[5][3] = {{ORDER_ANSWER_MATCHED, 2, 5},
                                          {ORDER_ANSWER_MATCHED, 4, 9},
                                          {ORDER_ANSWER_AS_POSTED, 0, 0},
                                          {ORDER_ANSWER_NONE, 0, 0},
                                          {ORDER_ANSWER_NONE, 0, 0}};
    check_answers(bytes, ORDER_RECEIVES, expected, 5);
    g_bytes_unref(bytes);
    discard(dir);
}

static void request_free(SimulatedRank *r, SimulatedSequence *s, gint64 request)
{
    call(s, "MPI_Request_free");
    shape(s, request);
    end(r, s, 1e-6);
    release(s, request);
}

/* Three receives are freed before they complete. Rank 1 sends one message and cancels another in
 * time, rank 2 sends two, and one of all is known to have been received. The first receive could
 * have got either of those that are left, and the third only that of rank 1. */
static void test_leftovers(void)
{
    gint64 any = constant("MPI_ANY_SOURCE"), any_tag = constant("MPI_ANY_TAG"),
           heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    SimulatedSequence *s[3];
    for (guint i = 0; i < 3; i++) {
        g_ptr_array_add(ranks, simulated_new(i, 3, FALSE));
        s[i] = simulated_sequence(ranks->pdata[i], WEND_SEQUENCE_THREAD, 0);
    }
    SimulatedRank *r = ranks->pdata[0];
    gint64 q[4];
    q[0] = sim_irecv(r, s[0], heap, 0, 1, any, 5);
    q[1] = sim_irecv(r, s[0], heap, 8, 1, any, 5);
    q[2] = sim_irecv(r, s[0], heap, 16, 1, 1, any_tag);
    q[3] = sim_irecv(r, s[0], heap, 24, 1, any, 9);
    request_free(r, s[0], q[0]);
    request_free(r, s[0], q[2]);
    wait_any(r, s[0], 4,
             (gint64[]){constant("MPI_REQUEST_NULL"), q[1], constant("MPI_REQUEST_NULL"), q[3]}, 1,
             2, 0, 0);
    request_free(r, s[0], q[3]);
    sim_send(ranks->pdata[1], s[1], heap, 0, 1, 0, 5);
    gint64 sent[2];
    sent[0] = sim_isend(ranks->pdata[1], s[1], heap, 0, 1, 0, 9);
    sent[1] = sim_isend(ranks->pdata[1], s[1], heap, 0, 1, 2, 9);
    call(s[1], "MPI_Cancel");
    shape(s[1], sent[0]);
    end(ranks->pdata[1], s[1], 1e-6);
    wait_any(ranks->pdata[1], s[1], 2, sent, 0, 0, 0, 1);
    wait_any(ranks->pdata[1], s[1], 2, (gint64[]){constant("MPI_REQUEST_NULL"), sent[1]}, 1, 0, 0,
             0);
    for (guint i = 0; i < 2; i++)
        sim_send(ranks->pdata[2], s[2], heap, 0, 1, 0, 5);
    char *dir = record(ranks, NULL, NULL);
    GBytes *receiver = order_of(dir, 0), *sender = order_of(dir, 1);
    static const gint64 received[4][3] = {{ORDER_ANSWER_MATCHED, 2, 5},
                                          {ORDER_ANSWER_MATCHED, 2, 5},
                                          {ORDER_ANSWER_MATCHED, 1, 5},
                                          {ORDER_ANSWER_NONE, 0, 0}};
    static const gint64 posted[2][3] = {{ORDER_ANSWER_NONE, 0, 0}, {ORDER_ANSWER_AS_POSTED, 0, 0}};
    check_answers(receiver, ORDER_RECEIVES, received, 4);
    check_answers(sender, ORDER_SENDS, posted, 2);
    g_bytes_unref(receiver);
    g_bytes_unref(sender);
    discard(dir);
}

/* -- turns of threads -- */

static void check_turns(const Order *o, gint64 thread, const gint64 (*expected)[2], guint n)
{
    OrderStreamReader reader;
    size_t words;
    const OrderSequence *q = order_sequence(o, WEND_SEQUENCE_THREAD, thread);
    order_stream_open(&reader, o->bytes + q->turns, q->turns_bytes);
    for (guint i = 0; i < n; i++) {
        const int64_t *turn = order_stream_next(&reader, &words);
        g_assert_nonnull(turn);
        g_assert_cmpuint(words, ==, ORDER_TURN_WORDS);
        for (guint k = 0; k < words; k++)
            g_assert_cmpint(turn[k], ==, expected[i][k]);
    }
    g_assert_null(order_stream_next(&reader, &words));
    order_stream_close(&reader);
}

/* Thread 0 receives before there are threads. Then two threads take messages of ranks 2 and 3, and
 * both send to rank 1 with tag 7: three channels of both threads, and one of thread 1 alone. */
static SimulatedRank *two_threads(void)
{
    gint64 any = constant("MPI_ANY_SOURCE"), world = constant("MPI_COMM_WORLD"),
           heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), request;
    SimulatedRank *r = simulated_new(0, 4, FALSE);
    SimulatedSequence *a = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0),
                      *b = simulated_sequence(r, WEND_SEQUENCE_THREAD, 1),
                      *receives = simulated_sequence(r, WEND_SEQUENCE_RECEIVES, world),
                      *sends = simulated_sequence(r, WEND_SEQUENCE_SENDS, world);
    sim_recv(r, a, 1, 2, 5, 2, 5, 8);   /* before */
    sim_recv(r, a, 1, any, 5, 2, 5, 8); /* the second of all */
    request = sim_irecv(r, a, heap, 0, 1, any, 5);
    wait_any(r, a, 1, &request, 0, 3, 0, 0); /* from rank 3, the fourth of all */
    sim_send(r, a, heap, 0, 1, 1, 7);
    sim_recv(r, b, 1, any, 5, 2, 5, 8); /* the first of all */
    sim_recv(r, b, 1, any, 5, 3, 5, 8); /* the third of all */
    sim_recv(r, b, 1, any, 6, 3, 6, 8); /* with a tag of its own */
    sim_send(r, b, heap, 0, 1, 1, 7);
    sim_turn(r, receives, 1, 1, 1);
    sim_turn(r, receives, 0, 2, 1);
    sim_turn(r, receives, 1, 0, 1);
    sim_turn(r, receives, 0, 0, 1);
    sim_turn(r, receives, 1, 0, 1);
    sim_turn(r, sends, 1, 4, 1);
    sim_turn(r, sends, 0, 5, 1);
    return r;
}

static void test_turns(void)
{
    char *dir = record_one(two_threads());
    GBytes *bytes = order_of(dir, 0);
    Order order;
    static const gint64 first[][2] = {{-1, 0}, {0, 1}, {1, 1}, {2, 1}};
    static const gint64 second[][2] = {{0, 0}, {1, 0}, {-1, 0}, {2, 0}};
    open_order(&order, bytes);
    g_assert_cmpuint(order.head->n_channels, ==, 3);
    g_assert_cmpuint(order.head->n_sequences, ==, 2);
    check_turns(&order, 0, first, G_N_ELEMENTS(first));
    check_turns(&order, 1, second, G_N_ELEMENTS(second));
    g_bytes_unref(bytes);
    discard(dir);
}

/* -- damaged files -- */

/* Goes through all that a replay could, for so many steps. */
static void read_some(const Order *o)
{
    for (guint64 i = 0; i < o->head->n_sequences; i++) {
        OrderCursor c;
        if (!order_cursor_open(&c, o, o->sequences[i].rule))
            continue;
        for (guint k = 0; k < 1000 && order_cursor_next(&c); k++)
            continue;
        order_cursor_close(&c);
    }
    for (guint64 i = 0; i < o->head->n_streams; i++) {
        OrderStreamReader r;
        size_t n;
        gint64 sum = 0;
        order_stream_open(&r, o->bytes + o->streams[i].first, o->streams[i].n);
        const int64_t *words;
        for (guint k = 0; k < 1000 && (words = order_stream_next(&r, &n)); k++)
            for (size_t w = 0; w < n; w++)
                sum ^= words[w];
        order_stream_close(&r);
    }
}

/* -- memory -- */

/* With less memory than the order takes there is an error, and with more the same order. Returns
 * for how many limits the order was refused though the recording itself fits. */
static guint refused(SimulatedRank *r)
{
    char *dir = record_one(r);
    GBytes *whole = order_of(dir, 0);
    Error *error = NULL;
    WendProgram *p = program_open(dir, &error);
    guint n = 0;
    g_assert_null(error);
    for (guint64 most = 1;; most += 1 + most / 16) {
        GBytes *bytes = order_write(p, 0, most, NULL, NULL, &error);
        if (bytes) {
            g_assert_true(g_bytes_equal(bytes, whole));
            g_bytes_unref(bytes);
            break;
        }
        g_assert_true(error && error->code == WEND_ERROR_INPUT);
        g_assert_nonnull(strstr(error->message, "--max-size"));
        error_clear(&error);
        n++;
    }
    program_free(p);
    g_bytes_unref(whole);
    discard(dir);
    return n;
}

static void test_memory(void)
{
    gint64 any = constant("MPI_ANY_SOURCE"), heap = WEND_SEGMENT(WEND_SEGMENT_HEAP, 1);
    SimulatedRank *r = simulated_new(0, 1, FALSE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    for (guint i = 0; i < 1000; i++) {
        gint64 request = sim_irecv(r, s, heap, 0, 1, any, 5);
        wait_any(r, s, 1, &request, 0, (gint64)(i * 7919 % 997), 0, 0);
    }
    /* the last one is not known */
    request_free(r, s, sim_irecv(r, s, heap, 0, 1, any, 5));
    for (guint i = 0; i < 100; i++)
        sim_send(r, s, heap, 0, 1, 0, i);
    g_assert_cmpuint(refused(r), >, 50);
    g_assert_cmpuint(refused(two_threads()), >, 10);
}

static void test_damage(void)
{
    GRand *rand = g_rand_new_with_seed(5);
    for (guint32 seed = 1; seed <= 12; seed++) {
        g_autoptr(GPtrArray) ranks = random_ranks(seed, 5);
        char *dir = record(ranks, NULL, NULL);
        GBytes *bytes = order_of(dir, 4);
        gsize n;
        const guint8 *data = g_bytes_get_data(bytes, &n);
        for (guint i = 0; i < 2000; i++) {
            gsize length = i % 4 == 0 ? (gsize)g_rand_int_range(rand, 0, (gint32)n) : n;
            /* from malloc, so that a sanitizer sees the end */
            g_autofree guint8 *copy = g_malloc(length + 1);
            memcpy(copy, data, length);
            for (gint k = g_rand_int_range(rand, 0, 4); k > 0 && length > 0; k--)
                copy[g_rand_int_range(rand, 0, (gint32)length)] = (guint8)g_rand_int(rand);
            Order order;
            if (order_read(&order, copy, length))
                read_some(&order);
        }
        g_bytes_unref(bytes);
        discard(dir);
    }
    g_rand_free(rand);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/order/calls", test_calls);
    g_test_add_func("/order/answers", test_answers);
    g_test_add_func("/order/turns", test_turns);
    g_test_add_func("/order/leftovers", test_leftovers);
    g_test_add_func("/order/memory", test_memory);
    g_test_add_func("/order/damage", test_damage);
    return g_test_run();
}
