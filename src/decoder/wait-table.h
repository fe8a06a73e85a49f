/* SPDX-License-Identifier: BSD-3-Clause */
/* wait-table.h: wend show --waits. */
#ifndef WEND_WAIT_TABLE_H
#define WEND_WAIT_TABLE_H

#include <glib.h>

#include "site-table.h"
#include "src/command/site-names.h"
#include "wend/read.h"

/* Appends the table of waits. TOP: so many for people. Returns WEND_READ_OK or the error of R. */
int wait_table_show(GString *out, WendRead *r, SiteNames *names, SiteTableFormat format, guint top);

/* Appends a time, with digits that are worth reading. */
void wait_table_time_text(GString *out, double seconds);

#endif
