/* memory.c: how large each segment of the application's memory has to be in the proxy.
 *
 * All pointers into one segment stay offsets into it, so overlap and aliasing are as they were. The size is the largest over all uses of the
 * segment's id: an id that was freed and taken again is allocated anew with that size, which costs no more than address space, since
 * only what MPI touches becomes pages. */
#include "memory.h"

#include "extent.h"

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

static void use(Plan *plan, gint64 word, gint64 low, gint64 high)
{
    if (!wend_is_segment(word))
        return;
    Segment *s = segment_of(plan, word);
    s->low = MIN(s->low, low);
    s->high = MAX(s->high, MAX(high, low + 1));
}

/* Displacements of a datatype may be addresses: then the type says how far the memory behind each reaches. */
static void use_addresses(Plan *plan, const Extents *e, const Call *c, const Arg *arg, guint rank)
{
    const Arg *blocks = NULL, *types = NULL;
    for (guint i = 0; i < c->n_args; i++) {
        WendKind kind = c->args[i].param->kind;
        if (!blocks && (kind == WEND_KIND_COUNT || kind == WEND_KIND_INT) && g_str_has_prefix(c->args[i].param->name, "array_of_block"))
            blocks = &c->args[i];
        if (!types && kind == WEND_KIND_DATATYPE && c->args[i].has_in)
            types = &c->args[i];
    }
    if (!blocks)
        blocks = call_arg_named(c, "blocklength");
    gint64 n = arg->param->array ? arg->n_in : 1;
    for (gint64 i = 0; i < n; i++) {
        gint64 word = arg->in[2 * i].value, low = 0, high = 1;
        if (!wend_is_segment(word))
            continue;
        gint64 at = call_value(c, arg->in[2 * i + 1], rank);
        gint64 count = !blocks ? 1 : !blocks->param->array ? call_number(c, blocks, rank, 1)
                     : i < blocks->n_in ? call_value(c, blocks->in[i], rank) : 1;
        gint64 type = !types ? WEND_ABSENT : !types->param->array ? types->in[0].value : i < types->n_in ? types->in[i].value : WEND_ABSENT;
        extent_of_elements(e, type, count, &low, &high);
        use(plan, word, at + low, at + high);
    }
}

static gboolean has_segment(const Arg *arg)
{
    gint64 n = arg->param->array ? arg->n_in : arg->has_in;
    for (gint64 i = 0; i < n; i++)
        if (wend_is_segment(arg->in[2 * i].value))
            return TRUE;
    return FALSE;
}

static void use_call(Plan *plan, const Extents *e, const Call *c, guint rank)
{
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        switch (arg->param->kind) {
        case WEND_KIND_BUF:
            if (arg->has_in && !arg->param->array && wend_is_segment(arg->in[0].value)) {
                gint64 low, high, at = call_value(c, arg->in[1], rank);
                extent_of_buffer(e, c, i, rank, &low, &high);
                use(plan, arg->in[0].value, at + low, at + high);
            }
            if (arg->has_out && arg->n_out > 0 && arg->n_out_words >= 2) /* a base that MPI gives: MPI_Win_shared_query */
                use(plan, arg->out[0].value, 0, 1);
            for (gint64 k = 0; arg->has_in && arg->param->array && k < arg->n_in; k++) {
                gint64 at = call_value(c, arg->in[2 * k + 1], rank);
                use(plan, arg->in[2 * k].value, at, at + 1);
            }
            break;
        case WEND_KIND_ADDRESS: case WEND_KIND_ATTR:
            if (arg->has_in && has_segment(arg))
                use_addresses(plan, e, c, arg, rank);
            break;
        case WEND_KIND_SEGMENT:
            if (arg->has_in)
                use(plan, arg->in[0].value, 0, 0);
            break;
        default:
            break;
        }
    }
}

/* Does anything that decides on extents vary by rank? */
static gboolean varies(const Call *c)
{
    gint64 value;
    for (guint i = 0; i < c->n_args; i++)
        for (guint w = 0; w < c->args[i].n_in_words; w++)
            if (c->args[i].param->kind != WEND_KIND_SELF && c->args[i].param->kind != WEND_KIND_RANK &&
                c->args[i].param->kind != WEND_KIND_TAG && !word_is_constant(c, c->args[i].in[w], &value))
                return TRUE;
    return FALSE;
}

void plan_memory(Plan *plan)
{
    plan->segments = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
    Extents *e = extents_new(plan);
    for (guint t = 0; t < wend_program_n_terminals(plan->program); t++) {
        RankSet ranks = plan->terminal_ranks[t];
        if (ranks.n == 0)
            continue;
        call_decode(plan->call, t);
        gboolean all = varies(plan->call);
        for (guint r = 0; r < (all ? ranks.n : 1); r++)
            use_call(plan, e, plan->call, ranks.ranks[r]);
    }
    plan->extents = e;
}

const Segment *plan_segment(const Plan *plan, gint64 word)
{
    return g_hash_table_lookup(plan->segments, &word);
}

static int compare_segments(gconstpointer a, gconstpointer b)
{
    gint64 x = (*(Segment *const *)a)->word, y = (*(Segment *const *)b)->word;
    return x < y ? -1 : x > y;
}

GPtrArray *plan_segments_of_kind(const Plan *plan, enum wend_segment_kind kind)
{
    GPtrArray *all = g_ptr_array_new();
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, plan->segments);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        if (wend_segment_kind(((Segment *)value)->word) == kind)
            g_ptr_array_add(all, value);
    g_ptr_array_sort(all, compare_segments);
    return all;
}
