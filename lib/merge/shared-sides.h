/* SPDX-License-Identifier: BSD-3-Clause */
/* shared-sides.h: side streams that are equal on many ranks, on their way into the archive. For
 * example, ranks that run the same code have the same streams of call sites. A merge has each
 * different stream once. Large streams of a rank are seldom those of another rank, so they become
 * members of their own (side-members.h). */
#ifndef WEND_SHARED_SIDES_H
#define WEND_SHARED_SIDES_H

#include "base/containers.h"
#include "ranks/rankset.h"
#include "record/side-stream.h"

typedef struct {
    uint32_t kind;  /* WendSideKindNumber */
    Bytes *content; /* the streams of one rank, as a part has them (side-stream.h) */
    RankSet ranks;  /* which have these streams */
} SharedSide;

Vector *shared_sides_new(void); /* of SharedSide; the caller unrefs it */
/* Adds the streams of KIND of RANK. false: they are not such as other ranks have, too, and nothing
 * was added. */
bool shared_sides_add(Vector *shared, uint32_t kind, Bytes *content, uint32_t rank);
void shared_sides_encode(const Vector *shared, WendBuf *out);
/* Reads SHARED, which is empty, of ranks below WORLD. false: the data are damaged. */
bool shared_sides_decode(Vector *shared, WendCursor *c, uint32_t world);
/* Adds what MORE has, which is of other ranks. */
void shared_sides_include(Vector *shared, const Vector *more);
uint64_t shared_sides_memory(const Vector *shared); /* bytes */

#endif
