/* SPDX-License-Identifier: BSD-3-Clause */
/* site-coding.h: the streams of sites of several ranks as one row of bits (docs/format.md, "Call
 * sites"). They resemble each other, so one coder goes through all of them. A site is described
 * where it occurs first. No GLib. */
#ifndef WEND_SITE_CODING_H
#define WEND_SITE_CODING_H

#include "record/side-stream.h"

/* What an encoder or a decoder has learned. It is large: allocate it. */
typedef struct {
    WendSideCodec elements;
    WendSideNumber streams, kind, id, birth, length, module, near, far;
    RangeContext is_cut, is_near;
    uint64_t last_module;
    uint64_t last_offset; /* of the site that was described or used last */
} WendSiteCoding;

void wend_site_coding_init(WendSiteCoding *k);
/* Each codes what is given or, with a decoder, returns what was coded. */
uint64_t wend_site_code_streams(WendSiteCoding *k, const RangeCoder *c, uint64_t n);
/* Begins a stream of *N elements; *CUT: the recorder had no memory for more. */
void wend_site_code_head(WendSiteCoding *k, const RangeCoder *c, WendSideHead *head, uint64_t *n,
                         bool *cut);
/* An element. False: it is damaged. */
bool wend_site_code_element(WendSiteCoding *k, const RangeCoder *c, WendSideElement *e);
/* Describes a site: the number of its module + 1, or 0 if it is in none, and its offset there. */
void wend_site_code_place(WendSiteCoding *k, const RangeCoder *c, uint64_t *module,
                          uint64_t *offset);
/* Tells that the site with that description was used again. */
void wend_site_coding_used(WendSiteCoding *k, uint64_t module, uint64_t offset);

#endif
