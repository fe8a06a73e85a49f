/* SPDX-License-Identifier: BSD-3-Clause */
/* job_worlds.h: the worlds of a job, and which call started which. */
#ifndef PROXYGEN_JOB_WORLDS_H
#define PROXYGEN_JOB_WORLDS_H

#include "plan.h"

/* A world and the rank of the job, as the root, that started it. In order of the ranks, and of each
 * rank's calls. */
typedef struct {
    guint rank, world;
} WorldStart;

/* The recording with all its worlds; with the first alone, if it does not say which call started
 * which of the others, or has not all of them. */
/* MAX_SIZE: program.h */
WendProgram *job_worlds_open(const char *path, guint64 max_size, GError **error);
GArray *job_worlds_starts(const WendProgram *p); /* of WorldStart; empty: there is one world */
/* The world of a rank of the job. */
const WendWorld *job_worlds_of(const Plan *plan, guint rank);
gboolean job_worlds_several(const Plan *plan);
/* Does the call start processes, and is it the root's? */
gboolean job_worlds_is_start(const CallPattern *c);

#endif
