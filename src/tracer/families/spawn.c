/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn.c: see spawn.h. The part that is common to all families. */
#include "spawn.h"

#include "objects/objects.h"
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
