/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h: what the tracer knows of its process. One struct, reached through state().
 *
 * Everything that outlives a call hangs here or on a CallSequence. Threads' states stay registered
 * when their thread ends, because MPI_Finalize encodes them. Locks are leaves: none is held across
 * a call into MPI or into the application. */
#ifndef WEND_STATE_H
#define WEND_STATE_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "failure.h"

/* Locks are taken only where several threads may be in MPI at once. The answer of lock() goes to
 * unlock(). */
typedef struct State {
    /* A thread's first call: makes its Thread (recorder.h), or returns NULL. Set by who knows all
     * that has to be there by then, before anything is recorded (thread-start.c). */
    struct Thread *(*thread_new)(void);
    _Atomic bool active;    /* wrappers follow; false: they pass through */
    _Atomic bool recording; /* and append (MPI_Pcontrol, WEND_TRACING) */
    _Atomic bool broken;    /* recording cannot go on */
    _Atomic(const char *) broken_why;
    _Atomic(void (*)(void)) at_break; /* called when it breaks, in any thread and under any lock */
    _Atomic bool multiple;            /* several threads may call MPI at once */
    _Atomic bool forked;              /* a forked child: inert */
    /* the watcher reads what is recorded: who would change it waits (recorder.h) */
    _Atomic uint32_t hold;

    /* clock.c */
    bool tsc; /* ticks are the processor's; else nanoseconds */
    double seconds_per_tick;

    pthread_mutex_t threads_lock;
    /* in order of their first call; callbacks among them */
    struct CallSequence *sequences, **sequences_end;
    uint32_t n_threads;

    pthread_mutex_t handles_lock, requests_lock;

    /* control.c */
    /* the MPI library is of another family: the program runs past Wend (foreign-mpi.h) */
    bool other_family;
    /* another libwend.so is in this process, before this one, and does it all */
    bool spare;
    bool started; /* MPI has been started in this process */
    /* and this is its number: children by vfork, which share all this, have others */
    long process;
    struct {
        long uid, gid, dumpable;
    } user;                     /* then */
    bool worldly;               /* MPI_Init has succeeded */
    bool world;                 /* and MPI_Finalize has not begun */
    _Atomic bool refused;       /* no place for the recording, and said so */
    int sessions;               /* open ones of the application */
    _Atomic bool finished;      /* the recording is closed */
    int world_rank, world_size; /* -1: unknown yet */
    bool world_group_known;
    MPI_Group world_group;
    /* an attribute of MPI_COMM_SELF says when the application is done */
    bool watching;
    int self_keyval;
    int thread_level; /* provided */
    bool spawned;
} State;

extern State wend_state;
static inline State *state(void)
{
    return &wend_state;
}

/* Is this a child of the process that started MPI? Also if nobody was told of its making, and if it
 * still has the parent's memory. */
static inline bool state_inherited(void)
{
    return state()->forked || syscall(SYS_getpid) != state()->process;
}

/* Notes whose process this is, when MPI starts; and is it another's now (setuid and the like)?
 * Then the kernel refuses what MPI libraries do to move large messages within a host, which is
 * to read the other process's memory: UCX aborts, and Open MPI's vader goes on with what it has
 * not read. */
void state_note_user(void);
bool state_is_other_user(void);

static inline bool state_lock(pthread_mutex_t *lock)
{
    if (__builtin_expect(!atomic_load_explicit(&state()->multiple, memory_order_relaxed), 1))
        return false;
    pthread_mutex_lock(lock);
    return true;
}

static inline void state_unlock(pthread_mutex_t *lock, bool locked)
{
    if (locked)
        pthread_mutex_unlock(lock);
}

#endif
