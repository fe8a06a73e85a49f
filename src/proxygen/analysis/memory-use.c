/* SPDX-License-Identifier: BSD-3-Clause */
/* memory-use.c: the size of each segment of the application's memory in the proxy.
 *
 * All pointers into one segment stay offsets in it, so they overlap as in the application. The size
 * is the largest over all uses of the segment's id. An id that was freed and used again is
 * allocated with that size each time. This costs only address space, since only the bytes that MPI
 * touches become pages. The bytes that a call touches depend on the objects that its handles stand
 * for at that time (lifetimes.c). */
#include "src/proxygen/analysis/call-analysis.h"

static Segment *segment_of(Plan *plan, gint64 word)
{
    Segment *s = g_hash_table_lookup(plan->segments, &word);
    if (!s) {
        s = g_new0(Segment, 1);
        s->word = word;
        g_hash_table_insert(plan->segments, &s->word, s);
    }
    return s;
}

/* Notes the use of bytes LOW to below HIGH from AT on. A damaged recording may have any numbers;
 * datatype_layout_sum clamps them. */
static void use(Plan *plan, gint64 word, gint64 at, gint64 low, gint64 high)
{
    if (!word_is_segment(word) || segment_kind(word) == WEND_SEGMENT_REMOTE)
        return;
    Segment *s = segment_of(plan, word);
    low = datatype_layout_sum(at, low), high = datatype_layout_sum(at, high);
    s->low = MIN(s->low, low);
    s->high = MAX(s->high, MAX(high, low + 1));
}

typedef struct {
    Plan *plan;
    Extents *extents;
    GArray *pieces;
} Uses;

/* Notes the beginning of a buffer, and all bytes that the call touches through it. MPI_BOTTOM and
 * similar constants have no beginning: only addresses count. */
static void use_buffer(Uses *u, const CallPattern *c, guint index, guint rank)
{
    const Arg *arg = &c->args[index];
    gint64 word = arg->in[0].value, at = call_pattern_value(c, arg->in[1], rank);
    if (at == WEND_ABSENT) /* the rank does not touch it */
        return;
    use(u->plan, word, at, 0, 1);
    g_array_set_size(u->pieces, 0);
    extent_of_buffer(u->extents, c, index, rank, u->pieces);
    for (guint i = 0; i < u->pieces->len; i++) {
        const BytePiece *p = &g_array_index(u->pieces, BytePiece, i);
        if (p->segment == EXTENT_RELATIVE)
            use(u->plan, word, at, p->low, p->high);
        else
            use(u->plan, p->segment, 0, p->low, p->high);
    }
}

/* Notes N addresses, each a segment and an offset. */
static void use_places(Uses *u, const CallPattern *c, const Word *words, gint64 n, guint rank)
{
    for (gint64 i = 0; i < n; i++) {
        gint64 at =
            word_is_segment(words[2 * i].value) ? call_pattern_value(c, words[2 * i + 1], rank) : 0;
        use(u->plan, words[2 * i].value, at, 0, 1);
    }
}

static void use_call(Uses *u, const CallPattern *c, guint rank)
{
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        switch (arg->param->kind) {
        case WEND_KIND_BUF:
            if (arg->has_in && !arg->param->array)
                use_buffer(u, c, i, rank);
            else if (arg->has_in)
                use_places(u, c, arg->in, arg->n_in, rank);
            /* a base that MPI returns: MPI_Win_shared_query */
            if (arg->has_out && arg->n_out > 0 && arg->n_out_words >= 2)
                use(u->plan, arg->out[0].value, 0, 0, 1);
            break;
        case WEND_KIND_ADDRESS:
        case WEND_KIND_ATTR: /* a distance has two addresses */
            if (arg->has_in)
                use_places(u, c, arg->in,
                           (arg->param->array ? arg->n_in : 1)
                               * (arg->param->kind == WEND_KIND_ADDRESS ? 2 : 1),
                           rank);
            break;
        case WEND_KIND_SEGMENT:
            if (arg->has_in)
                use(u->plan, arg->in[0].value, 0, 0, 0);
            break;
        default:
            break;
        }
    }
}

/* Whether an argument that determines extents varies by rank. */
static gboolean varies(const CallPattern *c)
{
    gint64 value;
    for (guint i = 0; i < c->n_args; i++)
        for (guint w = 0; w < c->args[i].n_in_words; w++)
            if (c->args[i].param->kind != WEND_KIND_SELF && c->args[i].param->kind != WEND_KIND_RANK
                && c->args[i].param->kind != WEND_KIND_TAG
                && !call_pattern_word_is_constant(c, c->args[i].in[w], &value))
                return TRUE;
    return FALSE;
}

static gboolean uses_memory(const CallPattern *c)
{
    for (guint i = 0; i < c->n_args; i++)
        switch (c->args[i].param->kind) {
        case WEND_KIND_BUF:
        case WEND_KIND_ADDRESS:
        case WEND_KIND_ATTR:
        case WEND_KIND_SEGMENT:
            return TRUE;
        default:
            break;
        }
    return FALSE;
}

static void visit_call(const CallPattern *c, RankList ranks, gpointer data)
{
    Uses *u = data;
    if (!uses_memory(c))
        return;
    guint n = varies(c) || lifetimes_varies(u->plan->lifetimes, c) ? ranks.n : 1;
    for (guint r = 0; r < n; r++)
        use_call(u, c, ranks.ranks[r]);
}

/* Whether the numbers of the main thread's segments, which come first, have few gaps. A list by
 * number would otherwise be mostly empty. */
static gboolean are_dense(const GPtrArray *segments)
{
    enum { GAP = 16, FEW = 64 };
    guint highest = 0;
    for (guint i = 0; i < segments->len; i++) {
        const Segment *s = segments->pdata[i];
        if (word_segment_thread(s->word) == 0)
            highest = MAX(highest, word_segment_number(s->word));
    }
    return highest / GAP <= segments->len + FEW;
}

static void find_places(Plan *plan)
{
    for (int kind = 0; kind < WEND_SEGMENT_KINDS; kind++) {
        g_autoptr(GPtrArray) segments = memory_use_segments_of_kind(plan, kind);
        gboolean by_number = are_dense(segments);
        gint64 next = 0;
        for (guint i = 0; i < segments->len; i++) {
            Segment *s = g_ptr_array_index(segments, i);
            s->place = by_number && word_segment_thread(s->word) == 0
                           ? (gint64)word_segment_number(s->word)
                           : next;
            next = s->place + 1;
        }
    }
}

void memory_use_find(Plan *plan)
{
    plan->segments = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    plan->lifetimes = lifetimes_new(plan);
    plan->extents = extents_new(plan, plan->lifetimes);
    Uses u = {plan, plan->extents, g_array_new(FALSE, FALSE, sizeof(BytePiece))};
    lifetimes_foreach_call(plan->lifetimes, visit_call, &u);
    g_array_unref(u.pieces);
    find_places(plan);
}

const Segment *memory_use_segment(const Plan *plan, gint64 word)
{
    return g_hash_table_lookup(plan->segments, &word);
}

gint64 memory_use_segment_place(const Plan *plan, gint64 word)
{
    const Segment *s = memory_use_segment(plan, word);
    return s ? s->place : 0;
}

static int compare_segments(gconstpointer a, gconstpointer b)
{
    gint64 x = (*(Segment *const *)a)->word, y = (*(Segment *const *)b)->word;
    return x < y ? -1 : x > y;
}

GPtrArray *memory_use_segments_of_kind(const Plan *plan, enum segment_kind kind)
{
    GPtrArray *all = g_ptr_array_new();
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, plan->segments);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (segment_kind(((Segment *)value)->word) == kind)
            g_ptr_array_add(all, value);
    g_ptr_array_sort(all, compare_segments);
    return all;
}

gboolean memory_use_has_modules(const Plan *plan)
{
    g_autoptr(GPtrArray) segments = memory_use_segments_of_kind(plan, WEND_SEGMENT_STATIC);
    for (guint i = 1; i < segments->len; i++) {
        const Segment *s = segments->pdata[i - 1], *next = segments->pdata[i];
        if (word_segment_thread(s->word) == word_segment_thread(next->word))
            return TRUE;
    }
    return FALSE;
}

gboolean memory_use_heap_reaches_below(const Plan *plan)
{
    g_autoptr(GPtrArray) segments = memory_use_segments_of_kind(plan, WEND_SEGMENT_HEAP);
    gboolean below = FALSE;
    for (guint i = 0; i < segments->len; i++)
        below |= ((const Segment *)g_ptr_array_index(segments, i))->low < 0;
    return below;
}
