/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c: fuzzes what wend replay makes of a program: the order files of some ranks, which the
 * replayer must be able to read. The input is an archive as members.h has it.
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with replay.c a program that runs the files it
 * is given. See tests/fuzz/local.mk. */
#include "exercise.h"

#include <glib.h>
#include "src/tracer/replay/order-read.h"
#include "src/wend/order-write.h"

enum { CALLS = 20000, RANKS = 4, MOST_RANKS = 100 };

static void read_sequence(const Order *order, const OrderSequence *q)
{
    OrderCursor c;
    guint64 calls = 0;
    if (!order_cursor_open(&c, order, q->rule))
        g_error("out of memory");
    while (order_cursor_next(&c))
        calls++;
    order_cursor_close(&c);
    if (calls != q->calls)
        g_error("%" G_GUINT64_FORMAT " calls of %" G_GUINT64_FORMAT, calls, q->calls);
    for (int kind = 0; kind < ORDER_POSTED_KINDS; kind++) {
        OrderStreamReader r;
        size_t n;
        order_stream_open(&r, order->bytes + q->answers[kind], q->answers_bytes[kind]);
        while (order_stream_next(&r, &n))
            continue;
        order_stream_close(&r);
    }
}

static void replay(const WendProgram *p, guint rank)
{
    AUTO(Error) error = NULL;
    GBytes *bytes = order_write(p, rank, 0, NULL, NULL, &error);
    if ((bytes != NULL) == (error != NULL))
        g_error("an order and an error, or neither");
    if (!bytes)
        return;
    Order order;
    gsize n;
    const void *data = g_bytes_get_data(bytes, &n);
    if (!order_read(&order, data, n))
        g_error("an order that cannot be read");
    for (guint64 i = 0; i < order.head->n_sequences; i++)
        read_sequence(&order, &order.sequences[i]);
    g_bytes_unref(bytes);
}

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    AUTO(Error) error = NULL;
    WendProgram *p = exercise_open(data, size, &error);
    if (!p)
        return 0;
    guint64 calls = 0;
    for (guint i = 0; i < program_n_classes(p); i++) {
        const WendClass *k = program_class(p, i);
        for (guint q = 0; q < k->n_sequences && calls <= CALLS; q++)
            calls = MAX(calls, program_rule(p, k->sequences[q].rule)->length);
    }
    if (program_ranks(p) > MOST_RANKS) /* what one gets may depend on the calls of all */
        calls = G_MAXUINT64;
    for (guint rank = 0; calls <= CALLS && rank < MIN(program_ranks(p), RANKS); rank++)
        replay(p, rank);
    program_free(p);
    return 0;
}
