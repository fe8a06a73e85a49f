/* SPDX-License-Identifier: BSD-3-Clause */
/* passes.h: the interface of this folder: the passes and their decisions. loops.h and requests.h
 * have those that are large. */
#ifndef PROXYGEN_PASSES_H
#define PROXYGEN_PASSES_H

#include "lib/base/error.h"
#include "src/proxygen/model/model.h"
#include "src/proxygen/plan/loops.h"
#include "src/proxygen/plan/requests.h"

/* -- outcomes.c: the requests that each Waitany, Testsome and so on must complete -- */

typedef enum {
    /* at most one request could complete, or all completions are equivalent */
    CHOICE_PLAIN,
    CHOICE_DRAIN, /* the calls of this site complete all pending requests: a loop */
    /* the calls that follow depend on the completed request: the other requests are hidden */
    CHOICE_FORCED
} ChoiceKind;
typedef struct {
    Site site;
    ChoiceKind kind;
    gboolean drains; /* after it, no request of its array is ever pending */
    /* DRAIN: number of requests to complete; -1 if it differs and is counted at run time */
    gint64 pending;
    gboolean constant; /* FORCED: always the entries in PICK */
    /* rank -> GArray of gint32: for each call, the number of entries and then the entries */
    GHashTable *picks;
    GArray *pick; /* the same for the first call */
} Choice;

/* Finds the calls that choose and are not plain. Returns FALSE with an error if the recording is
 * damaged. */
gboolean plan_outcomes(Plan *plan, Error **error);
/* The choice of the call at that position; NULL if it is plain. */
const Choice *plan_choice(const Plan *plan, guint rule, guint symbol);

/* -- wildcards.c: which receives from any source keep the wildcard, and which are pinned -- */

typedef struct {
    guint terminal;
    guint slot;        /* of its source */
    gint64 any_source; /* the word MPI_ANY_SOURCE */
    gboolean pinned;
    const char *reason; /* why it is pinned, for the comment and the report (changes.c) */
    /* rank -> GArray of gint32: the source of each call; -1 if nothing came */
    GHashTable *sources;
    /* rank -> GPtrArray of GArray of gint32: for each call that makes a persistent receive, the
     * source of each start. NULL unless the starts of one request have several sources */
    GHashTable *starts;
} Wildcard;

/* Fills in the plan's wildcards and turns. */
void plan_wildcards(Plan *plan);

/* -- send-order.c: senders that wait for their turn -- */

/* Plans turns for the messages to MASTER, whose wildcards would otherwise be pinned. Returns FALSE
 * if turns could deadlock, or the traffic is not understood. */
gboolean plan_send_order(Plan *plan, guint master);

/* -- graphs.c: graphs whose neighbours must be in the recorded order -- */

/* MPI_Dist_graph_create leaves the order of neighbours to the library, and the blocks of a
 * neighbourhood collective follow that order. If blocks differ in size, a proxy with another order
 * would send blocks that its neighbour does not expect. So the proxy makes such graphs with
 * MPI_Dist_graph_create_adjacent, in the recorded order. */

/* Fills in plan->graphs. It stays empty if the order makes no difference to the calls. */
void plan_graphs(Plan *plan);

/* Whether the call makes its graph with the recorded order. */
gboolean graphs_is_pinned(const Plan *plan, guint terminal);

/* -- variables.c: the variables of the proxy for handles and requests -- */

/* Arrays by kind, and by the thread that makes the objects. variable-names.c has the names. */

typedef struct Variables Variables;

/* Assigns a variable to each handle and request. */
void plan_variables(Plan *plan);
void variables_free(Variables *v);

/* Whether the variable may hold several references to one object. Freeing one must then leave the
 * value for the others. */
gboolean variables_are_shared(const Plan *plan, WendKind kind, gint64 handle);
/* The slot of a request in its array, if it is the same on all RANKS at all times; else -1. */
gint64 variables_place(const Plan *plan, gint64 request, RankList ranks);
/* The thread whose array has the requests of THREAD. */
guint variables_array_of_requests(const Plan *plan, guint thread);
/* The request slots, if they differ by rank or in time; else NULL. */
const RequestSlots *variables_request_slots(const Plan *plan);
/* The list with these words; equal words give the same list. NULL if none of them is a request. */
RequestList *variables_request_list(const Plan *plan, const Word *words, gint64 n);

/* Calls FUNCTION for each array that is not empty, ordered by kind and then by thread. */
typedef void (*VariableFunction)(WendKind kind, guint thread, guint length, gpointer data);
void variables_foreach(const Plan *plan, VariableFunction function, gpointer data);

/* -- alike.c: rules that are equal except for trip counts -- */

/* Different ranks run such rules. One function serves them all: for (int i = 0; i < rank + 2; i++).
 */

typedef struct AlikeRules AlikeRules;
AlikeRules *alike_new(const Plan *plan);
void alike_free(AlikeRules *a);
/* The rule whose function serves RULE: RULE itself, or one before it in the plan's order. If A is
 * NULL, always RULE. */
guint alike_leader(const AlikeRules *a, guint rule);
/* Whether other rules share that function. */
gboolean alike_shared(const AlikeRules *a, guint rule);
/* The ranks that run the function of a leader. */
RankList alike_ranks(const AlikeRules *a, guint leader);
/* The repetition counts of the leader's symbol, by rank of these. NULL if all equal the symbol's
 * own count, or if A is NULL. Newly allocated. */
gint64 *alike_trips(const AlikeRules *a, guint leader, guint symbol);

#endif
