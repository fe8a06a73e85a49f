/* SPDX-License-Identifier: BSD-3-Clause */
/* onesided-private.h: what epochs.c and pending-results.c share. */
#ifndef WEND_ONESIDED_PRIVATE_H
#define WEND_ONESIDED_PRIVATE_H

#include "lib/record/results.h"
#include "onesided.h"
#include "side/side-streams.h"
#include "window-order.h"

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
