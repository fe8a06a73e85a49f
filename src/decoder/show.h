/* SPDX-License-Identifier: BSD-3-Clause */
/* show.h: the parts of wend show. They use wend/read.h alone. */
#ifndef WEND_SHOW_H
#define WEND_SHOW_H

#include <glib.h>

#include "src/command/site-names.h"
#include "wend/read.h"

/* -- show-terminations.c -- */

/* How and where the ranks of a run ended that did not reach MPI_Finalize. */

/* Appends how each rank ended, and the last calls of its threads with their sites. Ranks with the
 * same text share one entry. At most LIMIT entries are written. Appends nothing if all ranks
 * reached MPI_Finalize. The site of a call that has returned takes a walk over all calls before
 * it. ALL: whatever that takes; else as long as there are not too many. COMMAND says which files
 * have no names. */
void show_terminations(GString *out, WendRead *r, const char *command, guint limit, gboolean all);

/* -- communication.c -- */

/* The tables of wend show --matrix, --sizes and --comms. It uses wend/read.h
 * alone. */

typedef enum {
    COMMUNICATION_NONE,
    COMMUNICATION_MATRIX,
    COMMUNICATION_SIZES,
    COMMUNICATION_COMMS,
    COMMUNICATION_MESSAGES /* matched_show */
} CommunicationTable;

/* Appends the table of the recording that R has open, as CSV or for people. The matrix for people
 * is a map of at most WIDTH columns. Returns WEND_READ_OK or the error of a function of
 * wend/read.h. */
int communication_show(GString *out, WendRead *r, CommunicationTable table, gboolean csv,
                       guint width);

/* -- matched.c -- */

/* The table of wend show --messages. It uses wend/read.h alone. */

/* Appends the sends and receives of the recording that R has open that met nothing, as CSV or for
 * people; then with totals. ALL: as CSV also the messages, for people all rows. What is long is
 * written to standard output in pieces (command_write); the rest is in OUT. Returns
 * WEND_READ_OK or the error of a function of wend/read.h. */
int matched_show(GString *out, WendRead *r, gboolean csv, gboolean all);

/* -- rank-table.c -- */

/* The table of wend show --ranks. It uses wend/read.h alone. */

/* Appends how long ranks were in each function, of each world: as CSV each time, for people the
 * extremes. Returns WEND_READ_OK or the error of a function of wend/read.h. */
int rank_table_show(GString *out, WendRead *r, gboolean csv);

/* -- site-table.c: the table of wend show --sites: from where in the program the calls come -- */

typedef enum { SITE_TABLE_TEXT, SITE_TABLE_CSV, SITE_TABLE_JSON } SiteTableFormat;

/* Appends the table. TOP: so many rows at most, for people. Returns WEND_READ_OK, or an error of
 * R. */
int site_table_show(GString *out, WendRead *r, SiteNames *names, SiteTableFormat format, guint top);

/* -- wait-table.c: wend show --waits -- */

/* Appends the table of waits. TOP: so many for people. Returns WEND_READ_OK or the error of R. */
int wait_table_show(GString *out, WendRead *r, SiteNames *names, SiteTableFormat format, guint top);

/* Appends a time, with digits that are worth reading. */
void wait_table_time_text(GString *out, double seconds);

#endif
