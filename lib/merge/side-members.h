/* SPDX-License-Identifier: BSD-3-Clause */
/* side-members.h: the side streams of ranks, on their way into the archive. They are not merged:
 * each rank has a member of its own for each kind, and writes it at an offset of its own. So the
 * ranks that merge have only a description of it, as of shards. */
#ifndef WEND_SIDE_MEMBERS_H
#define WEND_SIDE_MEMBERS_H

#include "base/containers.h"
#include "record/side-stream.h"

typedef struct {
    uint32_t rank, kind; /* WendSideKindNumber */
    uint64_t member;     /* bytes of the member */
    uint64_t frame;      /* bytes of its compressed frame; 0: it is not compressed yet */
    Bytes *content;      /* the member; NULL: it is compressed, here or at its rank */
    Vector *in_frame;    /* the frame, at its rank; else NULL */
} SideMember;

Vector *side_members_new(void); /* of SideMember, by rank and kind; the caller unrefs it */
/* Adds those of RANK, with which its part ends if there are any: to SHARED (shared-sides.h) what
 * other ranks may have, too. false: the part is damaged. */
bool side_members_read(Vector *members, Vector *shared, WendCursor *c, uint32_t rank);
void side_members_encode(const Vector *members, WendBuf *out);
/* Reads MEMBERS, which is empty, of ranks below WORLD. false: the data are damaged. */
bool side_members_decode(Vector *members, WendCursor *c, uint32_t world);
/* Adds what MORE has, which is of other ranks, and takes its contents. */
void side_members_include(Vector *members, Vector *more);
uint64_t side_members_memory(const Vector *members); /* bytes */

#endif
