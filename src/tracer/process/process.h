/* SPDX-License-Identifier: BSD-3-Clause */
/* process.h: the process, for all files of the tracer: the state, the clock, the ranks of the
 * node. system.h has what does not depend on MPI. Also for wend trace are settings.h (options and
 * environment variables, in one table), launcher.h (the environment that launchers give) and
 * program-file.h. */
#ifndef WEND_PROCESS_H
#define WEND_PROCESS_H

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "futex.h"
#include "system.h"

/* -- state.c -- */

/* The state of the tracer in its process. One struct, reached through state().
 *
 * All data that outlives a call is here or in a CallSequence. The state of a thread stays
 * registered after the thread ends, because MPI_Finalize encodes it. Locks are leaves: no lock is
 * held across a call into MPI or into the application. */

/* Locks are taken only if several threads may be in MPI at once. The result of state_lock() is
 * passed to state_unlock(). */
struct ActiveCall;
struct CallOrigin;

typedef struct State {
    /* Makes the Thread (recorder.h) at a thread's first call, or returns NULL. thread-start.c sets
     * it, before anything is recorded. */
    struct Thread *(*thread_new)(void);
    _Atomic bool active;    /* wrappers track calls; false: they pass calls through */
    _Atomic bool recording; /* wrappers also append calls (MPI_Pcontrol, WEND_TRACING) */
    _Atomic bool was_off;   /* recording was switched off at some time, or an event looked so */
    _Atomic bool broken;    /* recording cannot go on */
    _Atomic(const char *) broken_why;
    /* called when recording breaks, in any thread and under any lock */
    _Atomic(void (*)(void)) at_break;
    _Atomic bool multiple; /* several threads may call MPI at once */
    _Atomic bool threaded; /* the application has created a thread */
    /* a replay of a recording in which the numbers of threads count all threads */
    bool threads_by_count;
    /* a replay enforces the order of threads from the first call on */
    bool turns_replayed;
    /* threads take turns on communicators (turns.h): state_order_threads */
    _Atomic bool ordered;
    _Atomic bool forked; /* a forked child, in which Wend does nothing */
    /* the watcher reads the recording: threads that would change it wait (recorder.h) */
    _Atomic uint32_t hold;

    /* the calls of a recording are made again (recorder.h). NULL: they are not */
    const struct ReplayHooks *replay;

    /* takes the times of each call that is recorded (recorder.h). NULL: they are not recorded */
    const struct TimeHook *time_hook;
    /* Records the site of a call (site-recording.c) that is not as guessed (site-guesses.h).
     * The call has just been appended to its sequence, which is locked. MARKS become those of its
     * shape and its signature; 0: sites are not recorded any more. NULL: they are not recorded. */
    void (*site_of)(struct ActiveCall *c, bool poll, uint64_t marks[2]);
    /* Finds the call stack of a call, which is then part of its site, and returns a number that
     * identifies it in its sequence, as the return address otherwise does. NULL: call stacks are
     * not recorded. */
    uintptr_t (*stack_of)(struct ActiveCall *c);
    /* Looks up from where a call of the calling thread comes, which has not returned, whether sites
     * are recorded or not. Returns false if that is not known. NULL: sites are switched off. */
    bool (*origin_of)(const struct ActiveCall *c, struct CallOrigin *origin);
    /* Modules that have been unloaded (dlpi_subs), as of the last dlclose. What is known of return
     * addresses is as of a number of them (sequence.h). */
    _Atomic unsigned long long unloaded;

    /* clock.c */
    bool tsc; /* ticks are those of the processor; else nanoseconds */
    double seconds_per_tick;

    pthread_mutex_t threads_lock;
    /* in the order of their first call; callbacks included */
    struct CallSequence *sequences, **sequences_end;
    uint32_t n_threads;

    pthread_mutex_t handles_lock, requests_lock;

    /* control.c */
    /* the MPI library is foreign: the program bypasses Wend (families/families.h) */
    bool other_family;
    /* another libwend.so comes before this one, and records */
    bool other_wend;
    bool started; /* MPI has been started in this process */
    /* the process that started MPI. Children by vfork share this memory and have other numbers */
    long process;
    struct {
        long uid, gid, dumpable;
    } user;                 /* at the start of MPI */
    bool world_initialized; /* MPI_Init has succeeded */
    bool world;             /* MPI_Finalize has not begun */
    bool unwritten;         /* nothing is to be written: a replay that is not recorded */
    /* Nothing is recorded: there is no directory for it, or too few addresses. A line said so. */
    _Atomic bool refused;
    int sessions;               /* open sessions of the application */
    _Atomic bool finished;      /* the recording is closed */
    int world_rank, world_size; /* -1: unknown yet */
    bool world_group_known;
    MPI_Group world_group;
    /* an attribute of MPI_COMM_SELF reports the end of the application */
    bool watching;
    int self_keyval;
    int thread_level; /* provided */
    bool spawned;
} State;

extern State process_state;
static inline State *state(void)
{
    return &process_state;
}

static inline unsigned long long state_unloaded(void)
{
    return atomic_load_explicit(&process_state.unloaded, memory_order_relaxed);
}

/* Whether this is a child of the process that started MPI. It also detects a child that was made
 * without notice, and one that shares the parent's memory. */
static inline bool state_inherited(void)
{
    return state()->forked || syscall(SYS_getpid) != state()->process;
}

/* state_note_user notes the process's user when MPI starts, and state_is_other_user tells whether
 * it has changed (setuid and the like). After a change the kernel refuses to read another process's
 * memory, which MPI libraries do to move large messages within a host: UCX aborts, and Open MPI's
 * vader goes on with data that it has not read. */
void state_note_user(void);
bool state_is_other_user(void);

/* After a change of what it follows from: whether the order of threads matters. */
void state_order_threads(void);

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

/* -- node.c -- */

/* The processes of this node that were started together with this one, by /proc. C11 and libc
 * alone. */

/* The name of the watcher's thread. top shows it, and other ranks find processes under Wend by
 * it. */
#define NODE_WATCHER_NAME "wend watcher"
/* and of a rank that is at its end, and does not hear of the others (watcher_at_end) */
#define NODE_WATCHER_AT_END "wend at its end"

/* Counts this node's ranks of this job that have a process, those that run under Wend, and those
 * of the latter that are at their end or have no watcher. Finds the first rank that runs under Wend
 * and the first that does not (-1: none). LIBRARY is the file of
 * libwend.so. Returns false if it cannot be determined. The first call, of this or of
 * node_launcher, is for a thread that may read the environment. */
typedef struct {
    int all, with, at_end, first_with, first_without;
} NodeRanks;
bool node_ranks(const char *library, NodeRanks *node);

/* The process that started this node's ranks, which they have in common. -1 if unknown. */
long node_launcher(void);

/* What the launcher calls this job on all its hosts, into ROOM bytes at NAME. Empty: that is not
 * known. For a thread that may read the environment. */
void node_job(char *name, size_t room);

#include "clock.h"

#endif
