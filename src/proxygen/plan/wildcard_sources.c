/* SPDX-License-Identifier: BSD-3-Clause */
/* wildcard_sources.c: see wildcard_sources.h. */
#include "wildcard_sources.h"

#include "wildcards.h"

typedef struct {
    guint terminal, index;
} PostedTerminal;

static void put_source(Plan *plan, guint rank, PostedTerminal posted, gint64 source)
{
    Wildcard *w = g_hash_table_lookup(plan->wildcards, GUINT_TO_POINTER(posted.terminal));
    gint32 one = source >= 0 ? (gint32)source : -1;
    if (w && w->starts) {
        const GPtrArray *starts = g_hash_table_lookup(w->starts, GUINT_TO_POINTER(rank));
        g_array_append_val((GArray *)starts->pdata[posted.index], one);
    } else if (w && one >= 0) {
        g_array_index((GArray *)g_hash_table_lookup(w->sources, GUINT_TO_POINTER(rank)), gint32,
                      posted.index) = one;
    }
}

/* Adds a call of a pinned receive. Returns its index. */
static guint post(Wildcard *w, guint rank)
{
    GArray *sources = g_hash_table_lookup(w->sources, GUINT_TO_POINTER(rank));
    if (!sources)
        g_hash_table_insert(w->sources, GUINT_TO_POINTER(rank),
                            sources = g_array_new(FALSE, FALSE, sizeof(gint32)));
    gint32 unknown = -1;
    g_array_append_val(sources, unknown);
    if (w->starts) {
        GPtrArray *starts = g_hash_table_lookup(w->starts, GUINT_TO_POINTER(rank));
        if (!starts)
            g_hash_table_insert(w->starts, GUINT_TO_POINTER(rank),
                                starts =
                                    g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref));
        g_ptr_array_add(starts, g_array_new(FALSE, FALSE, sizeof(gint32)));
    }
    return sources->len - 1;
}

/* Decides whether a persistent receive got all its messages from one rank, or needs a source for
 * each start. */
static void settle_starts(Plan *plan, Wildcard *w)
{
    GHashTableIter iter;
    gpointer rank, value;
    gboolean one_source = TRUE;
    g_hash_table_iter_init(&iter, w->starts);
    while (g_hash_table_iter_next(&iter, &rank, &value)) {
        const GPtrArray *starts = value;
        GArray *sources = g_hash_table_lookup(w->sources, rank);
        for (guint i = 0; i < starts->len; i++) {
            const GArray *list = starts->pdata[i];
            gint32 *first = &g_array_index(sources, gint32, i);
            for (guint k = 0; k < list->len; k++) {
                gint32 source = g_array_index(list, gint32, k);
                one_source &= *first < 0 || source < 0 || source == *first;
                *first = *first < 0 ? source : *first;
            }
        }
    }
    if (one_source)
        g_clear_pointer(&w->starts, g_hash_table_destroy);
    else
        plan->aims = TRUE;
}

/* Walks one sequence of one rank and fills in the sources of its pinned receives. */
static void find_sources(Plan *plan, guint rank, guint sequence)
{
    /* request -> PostedTerminal */
    g_autoptr(GHashTable) pending =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    WendWalk *walk = wend_walk_new(plan->program, rank, sequence, WEND_WALK_MAIN);
    const WendCall *call;
    while ((call = wend_walk_next(walk)) != NULL) {
        Wildcard *w = g_hash_table_lookup(plan->wildcards, GUINT_TO_POINTER(call->terminal));
        const WendArg *status = NULL;
        const gint64 *made = wend_call_request_made(call);
        for (guint i = 0; i < call->n_args; i++)
            if (call->args[i].param->kind == WEND_KIND_STATUS)
                status = &call->args[i];
        if (w && w->pinned
            && wend_program_slot(plan->program, call->terminal, w->slot, rank) == w->any_source) {
            PostedTerminal posted = {call->terminal, post(w, rank)};
            if (made)
                g_hash_table_insert(pending, g_memdup2(made, sizeof *made),
                                    g_memdup2(&posted, sizeof posted));
            else if (status && status->n_out > 0)
                put_source(plan, rank, posted, status->out[0]);
        }
        guint n;
        const gint64 *completed = wend_walk_completed(walk, &n);
        for (guint i = 0; i < n && g_hash_table_size(pending) > 0; i++) {
            const PostedTerminal *posted = g_hash_table_lookup(pending, &completed[i]);
            if (!posted)
                continue;
            const gint64 *came = wend_call_status_of(call, completed, i);
            put_source(plan, rank, *posted, came ? came[0] : -1);
            WendRequestState state;
            if (!wend_walk_request(walk, completed[i], &state) || !state.persistent)
                g_hash_table_remove(pending, &completed[i]);
        }
    }
    wend_walk_free(walk);
}

void wildcard_sources_find(Plan *plan)
{
    for (guint i = 0; i < plan->threads->len; i++) {
        const PlanThread *thread = &g_array_index(plan->threads, PlanThread, i);
        for (guint r = 0; r < thread->ranks.n; r++)
            find_sources(plan, thread->ranks.ranks[r], thread->sequence);
    }
    GHashTableIter iter;
    gpointer pinned;
    g_hash_table_iter_init(&iter, plan->wildcards);
    while (g_hash_table_iter_next(&iter, NULL, &pinned))
        if (((Wildcard *)pinned)->starts)
            settle_starts(plan, pinned);
}
