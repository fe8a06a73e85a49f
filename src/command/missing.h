/* SPDX-License-Identifier: BSD-3-Clause */
/* missing.h: what a recording lacks, as its own calls tell: the calls of some rank did not come to
 * Wend, or recording was off. */
#ifndef WEND_COMMAND_MISSING_H
#define WEND_COMMAND_MISSING_H

#include <glib.h>

#include "wend/read.h"

typedef struct {
    guint64 left_out; /* calls that were made while recording was off (MPI_Pcontrol) */
    guint64 unsent;   /* receives that completed, and whose sends are not there */
    /* calls that returned, and waited for a call that is not there: of a collective operation, or a
     * receive that MPI_Ssend needs */
    guint64 waiting;
} Missing;

/* Finds what R lacks. Sends that nobody received do not count: MPI lets them be. Nothing is found
 * of a run in which a rank did not come to MPI_Finalize. It takes time in proportion to the calls:
 * with more than MOST of them the last two are not looked for. Returns a status of wend/read.h. */
int missing_find(WendRead *r, guint64 most, Missing *missing);

/* Text for people: "10 receives have no send". NULL: UNSENT and WAITING are 0. Newly allocated. */
char *missing_text(const Missing *missing);

#endif
