/* SPDX-License-Identifier: BSD-3-Clause */
/* rules.h: grammars as rows of rules. */
#ifndef WEND_RULES_H
#define WEND_RULES_H

#include "base/buf.h"
#include "types.h"

typedef struct {
    uint32_t n;
    WendSymbol *symbols;
} Rule;

/* A count of RULE_TRIP + t is the t-th trip count of the class (variants.h), which differs by
 * rank. */
#define RULE_TRIP (UINT64_C(1) << 63)

/* A grammar as in a part. Rule 0 is the start. */
typedef struct {
    uint32_t n_rules;
    Rule *rules;
} RuleRow;

/* A symbol in an archive: its number, and in the lowest bits what it is. If it is repeated, a count
 * follows. */
enum { SYMBOL_IS_RULE = 1, SYMBOL_REPEATED = 2, SYMBOL_BITS = 2 };
void rule_encode_symbol(uint64_t number, bool is_rule, bool repeated, WendBuf *out);

/* How a rule is written: n (unsigned(2 id + is_rule) unsigned(repeats))^n, as in a part; or n
 * (symbol [unsigned(repeats)])^n, where a symbol that occurs once has no count
 * (rule_encode_symbol). */
typedef enum { RULES_PLAIN, RULES_SHORT } RulesForm;

/* Reads a grammar. Terminals must be below N_TERMINALS. false: damaged. Rules may use each other in
 * any order, but not in circles. */
bool rules_read(RuleRow *row, WendCursor *c, uint32_t n_terminals, RulesForm form);
/* The same for all bytes of GRAMMAR, in plain form. */
bool rules_from(RuleRow *row, Bytes *grammar, uint32_t n_terminals);
void rules_clear(RuleRow *row);
void rule_encode(const Rule *rule, RulesForm form, WendBuf *out);
/* The N rules that the start rule needs, each after all rules that it uses. NULL: a rule uses
 * itself. The caller frees it with memory_free. */
uint32_t *rules_bottom_up(const RuleRow *row, uint32_t *n);
/* Terminals in an expansion of the start rule; false if they are more than 2^62. */
bool rules_length(const RuleRow *row, uint64_t *length);
/* Adds to COUNTS how often the expansion of the start rule has each terminal. rules_length must
 * have succeeded. */
void rules_count(const RuleRow *row, uint64_t *counts);

/* -- a walk through the expansion of the start rule, run by run -- */
typedef struct {
    const RuleRow *row;
    Vector *stack; /* of frames */
    uint32_t terminal;
    /* terminals that are left of the run; 0: the end. Runs that follow each other may have the same
     * terminal */
    uint64_t run;
} Expansion;
Expansion rules_expand(const RuleRow *row);
void expansion_advance(Expansion *e, uint64_t n); /* by N terminals of the run */
void expansion_clear(Expansion *e);

#endif
