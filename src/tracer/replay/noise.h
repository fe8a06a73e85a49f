/* SPDX-License-Identifier: BSD-3-Clause */
/* noise.h: delays sends and receives at random, so that messages come in another order. */
#ifndef WEND_NOISE_H
#define WEND_NOISE_H

#include "recorder/recorder.h"

/* Whether the settings ask for noise. */
bool noise_open(void);
/* Waits before one in four calls that send, receive or complete: from 1 microsecond to 2
 * milliseconds, each order of magnitude as often. The delays follow from the seed, the rank, the
 * thread and the number of its calls. */
void noise_delay(const ActiveCall *c);

#endif
