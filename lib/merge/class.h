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

/* A signature table without its timing: shapes, and terminals with slot vectors. */
typedef struct {
    /* n (n word^n)^n, n (shape, number of slots)^n. Tables of equal structure have equal bytes */
    Bytes *structure;
    uint32_t n_shapes, n_terminals;
    uint32_t *terminal_shape;
    uint32_t *first_slot; /* n_terminals + 1 */
    uint8_t *has_self;    /* by terminal: slot 0 is self */
    RankVector *slots;
    /* by terminal: the ranks that have it, which are the ranks of its slots (class-alignment.h).
     * NULL: all ranks of the table */
    RankSet *ranks;
} Table;

/* Distinct byte strings and the ranks that have each. */
typedef struct {
    Bytes *bytes;
    RankSet ranks;
} Content;
typedef struct {
    Vector *items;
    Map *index;
} Contents;

typedef struct {
    Table table;
    RankSet ranks;
} PollTable;

/* Times of the ranks of a class, of each terminal. */
typedef struct {
    RankSet ranks;
    /* by terminal: its row, or PAIR_NONE if these ranks do not call it. Calls that were
     * one terminal on some rank share a row */
    uint32_t *timed_as;
    uint32_t n_timed;
    TimingSum *timing; /* two for each row: duration, interval */
} ClassTimes;

typedef struct {
    WendSequenceKind kind;
    int64_t id;
    Table table;
    Bytes *grammar;
    uint32_t
        *timed_as; /* as in ClassTimes, like TIMING; both are NULL if there are aligned_times */
    uint32_t n_timed;
    TimingSum *timing;
    /* ClassTimes of each of the classes that were aligned into this one (class-alignment.h), since
     * calls of a root take other times. NULL: it was not aligned */
    Vector *aligned_times;
    Contents *outcomes; /* by shape: a stream as in part.h */
    /* PollTable, one for each structure of tables of polls; ranks without polls are in none */
    Vector *poll_tables;
    Contents poll_grammars; /* unsigned(polls after the last call), grammar of the polls */
} Sequence;

typedef struct {
    RankSet ranks;
    uint32_t n_sequences;
    Sequence *sequences;
    Bytes *key;        /* by sequence: kind, id, structure, grammar */
    Bytes *shapes_key; /* by sequence: kind, id, shapes, their order (refine.h) */
    /* stays apart from other classes with these shapes */
    bool apart;
} Class;

typedef struct {
    char *key, *value;
    uint32_t rank;
} Fact; /* rank: the lowest that has it */

struct WendMerge {
    uint32_t world;
    RankSet ranks;
    Vector *classes; /* Class, in no order */
    Map *by_key;     /* key -> Class */
    Map *by_shapes;  /* shapes_key -> the first Class that has it */
    Vector *facts;   /* Fact, sorted by key */
    Vector *shards;  /* Shard (shard.h), ascending; RANKS has theirs, CLASSES has none of them */
    Vector *sides;   /* SideMember (side-members.h) */
    Vector *shared;  /* SharedSide (shared-sides.h) */
    Hosts *hosts;
    RankTimes *rank_times; /* of all ranks, also those of shards */
};

/* -- table.c -- */
/* The table of one rank, whose vectors are single values. false: damaged. */
bool table_from_part(Table *t, const PartTable *p, uint32_t rank);
bool table_decode(Table *t, WendCursor *c, uint32_t ranks); /* RANKS: the number of ranks */
void table_encode(const Table *t, WendBuf *out);
/* Merges B into A. Their structures are equal, and they share no rank. */
void table_merge(Table *a, const RankSet *ranks_a, const Table *b, const RankSet *ranks_b);
/* A table of N terminals; terminal i is OF[i] of T. */
Table table_refined(const Table *t, const uint32_t *of, uint32_t n);
/* A table of N terminals over the ranks of A and B, which share none. Terminal i is OF[0][i] of A
 * and OF[1][i] of B; if one of these is PAIR_NONE, it is only the other. The shapes are
 * those of A, then the others of B. */
Table table_aligned(const Table *a, const RankSet *ranks_a, const Table *b, const RankSet *ranks_b,
                    const uint32_t *const of[2], uint32_t n);
/* By shape of T: its number in IN, or PAIR_NONE if IN does not have it. The caller frees it with
 * memory_free. */
uint32_t *table_shapes_in(const Table *in, const Table *t);
Bytes *table_shapes_bytes(const Table *t); /* the shapes, as at the start of the structure */
size_t table_memory(const Table *t);       /* bytes */
void table_clear(Table *t);
/* Words of a shape. The caller of table_shapes frees the array; the words are the table's. */
typedef struct {
    uint32_t n;
    int64_t *words;
} ShapeRow;
ShapeRow *table_shapes(const Table *t);
void table_shapes_free(ShapeRow *rows, uint32_t n);

/* -- contents.c -- */
void contents_init(Contents *c);
void contents_clear(Contents *c);
size_t contents_memory(const Contents *c);
void contents_add(Contents *c, Bytes *bytes, const RankSet *ranks);
void contents_merge(Contents *a, const Contents *b);
void contents_sort(Contents *c); /* by lowest rank */
void contents_encode(const Contents *c, WendBuf *out);
bool contents_decode(Contents *c, WendCursor *in, uint32_t world);

/* -- class.c -- */
/* Reads the class of one rank from its part. Adds to SECONDS, by function, how long the rank was in
 * it, or leaves it negative if it was not there. Returns NULL if the part is damaged. NULL with
 * *ERROR set: it would take more than ROOM bytes (elastic_unfold). */
Class *class_from_part(WendCursor *c, uint32_t rank, uint64_t room, double *seconds, Error **error);
Class *class_decode(WendCursor *c, uint32_t world);
void class_encode(const Class *k, WendBuf *out);
/* Merges class B into class A. The two share no rank. Their keys or their keys of shapes must be
 * equal. If only the latter are, it merges them by their common refinement, which changes A's key.
 * Returns false and leaves both unchanged if a sequence cannot be refined, or the refinement would
 * save less than a quarter of the smaller class. */
bool class_merge(Class *a, Class *b);
/* Merges B into A, if their structures are equal and their grammars differ only in repetition
 * counts. A keeps its grammars. */
void class_join(Class *a, Class *b);
/* A sequence of two aligned classes (class-alignment.c). Its terminal i is OF[0][i] of one and
 * OF[1][i] of the other, or PAIR_NONE. */
typedef struct {
    uint32_t *of[2];
    Table table;
    Bytes *grammar;
} AlignedSequence;
/* Aligns B with A. They share no rank, and B has no aligned_times. ALIGNED has an element for each
 * sequence, whose tables and grammars it takes. A's keys are then without meaning. */
void class_align(Class *a, Class *b, AlignedSequence *aligned);
/* Estimates the bytes that terminals and rules of a sequence with RANKS ranks take in an archive.
 * KNOWN (or NULL): by terminal, whether another class has it, so that it takes none. */
size_t class_cost(const Table *t, Bytes *grammar, uint32_t ranks, const uint8_t *known);
size_t class_memory(const Class *k); /* an estimate, in bytes */
void class_free(Class *k);

#endif
