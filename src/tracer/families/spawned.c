/* SPDX-License-Identifier: BSD-3-Clause */
/* spawned.c: see spawned.h. */
#include "spawned.h"

#include <stdio.h>
#include <time.h>

#include "output/output.h"
#include "recorder/recorder.h"
#include "shared/shared.h"

/* Rank 0 knows the directory, other ranks may have found it. */
const char *spawned_directory(void)
{
    if (state()->world_rank == 0)
        return output_directory();
    /* Rank 0 may have just left MPI_Init. */
    for (int tries = 0; tries < 50 && !parts_directory(); tries++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return parts_directory();
}

void spawned_name(const ActiveCall *c, char *out, size_t room)
{
    const char *own = state()->spawned ? launcher_world() : NULL;
    char thread[24] = "";
    if (c->sequence->tid != 0)
        snprintf(thread, sizeof thread, "t%u", c->sequence->tid);
    snprintf(out, room, "%s%s%d%s.%u", own ? own : "", own ? "-" : "", state()->world_rank, thread,
             c->sequence->spawned + 1);
}

void spawned_say_too_long(void)
{
    static _Atomic bool said;
    if (!atomic_exchange(&said, true))
        state_say(
            "paths or settings are too long for the MPI library to pass on: processes that the "
            "application starts are not recorded");
}
