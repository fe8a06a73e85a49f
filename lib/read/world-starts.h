/* SPDX-License-Identifier: BSD-3-Clause */
/* world-starts.h: which call started each world of a job.
 *
 * The name of a world says it (docs/format.md, "Files"): "0.2-1.1" is the first world that rank 1
 * of world "0.2" started. */
#ifndef WEND_WORLD_STARTS_H
#define WEND_WORLD_STARTS_H

#include "program.h"

/* Of the calls for which wend_call_starts_world() holds, made by THREAD of RANK: the call with this
 * number, from 0. */
typedef struct {
    guint rank; /* of the job; G_MAXUINT: the recording does not say it */
    gint64 thread;
    guint64 number;
} WendWorldStarter;

/* The starters of all worlds, by number of the world; g_free. World 0 has none, and neither has a
 * world whose name gives no rank of a world before it. That the rank made as many calls is not
 * checked, nor that no two worlds have one starter. The cost follows the number of worlds. */
WendWorldStarter *wend_program_world_starters(const WendProgram *p);

/* Whether the call started a world, and this rank was the root: only a root knows the command. */
gboolean wend_call_starts_world(const WendCall *call);

#endif
