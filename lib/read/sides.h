/* SPDX-License-Identifier: BSD-3-Clause */
/* sides.h: the side streams of a rank (docs/format.md, "Side streams"). Nothing of them is read
 * before somebody asks. */
#ifndef WEND_SIDES_H
#define WEND_SIDES_H

#include "program.h"
#include "record/side-stream.h"

typedef struct WendSides WendSides;

/* The streams of KIND of RANK. Without any, the result has none. Returns NULL and sets the error if
 * the member is damaged or takes too much memory. P must outlive the result, which the caller
 * frees. */
WendSides *wend_sides_open(const WendProgram *p, guint rank, WendSideKindNumber kind,
                           GError **error);
/* The next stream: whose it is, and its rows, which belong to S. FALSE: there are no more. */
gboolean wend_sides_next(WendSides *s, WendSideHead *head, WendCursor *rows);
void wend_sides_free(WendSides *s); /* S may be NULL */

/* The elements of one stream, in the order of the calls, to go along with a walk of its sequence
 * (wend_walk_new, with polls). */
typedef struct WendSide WendSide;

/* The stream of KIND of a sequence of RANK. Returns NULL if there is none; then the error is set if
 * the member is damaged. The caller frees the result. */
WendSide *wend_side_new(const WendProgram *p, guint rank, guint sequence, WendSideKindNumber kind,
                        GError **error);
/* The next element among those that came before the end of call or poll number CALLS of the
 * sequence, counted from 0. G_MAXUINT64: all that are left. It is valid until the next call. NULL:
 * there is none, so the walk can go on. */
const WendSideElement *wend_side_before(WendSide *s, guint64 calls);
/* Whether the stream turned out to be damaged. It ends there. */
gboolean wend_side_damaged(const WendSide *s);
void wend_side_free(WendSide *s); /* S may be NULL */

#endif
