/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-times.h: how long each rank was in each function.
 *
 * A time is kept as a code of RANK_TIMES_BITS bits (timing_code), which is off by at most 3 %. Up
 * to RANK_TIMES_EACH ranks in the world there is one for each rank. Of more ranks there is the
 * number of ranks with each code, and a rank with the least and one with the most. */
#ifndef WEND_RANK_TIMES_H
#define WEND_RANK_TIMES_H

#include "base/buf.h"
#include "base/containers.h"

enum { RANK_TIMES_BITS = 5, RANK_TIMES_EACH = 1024 };

/* KEY, VALUE: a rank and its code; or, of more than RANK_TIMES_EACH ranks, a code and the number of
 * ranks that have it. */
typedef struct {
    uint32_t key, value;
} RankTime;

typedef struct {
    uint32_t function;         /* index in this build */
    Vector *times;             /* RankTime, ascending keys */
    uint32_t fastest, slowest; /* of more than RANK_TIMES_EACH ranks: the lowest such ranks */
} FunctionTimes;

typedef struct {
    uint32_t world;    /* ranks */
    Vector *functions; /* FunctionTimes, ascending */
} RankTimes;

RankTimes *rank_times_new(uint32_t world);
void rank_times_free(RankTimes *t); /* T may be NULL */
static inline bool rank_times_each(const RankTimes *t)
{
    return t->world <= RANK_TIMES_EACH;
}
/* Adds the time of RANK in FUNCTION, which has none yet. */
void rank_times_add(RankTimes *t, uint32_t function, uint32_t rank, double seconds);
/* Adds all of MORE, which has other ranks of the same world. */
void rank_times_include(RankTimes *t, const RankTimes *more);
uint64_t rank_times_memory(const RankTimes *t); /* bytes */
void rank_times_encode(const RankTimes *t, WendBuf *out);
/* NULL: the data are damaged, and the cursor has failed. */
RankTimes *rank_times_decode(WendCursor *c, uint32_t world);

#endif
