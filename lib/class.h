/* class.h: what the merge holds: classes of ranks that ran the same code.
 *
 * A class is keyed by structure: for each sequence its kind, id, grammar, shapes, and the terminals' shapes and numbers of slots. Slot
 * values become vectors over the class's ranks; whatever else differs between ranks (outcomes, polls) is kept once for each distinct content. */
#ifndef WEND_CLASS_H
#define WEND_CLASS_H

#include "hosts.h"
#include "merge.h"
#include "rankset.h"
#include "timing.h"
#include "vector.h"

/* A signature table without its timing: shapes, and terminals with slot vectors. */
typedef struct {
    GBytes *structure;         /* n (n word^n)^n, n (shape, number of slots)^n: equal bytes are equal structures */
    guint n_shapes, n_terminals;
    guint32 *terminal_shape;
    guint *first_slot;         /* n_terminals + 1 */
    guint8 *has_self;          /* by terminal: slot 0 is self */
    Vector *slots;
} Table;

/* Distinct byte strings and the ranks that have each. */
typedef struct { GBytes *bytes; RankSet ranks; } Content;
typedef struct { GPtrArray *items; GHashTable *index; } Contents;

typedef struct { Table table; RankSet ranks; } PollTable;

typedef struct {
    WendSequenceKind kind;
    gint64 id;
    Table table;
    GBytes *grammar;
    TimingSum *timing;         /* two for each terminal: duration, interval */
    Contents *outcomes;        /* one for each shape: runs as in part.h */
    GPtrArray *poll_tables;    /* PollTable, one for each structure of F; ranks without polls are in none */
    Contents poll_grammars;    /* unsigned(polls after the last call), grammar F */
} Sequence;

typedef struct {
    RankSet ranks;
    guint n_sequences;
    Sequence *sequences;
    GBytes *key;
} Class;

typedef struct { char *key, *value; guint32 rank; } Fact; /* rank: the lowest that gave it */

struct WendMerge {
    guint32 world;
    RankSet ranks;
    GPtrArray *classes;        /* Class, by no order */
    GHashTable *by_key;        /* key -> Class */
    GPtrArray *facts;          /* Fact, sorted by key */
    Hosts *hosts;
};

/* -- table.c -- */
/* Reads "shapes terminals" of a part for RANK: slots are plain values. */
gboolean table_from_part(Table *t, WendCursor *c, guint32 rank);
gboolean table_decode(Table *t, WendCursor *c, guint32 ranks); /* over so many ranks */
void table_encode(const Table *t, WendBuf *out);
/* Structures are equal. */
void table_merge(Table *a, const RankSet *ranks_a, const Table *b, const RankSet *ranks_b);
void table_clear(Table *t);
/* Words of a shape; they belong to the caller of table_shapes. */
typedef struct { guint n; gint64 *words; } ShapeRow;
ShapeRow *table_shapes(const Table *t);
void table_shapes_free(ShapeRow *rows, guint n);

/* -- contents.c -- */
void contents_init(Contents *c);
void contents_clear(Contents *c);
void contents_add(Contents *c, GBytes *bytes, const RankSet *ranks);
void contents_merge(Contents *a, const Contents *b);
void contents_sort(Contents *c);       /* by lowest rank */
void contents_encode(const Contents *c, WendBuf *out);
gboolean contents_decode(Contents *c, WendCursor *in, guint32 world);

/* -- class.c -- */
Class *class_from_part(WendCursor *c, guint32 rank);  /* NULL: damaged */
Class *class_decode(WendCursor *c, guint32 world);
void class_encode(const Class *k, WendBuf *out);
void class_merge(Class *a, const Class *b);           /* keys are equal, ranks disjoint */
void class_free(Class *k);

#endif
