/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h: one stream of outcomes: entries of words. Equal ones in a row are kept as one with a
 * count: a run. So are entries whose words go up in equal steps, from the 17th of a row on: a
 * steps, as who sends to a root that asks all in turn. Runs that come again in some order are kept
 * as a grammar of them, where that takes less. No GLib.
 *
 * Bytes: never more than 1.5 times those of the runs, beside what arrays that double have left, and
 * a copy of the grammar while it is written down. A stream that repeats itself from some entry on
 * takes no more from some later one on. */
#ifndef WEND_STREAM_H
#define WEND_STREAM_H

#include "base/buf.h"

typedef struct {
    uint64_t entries; /* in all */
    /* of the last entry, whose words are here and in none of what follows; 1 if it is an arithmetic
     * run's */
    uint64_t repeats;
    /* 0: it is none; else how many entries the arithmetic run has so far, of which the last entry
     * is the first */
    uint64_t count;
    unsigned climb; /* how many entries in a row have gone up in these steps */
    bool flat;      /* no arithmetic runs */
    int64_t *words; /* room for five entries: stream.c */
    size_t n, cap;
    WendBuf runs;   /* what is before it, as part.h has it */
    size_t settled; /* so many bytes of it stay; runs follow, */
    size_t tried;   /* and up to here they have been tried as a repetition, in vain */
    /* what is behind these runs and still grows; NULL: nothing */
    struct wend_stream_repetition *repetition;
} WendStream; /* {0} is empty, {.flat = true} as well */

/* false: no memory, nothing added */
bool wend_stream_add(WendStream *s, const int64_t *words, size_t n);
/* likewise, to a flat one */
bool wend_stream_add_run(WendStream *s, const int64_t *words, size_t n, uint64_t repeats);
/* takes back what was added last; nothing is added any more */
void wend_stream_undo(WendStream *s);
/* a piece of a stream that was not recorded as one */
void wend_stream_put_run(WendBuf *out, const int64_t *words, size_t n, uint64_t repeats);
void wend_stream_encode(const WendStream *s, WendBuf *out); /* the stream of part.h */
size_t wend_stream_memory(const WendStream *s);
void wend_stream_clear(WendStream *s);

#endif
