/* SPDX-License-Identifier: BSD-3-Clause */
/* order-write.h: makes the order file of a rank from a recording. */
#ifndef WEND_ORDER_WRITE_H
#define WEND_ORDER_WRITE_H

#include "lib/base/error.h"
#include "lib/read/program.h"
#include "lib/read/call-sites.h"

/* From where the calls of the rank come, for the line about a divergence. */
typedef struct {
    const WendCallSites *sites;
    /* The name of a site, without characters that may not be printed; "": it has none. It is valid
     * until the next call. */
    const char *(*name)(gpointer data, guint site);
    gpointer data; /* of NAME */
} OrderSites;

/* The order file (order-file.h) of RANK, a rank of the job. The caller owns the bytes. MAX_SIZE:
 * the limit of memory, as in program_open_within. NULL: the rank cannot be replayed, and ERROR
 * says why (WEND_ERROR_INPUT, or WEND_ERROR_SYSTEM if there is no memory); or the calls of other
 * ranks are needed, which P may be without. Then NEEDS_ALL is set, and ERROR is not. NEEDS_ALL may
 * be NULL if P has the calls of all, and SITES if no site is to be named. */
GBytes *order_write(const WendProgram *p, guint rank, guint64 max_size, const OrderSites *sites,
                    gboolean *needs_all, Error **error);

#endif
