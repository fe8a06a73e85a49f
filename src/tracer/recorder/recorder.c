/* SPDX-License-Identifier: BSD-3-Clause */
/* recorder.c: the end of a call, and notes. */
#include "recorder.h"

#include "lib/record/functions.h"
#include "sequence.h"

/* Whether the call is recorded even while recording is off, because it makes, ends or changes an
 * object. Readers must know the object when recording is on again, and a proxy must make it.
 * handles.c and live-requests.c mark their own calls; mpi.spec has all others. */
static bool is_kept(const ActiveCall *c)
{
    return c->kept || (mpi_functions[c->function].flags & WEND_F_KEPT);
}

/* Appends the call. The sequence is locked. TIMED is false for a note. */
static void append(ActiveCall *c, bool timed)
{
    State *s = state();
    CallSequence *q = c->sequence;
    c->shape.w[0] |= c->failed;
    if (__builtin_expect(c->nulls != 0, 0))
        call_put_shape(c, c->nulls);
    if (__builtin_expect(s->replay != NULL, 0))
        s->replay->after(c);
    if (atomic_load_explicit(&s->active, memory_order_relaxed)) {
        bool poll = c->found_nothing && !c->failed, ok = true;
        if (atomic_load_explicit(&s->recording, memory_order_relaxed)) {
            if (__builtin_expect(q->stashed != NULL, 0))
                ok = stash_append_all(q);
            ok = ok && (poll ? sequence_append_poll(c) : sequence_append(c, timed));
            q->calls += ok && timed && !poll;
        } else if (!poll && is_kept(c)) {
            ok = sequence_append(c, timed);
            q->calls += ok && timed;
        } else {
            q->left_out += timed && !poll;
            if (c->stash_at)
                stash_call(c);
        }
        if (!ok)
            state_break("out of memory");
    }
    if (timed)
        q->last_stop = c->stop;
}

static void append_pending_frees(Thread *t);

static inline void leave(ActiveCall *c)
{
    Thread *t = c->thread;
    c->ended++;
    t->inside = false;
    if (__builtin_expect(t->frees.n > 0, 0))
        append_pending_frees(t);
    if (__builtin_expect(state()->replay != NULL, 0))
        state()->replay->left();
    errno = c->saved_errno;
}

static inline void enter(ActiveCall *c)
{
    sequence_lock(c->sequence);
    recorder_enter(c->thread);
}

static inline void finish(ActiveCall *c, bool timed)
{
    append(c, timed);
    recorder_leave(c->thread);
    sequence_unlock(c->sequence);
}

void call_end_enter(ActiveCall *c)
{
    enter(c);
}

void call_end_leave(ActiveCall *c)
{
    finish(c, true);
    leave(c);
}

void call_end(ActiveCall *c)
{
    enter(c);
    finish(c, true);
    leave(c);
}

void call_forget(ActiveCall *c)
{
    leave(c);
}

static void append_pseudo(int function, const int64_t *shape, size_t n_shape, const int64_t *slots,
                          size_t n_slots, const int64_t *outcome, size_t n_outcome)
{
    State *s = state();
    if (!atomic_load_explicit(&s->active, memory_order_relaxed))
        return;
    int saved = errno;
    Thread *t = thread_self();
    if (!t)
        return;
    /* A note may come while a call is being encoded, so it uses none of that call's words. */
    int64_t shape_words[8] = {WEND_SHAPE_HEAD(function, false)}, outcome_words[8];
    ActiveCall c = {
        .thread = t,
        .sequence = t->sequence,
        .function = function,
        .shape = {shape_words, 1, 8},
        .slots = {(int64_t *)slots, n_slots, n_slots},
        .outcome = {outcome_words, 2, 8},
    };
    for (size_t i = 0; i < n_shape && c.shape.n < c.shape.cap; i++)
        shape_words[c.shape.n++] = shape[i];
    for (size_t i = 0; i < n_outcome && c.outcome.n < c.outcome.cap; i++)
        outcome_words[c.outcome.n++] = outcome[i];
    enter(&c);
    finish(&c, false);
    errno = saved;
}

void call_pseudo(int function, const int64_t *shape, size_t n_shape, const int64_t *outcome,
                 size_t n_outcome)
{
    append_pseudo(function, shape, n_shape, NULL, 0, outcome, n_outcome);
}

/* -- memory that MPI used -- */

static void append_free(int64_t segment)
{
    call_pseudo(WEND_FN_wend_free, &segment, 1, NULL, 0);
}

static void append_pending_frees(Thread *t)
{
    size_t n = t->frees.n;
    t->frees.n = 0;
    for (size_t i = 0; i < n; i++)
        append_free(t->frees.w[i]);
}

/* A free within MPI is recorded after the call that contains it, whose words and place in the
 * sequence are then complete. */
void segment_event_free(int64_t segment)
{
    int saved = errno;
    if (atomic_load_explicit(&state()->active, memory_order_relaxed)) {
        Thread *t = thread_self();
        if (t && t->inside)
            words_put(&t->frees, segment);
        else if (t)
            append_free(segment);
    }
    errno = saved;
}

void segment_event_name(int64_t segment, enum memory_place place, int device)
{
    static const int functions[] = {WEND_FN_wend_device, WEND_FN_wend_managed, WEND_FN_wend_pinned};
    append_pseudo(functions[place], &segment, 1, (int64_t[]){device}, 1, NULL, 0);
}

void segment_event_unloaded(unsigned long long modules)
{
    state()->unloaded = modules;
}
