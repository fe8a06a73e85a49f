/* SPDX-License-Identifier: BSD-3-Clause */
/* worlds.h: the archives of a recording, one for each MPI_COMM_WORLD of the job. The first is trace.tar.zst; those of worlds that were started by others
 * (MPI_Comm_spawn) are world-NAME.tar.zst. Names sort in the order in which the worlds began. */
#ifndef WEND_WORLDS_H
#define WEND_WORLDS_H

#include <glib.h>

#define WORLD_FILE_PREFIX "world-"
#define WORLD_FILE_SUFFIX ".tar.zst"

/* The names of the further worlds in a recording's directory, sorted; the array frees them. */
GPtrArray *worlds_list(const char *directory);

#endif
