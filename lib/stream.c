/* stream.c: see stream.h. */
#include "stream.h"

#include <string.h>

#include "budget.h"

static void write_run(const WendStream *s, WendBuf *out)
{
    wend_buf_unsigned(out, s->repeats);
    wend_buf_unsigned(out, s->n);
    for (size_t i = 0; i < s->n; i++)
        wend_buf_signed(out, s->last[i]);
}

static bool is_last(const WendStream *s, const int64_t *words, size_t n)
{
    if (s->repeats == 0 || s->n != n)
        return false;
    int64_t differ = 0;
    for (size_t i = 0; i < n; i++)
        differ |= s->last[i] ^ words[i];
    return differ == 0;
}

bool wend_stream_add(WendStream *s, const int64_t *words, size_t n)
{
    if (is_last(s, words, n)) {
        s->entries++;
        s->repeats++;
        return true;
    }
    if (s->cap < n) {
        int64_t *last = wend_budget_resize(s->last, s->cap * sizeof *last, n * sizeof *last);
        if (!last)
            return false;
        s->last = last;
        s->cap = n;
    }
    if (s->repeats > 0) {
        size_t len = s->runs.len;
        s->runs.resize = wend_budget_resize;
        write_run(s, &s->runs);
        if (s->runs.failed) { /* what was recorded before stays readable */
            s->runs.len = len;
            s->runs.failed = false;
            return false;
        }
    }
    if (n > 0)
        memcpy(s->last, words, n * sizeof *words);
    s->n = n;
    s->repeats = 1;
    s->entries++;
    return true;
}

void wend_stream_undo(WendStream *s)
{
    s->entries--;
    s->repeats--;
}

void wend_stream_encode(const WendStream *s, WendBuf *out)
{
    WendBuf run = {.resize = out->resize};
    if (s->repeats > 0)
        write_run(s, &run);
    out->failed |= run.failed;
    wend_buf_unsigned(out, s->entries);
    wend_buf_unsigned(out, s->runs.len + run.len);
    wend_buf_bytes(out, s->runs.data, s->runs.len);
    wend_buf_bytes(out, run.data, run.len);
    wend_buf_clear(&run);
}

size_t wend_stream_memory(const WendStream *s)
{
    return s->cap * sizeof *s->last + s->runs.cap;
}

void wend_stream_clear(WendStream *s)
{
    wend_budget_free(s->last, s->cap * sizeof *s->last);
    wend_buf_clear(&s->runs);
    *s = (WendStream){0};
}
