/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.h: grammars as rows of rules. */
#ifndef WEND_RULES_H
#define WEND_RULES_H

#include "base/buf.h"
#include "types.h"

typedef struct {
    guint n;
    WendSymbol *symbols;
} Rule;

/* A count of RULE_TRIP + t is the t-th trip count of the class (variants.h), which differs by
 * rank. */
#define RULE_TRIP (UINT64_C(1) << 63)

/* A grammar as in a part. Rule 0 is the start. */
typedef struct {
    guint n_rules;
    Rule *rules;
} RuleRow;

/* A symbol in an archive: its number, and in the lowest bits what it is. If it is repeated, a count
 * follows. */
enum { SYMBOL_IS_RULE = 1, SYMBOL_REPEATED = 2, SYMBOL_BITS = 2 };
void rule_encode_symbol(guint64 number, gboolean is_rule, gboolean repeated, WendBuf *out);

/* How a rule is written: n (unsigned(2 id + is_rule) unsigned(repeats))^n, as in a part; or n
 * (symbol [unsigned(repeats)])^n, where a symbol that occurs once has no count
 * (rule_encode_symbol). */
typedef enum { RULES_PLAIN, RULES_SHORT } RulesForm;

/* Reads a grammar. Terminals must be below N_TERMINALS. FALSE: damaged. Rules may use each other in
 * any order, but not in circles. */
gboolean rules_read(RuleRow *row, WendCursor *c, guint32 n_terminals, RulesForm form);
/* The same for all bytes of GRAMMAR, in plain form. */
gboolean rules_from(RuleRow *row, GBytes *grammar, guint32 n_terminals);
void rules_clear(RuleRow *row);
void rule_encode(const Rule *rule, RulesForm form, WendBuf *out);
/* The N rules that the start rule needs, each after all rules that it uses. NULL: a rule uses
 * itself. The caller frees it with g_free. */
guint32 *rules_bottom_up(const RuleRow *row, guint *n);
/* Terminals in an expansion of the start rule; FALSE if they are more than 2^62. */
gboolean rules_length(const RuleRow *row, guint64 *length);
/* Adds to COUNTS how often the expansion of the start rule has each terminal. rules_length must
 * have succeeded. */
void rules_count(const RuleRow *row, guint64 *counts);

/* -- a walk through the expansion of the start rule, run by run -- */
typedef struct {
    const RuleRow *row;
    GArray *stack; /* of frames */
    guint32 terminal;
    /* terminals that are left of the run; 0: the end. Runs that follow each other may have the same
     * terminal */
    guint64 run;
} Expansion;
Expansion rules_expand(const RuleRow *row);
void expansion_advance(Expansion *e, guint64 n); /* by N terminals of the run */
void expansion_clear(Expansion *e);

#endif
