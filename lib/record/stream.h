/* SPDX-License-Identifier: BSD-3-Clause */
/* stream.h: one stream of outcomes, which are entries of words. No GLib.
 *
 * Equal consecutive entries are one with a count, a run. From the 17th entry on, entries whose
 * words go up in equal steps are an arithmetic run, such as the sources of a root that receives
 * from all ranks, one after the other. Runs that repeat in some order are kept as a grammar of
 * runs, if that takes fewer bytes.
 *
 * A stream takes at most 1.5 times the bytes of its runs, the spare capacity of its arrays, and a
 * copy of the grammar during the encoding. If a stream repeats itself from some entry on, its size
 * stops growing. */
#ifndef WEND_STREAM_H
#define WEND_STREAM_H

#include "base/buf.h"

typedef struct {
    uint64_t entries; /* in all */
    /* of the last entry, whose words are only here; 1 if it begins an arithmetic run */
    uint64_t repeats;
    /* the entries so far of the arithmetic run that the last entry begins; 0: it begins none */
    uint64_t count;
    unsigned climb; /* the number of last entries that went up in these steps */
    bool flat;      /* no arithmetic runs */
    int64_t *words; /* room for five entries: stream.c */
    size_t n, cap;
    WendBuf runs;   /* the entries before it, as in part.h */
    size_t settled; /* bytes of RUNS that do not change any more; runs follow, */
    size_t tried;   /* which up to this byte were found to be no repetition */
    /* the repetition behind these runs, which still grows, or NULL */
    struct stream_repetition *repetition;
} WendStream; /* {0} is empty, {.flat = true} as well */

/* Appends an entry. False: no memory, and the stream is unchanged. */
bool stream_add(WendStream *s, const int64_t *words, size_t n);
/* Appends REPEATS equal entries to a flat stream. False: no memory, and it is unchanged. */
bool stream_add_run(WendStream *s, const int64_t *words, size_t n, uint64_t repeats);
/* Takes back the last entry. None may be added afterwards. */
void stream_undo(WendStream *s);
/* Appends one run to the encoding of a stream, without a WendStream. */
void stream_put_run(WendBuf *out, const int64_t *words, size_t n, uint64_t repeats);
void stream_encode(const WendStream *s, WendBuf *out); /* the stream of part.h */
size_t stream_memory(const WendStream *s);
void stream_clear(WendStream *s);

#endif
