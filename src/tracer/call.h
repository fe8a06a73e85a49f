/* call.h: the life of a call: the hot path, inline. runtime.h says how wrappers use it. */
#ifndef WEND_CALL_H
#define WEND_CALL_H

#include <errno.h>

#include "clock.h"
#include "error-codes.h"
#include "runtime.h"
#include "state.h"

/* What a thread is doing. Callbacks of the application that MPI runs get a Call and a Sequence of their own (callback_enter). */
typedef struct Thread {
    Call *call;                       /* the innermost */
    Sequence *sequence;               /* that calls go to now */
    uint32_t number;
    Words frees;                      /* segments freed inside MPI: recorded after the call */
    bool inside;                      /* between call_begin and call_end: MPI that is called now is called by MPI, or by Wend */
    _Atomic bool busy;                /* between recorder_enter and recorder_leave */
    _Atomic int postponed;            /* a signal that came then waits for the end of it (ending.c) */
    struct Asked *asked;              /* NULL: no address yet */
    MPI_Status *statuses;             /* scratch */
    size_t n_statuses;
} Thread;

extern __thread Thread *wend_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

Thread *thread_new(void);             /* of the calling thread; NULL: no memory, and recording has stopped */

/* For the function that makes a thread's state (State's thread_new). NULL and false: no memory. */
Thread *thread_alloc(void);
void thread_free(Thread *t);
bool thread_register(Thread *t, uint32_t number); /* it has a sequence from now on. With threads_lock held */

bool words_grow(Words *w);            /* false: no memory, and recording has stopped */

static inline Thread *thread_self(void)
{
    Thread *t = wend_thread;
    return __builtin_expect(t != NULL, 1) ? t : thread_new();
}

/* What is recorded (sequences, and the words of a running call) is changed between these two, and read by the watcher while nobody is there. They cost a
 * few loads and stores: that they are seen in their order by another processor is the watcher's business (membarrier). */
void recorder_wait(Thread *t);        /* until the watcher has read */
void recorder_postponed(Thread *t);   /* the signal comes again, now */

/* For the watcher. From hold to release no thread changes what is recorded. False: some thread does not
 * leave the recorder, as it has crashed there; nothing is held. */
bool recorder_hold(void);
void recorder_release(void);

static inline void recorder_enter(Thread *t)
{
    atomic_store_explicit(&t->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&state()->hold, memory_order_acquire), 0))
        recorder_wait(t);
}

static inline void recorder_leave(Thread *t)
{
    atomic_store_explicit(&t->busy, false, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&t->postponed, memory_order_relaxed) != 0, 0))
        recorder_postponed(t);
}

static inline void words_put(Words *w, int64_t word)
{
    if (__builtin_expect(w->n < w->cap, 1) || words_grow(w))
        w->w[w->n++] = word;
}

/* Room for N words, which count as put. NULL: no memory. */
static inline int64_t *words_room(Words *w, size_t n)
{
    while (__builtin_expect(w->cap - w->n < n, 0))
        if (!words_grow(w))
            return NULL;
    w->n += n;
    return w->w + w->n - n;
}

static inline void put_shape(Call *c, int64_t w) { words_put(&c->shape, w); }
static inline void put_slot(Call *c, int64_t w) { words_put(&c->slots, w); }
static inline void put_amount(Call *c, int64_t w)
{
    c->amounts |= c->slots.n < 64 ? UINT64_C(1) << c->slots.n : 0;
    put_slot(c, w);
}
static inline void put_outcome(Call *c, int64_t w) { words_put(&c->outcome, w); }

/* It is not running any more, and its words may change. Either the watcher sees that, or this thread sees that the watcher reads, and waits. */
static inline void call_left(Call *c)
{
    atomic_store_explicit(&c->running, false, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&state()->hold, memory_order_acquire), 0)) {
        recorder_wait(c->thread);
        recorder_leave(c->thread);
    }
}

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
    c->stash_at = NULL;
    c->ending.maker = NULL;
    if (__builtin_expect(atomic_load_explicit(&c->running, memory_order_relaxed), 0))
        call_left(c);                 /* an exception did, through MPI */
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
    atomic_store_explicit(&c->running, true, memory_order_release);
    c->start = clock_ticks();
}

static inline void call_stop(Call *c, int rc)
{
    c->stop = clock_ticks();
    c->saved_errno = errno;
    call_left(c);
    if (__builtin_expect(rc != MPI_SUCCESS || c->forgiven, 0)) {
        c->rc = error_code_note(rc);
        c->failed = c->rc != MPI_ERR_IN_STATUS;
    }
}

/* Ends a call that has yet to be made, since afterwards nothing can be recorded: it counts as
 * successful, and how long it takes is not known. */
static inline void call_stop_untimed(Call *c)
{
    call_stop(c, MPI_SUCCESS);
    c->stop = 0;
}

static inline bool call_ok(const Call *c) { return !c->failed; }

void call_end(Call *c);

#endif
