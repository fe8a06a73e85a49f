/* SPDX-License-Identifier: BSD-3-Clause */
/* read-sites.c: from where in the application the calls come. */
#include "config.h"

#include "read-private.h"

WendCallSites *read_sites(WendRead *r, Error **error)
{
    if (!r->sites)
        r->sites = call_sites_open(r->program, error);
    return r->sites;
}

void read_sites_clear(WendRead *r)
{
    g_clear_pointer(&r->site_rows, g_array_unref);
    g_clear_pointer(&r->stack_frames, g_array_unref);
    g_clear_pointer(&r->site_groups, g_free);
    g_clear_pointer(&r->group_sizes, g_free);
    g_clear_pointer(&r->sites, call_sites_free);
}

int read_sites_open(WendRead *r, const void *result)
{
    Error *error = NULL;
    int status = read_check(r, result);
    if (status == WEND_READ_OK && !read_sites(r, &error))
        status = read_fail_error(r, error);
    return status;
}

int wend_read_n_sites(WendRead *r, uint32_t *n)
{
    int status = read_sites_open(r, n);
    if (status == WEND_READ_OK)
        *n = call_sites_n(r->sites);
    return status;
}

static void set_site(WendRead *r, WendReadSite *s, const WendSite *inside)
{
    *s = (WendReadSite){.known = inside->module != G_MAXUINT};
    if (!s->known)
        return;
    const WendSiteModule *m = call_sites_module(r->sites, inside->module);
    s->file = m->file;
    s->world = m->world;
    s->build_id = m->n_id > 0 ? m->id : NULL;
    s->n_build_id = m->n_id;
    s->offset = inside->offset;
}

/* Opens the sites, and checks the number of one. */
static int open_site(WendRead *r, uint32_t site, const void *result)
{
    int status = read_sites_open(r, result);
    if (status == WEND_READ_OK)
        status = read_check_index(r, result, "site", site, call_sites_n(r->sites));
    return status;
}

int wend_read_site(WendRead *r, uint32_t site, const WendReadSite **s)
{
    int status = open_site(r, site, s);
    if (status < 0)
        return status;
    set_site(r, &r->site, call_site(r->sites, site));
    *s = &r->site;
    return WEND_READ_OK;
}

/* The frames of SITE. */
static const GArray *frames_of(WendRead *r, uint32_t site)
{
    if (r->stack_frames != NULL && r->stack_site == site)
        return r->stack_frames;
    if (!r->stack_frames)
        r->stack_frames = g_array_new(FALSE, FALSE, sizeof(guint));
    g_array_set_size(r->stack_frames, 0);
    guint caller = call_site(r->sites, site)->caller;
    for (; WEND_CALLER_IS_FRAME(caller); caller = call_sites_frame(r->sites, caller)->caller)
        g_array_append_val(r->stack_frames, caller);
    r->stack_site = site;
    r->stack.recorded = caller != WEND_CALLER_NOT_RECORDED;
    r->stack.whole = caller == WEND_CALLER_OUTERMOST;
    r->stack.n_frames = r->stack_frames->len + 1;
    return r->stack_frames;
}

int wend_read_stack(WendRead *r, uint32_t site, const WendReadStack **stack)
{
    int status = open_site(r, site, stack);
    if (status < 0)
        return status;
    frames_of(r, site);
    *stack = &r->stack;
    return WEND_READ_OK;
}

int wend_read_stack_frame(WendRead *r, uint32_t site, uint32_t index, const WendReadSite **frame)
{
    int status = open_site(r, site, frame);
    if (status < 0)
        return status;
    const GArray *frames = frames_of(r, site);
    if (index > frames->len)
        return read_fail(r, WEND_READ_ERROR_NONE, "there are no more than %u frames",
                         frames->len + 1);
    const WendSite *inside =
        index == 0 ? call_site(r->sites, site)
                   : call_sites_frame(r->sites, g_array_index(frames, guint, index - 1));
    set_site(r, &r->stack_frame, inside);
    *frame = &r->stack_frame;
    return WEND_READ_OK;
}

guint read_site_group(const WendRead *r, guint site)
{
    return r->site_groups != NULL && site != G_MAXUINT ? r->site_groups[site] : site;
}

/* How many sites count as SITE. */

int wend_read_site_frame(WendRead *r, const WendReadSite *site, uint32_t index,
                         const WendReadSiteFrame **frame)
{
    guint n = 0;
    int status = read_sites_open(r, frame);
    if (status < 0)
        return status;
    if (!site)
        return read_fail(r, WEND_READ_ERROR_USAGE, "there is no site");
    const WendSiteFrame *frames =
        site->known ? site_symbols_of(call_sites_symbols(r->sites), site->file, site->build_id,
                                      (guint)site->n_build_id, site->offset, &n)
                    : NULL;
    if (index >= n)
        return read_fail(r, WEND_READ_ERROR_NONE, "the recording has no more names of this site");
    r->site_frame =
        (WendReadSiteFrame){frames[index].function, frames[index].file, frames[index].line};
    *frame = &r->site_frame;
    return WEND_READ_OK;
}

/* Whether the last call of the rule had not returned. */
static gboolean ends_unfinished(const WendProgram *p, guint rule)
{
    const WendRule *r = program_rule(p, rule);
    while (r->n > 0 && r->symbols[r->n - 1].is_rule)
        r = program_rule(p, r->symbols[r->n - 1].id);
    if (r->n == 0)
        return FALSE;
    guint32 terminal = r->symbols[r->n - 1].id;
    const WendShape *s = program_shape(p, program_terminal(p, terminal)->shape);
    return words_unfinished(s->words, s->n_words);
}

int wend_read_unfinished_site(WendRead *r, uint32_t rank, uint32_t sequence, uint32_t *site)
{
    const WendReadSequence *info;
    int status = read_sites_open(r, site);
    if (status == WEND_READ_OK)
        status = wend_read_sequence(r, rank, sequence, &info);
    if (status == WEND_READ_OK)
        *site = ends_unfinished(r->program, info->rule)
                    ? call_site_unfinished(r->sites, rank, sequence)
                    : WEND_READ_NO_INDEX;
    return status;
}
