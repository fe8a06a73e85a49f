/* SPDX-License-Identifier: BSD-3-Clause */
/* signals.c: see signals.h. */
#include "signals.h"

#include <time.h>

static const int ending[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU};

void signals_hold(SignalHold *h)
{
    sigset_t set;
    sigpending(&set);
    h->size_pending = sigismember(&set, SIGXFSZ) == 1;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ); /* the error EFBIG says it */
    for (uint32_t i = 0; i < COUNT_OF(ending); i++)
        sigaddset(&set, ending[i]);
    pthread_sigmask(SIG_BLOCK, &set, &h->before);
}

void signals_release(const SignalHold *h)
{
    sigset_t size;
    sigemptyset(&size);
    sigaddset(&size, SIGXFSZ);
    if (!h->size_pending)
        while (sigtimedwait(&size, NULL, &(struct timespec){0}) == SIGXFSZ)
            ;
    pthread_sigmask(SIG_SETMASK, &h->before, NULL);
}

bool signals_ending(const SignalHold *h)
{
    sigset_t pending;
    struct sigaction action;
    sigpending(&pending);
    for (uint32_t i = 0; i < COUNT_OF(ending); i++)
        if (sigismember(&pending, ending[i]) == 1 && sigismember(&h->before, ending[i]) != 1
            && sigaction(ending[i], NULL, &action) == 0 && action.sa_handler == SIG_DFL)
            return true;
    return false;
}
