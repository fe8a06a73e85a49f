/* SPDX-License-Identifier: BSD-3-Clause */
/* site-differences.c: see site-differences.h. */
#include "config.h"

#include "site-differences.h"

#include <string.h>

#include "src/read/wrap.h"

struct SiteDifferences {
    const WendProgram *program[2];
    WendRead *reader[2];
    SiteNames *names[2]; /* NULL: not opened yet */
    uint32_t n[2];       /* sites */
    /* NULL: sites are compared without their stacks. */
    SiteMatching *matching, *exact;
    GPtrArray *trails[2]; /* SiteTrail by site; NULL: not asked for yet */
};

SiteDifferences *site_differences_new(const WendProgram *const programs[2])
{
    SiteDifferences *s = g_new0(SiteDifferences, 1);
    for (guint input = 0; input < 2; input++) {
        s->program[input] = programs[input];
        s->reader[input] = read_wrap(programs[input]);
    }
    return s;
}

void site_differences_free(SiteDifferences *s)
{
    if (!s)
        return;
    for (guint input = 0; input < 2; input++) {
        if (s->trails[input] != NULL)
            g_ptr_array_unref(s->trails[input]);
        site_names_free(s->names[input]);
        wend_read_free(s->reader[input]);
    }
    g_free(s);
}

static int open_input(SiteDifferences *s, guint input)
{
    int status = WEND_READ_OK;
    if (!s->names[input] && (status = wend_read_n_sites(s->reader[input], &s->n[input])) == 0)
        s->names[input] = site_names_new(s->reader[input], "diff");
    return status;
}

/* Stacks are compared if both recordings have them. Sites alone match, too, if they are ignored. */
static void choose_matching(SiteDifferences *s, SiteMatching *matching)
{
    gboolean stacks[2];
    for (guint input = 0; input < 2; input++)
        stacks[input] = site_stacks_recorded(s->names[input]);
    if (stacks[0] != stacks[1] || (!matching && !stacks[0]))
        return;
    s->matching = matching != NULL ? matching : (s->exact = site_matching_new(0, NULL));
    for (guint input = 0; input < 2; input++) {
        s->trails[input] = g_ptr_array_new_with_free_func((GDestroyNotify)site_trail_free);
        g_ptr_array_set_size(s->trails[input], (gint)s->n[input]);
    }
}

int site_differences_open(SiteDifferences *s, SiteMatching *matching, const char **message)
{
    for (guint input = 0; input < 2; input++) {
        int status = open_input(s, input);
        *message = wend_read_message(s->reader[input]);
        if (status < 0)
            return status;
    }
    choose_matching(s, matching);
    return WEND_READ_OK;
}

gboolean site_differences_has_sites(const SiteDifferences *s, guint input)
{
    return s->n[input] > 0;
}

gboolean site_differences_has_stacks(const SiteDifferences *s, guint input)
{
    return site_stacks_recorded(s->names[input]);
}

static WendReadCalls *calls_of(SiteDifferences *s, guint input, guint rank, guint sequence)
{
    const unsigned flags = WEND_READ_WITH_SITES | WEND_READ_WITHOUT_TRANSFERS;
    WendReadCalls *calls;
    return wend_read_calls(s->reader[input], rank, sequence, flags, &calls) == 0 ? calls : NULL;
}

static const WendReadCall *next_call(WendReadCalls *calls)
{
    const WendReadCall *call;
    return calls != NULL && wend_read_next(calls, &call) == 0 ? call : NULL;
}

void site_differences_put(GString *out, gpointer sites, guint input, guint rank, guint sequence,
                          guint64 index)
{
    SiteDifferences *s = sites;
    const WendReadCall *call;
    if (open_input(s, input) < 0 || s->n[input] == 0)
        return;
    WendReadCalls *calls = calls_of(s, input, rank, sequence);
    while ((call = next_call(calls)) != NULL && call->index < index)
        continue;
    if (call != NULL && call->site != WEND_READ_NO_INDEX) {
        g_string_append(out, "  # from ");
        site_names_text(out, s->names[input], call->site);
        site_stack_callers_text(out, s->names[input], call->site);
    }
    wend_read_calls_free(calls);
}

static gboolean same_frame(const SiteName *a, const SiteName *b)
{
    const SiteFrame *x = a->frames, *y = b->frames;
    return x->line == y->line && g_strcmp0(x->function, y->function) == 0
           && g_strcmp0(x->file, y->file) == 0;
}

static gboolean has_line(const SiteName *n)
{
    return n->n_frames > 0 && n->frames->line > 0;
}

static gboolean same_address(SiteDifferences *s, const uint32_t site[2])
{
    WendReadSite at[2];
    for (guint input = 0; input < 2; input++) {
        const WendReadSite *of;
        if (wend_read_site(s->reader[input], site[input], &of) < 0)
            return FALSE;
        at[input] = *of;
    }
    return at[0].offset == at[1].offset && at[0].n_build_id == at[1].n_build_id
           && (at[0].n_build_id == 0
               || memcmp(at[0].build_id, at[1].build_id, at[0].n_build_id) == 0);
}

static const SiteTrail *trail_of(SiteDifferences *s, guint input, uint32_t site)
{
    gpointer *trail = &s->trails[input]->pdata[site];
    if (!*trail)
        *trail = site_trail_new(s->matching, s->names[input], site);
    return *trail;
}

static gboolean same_site(SiteDifferences *s, const uint32_t site[2])
{
    if (s->matching != NULL && site[0] < s->n[0] && site[1] < s->n[1])
        return site_trails_match(s->matching, trail_of(s, 0, site[0]), trail_of(s, 1, site[1]));
    const SiteName *a = site_name(s->names[0], site[0]), *b = site_name(s->names[1], site[1]);
    if (!a || !b)
        return !a && !b;
    if (has_line(a) && has_line(b))
        return same_frame(a, b);
    return strcmp(a->module, b->module) == 0 && same_address(s, site);
}

gboolean site_differences_find(SiteDifferences *s, guint rank, const guint sequence[2],
                               SiteDifference *found)
{
    WendReadCalls *calls[2];
    const WendReadCall *call[2];
    gboolean differs = FALSE;
    for (guint input = 0; input < 2; input++)
        calls[input] = calls_of(s, input, rank, sequence[input]);
    while (!differs && (call[0] = next_call(calls[0])) != NULL
           && (call[1] = next_call(calls[1])) != NULL) {
        const uint32_t site[2] = {call[0]->site, call[1]->site};
        differs = !same_site(s, site);
        if (!differs)
            continue;
        *found = (SiteDifference){.index = call[0]->index, .function = call[0]->function->name};
        for (guint input = 0; input < 2; input++) {
            GString *text = g_string_new(NULL);
            site_names_text(text, s->names[input], site[input]);
            site_stack_callers_text(text, s->names[input], site[input]);
            found->sites[input] = g_string_free(text, FALSE);
        }
    }
    for (guint input = 0; input < 2; input++)
        wend_read_calls_free(calls[input]);
    return differs;
}
