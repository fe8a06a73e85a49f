/* SPDX-License-Identifier: BSD-3-Clause */
/* communication.h: who sends how much to whom, how large transfers are, who is in which
 * communicator: wend show --matrix, --sizes and --comms. Of wend/read.h alone. */
#ifndef WEND_DECODER_COMMUNICATION_H
#define WEND_DECODER_COMMUNICATION_H

#include <glib.h>

#include "wend/read.h"

typedef enum {
    COMMUNICATION_NONE,
    COMMUNICATION_MATRIX,
    COMMUNICATION_SIZES,
    COMMUNICATION_COMMS
} CommunicationTable;

/* Appends the table of what R has open, as CSV or for people: then the map is at most WIDTH columns
 * wide. Returns WEND_READ_OK or the error of a function of wend/read.h. */
int communication_show(GString *out, WendRead *r, CommunicationTable table, gboolean csv,
                       guint width);

#endif
