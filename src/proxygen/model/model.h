/* SPDX-License-Identifier: BSD-3-Clause */
/* model.h: the interface of this folder: the program to be compiled, with the findings and
 * decisions of the passes. call-pattern.h has its calls.
 *
 * Each pass fills in its part of the plan and reads the parts of the passes before it. compile.c
 * has their order. The types of a part are in the header of its folder. The plan owns all that it
 * points to, except the program. */
#ifndef PROXYGEN_MODEL_H
#define PROXYGEN_MODEL_H

#include <glib.h>

#include "lib/base/error.h"
#include "lib/read/program.h"
#include "lib/read/site-symbols.h"
#include "src/proxygen/model/call-pattern.h"

/* -- plan.c -- */

typedef struct {
    const char *recording; /* as the user gave it */
    const char *output;    /* "proxy.c", or a directory */
    gboolean directory;
    gboolean pin, force;
    gboolean quiet;      /* do not print the changes of the proxy */
    gboolean cuda;       /* the proxy uses memory of CUDA where the application did */
    const char *target;  /* family of MPI libraries; NULL: any */
    gboolean no_symbols; /* the proxy has no names of the application's functions and files */
    /* The functions that call site SITE of the recording is in, innermost first, and their number.
     * DEPTH from 1 on: those that its caller is in, and so on outwards. It returns NULL if no such
     * caller was recorded. Functions are valid until the next call, and their texts as long as the
     * program. NULL: only those that the archive has. */
    const WendSiteFrame *(*site_frames)(gpointer data, guint site, guint depth, guint *n);
    gpointer site_data;
} Options;

/* Ranks, ascending. */
typedef struct {
    guint n;
    const guint *ranks;
} RankList;

/* A body of symbols that becomes a function. The first bodies are the rules of the recording, by
 * number. Then come the start rule of each class without the calls up to MPI_Init, and the bodies
 * that loops.c makes. */
typedef struct {
    guint n;
    const WendSymbol *symbols; /* of a loop: all its calls, in an order that is possible */
    const struct Loop *loop;   /* loops.h */
    gboolean inlined;          /* a loop's short body, without a function of its own */
    gboolean used;
    guint name;     /* rule_NAME, from 1, in the order of emission; 0 if it has none */
    RankList ranks; /* the ranks that run it */
    const struct RowSymbol *row_symbols; /* by symbol, if row-loops.c made the body; else NULL */
} PlanRule;

/* A position in a body: symbol number SYMBOL of rule RULE. */
typedef struct {
    guint rule, symbol;
} Site;

/* A symbol of a body that row-loops.c made. */
typedef struct RowSymbol {
    Site site; /* its position before */
    /* the row table of its numbers. The symbol's calls are then written in place, even those of a
     * rule. NULL: the symbol is unchanged */
    const struct RowTable *stream;
    guint64 times; /* number of calls for each row of the table */
} RowSymbol;

/* The calls of a rank that a loop makes in any order, by index. */
typedef struct {
    guint64 first, last;
} CallStretch;

/* A thread as run by a set of ranks: those of its class, or some of them if loops.c distinguishes
 * them. */
typedef struct {
    guint class_index; /* index of the class in the program */
    RankList ranks;
    guint thread;   /* number of the thread */
    guint sequence; /* index of its sequence in the class */
    /* its body, which follows the prefix if the thread calls MPI_Init */
    guint rule;
    /* of a class's main thread: number of further threads, which follow it in the list */
    guint n_others;
    /* of a class's main thread: all other threads of the process, by number */
    guint n_started;
    struct StartedThread *started;
    /* of a class's main thread: one for each shared object and each thread */
    struct SharedShare *shares;
} PlanThread;

/* How often a thread uses each lifetime of a shared object, from lifetime FROM to before UNTIL.
 * USES is 0 if it does not use the object, or if the number differs. */
typedef struct SharedShare {
    guint64 uses, from, until;
} SharedShare;

typedef struct StartedThread {
    guint number;
    guint of;         /* index among the class's threads, from 1; 0 if it makes no calls */
    gboolean started; /* a call in the recording starts it */
    gboolean inits;   /* it calls MPI_Init */
} StartedThread;

typedef struct {
    const Options *options;
    const WendProgram *program;
    guint n_ranks;
    CallPattern *call; /* scratch for the passes */

    /* select.c */
    guint n_rules;
    PlanRule *rules;
    GArray *order;            /* of guint: rules in the order of emission, callees first */
    RankList *terminal_ranks; /* by terminal; n = 0 if unused */
    guint *terminal_uses;     /* by terminal: number of symbols that name it */
    /* of guint: terminals up to MPI_Init, which are equal on all ranks. NULL: they differ, or no
     * rank calls it */
    GArray *prefix;
    /* of PlanThread: all threads of all classes; each main thread is followed by its others */
    GArray *threads;
    /* SharedUse (kind and word) -> the whole SharedUse: objects that several threads name */
    GHashTable *shared;
    /* terminals + 1: the first call of a main thread of which another thread calls MPI_Init */
    GHashTable *asks;
    /* segment word -> GArray of guint, ascending: shared requests with buffers in the segment */
    GHashTable *borrowed;
    GPtrArray *owned; /* memory of the members above */

    GHashTable *segments; /* segment word -> Segment */
    struct Lifetimes *lifetimes;
    struct Extents *extents;
    /* of gint64: words of segments that are attached to dynamic windows, ascending; NULL: no call
     * accesses any */
    GArray *blocks;
    /* by rank: GArray of gint64: blocks to wait for before locks (dynamic.c); NULL: there are no
     * locks */
    GPtrArray *awaited;
    GHashTable *choices; /* Site -> Choice */
    gboolean has_loops;
    /* rank -> GArray of CallStretch, ascending: the calls that became loops */
    GHashTable *stretches;
    GHashTable *wildcards;  /* terminal -> Wildcard: those that are pinned */
    gboolean pins_at_start; /* some wildcards are pinned at each start */
    /* terminal -> Wildcard: the senders whose turn it is before that call of the master
     * (send-order.c) */
    GHashTable *send_order;
    gint master;             /* the rank whose senders wait for their turn; -1: none */
    struct Changes *changes; /* changed calls (changes.c) */
    GHashTable *graphs; /* terminal -> rank -> GPtrArray of char *: graphs that are made with the
                         * recorded order of neighbours (graphs.c) */
    gboolean graphs_reordered; /* their ranks differ from those in the old communicator */
    struct Variables *variables;
    struct Files *files;
    struct Callbacks *callbacks;
} Plan;

/* Finds rules, threads and shared objects of the program. Returns FALSE with an error if the
 * program is not supported. */
gboolean plan_select(Plan *plan, Error **error);

guint site_hash(gconstpointer site);
gboolean site_equal(gconstpointer a, gconstpointer b);

/* Whether RANK is in SET. */
gboolean rank_list_has(RankList set, guint rank);

/* All MPI libraries in use send fewer bytes than this eagerly. */
enum { EAGER_BYTES = 4000 };
/* The maximum number of calls that a pass follows one by one. Beyond it, a pass knows less. */
enum { STEP_LIMIT = 50 * 1000 * 1000 };

/* Adds a body to the plan's rules. Takes the array. Returns the number of the rule. */
guint plan_add_body(Plan *plan, GArray *symbols);
/* Calls VISIT for RULE and all rules below it, callees first. It skips rules whose SEEN is STAMP,
 * and sets SEEN of the others. */
void plan_visit(const Plan *plan, guint rule, guint *seen, guint stamp,
                void (*visit)(guint rule, gpointer data), gpointer data);
/* The number of symbols of all rules in the plan's order. */
guint64 plan_n_symbols(const Plan *plan);
/* Whether the call is MPI_Init or MPI_Init_thread. */
gboolean plan_is_init(const Plan *plan, guint terminal);
/* Determines again which ranks run which rules and calls. Call it after rules or threads have
 * changed. */
void plan_mark(Plan *plan);

/* -- worlds of a job, and the calls that started them -- */

/* A world, and the rank of the job that started it as the root. Starts are ordered by rank, and by
 * the calls of each rank. */
typedef struct {
    guint rank, world;
} WorldStart;

/* Opens the recording with all its worlds. It opens the first world alone if the recording lacks a
 * world, or does not say which call started it. MAX_SIZE is that of program.h. The caller frees the
 * program. On failure returns NULL with an error. */
WendProgram *plan_worlds_open(const char *path, guint64 max_size, Error **error);
GArray *plan_worlds_starts(const WendProgram *p); /* of WorldStart; empty if there is one world */
/* The world of a rank of the job. */
const WendWorld *plan_worlds_of(const Plan *plan, guint rank);
gboolean plan_worlds_several(const Plan *plan);
/* Whether the call starts processes, and is the root's. */
gboolean plan_worlds_is_start(const CallPattern *c);

/* -- plan-threads.c: the threads of a class -- */

/* The use of an object, or of a block of memory, that several threads name. COMMIT is
 * MPI_Type_commit. */
typedef enum { SHARED_USE, SHARED_COMMIT, SHARED_END, SHARED_MAKE } SharedRole;
typedef struct {
    WendKind kind; /* WEND_KIND_SEGMENT for memory */
    gint64 word;
    SharedRole role;
    guint number;  /* number among all shared objects */
    gboolean late; /* a datatype that its maker commits, and which is ready then */
} SharedUse;

/* Finds the threads of each class, and the objects that they share. Call it after the sequences of
 * all classes are found. */
void plan_threads(Plan *plan);

/* Finds the memory that shared requests use. Call it after plan_mark. */
void plan_threads_borrowed(Plan *plan);

/* The uses of shared objects by the call: an array of SharedUse, which the caller frees. */
GArray *plan_threads_shared(Plan *plan, guint terminal);

#endif
