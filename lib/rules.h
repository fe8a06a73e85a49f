/* rules.h: grammars as rows of rules. */
#ifndef WEND_RULES_H
#define WEND_RULES_H

#include "buf.h"
#include "program.h"

typedef struct { guint n; WendSymbol *symbols; } Rule;

/* An exponent of RULE_TRIP + t: the t-th trip count of the class (variants.h), another one on some ranks than on others. */
#define RULE_TRIP (UINT64_C(1) << 63)

/* A grammar as it is in a part: rule 0 is the start. */
typedef struct { guint n_rules; Rule *rules; } RuleRow;

/* Reads a grammar as wend_grammar_encode wrote it; terminals must be below n_terminals. FALSE: damaged. Rules may use each other in any order, but not in circles. */
gboolean rules_read(RuleRow *row, WendCursor *c, guint32 n_terminals);
gboolean rules_read_short(RuleRow *row, WendCursor *c, guint32 n_terminals); /* as rule_encode_short writes them */
/* Likewise, all of GRAMMAR. */
gboolean rules_from(RuleRow *row, GBytes *grammar, guint32 n_terminals);
void rules_clear(RuleRow *row);
/* n (unsigned(2 id + is_rule) unsigned(exponent))^n, as in a part */
void rule_encode(const Rule *rule, WendBuf *out);
void rule_encode_short(const Rule *rule, WendBuf *out);        /* what is not repeated has no exponent */
/* The rules of ROW, each after all those that it uses; g_free. Only those that the start rule needs; NULL: a rule uses itself. */
guint32 *rules_bottom_up(const RuleRow *row, guint *n);
/* Terminals in an expansion of the start rule; FALSE if they are more than 2^62. */
gboolean rules_length(const RuleRow *row, guint64 *length);

/* -- going through an expansion of the start rule, run by run -- */
typedef struct {
    const RuleRow *row;
    GArray *stack;           /* of frames */
    guint32 terminal;
    guint64 run;             /* of it, that are left; 0: the end. Runs that follow each other may be of one terminal */
} Expansion;
Expansion rules_expand(const RuleRow *row);
void expansion_advance(Expansion *e, guint64 n);  /* by N terminals of the run */
void expansion_clear(Expansion *e);

#endif
