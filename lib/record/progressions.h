/* SPDX-License-Identifier: BSD-3-Clause */
/* progressions.h: long arrays that follow a pattern, as few numbers. No GLib.
 *
 * An array is cut into stretches, and each of them is STRIDE progressions whose elements take
 * turns. The elements of a progression differ by a step, which itself may grow by the same each
 * time (0, 1, 3, 6, 10: triangles of a matrix). docs/recording.md ("Calls as words") says how an
 * array in a call is recorded so. */
#ifndef WEND_PROGRESSIONS_H
#define WEND_PROGRESSIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { WEND_MOST_STRIDE = 16 };

/* N signed integers of 4 or 8 bytes each. */
typedef struct {
    const void *data;
    unsigned width;
    int64_t n;
} WendIntegers;
static inline int64_t integer_at(const WendIntegers *v, int64_t i)
{
    return v->width == sizeof(int32_t) ? ((const int32_t *)v->data)[i]
                                       : ((const int64_t *)v->data)[i];
}

/* Elements FIRST, FIRST + STRIDE, … before END: VALUE, VALUE + STEP, VALUE + 2 STEP + BEND, … */
typedef struct {
    int64_t first, end, stride, value, step, bend;
} WendProgression;

/* The element after K steps. Sums wrap, since a damaged archive may have any numbers. */
static inline int64_t progression_value(int64_t value, int64_t step, int64_t bend, uint64_t k)
{
    uint64_t pairs = k & 1 ? (k - 1) / 2 * k : k / 2 * (k - 1);
    return (int64_t)((uint64_t)value + k * (uint64_t)step + pairs * (uint64_t)bend);
}

/* Finds the stretch that begins at element I: STRIDE progressions, with the stride that makes the
 * stretch longest. LEVEL: only progressions of equal elements. Returns the end of the stretch. */
int64_t progressions_at(const WendIntegers *v, int64_t i, bool level,
                        WendProgression stretch[WEND_MOST_STRIDE]);

#endif
