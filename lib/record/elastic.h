/* SPDX-License-Identifier: BSD-3-Clause */
/* elastic.h: reads the table of a part, and turns values in streams into terminals.
 *
 * The recorder keeps the calls of elastic shapes as values (cst.h), in a tenth of the memory. The
 * merge and the readers know only terminals. So each rank's part is unfolded when it is read: equal
 * calls get one terminal, and the sequence of terminals gets a new grammar. The result is byte for
 * byte what a recorder without elastic shapes would have written.
 *
 * A root that calls each rank makes calls whose slots go up in equal steps. These calls may become
 * one strided terminal (PartTerminal): each of its occurrences is the next of the calls. */
#ifndef WEND_ELASTIC_H
#define WEND_ELASTIC_H

#include "base/base.h"
#include "base/containers.h"

/* A terminal and its slots; an elastic shape's has none. COUNT > 0: it is strided, and stands for
 * COUNT terminals whose slots begin with WORDS and go up by STEPS, n each. */
typedef struct {
    uint32_t shape;
    uint32_t n;
    const int64_t *words;
    uint32_t count;
    const int64_t *steps;
} PartTerminal;
/* of an elastic shape: outcome-runs.h */
typedef struct {
    uint32_t terminal;
    WendCursor runs;
} PartStream;

typedef struct {
    WendArena arena; /* words of slots */
    uint32_t n_shapes;
    WendBuf shapes;    /* n (n word^n)^n */
    Vector *terminals; /* PartTerminal */
    Vector *streams;   /* PartStream, ascending */
} PartTable;

/* Reads "shapes terminals" of a part. false: damaged. The caller clears the table in either case.
 * The bytes of streams are those of the cursor. */
bool part_table_read(PartTable *t, WendCursor *c);
void part_table_clear(PartTable *t);

/* Replaces elastic and strided terminals of T and *GRAMMAR by terminals for their calls, numbered
 * by first occurrence. Changes nothing if there are none.
 *
 * STRIDED: long runs of calls whose slots go up in equal steps become strided terminals. The first
 * call of a run keeps a terminal of its own, which shows the grammar where a run begins.
 *
 * NUMBERS (uint32_t) gets the new terminal of each former one, or PAIR_NONE if it was
 * elastic or strided or has no call.
 *
 * Returns false if the part is damaged. false with *ERROR set: the terminals, and what the merge
 * makes from them, would take more than ROOM bytes. Takes 10 to 50 ns for each call of the
 * sequence, 500 to 1,000 for each new one. */
bool elastic_unfold(PartTable *t, Bytes **grammar, bool strided, Vector *numbers, uint64_t room,
                    Error **error);

/* Longer sequences are damaged; for fuzzers. */
extern uint64_t elastic_calls_most;

#endif
