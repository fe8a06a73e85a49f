/* SPDX-License-Identifier: BSD-3-Clause */
/* communication.h: the tables of wend show --matrix, --sizes and --comms. It uses wend/read.h
 * alone. */
#ifndef WEND_DECODER_COMMUNICATION_H
#define WEND_DECODER_COMMUNICATION_H

#include <glib.h>

#include "wend/read.h"

typedef enum {
    COMMUNICATION_NONE,
    COMMUNICATION_MATRIX,
    COMMUNICATION_SIZES,
    COMMUNICATION_COMMS,
    COMMUNICATION_MESSAGES /* matched.h */
} CommunicationTable;

/* Appends the table of the recording that R has open, as CSV or for people. The matrix for people
 * is a map of at most WIDTH columns. Returns WEND_READ_OK or the error of a function of
 * wend/read.h. */
int communication_show(GString *out, WendRead *r, CommunicationTable table, gboolean csv,
                       guint width);

#endif
