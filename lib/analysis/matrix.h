/* SPDX-License-Identifier: BSD-3-Clause */
/* matrix.h: who sends how much to whom, and how large transfers are, over a whole recording.
 *
 * Calls are not expanded: a signature counts as often as the grammar has it. Only where a handle
 * stands for different objects in turn, so that a signature does not tell which, does the sequence
 * of that rank get walked. */
#ifndef WEND_MATRIX_H
#define WEND_MATRIX_H

#include <glib.h>

#include "members.h"
#include "read/program.h"
#include "traffic.h"

/* Ranks of the job; WEND_UNKNOWN: the recording does not tell. */
typedef struct {
    gint64 source, destination;
    Traffic amount;
} MatrixPair;

/* The pairs of ranks that communicate, as MatrixPair, by source and destination. KINDS: bits, 1 <<
 * TRAFFIC_POINT, 1 << TRAFFIC_ONE_SIDED. MAX_SIZE: as wend_program_open_within has it. NULL: they
 * would take more (WEND_ERROR_INPUT); NAME is that of the recording. The caller unrefs. */
GArray *matrix_pairs(const WendProgram *p, const WendMembers *m, guint kinds, guint64 max_size,
                     const char *name, GError **error);

enum { MATRIX_SIZES = 65 };

/* Adds the transfers of KINDS to SIZES by powers of two: 0 bytes, then 2^(i-1) to 2^i - 1. Returns
 * the number of transfers without a known size. */
guint64 matrix_sizes(const WendProgram *p, const WendMembers *m, guint kinds,
                     Traffic sizes[MATRIX_SIZES]);

#endif
