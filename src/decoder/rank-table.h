/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-table.h: the table of wend show --ranks. It uses wend/read.h alone. */
#ifndef WEND_RANK_TABLE_H
#define WEND_RANK_TABLE_H

#include <glib.h>

#include "wend/read.h"

/* Appends how long ranks were in each function, of each world: as CSV each time, for people the
 * extremes. Returns WEND_READ_OK or the error of a function of wend/read.h. */
int rank_table_show(GString *out, WendRead *r, gboolean csv);

#endif
