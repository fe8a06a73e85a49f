/* SPDX-License-Identifier: BSD-3-Clause */
/* shared-sides.h: side streams that are equal on many ranks, on their way into the archive. For
 * example, ranks that run the same code have the same streams of call sites. A merge has each
 * different stream once. Large streams of a rank are seldom those of another rank, so they become
 * members of their own (side-members.h). */
#ifndef WEND_SHARED_SIDES_H
#define WEND_SHARED_SIDES_H

#include <glib.h>

#include "ranks/rankset.h"
#include "record/side-stream.h"

typedef struct {
    guint32 kind;    /* WendSideKindNumber */
    GBytes *content; /* the streams of one rank, as a part has them (side-stream.h) */
    RankSet ranks;   /* which have these streams */
} SharedSide;

GArray *shared_sides_new(void); /* of SharedSide; the caller unrefs it */
/* Adds the streams of KIND of RANK. FALSE: they are not such as other ranks have, too, and nothing
 * was added. */
gboolean shared_sides_add(GArray *shared, guint32 kind, GBytes *content, guint32 rank);
void shared_sides_encode(const GArray *shared, WendBuf *out);
/* Reads SHARED, which is empty, of ranks below WORLD. FALSE: the data are damaged. */
gboolean shared_sides_decode(GArray *shared, WendCursor *c, guint32 world);
/* Adds what MORE has, which is of other ranks. */
void shared_sides_include(GArray *shared, const GArray *more);
guint64 shared_sides_memory(const GArray *shared); /* bytes */

#endif
