/* SPDX-License-Identifier: BSD-3-Clause */
/* amounts.h: the bytes that a rank sends and receives in a collective. */
#ifndef WEND_EXPORT_AMOUNTS_H
#define WEND_EXPORT_AMOUNTS_H

#include <glib.h>
#include <otf2/otf2.h>

#include "wend/read.h"

typedef struct {
    guint64 sent, received;
} Amounts;

/* The sizes of the send and receive buffers of CALL, a collective that does OP. Buffers that MPI
 * does not use on this rank, and MPI_IN_PLACE, count 0. ROOT: the caller is the root. */
Amounts amounts_of(const WendReadCall *call, const WendReadTransfer *transfer, OTF2_CollectiveOp op,
                   gboolean root);

#endif
