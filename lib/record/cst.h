/* SPDX-License-Identifier: BSD-3-Clause */
/* cst.h: the call signature table of one sequence: shapes, signatures, terminals, request pools,
 * outcome streams, timing.
 *
 * A signature is a shape with its slot values. A terminal is a signature that has occurred;
 * terminals are numbered 0, 1, 2, … by first occurrence, shapes likewise. A signature that creates
 * requests gives a terminal for each number k of its pool (see below).
 *
 * A shape becomes elastic if most of its calls are new signatures. From then on one terminal stands
 * for all of its calls, and their slots go to a stream of values, as differences from the shape's
 * previous call. It becomes elastic when its terminals have taken more bytes than a stream of all
 * its calls would take. So it takes at most twice the bytes of the better form (ski rental). The
 * reader of a part turns the values into terminals again (elastic.h); no other code has elastic
 * shapes. No GLib. Functions return NULL or false when memory is short. */
#ifndef WEND_CST_H
#define WEND_CST_H

#include "base/buf.h"

typedef struct WendCst WendCst;

typedef struct {
    uint64_t count;
    double sum, sum2; /* of (value - shift), which keeps them exact; seconds */
    double min, max, shift;
} WendStat;

static inline void stat_add(WendStat *s, double seconds)
{
    if (s->count++ == 0)
        s->shift = s->min = s->max = seconds;
    double d = seconds - s->shift;
    s->sum += d;
    s->sum2 += d * d;
    s->min = seconds < s->min ? seconds : s->min;
    s->max = seconds > s->max ? seconds : s->max;
}

/* interval: from the end of the sequence's previous call to the start of this one */
typedef struct {
    WendStat duration, interval;
} WendTimes;

/* The number of terminals of a shape that have times of their own. Later terminals share one, to
 * which the merge adds these. A shape with more terminals calls most of them once, so their own
 * times would be noise. */
enum { WEND_TIMED_APART = 32 };

/* One terminal. Pointers stay valid until the table is freed. */
typedef struct {
    uint32_t number; /* the terminal */
    uint32_t shape;  /* number of its shape */
    WendTimes *times;
    bool elastic;      /* it stands for all signatures of its shape */
    uint64_t marks[2]; /* the caller's; 0 at first */
} WendTerminalEntry;

WendCst *cst_new(void);
void cst_free(WendCst *t);

/* The terminal of the sequence's next call. A signature that has not occurred gets a new one. */
WendTerminalEntry *cst_call(WendCst *t, const int64_t *shape, size_t n_shape, const int64_t *slots,
                            size_t n_slots);
/* Takes back the last cst_call, which returned E. No calls may follow. */
void cst_call_undo(WendCst *t, const WendTerminalEntry *e);
/* Bytes that the terminals or pools of a shape may take before it can become elastic or alike. Only
 * tests and benchmarks change it. */
extern size_t cst_patience;
uint64_t cst_elastic_calls(const WendCst *t); /* calls that are values in a stream */

/* The terminal of a signature, also of an elastic shape. A signature that has not occurred gets a
 * new one. For tables that count no calls. */
WendTerminalEntry *cst_terminal(WendCst *t, const int64_t *shape, size_t n_shape,
                                const int64_t *slots, size_t n_slots);

/* A request from the pool of a signature that creates one. Shape and slots are given without the
 * request's word, and without words that do not distinguish pools. Takes the smallest free k of the
 * pool; a new (signature, k) gets the next request number of the table. Sets *NUMBER to the number
 * and *KEY, which the caller hands back with cst_release when the request has ended. The
 * caller appends the request's word to the shape and calls cst_call. False: no memory.
 *
 * ALIKE: the slots need not distinguish pools. If a tag counts the iterations, each call would have
 * a pool, a number and a shape of its own. So a shape with many pools, most of which have had few
 * requests, has one pool for all of its calls from then on (cst_patience). */
typedef struct {
    uint32_t signature, k;
} WendPoolKey;
bool cst_request(WendCst *t, const int64_t *shape, size_t n_shape, const int64_t *slots,
                 size_t n_slots, bool alike, WendPoolKey *key, uint32_t *number);
/* Lets calls of another signature, too, take their requests from KEY's pool from then on. Without
 * memory for that, nothing changes. */
void cst_share_pool(WendCst *t, const int64_t *shape, size_t n_shape, const int64_t *slots,
                    size_t n_slots, WendPoolKey key);
void cst_release(WendCst *t, WendPoolKey key);

/* Appends an entry (words as in docs/recording.md) to the outcome stream of a shape. Equal
 * consecutive entries are one with a count. False: no memory, nothing appended. */
bool cst_outcome(WendCst *t, uint32_t shape, const int64_t *words, size_t n);
/* Takes back the entry that was appended last, which was to this shape. None may follow for it. */
void cst_outcome_undo(WendCst *t, uint32_t shape);

size_t cst_memory(const WendCst *t); /* bytes held; walks the table */

/* The words of a call that has not returned. */
typedef struct {
    const int64_t *shape, *slots;
    size_t n_shape, n_slots;
    size_t number;  /* of its shape among the shapes of such calls, by first occurrence */
    uint64_t times; /* the number of equal calls (of several threads in one callback) */
    uint64_t polls; /* unsuccessful polls before it; 0 for all but the first */
} WendUnfinished;

/* Appends the table of part.h: shapes, terminals, outcomes and, if TIMING, the times. Calls that
 * have not returned become terminals cst_terminals(t) and up; their shapes differ from those
 * of the table. The table is unchanged, and recording may go on. */
void cst_encode(const WendCst *t, bool timing, const WendUnfinished *unfinished,
                size_t n_unfinished, WendBuf *out);
uint32_t cst_terminals(const WendCst *t);

/* A sketch of the shapes whose calls have slots: sets a bit for about one of ONE_OF of them, the
 * same bit in all processes. ONE_OF is a power of two. */
enum { WEND_SKETCH_WORDS = 1 << 10 };
void cst_sketch(const WendCst *t, uint64_t one_of, uint64_t bits[WEND_SKETCH_WORDS]);

#endif
