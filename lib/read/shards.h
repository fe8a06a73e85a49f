/* SPDX-License-Identifier: BSD-3-Clause */
/* shards.h: reads an archive of a world whose ranks are in several members (docs/format.md,
 * "Shards"). */
#ifndef WEND_SHARDS_H
#define WEND_SHARDS_H

#include "program-private.h"

/* Whether the meta of P names shards. */
gboolean shards_are(const WendProgram *p);

/* Reads "program" and the shards, and joins them to one program, which it returns. P has a
 * container and its meta and nothing else. Takes P, also on failure. Returns NULL and sets the
 * error if
 *
 * - the list of shards or a member is damaged,
 * - a rank is in two members, or
 * - a rank is in none although the recording is complete.
 *
 * If RANK is not ALL_RANKS it reads "program" and the shard with that rank alone. Then the ranks of
 * other shards have a class without calls. */
WendProgram *shards_read(WendProgram *p, gint64 rank, GError **error);

#endif
