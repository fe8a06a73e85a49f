/* stream.h: one stream of outcomes: entries of words, equal ones in a row kept as one with a count. No GLib. */
#ifndef WEND_STREAM_H
#define WEND_STREAM_H

#include "buf.h"

typedef struct {
    uint64_t entries;  /* in all */
    uint64_t repeats;  /* of the last entry, whose words are here and not yet in runs */
    int64_t *last;
    size_t n, cap;
    WendBuf runs;      /* the runs before it, as part.h has them */
} WendStream; /* {0} is empty */

bool wend_stream_add(WendStream *s, const int64_t *words, size_t n); /* false: no memory, nothing added */
void wend_stream_undo(WendStream *s);                                /* takes back what was added last; nothing is added any more */
void wend_stream_encode(const WendStream *s, WendBuf *out);          /* the stream of part.h */
size_t wend_stream_memory(const WendStream *s);
void wend_stream_clear(WendStream *s);

#endif
