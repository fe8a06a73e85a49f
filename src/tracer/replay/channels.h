/* SPDX-License-Identifier: BSD-3-Clause */
/* channels.h: turns of threads on channels (src/tracer/turns/turns.h).
 *
 * A channel is what MPI keeps in order: messages of one source with one tag on one communicator, or
 * messages to one rank. A turn waits until those with lower numbers on its channel are over. All
 * threads go on at once when the order is given up. */
#ifndef WEND_CHANNELS_H
#define WEND_CHANNELS_H

#include "recorder/recorder.h"

#define CHANNEL_NONE UINT64_MAX

/* Before the first turn. False: no memory. */
bool channels_open(uint64_t n);
/* Waits until the turn of C has come; on CHANNEL_NONE that is at once. MPI makes progress
 * meanwhile. False: the order is given up. */
bool channel_wait(ActiveCall *c, const ReplayedTurn *turn);
/* The turn is over. */
void channel_pass(const ReplayedTurn *turn);
/* After a divergence. */
void channels_give_up(void);

#endif
