/* SPDX-License-Identifier: BSD-3-Clause */
/* side-members.h: the side streams of ranks, on their way into the archive. They are not merged:
 * each rank has a member of its own for each kind, and writes it at an offset of its own. So the
 * ranks that merge have only a description of it, as of shards. */
#ifndef WEND_SIDE_MEMBERS_H
#define WEND_SIDE_MEMBERS_H

#include <glib.h>

#include "record/side-stream.h"

typedef struct {
    guint32 rank, kind;   /* WendSideKindNumber */
    guint64 member;       /* bytes of the member */
    guint64 frame;        /* bytes of its compressed frame; 0: it is not compressed yet */
    GBytes *content;      /* the member; NULL: it is compressed, here or at its rank */
    GByteArray *in_frame; /* the frame, at its rank; else NULL */
} SideMember;

GArray *side_members_new(void); /* of SideMember, by rank and kind; the caller unrefs it */
/* Adds those of RANK, with which its part ends if there are any: to SHARED (shared-sides.h) what
 * other ranks may have, too. FALSE: the part is damaged. */
gboolean side_members_read(GArray *members, GArray *shared, WendCursor *c, guint32 rank);
void side_members_encode(const GArray *members, WendBuf *out);
/* Reads MEMBERS, which is empty, of ranks below WORLD. FALSE: the data are damaged. */
gboolean side_members_decode(GArray *members, WendCursor *c, guint32 world);
/* Adds what MORE has, which is of other ranks, and takes its contents. */
void side_members_include(GArray *members, GArray *more);
guint64 side_members_memory(const GArray *members); /* bytes */

#endif
