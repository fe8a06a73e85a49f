/* SPDX-License-Identifier: BSD-3-Clause */
/* class.h: what the merge holds: classes of ranks that ran the same code.
 *
 * Ranks are of one class if their calls have equal shapes in the same order. Most tell the same
 * calls apart, too: then grammars and tables are equal but for the slots' values, which become
 * vectors over the class's ranks. Others become one by their common refinement (refine.h), where
 * that takes less than two classes; if it once does not, all that have these shapes stay apart.
 * Whatever else differs between ranks (outcomes, polls) is kept once for each distinct content. */
#ifndef WEND_CLASS_H
#define WEND_CLASS_H

#include "hosts.h"
#include "merge.h"
#include "rankset.h"
#include "record/elastic.h"
#include "timing.h"
#include "rank-vector.h"

/* A terminal of one rank that stands for COUNT, whose slots go up in STEPS from those that the
 * table has: its calls are these in turn, again and again, and each time to the end. So what a root
 * does for each rank takes no room for each. Where such a rank shares its calls with others they
 * become terminals of their own (class_spread). */
typedef struct {
    guint32 terminal, count;
    gint64 *steps;
} Strided;

/* A signature table without its timing: shapes, and terminals with slot vectors. */
typedef struct {
    /* n (n word^n)^n, n (2 shape + whether it is strided, number of slots [count step^n])^n: equal
     * bytes are equal structures */
    GBytes *structure;
    guint n_shapes, n_terminals;
    guint32 *terminal_shape;
    guint *first_slot; /* n_terminals + 1 */
    guint8 *has_self;  /* by terminal: slot 0 is self */
    GArray *strided;   /* Strided, ascending; NULL: there are none */
    RankVector *slots;
    /* by terminal: those that have it, over which its slots are (class-alignment.h); NULL: all that
     * the table is over */
    RankSet *ranks;
} Table;

/* Distinct byte strings and the ranks that have each. */
typedef struct {
    GBytes *bytes;
    RankSet ranks;
} Content;
typedef struct {
    GPtrArray *items;
    GHashTable *index;
} Contents;

typedef struct {
    Table table;
    RankSet ranks;
} PollTable;

/* Times of the ranks of one class. */
typedef struct {
    RankSet ranks;
    /* by terminal: its row; PAIR_NONE (pairs.h): they do not call it. Calls that are one terminal
     * on some rank have been timed together */
    guint32 *timed_as;
    guint n_timed;
    TimingSum *timing; /* two for each row: duration, interval */
} ClassTimes;

typedef struct {
    WendSequenceKind kind;
    gint64 id;
    Table table;
    GBytes *grammar;
    guint32 *timed_as; /* as in ClassTimes; NULL, like what follows: see aligned_times */
    guint n_timed;
    TimingSum *timing;
    /* ClassTimes of each of the classes that were aligned into one (class-alignment.h): what a root
     * does takes it another time. NULL: it is none of these */
    GArray *aligned_times;
    Contents *outcomes; /* one for each shape: outcome runs as in part.h */
    /* PollTable, one for each structure of F; ranks without polls are in none */
    GPtrArray *poll_tables;
    Contents poll_grammars; /* unsigned(polls after the last call), grammar F */
} Sequence;

typedef struct {
    RankSet ranks;
    guint n_sequences;
    Sequence *sequences;
    GBytes *key;        /* by sequence: kind, id, structure, grammar */
    GBytes *shapes_key; /* by sequence: kind, id, shapes, their order (refine.h) */
    /* there are others with these shapes, of which it does not become one */
    gboolean apart;
} Class;

typedef struct {
    char *key, *value;
    guint32 rank;
} Fact; /* rank: the lowest that gave it */

struct WendMerge {
    guint32 world;
    RankSet ranks;
    GPtrArray *classes;    /* Class, by no order */
    GHashTable *by_key;    /* key -> Class */
    GHashTable *by_shapes; /* shapes_key -> Class: the first */
    GPtrArray *facts;      /* Fact, sorted by key */
    GArray *shards; /* Shard (shard.h), ascending; RANKS has theirs, CLASSES has none of them */
    Hosts *hosts;
};

/* -- table.c -- */
/* slots are plain values; FALSE: damaged */
gboolean table_from_part(Table *t, const PartTable *p, guint32 rank);
/* of one rank; it is to be cleared */
void table_to_part(const Table *t, PartTable *p);
const Strided *table_strided(const Table *t, guint32 terminal); /* NULL: it is not */
gboolean table_decode(Table *t, WendCursor *c, guint32 ranks);  /* over so many ranks */
void table_encode(const Table *t, WendBuf *out);
/* Structures are equal. */
void table_merge(Table *a, const RankSet *ranks_a, const Table *b, const RankSet *ranks_b);
/* Terminals 0 to N - 1 of the result are those of T that OF says. */
Table table_refined(const Table *t, const guint32 *of, guint n);
/* Of A and B, whose ranks are others: terminals 0 to N - 1 of the result are OF[0] of A and OF[1]
 * of B, or one of them alone where the other is PAIR_NONE (pairs.h). Its shapes are those of A,
 * then what B has beside. */
Table table_aligned(const Table *a, const RankSet *ranks_a, const Table *b, const RankSet *ranks_b,
                    const guint32 *const of[2], guint n);
/* The numbers that shapes of T have in IN; PAIR_NONE: it has not that one. g_free. */
guint32 *table_shapes_in(const Table *in, const Table *t);
GBytes *table_shapes_bytes(const Table *t); /* the part of the structure that says the shapes */
gsize table_memory(const Table *t);         /* bytes */
void table_clear(Table *t);
/* Words of a shape; they belong to the caller of table_shapes. */
typedef struct {
    guint n;
    gint64 *words;
} ShapeRow;
ShapeRow *table_shapes(const Table *t);
void table_shapes_free(ShapeRow *rows, guint n);

/* -- contents.c -- */
void contents_init(Contents *c);
void contents_clear(Contents *c);
gsize contents_memory(const Contents *c);
void contents_add(Contents *c, GBytes *bytes, const RankSet *ranks);
void contents_merge(Contents *a, const Contents *b);
void contents_sort(Contents *c); /* by lowest rank */
void contents_encode(const Contents *c, WendBuf *out);
gboolean contents_decode(Contents *c, WendCursor *in, guint32 world);

/* -- class.c -- */
/* NULL: damaged, or as elastic_unfold says */
Class *class_from_part(WendCursor *c, guint32 rank, guint64 room, GError **error);
Class *class_decode(WendCursor *c, guint32 world);
void class_encode(const Class *k, WendBuf *out);
gboolean class_is_strided(const Class *k); /* it has strided terminals, and one rank */
/* Strided terminals become those that they stand for, and all is as it would be without them; but
 * the key of shapes stays, which is the same. FALSE: a grammar is damaged. */
gboolean class_spread(Class *k);
/* B into A, whose ranks are others, neither with strided terminals. FALSE, and nothing done: it
 * takes less to have both. Keys equal: TRUE. Else shapes' keys are equal, and A's key changes. */
gboolean class_merge(Class *a, Class *b);
/* Likewise, always: structures are equal, and grammars are but for counts. A keeps its own. */
void class_join(Class *a, Class *b);
/* What class-alignment.c makes of a sequence of two classes: its terminals are OF[0] of the one and
 * OF[1] of the other, or PAIR_NONE. */
typedef struct {
    guint32 *of[2];
    Table table;
    GBytes *grammar;
} AlignedSequence;
/* B into A, whose ranks are others, by sequence as ALIGNED says, from which it takes tables and
 * grammars; B has no aligned_times. A has no keys that mean anything then. */
void class_align(Class *a, Class *b, AlignedSequence *aligned);
/* What terminals and rules of a sequence of so many ranks take in an archive, more or less. KNOWN:
 * by terminal, those that are there anyway, as another class has them; or NULL. */
gsize class_cost(const Table *t, GBytes *grammar, guint32 ranks, const guint8 *known);
gsize class_memory(const Class *k); /* bytes, more or less */
void class_free(Class *k);

#endif
