/* SPDX-License-Identifier: BSD-3-Clause */
/* site-recording.h: the side stream of call sites: from where in the application each call comes
 * (docs/recording.md, "Call sites"). */
#ifndef WEND_SITE_RECORDING_H
#define WEND_SITE_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/buf.h"

struct ActiveCall;
struct CallSequence;

/* Switches sites on, unless a setting says otherwise. */
void site_recording_open(void);
/* For the part of a rank: sets *SITE to the number of the site of C, a call of Q that has not
 * returned, in Q's stream. If the stream does not have the site, appends it to TABLE, which is
 * behind the stream's. Nothing of Q changes, so it may be that of another thread, while the watcher
 * holds the recorder. Makes system calls only. Returns false if the site cannot be told. */
bool site_of_unfinished(const struct CallSequence *q, const struct ActiveCall *c, WendBuf *table,
                        int64_t *site);

#endif
