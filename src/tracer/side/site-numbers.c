/* SPDX-License-Identifier: BSD-3-Clause */
/* site-numbers.c: see site-numbers.h. */
#include "site-numbers.h"

#include "lib/record/site-guesses.h"
#include "side-private.h"

enum { NUMBERS_AT_FIRST = 128 };

/* The place of LIKE, which is free if it has no number. */
static SiteNumber *find(const SiteNumbers *s, const SiteNumber *like)
{
    uint64_t key = like->offset ^ (uint64_t)(uintptr_t)like->module << 16;
    key = wend_site_guess_mix(key, like->caller);
    for (size_t at = (size_t)(key >> 16) & s->mask;; at = (at + 1) & s->mask) {
        SiteNumber *n = &s->at[at];
        if (n->number == 0
            || (n->module == like->module && n->offset == like->offset
                && n->caller == like->caller))
            return n;
    }
}

static bool make_room(SiteNumbers *s)
{
    SiteNumbers larger = *s;
    if (s->at && 2 * ((size_t)s->n + 1) <= s->mask)
        return true;
    if (s->n >= WEND_SITES_MOST)
        return false;
    larger.mask = s->at ? 2 * s->mask + 1 : NUMBERS_AT_FIRST - 1;
    larger.at = side_memory((larger.mask + 1) * sizeof *s->at);
    if (!larger.at)
        return false;
    for (size_t i = 0; s->at && i <= s->mask; i++)
        if (s->at[i].number != 0)
            *find(&larger, &s->at[i]) = s->at[i];
    if (s->at)
        side_resize(s->at, (s->mask + 1) * sizeof *s->at, 0);
    *s = larger;
    return true;
}

uint32_t site_number_find(const SiteNumbers *s, const SiteNumber *like)
{
    const SiteNumber *n = s->at ? find(s, like) : NULL;
    return n && n->number != 0 ? n->number - 1 : WEND_SITE_NONE;
}

uint32_t site_number_new(SiteNumbers *s, const SiteNumber *like)
{
    if (!make_room(s))
        return WEND_SITE_NONE;
    SiteNumber *n = find(s, like);
    *n = *like;
    n->number = ++s->n;
    return n->number - 1;
}

void site_number_put_address(WendBuf *table, uint32_t *n_modules, KnownModule *m, uintptr_t offset)
{
    if (!m) {
        wend_buf_unsigned(table, 0);
        return;
    }
    bool is_new = m->number == WEND_SITE_NONE;
    if (is_new)
        m->number = (*n_modules)++;
    wend_buf_unsigned(table, m->number + UINT64_C(1));
    if (is_new) {
        wend_buf_string(table, m->file);
        wend_buf_unsigned(table, m->n_id);
        wend_buf_bytes(table, m->id, m->n_id);
    }
    wend_buf_signed(table, (int64_t)(offset - m->last));
    m->last = offset;
}
