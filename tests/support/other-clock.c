/* SPDX-License-Identifier: BSD-3-Clause */
/* other-clock.c: a preload for tests: ranks seem to be on hosts of their own, whose clocks differ
 * from the machine's. OTHER_CLOCK has "SHIFT,DRIFT" of each rank, with blanks between: nanoseconds,
 * and how many nanoseconds per second the clock is too fast. OTHER_HOSTS has the number of each
 * rank's host, with blanks between; without it, each rank is on another one. OTHER_PAUSE: so many
 * nanoseconds pass after each third reading of a clock, as if the processor were taken away. System
 * calls give the machine's clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static long long shift, drift, start, pause_length;

static int rank(void)
{
    const char *pmi = getenv("PMI_RANK"), *given = pmi ? pmi : getenv("OMPI_COMM_WORLD_RANK");
    return given ? atoi(given) : -1;
}

/* The word of this rank in a variable; "" if there is none. */
static const char *own_word(const char *variable)
{
    const char *word = getenv(variable);
    for (int i = rank(); word && i > 0; i--)
        if ((word = strchr(word, ' ')))
            word++;
    return word && rank() >= 0 ? word : "";
}

static long long nanoseconds(clockid_t clock)
{
    struct timespec t;
    syscall(SYS_clock_gettime, clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

__attribute__((constructor)) static void open_clock(void)
{
    start = nanoseconds(CLOCK_MONOTONIC);
    sscanf(own_word("OTHER_CLOCK"), "%lld,%lld", &shift, &drift);
    if (getenv("OTHER_PAUSE"))
        pause_length = atoll(getenv("OTHER_PAUSE"));
}

static void pause_at_times(void)
{
    static _Thread_local unsigned readings;
    long long until = nanoseconds(CLOCK_MONOTONIC) + pause_length;
    while (pause_length > 0 && readings % 3 == 2 && nanoseconds(CLOCK_MONOTONIC) < until)
        ;
    readings++;
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
        return (int)syscall(SYS_clock_gettime, clock, t);
    long long passed = start ? nanoseconds(CLOCK_MONOTONIC) - start : 0;
    long long now = nanoseconds(clock) + shift + (long long)((double)passed * 1e-9 * (double)drift);
    t->tv_sec = now / 1000000000;
    t->tv_nsec = now % 1000000000;
    pause_at_times();
    return 0;
}

int gethostname(char *name, size_t n)
{
    const char *given = own_word("OTHER_HOSTS");
    struct utsname real;
    uname(&real);
    if (rank() < 0)
        snprintf(name, n, "%s", real.nodename);
    else
        snprintf(name, n, "other%d", *given ? atoi(given) : rank());
    return 0;
}
