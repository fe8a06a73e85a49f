/* SPDX-License-Identifier: BSD-3-Clause */
/* loop_rules.h: rules of loops and of their bodies, and rules of the calls of ranks with such
 * loops.
 *
 * loops.c appends its findings in the order of the calls: all calls of one rank, the end of the
 * rank, all calls of the next. */
#ifndef PROXYGEN_LOOP_RULES_H
#define PROXYGEN_LOOP_RULES_H

#include "lib/record/grammar.h"
#include "lib/record/rules.h"
#include "loops.h"

typedef struct LoopRules LoopRules;

void loop_rules_free_loop(Loop *loop);

LoopRules *loop_rules_new(Plan *plan);
void loop_rules_free(LoopRules *r);

/* appends to the calls of the current rank */
void loop_rules_append(LoopRules *r, WendSymbol symbol);
void loop_rules_end_rank(LoopRules *r, guint rank);

/* The rule of a body of N calls (NO_BODY if N is 0), and the rule of a loop. Equal bodies, and
 * equal loops, are one rule. */
guint loop_rules_body(LoopRules *r, const guint *terminals, guint n);
guint loop_rules_loop(LoopRules *r, Loop *loop); /* takes LOOP */

/* Calls STEP for the steps of a loop, in an order that is possible. In each step these N entries
 * complete, and then come the calls of BODY; the step is repeated TIMES times. */
typedef void (*LoopStep)(const guint *entries, guint n, guint body, guint64 times, gpointer data);
void loop_rules_steps(const Loop *loop, LoopStep step, gpointer data);

/* A thread of the plan, by its index, and one of its ranks. */
typedef struct {
    guint thread, rank;
} LoopRow;

/* Gives each of ROWS a thread with the calls that were appended for it. ROWS are in the order in
 * which ranks were appended. Ranks with equal calls share a thread. */
void loop_rules_replace(LoopRules *r, const GArray *rows);

/* wend_grammar_append, and the rules of the grammar (free them with rules_clear). Like GLib they
 * end the program if memory is short. GRAMMAR may be NULL, if it could not be made. */
void loop_rules_grammar_append(WendGrammar *grammar, guint terminal, guint64 times);
void loop_rules_grammar(const WendGrammar *grammar, guint n_terminals, RuleRow *rules);

#endif
