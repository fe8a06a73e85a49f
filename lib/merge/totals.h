/* SPDX-License-Identifier: BSD-3-Clause */
/* totals.h: the number of calls of a recording. The three numbers have the same names and the same
 * meaning wherever Wend reports them (wend(1), "Counts"). */
#ifndef WEND_TOTALS_H
#define WEND_TOTALS_H

#include <string.h>

#include "base/containers.h"
#include "record/functions.h"

/* Over all ranks, threads and callbacks. No call counts twice. Other entries of sequences do not
 * count: threads that start and are joined, the device of memory, the result of a callback. */
typedef struct {
    uint64_t mpi_calls; /* calls of MPI functions, unsuccessful polls aside */
    uint64_t polls; /* unsuccessful polls: calls of Test, Probe and the like that found nothing */
    uint64_t frees; /* frees of memory that MPI had used (wend_free) */
} WendTotals;

/* Counts TIMES calls of F in a main sequence, which has no unsuccessful polls. */
static inline void totals_add(WendTotals *t, const WendFunction *f, uint64_t times)
{
    if (!(f->flags & WEND_F_PSEUDO))
        t->mpi_calls += times;
    else if (f->id == WEND_FN_wend_free)
        t->frees += times;
}

/* "1,902 MPI calls, 14 unsuccessful polls, 8 frees". Numbers of 0 are left out, except that of MPI
 * calls. Newly allocated. */
char *totals_text(const WendTotals *t);

#endif
