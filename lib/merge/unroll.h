/* SPDX-License-Identifier: BSD-3-Clause */
/* unroll.h: replaces strided terminals (class.h) in rules by the terminals that they stand for.
 *
 * An archive has no strided terminals. A loop over all ranks is one rule there with all of its
 * calls, in a few bytes if their numbers ascend (write.c). Such a rule is never in memory: its
 * symbols are walked one by one. A rule of the grammar becomes a rule of the archive only if no use
 * of it begins or ends within the calls of a strided terminal. The symbols of other rules become
 * part of the rules that use them. */
#ifndef WEND_UNROLL_H
#define WEND_UNROLL_H

#include "class.h"
#include "record/rules.h"

typedef struct {
    RuleRow row;      /* the sequence's grammar */
    uint32_t *counts; /* by terminal: the terminals that it stands for; 0: it is not strided */
    uint8_t *kind;    /* by rule: Unrolled */
    uint32_t *number; /* by rule: the caller's number, if it becomes a rule of the archive */
} Unrolling;

/* A rule: has no strided terminals; is part of the rules that use it; has to be walked. */
typedef enum { UNROLLED_AS_IT_IS, UNROLLED_INLINE, UNROLLED_WHOLE } Unrolled;

/* For a sequence with strided terminals. NULL: the grammar is damaged, or its rules would have far
 * more calls than it has terminals. Time is linear in the calls. */
Unrolling *unrolling_new(const Sequence *s);
void unrolling_free(Unrolling *u);

/* The symbols of RULE, which becomes a rule of the archive: each once, in no order, with the number
 * of its occurrences. */
Rule unrolling_summary(const Unrolling *u, uint32_t rule);

/* A walk through the symbols of a rule of the archive. */
typedef struct {
    const Unrolling *u;
    Vector *stack;
    uint32_t *at;       /* by strided terminal: the calls of the row so far */
    WendSymbol strided; /* the rest of the current symbol, if it is strided */
} UnrolledWalk;
/* A symbol. If its terminal is strided, it is RUN of the terminals that it stands for, from number
 * FIRST on. */
typedef struct {
    WendSymbol symbol;
    uint32_t first, run;
} UnrolledSymbol;

UnrolledWalk unrolled_walk(const Unrolling *u, uint32_t rule);
bool unrolled_walk_next(UnrolledWalk *w, UnrolledSymbol *s); /* false: the end */
void unrolled_walk_clear(UnrolledWalk *w);

#endif
