/* SPDX-License-Identifier: BSD-3-Clause */
/* wait-table.c: see show.h. wend-show(1) documents the columns of the CSV and the keys. */
#include "config.h"

#include "show.h"

#include "src/command/text.h"

static const char *const state_names[WEND_READ_N_WAIT_KINDS] = {
    "late sender", "wait at barrier", "wait at N x N", "late broadcast", "early reduce"};
static const char *const state_keys[WEND_READ_N_WAIT_KINDS] = {
    "late_sender", "wait_at_barrier", "wait_at_nxn", "late_broadcast", "early_reduce"};

void wait_table_time_text(GString *out, double seconds)
{
    if (seconds > 0)
        text_seconds_known(out, seconds, 0.005 * seconds);
    else
        g_string_append(out, "0 s");
}

/* -- for people -- */

enum {
    TIME_WIDTH = 9,
    WAITS_WIDTH = 9,
    STATE_WIDTH = 16,
    INDENT = 2 * TIME_WIDTH + WAITS_WIDTH + 5
};
enum { FEW_RANKS = 4, FEW_LATE = 16 };

static void put_time(GString *out, int width, double seconds)
{
    g_autoptr(GString) cell = g_string_new(NULL);
    wait_table_time_text(cell, seconds);
    g_string_append_printf(out, "%*s", width, cell->str);
}

static void put_count(GString *out, int width, guint64 n)
{
    g_autoptr(GString) cell = g_string_new(NULL);
    text_count(cell, n);
    g_string_append_printf(out, "%*s", width, cell->str);
}

static void put_call(GString *out, SiteNames *names, const WendReadFunction *f, uint32_t site)
{
    g_string_append(out, f->name);
    if (site == WEND_READ_NO_INDEX)
        return;
    g_string_append(out, " in ");
    site_names_text(out, names, site);
}

/* A rank, or a pair of ranks, with its time. */
typedef struct {
    guint rank, late; /* LATE is WEND_READ_NO_INDEX: of a rank alone */
    double seconds;
} WaitShare;

static gint by_seconds(gconstpointer a, gconstpointer b)
{
    const WaitShare *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* A line of those with the most time. NAME comes before them. */
static void put_shares(GString *out, const char *name, GArray *shares)
{
    g_array_sort(shares, by_seconds);
    g_string_append_printf(out, "%*s  %s", INDENT + STATE_WIDTH, "", name);
    for (guint i = 0; i < shares->len && i < FEW_RANKS; i++) {
        const WaitShare *one = &g_array_index(shares, WaitShare, i);
        g_string_append_printf(out, "%s %u", i > 0 ? "," : "", one->rank);
        if (one->late != WEND_READ_NO_INDEX)
            g_string_append_printf(out, " for %u", one->late);
        g_string_append(out, " (");
        wait_table_time_text(out, one->seconds);
        g_string_append_c(out, ')');
    }
    if (shares->len > FEW_RANKS)
        g_string_append_printf(out, " and %u more", shares->len - FEW_RANKS);
    g_string_append_c(out, '\n');
    g_array_unref(shares);
}

static GArray *pairs_of(const WendReadWait *w)
{
    GArray *shares = g_array_new(FALSE, FALSE, sizeof(WaitShare));
    for (guint i = 0; i < w->n_pairs; i++) {
        WaitShare one = {w->pairs[i].rank, w->pairs[i].late_rank, w->pairs[i].seconds};
        g_array_append_val(shares, one);
    }
    return shares;
}

static GArray *ranks_of(const WendReadWait *w, gboolean late)
{
    GArray *shares = g_array_new(FALSE, FALSE, sizeof(WaitShare));
    for (guint i = 0; i < w->n_ranks; i++) {
        const WendReadWaitRank *of = &w->ranks[i];
        WaitShare one = {of->rank, WEND_READ_NO_INDEX, late ? of->seconds_caused : of->seconds};
        if (one.seconds > 0)
            g_array_append_val(shares, one);
    }
    return shares;
}

static void put_row(GString *out, SiteNames *names, const WendReadWait *w)
{
    put_time(out, TIME_WIDTH, w->seconds);
    put_count(out, 1 + WAITS_WIDTH, w->waits);
    put_time(out, 2 + TIME_WIDTH, w->longest);
    g_string_append_printf(out, "  %-*s  ", STATE_WIDTH, state_names[w->kind]);
    put_call(out, names, w->function, w->site);
    g_string_append_c(out, '\n');
    if (w->function != w->late_function || w->site != w->late_site) {
        g_string_append_printf(out, "%*s  for ", INDENT + STATE_WIDTH, "");
        put_call(out, names, w->late_function, w->late_site);
        g_string_append_c(out, '\n');
    }
    if (w->n_pairs > 0) {
        put_shares(out, w->n_pairs > 1 ? "ranks" : "rank", pairs_of(w));
    } else {
        put_shares(out, "late: rank", ranks_of(w, TRUE));
        put_shares(out, "waiting: rank", ranks_of(w, FALSE));
    }
}

/* -- the ranks, over all waits -- */

typedef struct {
    double waited, caused;
    guint rank;
} RankSum;

static gint by_caused(gconstpointer a, gconstpointer b)
{
    const RankSum *x = a, *y = b;
    if (x->caused != y->caused)
        return x->caused < y->caused ? 1 : -1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void add_ranks(GArray *sums, const WendReadWait *w)
{
    for (guint i = 0; i < w->n_ranks; i++) {
        RankSum *sum = &g_array_index(sums, RankSum, w->ranks[i].rank);
        sum->waited += w->ranks[i].seconds;
        sum->caused += w->ranks[i].seconds_caused;
    }
}

static void put_sums(GString *out, GArray *sums, gboolean all)
{
    g_array_sort(sums, by_caused);
    g_string_append_printf(out, "\n%7s %*s %*s\n", "rank", TIME_WIDTH, "waited", 4 + TIME_WIDTH,
                           "others for it");
    for (guint i = 0; i < sums->len && (all || i < FEW_LATE); i++) {
        const RankSum *sum = &g_array_index(sums, RankSum, i);
        g_string_append_printf(out, "%7u ", sum->rank);
        put_time(out, TIME_WIDTH, sum->waited);
        put_time(out, 5 + TIME_WIDTH, sum->caused);
        g_string_append_c(out, '\n');
    }
    if (!all && sums->len > FEW_LATE)
        g_string_append_printf(out, "and %u more (--all)\n", sums->len - FEW_LATE);
}

static void put_total(GString *out, WendRead *r, guint64 waits, double seconds)
{
    const WendReadTotals *t;
    wait_table_time_text(out, seconds);
    g_string_append(out, " in ");
    text_count(out, waits);
    g_string_append(out, waits == 1 ? " call that waited" : " calls that waited");
    if (wend_read_totals(r, &t) == WEND_READ_OK && t->seconds_in_mpi > 0) {
        g_string_append(out, ", ");
        text_share(out, seconds / t->seconds_in_mpi, 0.01 * seconds / t->seconds_in_mpi);
        g_string_append(out, " of the time in MPI");
    }
    g_string_append_c(out, '\n');
}

/* -- as CSV: a line for each pair of a row, or for each rank -- */

static void csv_number(GString *out, double seconds)
{
    g_string_append_c(out, ',');
    text_double(out, "%.9f", seconds);
}

static void csv_line(GString *out, const GString *row, uint32_t rank, uint32_t late, guint64 waits,
                     double seconds)
{
    g_string_append_len(out, row->str, (gssize)row->len);
    g_string_append_c(out, ',');
    if (rank != WEND_READ_NO_INDEX)
        g_string_append_printf(out, "%u", rank);
    g_string_append_c(out, ',');
    if (late != WEND_READ_NO_INDEX)
        g_string_append_printf(out, "%u", late);
    g_string_append_printf(out, ",%" G_GUINT64_FORMAT, waits);
    csv_number(out, seconds);
    g_string_append_c(out, '\n');
}

static void csv_row(GString *out, SiteNames *names, const WendReadWait *w)
{
    g_autoptr(GString) row = g_string_new(NULL);
    g_string_append_printf(row, "%s,%s,", state_keys[w->kind], w->function->name);
    site_names_csv(row, names, w->site);
    g_string_append_printf(row, ",%s,", w->late_function->name);
    site_names_csv(row, names, w->late_site);
    for (guint i = 0; i < w->n_pairs; i++)
        csv_line(out, row, w->pairs[i].rank, w->pairs[i].late_rank, w->pairs[i].waits,
                 w->pairs[i].seconds);
    for (guint i = 0; w->n_pairs == 0 && i < w->n_ranks; i++) {
        const WendReadWaitRank *of = &w->ranks[i];
        if (of->waits > 0)
            csv_line(out, row, of->rank, WEND_READ_NO_INDEX, of->waits, of->seconds);
        if (of->caused > 0)
            csv_line(out, row, WEND_READ_NO_INDEX, of->rank, of->caused, of->seconds_caused);
    }
}

/* -- as JSON -- */

static void json_waits(GString *out, guint64 waits, double seconds)
{
    text_json_count(out, "waits", waits);
    text_json_double(out, "seconds", "%.9f", seconds);
}

static void json_row(GString *out, SiteNames *names, const WendReadWait *w, gboolean more)
{
    g_string_append(out, more ? ",\n{" : "{");
    text_json_text(out, "state", state_keys[w->kind]);
    text_json_text(out, "function", w->function->name);
    text_json_key(out, "site");
    site_names_json(out, names, w->site);
    text_json_text(out, "late_function", w->late_function->name);
    text_json_key(out, "late_site");
    site_names_json(out, names, w->late_site);
    json_waits(out, w->waits, w->seconds);
    text_json_double(out, "longest", "%.9f", w->longest);
    text_json_count(out, "longest_rank", w->longest_rank);
    text_json_count(out, "longest_late_rank", w->longest_late_rank);
    text_json_open(out, "ranks", '[');
    for (guint i = 0; i < w->n_ranks; i++) {
        const WendReadWaitRank *of = &w->ranks[i];
        text_json_open(out, NULL, '{');
        text_json_count(out, "rank", of->rank);
        json_waits(out, of->waits, of->seconds);
        text_json_count(out, "caused", of->caused);
        text_json_double(out, "seconds_caused", "%.9f", of->seconds_caused);
        g_string_append_c(out, '}');
    }
    g_string_append_c(out, ']');
    text_json_open(out, "pairs", '[');
    for (guint i = 0; i < w->n_pairs; i++) {
        const WendReadWaitPair *of = &w->pairs[i];
        text_json_open(out, NULL, '{');
        text_json_count(out, "rank", of->rank);
        text_json_count(out, "late_rank", of->late_rank);
        json_waits(out, of->waits, of->seconds);
        g_string_append_c(out, '}');
    }
    g_string_append(out, "]}");
}

/* -- all -- */

static int show_people(GString *out, WendRead *r, SiteNames *names, guint top)
{
    const WendReadFacts *facts;
    const WendReadWait *w;
    g_autoptr(GString) rows = g_string_new(NULL);
    double seconds = 0;
    guint64 waits = 0;
    guint i = 0;
    int status = wend_read_facts(r, WEND_READ_JOB, &facts);
    if (status < 0)
        return status;
    GArray *sums = g_array_new(FALSE, TRUE, sizeof(RankSum));
    g_array_set_size(sums, facts->n_ranks);
    for (guint rank = 0; rank < sums->len; rank++)
        g_array_index(sums, RankSum, rank).rank = rank;
    for (; (status = wend_read_wait(r, i, &w)) == WEND_READ_OK; i++) {
        add_ranks(sums, w);
        waits += w->waits;
        seconds += w->seconds;
        if (i < top)
            put_row(rows, names, w);
    }
    if (status == WEND_READ_ERROR_NONE) {
        put_total(out, r, waits, seconds);
        if (waits > 0)
            g_string_append_printf(out, "\n%*s %*s  %*s  %-*s  call\n", TIME_WIDTH, "waited",
                                   WAITS_WIDTH, "waits", TIME_WIDTH, "longest", STATE_WIDTH,
                                   "state");
        g_string_append_len(out, rows->str, (gssize)rows->len);
        if (i > top)
            g_string_append_printf(out, "%u more with --all\n", i - top);
        if (waits > 0)
            put_sums(out, sums, top == G_MAXUINT);
    }
    g_array_unref(sums);
    return status;
}

int wait_table_show(GString *out, WendRead *r, SiteNames *names, SiteTableFormat format, guint top)
{
    const WendReadWait *w;
    bool has;
    int status = wend_read_has_times(r, &has);
    if (status == WEND_READ_OK && !has)
        return wend_read_wait(r, 0, &w); /* says what is missing */
    if (status < 0)
        return status;
    if (format == SITE_TABLE_TEXT) {
        status = show_people(out, r, names, top);
        return status == WEND_READ_ERROR_NONE ? WEND_READ_OK : status;
    }
    g_string_append(out, format == SITE_TABLE_JSON ? "["
                                                   : "state,mpi_function," SITE_CSV_COLUMNS
                                                     ",late_mpi_function,late_site_function,"
                                                     "late_site_file,late_site_line,"
                                                     "late_site_module,late_site_offset,"
                                                     "rank,late_rank,waits,seconds\n");
    for (guint i = 0; (status = wend_read_wait(r, i, &w)) == WEND_READ_OK; i++) {
        if (format == SITE_TABLE_JSON)
            json_row(out, names, w, i > 0);
        else
            csv_row(out, names, w);
    }
    if (format == SITE_TABLE_JSON)
        g_string_append(out, "]\n");
    return status == WEND_READ_ERROR_NONE ? WEND_READ_OK : status;
}
