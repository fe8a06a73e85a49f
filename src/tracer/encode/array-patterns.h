/* SPDX-License-Identifier: BSD-3-Clause */
/* array-patterns.h: encodes long arrays as progressions (lib/record/progressions.h), if they have a
 * pattern. */
#ifndef WEND_ARRAY_PATTERNS_H
#define WEND_ARRAY_PATTERNS_H

#include "lib/record/progressions.h"
#include "objects/objects.h"
#include "recorder/recorder.h"

/* The kind of an array's elements. */
typedef enum {
    PATTERN_EQUAL, /* words that are no numbers: only equal words form a progression */
    PATTERN_NAMED, /* numbers; negative ones may be constants of MPI */
    PATTERN_NUMBERS,
    PATTERN_ADDRESSES /* numbers that may be addresses */
} ArrayPatternKind;

typedef struct {
    WendProgression p;
    bool number; /* its elements are numbers, even those that look like addresses */
} ArrayPattern;

typedef struct {
    ArrayPatternKind kind;
    ArrayPattern *all; /* NULL: the array has no pattern */
    size_t n, cap, at;
    int64_t total;
} ArrayPatterns;

/* Shorter arrays are recorded element by element: each element then has an expression of its own
 * over the ranks. */
enum { PATTERN_LEAST = 1024 };

ArrayPatterns array_patterns_find(ActiveCall *c, const void *array, size_t width, int64_t n,
                                  ArrayPatternKind kind);
int64_t array_patterns_next_long(ActiveCall *c, ArrayPatterns *f);

/* Begins an array of N elements of WIDTH bytes each: puts its length word. Then the caller puts
 * elements: the first one, if there is any, and each that array_patterns_next returns, until it
 * returns N. */
static inline ArrayPatterns array_patterns_begin(ActiveCall *c, const void *array, size_t width,
                                                 int64_t n, ArrayPatternKind kind)
{
    if (__builtin_expect(n >= PATTERN_LEAST, 0))
        return array_patterns_find(c, array, width, n, kind);
    call_put_shape(c, n);
    return (ArrayPatterns){0};
}
static inline int64_t array_patterns_next(ActiveCall *c, ArrayPatterns *f, int64_t i)
{
    return __builtin_expect(!f->all, 1) ? i + 1 : array_patterns_next_long(c, f);
}

/* Whether the current element is a number, although it may look like an address. */
static inline bool array_patterns_is_number(const ArrayPatterns *f)
{
    return f->all && f->all[f->at].number;
}

#endif
