/* spawn.h: processes that the application starts with MPI_Comm_spawn run under Wend as it does, and their world has a name.
 *
 * Launchers that start them give them their own environment, not that of the process that asks. Open MPI adds what the Info key "env" says (255 bytes), and all
 * variables of the asking process whose names begin with OMPI_MCA_. So the settings go the second way, from the start, and what concerns one world the first. */
#ifndef WEND_SPAWN_H
#define WEND_SPAWN_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "call.h"

void spawn_load(void);                /* when the library is loaded: settings come, and are there to go on */

/* What the library gets in the place of the Info objects. At the root; else, and where nothing can be added, the application's. */
MPI_Info spawn_info(Call *c, bool at_root, MPI_Info info);
const MPI_Info *spawn_infos(Call *c, bool at_root, int n, const MPI_Info *infos);
void spawn_end(Call *c, bool at_root); /* the call is back */

/* The name by which this world was started (WEND_WORLD), if there is one that can be a file's: "0.2" is the second that rank 0 of the first world started,
 * "0.2-1.1" the first that rank 1 of that started; "0t3.1" is thread 3's. NULL: none. */
const char *spawn_world(void);

#endif
