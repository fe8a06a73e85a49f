/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_threads.h: the threads of a class. */
#ifndef PROXYGEN_PLAN_THREADS_H
#define PROXYGEN_PLAN_THREADS_H

#include "plan.h"

/* The use of an object, or of a block of memory, that several threads name. COMMIT is
 * MPI_Type_commit. */
typedef enum { SHARED_USE, SHARED_COMMIT, SHARED_END, SHARED_MAKE } SharedRole;
typedef struct {
    WendKind kind; /* WEND_KIND_SEGMENT for memory */
    gint64 word;
    SharedRole role;
    guint number;  /* number among all shared objects */
    gboolean late; /* a datatype that its maker commits, and which is ready then */
} SharedUse;

/* Finds the threads of each class, and the objects that they share. Call it after the sequences of
 * all classes are found. */
void plan_threads(Plan *plan);

/* Finds the memory that shared requests use. Call it after plan_mark. */
void plan_threads_borrowed(Plan *plan);

/* The uses of shared objects by the call: an array of SharedUse, which the caller frees. */
GArray *plan_threads_shared(Plan *plan, guint terminal);

#endif
