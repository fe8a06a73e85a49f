/* SPDX-License-Identifier: BSD-3-Clause */
/* loop_rules.h: the rules of loops and of their bodies, and the calls of ranks in which there are
 * such loops, as rules again.
 *
 * What loops.c finds is given here in the order of the calls: all of one rank, its end, all of the
 * next. */
#ifndef PROXYGEN_LOOP_RULES_H
#define PROXYGEN_LOOP_RULES_H

#include "lib/record/grammar.h"
#include "lib/record/rules.h"
#include "loops.h"

typedef struct LoopRules LoopRules;

void loop_free(Loop *loop);

LoopRules *loop_rules_new(Plan *plan);
void loop_rules_free(LoopRules *r);

void loop_rules_append(LoopRules *r, WendSymbol symbol); /* to the present rank's calls */
void loop_rules_end_rank(LoopRules *r, guint rank);

/* The rule that is a body of N calls (NO_BODY if there are none), and the one that is a loop; what
 * is equal is one rule. */
guint loop_rules_body(LoopRules *r, const guint *terminals, guint n);
guint loop_rules_loop(LoopRules *r, Loop *loop); /* takes it */

/* What a loop does, in an order that can happen: TIMES times these entries complete, and then come
 * the calls of BODY. */
typedef void (*LoopStep)(const guint *entries, guint n, guint body, guint64 times, gpointer data);
void loop_steps(const Loop *loop, LoopStep step, gpointer data);

/* a thread of the plan, by its place in it, and one of its ranks */
typedef struct {
    guint thread, rank;
} LoopRow;

/* Gives each rank of the rows, which are those that were given, in that order, a thread of what was
 * appended; ranks with equal calls are one thread. */
void loop_rules_replace(LoopRules *r, const GArray *rows);

/* wend_grammar_append, and the rules of what was appended (rules_clear): as GLib, they end the
 * program where memory is short. GRAMMAR NULL: so it was when it was made. */
void loop_rules_grammar_append(WendGrammar *grammar, guint terminal, guint64 times);
void loop_rules_grammar(const WendGrammar *grammar, guint n_terminals, RuleRow *rules);

#endif
