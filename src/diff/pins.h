/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.h: the calls of a proxy that name values that the run decided (docs/compiling.md). These are
 * a receive from any source, with the source that it got, and MPI_Dist_graph_create as
 * MPI_Dist_graph_create_adjacent, with the order that it got. */
#ifndef WEND_DIFF_PINS_H
#define WEND_DIFF_PINS_H

#include <glib.h>

#include "lib/read/program.h"

/* The sources of the messages that the receives and probes from any source of one sequence got. */
typedef struct Pins Pins;

/* Walks the sequence once. The caller frees the result with pins_free. */
Pins *pins_new(const WendProgram *p, guint rank, guint sequence);
void pins_free(Pins *pins);

/* The source of the message that call number INDEX got, as a rank in the call's communicator.
 * WEND_ABSENT if the call names its source, or got no message. Fast for ascending calls. */
gint64 pins_source(Pins *pins, guint64 index);

/* What a persistent receive from any source got. */
typedef struct {
    GArray *sources; /* gint64: each one once, in the order in which they came first */
    GArray *starts;  /* guint: an index in SOURCES, for each start that ended */
} PinnedStarts;

/* The starts of the persistent receive of call number INDEX, if it got messages of several ranks.
 * Else NULL. Starts that got no message have the source MPI_ANY_SOURCE. */
const PinnedStarts *pins_starts(Pins *pins, guint64 index);

/* The argument of CALL that names a source, or NULL. Sets *ANY if it is MPI_ANY_SOURCE. */
const WendArg *pins_source_argument(const WendCall *call, gboolean *any);

/* A changed call. It shares words with the original, and is valid until the next change. */
typedef struct {
    WendCall call;
    GArray *args; /* WendArg */
    gint64 words[6];
} PinnedCall;

void pinned_call_init(PinnedCall *pinned);
void pinned_call_clear(PinnedCall *pinned);
/* CALL with SOURCE instead of MPI_ANY_SOURCE. */
const WendCall *pinned_call_name_source(PinnedCall *pinned, const WendCall *call, gint64 source);
/* A call of MPI_Dist_graph_create, as a walk gives it, as a call of MPI_Dist_graph_create_adjacent.
 * UNKNOWN_OLD says that the recording does not know the old communicator. NULL if the recording
 * does not have the order. */
const WendCall *pinned_call_adjacent(PinnedCall *pinned, const WendCall *call,
                                     gboolean unknown_old);

#endif
