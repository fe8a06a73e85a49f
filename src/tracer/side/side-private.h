/* SPDX-License-Identifier: BSD-3-Clause */
/* side-private.h: what producers and consumer of side streams share. */
#ifndef WEND_SIDE_PRIVATE_H
#define WEND_SIDE_PRIVATE_H

#include "side-streams.h"

enum { SIDE_CHUNK_BYTES = 64 << 10, SIDE_CHUNK_WORDS = SIDE_CHUNK_BYTES / 8 - 4 };

/* Elements as the producer leaves them: a head word, then the numbers or bytes. */
typedef struct SideChunk {
    struct SideChunk *_Atomic next; /* not NULL: the chunk is full */
    uint64_t number;                /* of the chunks of its stream */
    _Atomic uint32_t used;          /* words */
    uint64_t words[SIDE_CHUNK_WORDS];
} SideChunk;

extern SideStream *_Atomic side_streams; /* all streams of the process */

/* A chunk that the consumer has coded, for any stream. NULL: there is none. */
SideChunk *side_chunk_spare(void);
/* There is a full chunk. */
void side_wake(void);

static inline uint64_t side_word(uint64_t step, unsigned code, unsigned sub, size_t bytes)
{
    return (step < UINT32_MAX ? step : UINT32_MAX) << 32 | (uint64_t)bytes << 16 | sub << 8 | code;
}

#endif
