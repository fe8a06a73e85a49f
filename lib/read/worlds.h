/* SPDX-License-Identifier: BSD-3-Clause */
/* worlds.h: the archives in a recording's directory. */
#ifndef WEND_WORLDS_H
#define WEND_WORLDS_H

#include <glib.h>

#include "record/world-files.h"

/* The names of the further worlds in a recording's directory, sorted; the array frees them. */
GPtrArray *worlds_list(const char *directory);

#endif
