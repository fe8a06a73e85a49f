/* SPDX-License-Identifier: BSD-3-Clause */
/* part.c: see part.h. */
#include "part.h"

#include <string.h>

void facts_add(WendFacts *f, const char *key, const char *value)
{
    buf_string(&f->bytes, key);
    buf_string(&f->bytes, value);
    f->n++;
}

void part_begin(WendBuf *out, const WendFacts *facts, uint32_t rank, uint32_t size,
                size_t n_sequences)
{
    buf_bytes(out, WEND_PART_MAGIC, strlen(WEND_PART_MAGIC));
    buf_unsigned(out, WEND_PART_VERSION);
    out->failed |= facts->bytes.failed;
    buf_unsigned(out, facts->n);
    buf_bytes(out, facts->bytes.data, facts->bytes.len);
    buf_unsigned(out, rank);
    buf_unsigned(out, size);
    buf_unsigned(out, n_sequences);
}

static void write_table(WendBuf *out, const WendCst *t, bool timing, const WendPartSequence *s)
{
    if (t)
        cst_encode(t, timing, s ? s->unfinished : NULL, s ? s->n_unfinished : 0, out);
    else /* no shapes, terminals, timing */
        buf_bytes(out, "\0\0", 3);
}

static void write_grammar(WendBuf *out, const WendGrammar *g, const WendTail *tail)
{
    WendBuf block = {.resize = out->resize};
    if (g)
        grammar_encode(g, tail, &block);
    else /* one rule, empty */
        buf_bytes(&block, "\1", 2);
    buf_block(out, &block);
    buf_clear(&block);
}

void part_sequence(WendBuf *out, const WendPartSequence *s)
{
    buf_unsigned(out, s->kind);
    buf_signed(out, s->id);
    write_table(out, s->calls, true, s);
    uint64_t times[s->n_unfinished + 1];
    for (size_t i = 0; i < s->n_unfinished; i++)
        times[i] = s->unfinished[i].times;
    write_grammar(out, s->grammar, &(WendTail){cst_terminals(s->calls), s->n_unfinished, times});
    /* else they come before the first of these */
    buf_unsigned(out, s->n_unfinished > 0 ? 0 : s->polls_after);
    write_table(out, s->polls, false, NULL);
    write_grammar(out, s->polls_grammar, NULL);
}
