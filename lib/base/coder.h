/* SPDX-License-Identifier: BSD-3-Clause */
/* coder.h: rows of numbers of any distribution, in about as many bits as they carry.
 *
 * An adaptive binary range coder (Martin, "Range encoding", 1979; the bits of a number are
 * distinguished by contexts, each of which has the estimate of Krichevsky and Trofimov, 1981). What
 * it takes follows the numbers that come: evenly distributed ones take what their range has in
 * bits, small ones with a few large among them, or few that come again, less. */
#ifndef WEND_CODER_H
#define WEND_CODER_H

#include <glib.h>

#include "buf.h"

/* Appends N numbers, none of which is above MOST. */
void coder_encode(const guint64 *numbers, guint64 n, guint64 most, WendBuf *out);
/* Reads what coder_encode wrote with these N and MOST. FALSE: truncated, or above MOST; the cursor
 * has failed. */
gboolean coder_decode(guint64 *numbers, guint64 n, guint64 most, WendCursor *c);

#endif
