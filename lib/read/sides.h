/* SPDX-License-Identifier: BSD-3-Clause */
/* sides.h: the side streams of a rank (docs/format.md, "Side streams"). Nothing of them is read
 * before somebody asks.
 *
 * This header is the interface of the folder. Two kinds have more of their own:
 *
 * - call-sites.h: from where in the application the calls come
 * - sequence-times.h: the time of every call
 *
 * site-symbols.h has the names of call sites that an archive has itself. */
#ifndef WEND_SIDES_H
#define WEND_SIDES_H

#include "base/error.h"
#include "program.h"
#include "record/side-stream.h"

typedef struct WendSides WendSides;

/* The streams of KIND of RANK. Without any, the result has none. Returns NULL and sets the error if
 * the member is damaged or takes too much memory. P must outlive the result, which the caller
 * frees. */
WendSides *sides_open(const WendProgram *p, guint rank, WendSideKindNumber kind, Error **error);
/* The next stream: whose it is, and its rows, which belong to S. FALSE: there are no more. */
gboolean sides_next(WendSides *s, WendSideHead *head, WendCursor *rows);
void sides_free(WendSides *s); /* S may be NULL */

/* The elements of one stream, in the order of the calls, to go along with a walk of its sequence
 * (walk_new, with polls). */
typedef struct WendSide WendSide;

/* Stream number INDEX, from 0, of KIND of RANK. Returns NULL if there are not so many; then the
 * error is set if the member is damaged. The caller frees the result. */
WendSide *side_new(const WendProgram *p, guint rank, WendSideKindNumber kind, guint index,
                   Error **error);
const WendSideHead *side_head(const WendSide *s);
/* How many elements the stream claims to have. A damaged one may have fewer. */
guint64 side_count(const WendSide *s);
/* The next element that came before call or poll number CALLS of the sequence had ended, counted
 * from 0. G_MAXUINT64: the next one of all. *AT is the number of calls and polls that had ended
 * before the element. It is valid until the next use of S. NULL: there is none. */
const WendSideElement *side_before(WendSide *s, guint64 calls, guint64 *at);
/* Whether the stream turned out to be damaged. It ends there. */
gboolean side_damaged(const WendSide *s);
void side_free(WendSide *s); /* S may be NULL */

#endif
