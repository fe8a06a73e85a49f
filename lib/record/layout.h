/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h: which words of a call belong to which parameter (docs/recording.md, "Calls as words").
 * No other code decides that. */
#ifndef WEND_LAYOUT_H
#define WEND_LAYOUT_H

#include "base/containers.h"

#include <limits.h>
#include "functions.h"
#include "words.h"

/* One parameter of a call. in and out index the row of words that layout_static gathers. */
typedef struct {
    int64_t n_in, n_out;
    uint32_t in, out;
} LayoutArg;

typedef struct {
    Vector *args;       /* LayoutArg, one for each parameter */
    Vector *words;      /* int64_t: the elements of all parameters, shape and slots gathered */
    Vector *slot_param; /* int16_t: parameter of each slot */
    Vector *outcome;    /* int16_t: parameters with words in the outcome, in their order */
    bool unfinished;    /* the call had not returned */
    uint64_t nulls;     /* bit i: NULL was given for the result that is parameter i */
} Layout;

void layout_init(Layout *l);
void layout_clear(Layout *l);
/* Splits the words of shape and slots. Returns false if they do not fit the function's parameters
 * (words are missing, left over or invalid). Arrays that are progressions are unfolded. */
bool layout_static(Layout *l, const WendFunction *f, const int64_t *shape, uint32_t n_shape,
                   const int64_t *slots, uint32_t n_slots);
/* The same without the words of the slots: checks, and fills all but the words. Nothing is
 * unfolded. */
bool layout_fits(Layout *l, const WendFunction *f, const int64_t *shape, uint32_t n_shape,
                 uint32_t n_slots);

/* Where a word comes from, for all ranks: from the shape or from a slot. A word of an array that is
 * progressions is element STEPS of the progression whose value is in SLOT; its step and bend are in
 * the next two slots. */
typedef struct {
    uint32_t slot;
    int64_t steps;
} LayoutOrigin;
enum { LAYOUT_OF_SHAPE = UINT_MAX };
/* The same for all ranks at once. ORIGINS (of LayoutOrigin) gets an element for each word. Words
 * that come from a slot are 0. Arrays that are progressions are unfolded. */
bool layout_symbolic(Layout *l, const WendFunction *f, const int64_t *shape, uint32_t n_shape,
                     uint32_t n_slots, Vector *origins);

/* The number of words of one element, in or out. An address has four: segment (or WEND_PLAIN, …)
 * and offset or value; then, if it is a distance, segment and offset of the place from which it
 * counts, else WEND_PLAIN and 0. */
static inline uint32_t layout_element_words(const WendParam *p, bool out)
{
    switch (p->kind) {
    case WEND_KIND_BUF:
    case WEND_KIND_ATTR:
    case WEND_KIND_TARGET:
        return 2;
    case WEND_KIND_ADDRESS:
    case WEND_KIND_STATUS:
        return 4;
    case WEND_KIND_COMM:
    case WEND_KIND_DATATYPE:
        return out ? 6 : 1;
    default:
        return 1;
    }
}

/* Can an array of a parameter, in or out, be recorded as progressions? If all words of the elements
 * are in the shape, only as progressions of equal elements. */
typedef enum { LAYOUT_NO_PATTERN, LAYOUT_PATTERN_EQUAL, LAYOUT_PATTERN_NUMBERS } LayoutPattern;
static inline LayoutPattern layout_pattern(const WendParam *p, bool out)
{
    const LayoutPattern numbers =
        param_is_in_slots(p) ? LAYOUT_PATTERN_NUMBERS : LAYOUT_PATTERN_EQUAL;
    switch (p->kind) {
    case WEND_KIND_STRING:
    case WEND_KIND_STRINGS:
    case WEND_KIND_STRINGS2:
    case WEND_KIND_STATUS:
    case WEND_KIND_SKIP:
    case WEND_KIND_SELF:
    case WEND_KIND_BUF:
    case WEND_KIND_ATTR:
    case WEND_KIND_TARGET:
    case WEND_KIND_REQUEST:
    case WEND_KIND_FUNC:
    case WEND_KIND_SEGMENT:
        return LAYOUT_NO_PATTERN;
    case WEND_KIND_ADDRESS:
        return LAYOUT_PATTERN_NUMBERS;
    case WEND_KIND_FOUND:
    case WEND_KIND_LOGICAL:
    case WEND_KIND_ENUM:
    case WEND_KIND_BITS:
        return numbers;
    default:
        if (kind_is_number(p->kind))
            return numbers;
        /* a handle that the call makes is no repetition of the one before */
        return out ? LAYOUT_NO_PATTERN : LAYOUT_PATTERN_EQUAL;
    }
}

/* A reader of one outcome entry. Words behind the end of the entry are zero, so an entry of zeros
 * needs no words. */
typedef struct {
    const int64_t *words;
    uint32_t n, at;
} OutcomeCursor;
int64_t outcome_cursor_word(OutcomeCursor *c);
/* Appends the words of one parameter to ROW, as WendArg gives them, and returns n_out. An array's
 * length is limited by the entry. */
int64_t layout_outcome(OutcomeCursor *c, const WendParam *p, Vector *row);

#endif
