/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence.h: the calls of one thread, or of one callback. */
#ifndef WEND_SEQUENCE_H
#define WEND_SEQUENCE_H

#include "lib/record/cst.h"
#include "lib/record/grammar.h"
#include "lib/record/side-stream.h"
#include "lib/record/site-guesses.h"
#include "recorder.h"

/* The calls of one thread, or of one callback object: the calls M and the unsuccessful polls F. */
struct CallSequence {
    WendCst *main, *polls; /* polls is NULL until there is a poll */
    WendGrammar *main_grammar, *polls_grammar;
    uint64_t polls_since; /* unsuccessful polls since the last call of M */
    uint64_t steps;       /* calls and unsuccessful polls, with pseudo-calls */
    uint64_t calls;       /* MPI calls recorded: no unsuccessful polls, no pseudo-calls */
    uint64_t left_out;    /* MPI calls not recorded because recording was off */
    uint32_t spawned;     /* number of worlds that calls of this sequence started */
    uint64_t last_stop;   /* ticks at the end of the last call; 0: there is none */
    /* the thread in the ids of objects that are made here; a callback has a number of its own */
    uint32_t tid;
    struct Thread *owner; /* threads only; stays after the thread has ended */
    bool callback;
    int64_t function; /* callbacks: the function's word; orders: the communicator's */
    /* WEND_SEQUENCE_RECEIVES or _SENDS: the order of threads (turns.h). 0: it has calls */
    enum sequence_kind order;
    /* invocations since the last recorded one that were not recorded */
    uint64_t passed;
    pthread_mutex_t lock; /* callbacks only: several threads may run a callback, one at a time */

    /* by number; a record keeps its number for ever (live-requests.c) */
    RequestRecord **requests;
    size_t n_requests;
    /* pending requests that were made while recording was off */
    struct Stash *stashed, *stashed_last;
    uint64_t requests_made;
    /* requests that other threads completed: their numbers go back to the pool after this thread
     * has made some more */
    RequestRecord *deferred;

    struct IdPool { /* the smallest free id of each kind (handles.c) */
        uint64_t *used;
        size_t words, first;
        uint64_t made; /* number of objects made so far */
        /* ids that other threads freed, and that are not free yet */
        struct GivenBack {
            uint32_t id;
            uint64_t made;
        } * given_back;
        size_t n_given_back, cap_given_back;
    } ids[HANDLE_KINDS];
    struct SequenceReplay *replay; /* in a replay; NULL: none so far */
    /* Side streams (side-streams.h); NULL: none so far. Those of values are here for callbacks
     * only, those of times and call sites for threads, too. */
    struct SideStream *side[WEND_SIDE_KINDS];
    WendSiteGuesses sites;
    struct SiteAddresses *addresses; /* return addresses (site-recording.c); NULL: none so far */
    unsigned long long unloaded;     /* modules, as far as SITES and ADDRESSES know it */
    CallSequence *next;
};

/* Makes a sequence. The caller holds threads_lock. NULL: no memory. */
CallSequence *sequence_new(bool callback, int64_t function, uint32_t tid);
/* Makes the sequence of an order of threads on the communicator WORD. Takes threads_lock. NULL: no
 * memory. */
CallSequence *sequence_of_order(enum sequence_kind kind, int64_t word);
/* The sequence of the callback FUNCTION, made at its first use. Takes threads_lock. NULL: no
 * memory. */
CallSequence *sequence_of_callback(int64_t function);

/* Append C, which is complete, to its sequence, which is locked: as a call of M, TIMED or not, or
 * as an unsuccessful poll. Return false if memory is short; nothing has then changed. */
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
