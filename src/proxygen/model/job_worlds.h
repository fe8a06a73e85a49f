/* SPDX-License-Identifier: BSD-3-Clause */
/* job_worlds.h: the worlds of a job, and the calls that started them. */
#ifndef PROXYGEN_JOB_WORLDS_H
#define PROXYGEN_JOB_WORLDS_H

#include "plan.h"

/* A world, and the rank of the job that started it as the root. Starts are ordered by rank, and by
 * the calls of each rank. */
typedef struct {
    guint rank, world;
} WorldStart;

/* Opens the recording with all its worlds. It opens the first world alone if the recording lacks a
 * world, or does not say which call started it. MAX_SIZE is that of program.h. The caller frees the
 * program. On failure returns NULL with an error. */
WendProgram *job_worlds_open(const char *path, guint64 max_size, GError **error);
GArray *job_worlds_starts(const WendProgram *p); /* of WorldStart; empty if there is one world */
/* The world of a rank of the job. */
const WendWorld *job_worlds_of(const Plan *plan, guint rank);
gboolean job_worlds_several(const Plan *plan);
/* Whether the call starts processes, and is the root's. */
gboolean job_worlds_is_start(const CallPattern *c);

#endif
