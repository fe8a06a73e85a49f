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

/* A frame of a stack, or a site that has one. */
typedef struct {
    uint32_t caller;
    uint32_t place; /* the number of its place: equal for equal modules and offsets */
} WendStackFrame;

/* What is learned of stacks. */
typedef struct {
    WendSideGuess ways[WEND_SIDE_GUESSES], lengths[WEND_SIDE_GUESSES], places[WEND_SIDE_GUESSES];
    RangeContext way_holds[WEND_SIDE_TRUST], length_holds[WEND_SIDE_TRUST];
    RangeContext place_holds[2][WEND_SIDE_TRUST], is_new[2];
    WendSideNumber way, distance, length, place;
    WendStackFrame last; /* the site that was described or used last */
    uint64_t sibling;    /* the place + 1 that was there before what is described next; 0: none */
} WendStackCoding;

/* What an encoder or a decoder has learned. It is large: allocate it. */
typedef struct {
    WendSideCodec elements;
    WendSideNumber streams, kind, id, birth, length;
    RangeContext is_cut;
    WendPlaceCoding sites, frames;
    WendStackCoding stacks;
} WendSiteCoding;

void site_coding_init(WendSiteCoding *k);
/* Each codes what is given or, with a decoder, returns what was coded. */
uint64_t site_coding_streams(WendSiteCoding *k, const RangeCoder *c, uint64_t n);
/* Begins a stream of *N elements; *CUT: the recorder had no memory for more. */
void site_coding_head(WendSiteCoding *k, const RangeCoder *c, WendSideHead *head, uint64_t *n,
                      bool *cut);
/* An element. False: it is damaged. */
bool site_coding_element(WendSiteCoding *k, const RangeCoder *c, WendSideElement *e);
/* Describes a site: the number of its module + 1, or 0 if it is in none, and its offset there. */
void site_coding_place(WendSiteCoding *k, const RangeCoder *c, uint64_t *module, uint64_t *offset);
/* The same for a frame of a stack, whose module is known. */
void site_coding_frame(WendSiteCoding *k, const RangeCoder *c, uint64_t *module, uint64_t *offset);
/* Tells that the site with that description was used again. */
void site_coding_used(WendSiteCoding *k, uint64_t module, uint64_t offset);

/* -- the stack of a site, which comes before its description -- */

/* What is known of frames: N of them, and how many places. */
typedef struct {
    const WendStackFrame *at;
    uint64_t n, n_places;
} WendStackFrames;

/* Codes where a stack leaves those before. *N frames are new. They are described next, from the
 * outermost one inwards: each is called from the one before, the first one from *CALLER. If there
 * are none, the site is called from there. False: it is damaged. */
bool stack_coding_callers(WendStackCoding *k, const RangeCoder *c, const WendStackFrames *frames,
                          uint64_t *caller, uint64_t *n);
/* Codes the number of the place of a frame or a site with that caller. If it is N_PLACES, the place
 * is new, and is described next. False: it is damaged. */
bool stack_coding_place(WendStackCoding *k, const RangeCoder *c, const WendStackFrames *frames,
                        uint64_t caller, bool is_site, uint64_t *place);
/* Tells that the site with that description was used. */
void stack_coding_used(WendStackCoding *k, const WendStackFrame *site);

#endif
