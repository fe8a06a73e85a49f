/* SPDX-License-Identifier: BSD-3-Clause */
/* progressions.c: see progressions.h. */
#include "progressions.h"

#include <string.h>

static bool differ_by(int64_t a, int64_t b, int64_t *step)
{
    const int64_t limit = INT64_C(1) << 60; /* so that sums do not overflow */
    return a >= -limit && a <= limit && b >= -limit && b <= limit
           && !__builtin_sub_overflow(b, a, step);
}

/* The longest progression that begins at element FIRST, up to END. */
static WendProgression progression_at(const WendIntegers *v, int64_t end, int64_t first,
                                      int64_t stride, bool level)
{
    int64_t at = first + stride, step, next, last = integer_at(v, first);
    WendProgression p = {first, end, stride, last, 0, 0};
    if (at >= end)
        return p;
    int64_t value = integer_at(v, at);
    if (value == last) {
        while (at < end && integer_at(v, at) == last)
            at += stride;
    } else if (!level && differ_by(last, value, &step)) {
        p.step = step;
        last = value;
        at += stride;
        if (at < end && differ_by(last, integer_at(v, at), &next))
            p.bend = next - step;
        for (;
             at < end && differ_by(last, value = integer_at(v, at), &next) && next == step + p.bend;
             at += stride) {
            step = next;
            last = value;
        }
    }
    p.end = at < end ? at : end;
    return p;
}

/* The end of STRIDE progressions that alternate from FIRST on: the end of the one that ends
 * first. */
static int64_t taking_turns(const WendIntegers *v, int64_t first, int64_t stride, bool level,
                            WendProgression *all)
{
    int64_t end = v->n;
    for (int64_t k = 0; k < stride && first + k < end; k++) {
        all[k] = progression_at(v, end, first + k, stride, level);
        end = all[k].end;
    }
    for (int64_t k = 0; k < stride; k++)
        all[k].end = end;
    return end;
}

int64_t progressions_at(const WendIntegers *v, int64_t i, bool level,
                        WendProgression stretch[WEND_MOST_STRIDE])
{
    WendProgression tried[WEND_MOST_STRIDE];
    int64_t stride = 1, end = taking_turns(v, i, 1, level, stretch);
    for (int64_t s = 2; s <= WEND_MOST_STRIDE && end < v->n; s++) {
        int64_t its_end = taking_turns(v, i, s, level, tried);
        if (its_end - i < 2 * s || (its_end - i) / s <= (end - i) / stride)
            continue;
        end = its_end;
        memcpy(stretch, tried, (size_t)s * sizeof *tried);
        stride = s;
    }
    return end;
}
