/* SPDX-License-Identifier: BSD-3-Clause */
/* site-coding.h: the streams of sites of several ranks as one row of bits (docs/format.md, "Call
 * sites"). They resemble each other, so one coder goes through all of them. A site is described
 * where it occurs first. No GLib. */
#ifndef WEND_SITE_CODING_H
#define WEND_SITE_CODING_H

#include "record/side-stream.h"

/* What is learned of places in files of code. */
typedef struct {
    WendSideNumber module, near, far;
    RangeContext is_near;
    uint64_t last_module, last_offset; /* of the one that was described or used last */
} WendPlaceCoding;

/* Callers, as numbers: none, since the function is the outermost one of the stack; not known; or
 * frame N, which is WEND_CALLER_FRAME + N. A frame is below WEND_CALLERS_MOST others at most. */
enum {
    WEND_CALLER_NONE,
    WEND_CALLER_UNKNOWN,
    WEND_CALLER_FRAME,
    WEND_CALLERS_MOST = 1 << 13,
    WEND_FRAMES_MOST = 1 << 26 /* of a recording */
};

/* What an encoder or a decoder has learned. It is large: allocate it. */
typedef struct {
    WendSideCodec elements;
    WendSideNumber streams, kind, id, birth, length;
    RangeContext is_cut;
    WendPlaceCoding sites, frames;
    /* Of recordings with stacks. */
    WendSideNumber up, distance, new_frames;
    RangeContext is_above;
    uint64_t last_caller; /* of the site that was described or used last */
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
/* The same for a frame of a stack, whose module is known. */
void wend_site_code_frame(WendSiteCoding *k, const RangeCoder *c, uint64_t *module,
                          uint64_t *offset);
/* Comes before the description of a site with a stack. *N frames are described next, from the
 * outermost one inwards. Each is called from the one before, the first one from *CALLER; if there
 * are none, the site is. CALLERS has the callers of the N_FRAMES frames so far. False: it is
 * damaged. */
bool wend_site_code_callers(WendSiteCoding *k, const RangeCoder *c, const uint32_t *callers,
                            uint64_t n_frames, uint64_t *caller, uint64_t *n);
/* Tells that the site with that description was used again. */
void wend_site_coding_used(WendSiteCoding *k, uint64_t module, uint64_t offset, uint64_t caller);

#endif
