/* SPDX-License-Identifier: BSD-3-Clause */
/* attendant.c: see attendant.h. The kernel kills this process when its parent ends
 * (PR_SET_PDEATHSIG), except while it has a process group of its own. */
#include "attendant.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "process/process.h"
#include "shared/shared.h"

static KeptFile file = KEPT_NONE;
static pid_t attendant, group; /* GROUP 0: this process has not left it */

static bool is_orphan(void)
{
    return syscall(SYS_getppid) != attendant;
}

void attendant_leave_group(void)
{
    const char *given = getenv(LAUNCHER_ATTENDANT);
    int signal_at_end = 0;
    attendant = given ? (pid_t)strtol(given, NULL, 10) : 0;
    /* Only the main thread can switch off the signal. */
    if (attendant <= 1 || is_orphan() || syscall(SYS_gettid) != getpid()
        || prctl(PR_GET_PDEATHSIG, &signal_at_end) != 0 || signal_at_end != SIGKILL)
        return;
    pid_t before = getpgrp();
    if (before != getpgid(attendant)
        || !kept_take(&file, (int)syscall(SYS_pidfd_open, attendant, 0U)))
        return;
    if (setpgid(0, 0) != 0) {
        kept_close(&file);
        return;
    }
    group = before;
    prctl(PR_SET_PDEATHSIG, 0);
}

void attendant_join_group(void)
{
    if (group == 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, group);
    kept_close(&file);
    if (is_orphan())
        attendant_follow();
    group = 0;
}

void attendant_in_child(void)
{
    group = 0;
    kept_close(&file);
}

int attendant_file(void)
{
    return kept_number(&file);
}

bool attendant_has_ended(void)
{
    if (!is_orphan())
        file.number = -1; /* the number is that of another file */
    return is_orphan();
}

void attendant_follow(void)
{
    if (syscall(SYS_getpgid, 0) == syscall(SYS_getpid))
        syscall(SYS_kill, 0, SIGKILL);
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
}
