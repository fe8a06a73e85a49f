/* SPDX-License-Identifier: BSD-3-Clause */
/* perfetto-names.h: the texts of a Perfetto trace by number (iid). A number is given when its text
 * is first used; the packet that uses it says what it stands for. */
#ifndef WEND_EXPORT_PERFETTO_NAMES_H
#define WEND_EXPORT_PERFETTO_NAMES_H

#include <glib.h>

#include "src/export/track-event.gen.h"
#include "wend/read.h"

typedef Perfetto__Protos__InternedData PerfettoData;

/* Categories of slices. */
enum {
    CATEGORY_SEND = 1,
    CATEGORY_RECEIVE,
    CATEGORY_COLLECTIVE,
    CATEGORY_COMPLETION,
    CATEGORY_OTHER,
    N_CATEGORIES = CATEGORY_OTHER
};

/* Names of arguments. */
enum {
    ARGUMENT_CALL = 1,
    ARGUMENT_COMMUNICATOR,
    ARGUMENT_PEER,
    ARGUMENT_TAG,
    ARGUMENT_BYTES,
    ARGUMENT_POLL,
    ARGUMENT_ERROR,
    ARGUMENT_UNFINISHED,
    ARGUMENT_SITE,
    N_ARGUMENTS = ARGUMENT_SITE
};

typedef struct PerfettoNames PerfettoNames;

/* COMMAND says which programs have no names of sites (site-names.h). The caller frees the result
 * before R. */
PerfettoNames *perfetto_names_new(WendRead *r, const char *command);
void perfetto_names_free(PerfettoNames *n); /* N may be NULL */

guint64 perfetto_names_function(PerfettoNames *n, const WendReadFunction *f);
guint64 perfetto_names_text(PerfettoNames *n,
                            const char *text); /* foreign text becomes printable */
/* The function and line of SITE. 0: not known; then *TEXT is the number of a text of the address.
 * Both are 0 if SITE is not known. */
guint64 perfetto_names_site(PerfettoNames *n, guint32 site, guint64 *text);

/* What the numbers stand for that were first given since this was last asked. At first, categories
 * and arguments. Valid until N is used again. NULL: nothing is new. */
PerfettoData *perfetto_names_take(PerfettoNames *n);

#endif
