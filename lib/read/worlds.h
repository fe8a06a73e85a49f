/* SPDX-License-Identifier: BSD-3-Clause */
/* worlds.h: the archives in a recording's directory. */
#ifndef WEND_WORLDS_H
#define WEND_WORLDS_H

#include <glib.h>

#include "record/world-files.h"

/* The names of all worlds but the first in a recording's directory, sorted. The caller unrefs the
 * array, which frees the names. */
GPtrArray *worlds_list(const char *directory);

#endif
