/* SPDX-License-Identifier: BSD-3-Clause */
/* shards.h: reads an archive in which several members have the ranks of one world (docs/format.md,
 * "Shards"). */
#ifndef WEND_SHARDS_H
#define WEND_SHARDS_H

#include "program-private.h"

/* Whether the meta of P names shards. */
gboolean shards_are(const WendProgram *p);

/* Reads "program" into P, which has a container and its meta and nothing else, and then the shards,
 * and returns all as one program. Takes P. NULL: the list of shards or a member is damaged, a rank
 * is in two members, or one is in none though the recording is complete; P is freed. */
WendProgram *shards_read(WendProgram *p, GError **error);

#endif
