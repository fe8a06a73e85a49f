/* SPDX-License-Identifier: BSD-3-Clause */
/* side-stream.h: the side streams of a rank as bytes (docs/format.md, "Side streams").
 *
 * member := n stream^n                     the streams of one kind, of one rank
 * stream := unsigned(kind of its sequence) signed(id: thread number or function word)
 *           unsigned(birth) block([block(table)] row^many)      the table, if the kind has one
 * row    := unsigned(elements, at least 1) block(coded elements)
 *           | unsigned(0) block()              the last one, if the recorder had no memory for more
 *
 * What was learned from one row serves the next one. So a rank whose run dies has all rows that are
 * complete. No GLib. */
#ifndef WEND_SIDE_STREAM_H
#define WEND_SIDE_STREAM_H

#include "side-codec.h"

/* The kinds, by number. */
typedef enum {
    WEND_SIDE_VALUES,  /* values.h */
    WEND_SIDE_RESULTS, /* results.h: results of one-sided operations, and their turns */
    WEND_SIDE_LOCKS,   /* results.h: the order of locks */
    WEND_SIDE_TIMES,   /* lib/times/durations.h */
    WEND_SIDE_SITES,   /* site-guesses.h */
    WEND_SIDE_STACKS,  /* likewise: sites with their callers, instead of these */
    WEND_SIDE_KINDS
} WendSideKindNumber;
const WendSideKind *side_stream_kind(WendSideKindNumber number);

typedef struct {
    uint64_t kind; /* enum sequence_kind */
    int64_t id;
    /* Threads: the n-th one that the application created; 0: the initial thread. It identifies a
     * thread also before the first call of MPI, which gives the number 0. */
    uint64_t birth;
} WendSideHead;

void side_stream_put_head(WendBuf *out, const WendSideHead *head);

/* Reads a stream, element by element. It is large: allocate it. */
typedef struct {
    WendSideHead head;
    WendCursor table; /* of a kind that has one */
    WendCursor rows;
    uint64_t left; /* elements of the row at hand */
    WendCursor row;
    RangeDecoder decoder;
    WendSideCodec codec;
    WendSideElement element;
    bool failed; /* the stream is damaged */
    bool cut;    /* the recorder had no memory for more */
} WendSideReader;

/* The next stream of the member at C, which stays where its bytes are. False: the cursor has
 * failed. The member begins with cursor_count(c, WEND_SIDE_STREAM_LEAST), the number of
 * streams. */
enum { WEND_SIDE_STREAM_LEAST = 4 };
bool side_stream_read(WendCursor *c, WendSideHead *head, WendCursor *rows);
void side_reader_open(WendSideReader *r, WendSideKindNumber kind, const WendSideHead *head,
                      WendCursor rows);
/* The next element, which belongs to the reader and is valid until the next call. NULL: the end, or
 * the stream is damaged from here on. */
const WendSideElement *side_reader_next(WendSideReader *r);

#endif
