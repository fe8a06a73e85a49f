/* SPDX-License-Identifier: BSD-3-Clause */
/* loops.h: loops over Waitany, Testsome and similar functions, with a body that depends on the
 * completed request. */
#ifndef PROXYGEN_LOOPS_H
#define PROXYGEN_LOOPS_H

#include "lib/base/error.h"
#include "lib/record/grammar.h"
#include "lib/record/rules.h"
#include "src/proxygen/model/model.h"

/* -- loops.c -- */

/* Consecutive completions of one entry of a request array, with equal calls upon each. With JOINT >
 * 0 the calls are made once the other entries of joint JOINT - 1 have completed, too. */
typedef struct {
    guint body, joint;
    guint64 times;
} LoopRun; /* BODY is a rule, or NO_BODY if there are no calls */
enum { NO_BODY = G_MAXINT32 };

/* Two or more entries, ascending, that must all complete before the calls of a body. */
typedef struct {
    guint n;
    guint *entries;
} LoopJoint;

/* A loop over Waitany, Waitsome, Testany or Testsome. It runs until each entry of the array has
 * completed as often as in the recording, in any order. The k-th completion of an entry makes the
 * calls that followed its k-th completion in the recording. */
typedef struct Loop {
    guint terminal; /* the call that completes */
    guint n;        /* number of entries in its array */
    GArray **runs;  /* by entry: of LoopRun */
    guint64 *times; /* by entry: number of completions */
    GArray *joints; /* of LoopJoint */
    gint64 total;   /* completions of all entries */
    /* entries that must not complete here (again) may be active: the loop hides them */
    gboolean hides;
} Loop;

/* Finds such loops. Their calls become rules of the plan (loop-rules.c). Returns FALSE with an
 * error that names the recording. */
gboolean plan_loops(Plan *plan, Error **error);

/* -- loop-rules.c -- */

/* Rules of loops and of their bodies, and rules of the calls of ranks with such loops. loops.c
 * appends its findings in the order of the calls: all calls of one rank, the end of the rank, all
 * calls of the next. */

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

/* grammar_append, and the rules of the grammar (free them with rules_clear). Like GLib they
 * end the program if memory is short. GRAMMAR may be NULL, if it could not be made. */
void loop_rules_grammar_append(WendGrammar *grammar, guint terminal, guint64 times);
void loop_rules_grammar(const WendGrammar *grammar, guint n_terminals, RuleRow *rules);

#endif
