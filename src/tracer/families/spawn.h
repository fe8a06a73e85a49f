/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.h: processes that the application starts with MPI_Comm_spawn run under Wend as it does, and
 * their world has a name.
 *
 * Launchers that start them give them their own environment, not that of the process that asks. So
 * what they need of it goes with the call, in a way that the library at hand has (spawn_mpich.c,
 * spawn_openmpi.c). */
#ifndef WEND_SPAWN_H
#define WEND_SPAWN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "recorder/recorder.h"

/* when the library is loaded: settings come, and are there to go on */
void spawn_load(void);

/* What the library gets in the place of the arguments. At the root; else, and where nothing can be
 * added, the application's. N_PROCESSES: of the first command. */
typedef struct {
    char **commands, ***argvs;
    const MPI_Info *infos;
} Spawn;
Spawn spawn_begin(ActiveCall *c, bool at_root, int n, int n_processes, char *const *commands,
                  char **const *argvs, const MPI_Info *infos);
void spawn_end(ActiveCall *c, bool at_root); /* the call is back */

/* -- of a family of libraries -- */

void spawn_wrap(const ActiveCall *c, int n, Spawn *spawn);
/* what the last one made in this thread goes; there may be none */
void spawn_unwrap(void);

#endif
