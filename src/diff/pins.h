/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.h: calls as a proxy makes them that names what the run decided (docs/compiling.md):
 * a receive from any source with the source that it got, and MPI_Dist_graph_create as
 * MPI_Dist_graph_create_adjacent with the order that it got. */
#ifndef WEND_DIFF_PINS_H
#define WEND_DIFF_PINS_H

#include <glib.h>

#include "lib/read/program.h"

/* Whom each receive and probe from any source of one sequence got its message from. */
typedef struct Pins Pins;

/* Walks the sequence once. */
Pins *pins_new(const WendProgram *p, guint rank, guint sequence);
void pins_free(Pins *pins);

/* The source of the message that the call number INDEX got: a rank in the call's communicator, or
 * WEND_ABSENT if the call names its source itself, or got nothing. Quick for calls in ascending
 * order. */
gint64 pins_source(Pins *pins, guint64 index);

/* The parameter of CALL that names a source, or NULL. *ANY: it is MPI_ANY_SOURCE. */
const WendArg *pins_source_argument(const WendCall *call, gboolean *any);

/* A call that was changed; it shares words with the original, and holds until the next change. */
typedef struct {
    WendCall call;
    GArray *args; /* WendArg */
    gint64 words[6];
} PinnedCall;

void pinned_call_init(PinnedCall *pinned);
void pinned_call_clear(PinnedCall *pinned);
/* CALL with SOURCE in the place of MPI_ANY_SOURCE. */
const WendCall *pinned_call_name_source(PinnedCall *pinned, const WendCall *call, gint64 source);
/* A call of MPI_Dist_graph_create, as a walk gives it, as MPI_Dist_graph_create_adjacent.
 * UNKNOWN_OLD: what it is made of is a communicator that the recording does not know. NULL: the
 * recording does not have the order. */
const WendCall *pinned_call_adjacent(PinnedCall *pinned, const WendCall *call,
                                     gboolean unknown_old);

#endif
