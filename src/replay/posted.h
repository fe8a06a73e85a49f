/* SPDX-License-Identifier: BSD-3-Clause */
/* posted.h: which recorded calls post sends and receives. The replayer counts them by the same
 * rules. */
#ifndef WEND_POSTED_H
#define WEND_POSTED_H

#include "lib/read/program.h"

/* The words of MPI_ANY_SOURCE and MPI_ANY_TAG. */
typedef struct {
    gint64 source, tag;
} PostedAny;
PostedAny posted_any(void);

/* The parameter with the source, tag and size of a receive: the request that CALL makes, or the
 * status of a receive that waits. NULL: CALL receives nothing, or what a probe has matched. */
const WendParam *posted_receive(const WendCall *call);
/* CALL makes a request for a receive, for a send. A call that does both is a receive. */
gboolean posted_is_receive(const WendCall *call);
gboolean posted_is_send(const WendCall *call);
gboolean posted_is_persistent(const WendCall *call);
/* MPI_Start or MPI_Startall. */
gboolean posted_starts(const WendCall *call);
/* The receive leaves source or tag to the messages that come. */
gboolean posted_leaves_open(const WendCall *call, PostedAny any);
/* The word of an input, and of the request that CALL makes. WEND_ABSENT: there is none. */
gint64 posted_word(const WendCall *call, int param);
gint64 posted_request(const WendCall *call);
/* The call that made REQUEST, which a call of WALK names. NULL: unknown. It belongs to DECODER,
 * until its next use. */
const WendCall *posted_maker(const WendWalk *walk, WendDecoder *decoder, guint rank,
                             gint64 request);

#endif
