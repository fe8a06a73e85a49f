/* SPDX-License-Identifier: BSD-3-Clause */
/* site-table.h: the table of wend show --sites: from where in the program the calls come. */
#ifndef WEND_DECODER_SITE_TABLE_H
#define WEND_DECODER_SITE_TABLE_H

#include <glib.h>

#include "src/command/site-names.h"
#include "wend/read.h"

typedef enum { SITE_TABLE_PEOPLE, SITE_TABLE_CSV, SITE_TABLE_JSON } SiteTableFormat;

/* Appends the table. TOP: so many rows at most, for people. Returns WEND_READ_OK, or an error of
 * R. */
int site_table_show(GString *out, WendRead *r, SiteNames *names, SiteTableFormat format, guint top);

#endif
