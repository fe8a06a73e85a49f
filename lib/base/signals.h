/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.h: signals that end a process wait until there is nothing to clean up. */
#ifndef WEND_SIGNALS_H
#define WEND_SIGNALS_H

#include <signal.h>

#include "containers.h"

typedef struct {
    sigset_t before;
    bool size_pending; /* SIGXFSZ was, before */
} SignalHold;

/* Holds, in this thread, the signals that end a process, and SIGXFSZ, in whose place is EFBIG. */
void signals_hold(SignalHold *h);
void signals_release(const SignalHold *h);
/* Is there a signal that will end the process when it is let in? One with a handler goes on
 * afterwards, or cleans up itself. */
bool signals_ending(const SignalHold *h);

#endif
