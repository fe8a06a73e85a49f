/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.c: see families.h. The part that is common to all families. */
#include "families.h"

#include <stdio.h>
#include <time.h>

#include "objects/objects.h"
#include "output/output.h"
#include "process/launcher.h"
#include "process/process.h"
#include "recorder/recorder.h"

/* Whether Wend knows all Infos. A call of MPI with an unknown one would run the application's error
 * handler. */
static bool knows(const MPI_Info *infos, int n)
{
    for (int i = 0; infos && i < n; i++)
        if (handle_word(HANDLE_INFO, (uintptr_t)infos[i]) == WEND_UNKNOWN)
            return false;
    return true;
}

Spawn spawn_begin(ActiveCall *c, bool at_root, int n, int n_processes, char *const *commands,
                  char **const *argvs, const MPI_Info *infos)
{
    Spawn spawn = {(char **)commands, (char ***)argvs, infos};
    if (at_root && n > 0 && n_processes >= 0 && commands && state()->world && knows(infos, n))
        spawn_wrap(c, n, &spawn);
    return spawn;
}

void spawn_end(ActiveCall *c, bool at_root)
{
    spawn_unwrap();
    if (at_root && call_ok(c))
        c->sequence->spawned++;
}

/* -- the facts of the recording that are passed to spawned processes -- */

/* Rank 0 knows the directory, other ranks may have found it. */
const char *spawn_directory(void)
{
    if (state()->world_rank == 0)
        return output_directory();
    /* Rank 0 may have just left MPI_Init. */
    for (int tries = 0; tries < 50 && !parts_directory(); tries++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return parts_directory();
}

void spawn_name(const ActiveCall *c, char *out, size_t room)
{
    const char *own = state()->spawned ? launcher_world() : NULL;
    char thread[24] = "";
    if (c->sequence->tid != 0)
        snprintf(thread, sizeof thread, "t%u", c->sequence->tid);
    snprintf(out, room, "%s%s%d%s.%u", own ? own : "", own ? "-" : "", state()->world_rank, thread,
             c->sequence->spawned + 1);
}

void spawn_say_too_long(void)
{
    static _Atomic bool said;
    if (!atomic_exchange(&said, true))
        state_say(
            "paths or settings are too long for the MPI library to pass on: processes that the "
            "application starts are not recorded");
}
