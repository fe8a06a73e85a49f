/* SPDX-License-Identifier: BSD-3-Clause */
/* order-write.h: makes the order file of a rank from a recording. */
#ifndef WEND_ORDER_WRITE_H
#define WEND_ORDER_WRITE_H

#include "lib/read/program.h"

/* The order file (order-file.h) of RANK, a rank of the job. The caller owns the bytes. MAX_SIZE:
 * the limit of memory, as in wend_program_open_within. NULL: the rank cannot be replayed, and ERROR
 * says why (WEND_ERROR_INPUT, or WEND_ERROR_SYSTEM if there is no memory); or the calls of other
 * ranks are needed, which P may be without. Then NEEDS_ALL is set, and ERROR is not. NEEDS_ALL may
 * be NULL if P has the calls of all. */
GBytes *order_write(const WendProgram *p, guint rank, guint64 max_size, gboolean *needs_all,
                    GError **error);

#endif
