/* SPDX-License-Identifier: BSD-3-Clause */
/* wait-rows.h: how long calls waited for others that began later, summed up by call sites.
 *
 * The wait states are those of EXPERT and Scalasca: F. Wolf and B. Mohr, "Automatic performance
 * analysis of hybrid MPI/OpenMP applications", J. Systems Architecture 49 (2003), section 4; in the
 * names of Scalasca's documentation, "Late Sender", "Wait at Barrier", "Wait at N x N", "Late
 * Broadcast" and "Early Reduce". A call waits from its start until the start of the call that it
 * needs, and not beyond its own end. */
#ifndef WEND_WAIT_ROWS_H
#define WEND_WAIT_ROWS_H

#include <glib.h>

#include "lib/analysis/matching.h"
#include "wend/read.h"

/* The call of the receiver that waits for the message of E (MESSAGE_MATCHED), or for the call of E
 * (MESSAGE_WAIT). */
const MessagePlace *wait_row_call(const WendProgram *p, const MessageEvent *e);
/* How long the call at PLACE waited for the one at LATE, in seconds. NaN: a time is not known. */
gdouble wait_row_seconds(const MessagePlace *place, const MessagePlace *late);

typedef struct WaitRows WaitRows;

/* Goes through all calls. Returns NULL and sets *STATUS to the error of R if times or sites are
 * damaged, or memory is used up. The caller frees the result. */
WaitRows *wait_rows_new(WendRead *r, int *status);
void wait_rows_free(WaitRows *w); /* W may be NULL */
/* Row number INDEX, the longest time first. NULL: there are not so many. */
const WendReadWait *wait_rows_at(const WaitRows *w, guint index);

#endif
