/* spawn.c: see spawn.h. What the libraries' families share. */
#include "spawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "handles.h"
#include "launcher.h"
#include "module.h"
#include "output.h"
#include "parts.h"
#include "sequence.h"
#include "state.h"

/* Rank 0 knows it, others may have found it. */
const char *spawn_directory(void)
{
    if (state()->world_rank == 0)
        return output_directory();
    /* Rank 0 may have been in MPI_Init a moment ago. */
    for (int tries = 0; tries < 50 && !parts_directory(); tries++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return parts_directory();
}

void spawn_name_of_next(const Call *c, char *out, size_t room)
{
    const char *own = state()->spawned ? launcher_world() : NULL;
    char thread[24] = "";
    if (c->sequence->tid != 0)
        snprintf(thread, sizeof thread, "t%u", c->sequence->tid);
    snprintf(out, room, "%s%s%d%s.%u", own ? own : "", own ? "-" : "", state()->world_rank, thread, c->sequence->spawned + 1);
}

void spawn_say_too_long(void)
{
    static _Atomic bool said;
    if (!atomic_exchange(&said, true))
        state_say("paths or settings are too long for what the MPI library passes on: processes that the application starts are not recorded");
}

/* To ask MPI about others would run the application's error handler. */
static bool knows(const MPI_Info *infos, int n)
{
    for (int i = 0; infos && i < n; i++)
        if (handle_word(HANDLE_INFO, (uintptr_t)infos[i]) == WEND_UNKNOWN)
            return false;
    return true;
}

Spawn spawn_begin(Call *c, bool at_root, int n, int n_processes, char *const *commands, char **const *argvs, const MPI_Info *infos)
{
    Spawn spawn = {(char **)commands, (char ***)argvs, infos};
    if (at_root && n > 0 && n_processes >= 0 && commands && state()->world && knows(infos, n))
        spawn_wrap(c, n, &spawn);
    return spawn;
}

void spawn_end(Call *c, bool at_root)
{
    spawn_unwrap();
    if (at_root && call_ok(c))
        c->sequence->spawned++;
}
