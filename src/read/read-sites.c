/* SPDX-License-Identifier: BSD-3-Clause */
/* read-sites.c: from where in the application the calls come. */
#include "config.h"

#include "read-private.h"

WendCallSites *read_sites(WendRead *r, GError **error)
{
    if (r->sites == NULL)
        r->sites = wend_call_sites_open(r->program, error);
    return r->sites;
}

void read_sites_clear(WendRead *r)
{
    g_clear_pointer(&r->site_rows, g_array_unref);
    g_clear_pointer(&r->sites, wend_call_sites_free);
}

static int open_sites(WendRead *r, const void *result)
{
    GError *error = NULL;
    int status = read_check(r, result);
    if (status == WEND_READ_OK && read_sites(r, &error) == NULL)
        status = read_fail_error(r, error);
    return status;
}

int wend_read_n_sites(WendRead *r, uint32_t *n)
{
    int status = open_sites(r, n);
    if (status == WEND_READ_OK)
        *n = wend_call_sites_n(r->sites);
    return status;
}

int wend_read_site(WendRead *r, uint32_t site, const WendReadSite **s)
{
    int status = open_sites(r, s);
    if (status == WEND_READ_OK)
        status = read_check_index(r, s, "site", site, wend_call_sites_n(r->sites));
    if (status < 0)
        return status;
    const WendSite *inside = wend_call_site(r->sites, site);
    r->site = (WendReadSite){.known = inside->module != G_MAXUINT};
    if (r->site.known) {
        const WendSiteModule *m = wend_call_sites_module(r->sites, inside->module);
        r->site.file = m->file;
        r->site.world = m->world;
        r->site.build_id = m->n_id > 0 ? m->id : NULL;
        r->site.n_build_id = m->n_id;
        r->site.offset = inside->offset;
    }
    *s = &r->site;
    return WEND_READ_OK;
}

int wend_read_site_frame(WendRead *r, uint32_t site, uint32_t index,
                         const WendReadSiteFrame **frame)
{
    guint n;
    int status = open_sites(r, frame);
    if (status == WEND_READ_OK)
        status = read_check_index(r, frame, "site", site, wend_call_sites_n(r->sites));
    if (status < 0)
        return status;
    const WendSiteFrame *frames = wend_call_site_frames(r->sites, site, &n);
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
    const WendRule *r = wend_program_rule(p, rule);
    while (r->n > 0 && r->symbols[r->n - 1].is_rule)
        r = wend_program_rule(p, r->symbols[r->n - 1].id);
    if (r->n == 0)
        return FALSE;
    guint32 terminal = r->symbols[r->n - 1].id;
    const WendShape *s = wend_program_shape(p, wend_program_terminal(p, terminal)->shape);
    return wend_words_unfinished(s->words, s->n_words);
}

int wend_read_unfinished_site(WendRead *r, uint32_t rank, uint32_t sequence, uint32_t *site)
{
    const WendReadSequence *info;
    int status = open_sites(r, site);
    if (status == WEND_READ_OK)
        status = wend_read_sequence(r, rank, sequence, &info);
    if (status == WEND_READ_OK)
        *site = ends_unfinished(r->program, info->rule)
                    ? wend_call_site_unfinished(r->sites, rank, sequence)
                    : WEND_READ_NO_INDEX;
    return status;
}

int wend_read_site_totals(WendRead *r, uint32_t index, const WendReadSiteTotals **totals)
{
    int status = open_sites(r, totals);
    if (status < 0)
        return status;
    if (r->site_rows == NULL)
        r->site_rows = site_totals_new(r->program, r->sites);
    if (index >= r->site_rows->len)
        return read_fail(r, WEND_READ_ERROR_NONE, "there are no more than %u sites and functions",
                         r->site_rows->len);
    const SiteRow *row = &g_array_index(r->site_rows, SiteRow, index);
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
                              .most_bytes_rank = row->most_bytes_rank};
    wend_read_function_named(r, row->function->name, &t->function);
    read_amount_set(&t->amount, &row->traffic);
    *totals = t;
    return WEND_READ_OK;
}
