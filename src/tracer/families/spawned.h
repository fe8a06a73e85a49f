/* SPDX-License-Identifier: BSD-3-Clause */
/* spawned.h: what processes that the application starts are told of the recording. */
#ifndef WEND_SPAWNED_H
#define WEND_SPAWNED_H

#include <stddef.h>

#include "recorder/recorder.h"

/* The recording's directory; NULL: not known here. */
const char *spawned_directory(void);
/* The name (launcher_world) of the next world that C starts, to OUT. */
void spawned_name(const ActiveCall *c, char *out, size_t room);
/* Says once that the settings do not fit. */
void spawned_say_too_long(void);

#endif
