/* SPDX-License-Identifier: BSD-3-Clause */
/* side-stream.c: see side-stream.h. */
#include "side-stream.h"

#include "results.h"
#include "site-guesses.h"
#include "values.h"

static const WendSideForm values[] = {
#define X(code, name, numbers, seconds) {name, numbers, seconds, false},
    WEND_VALUE_TABLE(X)
#undef X
};

static const WendSideForm results[] = {
    [WEND_RESULT_NUMBER] = {"one-sided number", 1, false, false},
    [WEND_RESULT_DATA] = {"one-sided data", 0, false, true},
    [WEND_RESULT_TURN] = {"one-sided turn", 1, false, false},
};

static const WendSideForm locks[] = {{"MPI_Win_lock", WEND_LOCK_NUMBERS, false, false}};

static const WendSideForm sites[] = {
    [WEND_SITE_FOUND] = {"site", 1, false},
    [WEND_SITE_CHANGED] = {"another site", 1, false},
    [WEND_SITE_LONG] = {"many calls", 1, false},
};

static const WendSideKind kinds[] = {
    [WEND_SIDE_VALUES] = {.name = "values",
                          .forms = values,
                          .n_forms = WEND_VALUES,
                          .replayed = true},
    [WEND_SIDE_RESULTS] = {.name = "results",
                           .forms = results,
                           .n_forms = WEND_RESULTS,
                           .replayed = true},
    [WEND_SIDE_LOCKS] = {.name = "locks", .forms = locks, .n_forms = 1, .replayed = true},
    /* a replay takes its own time */
    [WEND_SIDE_TIMES] = {.name = "times"}, /* rows of its own: lib/times/durations.h */
    [WEND_SIDE_SITES] = {.name = "sites",
                         .forms = sites,
                         .n_forms = WEND_SITE_CODES,
                         .symbols = true,
                         .tabled = true,
                         .shared_most = 16 << 10},
    [WEND_SIDE_STACKS] = {.name = "stacks", /* sites with their callers */
                          .forms = sites,
                          .n_forms = WEND_SITE_CODES,
                          .symbols = true,
                          .tabled = true,
                          .shared_most = 64 << 10},
};
_Static_assert(sizeof kinds / sizeof *kinds == WEND_SIDE_KINDS, "a kind is missing");

const WendSideKind *side_stream_kind(WendSideKindNumber number)
{
    return &kinds[number];
}

void side_stream_put_head(WendBuf *out, const WendSideHead *head)
{
    buf_unsigned(out, head->kind);
    buf_signed(out, head->id);
    buf_unsigned(out, head->birth);
}

bool side_stream_read(WendCursor *c, WendSideHead *head, WendCursor *rows)
{
    head->kind = cursor_unsigned(c);
    head->id = cursor_signed(c);
    head->birth = cursor_unsigned(c);
    *rows = cursor_block(c);
    return !c->failed;
}

void side_reader_open(WendSideReader *r, WendSideKindNumber kind, const WendSideHead *head,
                      WendCursor rows)
{
    r->head = *head;
    r->rows = rows;
    r->table = side_stream_kind(kind)->tabled ? cursor_block(&r->rows) : cursor_of(NULL, 0);
    r->left = 0;
    r->failed = r->cut = false;
    side_codec_init(&r->codec, side_stream_kind(kind));
}

/* Begins the next row. False: there is none. */
static bool read_row(WendSideReader *r)
{
    if (r->rows.p == r->rows.end)
        return false;
    r->left = cursor_unsigned(&r->rows);
    r->row = cursor_block(&r->rows);
    r->cut = r->left == 0;
    r->failed = r->rows.failed || (r->cut && (r->row.p != r->row.end || r->rows.p != r->rows.end));
    if (r->failed || r->cut)
        return false;
    range_decoder_begin(&r->decoder, &r->row);
    return true;
}

const WendSideElement *side_reader_next(WendSideReader *r)
{
    if (r->failed || r->cut || (r->left == 0 && !read_row(r)))
        return NULL;
    r->failed = !side_codec_decode(&r->codec, &r->decoder, &r->element);
    if (!r->failed && --r->left == 0) {
        range_decoder_end(&r->decoder);
        r->failed = r->row.failed || r->row.p != r->row.end;
    }
    return r->failed ? NULL : &r->element;
}
