/* SPDX-License-Identifier: BSD-3-Clause */
/* summary.c: see summary.h. */
#include "config.h"

#include "summary.h"

#include <math.h>
#include <string.h>

#include "count.h"
#include "merge/timing.h"
#include "read/graph-order.h"

void summary_times(const WendProgram *p, guint class_index, guint sequence, guint32 terminal,
                   WendTiming *duration, WendTiming *interval)
{
    program_timing(p, class_index, sequence, terminal, duration, interval);
    if (program_shape(p, program_terminal(p, terminal)->shape)->function->id
        == WEND_FN_MPI_Finalize)
        *duration = (WendTiming){0};
}

/* Joins two samples (Chan, Golub, LeVeque 1979). */
static void timing_join(WendTiming *a, const WendTiming *b)
{
    if (b->count == 0)
        return;
    if (a->count == 0) {
        *a = *b;
        return;
    }
    double n = (double)a->count, m = (double)b->count, delta = b->mean - a->mean;
    double m2 =
        a->stddev * a->stddev * n + b->stddev * b->stddev * m + delta * delta * n * m / (n + m);
    a->mean += delta * m / (n + m);
    a->stddev = sqrt(m2 / (n + m));
    a->min = MIN(a->min, b->min);
    a->max = MAX(a->max, b->max);
    a->count += b->count;
}

static gboolean is_wild(const WendProgram *p, gint64 word)
{
    const char *name = program_constant_name(p, word);
    return name != NULL
           && (strcmp(name, "MPI_ANY_SOURCE") == 0 || strcmp(name, "MPI_ANY_TAG") == 0);
}

/* The number of ranks of the class on which a receive or probe names no source or no tag. */
static guint64 wild_ranks(const WendProgram *p, WendDecoder *decoder, const WendClass *class,
                          guint32 terminal)
{
    const WendTerminal *t = program_terminal(p, terminal);
    gboolean varies = FALSE;
    for (guint i = 0; i < t->n_slots; i++)
        varies = varies || t->slots[i].form == WEND_SLOT_TABLE;
    guint64 wild = 0;
    for (guint r = 0; r < (varies ? class->n_ranks : 1); r++) {
        const WendCall *call = decoder_call(decoder, terminal, class->ranks[r]);
        for (guint i = 0; i < call->n_args; i++) {
            const WendArg *arg = &call->args[i];
            const char *name = arg->param->name;
            if (arg->n_in > 0 && !arg->param->array
                && (strcmp(name, "source") == 0 || strcmp(name, "tag") == 0
                    || strcmp(name, "recvtag") == 0)
                && is_wild(p, arg->in[0])) {
                wild++;
                break;
            }
        }
    }
    return varies ? wild : wild * class->n_ranks;
}

static void count_nondeterminism(Summary *s, const WendProgram *p, WendDecoder *decoder,
                                 const WendClass *class, guint32 terminal, guint64 times)
{
    const WendFunction *f = program_shape(p, program_terminal(p, terminal)->shape)->function;
    Nondeterminism *n = &s->nondeterminism;
    gboolean probe = f->operation == WEND_FN_MPI_Probe;
    if ((f->flags & WEND_F_RECV) != 0) {
        guint64 wild = wild_ranks(p, decoder, class, terminal) * times;
        *(probe ? &n->wildcard_probes : &n->wildcard_receives) += wild;
    }
    if (probe)
        n->probes += times * class->n_ranks;
    else if ((f->flags & WEND_F_ANY) != 0)
        n->any_completions += times * class->n_ranks;
    else if ((f->flags & WEND_F_COMPLETES) != 0 && (f->flags & WEND_F_POLL) != 0)
        n->tests += times * class->n_ranks;
}

/* Has the call returned? The last calls of a run that ended early have not. */
static gboolean has_returned(WendDecoder *decoder, guint32 terminal, const WendClass *class)
{
    return !decoder_call(decoder, terminal, class->ranks[0])->unfinished;
}

/* Does MPI start or end in the call? The duration of MPI_Finalize cannot be measured, since the
 * recording is written in it. */
static gboolean is_outside(const WendFunction *f)
{
    return (f->flags & WEND_F_LIFETIME) != 0;
}

static void add_times(Summary *s, FunctionRow *row, const WendTiming *duration, gboolean thread)
{
    double mean_error, rest_error;
    if (duration->count == 0)
        return;
    timing_error(duration, &mean_error, &rest_error);
    double n = (double)duration->count, before = (double)row->duration.count,
           seconds = n * duration->mean;
    double error = MAX(mean_error * duration->mean, s->resolution);
    row->mean_error = (before * row->mean_error + n * error) / (before + n);
    row->rest_error = MAX(row->rest_error, rest_error);
    timing_join(&row->duration, duration);
    if (!thread || row->outside)
        return;
    row->seconds += seconds;
    s->busy += seconds;
    s->busy_error += n * error;
}

/* Adds the time that the threads of a class ran. */
static void add_run(Summary *s, const WendProgram *p, const WendClass *class, guint threads)
{
    if (class->n_ranks == 0)
        return;
    GKeyFile *meta = program_world_meta(p, program_world_of(p, class->ranks[0]));
    g_autofree char *elapsed = g_key_file_get_string(meta, "run", "elapsed", NULL);
    if (elapsed != NULL)
        s->run += g_ascii_strtod(elapsed, NULL) * class->n_ranks * threads;
}

static FunctionRow *function_row(Summary *s, GHashTable *index, const WendFunction *f)
{
    gpointer found = g_hash_table_lookup(index, f);
    if (!found) {
        FunctionRow row = {.name = f->name, .outside = is_outside(f)};
        g_array_append_val(s->functions, row);
        found = GUINT_TO_POINTER(s->functions->len);
        g_hash_table_insert(index, (gpointer)f, found);
    }
    return &g_array_index(s->functions, FunctionRow, GPOINTER_TO_UINT(found) - 1);
}

static void add_class(Summary *s, const WendProgram *p, guint i, Counts *counts,
                      WendDecoder *decoder, GHashTable *index, GHashTable *traffic,
                      const WendGraphOrders *orders, WendMembers **members)
{
    const WendClass *class = program_class(p, i);
    ClassRow row = {class, 0};
    guint threads = 0, callbacks = 0;
    for (guint q = 0; q < class->n_sequences; q++) {
        guint n;
        const guint32 *terminals = counts_of_rule(counts, class->sequences[q].rule, &n);
        for (guint t = 0; t < n; t++) {
            guint64 times = counts_terminal(counts, terminals[t]);
            const WendShape *shape = program_shape(p, program_terminal(p, terminals[t])->shape);
            WendTiming duration;
            guint64 on_all = times * class->n_ranks;
            s->entries += on_all;
            totals_add(&s->totals, shape->function, on_all);
            if ((shape->function->flags & WEND_F_PSEUDO) != 0)
                continue;
            FunctionRow *function = function_row(s, index, shape->function);
            summary_times(p, i, q, terminals[t], &duration, NULL);
            add_times(s, function, &duration, class->sequences[q].kind == WEND_SEQUENCE_THREAD);
            function->calls += on_all;
            row.calls += times;
            if (shape->failed)
                *(has_returned(decoder, terminals[t], class) ? &s->failed : &s->unfinished) +=
                    on_all;
            count_nondeterminism(s, p, decoder, class, terminals[t], times);
            if (graph_order(orders, terminals[t]) != GRAPH_ORDER_NONE)
                s->nondeterminism.neighbour_orders += on_all;
        }
        if (class->sequences[q].kind == WEND_SEQUENCE_THREAD)
            threads++;
        else
            callbacks++;
        for (guint r = 0; r < class->n_ranks; r++)
            s->totals.polls += program_polls(p, class->ranks[r], q);
    }
    s->min_threads = MIN(s->min_threads, threads);
    s->max_threads = MAX(s->max_threads, threads);
    s->callbacks = MAX(s->callbacks, callbacks);
    g_array_append_val(s->classes, row);
    add_run(s, p, class, threads);
    traffic_add_class(p, counts, members, i, s->traffic, traffic);
}

static gint compare_functions(gconstpointer a, gconstpointer b)
{
    const FunctionRow *x = a, *y = b;
    return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : strcmp(x->name, y->name);
}

static gint compare_classes(gconstpointer a, gconstpointer b)
{
    const WendClass *x = ((const ClassRow *)a)->class, *y = ((const ClassRow *)b)->class;
    if (x->n_ranks != y->n_ranks)
        return x->n_ranks < y->n_ranks ? 1 : -1;
    return x->n_ranks == 0 || x->ranks[0] < y->ranks[0] ? -1 : 1;
}

static double resolution_of(const WendProgram *p)
{
    g_autofree char *resolution =
        g_key_file_get_string(program_meta(p), "clock", "resolution", NULL);
    return resolution != NULL ? CLAMP(g_ascii_strtod(resolution, NULL), 0, 1) : 0;
}

Summary *summary_new(const WendProgram *p)
{
    Summary *s = g_new0(Summary, 1);
    s->functions = g_array_new(FALSE, FALSE, sizeof(FunctionRow));
    s->classes = g_array_new(FALSE, FALSE, sizeof(ClassRow));
    s->min_threads = G_MAXUINT;
    s->resolution = resolution_of(p);
    Counts *counts = counts_new(p);
    WendDecoder *decoder = decoder_new(p);
    GHashTable *index = g_hash_table_new(NULL, NULL);
    WendGraphOrders *orders = graph_orders_new(p);
    WendMembers *members = NULL;
    g_autoptr(GHashTable) traffic = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    for (guint i = 0; i < program_n_classes(p); i++)
        add_class(s, p, i, counts, decoder, index, traffic, orders, &members);
    graph_orders_free(orders);
    members_free(members);
    for (guint i = 0; i < s->functions->len; i++) {
        FunctionRow *row = &g_array_index(s->functions, FunctionRow, i);
        const Traffic *of_function = g_hash_table_lookup(traffic, row->name);
        if (of_function != NULL)
            row->traffic = *of_function;
    }
    for (guint i = 0; i < program_n_rules(p); i++)
        s->symbols += program_rule(p, i)->n;
    if (s->min_threads == G_MAXUINT)
        s->min_threads = 0;
    g_array_sort(s->functions, compare_functions);
    g_array_sort(s->classes, compare_classes);
    g_hash_table_unref(index);
    decoder_free(decoder);
    counts_free(counts);
    return s;
}

void summary_free(Summary *s)
{
    if (!s)
        return;
    g_array_unref(s->functions);
    g_array_unref(s->classes);
    g_free(s);
}
