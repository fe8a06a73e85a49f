/* SPDX-License-Identifier: BSD-3-Clause */
/* unroll.h: rules that have strided terminals (class.h), as rules of what these stand for.
 *
 * An archive has no strided terminals: a loop over all ranks is one rule there, with all of its
 * calls, which is told in a few bytes where their numbers go up (write.c). Here it is never made:
 * it is gone through, call by call. A rule is one of the archive only if no row of calls is under
 * way where it begins or where it ends, wherever it is used; what is in others belongs to the rules
 * that use them. */
#ifndef WEND_UNROLL_H
#define WEND_UNROLL_H

#include "class.h"
#include "record/rules.h"

typedef struct {
    RuleRow row;     /* the sequence's grammar */
    guint32 *counts; /* by terminal: how many a strided one stands for; 0: it is none */
    guint8 *kind;    /* by rule: Unrolled */
    guint32 *number; /* by rule: the caller's number of it, if it is one by itself */
} Unrolling;

/* Of no row; part of those that use it; one that has to be gone through. */
typedef enum { UNROLLED_AS_IT_IS, UNROLLED_INLINE, UNROLLED_WHOLE } Unrolled;

/* Of a sequence with strided terminals. NULL: the grammar is damaged, or its rules would have far
 * more calls than it has terminals. Time is linear in the calls. */
Unrolling *unrolling_new(const Sequence *s);
void unrolling_free(Unrolling *u);

/* The symbols of RULE, a whole one: each once, in no order. Its repetition count says how often the
 * rule has it. */
Rule unrolling_summary(const Unrolling *u, guint32 rule);

/* Going through a whole rule. */
typedef struct {
    const Unrolling *u;
    GArray *stack;
    guint32 *at;        /* by strided terminal: how many of the row have been */
    WendSymbol strided; /* what is left of the symbol at hand, if it is strided */
} UnrolledWalk;
/* The next symbol; a terminal may be strided, and is then RUN of those it stands for, from its
 * FIRST on. */
typedef struct {
    WendSymbol symbol;
    guint32 first, run;
} UnrolledSymbol;

UnrolledWalk unrolled_walk(const Unrolling *u, guint32 rule);
gboolean unrolled_next(UnrolledWalk *w, UnrolledSymbol *s); /* FALSE: the end */
void unrolled_clear(UnrolledWalk *w);

#endif
