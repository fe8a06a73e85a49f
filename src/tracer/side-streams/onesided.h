/* SPDX-License-Identifier: BSD-3-Clause */
/* onesided.h: what one-sided communication got, and in which order.
 *
 * `wend trace --values` records, and a replay of such a recording enforces:
 *
 * - results of MPI_Get, MPI_Fetch_and_op and the like, when the buffer is valid: at the flush, the
 *   unlock, the fence or MPI_Win_complete;
 * - the order of epochs between a lock and an unlock, of each target;
 * - the order of accumulating operations in epochs that are not exclusive.
 *
 * The order is known among the ranks of a host (window-order.c). Without --values nothing here does
 * anything. docs/replay.md, "One-sided communication", says what follows from it. */
#ifndef WEND_TRACER_ONESIDED_H
#define WEND_TRACER_ONESIDED_H

#include "recorder/recorder.h"

extern _Atomic bool onesided_active __attribute__((visibility("hidden")));
static inline bool onesided_on(void)
{
    return __builtin_expect(atomic_load_explicit(&onesided_active, memory_order_relaxed), 0);
}

/* When the library is loaded, after replay_open. */
void onesided_open(void);
/* When MPI has started. */
void onesided_start(void);
/* When nothing is recorded any more: behind the last call, or in a forked child. Calls no MPI
 * function. */
void onesided_stop(void);

/* -- windows -- */

/* Before a window of COMM is made. NULL: there is nothing to do. */
struct WindowFile *onesided_announce(MPI_Comm comm);
/* After it, with its code. */
void onesided_window_made(struct WindowFile *file, MPI_Comm comm, int rc, const MPI_Win *win);
/* Before a window is freed, and after it. In between the order can still be found: another rank may
 * just have made the window, and look for it. All ranks have it when one returns. */
struct WindowFile *onesided_window_ends(const MPI_Win *win);
void onesided_window_ended(struct WindowFile *file);

/* -- epochs: TARGET is a rank, or ONESIDED_ALL -- */

enum { ONESIDED_ALL = -100 };

/* Before the lock, which waits in a replay for those that came before it. */
void onesided_lock(ActiveCall *c, MPI_Win win, int target, bool exclusive);
/* After it. */
void onesided_locked(MPI_Win win, int target, bool exclusive, int rc);
/* Before the unlock: completes the operations and counts the epoch. */
void onesided_unlock(MPI_Win win, int target);
/* After a call that completes operations on TARGET, with its code. */
void onesided_synchronized(MPI_Win win, int target, int rc);

/* -- operations -- */

typedef struct {
    struct OneSidedWindow *window; /* NULL: there is nothing to do */
    MPI_Win win;
    int target;
    bool at_once; /* it is complete when the call returns */
    bool turn;    /* it is in the order of the target's accumulating operations */
    bool locked;  /* it has the target's lock */
} OneSided;

/* Declares an operation whose turn ends with its scope, also if an exception leaves it. */
#define ONE_SIDED __attribute__((cleanup(onesided_drop))) OneSided

OneSided onesided_enter(ActiveCall *c, MPI_Win win, int target, bool accumulates);
void onesided_leave(OneSided *o, int rc, void *at, MPI_Count count, MPI_Datatype type,
                    bool has_request);
void onesided_release(OneSided *o);

/* Before an operation. ACCUMULATES: it is atomic, so it takes a turn. */
static inline OneSided onesided_begin(ActiveCall *c, MPI_Win win, int target, bool accumulates)
{
    return onesided_on() ? onesided_enter(c, win, target, accumulates) : (OneSided){.window = NULL};
}

/* After it, with its code. The result is COUNT elements of TYPE at AT; without one, AT is NULL.
 * HAS_REQUEST: the program may also complete it by a request. */
static inline void onesided_end(OneSided *o, int rc, void *at, MPI_Count count, MPI_Datatype type,
                                bool has_request)
{
    if (__builtin_expect(o->window != NULL, 0))
        onesided_leave(o, rc, at, count, type, has_request);
}

static inline void onesided_drop(OneSided *o)
{
    if (__builtin_expect(o->window != NULL, 0))
        onesided_release(o);
}

#endif
