/* SPDX-License-Identifier: BSD-3-Clause */
/* source_lines.c: see source_lines.h. */
#include "source_lines.h"

#include <string.h>

#include "lib/analysis/count.h"
#include "lib/sides/call-sites.h"
#include "row_loops.h"
#include "rule_names.h"

/* More calls than these are not gone through, and more lines of a call are not named. */
enum { CALLS_MOST = 20 * 1000 * 1000, LINES_MOST = 3 };

/* Where the calls of a terminal come from. */
typedef struct {
    guint n;                   /* different lines; LINES_MOST + 1: more */
    guint32 sites[LINES_MOST]; /* one in each line */
    GPtrArray *shared; /* functions that all are in, innermost first; NULL: none was noted */
    guint64 last;      /* the site noted last, + 1 */
    gboolean unknown;  /* also from elsewhere */
} Places;

struct SourceLines {
    const Plan *plan;
    WendCallSites *sites;
    Places *places;     /* by terminal */
    GHashTable *noted;  /* terminal << 32 | site */
    GPtrArray **shared; /* by rule: names of functions, innermost first; NULL: it has no calls */
    guint n_rules;
    guint64 left; /* calls that may be gone through */
};

static const WendSiteFrame *frames_of(const SourceLines *s, guint site, guint depth, guint *n)
{
    const Options *o = s->plan->options;
    return o->site_frames ? o->site_frames(o->site_data, site, depth, n)
                          : wend_call_site_frames(s->sites, site, depth, n);
}

/* The names of the functions that a site is in, innermost first, and of those on its call stack. */
static GPtrArray *functions_of(const SourceLines *s, guint site)
{
    GPtrArray *names = g_ptr_array_new();
    for (guint depth = 0; wend_call_site_has_caller(s->sites, site, depth); depth++) {
        guint n;
        const WendSiteFrame *frames = frames_of(s, site, depth, &n);
        for (guint i = 0; i < n; i++)
            if (frames[i].function)
                g_ptr_array_add(names, (gpointer)frames[i].function);
    }
    return names;
}

static gboolean has_name(const GPtrArray *names, const char *name)
{
    for (guint i = 0; i < names->len; i++)
        if (strcmp(names->pdata[i], name) == 0)
            return TRUE;
    return FALSE;
}

/* Keeps in *ALL the names that are in ONE, too. *ALL NULL: nothing was noted so far. */
static void share(GPtrArray **all, const GPtrArray *one)
{
    if (!*all) {
        *all = g_ptr_array_new();
        for (guint i = 0; i < one->len; i++)
            g_ptr_array_add(*all, one->pdata[i]);
        return;
    }
    for (guint i = (*all)->len; i-- > 0;)
        if (!has_name(one, (*all)->pdata[i]))
            g_ptr_array_remove_index(*all, i);
}

/* -- sites of terminals -- */

static gboolean same_line(const WendSiteFrame *a, const WendSiteFrame *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0;
}

/* Adds the line of a site to those of P if it is known and another one. */
static void note_line(const SourceLines *s, Places *p, guint site)
{
    guint n;
    const WendSiteFrame *frames = frames_of(s, site, 0, &n);
    if (n == 0 || !frames[0].file || frames[0].line == 0 || p->n > LINES_MOST)
        return;
    WendSiteFrame own = frames[0]; /* the array is valid until the next call */
    for (guint i = 0; i < p->n; i++)
        if (same_line(&own, frames_of(s, p->sites[i], 0, &n)))
            return;
    if (p->n < LINES_MOST)
        p->sites[p->n] = site;
    p->n++;
}

/* Calls from one line may have many sites: with call stacks, each way to it is one. */
static void note(SourceLines *s, guint terminal, guint site)
{
    Places *p = &s->places[terminal];
    if (site == G_MAXUINT) {
        p->unknown = TRUE;
        return;
    }
    if (p->last == site + G_GUINT64_CONSTANT(1))
        return;
    p->last = site + G_GUINT64_CONSTANT(1);
    gint64 key = (gint64)((guint64)terminal << 32 | site);
    if (g_hash_table_contains(s->noted, &key))
        return;
    g_hash_table_add(s->noted, g_memdup2(&key, sizeof key));
    g_autoptr(GPtrArray) names = functions_of(s, site);
    share(&p->shared, names);
    note_line(s, p, site);
}

static void follow(SourceLines *s, guint rank, guint sequence, WendSiteWalk *sites)
{
    WendWalk *walk = wend_walk_new(s->plan->program, rank, sequence, WEND_WALK_POLLS);
    const WendCall *call;
    while (s->left > 0 && (call = wend_walk_next(walk)) != NULL) {
        guint site = wend_site_walk_next(sites, call);
        s->left--;
        if (!call->poll && !(call->function->flags & WEND_F_PSEUDO))
            note(s, call->terminal, site);
    }
    wend_walk_free(walk);
}

static void follow_class(SourceLines *s, const WendClass *k, Counts *counts)
{
    for (guint q = 0; q < k->n_sequences; q++) {
        guint n;
        const guint32 *terminals = counts_of_rule(counts, k->sequences[q].rule, &n);
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint i = 0; i < k->n_ranks; i++) {
            WendSiteWalk *sites = wend_site_walk_new(s->sites, k->ranks[i], q);
            g_autoptr(GString) key = g_string_new(NULL);
            if (!wend_site_walk_key(sites, terminals, n, key)
                || g_hash_table_add(seen, g_strdup(key->str)))
                follow(s, k->ranks[i], q, sites);
            wend_site_walk_free(sites);
        }
    }
}

/* -- functions that calls share -- */

static void share_terminal(const SourceLines *s, GPtrArray **all, guint terminal)
{
    const Places *p = &s->places[terminal];
    const WendShape *shape = wend_program_shape(
        s->plan->program, wend_program_terminal(s->plan->program, terminal)->shape);
    if (shape->function->flags & WEND_F_PSEUDO)
        return;
    g_autoptr(GPtrArray) nothing = g_ptr_array_new();
    share(all, p->unknown || !p->shared ? nothing : p->shared);
}

static void share_symbol(const SourceLines *s, GPtrArray **all, gboolean is_rule, guint id)
{
    if (!is_rule)
        share_terminal(s, all, id);
    else if (s->shared[id])
        share(all, s->shared[id]);
}

static void share_rule(SourceLines *s, guint rule)
{
    const PlanRule *r = &s->plan->rules[rule];
    for (guint i = 0; i < r->n; i++) {
        const RowTable *rows = r->row_symbols ? r->row_symbols[i].stream : NULL;
        share_symbol(s, &s->shared[rule], r->symbols[i].is_rule, r->symbols[i].id);
        for (guint k = 0; rows && k < rows->symbols->len; k++) {
            const WendSymbol *one = &g_array_index(rows->symbols, WendSymbol, k);
            share_symbol(s, &s->shared[rule], one->is_rule, one->id);
        }
    }
}

/* The rules of the recording, which rows may have taken the place of, come before those that use
 * them, and so do the rules of the plan in its order. */
static void share_rules(SourceLines *s)
{
    const Plan *plan = s->plan;
    g_autofree gboolean *done = g_new0(gboolean, plan->n_rules + 1);
    guint recorded = wend_program_n_rules(plan->program);
    for (guint i = 0; i < MIN(recorded, plan->n_rules); i++) {
        share_rule(s, i);
        done[i] = TRUE;
    }
    for (guint i = 0; i < plan->order->len; i++) {
        guint rule = g_array_index(plan->order, guint, i);
        if (!done[rule])
            share_rule(s, rule);
        done[rule] = TRUE;
    }
}

/* -- all -- */

SourceLines *source_lines_new(const Plan *plan)
{
    if (plan->options->no_symbols)
        return NULL;
    WendCallSites *sites = wend_call_sites_open(plan->program, NULL);
    if (!sites || wend_call_sites_n(sites) == 0) {
        wend_call_sites_free(sites);
        return NULL;
    }
    SourceLines *s = g_new0(SourceLines, 1);
    s->plan = plan;
    s->sites = sites;
    s->left = CALLS_MOST;
    s->places = g_new0(Places, wend_program_n_terminals(plan->program) + 1);
    s->noted = g_hash_table_new_full(wend_word_hash, g_int64_equal, g_free, NULL);
    Counts *counts = counts_new(plan->program);
    for (guint k = 0; k < wend_program_n_classes(plan->program); k++)
        follow_class(s, wend_program_class(plan->program, k), counts);
    counts_free(counts);
    if (s->left == 0) /* what was not gone through may come from elsewhere */
        for (guint i = 0; i < wend_program_n_terminals(plan->program); i++)
            s->places[i].unknown = TRUE;
    return s;
}

void source_lines_free(SourceLines *s)
{
    if (!s)
        return;
    for (guint i = 0; i < s->n_rules; i++)
        if (s->shared[i])
            g_ptr_array_unref(s->shared[i]);
    g_free(s->shared);
    for (guint i = 0; i < wend_program_n_terminals(s->plan->program); i++)
        g_clear_pointer(&s->places[i].shared, g_ptr_array_unref);
    g_free(s->places);
    g_hash_table_unref(s->noted);
    wend_call_sites_free(s->sites);
    g_free(s);
}

/* -- comments -- */

static const char *base_of(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

char *source_lines_comment(const SourceLines *s, guint terminal)
{
    const Places *p = &s->places[terminal];
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < p->n && p->n <= LINES_MOST; i++) {
        guint n;
        const WendSiteFrame *frames = frames_of(s, p->sites[i], 0, &n);
        g_autofree char *file = c_token_comment(base_of(frames[0].file));
        g_string_append_printf(text, "%s%.100s:%u", text->len ? ", " : "", file, frames[0].line);
    }
    if (text->len == 0) {
        g_string_free(text, TRUE);
        return NULL;
    }
    g_string_prepend(text, " /* ");
    g_string_append(text, " */");
    return g_string_free(text, FALSE);
}

/* -- names of rules -- */

void source_lines_name(SourceLines *s, GPtrArray *texts, GHashTable *words)
{
    if (!s)
        return;
    const Plan *plan = s->plan;
    s->n_rules = plan->n_rules;
    s->shared = g_new0(GPtrArray *, plan->n_rules + 1);
    share_rules(s);
    g_autoptr(GPtrArray) wanted = g_ptr_array_new(); /* by number of the rule's function */
    for (guint i = 0; i < plan->n_rules; i++) {
        guint number = plan->rules[i].name;
        if (number == 0 || !s->shared[i] || s->shared[i]->len == 0)
            continue;
        if (wanted->len <= number)
            g_ptr_array_set_size(wanted, (gint)number + 1);
        wanted->pdata[number] = s->shared[i]->pdata[0];
    }
    rule_names_give(texts, words, wanted);
}
