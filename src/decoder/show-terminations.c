/* SPDX-License-Identifier: BSD-3-Clause */
/* show-terminations.c: see show.h. */
#include "config.h"

#include "show.h"

#include <string.h>

#include "src/command/text.h"
#include "src/command/site-names.h"
#include "src/command/value.h"

enum { LAST_CALLS = 3, LABEL_WIDTH = 16, CALLS_MOST = 20000000 };

/* Pushes the last N symbols of RULE, the last one on top. */
static void push_symbols(GArray *stack, WendRead *r, guint rule, guint n)
{
    const WendReadRule *info;
    WendReadSymbol s;
    if (wend_read_rule(r, rule, &info) < 0)
        return;
    for (guint i = info->n_symbols - MIN(info->n_symbols, n); i < info->n_symbols; i++)
        if (wend_read_symbol(r, rule, i, &s) == WEND_READ_OK)
            g_array_append_val(stack, s);
}

/* The last N signatures of RULE, in order. Rules are not empty, so the last N symbols of each are
 * enough. */
static GArray *last_signatures(WendRead *r, guint rule, guint n)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(guint32));
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(WendReadSymbol));
    push_symbols(stack, r, rule, n);
    while (stack->len > 0 && found->len < n) {
        WendReadSymbol s = g_array_index(stack, WendReadSymbol, stack->len - 1);
        g_array_set_size(stack, stack->len - 1);
        for (guint64 i = 0; !s.is_rule && i < s.repeats && found->len < n; i++)
            g_array_prepend_val(found, s.number);
        if (!s.is_rule)
            continue;
        if (--s.repeats > 0)
            g_array_append_val(stack, s);
        push_symbols(stack, r, s.number, n);
    }
    return found;
}

/* -- sites -- */

typedef struct {
    WendRead *reader;
    SiteNames *names; /* NULL: the recording has no sites */
    guint64 calls;    /* that may be gone through */
} TerminationSites;

static void add_call(guint64 *sum, guint64 n)
{
    if (__builtin_add_overflow(*sum, n, sum))
        *sum = G_MAXUINT64;
}

/* Sets LAST to the sites of the last N calls of a sequence, WEND_READ_NO_INDEX where they are not
 * known. */
static void last_sites(TerminationSites *s, guint rank, guint sequence, const WendReadSequence *q,
                       guint32 *last, guint n)
{
    WendReadCalls *calls;
    const WendReadCall *call;
    guint64 takes = q->n_calls;
    add_call(&takes, q->n_polls);
    for (guint i = 0; i < n; i++)
        last[i] = WEND_READ_NO_INDEX;
    if (!s->names || n == 0)
        return;
    if (takes > s->calls
        || wend_read_calls(s->reader, rank, sequence,
                           WEND_READ_WITHOUT_TRANSFERS | WEND_READ_WITH_SITES, &calls)
               < 0) {
        wend_read_unfinished_site(s->reader, rank, sequence, &last[n - 1]);
        return;
    }
    s->calls -= takes;
    while (wend_read_next(calls, &call) == WEND_READ_OK && call != NULL) {
        memmove(last, last + 1, (n - 1) * sizeof *last);
        last[n - 1] = call->site;
    }
    wend_read_calls_free(calls);
}

/* -- one rank -- */

static void put_place(GString *out, TerminationSites *s, guint rank, guint sequence,
                      const WendReadSequence *q)
{
    const gboolean callback = q->callback;
    const gint64 id = q->id;
    guint32 sites[LAST_CALLS];
    g_autoptr(GArray) last = last_signatures(s->reader, q->rule, LAST_CALLS);
    last_sites(s, rank, sequence, q, sites, last->len);
    for (guint i = 0; i < last->len; i++) {
        const WendReadCall *call;
        if (wend_read_signature(s->reader, g_array_index(last, guint32, i), rank, &call) < 0)
            continue;
        g_string_append_printf(out, "%*s", LABEL_WIDTH + 2, "");
        text_sequence(out, callback, id);
        g_string_append(out, "  ");
        g_string_append(out, call->function->name);
        g_string_append_c(out, '(');
        value_call_arguments(out, call);
        g_string_append(out, call->unfinished ? ") has not returned" : ")");
        if (sites[i] != WEND_READ_NO_INDEX) {
            g_string_append(out, "  # from ");
            site_names_text(out, s->names, sites[i]);
        }
        g_string_append_c(out, '\n');
    }
}

static char *place_of(TerminationSites *s, guint rank, guint n_sequences)
{
    GString *out = g_string_new(NULL);
    const WendReadSequence *q;
    for (guint i = 0; i < n_sequences; i++)
        if (wend_read_sequence(s->reader, rank, i, &q) == WEND_READ_OK
            && (!q->callback || i + 1 == n_sequences))
            put_place(out, s, rank, i, q);
    return g_string_free(out, FALSE);
}

/* How and where RANK ended, as text. */
static char *ending_of(TerminationSites *s, guint rank)
{
    const WendReadRank *info;
    if (wend_read_rank(s->reader, rank, &info) < 0)
        return g_strdup("");
    g_autofree char *end = text_foreign_new(info->termination ? info->termination : "MPI_Finalize");
    g_autofree char *place = place_of(s, rank, info->n_sequences);
    return g_strdup_printf("%s\n%s", end, place);
}

/* -- all -- */

static void show_one(GString *out, const char *text, const GArray *ranks, gboolean first)
{
    g_string_append_printf(out, "%-*s%s ", LABEL_WIDTH, first ? "ended" : "",
                           ranks->len == 1 ? "rank" : "ranks");
    text_ranks(out, (const guint *)(gconstpointer)ranks->data, ranks->len);
    g_string_append_printf(out, ": %s", text);
}

static gboolean ended_early(WendRead *r, guint n_ranks)
{
    const WendReadRank *info;
    for (guint rank = 0; rank < n_ranks; rank++)
        if (wend_read_rank(r, rank, &info) == WEND_READ_OK && info->termination != NULL)
            return TRUE;
    return FALSE;
}

/* Notes that RANK ended as TEXT says. Takes TEXT. */
static void note_ending(GHashTable *ranks, GPtrArray *texts, char *text, guint rank)
{
    GArray *known = g_hash_table_lookup(ranks, text);
    if (known != NULL) {
        g_free(text);
    } else {
        known = g_array_new(FALSE, FALSE, sizeof(guint));
        g_hash_table_insert(ranks, text, known);
        g_ptr_array_add(texts, text);
    }
    g_array_append_val(known, rank);
}

void show_terminations(GString *out, WendRead *r, const char *command, guint limit, gboolean all)
{
    const WendReadFacts *facts;
    if (wend_read_facts(r, WEND_READ_JOB, &facts) < 0 || !ended_early(r, facts->n_ranks))
        return;
    guint32 n_sites = 0;
    wend_read_n_sites(r, &n_sites);
    TerminationSites s = {.reader = r, .calls = all ? G_MAXUINT64 : CALLS_MOST};
    if (n_sites > 0)
        s.names = site_names_new(r, command);
    g_autoptr(GPtrArray) texts = g_ptr_array_new();
    g_autoptr(GHashTable) ranks =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_array_unref);
    for (guint rank = 0; rank < facts->n_ranks; rank++)
        note_ending(ranks, texts, ending_of(&s, rank), rank);
    for (guint i = 0; i < texts->len && i < limit; i++)
        show_one(out, texts->pdata[i], g_hash_table_lookup(ranks, texts->pdata[i]), i == 0);
    if (texts->len > limit)
        g_string_append_printf(out, "%*sand %u ways more (wend show --all)\n", LABEL_WIDTH, "",
                               texts->len - limit);
    site_names_free(s.names);
}
