/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-times.c: see rank-times.h. */
#include "rank-times.h"

#include "record/functions.h"
#include "timing.h"

static void function_clear(gpointer p)
{
    g_array_unref(((FunctionTimes *)p)->times);
}

RankTimes *rank_times_new(guint32 world)
{
    RankTimes *t = g_new(RankTimes, 1);
    t->world = world;
    t->functions = g_array_new(FALSE, FALSE, sizeof(FunctionTimes));
    g_array_set_clear_func(t->functions, function_clear);
    return t;
}

void rank_times_free(RankTimes *t)
{
    if (!t)
        return;
    g_array_unref(t->functions);
    g_free(t);
}

static RankTime *time_at(const FunctionTimes *f, guint i)
{
    return &g_array_index(f->times, RankTime, i);
}

/* The times of FUNCTION, which are made if there are none. */
static FunctionTimes *times_of_function(RankTimes *t, guint32 function)
{
    guint low = 0, high = t->functions->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(t->functions, FunctionTimes, middle).function < function)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == t->functions->len
        || g_array_index(t->functions, FunctionTimes, low).function != function) {
        FunctionTimes new = {.function = function,
                             .times = g_array_new(FALSE, FALSE, sizeof(RankTime))};
        g_array_insert_val(t->functions, low, new);
    }
    return &g_array_index(t->functions, FunctionTimes, low);
}

/* -- two into one -- */

/* Both ascend. Values of equal keys are added. */
static GArray *united(const GArray *a, const GArray *b)
{
    GArray *all = g_array_sized_new(FALSE, FALSE, sizeof(RankTime), a->len + b->len);
    for (guint i = 0, k = 0; i < a->len || k < b->len;) {
        const RankTime *x = i < a->len ? &g_array_index(a, RankTime, i) : NULL,
                       *y = k < b->len ? &g_array_index(b, RankTime, k) : NULL;
        gboolean from_a = x && (!y || x->key <= y->key), from_b = y && (!x || y->key <= x->key);
        RankTime one = from_a ? *x : *y;
        if (from_a && from_b)
            one.value += y->value;
        g_array_append_val(all, one);
        i += from_a;
        k += from_b;
    }
    return all;
}

static void include(RankTimes *t, FunctionTimes *f, const FunctionTimes *more)
{
    if (!rank_times_each(t)) {
        guint n = f->times->len, m = more->times->len;
        guint32 least = n ? time_at(f, 0)->key : G_MAXUINT32, most = n ? time_at(f, n - 1)->key : 0;
        guint32 their_least = time_at(more, 0)->key, their_most = time_at(more, m - 1)->key;
        if (!n || their_least < least || (their_least == least && more->fastest < f->fastest))
            f->fastest = more->fastest;
        if (!n || their_most > most || (their_most == most && more->slowest < f->slowest))
            f->slowest = more->slowest;
    }
    GArray *all = united(f->times, more->times);
    g_array_unref(f->times);
    f->times = all;
}

void rank_times_include(RankTimes *t, const RankTimes *more)
{
    for (guint i = 0; i < more->functions->len; i++) {
        const FunctionTimes *f = &g_array_index(more->functions, FunctionTimes, i);
        include(t, times_of_function(t, f->function), f);
    }
}

void rank_times_add(RankTimes *t, guint32 function, guint32 rank, double seconds)
{
    guint32 code = timing_code(seconds, RANK_TIMES_BITS);
    RankTime one = rank_times_each(t) ? (RankTime){rank, code} : (RankTime){code, 1};
    FunctionTimes f = {function, g_array_new(FALSE, FALSE, sizeof(RankTime)), rank, rank};
    g_array_append_val(f.times, one);
    include(t, times_of_function(t, function), &f);
    g_array_unref(f.times);
}

guint64 rank_times_memory(const RankTimes *t)
{
    guint64 all = sizeof *t;
    for (guint i = 0; i < t->functions->len; i++)
        all += sizeof(FunctionTimes)
               + g_array_index(t->functions, FunctionTimes, i).times->len * sizeof(RankTime);
    return all;
}

/* -- between processes -- */

void rank_times_encode(const RankTimes *t, WendBuf *out)
{
    wend_buf_unsigned(out, t->functions->len);
    for (guint i = 0; i < t->functions->len; i++) {
        const FunctionTimes *f = &g_array_index(t->functions, FunctionTimes, i);
        wend_buf_unsigned(out, f->function);
        wend_buf_unsigned(out, f->fastest);
        wend_buf_unsigned(out, f->slowest);
        wend_buf_unsigned(out, f->times->len);
        guint32 last = 0;
        for (guint k = 0; k < f->times->len; k++) {
            const RankTime *one = time_at(f, k);
            wend_buf_unsigned(out, one->key - last);
            wend_buf_unsigned(out, one->value);
            last = one->key;
        }
    }
}

/* False: they do not ascend, or cannot be. */
static gboolean decode_function(RankTimes *t, WendCursor *c)
{
    guint64 function = wend_cursor_unsigned(c), fastest = wend_cursor_unsigned(c),
            slowest = wend_cursor_unsigned(c), key = 0;
    gsize n = wend_cursor_count(c, 2);
    if (c->failed || function >= wend_n_functions || fastest >= t->world || slowest >= t->world
        || n == 0)
        return FALSE;
    FunctionTimes *f = times_of_function(t, (guint32)function);
    if (f->times->len > 0)
        return FALSE;
    f->fastest = (guint32)fastest;
    f->slowest = (guint32)slowest;
    guint64 most = rank_times_each(t) ? t->world - 1 : G_MAXUINT32;
    for (gsize i = 0; i < n; i++) {
        guint64 step = wend_cursor_unsigned(c), value = wend_cursor_unsigned(c);
        if (c->failed || (i > 0 && step == 0) || step > most - key || value > G_MAXUINT32)
            return FALSE;
        key += step;
        g_array_append_val(f->times, ((RankTime){(guint32)key, (guint32)value}));
    }
    return TRUE;
}

RankTimes *rank_times_decode(WendCursor *c, guint32 world)
{
    RankTimes *t = rank_times_new(world);
    gsize n = wend_cursor_count(c, 6);
    gboolean good = !c->failed;
    for (gsize i = 0; good && i < n; i++)
        good = decode_function(t, c);
    if (good && !c->failed)
        return t;
    c->failed = true;
    rank_times_free(t);
    return NULL;
}
