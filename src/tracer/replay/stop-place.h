/* SPDX-License-Identifier: BSD-3-Clause */
/* stop-place.h: where a replay stops, as a user gives it. C11 and libc alone. */
#ifndef WEND_STOP_PLACE_H
#define WEND_STOP_PLACE_H

#include "rank-list.h"

typedef struct {
    uint32_t rank;
    int64_t thread;
    uint64_t call; /* before it */
} StopPlace;

#define STOP_PLACE_WRONG "--until takes RANK:CALL or RANK:THREAD.CALL, with a rank of the recording"

static inline bool stop_place_number(const char **p, uint64_t *n)
{
    char *end;
    if (!isdigit((unsigned char)**p))
        return false;
    *n = strtoull(*p, &end, 10);
    *p = end;
    return true;
}

/* Reads "RANK:CALL", or "RANK:THREAD.CALL". Returns false if TEXT is neither, or RANK is not below
 * RANKS. */
static inline bool stop_place_read(const char *text, uint32_t ranks, StopPlace *place)
{
    uint64_t rank, first, second;
    if (!rank_list_number(&text, &rank) || rank >= ranks || *text++ != ':'
        || !stop_place_number(&text, &first))
        return false;
    *place = (StopPlace){(uint32_t)rank, 0, first};
    if (*text == '.') {
        text++;
        if (!stop_place_number(&text, &second))
            return false;
        *place = (StopPlace){(uint32_t)rank, (int64_t)first, second};
    }
    return *text == '\0';
}

#endif
