/* SPDX-License-Identifier: BSD-3-Clause */
/* source-lines.c: from where in the application the calls of the proxy came: comments at calls, and
 * names of functions. The program is complete when names are given, so that a name can be compared
 * with all that are there. */
#include "src/proxygen/emit/emit.h"

#include <dlfcn.h>
#include <string.h>

#include "lib/analysis/count.h"
#include "lib/read/call-sites.h"

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
                          : call_site_frames(s->sites, site, depth, n);
}

/* The names of the functions that a site is in, innermost first, and of those on its call stack. */
static GPtrArray *functions_of(const SourceLines *s, guint site)
{
    GPtrArray *names = g_ptr_array_new();
    for (guint depth = 0; call_site_has_caller(s->sites, site, depth); depth++) {
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
    WendWalk *walk = walk_new(s->plan->program, rank, sequence, WEND_WALK_POLLS);
    const WendCall *call;
    while (s->left > 0 && (call = walk_next(walk)) != NULL) {
        guint site = site_walk_next(sites, call);
        s->left--;
        if (!call->poll && !(call->function->flags & WEND_F_PSEUDO))
            note(s, call->terminal, site);
    }
    walk_free(walk);
}

static void follow_class(SourceLines *s, const WendClass *k, Counts *counts)
{
    for (guint q = 0; q < k->n_sequences; q++) {
        guint n;
        const guint32 *terminals = counts_of_rule(counts, k->sequences[q].rule, &n);
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (guint i = 0; i < k->n_ranks; i++) {
            WendSiteWalk *sites = site_walk_new(s->sites, k->ranks[i], q);
            g_autoptr(GString) key = g_string_new(NULL);
            if (!site_walk_key(sites, terminals, n, key)
                || g_hash_table_add(seen, g_strdup(key->str)))
                follow(s, k->ranks[i], q, sites);
            site_walk_free(sites);
        }
    }
}

/* -- functions that calls share -- */

static void share_terminal(const SourceLines *s, GPtrArray **all, guint terminal)
{
    const Places *p = &s->places[terminal];
    const WendShape *shape =
        program_shape(s->plan->program, program_terminal(s->plan->program, terminal)->shape);
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
    guint recorded = program_n_rules(plan->program);
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
    WendCallSites *sites = call_sites_open(plan->program, NULL);
    if (!sites || call_sites_n(sites) == 0) {
        call_sites_free(sites);
        return NULL;
    }
    SourceLines *s = g_new0(SourceLines, 1);
    s->plan = plan;
    s->sites = sites;
    s->left = CALLS_MOST;
    s->places = g_new0(Places, program_n_terminals(plan->program) + 1);
    s->noted = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    Counts *counts = counts_new(plan->program);
    for (guint k = 0; k < program_n_classes(plan->program); k++)
        follow_class(s, program_class(plan->program, k), counts);
    counts_free(counts);
    if (s->left == 0) /* what was not gone through may come from elsewhere */
        for (guint i = 0; i < program_n_terminals(plan->program); i++)
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
    for (guint i = 0; i < program_n_terminals(s->plan->program); i++)
        g_clear_pointer(&s->places[i].shared, g_ptr_array_unref);
    g_free(s->places);
    g_hash_table_unref(s->noted);
    call_sites_free(s->sites);
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

#define PREFIX "rule_"
#define PART "_part_"

/* -- tokens -- */

static gboolean is_in_name(char c)
{
    return g_ascii_isalnum(c) || c == '_';
}

/* The end of the string or character constant at P. */
static const char *end_of_literal(const char *p)
{
    char quote = *p++;
    while (*p && *p != quote)
        p += *p == '\\' && p[1] ? 2 : 1;
    return *p ? p + 1 : p;
}

/* The end of the piece of text at P. *NAME: it is an identifier, or a number. */
static const char *end_of_piece(const char *p, gboolean *name)
{
    *name = is_in_name(*p);
    if (*p == '"' || *p == '\'')
        return end_of_literal(p);
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    p++;
    while (*name && is_in_name(*p))
        p++;
    return p;
}

/* -- which names are free -- */

/* Words of C and its headers that are no functions, and objects of the proxy that only its header
 * comment shows. */
static const char *const taken[] = {
    "alignas",  "alignof",      "and",       "asm",      "assert",   "auto",
    "bool",     "break",        "case",      "catch",    "char",     "class",
    "complex",  "const",        "constexpr", "continue", "default",  "delete",
    "do",       "double",       "else",      "enum",     "environ",  "errno",
    "extern",   "false",        "float",     "for",      "fortran",  "goto",
    "i386",     "if",           "imaginary", "inline",   "int",      "linux",
    "long",     "main",         "major",     "makedev",  "minor",    "namespace",
    "new",      "noreturn",     "not",       "nullptr",  "offsetof", "operator",
    "or",       "private",      "public",    "register", "restrict", "return",
    "setjmp",   "short",        "signed",    "sizeof",   "static",   "static_assert",
    "stderr",   "stdin",        "stdout",    "struct",   "switch",   "template",
    "this",     "thread_local", "true",      "try",      "typedef",  "typeof",
    "union",    "unix",         "unsigned",  "va_arg",   "va_copy",  "va_end",
    "va_start", "void",         "volatile",  "while",    "xor"};

static gboolean is_reserved(const char *name)
{
    static const char *const prefixes[] = {"mpi", "pmpi", "cuda", "wend", PREFIX};
    for (guint i = 0; i < G_N_ELEMENTS(prefixes); i++)
        if (g_ascii_strncasecmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return TRUE;
    for (guint i = 0; i < G_N_ELEMENTS(taken); i++)
        if (strcmp(name, taken[i]) == 0)
            return TRUE;
    return *name == '_' || g_str_has_suffix(name, "_t") || strstr(name, PART) != NULL
           || dlsym(RTLD_DEFAULT, name) != NULL;
}

/* A name like WANTED that is not in NAMES, to which it is added. */
static char *free_name(GHashTable *names, const char *wanted)
{
    g_autofree char *base = c_token_function_name(wanted);
    if (is_reserved(base)) {
        char *other = g_strconcat(base, "_calls", NULL);
        g_free(base);
        base = other;
    }
    if (is_reserved(base)) /* it is not the end of the name that is */
        return NULL;
    char *name = g_strdup(base);
    for (guint i = 2; g_hash_table_contains(names, name); i++) {
        g_free(name);
        name = g_strdup_printf("%s_%u", base, i);
    }
    g_hash_table_add(names, g_strdup(name));
    return name;
}

/* -- the texts -- */

GHashTable *source_lines_words(const GPtrArray *texts)
{
    GHashTable *words = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GString) word = g_string_new("");
    gboolean name;
    for (guint i = 0; i < texts->len; i++)
        for (const char *p = ((const GString *)texts->pdata[i])->str, *end; *p; p = end) {
            end = end_of_piece(p, &name);
            if (!name || g_ascii_isdigit(*p))
                continue;
            g_string_truncate(word, 0);
            g_string_append_len(word, p, end - p);
            if (!g_hash_table_contains(words, word->str))
                g_hash_table_add(words, g_strdup(word->str));
        }
    return words;
}

/* The name of the rule function that the N characters at P are, or a part of which; *REST becomes
 * what follows it. NULL: they are none, or it keeps its name. */
static const char *given_name(const GPtrArray *given, const char *p, gsize n, const char **rest)
{
    char *end;
    if (n <= strlen(PREFIX) || memcmp(p, PREFIX, strlen(PREFIX)) != 0
        || !g_ascii_isdigit(p[strlen(PREFIX)]))
        return NULL;
    guint64 number = g_ascii_strtoull(p + strlen(PREFIX), &end, 10);
    gboolean whole = end == p + n, part = !whole && g_str_has_prefix(end, PART);
    *rest = end;
    return number < given->len && (whole || part) ? given->pdata[number] : NULL;
}

static void rename_all(GString *text, const GPtrArray *given)
{
    g_autofree char *old = g_strdup(text->str);
    gboolean name;
    g_string_truncate(text, 0);
    for (const char *p = old, *end; *p; p = end) {
        end = end_of_piece(p, &name);
        const char *rest = p, *other = name ? given_name(given, p, (gsize)(end - p), &rest) : NULL;
        g_string_append(text, other ? other : "");
        g_string_append_len(text, other ? rest : p, (gssize)(end - (other ? rest : p)));
    }
}

static void give_names(GPtrArray *texts, GHashTable *words, const GPtrArray *wanted)
{
    g_autoptr(GPtrArray) given = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < wanted->len; i++)
        g_ptr_array_add(given, wanted->pdata[i] ? free_name(words, wanted->pdata[i]) : NULL);
    for (guint i = 0; i < texts->len; i++)
        rename_all(texts->pdata[i], given);
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
    give_names(texts, words, wanted);
}
