/* SPDX-License-Identifier: BSD-3-Clause */
/* site-differences.h: from where in the two programs calls come. */
#ifndef WEND_DIFF_SITE_DIFFERENCES_H
#define WEND_DIFF_SITE_DIFFERENCES_H

#include <glib.h>

#include "lib/read/program.h"
#include "src/command/site-names.h"

typedef struct SiteDifferences SiteDifferences;

/* The sites of two recordings, which must outlive the result; they are read at the first use. The
 * caller frees it. */
SiteDifferences *site_differences_new(const WendProgram *const programs[2]);
void site_differences_free(SiteDifferences *s); /* S may be NULL */
/* Opens the sites of both, to compare them, and with them the call stacks if both recordings have
 * these. Stacks that MATCHING lets match are equal; NULL: those with equal frames. Returns
 * WEND_READ_OK, or an error of wend/read.h, and sets *MESSAGE, which belongs to S. */
int site_differences_open(SiteDifferences *s, SiteMatching *matching, const char **message);

/* After site_differences_open: whether recording SIDE has sites, and call stacks. */
gboolean site_differences_has_sites(const SiteDifferences *s, guint input);
gboolean site_differences_has_stacks(const SiteDifferences *s, guint input);

/* Appends "  # from exchange (halo.c:42)" for call INDEX of a sequence of RANK of recording SIDE (0
 * or 1), if the recording has sites. It takes a walk from the start. S: SiteDifferences. */
void site_differences_put(GString *out, gpointer s, guint input, guint rank, guint sequence,
                          guint64 index);

/* Two calls of equal numbers that come from different places. */
typedef struct {
    guint64 index;
    const char *function;
    char *sites[2]; /* as text; g_free */
} SiteDifference;
/* Finds the first one in a sequence of RANK whose calls are equal. Sites are equal if function,
 * file and line are known and equal, or else file, address and build-id. FALSE: there is none. */
gboolean site_differences_find(SiteDifferences *s, guint rank, const guint sequence[2],
                               SiteDifference *found);

#endif
