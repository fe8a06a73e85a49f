/* grammar.h: an online Sequitur grammar with repetition counts.
 *
 * Source: Nevill-Manning and Witten, "Identifying hierarchical structure in sequences" (1997); repetition counts as in
 * the Pilgrim paper, section 2.2. Properties kept: no pair of adjacent symbols (with equal exponents) occurs twice, each rule is used at
 * least twice (an exponent counts as uses), B^i B^j is B^(i+j). A loop costs O(1) memory and near-constant time per iteration:
 * when the start rule ends in R^e, a cursor walks R's expansion and only compares (see grammar.c).
 * No GLib; when memory is short an append returns false, and what was appended before stays right. */
#ifndef WEND_GRAMMAR_H
#define WEND_GRAMMAR_H

#include "buf.h"

typedef struct WendGrammar WendGrammar;

WendGrammar *wend_grammar_new(void);                          /* NULL: no memory */
void wend_grammar_free(WendGrammar *g);
bool wend_grammar_append(WendGrammar *g, uint32_t terminal, uint64_t times); /* terminal < 2^31 */
uint64_t wend_grammar_length(const WendGrammar *g);           /* terminals appended */
size_t wend_grammar_memory(const WendGrammar *g);             /* bytes held */

/* Writes: number of rules; for each rule (0 is the start; a rule's number is its order of first use in a depth-first reading from
 * the start, so equal sequences give equal bytes): number of symbols, then for each symbol unsigned((id << 1 | is_rule)) and unsigned(exponent).
 * Non-destructive: appending may go on. */
void wend_grammar_encode(WendGrammar *g, WendBuf *out);

#endif
