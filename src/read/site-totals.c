/* SPDX-License-Identifier: BSD-3-Clause */
/* site-totals.c: see site-totals.h. */
#include "config.h"

#include "site-totals.h"

#include <math.h>
#include <string.h>

#include "read-private.h"

/* How often a rank calls a terminal from a site, in one sequence. */
typedef struct {
    guint32 sequence, terminal, site;
    gboolean poll;
    guint64 calls;
} SitePair;

/* The calls of a terminal in a sequence, from one row's site, on all ranks of a class. */
typedef struct {
    guint32 sequence, terminal;
    guint row;
    guint64 calls;
    guint64 measured; /* calls whose own time the recording has */
    double seconds;   /* of these calls */
} TimedRow;

typedef struct {
    WendRead *reader;
    const WendProgram *p;
    const WendCallSites *sites;
    GArray *rows;       /* SiteRow */
    GHashTable *row_of; /* GBytes of site and function -> number of its row + 1 */
    Counts *counts;
    /* Of the class at hand. */
    guint class_index;
    const WendClass *class;
    TrafficScan *traffic;
    GHashTable *pairs_of; /* streams of a rank, as text -> GArray of SitePair */
    GHashTable *timed_at; /* GBytes of sequence, terminal and row -> number in TIMED + 1 */
    GArray *timed;        /* Timed */
} SiteTotals;

/* The number + 1 of KEY in TABLE, in which it becomes N + 1 if it is new. */
static guint number_of(GHashTable *table, gconstpointer key, gsize bytes, guint n)
{
    GBytes *of = g_bytes_new(key, bytes);
    gpointer known = g_hash_table_lookup(table, of);
    if (known == NULL) {
        g_hash_table_insert(table, of, GUINT_TO_POINTER(n + 1));
        return n + 1;
    }
    g_bytes_unref(of);
    return GPOINTER_TO_UINT(known);
}

static guint row_of(SiteTotals *t, guint site, const WendFunction *f)
{
    const char *name = f->name; /* one string for each function */
    struct {
        guint64 site;
        const char *name;
    } key;
    memset(&key, 0, sizeof key);
    key.site = site;
    key.name = name;
    guint number = number_of(t->row_of, &key, sizeof key, t->rows->len);
    if (number > t->rows->len) {
        SiteRow row = {.site = site, .function = f, .seconds = -1};
        g_array_append_val(t->rows, row);
    }
    return number - 1;
}

/* -- counting -- */

static GArray *pairs_new(const SiteTotals *t, guint rank)
{
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(SitePair));
    g_autoptr(GHashTable) numbers =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    for (guint q = 0; q < t->class->n_sequences; q++) {
        WendWalk *walk = wend_walk_new(t->p, rank, q, WEND_WALK_POLLS);
        WendSiteWalk *sites = wend_site_walk_new(t->sites, rank, q);
        const WendCall *call;
        while ((call = wend_walk_next(walk))) {
            guint site = read_site_group(t->reader, wend_site_walk_next(sites, call));
            if (call->function->flags & WEND_F_PSEUDO)
                continue;
            guint32 key[] = {q, call->terminal, site, call->poll};
            guint number = number_of(numbers, key, sizeof key, pairs->len);
            if (number > pairs->len) {
                SitePair pair = {q, call->terminal, site, call->poll, 0};
                g_array_append_val(pairs, pair);
            }
            g_array_index(pairs, SitePair, number - 1).calls++;
        }
        wend_site_walk_free(sites);
        wend_walk_free(walk);
    }
    return pairs;
}

/* A text that ranks of a class share if their calls come from the same sites. NULL: the rank may
 * differ from all others. */
static char *streams_of(const SiteTotals *t, guint rank)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint q = 0; q < t->class->n_sequences; q++) {
        WendSiteWalk *walk = wend_site_walk_new(t->sites, rank, q);
        guint stream = wend_site_walk_stream(walk);
        wend_site_walk_free(walk);
        if (stream == G_MAXUINT || wend_program_polls(t->p, rank, q) > 0)
            return NULL;
        g_string_append_printf(text, "%u,", stream);
    }
    return g_strdup(text->str);
}

/* The pairs of RANK. The caller unrefs them. */
static GArray *pairs_of(SiteTotals *t, guint rank)
{
    char *streams = streams_of(t, rank);
    GArray *pairs = streams != NULL ? g_hash_table_lookup(t->pairs_of, streams) : NULL;
    if (pairs != NULL) {
        g_free(streams);
        return g_array_ref(pairs);
    }
    pairs = pairs_new(t, rank);
    if (streams != NULL)
        g_hash_table_insert(t->pairs_of, streams, g_array_ref(pairs));
    return pairs;
}

/* -- one rank -- */

typedef struct {
    SiteRow *row;
    guint64 calls;
} RowVisit;

static void add_traffic(gpointer data, const WendCall *call, TrafficKind kind, guint64 bytes)
{
    RowVisit *v = data;
    (void)call, (void)kind;
    traffic_add(&v->row->traffic, bytes, v->calls);
    if (bytes != TRANSFER_UNSIZED)
        v->row->rank_bytes = transfer_plus(v->row->rank_bytes, transfer_times(bytes, v->calls));
}

static TimedRow *timed_of(SiteTotals *t, guint sequence, guint terminal, guint row)
{
    guint32 key[] = {sequence, terminal, row};
    guint number = number_of(t->timed_at, key, sizeof key, t->timed->len);
    if (number > t->timed->len) {
        TimedRow timed = {.sequence = sequence, .terminal = terminal, .row = row};
        g_array_append_val(t->timed, timed);
    }
    return &g_array_index(t->timed, TimedRow, number - 1);
}

static void add_pair(SiteTotals *t, const SitePair *pair, guint rank)
{
    const WendShape *shape =
        wend_program_shape(t->p, wend_program_terminal(t->p, pair->terminal)->shape);
    guint number = row_of(t, pair->site, shape->function);
    SiteRow *row = &g_array_index(t->rows, SiteRow, number);
    row->rank_calls += pair->calls;
    if (pair->poll) {
        row->polls += pair->calls;
        return;
    }
    RowVisit visit = {row, pair->calls};
    row->calls += pair->calls;
    traffic_scan_call(t->traffic, pair->terminal, rank, add_traffic, &visit);
    if (t->class->sequences[pair->sequence].kind == WEND_SEQUENCE_THREAD)
        timed_of(t, pair->sequence, pair->terminal, number)->calls += pair->calls;
}

static void end_rank(SiteTotals *t, guint rank)
{
    for (guint i = 0; i < t->rows->len; i++) {
        SiteRow *row = &g_array_index(t->rows, SiteRow, i);
        if (row->rank_calls == 0)
            continue;
        gboolean first = row->n_ranks++ == 0;
        if (first || row->rank_calls < row->least_calls) {
            row->least_calls = row->rank_calls;
            row->least_rank = rank;
        }
        if (first || row->rank_calls > row->most_calls) {
            row->most_calls = row->rank_calls;
            row->most_rank = rank;
        }
        if (first || row->rank_bytes < row->least_bytes) {
            row->least_bytes = row->rank_bytes;
            row->least_bytes_rank = rank;
        }
        if (first || row->rank_bytes > row->most_bytes) {
            row->most_bytes = row->rank_bytes;
            row->most_bytes_rank = rank;
        }
        row->rank_calls = row->rank_bytes = 0;
    }
}

/* -- times -- */

static gint by_terminal(gconstpointer a, gconstpointer b)
{
    const TimedRow *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->terminal < y->terminal ? -1 : x->terminal > y->terminal;
}

/* Whether a terminal is called from several sites. */
static gboolean divides(const SiteTotals *t)
{
    g_autoptr(GHashTable) terminals =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    for (guint i = 0; i < t->timed->len; i++) {
        const TimedRow *timed = &g_array_index(t->timed, TimedRow, i);
        guint32 key[] = {timed->sequence, timed->terminal};
        if (number_of(terminals, key, sizeof key, i) <= i)
            return TRUE;
    }
    return FALSE;
}

/* Adds the times of the calls of RANK in SEQUENCE that the recording has. */
static void measure_calls(SiteTotals *t, guint rank, guint sequence)
{
    ReadTimes *times;
    WendReadTime time;
    const WendCall *call;
    if (read_times_new(t->reader, rank, sequence, TRUE, &times) < 0)
        return; /* the statistics are left */
    WendWalk *walk = wend_walk_new(t->p, rank, sequence, WEND_WALK_POLLS);
    WendSiteWalk *sites = wend_site_walk_new(t->sites, rank, sequence);
    while (read_times_any(times) && (call = wend_walk_next(walk)) != NULL) {
        guint site = read_site_group(t->reader, wend_site_walk_next(sites, call));
        read_times_next(times, call);
        if (call->poll || (call->function->flags & WEND_F_PSEUDO) != 0
            || read_times_get(t->reader, times, &time) < 0 || isnan(time.duration))
            continue;
        TimedRow *timed = timed_of(t, sequence, call->terminal, row_of(t, site, call->function));
        timed->measured++;
        timed->seconds += time.duration;
    }
    wend_site_walk_free(sites);
    wend_walk_free(walk);
    read_times_free(times);
}

static void measure_class(SiteTotals *t)
{
    for (guint q = 0; q < t->class->n_sequences; q++)
        if (t->class->sequences[q].kind == WEND_SEQUENCE_THREAD)
            for (guint i = 0; i < t->class->n_ranks; i++)
                measure_calls(t, t->class->ranks[i], q);
}

/* Adds SECONDS to the row of TIMED. SHARED: they are an estimate. */
static void add_seconds(SiteTotals *t, const TimedRow *timed, double seconds, gboolean shared)
{
    SiteRow *row = &g_array_index(t->rows, SiteRow, timed->row);
    row->seconds = MAX(row->seconds, 0) + seconds;
    row->shared = row->shared || shared;
}

/* Divides the time of each terminal among the sites from which the class calls it: by the times of
 * the calls if all are known, else by their number. */
static void divide_times(SiteTotals *t)
{
    g_array_sort(t->timed, by_terminal);
    for (guint i = 0, end; i < t->timed->len; i = end) {
        const TimedRow *first = &g_array_index(t->timed, TimedRow, i);
        WendTiming duration;
        guint64 calls = 0, measured = 0;
        for (end = i; end < t->timed->len
                      && by_terminal(first, &g_array_index(t->timed, TimedRow, end)) == 0;
             end++) {
            calls += g_array_index(t->timed, TimedRow, end).calls;
            measured += g_array_index(t->timed, TimedRow, end).measured;
        }
        times_of(t->p, t->class_index, first->sequence, first->terminal, &duration, NULL);
        double mean = duration.mean * (double)duration.count / (double)calls;
        for (guint k = i; k < end && duration.count > 0; k++) {
            const TimedRow *timed = &g_array_index(t->timed, TimedRow, k);
            if (measured == duration.count)
                add_seconds(t, timed, timed->seconds, FALSE);
            else
                add_seconds(t, timed, mean * (double)timed->calls, end - i > 1);
        }
    }
}

static void add_class(SiteTotals *t, guint class_index)
{
    t->class_index = class_index;
    t->class = wend_program_class(t->p, class_index);
    t->traffic = traffic_scan_new(t->p, t->counts, class_index);
    t->pairs_of =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    t->timed_at =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    t->timed = g_array_new(FALSE, FALSE, sizeof(TimedRow));
    for (guint i = 0; i < t->class->n_ranks; i++) {
        g_autoptr(GArray) pairs = pairs_of(t, t->class->ranks[i]);
        for (guint k = 0; k < pairs->len; k++)
            add_pair(t, &g_array_index(pairs, SitePair, k), t->class->ranks[i]);
        end_rank(t, t->class->ranks[i]);
    }
    if (divides(t))
        measure_class(t);
    divide_times(t);
    traffic_scan_free(t->traffic);
    g_hash_table_unref(t->pairs_of);
    g_hash_table_unref(t->timed_at);
    g_array_unref(t->timed);
}

static gint by_weight(gconstpointer a, gconstpointer b)
{
    const SiteRow *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return strcmp(x->function->name, y->function->name);
}

GArray *site_totals_new(WendRead *r)
{
    SiteTotals t = {.reader = r,
                    .p = r->program,
                    .sites = r->sites,
                    .rows = g_array_new(FALSE, FALSE, sizeof(SiteRow)),
                    .row_of = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                                    (GDestroyNotify)g_bytes_unref, NULL),
                    .counts = counts_new(r->program)};
    for (guint i = 0; i < wend_program_n_classes(r->program); i++)
        add_class(&t, i);
    g_hash_table_unref(t.row_of);
    counts_free(t.counts);
    g_array_sort(t.rows, by_weight);
    return t.rows;
}
