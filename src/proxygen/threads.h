/* SPDX-License-Identifier: BSD-3-Clause */
/* threads.h: the threads of a class. */
#ifndef PROXYGEN_THREADS_H
#define PROXYGEN_THREADS_H

#include "plan.h"

/* After the sequences of all classes have been found. */
gboolean plan_threads(Plan *plan, GError **error);

/* What memory the shared requests use: after it is known who runs what. */
void plan_borrowed(Plan *plan);

/* What the call does to objects that several threads name: of SharedUse; the caller frees it. */
GArray *threads_shared(Plan *plan, guint terminal);

#endif
