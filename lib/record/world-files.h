/* SPDX-License-Identifier: BSD-3-Clause */
/* world-files.h: the names of a recording's archives, one for each MPI_COMM_WORLD of the job. The
 * first is trace.tar.zst; those of worlds that were started by others (MPI_Comm_spawn) are
 * world-NAME.tar.zst. Names sort in the order in which the worlds began. */
#ifndef WEND_WORLD_FILES_H
#define WEND_WORLD_FILES_H

#define WORLD_FILE_PREFIX "world-"
#define WORLD_FILE_SUFFIX ".tar.zst"

#endif
