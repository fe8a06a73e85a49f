/* SPDX-License-Identifier: BSD-3-Clause */
/* thread.c: the state of a thread: words, and an ActiveCall for each level of callbacks. */
#include <stdlib.h>

#include "lib/base/budget.h"
#include "lib/record/functions.h"
#include "recorder.h"
#include "sequence.h"

__thread Thread *this_thread;

bool words_grow(Words *w)
{
    size_t cap = w->cap ? 2 * w->cap : 64;
    int64_t *grown = budget_resize(w->w, w->cap * sizeof *grown, cap * sizeof *grown);
    if (!grown) {
        state_break("out of memory");
        return false;
    }
    w->w = grown;
    w->cap = cap;
    return true;
}

MPI_Status *thread_statuses(ActiveCall *c, size_t n)
{
    Thread *t = c->thread;
    if (n > t->n_statuses) {
        MPI_Status *grown =
            budget_resize(t->statuses, t->n_statuses * sizeof *grown, n * sizeof *grown);
        if (!grown) {
            state_break("out of memory");
            return NULL;
        }
        t->statuses = grown;
        t->n_statuses = n;
    }
    return t->statuses;
}

static void call_free(ActiveCall *c)
{
    if (!c)
        return;
    const Words *all[] = {&c->shape, &c->slots, &c->outcome};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        budget_free(all[i]->w, all[i]->cap * sizeof *all[i]->w);
    budget_free(c, sizeof *c);
}

static ActiveCall *call_new(Thread *t)
{
    ActiveCall *c = budget_zeroed(sizeof *c);
    if (!c)
        return NULL;
    c->thread = t;
    if (!words_grow(&c->shape) || !words_grow(&c->slots) || !words_grow(&c->outcome)) {
        call_free(c);
        return NULL;
    }
    return c;
}

Thread *thread_alloc(void)
{
    Thread *t = budget_zeroed(sizeof *t);
    ActiveCall *c = t ? call_new(t) : NULL;
    if (!c) {
        budget_free(t, t ? sizeof *t : 0);
        return NULL;
    }
    t->call = c;
    return t;
}

void thread_free(Thread *t)
{
    call_free(t->call);
    budget_free(t, sizeof *t);
}

bool thread_register(Thread *t, uint32_t number)
{
    t->number = number;
    t->sequence = sequence_new(false, 0, number);
    if (!t->sequence)
        return false;
    __atomic_store_n(&t->sequence->owner, t, __ATOMIC_RELEASE);
    state()->n_threads++;
    return true;
}

Thread *thread_new(void)
{
    return state()->thread_new();
}

int64_t thread_number(void)
{
    return this_thread ? (int64_t)this_thread->number : -1;
}

/* -- callbacks -- */

bool callback_enter(int64_t function)
{
    if (!atomic_load_explicit(&state()->active, memory_order_relaxed))
        return false;
    Thread *t = thread_self();
    if (!t)
        return false;
    CallSequence *q = sequence_of_callback(function);
    ActiveCall *c = t->call->inner;
    if (q && !c)
        t->call->inner = c = call_new(t);
    if (!q || !c) {
        state_break("out of memory");
        return false;
    }
    c->outer = t->call;
    c->ended = 0;
    c->outer_sequence = t->sequence;
    c->outer_inside = t->inside;
    __atomic_store_n(&t->call, c, __ATOMIC_RELEASE); /* the watcher walks the calls */
    t->sequence = q;
    t->inside = false;
    return true;
}

uint64_t callback_calls(void)
{
    return this_thread->call->ended;
}

void callback_passed(void)
{
    __atomic_fetch_add(&this_thread->sequence->passed, 1, __ATOMIC_RELAXED);
}

uint64_t callback_passes(void)
{
    return __atomic_exchange_n(&this_thread->sequence->passed, 0, __ATOMIC_RELAXED);
}

void callback_error_ignored(int code)
{
    ActiveCall *interrupted = this_thread->call->outer;
    /* an error that the application raises itself is not an error of the call */
    switch (interrupted->function) {
    case WEND_FN_MPI_Comm_call_errhandler:
    case WEND_FN_MPI_File_call_errhandler:
    case WEND_FN_MPI_Win_call_errhandler:
    case WEND_FN_MPI_Session_call_errhandler:
        return;
    }
    /* The statuses have the errors; all other outputs are as usual. */
    interrupted->error_ignored = error_code_note(code) != MPI_ERR_IN_STATUS;
}

void callback_leave(void)
{
    Thread *t = this_thread;
    ActiveCall *c = t->call;
    t->sequence = c->outer_sequence;
    t->inside = c->outer_inside;
    __atomic_store_n(&t->call, c->outer, __ATOMIC_RELEASE);
}
