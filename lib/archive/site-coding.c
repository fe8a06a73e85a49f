/* SPDX-License-Identifier: BSD-3-Clause */
/* site-coding.c: see site-coding.h. */
#include "site-coding.h"

#include <string.h>

static void init_stacks(WendStackCoding *k)
{
    WendSideNumber *const numbers[] = {&k->way, &k->distance, &k->length, &k->place};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        side_number_init(numbers[i]);
    range_contexts_init(k->way_holds, WEND_SIDE_TRUST);
    range_contexts_init(k->length_holds, WEND_SIDE_TRUST);
    range_contexts_init(k->place_holds[0], 2 * WEND_SIDE_TRUST);
    range_contexts_init(k->is_new, 2);
    k->last.caller = WEND_CALLER_NONE;
}

void site_coding_init(WendSiteCoding *k)
{
    WendSideNumber *const numbers[] = {&k->streams, &k->kind, &k->id, &k->birth, &k->length};
    WendPlaceCoding *const places[] = {&k->sites, &k->frames};
    memset(k, 0, sizeof *k);
    side_codec_init(&k->elements, side_stream_kind(WEND_SIDE_SITES));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        side_number_init(numbers[i]);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        side_number_init(&places[i]->module);
        side_number_init(&places[i]->near);
        side_number_init(&places[i]->far);
        range_contexts_init(&places[i]->is_near, 1);
    }
    range_contexts_init(&k->is_cut, 1);
    init_stacks(&k->stacks);
}

uint64_t site_coding_streams(WendSiteCoding *k, const RangeCoder *c, uint64_t n)
{
    return side_number(c, &k->streams, n);
}

void site_coding_head(WendSiteCoding *k, const RangeCoder *c, WendSideHead *head, uint64_t *n,
                      bool *cut)
{
    head->kind = side_number(c, &k->kind, head->kind);
    head->id = buf_unzigzag(side_number(c, &k->id, buf_zigzag(head->id)));
    head->birth = side_number(c, &k->birth, head->birth);
    *n = side_number(c, &k->length, *n);
    *cut = range_coder_bit(c, *cut, &k->is_cut);
    side_codec_again(&k->elements);
}

bool site_coding_element(WendSiteCoding *k, const RangeCoder *c, WendSideElement *e)
{
    if (c->decoder)
        return side_codec_decode(&k->elements, c->decoder, e);
    side_codec_encode(&k->elements, c->encoder, e);
    return true;
}

/* Calls of one function of the program are near each other, and come in the order of their
 * addresses. */
static void code_place(WendPlaceCoding *k, const RangeCoder *c, uint64_t *module, uint64_t *offset)
{
    enum { NEAR = 1 << 9 };
    *module = side_number(c, &k->module, *module);
    if (*module == 0)
        return;
    uint64_t from = *module == k->last_module ? k->last_offset : 0, distance = *offset - from;
    if (range_coder_bit(c, distance < NEAR, &k->is_near))
        distance = side_number(c, &k->near, distance);
    else
        distance = (uint64_t)buf_unzigzag(side_number(c, &k->far, buf_zigzag((int64_t)distance)));
    *offset = from + distance;
    k->last_module = *module;
    k->last_offset = *offset;
}

void site_coding_place(WendSiteCoding *k, const RangeCoder *c, uint64_t *module, uint64_t *offset)
{
    code_place(&k->sites, c, module, offset);
}

void site_coding_frame(WendSiteCoding *k, const RangeCoder *c, uint64_t *module, uint64_t *offset)
{
    code_place(&k->frames, c, module, offset);
}

void site_coding_used(WendSiteCoding *k, uint64_t module, uint64_t offset)
{
    if (module == 0)
        return;
    k->sites.last_module = module;
    k->sites.last_offset = offset;
}

/* -- stacks -- */

static const WendStackFrame *frame_of(const WendStackFrames *frames, uint64_t caller)
{
    return caller >= WEND_CALLER_FRAME && caller - WEND_CALLER_FRAME < frames->n
               ? &frames->at[caller - WEND_CALLER_FRAME]
               : NULL;
}

/* A number for the place of CALLER. */
static uint64_t place_of(const WendStackFrames *frames, uint64_t caller)
{
    const WendStackFrame *f = frame_of(frames, caller);
    return f ? f->place + (uint64_t)WEND_CALLER_FRAME : caller;
}

/* How many steps + 1 outwards from the caller of the last site CALLER is; 0: it is not there. */
static uint64_t way_to(const WendStackCoding *k, const WendStackFrames *frames, uint64_t caller)
{
    uint64_t at = k->last.caller, n = 1;
    for (; at != caller; n++) {
        const WendStackFrame *f = frame_of(frames, at);
        if (!f)
            return 0;
        at = f->caller;
    }
    return n;
}

/* Goes so many steps, and notes the place from which the last one began. */
static bool go_way(WendStackCoding *k, const WendStackFrames *frames, uint64_t way,
                   uint64_t *caller)
{
    *caller = k->last.caller;
    k->sibling = k->last.place + UINT64_C(1);
    for (; way > 1; way--) {
        const WendStackFrame *f = frame_of(frames, *caller);
        if (!f)
            return false;
        k->sibling = f->place + UINT64_C(1);
        *caller = f->caller;
    }
    return true;
}

bool stack_coding_callers(WendStackCoding *k, const RangeCoder *c, const WendStackFrames *frames,
                          uint64_t *caller, uint64_t *n)
{
    uint64_t all = frames->n + WEND_CALLER_FRAME, way = c->decoder ? 0 : way_to(k, frames, *caller);
    uint64_t key = place_of(frames, k->last.caller);
    WendSideGuess *guess = &k->ways[side_codec_hash(key, k->last.place, WEND_SIDE_GUESSES)];
    if (!side_guess_holds(c, guess, k->way_holds, &way))
        way = side_number(c, &k->way, way);
    side_guess_note(guess, way);
    k->sibling = 0;
    if (way == 0) {
        uint64_t distance = side_number(c, &k->distance, all - *caller);
        if (distance == 0 || distance > all)
            return false;
        *caller = all - distance;
    } else if (!go_way(k, frames, way, caller)) {
        return false;
    }
    guess = &k->lengths[side_codec_hash(place_of(frames, *caller), k->sibling, WEND_SIDE_GUESSES)];
    if (!side_guess_holds(c, guess, k->length_holds, n))
        *n = side_number(c, &k->length, *n);
    side_guess_note(guess, *n);
    return *n <= WEND_CALLERS_MOST;
}

bool stack_coding_place(WendStackCoding *k, const RangeCoder *c, const WendStackFrames *frames,
                        uint64_t caller, bool is_site, uint64_t *place)
{
    uint64_t key = 2 * place_of(frames, caller) + is_site;
    WendSideGuess *guess = &k->places[side_codec_hash(key, k->sibling, WEND_SIDE_GUESSES)];
    if (!side_guess_holds(c, guess, k->place_holds[is_site], place)) {
        if (range_coder_bit(c, *place == frames->n_places, &k->is_new[is_site]))
            *place = frames->n_places;
        else
            *place = side_number(c, &k->place, *place);
    }
    side_guess_note(guess, *place);
    k->sibling = 0;
    return *place <= frames->n_places;
}

void stack_coding_used(WendStackCoding *k, const WendStackFrame *site)
{
    k->last = *site;
}
