/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h: what the passes of proxygen know about the program they compile.
 *
 * The passes, in order (compile.c); each fills its part of the plan and reads those before it:
 *
 *   select.c          which rules and calls there are, who makes them; the calls up to MPI_Init apart
 *   threads.c         when further threads run, and what several of them use
 *   live.c            numbers of handles -> the datatype or communicator at each call
 *   memory.c          segments -> how many bytes, below and above their offset 0 (extent.c, layout.c)
 *   dynamic.c         memory that other processes name by its address
 *   outcomes.c        nondeterminism: what each Waitany, Testsome, … has to complete
 *   loops.c           loops over such calls whose bodies depend on which request completed
 *                     (effects.c, conflicts.c, handlers.c, loop_rules.c)
 *   wildcards.c       receives from any source: kept, or pinned to the recorded source (members.c, precedence.c)
 *   turns.c           senders that wait for their turn, so that wildcards can be kept
 *   variables.c       handles and requests -> arrays of the proxy
 *   positions.c       where requests are in theirs, if that differs by rank or in time
 *   files.c           files that were there before the run, or came and went without MPI
 *   callbacks.c       stubs for the application's functions
 *   expression.c, arguments.c, emit_call.c, special.c, emit_rule.c, emit_files.c    C
 *
 * The plan owns all that it points to, but for the program. */
#ifndef PROXYGEN_PLAN_H
#define PROXYGEN_PLAN_H

#include <glib.h>

#include "call.h"
#include "merge.h"
#include "program.h"

typedef struct {
    const char *recording;   /* as given */
    const char *output;      /* "proxy.c", or a directory */
    gboolean directory;
    gboolean pin, force;
    gboolean quiet;          /* nothing is said of what the proxy pins, reorders or leaves out */
    gboolean cuda;           /* memory of CUDA is CUDA's in the proxy, too */
    const char *target;      /* family of MPI libraries, NULL: any */
} Options;

/* Ranks, ascending. */
typedef struct { guint n; const guint *ranks; } RankSet;

/* Completions of one entry of a request array, one after the other, with the same calls upon each.
 * JOINT: the calls are made once the other entries of joint JOINT - 1 have completed, too; 0: upon
 * this completion. */
typedef struct { guint body, joint; guint64 times; } LoopRun; /* a rule; NO_BODY: no calls */
enum { NO_BODY = G_MAXINT32 };

/* Entries of which a completion each comes before the calls of a body: two or more, ascending. */
typedef struct { guint n; guint *entries; } LoopJoint;

/* A loop over Waitany, Waitsome, Testany or Testsome that goes on until each entry of the array has
 * completed as often as in the recording, in whatever order; the k-th completion of an entry makes
 * the calls that followed its k-th completion. */
typedef struct {
    guint terminal;          /* the call */
    guint n;                 /* entries of its array */
    GArray **runs;           /* by entry: of LoopRun */
    guint64 *times;          /* by entry: completions */
    GArray *joints;          /* of LoopJoint */
    gint64 total;            /* of all entries */
    gboolean hides;          /* entries may be active that must not complete here (again): they are hidden */
} Loop;

/* A body of symbols that becomes a function. The first ones are the recording's rules, by number; then come the start of
 * each class without the calls up to MPI_Init, and what loops.c makes. */
typedef struct {
    guint n;
    const WendSymbol *symbols; /* of a loop: all that it does, in an order that can happen */
    const Loop *loop;
    gboolean inlined;        /* a loop's short body: no function of its own */
    gboolean used;
    guint name;              /* rule_NAME, from 1, in the order of emission; 0 none */
    RankSet ranks;           /* that run it */
    const struct StreamSymbol *streamed; /* by symbol, of a body that streams.c made; else NULL */
} PlanRule;

/* A place in a body: the symbol number SYMBOL of rule RULE. */
typedef struct { guint rule, symbol; } Site;

/* What a symbol of a body that streams.c made is. */
typedef struct StreamSymbol {
    Site site;               /* where it was */
    const struct Stream *stream; /* its numbers: then what it does stands where it is, also if it is a rule. NULL: it is as it was */
    guint64 times;           /* each row of the stream is for so many */
} StreamSymbol;

/* Calls of a rank, by their index, that a loop makes in whatever order. */
typedef struct { guint64 first, last; } Stretch;

/* A thread as a set of ranks runs it: those of its class, or where loops.c has found more to tell, some of them. */
typedef struct {
    guint class_index;       /* in the program */
    RankSet ranks;
    guint thread;            /* its number */
    guint sequence;          /* in the class */
    guint rule;              /* the body, after the prefix if it is the thread that calls MPI_Init */
    guint n_others;          /* of a class's main thread: further threads, which follow it in the list */
    guint n_started;         /* of a class's main thread: all threads of the process but itself, by number */
    struct StartedThread *started;
    struct SharedShare *shares; /* of a class's main thread: for each shared object and each thread */
} PlanThread;

/* How often a thread uses each life of a shared object, from life FROM to before UNTIL. USES 0: not at all, or that differs. */
typedef struct SharedShare { guint64 uses, from, until; } SharedShare;

typedef struct StartedThread {
    guint number;
    guint of;                /* which of the class's threads it is, from 1; 0: it makes no calls */
    gboolean started;        /* by a call in the recording */
} StartedThread;

/* An object, or a block of memory, that several threads name, in a call. */
typedef enum { SHARED_USE, SHARED_COMMIT, SHARED_END, SHARED_MAKE } SharedRole; /* COMMIT: MPI_Type_commit */
typedef struct {
    WendKind kind;           /* WEND_KIND_SEGMENT for memory */
    gint64 word;
    SharedRole role;
    guint number;            /* among all that are shared */
    gboolean late;           /* a datatype that is committed by its maker: it is ready then */
} SharedUse;

/* -- segments -- */
typedef struct {
    gint64 word;             /* segment word */
    gint64 low, high;        /* bytes that MPI touches: offsets low <= o < high, low <= 0 */
    gint64 place;            /* in the proxy's list of segments of this kind: the main thread's by number (or one after the other, if numbers are far apart), then the other threads' */
} Segment;

/* -- request arrays -- */
typedef struct {
    gint64 n;
    gint64 *words;
    gboolean direct;         /* they stand in this order in the proxy's array of requests */
    guint number;            /* else: gathered_NUMBER */
} RequestList;

/* -- nondeterminism -- */
typedef enum {
    CHOICE_PLAIN,            /* one request at most could complete, or whatever completes is the same */
    CHOICE_DRAIN,            /* the calls of this site complete all that is pending: a loop */
    CHOICE_FORCED            /* what follows depends on it: the other requests are hidden */
} ChoiceKind;
typedef struct {
    Site site;
    ChoiceKind kind;
    gboolean drains;         /* nothing is pending in its array after it, ever */
    gint64 pending;          /* DRAIN: requests to complete; -1: differs, count at run time */
    gboolean constant;       /* FORCED: always the entries "pick" */
    GHashTable *picks;       /* rank -> GArray of gint32: for each call the number of entries, then the entries */
    GArray *pick;            /* of gint32, likewise: of the first call */
} Choice;

/* -- wildcards -- */
typedef struct {
    guint terminal;
    guint slot;              /* of its source */
    gint64 any_source;       /* the word */
    gboolean pinned;
    const char *reason;      /* why, for the comment and the report (changes.h) */
    GHashTable *sources;     /* rank -> GArray of gint32, one for each time the rank makes the call; -1 nothing came */
    GHashTable *starts;      /* rank -> GPtrArray of GArray of gint32: of a persistent receive that gets messages of several ranks, for each time the
                                rank makes the call, one for each start; else NULL */
} Wildcard;

typedef struct Variables Variables;
typedef struct Tables Tables;
typedef struct Callbacks Callbacks;

typedef struct {
    const Options *options;
    const WendProgram *program;
    guint n_ranks;
    Call *call;              /* scratch for the passes */

    /* select.c */
    guint n_rules;
    PlanRule *rules;
    GArray *order;           /* of guint: rules as they are to be emitted, callees first */
    RankSet *terminal_ranks; /* by terminal; n = 0: not used */
    guint *terminal_uses;    /* symbols that name it */
    GArray *prefix;          /* of guint: terminals up to and with MPI_Init, equal on all ranks; NULL: they differ, or there is none */
    GArray *threads;         /* of PlanThread: all threads of all classes; main threads are followed by their others */
    GHashTable *shared;      /* SharedUse (kind and word) -> the same, whole: objects that several threads name */
    GHashTable *borrowed;    /* segment word -> GArray of guint, ascending: the shared requests whose buffers are in it */
    GPtrArray *owned;        /* memory of the above */

    GHashTable *segments;    /* segment word -> Segment */
    struct Live *live;
    struct Extents *extents;
    GArray *blocks;          /* of gint64: words of segments that are attached to dynamic windows, ascending; NULL: nobody goes there */
    GPtrArray *awaited;      /* by rank: GArray of gint64: blocks to wait for before locks, see dynamic.c; NULL: there are no locks */
    GHashTable *choices;     /* Site -> Choice */
    gboolean has_loops;
    GHashTable *stretches;   /* rank -> GArray of Stretch, ascending: the calls that became loops */
    GHashTable *wildcards;   /* terminal -> Wildcard: those that are pinned */
    gboolean aims;           /* there are pinned ones with starts */
    GHashTable *turns;       /* terminal -> Wildcard: whom the hub lets send before that call (turns.c) */
    gint hub;                /* -1 none */
    struct Changes *changes; /* what is not simply the recorded calls (changes.c) */
    GHashTable *graphs; /* terminal -> rank -> GPtrArray of char *: graphs to make with the recorded
                           order of neighbours (graphs.c) */
    gboolean graphs_reordered; /* ranks in them are others than before */
    Variables *variables;
    struct Files *files;
    Callbacks *callbacks;
} Plan;

/* All passes, and the C. The identifiers of the text that begin with MPI go to NAMES, a set of
 * strings that it owns. *CHANGES: what the proxy pins, reorders or leaves out, as lines of text
 * (changes.h), the caller's to unref; NULL on error. */
gboolean plan_compile(const WendProgram *program, const Options *options, GHashTable *names,
                      GPtrArray **changes, GError **error);

Plan *plan_new(const WendProgram *p, const Options *options);
void plan_free(Plan *plan);

gboolean plan_select(Plan *plan, GError **error);
void plan_memory(Plan *plan);
gboolean plan_dynamic(Plan *plan, GError **error);
gboolean plan_outcomes(Plan *plan, GError **error);
gboolean plan_loops(Plan *plan, GError **error);
void loop_free(Loop *loop);
void plan_wildcards(Plan *plan);
void plan_variables(Plan *plan);
gboolean plan_callbacks(Plan *plan, GError **error);
gboolean plan_emit(Plan *plan, GHashTable *names, GError **error);

guint site_hash(gconstpointer site);
gboolean site_equal(gconstpointer a, gconstpointer b);

/* Is the rank in the set? */
gboolean rank_set_has(RankSet set, guint rank);

/* No MPI library in use sends fewer bytes than this eagerly. */
enum { EAGER_BYTES = 4000 };
/* Calls that a pass follows one by one, at most: beyond that it knows less. */
enum { STEP_LIMIT = 50 * 1000 * 1000 };

/* select.c: adds a body to the plan's rules, takes the array, gives its number. */
guint plan_add_body(Plan *plan, GArray *symbols);
/* select.c: calls VISIT for RULE and all below it, callees first, but not for those whose SEEN is STAMP; that is set. */
void plan_visit(const Plan *plan, guint rule, guint *seen, guint stamp, void (*visit)(guint rule, gpointer data), gpointer data);
/* select.c: symbols of all rules in the plan's order. */
guint64 plan_n_symbols(const Plan *plan);
/* outcomes.c: what the call at that place is more than itself; NULL: nothing. */
const Choice *plan_choice(const Plan *plan, guint rule, guint symbol);
/* select.c: is the call MPI_Init or MPI_Init_thread? */
gboolean plan_is_init(const Plan *plan, guint terminal);
/* Finds out anew who runs which rule and call, after rules and threads have changed. */
void plan_mark(Plan *plan);

#endif
