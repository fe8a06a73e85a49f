/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence.h: the calls of one thread, or of one callback. */
#ifndef WEND_SEQUENCE_H
#define WEND_SEQUENCE_H

#include "lib/record/cst.h"
#include "lib/record/grammar.h"
#include "recorder.h"

/* The calls of one thread, or of one callback object: the program M, and the unsuccessful polls
 * F. */
struct CallSequence {
    WendCst *main, *polls; /* polls: NULL until there is one */
    WendGrammar *main_grammar, *polls_grammar;
    uint64_t polls_since; /* unsuccessful polls since the last call of M */
    uint64_t calls;       /* MPI calls recorded: no unsuccessful polls, no pseudo-calls */
    uint32_t spawned;     /* worlds that were started here */
    uint64_t last_stop;   /* ticks at the end of the last call; 0: there was none */
    /* in the ids of what is made here; callbacks have numbers of their own */
    uint32_t tid;
    struct Thread *owner; /* threads only; also when it has ended */
    bool callback;
    int64_t function; /* callbacks: the function's word */
    /* invocations that are not recorded, since the last one that is */
    uint64_t passed;
    pthread_mutex_t lock; /* callbacks only: several threads may run one at a time */

    /* by number; a record serves its number for ever (live-requests.c) */
    RequestRecord **requests;
    size_t n_requests;
    /* calls that made requests while recording was off, which are pending */
    struct Stash *stashed, *stashed_last;
    uint64_t requests_made;
    /* completed by other threads: their numbers go back to the pool when this one has made some
     * more */
    RequestRecord *deferred;

    struct IdPool { /* smallest free id of each kind (handles.c) */
        uint64_t *used;
        size_t words, first;
        uint64_t made; /* so far */
        /* by other threads: not free yet */
        struct GivenBack {
            uint32_t id;
            uint64_t made;
        } * given_back;
        size_t n_given_back, cap_given_back;
    } ids[HANDLE_KINDS];
    CallSequence *next;
};

/* With threads_lock held. NULL: no memory. */
CallSequence *sequence_new(bool callback, int64_t function, uint32_t tid);
/* Takes threads_lock. */
CallSequence *sequence_of_callback(int64_t function);

/* C, complete, is the next call of its sequence, which is locked: a call of M, TIMED or not, or an
 * unsuccessful poll. False: no memory, and nothing has changed. */
bool sequence_append(ActiveCall *c, bool timed);
bool sequence_append_poll(ActiveCall *c);

static inline void sequence_lock(CallSequence *q)
{
    if (__builtin_expect(q->callback, 0))
        pthread_mutex_lock(&q->lock);
}

static inline void sequence_unlock(CallSequence *q)
{
    if (__builtin_expect(q->callback, 0))
        pthread_mutex_unlock(&q->lock);
}

#endif
