/* threads.h: the threads of a class. */
#ifndef PROXYGEN_THREADS_H
#define PROXYGEN_THREADS_H

#include "plan.h"

/* Cuts the bodies of main threads where others start and end; after the threads have been found. */
gboolean plan_threads(Plan *plan, GError **error);

#endif
