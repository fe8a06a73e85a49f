/* SPDX-License-Identifier: BSD-3-Clause */
/* world-starts.h: the call that started each world of a job.
 *
 * The name of a world identifies the call (docs/format.md, "Files"): "0.2-1.1" is the first world
 * that rank 1 of world "0.2" started. */
#ifndef WEND_WORLD_STARTS_H
#define WEND_WORLD_STARTS_H

#include "program.h"

#include <glib.h>

/* A call that started a world. NUMBER counts, from 0, the calls of THREAD of RANK for which
 * world_start_is() is TRUE. */
typedef struct {
    guint rank; /* of the job; G_MAXUINT: unknown */
    gint64 thread;
    guint64 number;
} WendWorldStarter;

/* The starters of all worlds, by number of the world. The caller frees the result. World 0 has no
 * starter, and neither has a world whose name gives no rank of a world before it.
 *
 * It does not check that the rank made so many calls, or that no two worlds have one starter. Takes
 * O(worlds). */
WendWorldStarter *world_starters(const WendProgram *p);

/* Whether the call started a world and its rank was the root. Only the root gives a command. */
gboolean world_start_is(const WendCall *call);

#endif
