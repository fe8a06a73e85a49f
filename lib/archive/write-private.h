/* SPDX-License-Identifier: BSD-3-Clause */
/* write-private.h: the state of the archive writer and the functions that write the parts of an
 * archive. */
#ifndef WEND_WRITE_PRIVATE_H
#define WEND_WRITE_PRIVATE_H

#include "container.h"
#include "merge/recording.h"
#include "merge/side-members.h"
#include "merge/totals.h"
#include "record/codec.h"

typedef struct {
    const Recording *r;
    uint8_t *function_used, *constant_used;
    uint32_t *function_number, *constant_number; /* number in this build -> number in the archive */
    uint32_t n_functions, n_constants;
    /* scratch: by terminal, its calls in the current sequence, over all ranks */
    uint64_t *calls;
    Vector *called;        /* scratch: uint32_t, the terminals with calls, ascending */
    uint64_t *shape_calls; /* scratch: by shape, its calls */
    uint64_t *rule_times;  /* scratch: by rule, its uses; 0 between sequences */
    /* scratch: uint32_t, a sequence's rules, each after its users */
    Vector *rules;
    uint32_t *local; /* scratch: by terminal, its number in a sequence's table */
    WendTotals totals;
    struct TimingTable *times;   /* scratch: durations, intervals */
    DeltaSequenceBuilder *timed; /* scratch: by sequence, TIMING_NONE … */
    bool encoded;                /* scratch: whether a sequence has data for the current part */
    WendBuf out;                 /* the current member */
    uint64_t member_bytes;       /* of the last member that writer_member added */
    ContainerWriter *container;
} Writer;

/* Adds the contents of w->out as the member NAME, and empties w->out. */
void writer_member(Writer *w, const char *name);
/* Writes PLAIN to w->out, or OTHER if it is not NULL and shorter. Clears both. */
void writer_shorter(Writer *w, WendBuf *plain, WendBuf *other);
/* Writes a word, with the archive's numbers of constants. */
static inline void writer_word(Writer *w, int64_t word)
{
    codec_put_word(&w->out, word, w->constant_number);
}

/* Calls FUNCTION on each sequence of each class, in the archive's order. Returns false as soon as
 * FUNCTION returns false. */
typedef bool (*SequenceFunction)(Writer *w, const RecordedClass *k, const RecordedSequence *s);
bool writer_each_sequence(Writer *w, SequenceFunction function);

/* Counts the calls of each terminal and shape of S, a sequence of class K, over the ranks of
 * VARIANT (NULL: all ranks of the class). Sets w->calls, w->called, w->shape_calls, and *TOTAL to
 * the sum. Returns false if a number is too large. */
bool writer_count_calls(Writer *w, const RecordedClass *k, const RecordedSequence *s,
                        const Variant *variant, uint64_t *total);
/* Writes 1 and a part, to which FUNCTION adds the data of each sequence. END, if not NULL, adds the
 * data that follow those of all sequences. Writes 0 alone if no sequence has data (w->encoded).
 * Returns false if FUNCTION does. */
bool writer_if_encoded(Writer *w, SequenceFunction function, void (*end)(Writer *w));

/* The value that the ranks recorded for KEY, which belongs to M. NULL if there is none. */
const char *writer_fact(const WendMerge *m, const char *key);

/* Writes the member "meta", with the totals of w->totals. */
void write_meta(Writer *w);
/* Writes the part "rules". */
void write_rules(Writer *w);
/* Write the parts with the data of each sequence. false if a rank's outcomes or grammars are
 * damaged. */
bool write_outcomes(Writer *w);
bool write_polls(Writer *w);
bool write_timing(Writer *w);
/* Writes a member for each kind of side stream that ranks share. */
void write_shared_sides(Writer *w);
/* Writes the part with the time of each rank in each function. */
void write_rank_times(Writer *w);

#endif
