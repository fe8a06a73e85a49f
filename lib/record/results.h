/* SPDX-License-Identifier: BSD-3-Clause */
/* results.h: what `wend trace --values` records of one-sided communication: the elements of two
 * kinds of side streams (docs/format.md, "One-sided communication"). Their numbers are part of the
 * format of the archive. */
#ifndef WEND_RESULTS_H
#define WEND_RESULTS_H

/* Results. */
typedef enum {
    WEND_RESULT_NUMBER, /* a result of sub bytes, 1 to 8, as a signed number */
    WEND_RESULT_DATA,   /* a result of more bytes, in pieces; the last one alone is shorter */
    WEND_RESULT_TURN,   /* an accumulating operation: how many the target had before it */
    WEND_RESULTS
} WendResultCode;

/* Locks: an element for each epoch between a lock and an unlock. The sub-code is its type. */
typedef enum { WEND_LOCK_EXCLUSIVE, WEND_LOCK_SHARED, WEND_LOCK_ALL } WendLockType;
enum {
    WEND_LOCK_ORDINAL, /* the number of the lock among those of the thread, from 0 */
    /* exclusive epochs of the target that had ended before; of all targets for MPI_Win_lock_all */
    WEND_LOCK_AFTER_EXCLUSIVE,
    /* the same of the others, for an exclusive lock */
    WEND_LOCK_AFTER_SHARED,
    WEND_LOCK_NUMBERS
};

#endif
