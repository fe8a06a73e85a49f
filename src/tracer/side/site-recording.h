/* SPDX-License-Identifier: BSD-3-Clause */
/* site-recording.h: the side stream of call sites: from where in the application each call comes
 * (docs/side-streams.md, "Call sites"). */
#ifndef WEND_SITE_RECORDING_H
#define WEND_SITE_RECORDING_H

/* Switches sites on, unless a setting says otherwise. */
void site_recording_open(void);

#endif
