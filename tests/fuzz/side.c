/* SPDX-License-Identifier: BSD-3-Clause */
/* side.c: fuzzes the reader of side streams. The input is a member of an archive, of each kind in
 * turn. What can be read is coded again, and must then be read as the same.
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with replay.c a program that runs the files it
 * is given. See tests/fuzz/local.mk. */
#include "../../lib/record/side-stream.h"
#include "exercise.h"

#include <glib.h>
#include <string.h>

enum { ELEMENTS = 20000 };

static WendSideKindNumber kind;

static void assert_same(const WendSideElement *a, const WendSideElement *b)
{
    const WendSideForm *form = &side_stream_kind(kind)->forms[a->code];
    gsize bytes = form->numbers ? form->numbers * sizeof *a->numbers : a->n_bytes;
    if (a->step != b->step || a->code != b->code || a->sub != b->sub || a->n_bytes != b->n_bytes
        || memcmp(a->bytes, b->bytes, bytes) != 0)
        g_error("an element that is another after coding");
}

/* Reads the stream into ELEMENTS. */
static void read_stream(const WendSideHead *head, WendCursor rows, GArray *elements)
{
    WendSideReader *r = g_new(WendSideReader, 1);
    const WendSideElement *e;
    side_reader_open(r, kind, head, rows);
    while (elements->len < ELEMENTS && (e = side_reader_next(r))) {
        if (e->code >= side_stream_kind(kind)->n_forms || e->sub >= WEND_SIDE_SUBS
            || e->n_bytes > WEND_SIDE_BYTES)
            g_error("an element out of its bounds");
        g_array_append_vals(elements, e, 1);
    }
    g_free(r);
}

static void code_again(const WendSideHead *head, const GArray *elements)
{
    WendBuf row = WEND_BUF_INIT, rows = WEND_BUF_INIT;
    WendSideCodec *k = g_new(WendSideCodec, 1);
    RangeEncoder to;
    side_codec_init(k, side_stream_kind(kind));
    range_encoder_begin(&to, &row);
    for (guint i = 0; i < elements->len; i++)
        side_codec_encode(k, &to, &g_array_index(elements, WendSideElement, i));
    range_encoder_end(&to);
    if (side_stream_kind(kind)->tabled)
        buf_block(&rows, &(WendBuf)WEND_BUF_INIT);
    buf_unsigned(&rows, elements->len);
    buf_block(&rows, &row);
    g_autoptr(GArray) again = g_array_new(FALSE, FALSE, sizeof(WendSideElement));
    read_stream(head, cursor_of(rows.data, rows.len), again);
    if (again->len != elements->len)
        g_error("%u elements of %u", again->len, elements->len);
    for (guint i = 0; i < again->len; i++)
        assert_same(&g_array_index(elements, WendSideElement, i),
                    &g_array_index(again, WendSideElement, i));
    buf_clear(&row);
    buf_clear(&rows);
    g_free(k);
}

static void read_member(const guint8 *data, size_t size)
{
    WendCursor c = cursor_of(data, size), rows;
    WendSideHead head;
    for (gsize n = cursor_count(&c, WEND_SIDE_STREAM_LEAST);
         n > 0 && side_stream_read(&c, &head, &rows); n--) {
        g_autoptr(GArray) elements = g_array_new(FALSE, FALSE, sizeof(WendSideElement));
        read_stream(&head, rows, elements);
        if (elements->len > 0)
            code_again(&head, elements);
    }
}

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    for (kind = 0; kind < WEND_SIDE_KINDS; kind++)
        read_member(data, size);
    return 0;
}
