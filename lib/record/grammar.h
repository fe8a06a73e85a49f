/* SPDX-License-Identifier: BSD-3-Clause */
/* grammar.h: an online Sequitur grammar with repetition counts.
 *
 * Source: Nevill-Manning and Witten, "Identifying hierarchical structure in sequences" (1997);
 * repetition counts as in the Pilgrim paper, section 2.2. Properties kept: no pair of adjacent
 * symbols (with equal counts) occurs twice, a rule used once has a count of 2 or more there, a rule
 * has at least two symbols, B^i B^j is B^(i+j). Time and memory are linear in the appended
 * symbols; a loop costs O(1) memory and a few nanoseconds a symbol, whatever its length. The
 * grammar depends on the sequence alone, not on how appends were grouped or when it was encoded. No
 * GLib; when memory is short an append returns false, and what was appended before stays right. */
#ifndef WEND_GRAMMAR_H
#define WEND_GRAMMAR_H

#include "base/buf.h"

typedef struct WendGrammar WendGrammar;

WendGrammar *grammar_new(void); /* NULL: no memory */
/* The same, but terminals may wait until some dozens are appended at once. It has the same content
 * at any time. For sequences whose terminals come between other work. */
WendGrammar *grammar_new_deferring(void);
void grammar_free(WendGrammar *g);
/* terminal < 2^31; false also past 2^64-1 symbols */
bool grammar_append(WendGrammar *g, uint32_t terminal, uint64_t times);
uint64_t grammar_length(const WendGrammar *g); /* terminals appended */
size_t grammar_memory(const WendGrammar *g);   /* bytes held */

/* N terminals that are written behind the sequence: FIRST, FIRST + 1, …, each with a repetition
 * count. */
typedef struct {
    uint32_t first;
    size_t n;
    const uint64_t *times;
} WendTail;

/* Writes: number of rules; for each rule (0 is the start; a rule's number is its order of first use
 * in a depth-first reading from the start, so equal sequences give equal bytes): number of symbols,
 * then for each symbol unsigned((id << 1 | is_rule)) and unsigned(repeats). The grammar is
 * unchanged, and appending may go on. TAIL may be NULL. All memory comes from OUT's function. */
void grammar_encode(const WendGrammar *g, const WendTail *tail, WendBuf *out);
/* The same, and frees the grammar; so it takes no memory for a copy. */
void grammar_end(WendGrammar *g, WendBuf *out);

#endif
