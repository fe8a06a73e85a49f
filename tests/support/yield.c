/* SPDX-License-Identifier: BSD-3-Clause */
/* yield.c: a preload for tests and benchmarks that makes MPICH give up the processor while it
 * waits.
 *
 * Debian's MPICH busy-waits in ucp_worker_progress and never yields, so with more ranks than cores
 * each message costs a time slice of the scheduler: an allreduce of 16 ranks takes 90 ms on two
 * cores. With this it takes 0.1 to 0.2 ms, and a test suite becomes possible.
 *
 * As root the process also runs at the lowest real-time round-robin priority, where a yield takes
 * effect at once, even beside other load. Two things keep that from stalling what is not real-time
 * (launchers above all; the kernel stops real-time processes for only 50 ms in a second): a long
 * wait sleeps, and the priority is taken only between MPI_Init and MPI_Finalize, whose barriers
 * spin on shared memory without any progress call. Programs with threads do without: one that is
 * not real-time would be kept from doing what one that is waits for. And who computes or spins for
 * a second without any pause loses the priority until messages come to it again: a hang must not
 * take the processors from what is there to end it. Others who wait for it have theirs, so the
 * longer they have waited the longer they sleep: looking every 20 microseconds is half a processor.
 *
 * MPI_Wait of a write or read that libc's asynchronous I/O does asks aio_error without any pause,
 * and the thread that is to write wants the lock that aio_error takes. On two cores it seldom gets
 * it: a program of a minute did not end in three. So aio_error pauses, too.
 *
 * With YIELD_DELAYS=SEED set, each process now and then sleeps up to half a millisecond before it
 * makes progress, so that messages come in another order with each seed.
 *
 * Never part of Wend itself: a tracer must not change how an application is scheduled.
 */
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 500 /* progress calls in a row that find nothing, before a wait counts as long */
#define NAP 20000    /* ns that a long wait sleeps at a time, at first */
#define LONG_NAP 50  /* naps that it sleeps at a time in the end */

static enum { BEFORE_INIT, RUNNING, FINALIZING } phase;
static bool privileged;            /* this process has, or had, the priority */
static volatile sig_atomic_t lost; /* the priority, that is */

static bool is_own(const void *symbol)
{
    Dl_info own, info;
    return dladdr(&phase, &own) && dladdr(symbol, &info) && info.dli_fbase == own.dli_fbase;
}

/* Where MPI was loaded for one module alone (a Python extension), the loader finds it behind
 * nobody. */
static void *in_any_module(const char *name)
{
    void *found = NULL;
    for (const struct link_map *m = dlopen(NULL, RTLD_LAZY); m && !found; m = m->l_next) {
        void *module = *m->l_name ? dlopen(m->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
        if (module && (found = dlsym(module, name)) && is_own(found))
            found = NULL;
    }
    return found;
}

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        found = in_any_module(name);
    if (!found) /* cannot be: only the libraries that define these call them */
        abort();
    return found;
}

static void set_policy(int policy, int priority)
{
    int saved = errno;
    struct sched_param param = {.sched_priority = priority};
    if (!getenv("WEND_YIELD_NO_REALTIME"))
        /* fails unless root; then the yield alone must do */
        (void)sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param);
    errno = saved;
}

static void lose_priority(int number)
{
    (void)number;
    set_policy(SCHED_OTHER, 0);
    lost = 1;
}

static void regain_priority(void)
{
    lost = 0;
    if (phase == RUNNING)
        set_policy(SCHED_RR, 1);
}

static void gain_priority(void)
{
    struct sigaction action = {.sa_handler = lose_priority, .sa_flags = SA_RESTART}, before;
    if (sigaction(SIGXCPU, NULL, &before) != 0 || before.sa_handler != SIG_DFL)
        return;
    if (sigaction(SIGXCPU, &action, NULL) == 0
        && setrlimit(RLIMIT_RTTIME, &(struct rlimit){1000000, RLIM_INFINITY}) == 0) {
        privileged = true;
        set_policy(SCHED_RR, 1);
    }
}

static void find_out_phase(void)
{
    static int (*initialized)(int *);
    int flag = 0;
    if (!initialized)
        initialized = (int (*)(int *))next("PMPI_Initialized");
    initialized(&flag);
    if (flag) {
        int level = 0;
        ((int (*)(int *))next("PMPI_Query_thread"))(&level);
        phase = RUNNING;
        if (level == 0) /* MPI_THREAD_SINGLE; no mpi.h here, since it serves all libraries */
            gain_priority();
    }
}

static void delay(void)
{
    static enum { UNKNOWN, NO, YES } wanted;
    static unsigned state;
    if (wanted == UNKNOWN) {
        const char *seed = getenv("YIELD_DELAYS");
        wanted = seed ? YES : NO;
        state = seed ? (unsigned)atoi(seed) * 2654435761u ^ (unsigned)getpid() * 40503u : 0;
    }
    if (wanted == NO)
        return;
    state = state * 1664525u + 1013904223u;
    if (state >> 28 == 0)
        nanosleep(&(struct timespec){.tv_nsec = (long)(state >> 4) % 500000}, NULL);
}

/* In naps. Less than a hundredth of what the wait has taken by then, so that sleeping makes no wait
 * much longer. A thread that sleeps here has the library's lock, and what others wait for may come
 * to it: where there may be threads, naps stay short. */
static long nap_length(unsigned naps)
{
    return !privileged ? 1 : naps < 128 * LONG_NAP ? 1 + naps / 128 : LONG_NAP;
}

unsigned ucp_worker_progress(void *worker)
{
    static unsigned (*real)(void *);
    static _Thread_local unsigned idle;
    if (!real)
        real = (unsigned (*)(void *))next("ucp_worker_progress");
    delay();
    unsigned n = real(worker);
    if (n > 0) {
        idle = 0;
        if (lost)
            regain_priority();
        return n;
    }
    if (phase == BEFORE_INIT)
        find_out_phase();
    if (++idle < PATIENCE)
        sched_yield();
    else
        nanosleep(&(struct timespec){.tv_nsec = NAP * nap_length(idle - PATIENCE)}, NULL);
    return n;
}

int aio_error(const struct aiocb *request)
{
    static int (*real)(const struct aiocb *);
    if (!real)
        real = (int (*)(const struct aiocb *))next("aio_error");
    int state = real(request);
    if (state == EINPROGRESS)
        nanosleep(&(struct timespec){.tv_nsec = NAP}, NULL);
    return state;
}

static int finalize(const char *name)
{
    if (phase == RUNNING)
        set_policy(SCHED_OTHER, 0);
    phase = FINALIZING;
    return ((int (*)(void))next(name))();
}

/* A tracer calls PMPI_Finalize; without one the application's call arrives here. */
int MPI_Finalize(void)
{
    return finalize("MPI_Finalize");
}
int PMPI_Finalize(void)
{
    return finalize("PMPI_Finalize");
}
