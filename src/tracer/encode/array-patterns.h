/* SPDX-License-Identifier: BSD-3-Clause */
/* array-patterns.h: long arrays as progressions (lib/record/progressions.h), where they are. */
#ifndef WEND_ARRAY_PATTERNS_H
#define WEND_ARRAY_PATTERNS_H

#include "lib/record/progressions.h"
#include "objects/objects.h"
#include "recorder/recorder.h"

/* What an array's elements are. */
typedef enum {
    FOLD_EQUAL, /* words that tell no number: only equal ones make a progression */
    FOLD_NAMED, /* numbers, of which negative ones may be constants of MPI's */
    FOLD_NUMBERS,
    FOLD_ADDRESSES /* numbers that may be addresses */
} FoldKind;

typedef struct {
    WendProgression p;
    bool number; /* its elements are no addresses, though they may look like some */
} Fold;

typedef struct {
    FoldKind kind;
    Fold *all; /* NULL: the array is not folded */
    size_t n, cap, at;
    int64_t total;
} Folding;

/* Elements of arrays that are shorter are recorded one by one: across ranks, each of them has its
 * own expression. */
enum { FOLD_LEAST = 1024 };

Folding array_pattern_long(ActiveCall *c, const void *array, size_t width, int64_t n,
                           FoldKind kind);
int64_t array_pattern_next(ActiveCall *c, Folding *f);

/* The length word of an array of N elements of WIDTH bytes each, in shape or slots, and which
 * elements are to be put: the first, if there is one, and then what array_next says, until that is
 * N. */
static inline Folding array_begin(ActiveCall *c, const void *array, size_t width, int64_t n,
                                  FoldKind kind)
{
    if (__builtin_expect(n >= FOLD_LEAST, 0))
        return array_pattern_long(c, array, width, n, kind);
    put_shape(c, n);
    return (Folding){0};
}
static inline int64_t array_next(ActiveCall *c, Folding *f, int64_t i)
{
    return __builtin_expect(!f->all, 1) ? i + 1 : array_pattern_next(c, f);
}

/* Is the element that is to be put now a number, though it may look like an address? */
static inline bool array_pattern_is_number(const Folding *f)
{
    return f->all && f->all[f->at].number;
}

#endif
