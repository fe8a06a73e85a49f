/* SPDX-License-Identifier: BSD-3-Clause */
/* program-private.h: the inside of a WendProgram, for the files that make up the reader. */
#ifndef WEND_PROGRAM_PRIVATE_H
#define WEND_PROGRAM_PRIVATE_H

#include "archive/container.h"
#include "merge/rankset.h"
#include "merge/recording.h"
#include "program.h"
#include "record/outcome-runs.h"

/* Values of a slot by rank. */
struct WendSlotTable {
    RankSet ranks;
    gboolean of_self;      /* words that are numbers are added to self */
    DeltaSequence *deltas; /* one word for each of the ranks */
};

/* What one set of ranks has of a shape's outcomes. */
typedef struct {
    RankSet ranks; /* none: all of the class */
    guint width;
    gint64 *same;            /* not NULL: each entry is these width words */
    DeltaSequence **columns; /* not NULL: a delta sequence for each of width words */
    const guint8 *runs;      /* else: in the archive's words */
    gsize n;
    const gint64 *constants; /* of that archive */
    guint n_constants;
} OutcomeContent;

typedef struct {
    guint32 shape;
    guint64 entries;   /* calls with that shape */
    gboolean borrowed; /* the contents are those of another variant */
    guint n_contents;
    OutcomeContent *contents;
    /* content of each rank of the class; made when first needed, and there are many */
    guint32 *by_index;
} ShapeOutcomes;

typedef struct {
    RankSet ranks;
    guint n;
    guint32 *terminals;
} PollTerminals;
typedef struct {
    RankSet ranks;
    guint64 after, length;
    guint n_rules;   /* the last is the start; each uses only rules before it */
    WendRule *rules; /* symbols: numbers in the poll table of these ranks */
} PollGrammar;

/* what they took is in a row that they share with others */
typedef struct {
    guint64 count;
    guint32 row;
} TimedCalls;

typedef struct {
    guint64 length;    /* calls */
    gboolean borrowed; /* polls are those of the first of the class's variants */
    guint n_shapes;
    ShapeOutcomes *shapes; /* those that occur, ascending */
    guint n_terminals;
    guint32 *terminals;         /* likewise, maybe in another variant alone; none if not timed */
    TimedCalls *timed;          /* two for each: duration, interval; NULL: not timed */
    const WendTiming *times[2]; /* their rows */
    guint n_poll_tables, n_poll_grammars;
    PollTerminals *poll_tables;
    PollGrammar *poll_grammars;
} SequenceData;

typedef struct {
    SequenceData *sequences;
    /* of the archive's class: this one and those behind it; 0: one of them */
    guint n_variants;
    GHashTable *request_makers;  /* request word -> creating terminal + 1; made when first needed */
    GHashTable *datatype_makers; /* likewise, for datatypes */
} ClassData;

typedef struct CommNumbers CommNumbers; /* comms.c */

struct WendProgram {
    Container *container;
    GPtrArray *members; /* GBytes held for what points into them */
    GPtrArray *blocks;  /* everything allocated, g_free */
    GKeyFile *meta;
    guint ranks;
    guint n_worlds; /* at least 1 */
    WendWorld *worlds;
    /* of worlds or members that were joined: their programs, which own what is theirs. NULL: it
     * was read from one member. NAMES: of all worlds but the first, or NULL */
    GPtrArray *parts, *names;
    /* other members have other ranks of this world, which have G_MAXUINT in class_of until the
     * members are joined (shards.c) */
    gboolean is_partial;

    guint n_functions;
    WendFunction *functions;
    guint n_constants;
    gint64 *constants; /* the archive's number -> word here */
    /* names of constants that this build does not know: words from wend_n_constants on */
    GPtrArray *more_constants;
    GHashTable *datatypes; /* constant word -> gint64[5] */

    guint n_shapes;
    WendShape *shapes;
    guint n_terminals;
    WendTerminal *terminals;
    guint n_tables;
    WendSlotTable *tables;     /* of terminals */
    GPtrArray *derived_tables; /* WendSlotTable blocks of slots that are told by others, */
    guint64 derived;           /* and how many words they have */
    guint n_rules;
    WendRule *rules;
    guint n_classes;
    WendClass *classes;
    ClassData *class_data;
    /* by rank; G_MAXUINT: not recorded. Members of one archive share it: a rank's class is one of
     * the member that has the rank */
    guint *class_of;

    gint64 any_source, any_tag, request_null, proc_null, undefined, comm_world; /* words */
    CommNumbers *comms; /* made when first needed */
};

/* empty. MORE_CONSTANTS: shared with another program, or NULL */
WendProgram *program_new(GPtrArray *more_constants);
WendProgram *program_from_container(Container *b, GError **error); /* takes b */
WendProgram *program_from_container_with(Container *b, GPtrArray *more_constants, GError **error);

/* How many things a member of BYTES bytes may stand for: rows of numbers that follow a pattern take
 * next to nothing, so their length says nothing of the memory that they need. As many as a world
 * has ranks is what such a row is for. */
static inline guint64 program_most(gsize bytes)
{
    return RANKSET_MAX + 64 * (guint64)bytes;
}

void *program_new_block(WendProgram *p, gsize n, gsize size); /* zeroed, freed with the program */
gboolean program_read_meta(WendProgram *p, GError **error);   /* sets p->meta */
/* Reads the parts of MEMBER, "program" or that of a shard, into P, which has its meta;
 * program-read.c, classes-read.c, sequence-read.c. */
gboolean program_read(WendProgram *p, const char *member, GError **error);
/* Makes a class without sequences of the ranks that have none. There is room for one class more.
 * FALSE: there are such ranks, but meta says that the recording is complete, or they take more than
 * ALLOWANCE has. */
gboolean program_complete(WendProgram *p, Allowance *allowance);
void program_clear_sequences(WendProgram *p);

/* Reading a member, or the parts one after the other. */
typedef struct {
    WendProgram *p;
    const char *member, *part; /* PART: what of it is being read; NULL: all */
    WendCursor c;
    const guint8 *start;
    GError **error;
} Member;
gboolean member_open(Member *m, WendProgram *p, const char *name, GError **error);
/* Notes that the part NAME comes next. TRUE. */
gboolean member_part(Member *m, const char *name);
/* Whether the part that comes next is there: what is said before a part that may not be. */
gboolean member_has_part(Member *m);
/* FALSE: the member was too short or too long */
gboolean member_close(Member *m);
gboolean member_bad(Member *m, const char *what); /* sets the error; returns FALSE */
gint64 member_word(Member *m);
/* Room for N things of SIZE bytes that the archive claims (allowance.h). The block is zeroed, has
 * one thing more, and is freed with the program; member_admits is for what GLib's containers hold.
 * NULL or FALSE: it may not have so much, and the error says so. */
gpointer member_block(Member *m, guint64 n, gsize size);
gboolean member_admits(Member *m, guint64 n, gsize size);
/* Sets the length of rule I, those before it having theirs. A trip count (RULE_TRIP) is taken as
 * one: whose it is is not known. */
gboolean measure_rule(Member *m, WendRule *rules, guint i);
/* their ranks, and the rules of their variants */
gboolean read_classes(Member *m);
gboolean read_sequences(Member *m); /* outcomes, polls, timing */

/* Entry by entry. */
typedef struct {
    const OutcomeContent *content;
    guint64 entries, at;   /* entries given so far */
    OutcomeRuns runs;      /* of a content that has them */
    DeltaSequenceRun *now; /* by column: what comes next */
    GArray *words;         /* gint64 */
} OutcomeReader;
/* content NULL: no entries */
void outcome_reader_init(OutcomeReader *r, const OutcomeContent *content, guint64 entries);
void outcome_reader_clear(OutcomeReader *r);
/* fills words; how often they come before they change; 0: the end */
guint64 outcome_reader_next(OutcomeReader *r);
const OutcomeContent *outcome_content(const WendProgram *p, guint rank, guint sequence,
                                      guint32 shape, guint64 *entries);
/* The terminals that a rule stands for, ascending, each once; g_free. */
guint32 *sequence_terminals(const WendProgram *p, guint rule, guint *n);
/* position in ranks; n_ranks if it is none */
guint32 class_index_of(const WendClass *k, guint rank);
void comm_numbers_free(CommNumbers *n);

#endif
