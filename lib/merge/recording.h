/* SPDX-License-Identifier: BSD-3-Clause */
/* recording.h: a merged recording before it is written: all classes share its terminals and
 * rules. */
#ifndef WEND_RECORDING_H
#define WEND_RECORDING_H

#include "class.h"
#include "record/rules.h"
#include "shard.h"
#include "variants.h"

/* A terminal. Its slots and ranks belong to the first class that has it. */
typedef struct {
    uint32_t shape;
    uint32_t n_slots;
    RankVector *slots;
    const RankSet *ranks; /* the ranks of its delta sequences; NULL: it has none */
} Signature;

/* By number in a table of a sequence: the number in the recording. */
typedef struct {
    uint32_t *shapes, *terminals;
} TableMap;

typedef struct {
    const Sequence *sequence;
    uint32_t rule; /* the start rule */
    TableMap main;
    TableMap *polls; /* for each of sequence->poll_tables */
} RecordedSequence;

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
    Vector *rules;      /* Rule, over signatures. A rule uses only rules before it */
    Vector *classes;    /* RecordedClass, by lowest rank */
} Recording;

/* Shares terminals and rules between the classes of M. M must outlive the result. Its classes
 * change, so it can only be freed afterwards. Returns NULL and sets the error on failure. The
 * caller frees the result. */
Recording *recording_share_terminals(WendMerge *m, Error **error);
void recording_free(Recording *r);

#endif
