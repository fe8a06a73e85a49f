/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h: the program that is to be compiled, and what the passes have found and decided about it.
 *
 * Each pass fills in its part of the plan and reads the parts of those before it. compile.c has
 * their order. The types of a part are in the header of its pass. The plan owns all that it points
 * to, but for the program. */
#ifndef PROXYGEN_PLAN_H
#define PROXYGEN_PLAN_H

#include <glib.h>

#include "call_pattern.h"
#include "lib/read/program.h"

typedef struct {
    const char *recording; /* as given */
    const char *output;    /* "proxy.c", or a directory */
    gboolean directory;
    gboolean pin, force;
    gboolean quiet;     /* nothing is said of what the proxy pins, reorders or leaves out */
    gboolean cuda;      /* memory of CUDA is CUDA's in the proxy, too */
    const char *target; /* family of MPI libraries, NULL: any */
} Options;

/* Ranks, ascending. */
typedef struct {
    guint n;
    const guint *ranks;
} RankList;

/* A body of symbols that becomes a function. The first ones are the recording's rules, by number;
 * then come the start of each class without the calls up to MPI_Init, and what loops.c makes. */
typedef struct {
    guint n;
    const WendSymbol *symbols; /* of a loop: all that it does, in an order that can happen */
    const struct Loop *loop;   /* loops.h */
    gboolean inlined;          /* a loop's short body: no function of its own */
    gboolean used;
    guint name;                          /* rule_NAME, from 1, in the order of emission; 0 none */
    RankList ranks;                      /* that run it */
    const struct RowSymbol *row_symbols; /* by symbol, of a body that row_loops.c made; else NULL */
} PlanRule;

/* A place in a body: the symbol number SYMBOL of rule RULE. */
typedef struct {
    guint rule, symbol;
} Site;

/* What a symbol of a body that row_loops.c made is. */
typedef struct RowSymbol {
    Site site; /* where it was */
    /* its numbers: then what it does stands where it is, also if it is a rule. NULL: it is as it
     * was */
    const struct RowTable *stream;
    guint64 times; /* each row of the stream is for so many */
} RowSymbol;

/* Calls of a rank, by their index, that a loop makes in whatever order. */
typedef struct {
    guint64 first, last;
} CallStretch;

/* A thread as a set of ranks runs it: those of its class, or where loops.c has found more to tell,
 * some of them. */
typedef struct {
    guint class_index; /* in the program */
    RankList ranks;
    guint thread;   /* its number */
    guint sequence; /* in the class */
    /* the body, after the prefix if it is the thread that calls MPI_Init */
    guint rule;
    /* of a class's main thread: further threads, which follow it in the list */
    guint n_others;
    /* of a class's main thread: all threads of the process but itself, by number */
    guint n_started;
    struct StartedThread *started;
    /* of a class's main thread: for each shared object and each thread */
    struct SharedShare *shares;
} PlanThread;

/* How often a thread uses each life of a shared object, from life FROM to before UNTIL. USES 0: not
 * at all, or that differs. */
typedef struct SharedShare {
    guint64 uses, from, until;
} SharedShare;

typedef struct StartedThread {
    guint number;
    guint of;         /* which of the class's threads it is, from 1; 0: it makes no calls */
    gboolean started; /* by a call in the recording */
} StartedThread;

typedef struct {
    const Options *options;
    const WendProgram *program;
    guint n_ranks;
    CallPattern *call; /* scratch for the passes */

    /* select.c */
    guint n_rules;
    PlanRule *rules;
    GArray *order;            /* of guint: rules as they are to be emitted, callees first */
    RankList *terminal_ranks; /* by terminal; n = 0: not used */
    guint *terminal_uses;     /* symbols that name it */
    /* of guint: terminals up to and with MPI_Init, equal on all ranks; NULL: they differ, or there
     * is none */
    GArray *prefix;
    /* of PlanThread: all threads of all classes; main threads are followed by their others */
    GArray *threads;
    /* SharedUse (kind and word) -> the same, whole: objects that several threads name */
    GHashTable *shared;
    /* segment word -> GArray of guint, ascending: the shared requests whose buffers are in it */
    GHashTable *borrowed;
    GPtrArray *owned; /* memory of the above */

    GHashTable *segments; /* segment word -> Segment */
    struct Lifetimes *live;
    struct Extents *extents;
    /* of gint64: words of segments that are attached to dynamic windows, ascending; NULL: nobody
     * goes there */
    GArray *blocks;
    /* by rank: GArray of gint64: blocks to wait for before locks, see dynamic.c; NULL: there are no
     * locks */
    GPtrArray *awaited;
    GHashTable *choices; /* Site -> Choice */
    gboolean has_loops;
    GHashTable *stretches; /* rank -> GArray of Stretch, ascending: the calls that became loops */
    GHashTable *wildcards; /* terminal -> Wildcard: those that are pinned */
    gboolean aims;         /* there are pinned ones with starts */
    /* terminal -> Wildcard: whom the hub lets send before that call (send_order.c) */
    GHashTable *turns;
    gint hub;                /* -1 none */
    struct Changes *changes; /* what is not simply the recorded calls (changes.c) */
    GHashTable *graphs; /* terminal -> rank -> GPtrArray of char *: graphs to make with the recorded
                           order of neighbours (graphs.c) */
    gboolean graphs_reordered; /* ranks in them are others than before */
    struct Variables *variables;
    struct Files *files;
    struct Callbacks *callbacks;
} Plan;

/* Finds rules, threads and what they share, from the program. */
gboolean plan_select(Plan *plan, GError **error);

guint site_hash(gconstpointer site);
gboolean site_equal(gconstpointer a, gconstpointer b);

/* Is the rank in the set? */
gboolean rank_list_has(RankList set, guint rank);

/* No MPI library in use sends fewer bytes than this eagerly. */
enum { EAGER_BYTES = 4000 };
/* Calls that a pass follows one by one, at most: beyond that it knows less. */
enum { STEP_LIMIT = 50 * 1000 * 1000 };

/* Adds a body to the plan's rules, takes the array, gives its number. */
guint plan_add_body(Plan *plan, GArray *symbols);
/* Calls VISIT for RULE and all below it, callees first, but not for those whose SEEN is STAMP; that
 * is set. */
void plan_visit(const Plan *plan, guint rule, guint *seen, guint stamp,
                void (*visit)(guint rule, gpointer data), gpointer data);
/* Symbols of all rules in the plan's order. */
guint64 plan_n_symbols(const Plan *plan);
/* Is the call MPI_Init or MPI_Init_thread? */
gboolean plan_is_init(const Plan *plan, guint terminal);
/* Finds out anew who runs which rule and call, after rules and threads have changed. */
void plan_mark(Plan *plan);

#endif
