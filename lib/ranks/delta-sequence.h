/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence.h: a sequence of words, one for each of a set of ranks, kept as the differences
 * from one word to the next. Ascending ranks are kept in the same way.
 *
 * Words that are regular over ranks are a loop of few differences. For a constant or self + k there
 * is one difference. A row, a column or the transpose of a process grid, neighbours in a torus,
 * self ^ k, and the parent and the children in a tree are nested loops of two to four differences.
 * So the differences are kept as a grammar (grammar.h), like the calls. Its size grows with the
 * number of distinct pieces, not with the number of ranks. Words without such structure are kept as
 * a list. The form depends only on the words, not on the steps that made them.
 *
 * Special words (words.h: constants, WEND_ABSENT, …) have no difference: they stand for themselves,
 * and the next difference counts from the last ordinary word. A delta sequence never changes and is
 * shared by reference. */
#ifndef WEND_DELTA_SEQUENCE_H
#define WEND_DELTA_SEQUENCE_H

#include "base/buf.h"
#include "base/containers.h"

typedef struct DeltaSequence DeltaSequence;

/* COUNT words: value, value + step, … The step of a special word is 0. */
typedef struct {
    int64_t value, step;
    uint64_t count;
} DeltaSequenceRun;

/* -- making one -- */
typedef struct DeltaSequenceBuilder DeltaSequenceBuilder;
DeltaSequenceBuilder *delta_sequence_builder_new(void);
/* Appends a run; nothing if its count is 0. */
void delta_sequence_builder_add(DeltaSequenceBuilder *b, DeltaSequenceRun run);
/* Frees B and returns its delta sequence, or NULL if nothing was added. */
DeltaSequence *delta_sequence_builder_end(DeltaSequenceBuilder *b);
/* Frees B, and appends its delta sequence, if there is one, with delta_sequence_encode_shortest. */
void delta_sequence_builder_encode(DeltaSequenceBuilder *b, WendBuf *out,
                                   const uint32_t *constants);
/* The same, for a delta sequence that may resemble others of the archive. Grammars that resemble
 * each other compress well together, and coded words do not, so a grammar is preferred. */
void delta_sequence_builder_encode_alike(DeltaSequenceBuilder *b, WendBuf *out,
                                         const uint32_t *constants);
void delta_sequence_builder_free(DeltaSequenceBuilder *b);   /* B may be NULL */
DeltaSequence *delta_sequence_new_run(DeltaSequenceRun run); /* count > 0 */
DeltaSequence *delta_sequence_ref(DeltaSequence *s);         /* NULL gives NULL */
void delta_sequence_unref(DeltaSequence *s);
AUTO_DEFINE(DeltaSequence, delta_sequence_unref)

/* Completes the neighbours of some ranks of a torus to those of all N ranks.
 *
 * - WORDS: the neighbours of these ranks or, if DISTANCES, the distances to them.
 * - NUMBERS: these ranks + 1, ascending, at most N.
 * - SLOPE: whether the result has neighbours; else it has distances.
 *
 * Returns NULL if WORDS does not have two distances: that of ranks that wrap around and that of all
 * others. Use the result for an archive only. */
DeltaSequence *delta_sequence_complete_torus(const DeltaSequence *words,
                                             const DeltaSequence *numbers, bool distances,
                                             bool slope, uint64_t n);

/* -- reading -- */
uint64_t delta_sequence_length(const DeltaSequence *s);
/* Its size: 1 for one run, else the number of symbols or words. */
size_t delta_sequence_size(const DeltaSequence *s);
size_t delta_sequence_memory(const DeltaSequence *s); /* an estimate, in bytes */
/* A run that begins at INDEX < length. It may be shorter than possible. */
DeltaSequenceRun delta_sequence_run(const DeltaSequence *s, uint64_t index);
int64_t delta_sequence_at(const DeltaSequence *s, uint64_t index);
/* The N > 0 words from FIRST on, as a delta sequence. */
DeltaSequence *delta_sequence_part(const DeltaSequence *s, uint64_t first, uint64_t n);
bool delta_sequence_equal(const DeltaSequence *a, const DeltaSequence *b);
/* Calls F once or more for each special word that occurs. Returns false as soon as F does. */
typedef bool (*DeltaSequenceWord)(void *data, int64_t word);
bool delta_sequence_specials(const DeltaSequence *s, DeltaSequenceWord f, void *data);
/* All words are positive, each is above the one before, none above MOST. */
bool delta_sequence_ascends(const DeltaSequence *s, int64_t most);
/* Sets *INDEX to that of VALUE in a delta sequence that ascends. false: it does not occur. */
bool delta_sequence_find(const DeltaSequence *s, int64_t value, uint64_t *index);

/* -- as bytes (docs/format.md) -- */
/* CONSTANTS: the archive's number of each constant (codec.h); NULL: words as they are, between
 * merging processes. */
void delta_sequence_encode(const DeltaSequence *s, WendBuf *out, const uint32_t *constants);
/* The same in the shortest form:
 *
 * - words, if they take less than a grammar: small numbers without a pattern can have a grammar by
 *   coincidence;
 * - the neighbours in a torus;
 * - a geometric stretch and the few words before and behind it.
 *
 * Use it for an archive only. Between processes that merge, the form of a delta sequence must
 * depend on its words alone, and not on the order in which they merge. */
void delta_sequence_encode_shortest(const DeltaSequence *s, WendBuf *out,
                                    const uint32_t *constants);
/* Reads a delta sequence of N > 0 words; the caller unrefs it. NULL: it is damaged, and the cursor
 * has failed. CONSTANTS: the word of each constant of the archive, or NULL as in
 * delta_sequence_encode. */
DeltaSequence *delta_sequence_decode(WendCursor *c, uint64_t n, const int64_t *constants,
                                     uint32_t n_constants);

#endif
