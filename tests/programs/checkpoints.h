/* SPDX-License-Identifier: BSD-3-Clause */
/* checkpoints.h: waits until ranks have saved what they did. The run is recorded in app.dir. */
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* RANKS: bit I for rank I. It takes the second time: a checkpoint may have begun earlier. */
static void wait_for_checkpoints(unsigned ranks)
{
    for (int rank = 0; ranks >> rank != 0; rank++) {
        struct timespec seen[2] = {{0, 0}, {0, 0}};
        for (int changes = 0, i = 0; (ranks >> rank & 1) && changes < 2; i = !i) {
            char path[64];
            struct stat info;
            snprintf(path, sizeof path, "app.dir/trace.parts/rank-%d.%c", rank, "ab"[i]);
            if (stat(path, &info) != 0
                || (info.st_mtim.tv_sec == seen[i].tv_sec
                    && info.st_mtim.tv_nsec == seen[i].tv_nsec)) {
                usleep(10000);
                continue;
            }
            changes += seen[i].tv_sec > 0;
            seen[i] = info.st_mtim;
        }
    }
}
