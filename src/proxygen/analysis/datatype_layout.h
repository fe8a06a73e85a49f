/* SPDX-License-Identifier: BSD-3-Clause */
/* datatype_layout.h: the positions of a datatype's elements: bytes relative to the buffer, or bytes
 * of segments if the type has absolute addresses. */
#ifndef PROXYGEN_DATATYPE_LAYOUT_H
#define PROXYGEN_DATATYPE_LAYOUT_H

#include "extent.h"

/* The sum and the product of two numbers, clamped to a bound above all that an allocation grants.
 * Numbers may come from a hostile recording. */
gint64 datatype_layout_sum(gint64 a, gint64 b);
gint64 datatype_layout_product(gint64 a, gint64 b);

typedef struct {
    gint64 lb, extent; /* lb is relative to its segment */
    gint64 segment;    /* the segment of lb; mostly EXTENT_RELATIVE */
    GArray *pieces;    /* of BytePiece: the bytes that one element touches */
} DatatypeLayout;

typedef struct DatatypeLayouts DatatypeLayouts;
DatatypeLayouts *datatype_layouts_new(Plan *plan, Lifetimes *live);
void datatype_layouts_free(DatatypeLayouts *l);

/* Calls FUNCTION with the layout of each datatype that the word, a handle or a constant, may stand
 * for on RANK (lifetimes.h). The layout is valid during the call. */
typedef void (*DatatypeLayoutFunction)(const DatatypeLayout *layout, gpointer data);
void datatype_layout_foreach(DatatypeLayouts *l, gint64 datatype, guint rank,
                             DatatypeLayoutFunction function, gpointer data);

/* Appends the bytes of COUNT elements that begin at offset AT of SEGMENT. */
void datatype_layout_place(const DatatypeLayout *layout, gint64 segment, gint64 at, gint64 count,
                           GArray *pieces);

#endif
