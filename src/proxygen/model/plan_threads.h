/* SPDX-License-Identifier: BSD-3-Clause */
/* plan_threads.h: the threads of a class. */
#ifndef PROXYGEN_PLAN_THREADS_H
#define PROXYGEN_PLAN_THREADS_H

#include "plan.h"

/* An object, or a block of memory, that several threads name, in a call. */
/* COMMIT: MPI_Type_commit */
typedef enum { SHARED_USE, SHARED_COMMIT, SHARED_END, SHARED_MAKE } SharedRole;
typedef struct {
    WendKind kind; /* WEND_KIND_SEGMENT for memory */
    gint64 word;
    SharedRole role;
    guint number;  /* among all that are shared */
    gboolean late; /* a datatype that is committed by its maker: it is ready then */
} SharedUse;

/* After the sequences of all classes have been found. */
gboolean plan_threads(Plan *plan, GError **error);

/* What memory the shared requests use: after it is known who runs what. */
void plan_borrowed(Plan *plan);

/* What the call does to objects that several threads name: of SharedUse; the caller frees it. */
GArray *threads_shared(Plan *plan, guint terminal);

#endif
