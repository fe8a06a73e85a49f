/* SPDX-License-Identifier: BSD-3-Clause */
/* array-patterns.c: see array-patterns.h. */
#include "array-patterns.h"

#include "lib/base/budget.h"
#include "memory/address.h"

/* The limit for an array of N elements is FEW + N / SPARSE progressions. So an array without a
 * pattern is given up early, and an array with one gets shorter. */
enum { FEW = 16, SPARSE = 32 };

static void forget(ArrayPatterns *f)
{
    budget_free(f->all, f->cap * sizeof *f->all);
    *f = (ArrayPatterns){0};
}

static bool add(ArrayPatterns *f, const WendProgression *stretch, bool numbers)
{
    size_t n = (size_t)stretch->stride;
    if (f->n + n > f->cap) {
        size_t cap = 2 * f->cap + WEND_MOST_STRIDE;
        ArrayPattern *grown = budget_resize(f->all, f->cap * sizeof *grown, cap * sizeof *grown);
        if (!grown)
            return false;
        f->all = grown;
        f->cap = cap;
    }
    for (size_t i = 0; i < n; i++)
        f->all[f->n++] = (ArrayPattern){stretch[i], numbers};
    return true;
}

/* Whether most elements of a stretch are no addresses. Elements that look like addresses then do so
 * by accident, as some of a million displacements do. */
static bool are_numbers(const WendIntegers *v, int64_t from, int64_t end)
{
    Gap gap = {0};
    int64_t mapped = 0;
    for (int64_t i = from; i < end; i++)
        mapped += attachments_looks_mapped((uintptr_t)integer_at(v, i), &gap);
    return mapped < end - from - mapped;
}

/* Whether all elements of a progression are in one segment. The elements are examined in order,
 * because segments are numbered by first use. */
static bool are_of_one_segment(const WendIntegers *v, int64_t from, int64_t end, int64_t stride)
{
    int64_t segments[WEND_MOST_STRIDE];
    Gap gap = {0};
    for (int64_t i = from; i < end; i++) {
        Where w = attachments_where((uintptr_t)integer_at(v, i), &gap);
        int64_t segment = word_is_segment(w.segment) ? w.segment : WEND_PLAIN;
        if (i - from < stride)
            segments[i - from] = segment;
        else if (segments[(i - from) % stride] != segment)
            return false;
    }
    return true;
}

static bool have_no_names(const WendIntegers *v, int64_t from, int64_t end)
{
    for (int64_t i = from; i < end; i++)
        if (integer_at(v, i) < 0)
            return false;
    return true;
}

static bool are_level(const WendProgression *stretch)
{
    for (int64_t k = 0; k < stretch->stride; k++)
        if (stretch[k].step != 0)
            return false;
    return true;
}

static bool find(ArrayPatterns *f, const WendIntegers *v)
{
    for (int64_t i = 0; i < v->n;) {
        WendProgression stretch[WEND_MOST_STRIDE];
        int64_t end = progressions_at(v, i, f->kind == PATTERN_EQUAL, stretch);
        bool numbers = f->kind != PATTERN_ADDRESSES || are_numbers(v, i, end);
        if (!numbers && !are_of_one_segment(v, i, end, stretch[0].stride))
            return false;
        if (f->kind == PATTERN_NAMED && !are_level(stretch) && !have_no_names(v, i, end))
            return false;
        if (!add(f, stretch, numbers) || f->n > FEW + (size_t)end / SPARSE)
            return false;
        i = end;
    }
    return true;
}

static void put_stretch(ActiveCall *c, const ArrayPattern *pattern)
{
    call_put_shape(c, pattern->p.end);
    call_put_shape(c, pattern->p.stride);
}

static bool begins_stretch(const ArrayPatterns *f, size_t at)
{
    return f->all[at].p.end != f->all[at - 1].p.end;
}

ArrayPatterns array_patterns_find(ActiveCall *c, const void *array, size_t width, int64_t n,
                                  ArrayPatternKind kind)
{
    const WendIntegers v = {array, (unsigned)width, n};
    ArrayPatterns f = {.kind = kind, .total = n};
    bool wide = width == sizeof(int32_t) || width == sizeof(int64_t);
    if (!wide || n > WEND_MOST_UNFOLDED || !find(&f, &v)) {
        forget(&f);
        call_put_shape(c, n);
        return f;
    }
    int64_t stretches = 1;
    for (size_t i = 1; i < f.n; i++)
        stretches += begins_stretch(&f, i);
    call_put_shape(c, WEND_PROGRESSIONS);
    call_put_shape(c, n);
    call_put_shape(c, stretches);
    put_stretch(c, &f.all[0]);
    return f;
}

int64_t array_patterns_next_long(ActiveCall *c, ArrayPatterns *f)
{
    if (f->kind != PATTERN_EQUAL) {
        call_put_slot(c, f->all[f->at].p.step);
        call_put_slot(c, f->all[f->at].p.bend);
    }
    if (++f->at == f->n) {
        int64_t end = f->total;
        forget(f);
        return end;
    }
    if (begins_stretch(f, f->at))
        put_stretch(c, &f->all[f->at]);
    return f->all[f->at].p.first;
}
