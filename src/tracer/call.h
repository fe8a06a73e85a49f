/* call.h: the life of a call: the hot path, inline. runtime.h says how wrappers use it. */
#ifndef WEND_CALL_H
#define WEND_CALL_H

#include <errno.h>

#include "state.h"

/* What a thread is doing. Callbacks of the application that MPI runs get a Call and a Sequence of their own (callback_enter). */
typedef struct Thread {
    Call *call;                       /* the innermost */
    Sequence *sequence;               /* that calls go to now */
    uint32_t number;
    Words frees;                      /* segments freed inside MPI: recorded after the call */
    bool inside;                      /* between call_begin and call_end: MPI that is called now is called by MPI, or by Wend */
    struct Asked *asked;              /* NULL: no address yet */
    MPI_Status *statuses;             /* scratch */
    size_t n_statuses;
} Thread;

extern __thread Thread *wend_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

Thread *thread_new(void);             /* of the calling thread; NULL: no memory, and recording has stopped */
bool words_grow(Words *w);            /* false: no memory, and recording has stopped */

static inline Thread *thread_self(void)
{
    Thread *t = wend_thread;
    return __builtin_expect(t != NULL, 1) ? t : thread_new();
}

static inline void words_put(Words *w, int64_t word)
{
    if (__builtin_expect(w->n < w->cap, 1) || words_grow(w))
        w->w[w->n++] = word;
}

static inline void put_shape(Call *c, int64_t w) { words_put(&c->shape, w); }
static inline void put_slot(Call *c, int64_t w) { words_put(&c->slots, w); }
static inline void put_outcome(Call *c, int64_t w) { words_put(&c->outcome, w); }

static inline Call *call_begin(int function)
{
    if (!atomic_load_explicit(&state()->active, memory_order_relaxed))
        return NULL;
    Thread *t = thread_self();
    if (!t || t->inside)
        return NULL;
    t->inside = true;
    Call *c = t->call;
    c->saved_errno = errno;
    c->sequence = t->sequence;
    c->function = function;
    c->failed = c->forgiven = c->found_nothing = c->varies = c->kept = false;
    c->made = NULL;
    c->ending.maker = NULL;
    c->nulls = 0;
    c->rc = 0;
    c->shape.w[0] = WEND_SHAPE_HEAD(function, false);
    c->shape.n = 1;
    c->slots.n = 0;
    c->outcome.n = 2;                 /* polls and return code: call_end */
    c->n_requests = 0;
    return c;
}

static inline void call_start(Call *c)
{
    errno = c->saved_errno;
    c->start = clock_ticks();
}

int call_error_class(int rc);         /* class, or RC itself where MPI cannot say */

static inline void call_stop(Call *c, int rc)
{
    c->stop = clock_ticks();
    c->saved_errno = errno;
    if (__builtin_expect(rc != MPI_SUCCESS || c->forgiven, 0)) {
        c->rc = call_error_class(rc);
        c->failed = c->rc != MPI_ERR_IN_STATUS;
    }
}

static inline bool call_ok(const Call *c) { return !c->failed; }

void call_end(Call *c);

#endif
