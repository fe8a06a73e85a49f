/* SPDX-License-Identifier: BSD-3-Clause */
/* matched.h: the table of wend show --messages. It uses wend/read.h alone. */
#ifndef WEND_DECODER_MATCHED_H
#define WEND_DECODER_MATCHED_H

#include <glib.h>

#include "wend/read.h"

/* Appends the sends and receives of the recording that R has open that met nothing, as CSV or for
 * people; then with totals. ALL: as CSV also the messages, for people all rows. What is long is
 * written to standard output in pieces (wend_command_write); the rest is in OUT. Returns
 * WEND_READ_OK or the error of a function of wend/read.h. */
int matched_show(GString *out, WendRead *r, gboolean csv, gboolean all);

#endif
