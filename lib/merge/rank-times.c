/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-times.c: see rank-times.h. */
#include "rank-times.h"

#include "record/functions.h"
#include "base/lower-bound.h"
#include "timing.h"

static void function_clear(void *p)
{
    vector_unref(((FunctionTimes *)p)->times);
}

RankTimes *rank_times_new(uint32_t world)
{
    RankTimes *t = NEW(RankTimes, 1);
    t->world = world;
    t->functions = vector_new(sizeof(FunctionTimes));
    vector_set_clear(t->functions, function_clear);
    return t;
}

void rank_times_free(RankTimes *t)
{
    if (!t)
        return;
    vector_unref(t->functions);
    memory_free(t);
}

static RankTime *time_at(const FunctionTimes *f, uint32_t i)
{
    return &VECTOR_AT(f->times, RankTime, i);
}

/* The times of FUNCTION, which are made if there are none. */
static FunctionTimes *times_of_function(RankTimes *t, uint32_t function)
{
    uint32_t low = LOWER_BOUND(i, t->functions->len,
                               VECTOR_AT(t->functions, FunctionTimes, i).function < function);
    if (low == t->functions->len
        || VECTOR_AT(t->functions, FunctionTimes, low).function != function) {
        FunctionTimes new = {.function = function, .times = vector_new(sizeof(RankTime))};
        VECTOR_INSERT(t->functions, low, new);
    }
    return &VECTOR_AT(t->functions, FunctionTimes, low);
}

/* -- two into one -- */

/* Both ascend. Values of equal keys are added. */
static Vector *united(const Vector *a, const Vector *b)
{
    Vector *all = vector_with_room(sizeof(RankTime), a->len + b->len);
    for (uint32_t i = 0, k = 0; i < a->len || k < b->len;) {
        const RankTime *x = i < a->len ? &VECTOR_AT(a, RankTime, i) : NULL,
                       *y = k < b->len ? &VECTOR_AT(b, RankTime, k) : NULL;
        bool from_a = x && (!y || x->key <= y->key), from_b = y && (!x || y->key <= x->key);
        RankTime one = from_a ? *x : *y;
        if (from_a && from_b)
            one.value += y->value;
        VECTOR_APPEND(all, one);
        i += from_a;
        k += from_b;
    }
    return all;
}

static void include(RankTimes *t, FunctionTimes *f, const FunctionTimes *more)
{
    if (!rank_times_each(t)) {
        uint32_t n = f->times->len, m = more->times->len;
        uint32_t least = n ? time_at(f, 0)->key : UINT32_MAX, most = n ? time_at(f, n - 1)->key : 0;
        uint32_t their_least = time_at(more, 0)->key, their_most = time_at(more, m - 1)->key;
        if (!n || their_least < least || (their_least == least && more->fastest < f->fastest))
            f->fastest = more->fastest;
        if (!n || their_most > most || (their_most == most && more->slowest < f->slowest))
            f->slowest = more->slowest;
    }
    Vector *all = united(f->times, more->times);
    vector_unref(f->times);
    f->times = all;
}

void rank_times_include(RankTimes *t, const RankTimes *more)
{
    for (uint32_t i = 0; i < more->functions->len; i++) {
        const FunctionTimes *f = &VECTOR_AT(more->functions, FunctionTimes, i);
        include(t, times_of_function(t, f->function), f);
    }
}

void rank_times_add(RankTimes *t, uint32_t function, uint32_t rank, double seconds)
{
    uint32_t code = timing_code(seconds, RANK_TIMES_BITS);
    RankTime one = rank_times_each(t) ? (RankTime){rank, code} : (RankTime){code, 1};
    FunctionTimes f = {function, vector_new(sizeof(RankTime)), rank, rank};
    VECTOR_APPEND(f.times, one);
    include(t, times_of_function(t, function), &f);
    vector_unref(f.times);
}

uint64_t rank_times_memory(const RankTimes *t)
{
    uint64_t all = sizeof *t;
    for (uint32_t i = 0; i < t->functions->len; i++)
        all += sizeof(FunctionTimes)
               + VECTOR_AT(t->functions, FunctionTimes, i).times->len * sizeof(RankTime);
    return all;
}

/* -- between processes -- */

void rank_times_encode(const RankTimes *t, WendBuf *out)
{
    buf_unsigned(out, t->functions->len);
    for (uint32_t i = 0; i < t->functions->len; i++) {
        const FunctionTimes *f = &VECTOR_AT(t->functions, FunctionTimes, i);
        buf_unsigned(out, f->function);
        buf_unsigned(out, f->fastest);
        buf_unsigned(out, f->slowest);
        buf_unsigned(out, f->times->len);
        uint32_t last = 0;
        for (uint32_t k = 0; k < f->times->len; k++) {
            const RankTime *one = time_at(f, k);
            buf_unsigned(out, one->key - last);
            buf_unsigned(out, one->value);
            last = one->key;
        }
    }
}

/* False: they do not ascend, or cannot be. */
static bool decode_function(RankTimes *t, WendCursor *c)
{
    uint64_t function = cursor_unsigned(c), fastest = cursor_unsigned(c),
             slowest = cursor_unsigned(c), key = 0;
    size_t n = cursor_count(c, 2);
    if (c->failed || function >= mpi_n_functions || fastest >= t->world || slowest >= t->world
        || n == 0)
        return false;
    FunctionTimes *f = times_of_function(t, (uint32_t)function);
    if (f->times->len > 0)
        return false;
    f->fastest = (uint32_t)fastest;
    f->slowest = (uint32_t)slowest;
    uint64_t most = rank_times_each(t) ? t->world - 1 : UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        uint64_t step = cursor_unsigned(c), value = cursor_unsigned(c);
        if (c->failed || (i > 0 && step == 0) || step > most - key || value > UINT32_MAX)
            return false;
        key += step;
        VECTOR_APPEND(f->times, ((RankTime){(uint32_t)key, (uint32_t)value}));
    }
    return true;
}

RankTimes *rank_times_decode(WendCursor *c, uint32_t world)
{
    RankTimes *t = rank_times_new(world);
    size_t n = cursor_count(c, 6);
    bool good = !c->failed;
    for (size_t i = 0; good && i < n; i++)
        good = decode_function(t, c);
    if (good && !c->failed)
        return t;
    c->failed = true;
    rank_times_free(t);
    return NULL;
}
