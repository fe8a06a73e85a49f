/* SPDX-License-Identifier: BSD-3-Clause */
/* otf2-events.h: the events of OTF2 that follow from a call: messages, requests, collectives, one-
 * sided operations, files. */
#ifndef WEND_EXPORT_OTF2_EVENTS_H
#define WEND_EXPORT_OTF2_EVENTS_H

#include <glib.h>
#include <otf2/otf2.h>

#include "format.h"
#include "otf2-names.h"

/* What is known of the requests, windows and files of one rank. */
typedef struct Otf2Rank Otf2Rank;

Otf2Rank *otf2_rank_new(Otf2Names *n, guint rank);
void otf2_rank_free(Otf2Rank *r); /* R may be NULL */

/* Writes the events of a call with W, the writer of its location: from the entry to the return. */
OTF2_ErrorCode otf2_rank_write_call(Otf2Rank *r, OTF2_EvtWriter *w, guint64 location,
                                    const TimedCall *timed);

#endif
