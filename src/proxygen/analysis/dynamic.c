/* SPDX-License-Identifier: BSD-3-Clause */
/* dynamic.c: memory in dynamic windows, which other processes name by its address.
 *
 * The recording has the segment of the target that an access goes to (docs/recording.md, kind
 * target). In the proxy the segment has another address. So each process publishes the address of a
 * segment that it attaches, through a window of the proxy's own. A process that accesses the
 * segment reads the address there, and waits if it is too early. The application may have come late
 * enough only because of a value that it read. */
#include "src/proxygen/analysis/call-analysis.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/error.h"

static int compare_words(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

/* Whether the window may be dynamic. Numbers of windows are used again. */
static gboolean is_dynamic(GHashTable *windows, const CallPattern *c)
{
    const Arg *win = call_pattern_arg_of_kind(c, WEND_KIND_WIN);
    return win && win->has_in && g_hash_table_contains(windows, &win->in[0].value);
}

static void add_window(GHashTable *windows, const CallPattern *c)
{
    const Arg *win = call_pattern_arg_of_kind(c, WEND_KIND_WIN);
    if (c->function->id != WEND_FN_MPI_Win_create_dynamic || !win || !win->has_out)
        return;
    gint64 *word = g_new(gint64, 1);
    *word = win->out[0].value;
    g_hash_table_add(windows, word);
}

/* Whether the recording does not know the segment of an address: a target displacement in a dynamic
 * window that is too large for any other window. */
static gboolean is_lost(GHashTable *windows, const CallPattern *c, const Arg *arg, guint rank)
{
    gboolean target = arg->param->kind == WEND_KIND_TARGET;
    if (!target && strcmp(arg->param->name, "target_disp") != 0)
        return FALSE;
    gint64 value = call_pattern_value(c, arg->in[target], rank);
    return (!target || call_pattern_value(c, arg->in[0], rank) == WEND_PLAIN) && value >> 32 > 0
           && is_dynamic(windows, c);
}

/* -- before locks -- */

/* Finds the blocks to wait for before each lock. A block that is accessed under a lock was attached
 * before the lock, because the process does only one-sided operations between lock and access. The
 * wait must come before the lock: while the lock is held, the process that attaches the block might
 * be kept out. Returns elements in ascending order: the number of a call of MPI_Win_lock, from 1,
 * << 32, and a block. */
static GArray *awaited_of(const Plan *plan, guint rank, guint sequence)
{
    GArray *awaited = g_array_new(FALSE, FALSE, sizeof(gint64));
    /* target << 32 | block */
    g_autoptr(GHashTable) known = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    /* window << 24 ^ target -> lock */
    g_autoptr(GHashTable) open = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    WendWalk *walk = walk_new(plan->program, rank, sequence, WEND_WALK_MAIN);
    guint32 locks = 0;
    for (const WendCall *call; (call = walk_next(walk)) != NULL;) {
        gboolean lock = call->function->id == WEND_FN_MPI_Win_lock,
                 unlock = call->function->id == WEND_FN_MPI_Win_unlock;
        if (call->function->flags & (WEND_F_RECV | WEND_F_COMPLETES | WEND_F_COLLECTIVE))
            g_hash_table_remove_all(open); /* the process may have learned something */
        const WendArg *win = call_arg_of_kind(call, WEND_KIND_WIN),
                      *target = call_arg_of_kind(call, WEND_KIND_RANK),
                      *place = call_arg_of_kind(call, WEND_KIND_TARGET);
        locks += lock;
        if (!win || !target || !win->n_in || !target->n_in || !(lock || unlock || place))
            continue;
        gint64 epoch = (gint64)((guint64)win->in[0] << 24) ^ target->in[0];
        if (lock)
            g_hash_table_insert(open, g_memdup2(&epoch, sizeof epoch), GUINT_TO_POINTER(locks));
        else if (unlock)
            g_hash_table_remove(open, &epoch);
        guint32 block = place ? dynamic_block(plan, place->in[0]) : 0,
                since = GPOINTER_TO_UINT(g_hash_table_lookup(open, &epoch));
        gint64 key = target->in[0] << 32 | block;
        if (block == 0 || !g_hash_table_add(known, g_memdup2(&key, sizeof key)) || since == 0)
            continue;
        gint64 pair = (gint64)since << 32 | block;
        g_array_append_val(awaited, pair);
    }
    walk_free(walk);
    g_array_sort(awaited, compare_words);
    return awaited;
}

static void find_awaited(Plan *plan)
{
    gboolean locks = FALSE;
    for (guint t = 0; t < program_n_terminals(plan->program); t++)
        locks |=
            plan->terminal_ranks[t].n > 0
            && program_shape(plan->program, program_terminal(plan->program, t)->shape)->function->id
                   == WEND_FN_MPI_Win_lock;
    if (!locks)
        return;
    plan->awaited = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    for (guint r = 0; r < plan->n_ranks; r++) {
        const WendClass *class = program_class(plan->program, program_class_of(plan->program, r));
        g_ptr_array_add(plan->awaited, class->n_sequences == 1
                                           ? awaited_of(plan, r, 0)
                                           : g_array_new(FALSE, FALSE, sizeof(gint64)));
    }
}

/* -- the whole -- */

gboolean dynamic_find(Plan *plan, Error **error)
{
    g_autoptr(GHashTable) windows =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    GArray *blocks = g_array_new(FALSE, FALSE, sizeof(gint64));
    gboolean used = FALSE, lost = FALSE;
    CallPattern *c = plan->call;
    for (int pass = 0; pass < 2; pass++)
        for (guint t = 0; t < program_n_terminals(plan->program); t++) {
            RankList ranks = plan->terminal_ranks[t];
            if (ranks.n == 0)
                continue;
            call_pattern_decode(c, t);
            if (c->failed)
                continue;
            if (pass == 0) {
                add_window(windows, c);
                if (c->function->id == WEND_FN_MPI_Win_attach)
                    g_array_append_val(blocks, call_pattern_arg_named(c, "base")->in[0].value);
                continue;
            }
            for (guint i = 0; i < c->n_args; i++) {
                const Arg *arg = &c->args[i];
                WendKind kind = arg->param->kind;
                for (gint64 k = 0; arg->has_in && kind == WEND_KIND_ADDRESS && k < arg->n_in; k++)
                    used |= word_is_segment(arg->in[4 * k].value)
                            && segment_kind(arg->in[4 * k].value) == WEND_SEGMENT_REMOTE;
                for (guint r = 0; arg->has_in && r < ranks.n; r++) {
                    lost |= is_lost(windows, c, arg, ranks.ranks[r]);
                    used |= kind == WEND_KIND_TARGET
                            && call_pattern_value(c, arg->in[0], ranks.ranks[r]) != WEND_PLAIN;
                }
            }
        }
    if (lost)
        error_set(
            error, WEND_ERROR_INPUT,
            "%s: the program accesses a dynamic window (MPI_Win_attach) of a process on another "
            "host, whose memory is not recorded",
            plan->options->recording);
    if (lost || !used) {
        g_array_unref(blocks);
        return !lost;
    }
    g_array_sort(blocks, compare_words);
    guint n = 0;
    for (guint i = 0; i < blocks->len; i++)
        if (word_is_segment(g_array_index(blocks, gint64, i))
            && (n == 0 || g_array_index(blocks, gint64, n - 1) != g_array_index(blocks, gint64, i)))
            g_array_index(blocks, gint64, n++) = g_array_index(blocks, gint64, i);
    g_array_set_size(blocks, n);
    plan->blocks = blocks;
    find_awaited(plan);
    return TRUE;
}

guint dynamic_block(const Plan *plan, gint64 segment)
{
    segment = word_segment_in_host_memory(segment);
    const GArray *blocks = plan->blocks;
    const gint64 *first = blocks ? (const gint64 *)(gconstpointer)blocks->data : NULL;
    const gint64 *found =
        blocks ? bsearch(&segment, first, blocks->len, sizeof *first, compare_words) : NULL;
    return found ? (guint)(found - first) + 1 : 0;
}
