/* SPDX-License-Identifier: BSD-3-Clause */
/* side-private.h: what producers and consumer of side streams share. */
#ifndef WEND_SIDE_PRIVATE_H
#define WEND_SIDE_PRIVATE_H

#include "side-streams.h"

enum {
    SIDE_CHUNK_BYTES = 64 << 10,
    SIDE_CHUNK_WORDS = SIDE_CHUNK_BYTES / 8 - 4,
    SIDE_SYMBOL_WORDS = SIDE_CHUNK_WORDS / 4 /* symbols are few: so less memory is touched */
};

/* Elements as the producer leaves them: a head word, then the numbers or bytes. */
typedef struct SideChunk {
    struct SideChunk *_Atomic next; /* not NULL: the chunk is full */
    uint64_t number;                /* of the chunks of its stream */
    _Atomic uint32_t used;          /* words */
    uint64_t words[SIDE_CHUNK_WORDS];
} SideChunk;

extern SideStream *_Atomic side_streams; /* all streams of the process */

/* A chunk that the consumer has coded, for any stream. NULL: there is none. */
SideChunk *side_chunk_take_unused(void);
/* A stream of a callback's or a thread's sequence, which may be NULL. NULL: memory is short. */
SideStream *side_stream_new(WendSideKindNumber kind, const struct CallSequence *sequence,
                            uint32_t birth);

/* Gives the full chunk to the consumer, and begins another one. NULL: memory is short, and the
 * stream has ended. */
SideChunk *side_next_chunk(SideStream *s, SideChunk *full);

/* A WendResize over the kernel's memory, which counts as the recorder's. */
void *side_resize(void *p, size_t old, size_t n);

/* Takes the memory with which the consumer begins, at the first full chunk: queued chunks could
 * leave it none. False: memory is short. */
bool side_reserve(SideStream *s);

/* How the chunks of a kind are coded. What was learned has no pointers, so it can be copied. */
typedef struct {
    size_t (*memory)(void); /* of what is learned */
    void (*init)(void *learned, WendSideKindNumber kind);
    void (*copy)(void *learned, const void *from);
    /* Codes USED words of a chunk. Returns the number of elements. */
    uint64_t (*code)(void *learned, const uint64_t *words, uint32_t used, WendBuf *out);
    void (*head)(WendBuf *out); /* what comes before the rows; NULL: nothing */
} SideCoding;
extern const SideCoding side_coding_of_times; /* call-times.c */

/* For a producer that has filled a chunk: codes the oldest one of S, if more are queued than a
 * stream of its kind may queue. So a stream whose thread does nothing but what is recorded takes no
 * more memory, whoever has the processors. It waits for whoever codes at the time, for one
 * chunk. */
void side_help(SideStream *s);

/* For the part of a rank: sets *SITE to the number of the site of C, a call of Q that has not
 * returned, in Q's stream. If the stream does not have the site, appends it to TABLE, which is
 * behind the stream's. Nothing of Q changes, so it may be that of another thread, while the watcher
 * holds the recorder. Makes system calls only. Returns false if the site cannot be told. NULL:
 * sites are not recorded. */
struct ActiveCall;
typedef bool SideUnfinishedSite(const struct CallSequence *q, const struct ActiveCall *c,
                                WendBuf *table, int64_t *site);
extern SideUnfinishedSite *side_unfinished_site;

/* There is a full chunk. */
void side_wake(void);

static inline uint64_t side_word(uint64_t step, unsigned code, unsigned sub, size_t bytes)
{
    return (step < UINT32_MAX ? step : UINT32_MAX) << 32 | (uint64_t)bytes << 16 | sub << 8 | code;
}

#endif
