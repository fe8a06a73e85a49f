/* SPDX-License-Identifier: BSD-3-Clause */
/* read-totals.c: grammar, counts, times and totals. */
#include "config.h"

#include "lib/analysis/summary.h"
#include "lib/merge/timing.h"
#include "read-private.h"

Counts *read_counts(WendRead *r)
{
    if (!r->counts)
        r->counts = counts_new(r->program);
    return r->counts;
}

Summary *read_summary(WendRead *r)
{
    if (r->summary != NULL)
        return r->summary;
    r->summary = summary_new(r->program);
    r->class_calls = g_new0(guint64, program_n_classes(r->program) + 1);
    for (guint i = 0; i < r->summary->classes->len; i++) {
        const ClassRow *row = &g_array_index(r->summary->classes, ClassRow, i);
        r->class_calls[row->class - program_class(r->program, 0)] = row->calls;
    }
    return r->summary;
}

/* -- the grammar -- */

int wend_read_rule(WendRead *r, uint32_t rule, const WendReadRule **info)
{
    int status = read_check(r, info);
    if (status == WEND_READ_OK)
        status = read_check_index(r, info, "rule", rule, program_n_rules(r->program));
    if (status < 0)
        return status;
    const WendRule *inside = program_rule(r->program, rule);
    r->rule = (WendReadRule){inside->n, inside->length};
    *info = &r->rule;
    return WEND_READ_OK;
}

int wend_read_symbol(WendRead *r, uint32_t rule, uint32_t index, WendReadSymbol *symbol)
{
    int status = read_check(r, symbol);
    if (status == WEND_READ_OK)
        status = read_check_index(r, symbol, "rule", rule, program_n_rules(r->program));
    if (status < 0)
        return status;
    const WendRule *inside = program_rule(r->program, rule);
    status = read_check_index(r, symbol, "symbol", index, inside->n);
    if (status == WEND_READ_OK)
        *symbol = (WendReadSymbol){inside->symbols[index].is_rule, inside->symbols[index].id,
                                   inside->symbols[index].repeats};
    return status;
}

/* -- counts and times -- */

static int check_sequence(WendRead *r, const void *result, guint class_index, guint sequence)
{
    int status = read_check(r, result);
    if (status == WEND_READ_OK)
        status = read_check_index(r, result, "class", class_index, program_n_classes(r->program));
    if (status < 0)
        return status;
    return read_check_index(r, result, "sequence", sequence,
                            program_class(r->program, class_index)->n_sequences);
}

int wend_read_counts(WendRead *r, uint32_t class_index, uint32_t sequence,
                     const WendReadCount **counts, uint32_t *n)
{
    int status = check_sequence(r, counts, class_index, sequence);
    if (status == WEND_READ_OK)
        status = read_check(r, n);
    if (status < 0)
        return status;
    Counts *inside = read_counts(r);
    const WendClass *class = program_class(r->program, class_index);
    guint n_terminals;
    const guint32 *terminals =
        counts_of_rule(inside, class->sequences[sequence].rule, &n_terminals);
    g_clear_pointer(&r->counted, g_array_unref);
    r->counted = g_array_sized_new(FALSE, FALSE, sizeof(WendReadCount), n_terminals);
    for (guint i = 0; i < n_terminals; i++) {
        WendReadCount count = {terminals[i], counts_terminal(inside, terminals[i])};
        g_array_append_val(r->counted, count);
    }
    *counts = (const WendReadCount *)(gpointer)r->counted->data;
    *n = n_terminals;
    return WEND_READ_OK;
}

void read_timing_set(WendReadTiming *to, const WendTiming *from)
{
    *to = (WendReadTiming){.count = from->count,
                           .mean = from->mean,
                           .min = from->min,
                           .max = from->max,
                           .deviation = from->stddev};
    if (from->count > 0)
        timing_error(from, &to->mean_error, &to->rest_error);
}

int wend_read_timing(WendRead *r, uint32_t class_index, uint32_t sequence, uint32_t signature,
                     WendReadTiming *duration, WendReadTiming *interval)
{
    WendTiming took, between;
    int status = check_sequence(r, r, class_index, sequence);
    if (status == WEND_READ_OK)
        status = read_check_index(r, r, "signature", signature, program_n_terminals(r->program));
    if (status < 0)
        return status;
    summary_times(r->program, class_index, sequence, signature, &took, &between);
    if (duration != NULL)
        read_timing_set(duration, &took);
    if (interval != NULL)
        read_timing_set(interval, &between);
    return WEND_READ_OK;
}

/* -- totals -- */

void read_amount_set(WendReadAmount *to, const Traffic *from)
{
    *to = (WendReadAmount){from->operations, from->bytes, from->unsized};
}

int wend_read_totals(WendRead *r, const WendReadTotals **totals)
{
    int status = read_check(r, totals);
    if (status < 0)
        return status;
    const Summary *s = read_summary(r);
    const Nondeterminism *n = &s->nondeterminism;
    WendReadTotals *t = &r->totals;
    *t = (WendReadTotals){.mpi_calls = s->totals.mpi_calls,
                          .polls = s->totals.polls,
                          .frees = s->totals.frees,
                          .failed = s->failed,
                          .unfinished = s->unfinished,
                          .wildcard_receives = n->wildcard_receives,
                          .wildcard_probes = n->wildcard_probes,
                          .probes = n->probes,
                          .any_completions = n->any_completions,
                          .tests = n->tests,
                          .neighbour_orders = n->neighbour_orders,
                          .min_threads = s->min_threads,
                          .max_threads = s->max_threads,
                          .max_callbacks = s->callbacks,
                          .n_functions = s->functions->len,
                          .n_symbols = s->symbols,
                          .seconds_in_mpi = s->busy,
                          .seconds_in_mpi_error = s->busy_error,
                          .seconds_of_run = s->run};
    for (guint i = 0; i < TRAFFIC_KINDS; i++)
        read_amount_set(&t->amounts[i], &s->traffic[i]);
    *totals = t;
    return WEND_READ_OK;
}

int wend_read_function_totals(WendRead *r, uint32_t index, const WendReadFunctionTotals **totals)
{
    int status = read_check(r, totals);
    if (status < 0)
        return status;
    const Summary *s = read_summary(r);
    if (index >= s->functions->len)
        return read_fail(r, WEND_READ_ERROR_NONE, "no more than %u functions were called",
                         s->functions->len);
    const FunctionRow *row = &g_array_index(s->functions, FunctionRow, index);
    WendReadFunctionTotals *t = &r->function_totals;
    *t = (WendReadFunctionTotals){.calls = row->calls, .seconds = row->seconds};
    wend_read_function_named(r, row->name, &t->function);
    read_timing_set(&t->duration, &row->duration);
    t->duration.mean_error = row->mean_error / MAX(row->duration.mean, 1e-12);
    t->duration.rest_error = row->rest_error;
    read_amount_set(&t->amount, &row->traffic);
    *totals = t;
    return WEND_READ_OK;
}

int wend_read_rank_times(WendRead *r, uint32_t world, uint32_t index,
                         const WendReadRankTimes **times)
{
    int status = read_check(r, times);
    if (status == WEND_READ_OK)
        status = read_check_index(r, times, "world", world, program_n_worlds(r->program));
    if (status < 0)
        return status;
    guint n, first = program_world(r->program, world)->first;
    const WendRankTimes *of = program_rank_times(r->program, world, &n);
    if (index >= n)
        return read_fail(r, WEND_READ_ERROR_NONE, "no more than %u functions were timed", n);
    WendReadRankTimes *t = &r->rank_times;
    of += index;
    *t = (WendReadRankTimes){.n = of->n, .seconds = of->seconds, .counts = of->counts};
    g_clear_pointer(&r->rank_times_ranks, g_free);
    if (of->ranks) {
        r->rank_times_ranks = g_new(guint32, of->n);
        for (guint i = 0; i < of->n; i++)
            r->rank_times_ranks[i] = first + of->ranks[i];
        t->ranks = r->rank_times_ranks;
    } else {
        t->fastest = first + of->fastest;
        t->slowest = first + of->slowest;
    }
    wend_read_function_named(r, of->function->name, &t->function);
    *times = t;
    return WEND_READ_OK;
}

void read_totals_clear(WendRead *r)
{
    g_clear_pointer(&r->rank_times_ranks, g_free);
    g_clear_pointer(&r->counts, counts_free);
    g_clear_pointer(&r->counted, g_array_unref);
    g_clear_pointer(&r->summary, summary_free);
    g_clear_pointer(&r->class_calls, g_free);
}
