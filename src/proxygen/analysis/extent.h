/* SPDX-License-Identifier: BSD-3-Clause */
/* extent.h: the bytes of memory that a buffer argument touches. They follow from the recorded
 * counts, datatypes and displacements. */
#ifndef PROXYGEN_EXTENT_H
#define PROXYGEN_EXTENT_H

#include "lifetimes.h"

typedef struct Extents Extents;

/* A range of bytes: offsets low <= o < high of a segment, or of the buffer argument if the segment
 * is EXTENT_RELATIVE. */
#define EXTENT_RELATIVE WEND_ABSENT
typedef struct {
    gint64 segment, low, high;
} BytePiece;

/* Reads all recorded facts about datatypes and communicators. LIVE resolves handles. Where a handle
 * may stand for several objects, all of them count, so an extent is never too small. LIVE must
 * outlive the result. */
Extents *extents_new(Plan *plan, Lifetimes *live);
void extents_free(Extents *e);

/* Appends the bytes that the call touches on RANK through argument ARG, a buffer. Datatypes with
 * absolute addresses give ranges of segments. */
void extent_of_buffer(Extents *e, const CallPattern *c, guint arg, guint rank, GArray *pieces);
/* The size in bytes of COUNT elements, for the largest datatype that the handle stood for on
 * RANK. */
gint64 extent_data_size(Extents *e, gint64 datatype, gint64 count, guint rank);

#endif
