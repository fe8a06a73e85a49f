/* yield.c: a preload for tests and benchmarks that makes MPICH give up the processor while it waits.
 *
 * Debian's MPICH busy-waits in ucp_worker_progress and never yields, so with more ranks than cores each message costs a time slice of the
 * scheduler: an allreduce of 16 ranks takes 90 ms on two cores. With this it takes 0.1 to 0.2 ms, and a test suite becomes possible.
 * As root the process also goes to the lowest real-time round-robin priority: there a yield takes effect at once, even beside other load. That happens
 * at the first progress call and not in a constructor, so that shells and launchers that inherit LD_PRELOAD are left alone.
 *
 * Never part of Wend itself: a tracer must not change how an application is scheduled.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

typedef unsigned progress_function(void *worker);

static progress_function *real_progress;

static void start(void)
{
    int saved = errno;
    real_progress = (progress_function *)dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (!real_progress) /* cannot be: only UCX's users call this */
        abort();
    struct sched_param param = {.sched_priority = 1};
    if (!getenv("WEND_YIELD_NO_REALTIME"))
        (void)sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &param); /* fails unless root; then the yield alone must do */
    errno = saved;
}

unsigned ucp_worker_progress(void *worker)
{
    if (!real_progress)
        start();
    unsigned n = real_progress(worker);
    if (n == 0)
        sched_yield();
    return n;
}
