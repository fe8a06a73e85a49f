/* sources.h: whom a recorded receive from any source got its message from. */
#ifndef PROXYGEN_SOURCES_H
#define PROXYGEN_SOURCES_H

#include "plan.h"

/* Fills in the sources of the plan's wildcards, and their starts where one source is not enough. */
void sources_find(Plan *plan);

/* The request that the call makes, or NULL. */
const gint64 *request_made(const WendCall *call);
/* The status of the I-th request that the call completed: Waitall and Testall have one for each entry, the Some calls one for each that completed, the
 * others one. NULL: there is none. */
const gint64 *status_of(const WendCall *call, const gint64 *completed, guint i);

#endif
