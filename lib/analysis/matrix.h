/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.h: the communication matrix of a recording, and the sizes of its transfers.
 *
 * Calls are not expanded: the transfers of a signature are multiplied by its number of calls. A
 * sequence of a rank is walked only if a handle stands for different objects over time, so that
 * signatures do not identify the object. */
#ifndef WEND_MATRIX_H
#define WEND_MATRIX_H

#include <glib.h>

#include "base/error.h"
#include "members.h"
#include "read/program.h"
#include "traffic.h"

/* Ranks of the job; WEND_UNKNOWN if the recording does not identify one. */
typedef struct {
    gint64 source, destination;
    Traffic amount;
} MatrixPair;

/* The pairs of ranks that communicate, as MatrixPair, by source and destination. KINDS: bits, 1 <<
 * TRAFFIC_POINT, 1 << TRAFFIC_ONE_SIDED. MAX_SIZE: the limit of memory, as in
 * program_open_within. NAME: of the recording, for messages. The caller unrefs the result.
 * Returns NULL and sets the error (WEND_ERROR_INPUT) if the pairs would take more memory. */
GArray *matrix_pairs(const WendProgram *p, const WendMembers *m, guint kinds, guint64 max_size,
                     const char *name, Error **error);

enum { MATRIX_SIZES = 65 };

/* Adds the transfers of KINDS to SIZES by powers of two: 0 bytes, then 2^(i-1) to 2^i - 1. Returns
 * the number of transfers without a known size. */
guint64 matrix_sizes(const WendProgram *p, const WendMembers *m, guint kinds,
                     Traffic sizes[MATRIX_SIZES]);

#endif
