/* SPDX-License-Identifier: BSD-3-Clause */
/* datatype_layout.h: where the elements of a datatype are: bytes relative to the buffer, and bytes
 * of segments where the type has absolute addresses. */
#ifndef PROXYGEN_DATATYPE_LAYOUT_H
#define PROXYGEN_DATATYPE_LAYOUT_H

#include "extent.h"

/* Sums and products of hostile numbers stop here, at what no allocation will grant. */
gint64 bytes_sum(gint64 a, gint64 b);
gint64 bytes_product(gint64 a, gint64 b);

typedef struct {
    gint64 lb, extent; /* lb: in the terms of its segment */
    gint64 segment;    /* of lb: EXTENT_RELATIVE as a rule */
    GArray *pieces;    /* of Piece: what one element touches */
} DatatypeLayout;

typedef struct DatatypeLayouts DatatypeLayouts;
DatatypeLayouts *datatype_layouts_new(Plan *plan, Lifetimes *live);
void datatype_layouts_free(DatatypeLayouts *l);

/* Calls FUNCTION with the layout of each datatype that the word, a handle or a constant, can be on
 * RANK (lifetimes.h). It is valid during the call. */
typedef void (*DatatypeLayoutFunction)(const DatatypeLayout *layout, gpointer data);
void datatype_layout_foreach(DatatypeLayouts *l, gint64 datatype, guint rank,
                             DatatypeLayoutFunction function, gpointer data);

/* Appends COUNT elements that begin at offset AT. */
void datatype_layout_place(const DatatypeLayout *layout, gint64 segment, gint64 at, gint64 count,
                           GArray *pieces);

#endif
