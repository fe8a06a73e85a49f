/* SPDX-License-Identifier: BSD-3-Clause */
/* site-coding.c: see site-coding.h. */
#include "site-coding.h"

#include <string.h>

void wend_site_coding_init(WendSiteCoding *k)
{
    WendSideNumber *const numbers[] = {&k->streams, &k->kind,   &k->id,   &k->birth,
                                       &k->length,  &k->module, &k->near, &k->far};
    memset(k, 0, sizeof *k);
    wend_side_codec_init(&k->elements, wend_side_kind(WEND_SIDE_SITES));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        wend_side_number_init(numbers[i]);
    range_contexts_init(&k->is_cut, 1);
    range_contexts_init(&k->is_near, 1);
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
void wend_site_code_place(WendSiteCoding *k, const RangeCoder *c, uint64_t *module,
                          uint64_t *offset)
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
    wend_site_coding_used(k, *module, *offset);
}

void wend_site_coding_used(WendSiteCoding *k, uint64_t module, uint64_t offset)
{
    if (module == 0)
        return;
    k->last_module = module;
    k->last_offset = offset;
}
