/* stream.h: one stream of outcomes: entries of words. Equal ones in a row are kept as one with a count, and runs that come again in some order as a grammar of them,
 * where that takes less. No GLib.
 *
 * Bytes: never more than 1.5 times those of the runs, beside what arrays that double have left, and a copy of the grammar while it is written down. A stream that repeats itself
 * from some entry on takes no more from some later one on. */
#ifndef WEND_STREAM_H
#define WEND_STREAM_H

#include "buf.h"

typedef struct {
    uint64_t entries;  /* in all */
    uint64_t repeats;  /* of the last entry, whose words are here and in none of what follows */
    int64_t *last;
    size_t n, cap;
    WendBuf pieces;    /* what is before it, as part.h has it */
    size_t settled;    /* so many bytes of it stay; runs follow, */
    size_t tried;      /* and up to here they have been tried as a repetition, in vain */
    struct wend_stream_repetition *repetition; /* what is behind these pieces and still grows; NULL: nothing */
} WendStream; /* {0} is empty */

bool wend_stream_add(WendStream *s, const int64_t *words, size_t n); /* false: no memory, nothing added */
void wend_stream_undo(WendStream *s);                                /* takes back what was added last; nothing is added any more */
void wend_stream_encode(const WendStream *s, WendBuf *out);          /* the stream of part.h */
size_t wend_stream_memory(const WendStream *s);
void wend_stream_clear(WendStream *s);

#endif
