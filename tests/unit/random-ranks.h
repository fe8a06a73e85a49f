/* SPDX-License-Identifier: BSD-3-Clause */
/* random-ranks.h: simulated ranks that run a random program. */
#ifndef WEND_RANDOM_RANKS_H
#define WEND_RANDOM_RANKS_H

#include "simulated.h"

#include <glib.h>

/* WORLD ranks (SimulatedRank), which keep their calls. SEED determines the program. The ranks draw
 * from a common generator what they do and from one of their own how they differ. Some have two
 * threads, and some a callback. */
GPtrArray *random_ranks(guint32 seed, guint world);

#endif
