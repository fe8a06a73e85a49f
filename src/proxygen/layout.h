/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.h: where the elements of a datatype are: bytes relative to the buffer, and bytes of segments where the type has absolute addresses. */
#ifndef PROXYGEN_LAYOUT_H
#define PROXYGEN_LAYOUT_H

#include "extent.h"

/* Sums and products of hostile numbers stop here, at what no allocation will grant. */
gint64 bytes_sum(gint64 a, gint64 b);
gint64 bytes_product(gint64 a, gint64 b);

typedef struct {
    gint64 lb, extent;       /* lb: in the terms of its segment */
    gint64 segment;          /* of lb: EXTENT_RELATIVE as a rule */
    GArray *pieces;          /* of Piece: what one element touches */
} Layout;

typedef struct Layouts Layouts;
Layouts *layouts_new(Plan *plan, Live *live);
void layouts_free(Layouts *l);

/* Calls FUNCTION with the layout of each datatype that the word, a handle or a constant, can be on RANK (live.h). It is valid during the call. */
typedef void (*LayoutFunction)(const Layout *layout, gpointer data);
void layout_foreach(Layouts *l, gint64 datatype, guint rank, LayoutFunction function, gpointer data);

/* Appends COUNT elements that begin at offset AT. */
void layout_place(const Layout *layout, gint64 segment, gint64 at, gint64 count, GArray *pieces);

#endif
