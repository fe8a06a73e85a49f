/* SPDX-License-Identifier: BSD-3-Clause */
/* recording.h: a merged recording before it is written: all classes share its terminals and
 * rules. */
#ifndef WEND_RECORDING_H
#define WEND_RECORDING_H

#include "class.h"
#include "record/rules.h"
#include "shard.h"
#include "unroll.h"
#include "variants.h"

/* A terminal. Its slots and ranks belong to the first class that has it. */
typedef struct {
    uint32_t shape;
    uint32_t n_slots;
    RankVector *slots;
    const RankSet *ranks;   /* the ranks of its delta sequences; NULL: it has none */
    const Strided *strided; /* NULL: it is not strided */
} Signature;

static inline uint32_t signature_count(const Signature *s)
{
    return s->strided ? s->strided->count : 1;
}

/* By number in a table of a sequence: the number in the recording. */
typedef struct {
    uint32_t *shapes, *terminals;
} TableMap;

typedef struct {
    const Sequence *sequence;
    uint32_t rule; /* the start rule */
    TableMap main;
    TableMap *polls;      /* for each of sequence->poll_tables */
    Unrolling *unrolling; /* NULL: it has no strided terminals */
} RecordedSequence;

/* A rule that is unrolled (unroll.h). */
typedef struct {
    const RecordedSequence *sequence;
    uint32_t rule; /* in the grammar of the sequence */
} UnrolledRule;

typedef struct {
    const Class *class;
    const Variants *variants; /* NULL: there are none */
    RecordedSequence *sequences;
} RecordedClass;

typedef struct {
    const WendMerge *merge;
    Map *variants;      /* Class -> Variants */
    Vector *shapes;     /* ShapeRow */
    Vector *signatures; /* Signature: the terminals */
    /* By signature: its number in the archive; of a strided terminal, that of its first terminal.
     * The entry behind the last signature is the number of all terminals. */
    uint32_t *numbers;
    /* Rule, over signatures. A rule uses only rules before it. An unrolled rule has each of its
     * symbols once, in no order. */
    Vector *rules;
    Map *unrolled;   /* number -> UnrolledRule */
    Vector *classes; /* RecordedClass, by lowest rank */
} Recording;

/* Shares terminals and rules between the classes of M. M must outlive the result. Its classes
 * change, so it can only be freed afterwards. Returns NULL and sets the error on failure. The
 * caller frees the result. */
Recording *recording_share_terminals(WendMerge *m, Error **error);
void recording_free(Recording *r);

#endif
