/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence-times.h: the time of every call of a sequence (docs/format.md, "Times of calls"). */
#ifndef WEND_SEQUENCE_TIMES_H
#define WEND_SEQUENCE_TIMES_H

#include "base/error.h"
#include "times/durations.h"
#include "program.h"

typedef struct WendSequenceTimes WendSequenceTimes;

/* The times of the calls of SEQUENCE of RANK. Returns NULL if there are none; then the error is set
 * if they are damaged, or take too much memory. It walks the sequence once more, since the place
 * of a call is what its times are coded with. P must outlive the result, which the caller frees. */
WendSequenceTimes *sequence_times_new(const WendProgram *p, guint rank, guint sequence,
                                      Error **error);
/* How they are coded, how long a tick is, and where the first interval begins, by the clock of rank
 * 0 of the world: corrections of clocks of other hosts are applied. */
const WendDurationsHead *sequence_times_head(const WendSequenceTimes *t);
/* The times of the next call or unsuccessful poll of the sequence, as a walk with polls gives them.
 * START is in ticks from the origin; the duration may be WEND_DURATION_UNKNOWN. FALSE: there are no
 * more. */
typedef struct {
    gint64 start, duration;
} WendCallTime;
gboolean sequence_times_next(WendSequenceTimes *t, WendCallTime *time);
/* Whether the times turned out to be damaged. They end there. */
gboolean sequence_times_damaged(const WendSequenceTimes *t);
void sequence_times_free(WendSequenceTimes *t); /* T may be NULL */

#endif
