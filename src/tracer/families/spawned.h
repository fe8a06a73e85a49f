/* SPDX-License-Identifier: BSD-3-Clause */
/* spawned.h: the facts of the recording that are passed to spawned processes. */
#ifndef WEND_SPAWNED_H
#define WEND_SPAWNED_H

#include <stddef.h>

#include "recorder/recorder.h"

/* The recording's directory. NULL if this process does not know it. */
const char *spawned_directory(void);
/* Writes the name (launcher_world) of the next world that C starts to OUT, which has ROOM bytes. */
void spawned_name(const ActiveCall *c, char *out, size_t room);
/* Prints once that the settings are too long to be passed on. */
void spawned_say_too_long(void);

#endif
