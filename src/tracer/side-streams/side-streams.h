/* SPDX-License-Identifier: BSD-3-Clause */
/* side-streams.h: streams that lie beside the calls of a sequence (docs/side-streams.md, "Side
 * streams").
 *
 * A thread appends elements to the chunk at hand: a few stores and no lock. A full chunk goes to
 * a thread of Wend's own, which codes it (side-codec.h). There is one producer for each stream,
 * and one consumer for all. The producer never waits: if the consumer is behind, chunks queue.
 * They count as the recorder's memory, of which side streams take half at most; a stream that
 * would need more ends there, and all else goes on. Everything here takes memory from the kernel
 * alone, so a signal handler may append.
 *
 * This header is the interface of the folder. The kinds are the values of wend trace --values
 * (process-values.h), the times of wend trace --times (call-times.c), from where the calls come
 * (site-recording.c), and the results and the order of one-sided communication (onesided.h). */
#ifndef WEND_SIDE_STREAMS_H
#define WEND_SIDE_STREAMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/times/clock-points.h"
#include "lib/record/side-stream.h"

struct CallSequence;
struct SideChunk;

typedef struct SideStream {
    struct SideStream *next;
    WendSideKindNumber kind;
    /* The sequence. NULL: a thread that has not called MPI. */
    const struct CallSequence *_Atomic sequence;
    uint32_t birth; /* WendSideHead; 0 for a callback */
    /* between side_stream_enter and side_stream_leave: its thread uses the stream */
    bool entered;
    uint32_t chunk_words; /* words after which a chunk is full */
    uint64_t steps;       /* of the sequence at the last element */
    /* memory was short: nothing more is appended */
    _Atomic bool ended;
    struct SideChunk *_Atomic filling; /* the producer's */
    WendBuf table;                     /* likewise, of a kind that has one */
    /* The consumer's. */
    struct SideChunk *first; /* the oldest that is not coded */
    _Atomic uint64_t coded;  /* how many are */
    void *learned;           /* side-private.h: SideCoding; NULL: nothing is coded yet */
    WendBuf rows;
    bool lost; /* there was no memory for a row */
    /* Memory for learned and rows, which the producer takes before its first chunk is full. */
    void *reserved, *reserved_rows;
    /* of those in the part that is being made, the next one of its kind */
    struct SideStream *behind;
    /* For a replay; NULL: none so far. */
    WendSideReader *reader;
    const WendSideElement *due; /* the next element; NULL: not read yet */
    bool over;                  /* nothing more is replayed */
} SideStream;

/* The stream of the calling thread or, while it runs a callback, of that callback; it is made at
 * the first use. NULL: no memory, or the thread is not the application's. */
SideStream *side_stream(WendSideKindNumber kind);
/* Takes the stream for its thread. False: the thread is there already, and a signal handler has
 * interrupted it. */
bool side_stream_enter(SideStream *s);
void side_stream_leave(SideStream *s);

/* The stream of the sequence Q, which the caller has to itself, of a kind that has no other
 * streams; it is made at the first use. It needs no side_stream_enter. NULL as above. */
SideStream *side_stream_of(struct CallSequence *q, WendSideKindNumber kind);

/* Appends an element: BYTES bytes at DATA, which are numbers or a double if the code has numbers.
 * The stream is entered. */
void side_stream_append(SideStream *s, unsigned code, unsigned sub, const void *data, size_t bytes);
/* The same with a step, for kinds that count other things than calls and polls. */
void side_stream_append_after(SideStream *s, uint64_t step, unsigned code, unsigned sub,
                              const void *data, size_t bytes);
/* Nothing more is appended. Readers learn that the stream was cut. */
void side_stream_end(SideStream *s);
/* Whether that happened to a stream of that kind, of any thread, or there was no memory for one. */
bool side_stream_was_cut(WendSideKindNumber kind);

/* -- for a replay: what the stream has, which is entered -- */

/* The element that comes next. It stays that until the caller sets s->due to NULL. NULL: there is
 * none. */
const WendSideElement *side_stream_next(SideStream *s);
/* The same, if it has this code and sub-code. Else the program departs from the recording, and one
 * line says so; from there on there is none. */
const WendSideElement *side_stream_due(SideStream *s, unsigned code, unsigned sub);

/* Starts the thread that codes. Stops it after all threads of the application have made their last
 * call that is recorded. */
void side_stream_open(void);
void side_stream_close(void);

/* A call that has not returned. */
typedef struct {
    const struct CallSequence *sequence;
    const struct ActiveCall *call;
} SideUnfinished;

/* Appends to OUT the side streams of this rank, as a part has them (part.h); if there are none,
 * nothing. CALLS are the N calls that the part has as unfinished. Their sites are in the part
 * alone, since these calls may return yet. Returns whether some become members of their own in the
 * archive (WendSideKind). */
bool side_stream_put(WendBuf *out, const SideUnfinished *calls, size_t n);

/* Memory from the kernel, zeroed, which counts as the recorder's. NULL: there is none. */
void *side_stream_memory(size_t bytes);

/* -- call-times.c -- */

/* The time of every call: wend trace --times. The kind of side stream whose elements are one for
 * each call and unsuccessful poll of the sequence, pseudo-calls included. */

/* When the library is loaded: from the first call on, times are recorded, if they are to be. */
void call_times_open(void);
/* When MPI has started. */
void call_times_after_start(void);
/* Whether times are recorded. */
bool call_times_on(void);

/* When the clock of this rank was compared with that of rank 0, FIRST, which is on another host.
 * From then on the times in a part have a correction. The first and the last time count. */
void call_times_compared(const WendClockPoint *point, const WendClock *first);

/* -- site-recording.c -- */

/* The side stream of call sites: from where in the application each call comes
 * (docs/side-streams.md, "Call sites"). */

/* Switches sites on, unless a setting says otherwise. */
void site_recording_open(void);

#endif
