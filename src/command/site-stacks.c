/* SPDX-License-Identifier: BSD-3-Clause */
/* site-stacks.c: see site-names.h. */
#include "config.h"

#include "site-names.h"

#include <string.h>

#include "command.h"
#include "text.h"

gboolean site_stacks_recorded(const SiteNames *n)
{
    WendRead *r = site_names_reader(n);
    const WendReadStack *stack;
    uint32_t n_sites = 0;
    if (wend_read_n_sites(r, &n_sites) < 0)
        return FALSE;
    for (uint32_t i = 0; i < n_sites; i++)
        if (wend_read_stack(r, i, &stack) == WEND_READ_OK && stack->recorded)
            return TRUE;
    return FALSE;
}

gboolean site_stack_callers(SiteNames *n, uint32_t site,
                            void (*each)(gpointer data, const SiteName *name), gpointer data,
                            gboolean *whole)
{
    WendRead *r = site_names_reader(n);
    const WendReadStack *stack;
    const WendReadSite *frame;
    if (site == WEND_READ_NO_INDEX || wend_read_stack(r, site, &stack) < 0 || !stack->recorded)
        return FALSE;
    *whole = stack->whole;
    for (uint32_t i = 1; wend_read_stack_frame(r, site, i, &frame) == WEND_READ_OK; i++)
        each(data, site_name_of_place(n, frame));
    return TRUE;
}

/* -- as text -- */

static void text_frames(GString *out, const SiteName *name, guint first)
{
    for (guint i = first; name != NULL && i < name->n_frames; i++) {
        g_string_append(out, " < ");
        site_frame_text(out, &name->frames[i]);
    }
}

static void text_caller(gpointer out, const SiteName *name)
{
    if (name != NULL && name->n_frames > 0) {
        text_frames(out, name, 0);
        return;
    }
    g_string_append(out, " < ");
    site_name_text(out, name);
}

void site_stack_callers_text(GString *out, SiteNames *n, uint32_t site)
{
    gboolean whole;
    gsize start = out->len;
    text_frames(out, site_name(n, site), 1);
    if (!site_stack_callers(n, site, text_caller, out, &whole))
        g_string_truncate(out, start);
    else if (!whole)
        g_string_append(out, " < ...");
}

void site_stack_csv(GString *out, SiteNames *n, uint32_t site)
{
    gsize start = out->len;
    if (site != WEND_READ_NO_INDEX) {
        site_names_text(out, n, site);
        site_stack_callers_text(out, n, site);
    }
    text_csv_quote(out, start);
}

static void json_caller(gpointer data, const SiteName *name)
{
    GString *out = data;
    text_json_key(out, NULL);
    if (!name) {
        g_string_append(out, "null");
        return;
    }
    site_name_json(out, name);
    g_string_append_c(out, '}');
}

void site_stack_json(GString *out, SiteNames *n, uint32_t site)
{
    const SiteName *name = site_name(n, site);
    g_autoptr(GString) callers = g_string_new("[");
    gboolean whole;
    if (!name || !site_stack_callers(n, site, json_caller, callers, &whole)) {
        site_names_json(out, n, site);
        return;
    }
    site_name_json(out, name);
    text_json_key(out, "callers");
    g_string_append(out, callers->str);
    g_string_append_c(out, ']');
    text_json_flag(out, "whole", whole);
    g_string_append_c(out, '}');
}

/* -- approximate matching -- */

struct SiteMatching {
    guint tolerance;
    char **ignored;      /* NULL: none */
    GHashTable *numbers; /* a frame as text -> its number + 1 */
    GArray *is_ignored;  /* gboolean, by number of a frame */
    GString *text;       /* of the frame at hand */
};

/* Which stacks can match at all. */
typedef enum { TRAIL_ALONE, TRAIL_CUT, TRAIL_WHOLE } TrailKind;

struct SiteTrail {
    TrailKind kind;
    GArray *frames; /* guint: numbers, the innermost comes first */
};

SiteMatching *site_matching_new(guint tolerance, char **ignored)
{
    SiteMatching *m = g_new0(SiteMatching, 1);
    m->tolerance = tolerance;
    m->ignored = g_strdupv(ignored);
    m->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    m->is_ignored = g_array_new(FALSE, FALSE, sizeof(gboolean));
    m->text = g_string_new(NULL);
    return m;
}

void site_matching_free(SiteMatching *m)
{
    if (!m)
        return;
    g_strfreev(m->ignored);
    g_hash_table_unref(m->numbers);
    g_array_unref(m->is_ignored);
    g_string_free(m->text, TRUE);
    g_free(m);
}

gboolean site_matching_options(const char *command, const char *missing, gint tolerance,
                               char **ignored, int *status)
{
    if (tolerance < 0)
        *status = command_usage(command, "--site-tolerance needs a number from 0 on");
    else if (missing != NULL && (tolerance > 0 || ignored != NULL))
        *status = command_usage(command, "--site-tolerance and --site-ignore are for %s", missing);
    else
        return TRUE;
    return FALSE;
}

/* -- trails -- */

/* Whether the path FILE is NAME, or ends in it after a slash. */
static gboolean is_file(const char *file, const char *name)
{
    if (!file || !g_str_has_suffix(file, name))
        return FALSE;
    gsize before = strlen(file) - strlen(name);
    return before == 0 || file[before - 1] == '/';
}

static gboolean is_ignored(const SiteMatching *m, const char *function, const char *file)
{
    for (guint i = 0; m->ignored != NULL && m->ignored[i] != NULL; i++)
        if (g_strcmp0(function, m->ignored[i]) == 0 || is_file(file, m->ignored[i]))
            return TRUE;
    return FALSE;
}

/* Adds the frame that m->text describes. */
static void add_frame(SiteMatching *m, SiteTrail *t, gboolean ignored)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(m->numbers, m->text->str));
    if (number == 0) {
        g_array_append_val(m->is_ignored, ignored);
        number = m->is_ignored->len;
        g_hash_table_insert(m->numbers, g_strdup(m->text->str), GUINT_TO_POINTER(number));
    }
    number--;
    g_array_append_val(t->frames, number);
}

/* Adds a place in code: the frames of the functions that are inlined there, if these have lines;
 * else it has one, by its address. */
static void add_place(SiteMatching *m, SiteTrail *t, const SiteName *name,
                      const WendReadSite *place)
{
    const SiteFrame *frames = name != NULL && name->n_frames > 0 ? name->frames : NULL;
    if (!frames || frames->line == 0) {
        const char *function = frames != NULL ? frames->function : NULL;
        g_string_printf(m->text, "%s\n%" G_GINT64_MODIFIER "x\n", name != NULL ? name->module : "",
                        place->offset);
        for (gsize i = 0; i < place->n_build_id; i++)
            g_string_append_printf(m->text, "%02x", place->build_id[i]);
        add_frame(m, t, is_ignored(m, function, name != NULL ? name->module : NULL));
        return;
    }
    for (guint i = 0; i < name->n_frames; i++) {
        const SiteFrame *f = &frames[i];
        g_string_printf(m->text, "%s\n%s\n%u", f->function != NULL ? f->function : "",
                        f->file != NULL ? f->file : "", f->line);
        add_frame(m, t, is_ignored(m, f->function, f->file));
    }
}

SiteTrail *site_trail_new(SiteMatching *m, SiteNames *n, uint32_t site)
{
    WendRead *r = site_names_reader(n);
    SiteTrail *t = g_new0(SiteTrail, 1);
    const WendReadStack *stack;
    const WendReadSite *frame;
    t->frames = g_array_new(FALSE, FALSE, sizeof(guint));
    if (site == WEND_READ_NO_INDEX || wend_read_stack(r, site, &stack) < 0)
        return t;
    t->kind = !stack->recorded ? TRAIL_ALONE : stack->whole ? TRAIL_WHOLE : TRAIL_CUT;
    for (uint32_t i = 0; wend_read_stack_frame(r, site, i, &frame) == WEND_READ_OK; i++)
        add_place(m, t, site_name_of_place(n, frame), frame);
    return t;
}

void site_trail_free(SiteTrail *t)
{
    if (!t)
        return;
    g_array_unref(t->frames);
    g_free(t);
}

/* The frame of T that has N others outside. */
static guint frame_at(const SiteTrail *t, guint n)
{
    return g_array_index(t->frames, guint, t->frames->len - 1 - n);
}

static gboolean ignores(const SiteMatching *m, guint frame)
{
    return g_array_index(m->is_ignored, gboolean, frame);
}

gboolean site_trails_match(const SiteMatching *m, const SiteTrail *a, const SiteTrail *b)
{
    const SiteTrail *longer = a->frames->len > b->frames->len ? a : b;
    guint both = MIN(a->frames->len, b->frames->len), differ = 0;
    if (a->kind != b->kind)
        return FALSE;
    for (guint i = 0; i < longer->frames->len && differ <= m->tolerance; i++) {
        guint of = frame_at(longer, i);
        if (i >= both)
            differ += !ignores(m, of);
        else if (frame_at(a, i) != frame_at(b, i))
            differ += !ignores(m, frame_at(a, i)) && !ignores(m, frame_at(b, i));
    }
    return differ <= m->tolerance;
}

/* -- groups -- */

/* A function of MPI that is called from a site. */
typedef struct {
    uint32_t site;
    const char *function;
} Called;

static gint by_site(gconstpointer a, gconstpointer b)
{
    const Called *x = a, *y = b;
    if (x->site != y->site)
        return x->site < y->site ? -1 : 1;
    return strcmp(x->function, y->function);
}

/* The functions that are called from each site, as text. The caller unrefs the result. */
static int functions_of(SiteNames *n, GPtrArray **functions)
{
    WendRead *r = site_names_reader(n);
    const WendReadSiteTotals *t;
    g_autoptr(GArray) called = g_array_new(FALSE, FALSE, sizeof(Called));
    uint32_t n_sites;
    int status = wend_read_n_sites(r, &n_sites);
    *functions = g_ptr_array_new_with_free_func(g_free);
    if (status < 0)
        return status;
    g_ptr_array_set_size(*functions, (gint)n_sites);
    for (uint32_t i = 0; (status = wend_read_site_totals(r, i, &t)) == WEND_READ_OK; i++) {
        Called one = {t->site, t->function->name};
        if (t->site != WEND_READ_NO_INDEX)
            g_array_append_val(called, one);
    }
    g_array_sort(called, by_site);
    for (guint i = 0; i < called->len; i++) {
        const Called *one = &g_array_index(called, Called, i);
        char **of = (char **)&(*functions)->pdata[one->site];
        char *more = g_strdup_printf("%s %s", *of != NULL ? *of : "", one->function);
        g_free(*of);
        *of = more;
    }
    return status == WEND_READ_ERROR_NONE ? WEND_READ_OK : status;
}

/* Adds to COUNTS_AS. */
static int group(SiteMatching *m, SiteNames *n, GArray *counts_as)
{
    g_autoptr(GPtrArray) functions = NULL,
                         trails = g_ptr_array_new_with_free_func((GDestroyNotify)site_trail_free);
    int status = wend_read_group_sites(site_names_reader(n), NULL, 0);
    if (status == WEND_READ_OK)
        status = functions_of(n, &functions);
    if (status < 0)
        return status;
    for (uint32_t site = 0; site < functions->len; site++) {
        uint32_t first = 0;
        command_progress("comparing call stacks", site, functions->len);
        g_ptr_array_add(trails, site_trail_new(m, n, site));
        while (first < site
               && (g_array_index(counts_as, uint32_t, first) != first
                   || g_strcmp0(functions->pdata[first], functions->pdata[site]) != 0
                   || !site_trails_match(m, trails->pdata[first], trails->pdata[site])))
            first++;
        g_array_append_val(counts_as, first);
    }
    return WEND_READ_OK;
}

int site_matching_groups(const char *command, SiteNames *n, guint tolerance, char **ignored,
                         GArray **counts_as)
{
    uint32_t n_sites;
    int status = wend_read_n_sites(site_names_reader(n), &n_sites);
    *counts_as = NULL;
    if (status < 0 || (tolerance == 0 && !ignored))
        return status;
    if (tolerance > 0 && n_sites > 0 && !site_stacks_recorded(n))
        command_say(command, SITE_MATCHING_NO_STACKS, "the recording");
    SiteMatching *m = site_matching_new(tolerance, ignored);
    *counts_as = g_array_sized_new(FALSE, FALSE, sizeof(uint32_t), n_sites);
    status = group(m, n, *counts_as);
    site_matching_free(m);
    if (status < 0)
        g_clear_pointer(counts_as, g_array_unref);
    return status;
}
