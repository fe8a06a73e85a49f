/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded.h: simulated ranks as an archive, and whether it says what they did. */
#ifndef WEND_RECORDED_H
#define WEND_RECORDED_H

#include "simulated.h"

#include <glib.h>

#include "../../lib/archive/write.h"
#include "../../lib/merge/merge.h"
#include "../../lib/read/program.h"

/* RANKS: SimulatedRank. They are merged in an order drawn from RAND; NULL: the first one takes the
 * others one by one. merge_free. */
WendMerge *merged(GPtrArray *ranks, GRand *rand);
/* A new folder for an archive; discard removes both and frees the name. */
char *recorded_folder(void);
void discard(char *dir);
/* They are merged likewise, as an archive in such a folder. RESULT may be NULL. */
char *record(GPtrArray *ranks, GRand *rand, WendArchiveResult *result);
char *recorded_bytes(const char *dir, gsize *n); /* all of the archive; g_free */

/* The archive in DIR has all calls of RANKS, which have been kept, word by word: read from the
 * rules up, and by a walk. */
void check(const char *dir, GPtrArray *ranks);
/* All its calls have been timed, and each once. */
void check_times(const char *dir);
/* All of that; and in whatever order they are merged, the bytes are the same. */
WendArchiveResult in_any_order(GPtrArray *ranks, GRand *rand);
/* And they are one class. Gives how many bytes. */
gsize one_class(GPtrArray *ranks, GRand *rand);

#endif
