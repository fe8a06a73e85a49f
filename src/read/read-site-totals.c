/* SPDX-License-Identifier: BSD-3-Clause */
/* read-site-totals.c: the calls by call site, and which sites count as one. */
#include "config.h"

#include "read-private.h"

int wend_read_group_sites(WendRead *r, const uint32_t *counts_as, uint32_t n)
{
    int status = read_sites_open(r, r);
    if (status < 0)
        return status;
    if (n > 0 && (counts_as == NULL || n != wend_call_sites_n(r->sites)))
        return read_fail(r, WEND_READ_ERROR_USAGE, "there are %u sites, not %u",
                         wend_call_sites_n(r->sites), n);
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
    if (r->site_rows == NULL)
        r->site_rows = site_totals_new(r);
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
