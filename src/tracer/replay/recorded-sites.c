/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded-sites.c: see divergence.h. */
#include "divergence.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/record/functions.h"

/* -- along the recorded calls -- */

static WendSiteTaken take(void *source, WendRecordedSite *next)
{
    RecordedSites *s = source;
    const OrderSequence *q = s->sequence;
    if (s->at >= q->n_site_elements)
        return q->sites_cut ? WEND_SITE_CUT : WEND_SITE_END;
    const OrderSiteElement *e = &s->order->site_elements[q->first_site_element + s->at++];
    *next = (WendRecordedSite){(WendSiteCode)e->code, e->step, e->site};
    return WEND_SITE_TAKEN;
}

void recorded_sites_open(WendSiteFollower *f, RecordedSites *s, const Order *order,
                         const OrderSequence *sequence)
{
    *s = (RecordedSites){order, sequence, 0};
    site_follower_open(f, take, s);
}

uint32_t recorded_sites_next(WendSiteFollower *f, const Order *order, const OrderTerminal *t,
                             bool poll)
{
    const OrderShape *shape = &order->shapes[t->shape];
    const int64_t *words = order->words + shape->first;
    uint64_t function = (uint64_t)words[0] >> 1;
    if (function >= mpi_n_functions || mpi_functions[function].flags & WEND_F_PSEUDO)
        return WEND_SITE_NONE;
    if (words_unfinished(words, shape->n))
        return site_follower_unfinished(f);
    WendSiteCall call = site_call(words, shape->n, order->words + t->first, t->n, poll);
    return site_follower_next(f, &call);
}

/* -- text -- */

/* Puts the address OFFSET in FILE, whose path has N bytes. */
static void put_address(SiteText *text, const char *file, size_t n, uint64_t offset)
{
    const char *slash = n > 0 ? memrchr(file, '/', n) : NULL, *name = slash ? slash + 1 : file;
    if (n == 0) {
        name = program_invocation_short_name;
        n = strlen(name);
    } else {
        n -= (size_t)(name - file);
    }
    snprintf(text->text, sizeof text->text, "%.*s + 0x%" PRIx64, (int)(n < 100 ? n : 100), name,
             offset);
    for (char *p = text->text; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
}

void recorded_site_text(SiteText *text, const Order *order, uint32_t site)
{
    text->text[0] = '\0';
    if (site >= order->head->n_sites || order->sites[site].module == WEND_ORDER_NO_MODULE)
        return;
    const OrderSite *s = &order->sites[site];
    const OrderModule *m = &order->modules[s->module];
    if (s->n_text > 0)
        snprintf(text->text, sizeof text->text, "%.*s", (int)(s->n_text < 200 ? s->n_text : 200),
                 (const char *)order->bytes + s->text);
    else
        put_address(text, (const char *)order->bytes + m->file, m->n_file, s->offset);
}

static bool has_bytes(const Order *order, uint64_t first, uint64_t n, const void *bytes, size_t m)
{
    return n == m && memcmp(order->bytes + first, bytes, m) == 0;
}

static bool is_version(const Order *order, const OrderModule *m, const CallOrigin *o)
{
    return has_bytes(order, m->id, m->n_id, o->id, o->n_id);
}

static bool is_file(const Order *order, const OrderModule *m, const CallOrigin *o)
{
    return has_bytes(order, m->file, m->n_file, o->file, strlen(o->file));
}

/* The recorded site that is at O. NULL: there is none. A library may be elsewhere now: then its
 * identifier tells. */
static const OrderSite *site_at(const Order *order, const CallOrigin *o)
{
    for (uint64_t i = 0; i < order->head->n_sites; i++) {
        const OrderSite *s = &order->sites[i];
        if (s->module == WEND_ORDER_NO_MODULE || s->offset != o->offset)
            continue;
        const OrderModule *m = &order->modules[s->module];
        if (is_version(order, m, o) && (m->n_id > 0 || is_file(order, m, o)))
            return s;
    }
    return NULL;
}

void recorded_sites_made_text(SiteText *text, const Order *order, const ActiveCall *c)
{
    CallOrigin o;
    text->text[0] = '\0';
    if (!state()->origin_of || !state()->origin_of(c, &o))
        return;
    const OrderSite *known = site_at(order, &o);
    if (known)
        recorded_site_text(text, order, (uint32_t)(known - order->sites));
    else
        put_address(text, o.file, strlen(o.file), o.offset);
}

bool recorded_sites_is_of_other_version(const Order *order, uint32_t site, const ActiveCall *c)
{
    CallOrigin o;
    if (site >= order->head->n_sites || order->sites[site].n_text > 0
        || order->sites[site].module == WEND_ORDER_NO_MODULE || !state()->origin_of
        || !state()->origin_of(c, &o))
        return false;
    const OrderModule *m = &order->modules[order->sites[site].module];
    return is_file(order, m, &o) && !is_version(order, m, &o);
}
