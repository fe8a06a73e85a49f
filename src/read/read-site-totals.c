/* SPDX-License-Identifier: BSD-3-Clause */
/* read-site-totals.c: the calls by call site, and which sites count as one.
 *
 * Calls are expanded: once for all ranks of a class that have the same sites, and for each rank
 * that has unsuccessful polls. If the recording has the time of each call, they are expanded for
 * each rank. */
#include "config.h"

#include "read-private.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/analysis/follower.h"
#include "lib/analysis/summary.h"
#include "lib/read/program.h"

/* The calls of one function from one site. */
typedef struct {
    guint site; /* G_MAXUINT: not known */
    const WendFunction *function;
    guint64 calls, polls; /* MPI calls of all ranks; unsuccessful polls are apart */
    Traffic traffic;
    /* Time of the calls by threads; negative: not measured. If a signature is called from several
     * sites, and the recording does not have the time of each call, each site has a share of the
     * signature's time by its number of calls (SHARED). */
    double seconds;
    gboolean shared;
    guint n_ranks;                   /* that call it here */
    guint64 least_calls, most_calls; /* calls of such a rank, polls included */
    guint least_rank, most_rank;     /* the lowest such ranks */
    guint64 least_bytes, most_bytes;
    guint least_bytes_rank, most_bytes_rank;
    /* Time of the calls by threads of such a rank; negative: not known. If the recording does not
     * have the time of each call, it has how long a rank was in a function. Each site then has a
     * share of it by the mean times of its signatures (RANK_SECONDS_SHARED if there are several).
     * The times of all ranks are scaled so that their sum is SECONDS. */
    double least_seconds, mean_seconds, most_seconds;
    guint least_seconds_rank, most_seconds_rank;
    gboolean rank_seconds_shared;
    /* for these */
    double sum_seconds;       /* of the ranks so far */
    gboolean seconds_unknown; /* of some rank */
    guint called;             /* number of FUNCTION */
    /* of the rank at hand */
    guint64 rank_calls, rank_bytes;
    guint64 rank_timed;   /* calls of threads, without unsuccessful polls */
    guint64 rank_missing; /* of these, returned calls whose own time the recording does not have */
    double rank_seconds;  /* of the others */
    double rank_weight;   /* of all of these, by the mean times of their signatures */
} Row;

/* -- seconds of functions -- */

/* How long each rank was in each function, by rank and function. */

typedef struct FunctionSeconds {
    const WendProgram *p;
    GPtrArray *worlds; /* by world: GHashTable of a function's name -> WendRankTimes */
} FunctionSeconds;

static GHashTable *times_of_world(const WendProgram *p, guint world)
{
    GHashTable *times = g_hash_table_new(g_str_hash, g_str_equal);
    guint n;
    const WendRankTimes *of = program_rank_times(p, world, &n);
    for (guint i = 0; i < n; i++)
        g_hash_table_insert(times, (gpointer)of[i].function->name, (gpointer)&of[i]);
    return times;
}

/* P must outlive the result, which the caller frees. */
static FunctionSeconds *function_seconds_new(const WendProgram *p)
{
    FunctionSeconds *s = g_new0(FunctionSeconds, 1);
    s->p = p;
    s->worlds = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
    for (guint i = 0; i < program_n_worlds(p); i++)
        g_ptr_array_add(s->worlds, times_of_world(p, i));
    return s;
}

static void function_seconds_free(FunctionSeconds *s)
{
    g_ptr_array_unref(s->worlds);
    g_free(s);
}

static int compare_ranks(const void *a, const void *b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return (x > y) - (x < y);
}

/* How long RANK of the job was in FUNCTION, unsuccessful polls and calls in callbacks included, in
 * seconds: off by at most 3 %. Negative: the recording does not have it, as in a world of more than
 * 1,024 ranks. Takes a binary search over the ranks of the world. */
static double function_seconds_of(const FunctionSeconds *s, guint rank,
                                  const WendFunction *function)
{
    guint world = program_world_of(s->p, rank);
    const WendRankTimes *times = g_hash_table_lookup(s->worlds->pdata[world], function->name);
    if (!times || !times->ranks)
        return -1;
    guint32 wanted = rank - program_world(s->p, world)->first;
    const guint32 *found = bsearch(&wanted, times->ranks, times->n, sizeof wanted, compare_ranks);
    return found != NULL ? times->seconds[found - times->ranks] : -1;
}

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

/* A function, and its calls by the rank at hand, from all sites. */
typedef struct {
    guint64 calls; /* all of them */
    double weight; /* Row's RANK_WEIGHT, of all rows */
} CalledFunction;

typedef struct {
    WendRead *reader;
    const WendProgram *p;
    const WendCallSites *sites;
    GArray *rows;        /* Row */
    GHashTable *row_of;  /* GBytes of site and function -> number of its row + 1 */
    GArray *called;      /* CalledFunction */
    GHashTable *numbers; /* name of a function -> its number in CALLED + 1 */
    FunctionSeconds *function_seconds;
    bool has_times;    /* the recording has the time of each call */
    gboolean lossless; /* these are as they were measured */
    Counts *counts;
    GArray *found;       /* TrafficFound, of the call at hand */
    GHashTable *unclear; /* terminals of the rank at hand whose sizes are not clear */
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
    if (!known) {
        g_hash_table_insert(table, of, GUINT_TO_POINTER(n + 1));
        return n + 1;
    }
    g_bytes_unref(of);
    return GPOINTER_TO_UINT(known);
}

static guint called_of(SiteTotals *t, const WendFunction *f)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(t->numbers, f->name));
    if (number == 0) {
        CalledFunction none = {0};
        g_array_append_val(t->called, none);
        number = t->called->len;
        g_hash_table_insert(t->numbers, (gpointer)f->name, GUINT_TO_POINTER(number));
    }
    return number - 1;
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
        Row row = {.site = site, .function = f, .seconds = -1, .called = called_of(t, f)};
        g_array_append_val(t->rows, row);
    }
    return number - 1;
}

/* -- counting -- */

static GArray *site_pairs_new(const SiteTotals *t, guint rank)
{
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(SitePair));
    g_autoptr(GHashTable) numbers =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    for (guint q = 0; q < t->class->n_sequences; q++) {
        WendWalk *walk = walk_new(t->p, rank, q, WEND_WALK_POLLS);
        WendSiteWalk *sites = site_walk_new(t->sites, rank, q);
        const WendCall *call;
        while ((call = walk_next(walk))) {
            guint site = read_site_group(t->reader, site_walk_next(sites, call));
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
        site_walk_free(sites);
        walk_free(walk);
    }
    return pairs;
}

/* A text that ranks of a class share if their calls come from the same sites. NULL: the rank may
 * differ from all others. */
static char *streams_of(const SiteTotals *t, guint rank)
{
    g_autoptr(GString) text = g_string_new(NULL);
    gboolean shared = TRUE;
    for (guint q = 0; shared && q < t->class->n_sequences; q++) {
        guint n;
        const guint32 *terminals = counts_of_rule(t->counts, t->class->sequences[q].rule, &n);
        WendSiteWalk *walk = site_walk_new(t->sites, rank, q);
        shared = site_walk_key(walk, terminals, n, text);
        site_walk_free(walk);
        g_string_append_c(text, ';');
    }
    return shared ? g_strdup(text->str) : NULL;
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
    pairs = site_pairs_new(t, rank);
    if (streams != NULL)
        g_hash_table_insert(t->pairs_of, streams, g_array_ref(pairs));
    return pairs;
}

/* -- one rank -- */

typedef struct {
    Row *row;
    guint64 calls;
} Visit;

static void add_traffic(const Visit *v, guint64 bytes)
{
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

static CalledFunction *called_at(const SiteTotals *t, const Row *row)
{
    return &g_array_index(t->called, CalledFunction, row->called);
}

/* Adds the calls of PAIR, which threads make, to what is known of ROW's time. */
static void add_timed(SiteTotals *t, const SitePair *pair, guint number)
{
    Row *row = &g_array_index(t->rows, Row, number);
    WendTiming duration;
    summary_times(t->p, t->class_index, pair->sequence, pair->terminal, &duration, NULL);
    double weight = duration.mean * (double)pair->calls;
    row->rank_timed += pair->calls;
    row->rank_weight += weight;
    called_at(t, row)->weight += weight;
    timed_of(t, pair->sequence, pair->terminal, number)->calls += pair->calls;
}

static void add_pair(SiteTotals *t, const SitePair *pair, guint rank)
{
    const WendShape *shape = program_shape(t->p, program_terminal(t->p, pair->terminal)->shape);
    guint number = row_of(t, pair->site, shape->function);
    Row *row = &g_array_index(t->rows, Row, number);
    row->rank_calls += pair->calls;
    called_at(t, row)->calls += pair->calls;
    if (pair->poll) {
        row->polls += pair->calls;
        return;
    }
    row->calls += pair->calls;
    g_array_set_size(t->found, 0);
    if (!traffic_scan_call(t->traffic, pair->terminal, rank, traffic_found_add, t->found))
        g_hash_table_add(t->unclear, GUINT_TO_POINTER(pair->terminal));
    else
        for (guint i = 0; i < t->found->len; i++)
            add_traffic(&(Visit){row, pair->calls}, g_array_index(t->found, TrafficFound, i).bytes);
    if (t->class->sequences[pair->sequence].kind == WEND_SEQUENCE_THREAD)
        add_timed(t, pair, number);
}

static void add_followed(gpointer row, const Transfer *t)
{
    add_traffic(&(Visit){row, 1}, t->bytes);
}

/* Adds the transfers of the calls of RANK whose sizes do not follow from their signatures. */
static void follow_unclear(SiteTotals *t, guint rank)
{
    for (guint q = 0; g_hash_table_size(t->unclear) > 0 && q < t->class->n_sequences; q++) {
        WendWalk *walk = walk_new(t->p, rank, q, WEND_WALK_POLLS);
        WendSiteWalk *sites = site_walk_new(t->sites, rank, q);
        Follower *follower = follower_new(t->p, read_members(t->reader), rank);
        const WendCall *call;
        while ((call = walk_next(walk)) != NULL) {
            guint site = read_site_group(t->reader, site_walk_next(sites, call));
            follower_next(follower, walk, call);
            if (!g_hash_table_contains(t->unclear, GUINT_TO_POINTER(call->terminal)))
                continue;
            guint number = row_of(t, site, call->function);
            follower_each(follower, add_followed, &g_array_index(t->rows, Row, number));
        }
        follower_free(follower);
        site_walk_free(sites);
        walk_free(walk);
    }
    g_hash_table_remove_all(t->unclear);
}

/* The time of the calls of ROW by threads of RANK. Negative: it is not known. MEASURED: the times
 * of the rank's calls have been gone through. */
static double seconds_of_rank(const SiteTotals *t, Row *row, guint rank, gboolean measured)
{
    if (measured && row->rank_missing == 0)
        return row->rank_seconds;
    const CalledFunction *called = called_at(t, row);
    double all = function_seconds_of(t->function_seconds, rank, row->function);
    row->rank_seconds_shared = row->rank_seconds_shared || called->calls != row->rank_timed;
    return all > 0 && row->rank_weight > 0 ? all * (row->rank_weight / called->weight)
                                           : MIN(all, 0);
}

static void add_rank_seconds(Row *row, guint rank, double seconds, gboolean first)
{
    row->sum_seconds += seconds;
    row->seconds_unknown = row->seconds_unknown || seconds < 0;
    if (first || seconds < row->least_seconds
        || (seconds <= row->least_seconds && rank < row->least_seconds_rank)) {
        row->least_seconds = seconds;
        row->least_seconds_rank = rank;
    }
    if (first || seconds > row->most_seconds
        || (seconds >= row->most_seconds && rank < row->most_seconds_rank)) {
        row->most_seconds = seconds;
        row->most_seconds_rank = rank;
    }
}

static void end_rank(SiteTotals *t, guint rank, gboolean measured)
{
    for (guint i = 0; i < t->rows->len; i++) {
        Row *row = &g_array_index(t->rows, Row, i);
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
        add_rank_seconds(row, rank, seconds_of_rank(t, row, rank, measured), first);
        row->rank_calls = row->rank_bytes = row->rank_timed = row->rank_missing = 0;
        row->rank_seconds = row->rank_weight = 0;
    }
    for (guint i = 0; i < t->called->len; i++)
        g_array_index(t->called, CalledFunction, i) = (CalledFunction){0};
}

/* -- times -- */

static gint by_terminal(gconstpointer a, gconstpointer b)
{
    const TimedRow *x = a, *y = b;
    if (x->sequence != y->sequence)
        return x->sequence < y->sequence ? -1 : 1;
    return x->terminal < y->terminal ? -1 : x->terminal > y->terminal;
}

/* Adds the times of the calls of RANK in SEQUENCE that the recording has. FALSE: they are not those
 * of all calls, and the statistics are left. */
static gboolean measure_calls(SiteTotals *t, guint rank, guint sequence)
{
    ReadTimes *times;
    WendReadTime time;
    const WendCall *call;
    if (read_times_new(t->reader, rank, sequence, TRUE, &times) < 0)
        return FALSE;
    WendWalk *walk = walk_new(t->p, rank, sequence, WEND_WALK_POLLS);
    WendSiteWalk *sites = site_walk_new(t->sites, rank, sequence);
    gboolean whole = TRUE;
    t->lossless = t->lossless && read_times_error(times) <= 0;
    while (whole && (call = walk_next(walk)) != NULL) {
        guint site = read_site_group(t->reader, site_walk_next(sites, call));
        whole = read_times_any(times);
        read_times_next(times, call);
        if (call->poll || (call->function->flags & WEND_F_PSEUDO) != 0)
            continue;
        guint number = row_of(t, site, call->function);
        Row *row = &g_array_index(t->rows, Row, number);
        if (read_times_get(t->reader, times, &time) < 0 || isnan(time.duration)) {
            row->rank_missing += !call->unfinished;
            continue;
        }
        TimedRow *timed = timed_of(t, sequence, call->terminal, number);
        timed->measured++;
        timed->seconds += time.duration;
        row->rank_seconds += time.duration;
    }
    site_walk_free(sites);
    walk_free(walk);
    read_times_free(times);
    return whole;
}

static gboolean measure_rank(SiteTotals *t, guint rank)
{
    gboolean whole = t->has_times;
    for (guint q = 0; t->has_times && q < t->class->n_sequences; q++)
        if (t->class->sequences[q].kind == WEND_SEQUENCE_THREAD)
            whole = measure_calls(t, rank, q) && whole;
    return whole;
}

/* Adds SECONDS to the row of TIMED. SHARED: they are an estimate. */
static void add_seconds(SiteTotals *t, const TimedRow *timed, double seconds, gboolean shared)
{
    Row *row = &g_array_index(t->rows, Row, timed->row);
    row->seconds = MAX(row->seconds, 0) + seconds;
    row->shared = row->shared || shared;
}

/* Divides the time of each terminal among the sites from which the class calls it: by the times of
 * the calls if all are known, else by their number. The time of a terminal with one site is that of
 * the statistics, unless the calls have theirs as they were measured. */
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
        summary_times(t->p, t->class_index, first->sequence, first->terminal, &duration, NULL);
        double mean = duration.mean * (double)duration.count / (double)calls;
        for (guint k = i; k < end && duration.count > 0; k++) {
            const TimedRow *timed = &g_array_index(t->timed, TimedRow, k);
            if (measured == duration.count && (end - i > 1 || t->lossless))
                add_seconds(t, timed, timed->seconds, FALSE);
            else
                add_seconds(t, timed, mean * (double)timed->calls, end - i > 1);
        }
    }
}

static void add_class(SiteTotals *t, guint class_index)
{
    t->class_index = class_index;
    t->class = program_class(t->p, class_index);
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
        follow_unclear(t, t->class->ranks[i]);
        end_rank(t, t->class->ranks[i], measure_rank(t, t->class->ranks[i]));
    }
    divide_times(t);
    traffic_scan_free(t->traffic);
    g_hash_table_unref(t->pairs_of);
    g_hash_table_unref(t->timed_at);
    g_array_unref(t->timed);
}

/* Scales the times of ranks to the time of the row. */
static void end_row(Row *row)
{
    if (row->seconds < 0 || row->seconds_unknown || (row->sum_seconds <= 0 && row->seconds > 0)) {
        row->least_seconds = row->mean_seconds = row->most_seconds = -1;
        return;
    }
    if (row->n_ranks == 1)
        row->rank_seconds_shared = row->shared;
    double scale = row->sum_seconds > 0 ? row->seconds / row->sum_seconds : 1;
    row->least_seconds *= scale;
    row->most_seconds *= scale;
    row->mean_seconds = row->seconds / row->n_ranks;
}

static gint by_weight(gconstpointer a, gconstpointer b)
{
    const Row *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    if (x->calls != y->calls)
        return x->calls < y->calls ? 1 : -1;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return strcmp(x->function->name, y->function->name);
}

/* The rows of R, whose sites are open: those with the most time first, then with the most calls.
 * The caller unrefs the result. */
static GArray *site_totals_new(WendRead *r)
{
    SiteTotals t = {.reader = r,
                    .p = r->program,
                    .sites = r->sites,
                    .rows = g_array_new(FALSE, FALSE, sizeof(Row)),
                    .row_of = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                                    (GDestroyNotify)g_bytes_unref, NULL),
                    .called = g_array_new(FALSE, FALSE, sizeof(CalledFunction)),
                    .numbers = g_hash_table_new(g_str_hash, g_str_equal),
                    .function_seconds = function_seconds_new(r->program),
                    .found = g_array_new(FALSE, FALSE, sizeof(TrafficFound)),
                    .unclear = g_hash_table_new(NULL, NULL),
                    .lossless = TRUE,
                    .counts = counts_new(r->program)};
    if (wend_read_has_times(r, &t.has_times) < 0)
        t.has_times = false; /* they are damaged: the statistics are left */
    for (guint i = 0; i < program_n_classes(r->program); i++)
        add_class(&t, i);
    for (guint i = 0; i < t.rows->len; i++)
        end_row(&g_array_index(t.rows, Row, i));
    g_hash_table_unref(t.row_of);
    g_array_unref(t.called);
    g_hash_table_unref(t.numbers);
    g_array_unref(t.found);
    g_hash_table_unref(t.unclear);
    function_seconds_free(t.function_seconds);
    counts_free(t.counts);
    g_array_sort(t.rows, by_weight);
    return t.rows;
}

/* -- the public functions -- */

int wend_read_group_sites(WendRead *r, const uint32_t *counts_as, uint32_t n)
{
    int status = read_sites_open(r, r);
    if (status < 0)
        return status;
    if (n > 0 && (!counts_as || n != call_sites_n(r->sites)))
        return read_fail(r, WEND_READ_ERROR_USAGE, "there are %u sites, not %u",
                         call_sites_n(r->sites), n);
    for (uint32_t i = 0; i < n; i++)
        if ((status = read_check_index(r, counts_as, "site", counts_as[i], n)) < 0)
            return status;
    read_waits_clear(r);
    g_clear_pointer(&r->site_rows, g_array_unref);
    g_clear_pointer(&r->site_groups, g_free);
    g_clear_pointer(&r->group_sizes, g_free);
    if (n == 0)
        return WEND_READ_OK;
    r->site_groups = g_memdup2(counts_as, n * sizeof *counts_as);
    r->group_sizes = g_new0(guint32, n);
    for (uint32_t i = 0; i < n; i++)
        r->group_sizes[counts_as[i]]++;
    return WEND_READ_OK;
}

static uint32_t group_size(const WendRead *r, uint32_t site)
{
    return r->group_sizes != NULL && site != WEND_READ_NO_INDEX ? r->group_sizes[site] : 1;
}

int wend_read_site_totals(WendRead *r, uint32_t index, const WendReadSiteTotals **totals)
{
    int status = read_sites_open(r, totals);
    if (status < 0)
        return status;
    if (!r->site_rows)
        r->site_rows = site_totals_new(r);
    if (index >= r->site_rows->len)
        return read_fail(r, WEND_READ_ERROR_NONE, "there are no more than %u sites and functions",
                         r->site_rows->len);
    const Row *row = &g_array_index(r->site_rows, Row, index);
    WendReadSiteTotals *t = &r->site_totals;
    *t = (WendReadSiteTotals){.site = row->site,
                              .calls = row->calls,
                              .polls = row->polls,
                              .seconds = row->seconds,
                              .shared = row->shared,
                              .n_ranks = row->n_ranks,
                              .least_calls = row->least_calls,
                              .most_calls = row->most_calls,
                              .least_calls_rank = row->least_rank,
                              .most_calls_rank = row->most_rank,
                              .least_bytes = row->least_bytes,
                              .most_bytes = row->most_bytes,
                              .least_bytes_rank = row->least_bytes_rank,
                              .most_bytes_rank = row->most_bytes_rank,
                              .n_sites = group_size(r, row->site),
                              .least_seconds = row->least_seconds,
                              .mean_seconds = row->mean_seconds,
                              .most_seconds = row->most_seconds,
                              .least_seconds_rank = row->least_seconds_rank,
                              .most_seconds_rank = row->most_seconds_rank,
                              .rank_seconds_shared = row->rank_seconds_shared};
    wend_read_function_named(r, row->function->name, &t->function);
    read_amount_set(&t->amount, &row->traffic);
    *totals = t;
    return WEND_READ_OK;
}
