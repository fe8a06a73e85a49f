/* SPDX-License-Identifier: BSD-3-Clause */
/* call.h: the life of a call: what a wrapper does with the recorder. The hot path is inline.
 *
 * A wrapper is:
 *
 *   int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag,
 *                MPI_Comm comm)
 *   {
 *       ActiveCall *c = call_begin(WEND_FN_MPI_Send);
 *       if (!c)                         // Wend is off, or MPI calls itself
 *           return PMPI_Send(buf, count, datatype, dest, tag, comm);
 *       call_put_slot(c, comm_metadata_self(comm_metadata(comm)));
 *       encode_in_buf(c, buf);
 *       call_put_slot(c, count);
 *       call_put_shape(c, handle_word(HANDLE_DATATYPE, HANDLE_VALUE(datatype))); …
 *       call_start(c);
 *       int rc = PMPI_Send(…);
 *       call_stop(c, rc);               // after it nothing counts as time of the call
 *       if (call_ok(c)) { outputs }
 *       call_end(c);                    // signature -> terminal -> grammar, outcome, timing;
 *                                       // errno is as the library left it
 *       return rc;
 *   }
 *
 * (encode_in_buf and the like are encode.h's. call_stop sets failed, unless the code is MPI_SUCCESS
 * or of class MPI_ERR_IN_STATUS. The put functions stop the recording when memory is short.)
 *
 * Rules: nothing here ever fails towards the application; when memory is short recording stops
 * (state->broken) and wrappers pass through. Inputs are read before the PMPI call (it may change
 * them), outputs after it and only when call_ok. No handle that Wend does not know is ever passed
 * to an MPI function. Between call_begin and call_end of one thread no application code runs but
 * callbacks, and those are wrapped (closures.c), which gives them an ActiveCall of their own. While
 * a wrapper is inside PMPI, call_begin returns NULL on that thread. */
#ifndef WEND_CALL_H
#define WEND_CALL_H

#include "recorder.h"

static inline void call_put_shape(ActiveCall *c, int64_t w)
{
    words_put(&c->shape, w);
}
static inline void call_put_slot(ActiveCall *c, int64_t w)
{
    words_put(&c->slots, w);
}
/* A bit of a set of the words of a shape or of slots; none if the word is not among the first. */
static inline uint64_t call_word_bit(size_t word)
{
    return word < 64 ? UINT64_C(1) << word : 0;
}
static inline void call_put_amount(ActiveCall *c, int64_t w)
{
    c->amounts |= call_word_bit(c->slots.n);
    call_put_slot(c, w);
}
static inline void call_put_outcome(ActiveCall *c, int64_t w)
{
    words_put(&c->outcome, w);
}

/* It is not running any more, and its words may change. Either the watcher sees that, or this
 * thread sees that the watcher reads, and waits. */
static inline void call_left(ActiveCall *c)
{
    atomic_store_explicit(&c->running, false, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&state()->hold, memory_order_acquire), 0)) {
        recorder_wait(c->thread);
        recorder_leave(c->thread);
    }
}

/* It is part of the wrapper, whose return address and frame it notes. */
__attribute__((always_inline)) static inline ActiveCall *call_begin(int function)
{
    if (!atomic_load_explicit(&state()->active, memory_order_relaxed))
        return NULL;
    Thread *t = thread_self();
    if (!t || t->inside)
        return NULL;
    t->inside = true;
    ActiveCall *c = t->call;
    c->saved_errno = errno;
    c->sequence = t->sequence;
    c->function = function;
    c->return_address = (uintptr_t)__builtin_return_address(0);
    c->frame = __builtin_frame_address(0);
    c->failed = c->error_ignored = c->found_nothing = c->varies = c->kept = false;
    c->stash_at = NULL;
    c->ending.maker = NULL;
    if (__builtin_expect(atomic_load_explicit(&c->running, memory_order_relaxed), 0))
        call_left(c); /* an exception did, through MPI */
    c->recorded = NULL;
    c->nulls = 0;
    c->rc = 0;
    c->shape.w[0] = WEND_SHAPE_HEAD(function, false);
    c->shape.n = 1;
    c->slots.n = 0;
    c->outcome.n = 2; /* polls and return code: call_end */
    c->n_requests = 0;
    return c;
}

static inline void call_start(ActiveCall *c)
{
    if (__builtin_expect(state()->replay != NULL, 0))
        c->recorded = state()->replay->before(c);
    errno = c->saved_errno;
    atomic_store_explicit(&c->running, true, memory_order_release);
    c->start = clock_ticks();
}

static inline void call_stop(ActiveCall *c, int rc)
{
    c->stop = clock_ticks();
    c->saved_errno = errno;
    call_left(c);
    if (__builtin_expect(rc != MPI_SUCCESS || c->error_ignored, 0)) {
        c->rc = error_code_note(rc);
        c->failed = c->rc != MPI_ERR_IN_STATUS;
    }
}

/* Ends a call that has yet to be made, since afterwards nothing can be recorded: it counts as
 * successful, and how long it takes is not known. */
static inline void call_stop_untimed(ActiveCall *c)
{
    call_stop(c, MPI_SUCCESS);
    c->stop = 0;
}

static inline bool call_ok(const ActiveCall *c)
{
    return !c->failed;
}

/* -- the end of a call -- */

void call_end(ActiveCall *c);
/* The same in two steps, between which words may be put while the sequence is locked. */
void call_end_enter(ActiveCall *c);
void call_end_leave(ActiveCall *c);
void call_forget(ActiveCall *c); /* instead of call_end: nothing is recorded */
/* A pseudo-call of the spec, into the calling thread's sequence: words after word 0 of the shape,
 * and after the outcome's polls and return code; at most 6 of each. */
void call_pseudo(int function, const int64_t *shape, size_t n_shape, const int64_t *outcome,
                 size_t n_outcome);

#endif
