/* SPDX-License-Identifier: BSD-3-Clause */
/* cst.h: the call signature table of one sequence: shapes, signatures, terminals, request pools,
 * outcome streams, timing.
 *
 * A signature is a shape with its slot values. A terminal is a signature that has occurred;
 * terminals are numbered 0, 1, 2, … by first occurrence, shapes likewise. A signature that creates
 * requests gives a terminal for each number k of its pool (see below).
 *
 * A shape whose calls are mostly new ones becomes elastic: from then on one terminal stands for all
 * of its calls, and their slots go to a stream of values, as differences from its call before. It
 * does when its terminals have taken more bytes than a stream of all its calls would take, so that
 * neither costs more than twice what the better one does (ski rental). Who reads the part makes
 * terminals of them again (elastic.h), so nothing else knows of it. No GLib. NULL or false when
 * memory is short. */
#ifndef WEND_CST_H
#define WEND_CST_H

#include "base/buf.h"

typedef struct WendCst WendCst;

typedef struct {
    uint64_t count;
    double sum, sum2; /* seconds, of (value - shift) to stay exact */
    double min, max, shift;
} WendStat;

static inline void wend_stat_add(WendStat *s, double seconds)
{
    if (s->count++ == 0)
        s->shift = s->min = s->max = seconds;
    double d = seconds - s->shift;
    s->sum += d;
    s->sum2 += d * d;
    s->min = seconds < s->min ? seconds : s->min;
    s->max = seconds > s->max ? seconds : s->max;
}

/* interval: start minus the end of the sequence's previous call */
typedef struct {
    WendStat duration, interval;
} WendTimes;

/* As many terminals of a shape have times of their own. Where there are more, most are called once,
 * and what times say of them is noise: those that come later share theirs, and the merge adds the
 * first ones to them. */
enum { WEND_TIMED_APART = 32 };

/* One terminal. Pointers stay valid until the table is freed. */
typedef struct {
    uint32_t number; /* the terminal */
    uint32_t shape;  /* number of its shape */
    WendTimes *times;
} WendTerminalEntry;

WendCst *wend_cst_new(void);
void wend_cst_free(WendCst *t);

/* The terminal of the sequence's next call; a new one if its signature has not occurred. */
WendTerminalEntry *wend_cst_call(WendCst *t, const int64_t *shape, size_t n_shape,
                                 const int64_t *slots, size_t n_slots);
/* takes back the last one, which was this; none follows any more */
void wend_cst_call_undo(WendCst *t, const WendTerminalEntry *e);
/* Bytes that a shape's terminals, or pools, may take before it is looked at; set by tests and
 * benchmarks alone. */
extern size_t wend_cst_patience;
uint64_t wend_cst_elastic_calls(const WendCst *t); /* those that are values in a stream */

/* The terminal of a signature, whatever its shape; a new one if it has not occurred. For tables in
 * which no calls are counted. */
WendTerminalEntry *wend_cst_terminal(WendCst *t, const int64_t *shape, size_t n_shape,
                                     const int64_t *slots, size_t n_slots);

/* Signatures that create a request: shape and slots are given without the request's word, and
 * without what is not to tell pools apart. Takes the smallest free k of the signature's pool; if
 * (signature, k) is new it gets the next request number of the table. wend_cst_request returns a
 * pool key to hand back with wend_cst_release when the request has ended, and sets *number. The
 * caller then appends the request's word to the shape and calls wend_cst_call.
 *
 * ALIKE: the slots may be left out altogether. Where tags count the iterations each call would have
 * a pool, and with it a number and a shape of its own; so a shape with many pools, of which most
 * have had few requests, gets one for all of its calls from then on (wend_cst_patience). */
typedef struct {
    uint32_t signature, k;
} WendPoolKey;
bool wend_cst_request(WendCst *t, const int64_t *shape, size_t n_shape, const int64_t *slots,
                      size_t n_slots, bool alike, WendPoolKey *key, uint32_t *number);
void wend_cst_release(WendCst *t, WendPoolKey key);

/* Appends an entry (words as in docs/recording.md) to the outcome stream of a shape. Equal entries
 * in a row cost a count.
 * False: not recorded. */
bool wend_cst_outcome(WendCst *t, uint32_t shape, const int64_t *words, size_t n);
/* takes back what was appended last, to this shape; nothing is appended to it any more */
void wend_cst_outcome_undo(WendCst *t, uint32_t shape);

size_t wend_cst_memory(const WendCst *t); /* bytes held; walks the table */

/* A call that has not returned, as the table would have it: words of shape and slots. */
typedef struct {
    const int64_t *shape, *slots;
    size_t n_shape, n_slots;
    size_t number;  /* of its shape among those of such calls: 0, 1, … by first occurrence */
    uint64_t times; /* so many equal ones (of several threads in one callback) */
    uint64_t polls; /* before it; only the first may have some */
} WendUnfinished;

/* Writes shapes, terminals, outcomes and, if asked for, timing: the table of part.h. Calls that
 * have not returned (their shapes differ from those of the table) come behind, as terminals
 * wend_cst_terminals(t) and on. Recording may go on. */
void wend_cst_encode(const WendCst *t, bool timing, const WendUnfinished *unfinished,
                     size_t n_unfinished, WendBuf *out);
uint32_t wend_cst_terminals(const WendCst *t);

#endif
