/* SPDX-License-Identifier: BSD-3-Clause */
/* elastic.h: reads the table of a part, and turns values in streams into terminals.
 *
 * The recorder keeps the calls of elastic shapes as values (cst.h), in a tenth of the memory. The
 * merge and the readers know only terminals. So each rank's part is unfolded when it is read: equal
 * calls get one terminal, and the sequence of terminals gets a new grammar. The result is byte for
 * byte what a recorder without elastic shapes would have written. */
#ifndef WEND_ELASTIC_H
#define WEND_ELASTIC_H

#include "base/base.h"
#include "base/containers.h"

/* A terminal and its slots; an elastic shape's has none. */
typedef struct {
    uint32_t shape;
    uint32_t n;
    const int64_t *words;
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

/* Replaces elastic terminals of T and *GRAMMAR by terminals for their calls, numbered by first
 * occurrence. Changes nothing if there are none.
 *
 * NUMBERS (uint32_t) gets the new terminal of each former one, or PAIR_NONE if it was
 * elastic or has no call.
 *
 * Returns false if the part is damaged. false with *ERROR set: the terminals, and what the merge
 * makes from them, would take more than ROOM bytes. Takes 10 to 50 ns for each call of the
 * sequence, 500 to 1,000 for each new one. */
bool elastic_unfold(PartTable *t, Bytes **grammar, Vector *numbers, uint64_t room, Error **error);

/* Longer sequences are damaged; for fuzzers. */
extern uint64_t elastic_calls_most;

#endif
