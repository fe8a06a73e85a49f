/* SPDX-License-Identifier: BSD-3-Clause */
/* program-private.h: the inside of a WendProgram, for the files of the reader. */
#ifndef WEND_PROGRAM_PRIVATE_H
#define WEND_PROGRAM_PRIVATE_H

#include "archive/container.h"

#include <glib.h>
#include "base/error.h"
#include "ranks/rankset.h"
#include "merge/recording.h"
#include "program.h"
#include "record/outcome-runs.h"

/* The values of a slot by rank. */
struct WendSlotTable {
    RankSet ranks;
    gboolean of_self;      /* words that are numbers are relative to self */
    DeltaSequence *deltas; /* one word for each of the ranks */
};

/* The outcomes of one shape on a set of ranks. Either SAME, or COLUMNS, or RUNS has the entries. */
typedef struct {
    RankSet ranks; /* empty: all ranks of the class */
    guint width;
    gint64 *same;            /* the WIDTH words of all entries, or NULL */
    DeltaSequence **columns; /* a delta sequence for each of WIDTH words, or NULL */
    const guint8 *runs;      /* N bytes of runs, in the archive's words */
    gsize n;
    const gint64 *constants; /* of that archive: its number -> word */
    guint n_constants;
} OutcomeContent;

typedef struct {
    guint32 shape;
    guint64 entries;   /* calls with that shape */
    gboolean borrowed; /* the contents belong to another variant */
    guint n_contents;
    OutcomeContent *contents;
    /* content of each rank of the class; made on demand if there are many ranks */
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
    guint n_rules;   /* the last rule is the start; each uses only rules before it */
    WendRule *rules; /* symbols are numbers in the poll table of these ranks */
} PollGrammar;

/* Calls whose times are in a row that other calls share. */
typedef struct {
    guint64 count;
    guint32 row;
} TimingCount;

typedef struct {
    guint64 length;    /* calls */
    gboolean borrowed; /* the polls belong to the first variant of the class */
    guint n_shapes;
    ShapeOutcomes *shapes; /* shapes that occur, ascending */
    guint n_terminals;
    /* ascending, also those that only another variant has; none if it is not timed */
    guint32 *terminals;
    TimingCount *timed;         /* two by terminal: duration, interval; NULL: not timed */
    const WendTiming *times[2]; /* rows of durations, of intervals */
    guint n_poll_tables, n_poll_grammars;
    PollTerminals *poll_tables;
    PollGrammar *poll_grammars;
} SequenceData;

typedef struct {
    SequenceData *sequences;
    /* the variants of the archive's class if this is the first one, else 0; they follow each
     * other */
    guint n_variants;
    GHashTable *request_makers;  /* request word -> creating terminal + 1; made on demand */
    GHashTable *datatype_makers; /* the same for datatypes */
} ClassData;

typedef struct {
    guint n;
    WendRankTimes *of;
} WendWorldTimes;

typedef struct CommNumbers CommNumbers; /* comms.c */

struct WendProgram {
    Container *container;
    GPtrArray *members; /* Bytes that other data point into */
    GPtrArray *blocks;  /* all memory of the program, g_free */
    GKeyFile *meta;
    guint ranks;
    guint n_worlds; /* at least 1 */
    WendWorld *worlds;
    /* PARTS: the programs of worlds or members that were joined, which own their data; NULL if the
     * program was read from one member. NAMES: of all worlds but the first, or NULL. */
    GPtrArray *parts, *names;
    /* Other members of the archive have other ranks of this world. Until the members are joined
     * (program-open.c), class_of is G_MAXUINT for these. */
    gboolean is_partial;

    guint n_functions;
    WendFunction *functions;
    guint n_constants;
    gint64 *constants; /* number in the archive -> word in this build */
    /* Names of constants that this build does not know. Their words are those of indices from
     * mpi_n_constants on. */
    GPtrArray *more_constants;
    GHashTable *datatypes; /* constant word -> gint64[5] */

    guint n_shapes;
    WendShape *shapes;
    guint n_terminals;
    WendTerminal *terminals;
    guint n_tables;
    WendSlotTable *tables;     /* of terminals */
    GPtrArray *derived_tables; /* WendSlotTable, of slots that are derived from other slots */
    guint64 derived;           /* words of these tables */
    guint n_rules;
    WendRule *rules;
    guint n_classes;
    WendClass *classes;
    ClassData *class_data;
    /* By rank; G_MAXUINT: not recorded. Members of one archive share it: a rank's class is a class
     * of the member that has the rank. */
    guint *class_of;

    /* of the world that the archive is of; none in a program of several worlds */
    WendWorldTimes rank_times;

    /* words of constants */
    gint64 any_source, any_tag, request_null, proc_null, undefined, comm_world;
    CommNumbers *comms; /* made on demand */
};

/* An empty program. MORE_CONSTANTS: more_constants of another program, which both share, or NULL.
 * The caller frees the result with program_free, as with the next two. */
WendProgram *program_new(GPtrArray *more_constants);
/* Reads the program of an archive. Takes B, also on failure. Returns NULL and sets the error if the
 * archive is damaged. */
WendProgram *program_from_container(Container *b, Error **error);
WendProgram *program_from_container_with(Container *b, GPtrArray *more_constants, Error **error);
/* The same, but the members of other ranks than RANK may be left out. */
WendProgram *program_of_rank(Container *b, guint rank, Error **error);
enum { ALL_RANKS = -1 };

/* How many things a member of BYTES bytes may stand for. A delta sequence with a pattern takes next
 * to nothing, so its bytes do not limit the memory that it needs. Most of these sequences have a
 * number for each rank, so as many things are admitted as a world may have ranks. */
static inline guint64 program_most(gsize bytes)
{
    return RANKSET_MAX + 64 * (guint64)bytes;
}

void *program_new_block(WendProgram *p, gsize n, gsize size); /* zeroed; freed with P */
gboolean program_read_meta(WendProgram *p, Error **error);    /* sets p->meta */
/* Reads all parts of MEMBER, which is "program" or a shard, into P, which has its meta. Returns
 * FALSE and sets the error if the member is damaged. See program-read.c, classes-read.c,
 * sequence-read.c. */
gboolean program_read(WendProgram *p, const char *member, Error **error);
/* Makes a class without sequences of the ranks that have no class. P has room for one class more.
 * Returns FALSE if there are such ranks although meta says that the recording is complete
 * (AS_RECORDED), or if they take more than ALLOWANCE has. */
gboolean program_complete(WendProgram *p, gboolean as_recorded, Allowance *allowance);
void program_clear_sequences(WendProgram *p);

/* The state of reading a member. */
typedef struct {
    WendProgram *p;
    const char *member, *part; /* PART: the current part, or NULL */
    WendCursor c;
    const guint8 *start;
    Error **error;
} Member;
/* Opens the member NAME of P's container. FALSE: there is none, and the error says so. */
gboolean member_open(Member *m, WendProgram *p, const char *name, Error **error);
/* Notes that the part NAME comes next. Returns TRUE. */
gboolean member_part(Member *m, const char *name);
/* Reads whether an optional part is there. */
gboolean member_has_part(Member *m);
/* Ends reading. Returns FALSE and sets the error if the member was too short or too long. */
gboolean member_close(Member *m);
gboolean member_bad(Member *m, const char *what); /* sets the error; returns FALSE */
gint64 member_word(Member *m);
/* Memory for N things of SIZE bytes that the archive claims (allowance.h). The block is zeroed, has
 * room for one thing more, and is freed with the program. member_admits only counts memory that
 * GLib's containers allocate. They return NULL or FALSE and set the error if the archive may not
 * have so much. */
gpointer member_block(Member *m, guint64 n, gsize size);
gboolean member_admits(Member *m, guint64 n, gsize size);
/* Sets the length of rule I; the rules before it have theirs. A trip count (RULE_TRIP), whose value
 * depends on the variant, counts as one. Returns FALSE and sets the error if the rule is
 * damaged. */
gboolean member_measure_rule(Member *m, WendRule *rules, guint i);
/* Reads the part "classes", and makes the rules of all variants. */
gboolean read_classes(Member *m);
gboolean read_sequences(Member *m); /* the parts "outcomes", "polls", "timing" */
gboolean read_rank_times(Member *m);

/* Reads the entries of a content in order. */
typedef struct {
    const OutcomeContent *content;
    guint64 entries, at;   /* all entries, and those given so far */
    OutcomeRuns runs;      /* of a content with runs */
    DeltaSequenceRun *now; /* of a content with columns: by column, what comes next */
    GArray *words;         /* gint64 */
} OutcomeReader;
/* CONTENT NULL: no entries. ENTRIES: how many it has. */
void outcome_reader_init(OutcomeReader *r, const OutcomeContent *content, guint64 entries);
void outcome_reader_clear(OutcomeReader *r);
/* Sets r->words to the next entry. Returns the number of next entries that equal it, itself
 * included, or 0 at the end. */
guint64 outcome_reader_next(OutcomeReader *r);
/* The outcomes of SHAPE in a sequence of RANK, and *ENTRIES, their number. NULL: there are none. */
const OutcomeContent *outcome_content(const WendProgram *p, guint rank, guint sequence,
                                      guint32 shape, guint64 *entries);
/* The terminals in the expansion of a rule, ascending, each once; the caller frees them. Sets *N to
 * their number. */
guint32 *program_rule_terminals(const WendProgram *p, guint rule, guint *n);
/* The index of RANK in k->ranks, or n_ranks if it has another class. */
guint32 program_class_index_of(const WendClass *k, guint rank);

/* How many sequences a class has, with the orders of threads behind the others. */
static inline guint program_class_all_sequences(const WendClass *k)
{
    return k->n_sequences + k->n_orders;
}
void comm_numbers_free(CommNumbers *n);

#endif
