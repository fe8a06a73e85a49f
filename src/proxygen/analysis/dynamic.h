/* SPDX-License-Identifier: BSD-3-Clause */
/* dynamic.h: see dynamic.c. */
#ifndef PROXYGEN_DYNAMIC_H
#define PROXYGEN_DYNAMIC_H

#include "src/proxygen/model/model.h"

/* Finds the segments that are attached to dynamic windows. Returns FALSE with an error if the
 * recording does not know the memory that a call accesses. */
gboolean dynamic_find(Plan *plan, GError **error);

/* The number of an attached segment, from 1; 0 if it is not attached. */
guint dynamic_block(const Plan *plan, gint64 segment);

#endif
