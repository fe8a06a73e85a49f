/* SPDX-License-Identifier: BSD-3-Clause */
/* order-write.h: makes the order file of a rank from a recording. */
#ifndef WEND_ORDER_WRITE_H
#define WEND_ORDER_WRITE_H

#include "lib/read/program.h"

/* The order file (order-file.h) of RANK, a rank of the job. The caller owns the bytes. NULL: the
 * rank cannot be replayed, and ERROR says why (WEND_ERROR_INPUT); or the calls of other ranks are
 * needed, which P may be without. Then NEEDS_ALL is set, and ERROR is not. NEEDS_ALL may be NULL if
 * P has the calls of all. */
GBytes *order_write(const WendProgram *p, guint rank, gboolean *needs_all, GError **error);

#endif
