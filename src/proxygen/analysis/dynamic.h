/* SPDX-License-Identifier: BSD-3-Clause */
/* dynamic.h: see dynamic.c. */
#ifndef PROXYGEN_DYNAMIC_H
#define PROXYGEN_DYNAMIC_H

#include "src/proxygen/model/model.h"

/* Finds the segments that are attached to dynamic windows. */
gboolean plan_dynamic(Plan *plan, GError **error);

/* The number of a segment that is attached, from 1; 0: it is none. */
guint dynamic_block(const Plan *plan, gint64 segment);

#endif
