/* SPDX-License-Identifier: BSD-3-Clause */
/* extent.h: how much memory a buffer argument touches, from counts, datatypes and displacements as
 * recorded. */
#ifndef PROXYGEN_EXTENT_H
#define PROXYGEN_EXTENT_H

#include "lifetimes.h"

typedef struct Extents Extents;

/* Bytes that something touches: offsets low <= o < high of a segment, or (segment EXTENT_RELATIVE)
 * of the buffer argument. */
#define EXTENT_RELATIVE WEND_ABSENT
typedef struct {
    gint64 segment, low, high;
} BytePiece;

/* Reads what the recording says on datatypes and communicators. LIVE says which of them a handle
 * stands for; where it knows several, all are taken, so an extent is never too small. */
Extents *extents_new(Plan *plan, Lifetimes *live);
void extents_free(Extents *e);

/* Appends what the call touches on RANK through the argument, a buffer. Datatypes with absolute
 * addresses give pieces of segments. */
void extent_of_buffer(Extents *e, const CallPattern *c, guint arg, guint rank, GArray *pieces);
/* Size in bytes of COUNT elements, as large as any datatype of that handle was on RANK. */
gint64 extent_data_size(Extents *e, gint64 datatype, gint64 count, guint rank);

#endif
