/* SPDX-License-Identifier: BSD-3-Clause */
/* onesided-private.h: what epochs.c and pending-results.c share. */
#ifndef WEND_ONESIDED_PRIVATE_H
#define WEND_ONESIDED_PRIVATE_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/record/results.h"
#include "onesided.h"
#include "side-streams.h"

/* -- window-order.c -- */

/* The order in which the ranks of a host have accessed a window.
 *
 * For each target there are counters of the epochs that have ended and of the accumulating
 * operations that were made. They are in a file in memory (process/system.h) that all ranks of
 * the host map. So no message is sent for them. Each rank makes a file before it makes the
 * window, and when the window is made, all of them take that of the lowest rank. */

typedef struct {
    _Atomic uint64_t exclusive; /* exclusive epochs that have ended */
    _Atomic uint64_t shared;    /* the others, of MPI_Win_lock */
    _Atomic uint64_t turns;     /* accumulating operations outside exclusive epochs */
    _Atomic uint32_t lock;      /* of these. 0: free, 1: held, 2: held and waited for */
    uint32_t unused;
} TargetOrder;

typedef struct {
    _Atomic uint64_t exclusive; /* exclusive epochs of all targets that have ended */
    _Atomic uint64_t all;       /* epochs of MPI_Win_lock_all that have ended */
    _Atomic uint32_t changes;   /* of any of the counters; futex */
    _Atomic uint32_t waiting;   /* threads that wait for a change */
    _Atomic uint32_t given_up;  /* the order is not kept any more */
    uint32_t unused;
    TargetOrder targets[];
} WindowOrder;

/* Before a window of COMM is made: makes this rank's file. NULL: there is no order. */
typedef struct WindowFile WindowFile;
WindowFile *window_file_new(MPI_Comm comm);
/* When the window is made: finds the order that all have. NULL: there is none. */
WindowOrder *window_file_join(WindowFile *f);
/* When the window is freed, or could not be made. F may be NULL. */
void window_file_free(WindowFile *f);

/* Waits until HAS_COME(o, place). MPI makes progress meanwhile. False: the order is given up. */
bool window_order_wait(WindowOrder *o, bool (*has_come)(const WindowOrder *o, const void *place),
                       const void *place);
/* A counter has changed. */
void window_order_wake(WindowOrder *o);
/* Nobody waits for the order any more. */
void window_order_give_up(WindowOrder *o);
/* Takes and gives the lock of a target, which is held while an operation is made. False: its owner
 * does not give it back, and the order is given up. */
bool window_order_lock(WindowOrder *o, TargetOrder *t);
void window_order_unlock(TargetOrder *t);

/* -- epochs.c and pending-results.c -- */

/* A result that is not valid yet. */
typedef struct PendingResult {
    struct PendingResult *next;
    void *at;
    int64_t bytes;     /* packed */
    MPI_Count count;   /* of elements of TYPE */
    MPI_Datatype type; /* a copy; MPI_DATATYPE_NULL: the bytes lie at AT, one after the other */
    int target;
} PendingResult;

/* Those of one thread, in the order of its calls. */
typedef struct PendingList {
    struct PendingList *next; /* by thread number */
    uint32_t thread;
    size_t n;
    PendingResult *first, *last;
} PendingList;

/* A lock that the process has. */
typedef struct HeldLock {
    struct HeldLock *next;
    int target; /* or ONESIDED_ALL */
    bool exclusive;
    bool nested; /* in a callback: it has no ordinal */
    uint32_t thread;
    uint64_t ordinal; /* among the locks of the thread */
} HeldLock;

typedef struct OneSidedWindow {
    struct OneSidedWindow *next;
    uintptr_t value; /* of the handle */
    MPI_Win win;
    int size;
    struct WindowFile *file;
    WindowOrder *order;   /* NULL: there is none */
    pthread_mutex_t lock; /* of what follows; a leaf */
    HeldLock *held;
    PendingList *pending;
} OneSidedWindow;

/* Values are recorded, or replayed. */
extern bool onesided_recording, onesided_replaying;

/* The stream of the calling thread, entered. NULL: there is none. */
SideStream *onesided_stream(WendSideKindNumber kind);

/* The result of an operation. NULL: it has none, or memory is short. */
PendingResult *onesided_result_new(int target, void *at, MPI_Count count, MPI_Datatype type);
/* Puts it aside until its target is synchronized. Takes P. */
void onesided_result_put_aside(OneSidedWindow *w, PendingResult *p);
/* The results from FIRST on are valid now: records them, and gives the program the recorded ones.
 * Takes them. */
void onesided_results_note(PendingResult *first);
/* Takes P. */
void onesided_result_free(PendingResult *p);
/* Takes the results of TARGET that were put aside, which are valid now. OWN: only those of the
 * calling thread. */
void onesided_results_take(OneSidedWindow *w, int target, bool own);
/* How many the calling thread has put aside. */
size_t onesided_results_pending(OneSidedWindow *w);
/* The target of the oldest of these. */
int onesided_results_oldest(OneSidedWindow *w);
void onesided_results_drop(OneSidedWindow *w);

#endif
