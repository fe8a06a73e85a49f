/* SPDX-License-Identifier: BSD-3-Clause */
/* class.h: classes of ranks that ran the same code.
 *
 * Ranks can be in one class if their calls have equal shapes in the same order. Most of them also
 * have equal calls at the same positions. Then grammars and tables are equal except for the slots'
 * values, which become vectors over the class's ranks. Other ranks become one class by their common
 * refinement (refine.h), if that takes less than two classes. If it once takes more, all classes
 * with these shapes stay apart. Other differences between ranks (outcomes, polls) are kept once for
 * each distinct content. */
#ifndef WEND_CLASS_H
#define WEND_CLASS_H

#include "hosts.h"
#include "merge.h"
#include "rank-times.h"
#include "ranks/rankset.h"
#include "record/elastic.h"
#include "timing.h"
#include "ranks/rank-vector.h"

/* A strided terminal of one rank. It stands for a run of COUNT terminals, whose slots go up by
 * STEPS from those in the table. Its calls are those of the run, in order; the run may repeat,
 * always as a whole. So the calls of a root to each rank take the memory of one. When the rank is
 * merged with ranks that make the same calls, the run becomes ordinary terminals (class_spread). */
typedef struct {
    guint32 terminal, count;
    gint64 *steps;
} Strided;

/* A signature table without its timing: shapes, and terminals with slot vectors. */
typedef struct {
    /* n (n word^n)^n, n (2 shape + is strided, number of slots [count step^n])^n. Tables of equal
     * structure have equal bytes */
    GBytes *structure;
    guint n_shapes, n_terminals;
    guint32 *terminal_shape;
    guint *first_slot; /* n_terminals + 1 */
    guint8 *has_self;  /* by terminal: slot 0 is self */
    GArray *strided;   /* Strided, ascending; NULL: there are none */
    RankVector *slots;
    /* by terminal: the ranks that have it, which are the ranks of its slots (class-alignment.h).
     * NULL: all ranks of the table */
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

/* Times of the ranks of a class, of each terminal. */
typedef struct {
    RankSet ranks;
    /* by terminal: its row, or PAIR_NONE (pairs.h) if these ranks do not call it. Calls that were
     * one terminal on some rank share a row */
    guint32 *timed_as;
    guint n_timed;
    TimingSum *timing; /* two for each row: duration, interval */
} ClassTimes;

typedef struct {
    WendSequenceKind kind;
    gint64 id;
    Table table;
    GBytes *grammar;
    guint32 *timed_as; /* as in ClassTimes, like TIMING; both are NULL if there are aligned_times */
    guint n_timed;
    TimingSum *timing;
    /* ClassTimes of each of the classes that were aligned into this one (class-alignment.h), since
     * calls of a root take other times. NULL: it was not aligned */
    GArray *aligned_times;
    Contents *outcomes; /* by shape: a stream as in part.h */
    /* PollTable, one for each structure of tables of polls; ranks without polls are in none */
    GPtrArray *poll_tables;
    Contents poll_grammars; /* unsigned(polls after the last call), grammar of the polls */
} Sequence;

typedef struct {
    RankSet ranks;
    guint n_sequences;
    Sequence *sequences;
    GBytes *key;        /* by sequence: kind, id, structure, grammar */
    GBytes *shapes_key; /* by sequence: kind, id, shapes, their order (refine.h) */
    /* stays apart from other classes with these shapes */
    gboolean apart;
} Class;

typedef struct {
    char *key, *value;
    guint32 rank;
} Fact; /* rank: the lowest that has it */

struct WendMerge {
    guint32 world;
    RankSet ranks;
    GPtrArray *classes;    /* Class, in no order */
    GHashTable *by_key;    /* key -> Class */
    GHashTable *by_shapes; /* shapes_key -> the first Class that has it */
    GPtrArray *facts;      /* Fact, sorted by key */
    GArray *shards; /* Shard (shard.h), ascending; RANKS has theirs, CLASSES has none of them */
    GArray *sides;  /* SideMember (side-members.h) */
    GArray *shared; /* SharedSide (shared-sides.h) */
    Hosts *hosts;
    RankTimes *rank_times; /* of all ranks, also those of shards */
};

/* -- table.c -- */
/* The table of one rank, whose vectors are single values. FALSE: damaged. */
gboolean table_from_part(Table *t, const PartTable *p, guint32 rank);
/* The reverse, for a table of one rank. The caller clears *P. */
void table_to_part(const Table *t, PartTable *p);
const Strided *table_strided(const Table *t, guint32 terminal); /* NULL: it is not strided */
gboolean table_decode(Table *t, WendCursor *c, guint32 ranks);  /* RANKS: the number of ranks */
void table_encode(const Table *t, WendBuf *out);
/* Merges B into A. Their structures are equal, and they share no rank. */
void table_merge(Table *a, const RankSet *ranks_a, const Table *b, const RankSet *ranks_b);
/* A table of N terminals; terminal i is OF[i] of T. */
Table table_refined(const Table *t, const guint32 *of, guint n);
/* A table of N terminals over the ranks of A and B, which share none. Terminal i is OF[0][i] of A
 * and OF[1][i] of B; if one of these is PAIR_NONE (pairs.h), it is only the other. The shapes are
 * those of A, then the others of B. */
Table table_aligned(const Table *a, const RankSet *ranks_a, const Table *b, const RankSet *ranks_b,
                    const guint32 *const of[2], guint n);
/* By shape of T: its number in IN, or PAIR_NONE if IN does not have it. The caller frees it with
 * g_free. */
guint32 *table_shapes_in(const Table *in, const Table *t);
GBytes *table_shapes_bytes(const Table *t); /* the shapes, as at the start of the structure */
gsize table_memory(const Table *t);         /* bytes */
void table_clear(Table *t);
/* Words of a shape. The caller of table_shapes frees the array; the words are the table's. */
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
/* Reads the class of one rank from its part. Adds to SECONDS, by function, how long the rank was in
 * it, or leaves it negative if it was not there. Returns NULL if the part is damaged. NULL with
 * *ERROR set: it would take more than ROOM bytes (elastic_unfold). */
Class *class_from_part(WendCursor *c, guint32 rank, guint64 room, double *seconds, GError **error);
Class *class_decode(WendCursor *c, guint32 world);
void class_encode(const Class *k, WendBuf *out);
gboolean class_is_strided(const Class *k); /* it has strided terminals, and one rank */
/* Replaces strided terminals by the terminals that they stand for. The class is then as if it had
 * never had any; its key of shapes does not change. FALSE: a grammar is damaged. */
gboolean class_spread(Class *k);
/* Merges class B into class A. The two share no rank, and neither has strided terminals. Their keys
 * or their keys of shapes must be equal. If only the latter are, it merges them by their common
 * refinement, which changes A's key. Returns FALSE and leaves both unchanged if a sequence cannot
 * be refined, or the refinement would save less than a quarter of the smaller class. */
gboolean class_merge(Class *a, Class *b);
/* Merges B into A, if their structures are equal and their grammars differ only in repetition
 * counts. A keeps its grammars. */
void class_join(Class *a, Class *b);
/* A sequence of two aligned classes (class-alignment.c). Its terminal i is OF[0][i] of one and
 * OF[1][i] of the other, or PAIR_NONE. */
typedef struct {
    guint32 *of[2];
    Table table;
    GBytes *grammar;
} AlignedSequence;
/* Aligns B with A. They share no rank, and B has no aligned_times. ALIGNED has an element for each
 * sequence, whose tables and grammars it takes. A's keys are then without meaning. */
void class_align(Class *a, Class *b, AlignedSequence *aligned);
/* Estimates the bytes that terminals and rules of a sequence with RANKS ranks take in an archive.
 * KNOWN (or NULL): by terminal, whether another class has it, so that it takes none. */
gsize class_cost(const Table *t, GBytes *grammar, guint32 ranks, const guint8 *known);
gsize class_memory(const Class *k); /* an estimate, in bytes */
void class_free(Class *k);

#endif
