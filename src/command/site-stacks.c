/* SPDX-License-Identifier: BSD-3-Clause */
/* site-stacks.c: see site-stacks.h. */
#include "config.h"

#include "site-stacks.h"

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

typedef struct {
    GString *out;
    gboolean more;
} JsonCallers;

static void json_caller(gpointer data, const SiteName *name)
{
    JsonCallers *c = data;
    if (c->more)
        g_string_append_c(c->out, ',');
    c->more = TRUE;
    if (name == NULL) {
        g_string_append(c->out, "null");
        return;
    }
    site_name_json(c->out, name);
    g_string_append_c(c->out, '}');
}

void site_stack_json(GString *out, SiteNames *n, uint32_t site)
{
    const SiteName *name = site_name(n, site);
    g_autoptr(GString) callers = g_string_new(NULL);
    JsonCallers c = {callers, FALSE};
    gboolean whole;
    if (name == NULL || !site_stack_callers(n, site, json_caller, &c, &whole)) {
        site_names_json(out, n, site);
        return;
    }
    site_name_json(out, name);
    g_string_append_printf(out, ",\"callers\":[%s],\"whole\":%s}", callers->str,
                           whole ? "true" : "false");
}
