/* SPDX-License-Identifier: BSD-3-Clause */
/* elastic.h: a table as it is in a part, and calls that are values in a stream there as terminals
 * again.
 *
 * The recorder keeps the calls of a shape that are mostly new ones as values (cst.h): that takes a
 * tenth of the memory, and the application has that. What merges and reads programs knows terminals
 * alone. So each rank's part is unfolded when it is read: its calls are gone through, equal ones
 * get one terminal, and their sequence goes through a new grammar. The result is what a recorder
 * without elastic shapes would have handed over, byte for byte.
 *
 * A root that calls each rank has calls whose slots go up in equal steps. These may stay one
 * terminal, a strided one, of which each call in turn is the next (PartTerminal). */
#ifndef WEND_ELASTIC_H
#define WEND_ELASTIC_H

#include <glib.h>

#include "base/arena.h"
#include "base/buf.h"

/* Slots; none of an elastic shape's. COUNT > 0: it is strided, and stands for so many terminals
 * whose slots go up in STEPS (n of them) from WORDS. */
typedef struct {
    guint32 shape;
    guint n;
    const gint64 *words;
    guint32 count;
    const gint64 *steps;
} PartTerminal;
/* of an elastic shape: outcome-runs.h */
typedef struct {
    guint32 terminal;
    WendCursor runs;
} PartStream;

typedef struct {
    WendArena arena; /* words of slots */
    guint n_shapes;
    WendBuf shapes;    /* n (n word^n)^n */
    GArray *terminals; /* PartTerminal */
    GArray *streams;   /* PartStream, ascending */
} PartTable;

/* "shapes terminals" of a part. FALSE: damaged. Clear it in either case; streams' bytes stay the
 * cursor's. */
gboolean part_table_read(PartTable *t, WendCursor *c);
void part_table_clear(PartTable *t);

/* Makes terminals of what streams and strided terminals have, and of GRAMMAR one of these; nothing,
 * if there are none. STRIDED: long rows of calls whose slots go up in equal steps become strided
 * terminals, but for the first call of each, which tells the grammar where a row begins. Terminals
 * are numbered by first occurrence. NUMBERS (guint32): by former terminal which it is; PAIR_NONE
 * (pairs.h): that of a stream or a strided one, or of no call. FALSE: damaged, or *ERROR is set:
 * it would take more than ROOM bytes, with what is then made of the terminals. Time: 10 to 50 ns
 * for each call of the sequence, 500 to 1,000 for each that is new. */
gboolean elastic_unfold(PartTable *t, GBytes **grammar, gboolean strided, GArray *numbers,
                        guint64 room, GError **error);

/* Longer sequences are damaged; for fuzzers. */
extern guint64 elastic_calls_most;

#endif
