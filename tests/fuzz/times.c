/* SPDX-License-Identifier: BSD-3-Clause */
/* times.c: fuzzes the decoders of times. The input is a member of an archive, whose calls have
 * seven places in turns. What can be read is coded again. Times that are exact must then be read as
 * the same, and others within their error.
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with replay.c a program that runs the files it
 * is given. See tests/fuzz/local.mk. */
#include "../../lib/times/durations.h"
#include "../../lib/record/side-stream.h"
#include "exercise.h"

#include <glib.h>
#include <string.h>

enum { CALLS = 20000, PLACES = 7 };

static void assert_near(gint64 read, gint64 again, guint percent)
{
    gint64 off = again > read ? again - read : read - again;
    if (off != 0 && (read < 0 || off > read / 100 * percent + read % 100 * percent / 100))
        g_error("a time that is another after coding");
}

static void code_again(const WendDurationsHead *head, const WendTimedCall *calls, gsize n)
{
    const WendDurationCoding *coding = durations_coding(head->form.coding);
    g_autofree gpointer to = g_malloc0(coding->memory), from = g_malloc0(coding->memory);
    g_autofree WendTimedCall *again = g_memdup2(calls, n * sizeof *calls);
    WendBuf scratch[2] = {WEND_BUF_INIT, WEND_BUF_INIT}, row = WEND_BUF_INIT;
    coding->init(to, head->form.percent);
    coding->init(from, head->form.percent);
    if (!durations_put_row(coding, to, calls, n, scratch, &row))
        g_error("no memory");
    WendCursor c = cursor_of(row.data, row.len);
    if (!durations_read_row(coding, from, again, n, &c) || c.p != c.end)
        g_error("a row that cannot be read");
    for (gsize i = 0; i < n; i++) {
        assert_near(calls[i].interval, again[i].interval, head->form.percent);
        assert_near(calls[i].duration, again[i].duration, head->form.percent);
    }
    buf_clear(&scratch[0]);
    buf_clear(&scratch[1]);
    buf_clear(&row);
}

static void read_rows(WendCursor rows)
{
    WendDurationsHead head;
    guint64 none = cursor_unsigned(&rows);
    WendCursor c = cursor_block(&rows);
    if (none != 0 || !durations_read_head(&c, &head))
        return;
    const WendDurationCoding *coding = durations_coding(head.form.coding);
    g_autofree gpointer learned = g_malloc0(coding->memory);
    g_autofree WendTimedCall *calls = g_new0(WendTimedCall, CALLS);
    coding->init(learned, head.form.percent);
    while (rows.p < rows.end) {
        guint64 n = cursor_unsigned(&rows);
        c = cursor_block(&rows);
        if (rows.failed || n == 0 || n > CALLS)
            return;
        for (gsize i = 0; i < n; i++)
            calls[i] = (WendTimedCall){(guint32)(i % PLACES), 0, 0};
        if (!durations_read_row(coding, learned, calls, (gsize)n, &c))
            return;
        code_again(&head, calls, (gsize)n);
    }
}

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    WendCursor c = cursor_of(data, size), rows;
    WendSideHead head;
    for (gsize n = cursor_count(&c, WEND_SIDE_STREAM_LEAST);
         n > 0 && side_stream_read(&c, &head, &rows); n--)
        read_rows(rows);
    return 0;
}
