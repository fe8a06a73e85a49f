/* SPDX-License-Identifier: BSD-3-Clause */
/* site-coding.c: see site-coding.h. */
#include "site-coding.h"

#include <string.h>

void wend_site_coding_init(WendSiteCoding *k)
{
    WendSideNumber *const numbers[] = {&k->streams, &k->kind, &k->id,       &k->birth,
                                       &k->length,  &k->up,   &k->distance, &k->new_frames};
    WendPlaceCoding *const places[] = {&k->sites, &k->frames};
    memset(k, 0, sizeof *k);
    wend_side_codec_init(&k->elements, wend_side_kind(WEND_SIDE_SITES));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        wend_side_number_init(numbers[i]);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        wend_side_number_init(&places[i]->module);
        wend_side_number_init(&places[i]->near);
        wend_side_number_init(&places[i]->far);
        range_contexts_init(&places[i]->is_near, 1);
    }
    range_contexts_init(&k->is_cut, 1);
    range_contexts_init(&k->is_above, 1);
}

uint64_t wend_site_code_streams(WendSiteCoding *k, const RangeCoder *c, uint64_t n)
{
    return wend_side_number(c, &k->streams, n);
}

void wend_site_code_head(WendSiteCoding *k, const RangeCoder *c, WendSideHead *head, uint64_t *n,
                         bool *cut)
{
    head->kind = wend_side_number(c, &k->kind, head->kind);
    head->id = wend_unzigzag(wend_side_number(c, &k->id, wend_zigzag(head->id)));
    head->birth = wend_side_number(c, &k->birth, head->birth);
    *n = wend_side_number(c, &k->length, *n);
    *cut = range_bit(c, *cut, &k->is_cut);
    wend_side_codec_again(&k->elements);
}

bool wend_site_code_element(WendSiteCoding *k, const RangeCoder *c, WendSideElement *e)
{
    if (c->decoder)
        return wend_side_decode(&k->elements, c->decoder, e);
    wend_side_encode(&k->elements, c->encoder, e);
    return true;
}

/* Calls of one function of the program are near each other, and come in the order of their
 * addresses. */
static void code_place(WendPlaceCoding *k, const RangeCoder *c, uint64_t *module, uint64_t *offset)
{
    enum { NEAR = 1 << 9 };
    *module = wend_side_number(c, &k->module, *module);
    if (*module == 0)
        return;
    uint64_t from = *module == k->last_module ? k->last_offset : 0, distance = *offset - from;
    if (range_bit(c, distance < NEAR, &k->is_near))
        distance = wend_side_number(c, &k->near, distance);
    else
        distance =
            (uint64_t)wend_unzigzag(wend_side_number(c, &k->far, wend_zigzag((int64_t)distance)));
    *offset = from + distance;
    k->last_module = *module;
    k->last_offset = *offset;
}

void wend_site_code_place(WendSiteCoding *k, const RangeCoder *c, uint64_t *module,
                          uint64_t *offset)
{
    code_place(&k->sites, c, module, offset);
}

void wend_site_code_frame(WendSiteCoding *k, const RangeCoder *c, uint64_t *module,
                          uint64_t *offset)
{
    code_place(&k->frames, c, module, offset);
}

/* How many steps from FROM outwards TO is; UINT64_MAX: it is not there. */
static uint64_t steps_up(const uint32_t *callers, uint64_t from, uint64_t to)
{
    uint64_t n = 0;
    for (; from != to; n++) {
        if (from < WEND_CALLER_FRAME)
            return UINT64_MAX;
        from = callers[from - WEND_CALLER_FRAME];
    }
    return n;
}

/* A program goes from function to function, so a new stack mostly has its outer part from the one
 * before. */
bool wend_site_code_callers(WendSiteCoding *k, const RangeCoder *c, const uint32_t *callers,
                            uint64_t n_frames, uint64_t *caller, uint64_t *n)
{
    uint64_t above = c->decoder ? 0 : steps_up(callers, k->last_caller, *caller);
    if (range_bit(c, above != UINT64_MAX, &k->is_above)) {
        above = wend_side_number(c, &k->up, above);
        *caller = k->last_caller;
        for (; above > 0 && *caller >= WEND_CALLER_FRAME; above--)
            *caller = callers[*caller - WEND_CALLER_FRAME];
        if (above > 0)
            return false;
    } else {
        uint64_t all = n_frames + WEND_CALLER_FRAME;
        uint64_t distance = wend_side_number(c, &k->distance, all - *caller);
        if (distance == 0 || distance > all)
            return false;
        *caller = all - distance;
    }
    *n = wend_side_number(c, &k->new_frames, *n);
    return *n <= WEND_CALLERS_MOST;
}

void wend_site_coding_used(WendSiteCoding *k, uint64_t module, uint64_t offset, uint64_t caller)
{
    k->last_caller = caller;
    if (module == 0)
        return;
    k->sites.last_module = module;
    k->sites.last_offset = offset;
}
