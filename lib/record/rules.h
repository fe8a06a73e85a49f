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

/* A grammar as it is in a part: rule 0 is the start. */
typedef struct {
    guint n_rules;
    Rule *rules;
} RuleRow;

/* A symbol as an archive has it: NUMBER says which, and the lowest bits what it is. A count
 * follows where it is repeated. */
enum { SYMBOL_IS_RULE = 1, SYMBOL_REPEATED = 2, SYMBOL_BITS = 2 };
void symbol_encode(guint64 number, gboolean is_rule, gboolean repeated, WendBuf *out);

/* How a rule is written: n (unsigned(2 id + is_rule) unsigned(repeats))^n, as in a part; or n
 * (symbol [unsigned(repeats)])^n, where a symbol that occurs once has no count (symbol_encode). */
typedef enum { RULES_PLAIN, RULES_SHORT } RulesForm;

/* Reads a grammar as wend_grammar_encode wrote it, or its rules one by one; terminals must be below
 * n_terminals. FALSE: damaged. Rules may use each other in any order, but not in circles. */
gboolean rules_read(RuleRow *row, WendCursor *c, guint32 n_terminals, RulesForm form);
/* Likewise, all of GRAMMAR, which is plain. */
gboolean rules_from(RuleRow *row, GBytes *grammar, guint32 n_terminals);
void rules_clear(RuleRow *row);
void rule_encode(const Rule *rule, RulesForm form, WendBuf *out);
/* The rules of ROW, each after all those that it uses; g_free. Only those that the start rule
 * needs; NULL: a rule uses itself. */
guint32 *rules_bottom_up(const RuleRow *row, guint *n);
/* Terminals in an expansion of the start rule; FALSE if they are more than 2^62. */
gboolean rules_length(const RuleRow *row, guint64 *length);
/* Adds to COUNTS how often each terminal is in an expansion of the start rule, whose length is
 * known. */
void rules_count(const RuleRow *row, guint64 *counts);

/* -- going through an expansion of the start rule, run by run -- */
typedef struct {
    const RuleRow *row;
    GArray *stack; /* of frames */
    guint32 terminal;
    /* of it, that are left; 0: the end. Runs that follow each other may be of one terminal */
    guint64 run;
} Expansion;
Expansion rules_expand(const RuleRow *row);
void expansion_advance(Expansion *e, guint64 n); /* by N terminals of the run */
void expansion_clear(Expansion *e);

#endif
