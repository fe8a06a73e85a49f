/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.h: makes the processes that the application starts with MPI_Comm_spawn run under Wend, and
 * gives their world a name.
 *
 * A launcher gives spawned processes its own environment, not that of the calling process. So the
 * settings that they need are passed with the call, in a way that the library supports
 * (spawn_mpich.c, spawn_openmpi.c). */
#ifndef WEND_SPAWN_H
#define WEND_SPAWN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "recorder/recorder.h"

/* When the library is loaded: takes the settings that were passed to this process, and keeps them
 * to be passed on. */
void spawn_load(void);

/* The arguments to pass to the library: at the root those with Wend's settings added. Elsewhere,
 * and if nothing can be added, they are the application's. N_PROCESSES is that of the first
 * command. */
typedef struct {
    char **commands, ***argvs;
    const MPI_Info *infos;
} Spawn;
Spawn spawn_begin(ActiveCall *c, bool at_root, int n, int n_processes, char *const *commands,
                  char **const *argvs, const MPI_Info *infos);
void spawn_end(ActiveCall *c, bool at_root); /* after the call has returned */

/* -- of a family of libraries -- */

void spawn_wrap(const ActiveCall *c, int n, Spawn *spawn);
/* frees the result of this thread's last spawn_wrap, if there is one */
void spawn_unwrap(void);

#endif
