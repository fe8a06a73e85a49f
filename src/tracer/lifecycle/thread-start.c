/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-start.c: see lifecycle.h. */

#include "lifecycle.h"
#include "families/families.h"
#include "objects/objects.h"
#include "recorder/recorder.h"

/* Enters a thread. The first thread of the process prepares the state that all threads use. */
static bool enter(Thread *t)
{
    State *s = state();
    pthread_mutex_lock(&s->threads_lock);
    if (s->n_threads == 0) {
        clock_calibrate();
        handles_open();
    }
    bool registered = thread_register(t, thread_number_new(s->n_threads == 0));
    pthread_mutex_unlock(&s->threads_lock);
    return registered;
}

Thread *thread_start(void)
{
    late_mpi_open();
    if (state()->other_family)
        return NULL;
    Thread *t = thread_alloc();
    if (!t || !enter(t)) {
        if (t)
            thread_free(t);
        state_break("out of memory");
        return NULL;
    }
    this_thread = t;
    termination_prepare_thread();
    return t;
}
