/* SPDX-License-Identifier: BSD-3-Clause */
/* side-rows.h: the rows of a side stream (docs/format.md, "Side streams"), read as they are needed.
 * In memory there is one row, and of a large member less than 1 MB beside it. */
#ifndef WEND_SIDE_ROWS_H
#define WEND_SIDE_ROWS_H

#include "sides.h"

typedef struct WendSideRows WendSideRows;

/* The rows of KIND of SEQUENCE of RANK. Returns NULL if there are none; then the error is set if
 * the member is damaged or takes too much memory. P must outlive the result, which the caller
 * frees. */
WendSideRows *wend_side_rows_new(const WendProgram *p, guint rank, WendSideKindNumber kind,
                                 const WendSequence *sequence, GError **error);
/* The next row: how many elements it claims to have, and its bytes, which are valid until the next
 * use of R. FALSE: there are no more, or the rows are damaged from here on. */
gboolean wend_side_rows_next(WendSideRows *r, guint64 *n, WendCursor *row);
/* Whether the row that was given last is the last one. */
gboolean wend_side_rows_ended(const WendSideRows *r);
gboolean wend_side_rows_damaged(const WendSideRows *r);
void wend_side_rows_free(WendSideRows *r); /* R may be NULL */

#endif
