/* SPDX-License-Identifier: BSD-3-Clause */
/* window-order.h: the order in which the ranks of a host have accessed a window.
 *
 * For each target there are counters of the epochs that have ended and of the accumulating
 * operations that were made. They are in a file in memory (process/system.h) that all ranks
 * of the host map. So no message is sent for them. Each rank makes a file before it makes the
 * window, and when the window is made, all of them take that of the lowest rank. */
#ifndef WEND_WINDOW_ORDER_H
#define WEND_WINDOW_ORDER_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

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

#endif
