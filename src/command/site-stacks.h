/* SPDX-License-Identifier: BSD-3-Clause */
/* site-stacks.h: the call stacks of sites as text, and which of them count as one. */
#ifndef WEND_SITE_STACKS_H
#define WEND_SITE_STACKS_H

#include <glib.h>

#include "site-names.h"

/* Whether the recording has call stacks: some site has one. */
gboolean site_stacks_recorded(const SiteNames *n);

/* Calls EACH for the places from which the function of SITE was called, from the innermost one
 * outwards. *WHOLE: the last one is the outermost. FALSE: the recording has no stack of it. */
gboolean site_stack_callers(SiteNames *n, uint32_t site,
                            void (*each)(gpointer data, const SiteName *name), gpointer data,
                            gboolean *whole);

/* Appends " < step (main.c:10) < main (main.c:77)" to the text of a site, functions that were
 * inlined included. " < ..." is the end of a stack that was cut. Nothing if there is no stack. */
void site_stack_callers_text(GString *out, SiteNames *n, uint32_t site);
/* As a field of CSV: the whole stack, as text. */
#define SITE_STACK_CSV_COLUMN "site_stack"
void site_stack_csv(GString *out, SiteNames *n, uint32_t site);
/* As site_names_json, and if there is a stack with "callers":[…],"whole":true */
void site_stack_json(GString *out, SiteNames *n, uint32_t site);

/* -- approximate matching (ScalaTrace II, 3.3) -- */

/* Two stacks match if at most so many frames differ, counted from main. Frames of a stack that the
 * other one is too short for differ, too. A frame in a function or a file that is ignored differs
 * from none. Stacks that were cut are counted from there, and match no whole ones. */
typedef struct SiteMatching SiteMatching;

/* IGNORED: names of functions, and paths of files or their ends, up to NULL. NULL: none. The caller
 * frees the result. */
SiteMatching *site_matching_new(guint tolerance, char **ignored);
void site_matching_free(SiteMatching *m); /* M may be NULL */
/* The stack of SITE as numbers of its frames, which serve all recordings. The caller unrefs it. */
typedef struct SiteTrail SiteTrail;
SiteTrail *site_trail_new(SiteMatching *m, SiteNames *n, uint32_t site);
void site_trail_free(SiteTrail *t); /* T may be NULL */
gboolean site_trails_match(const SiteMatching *m, const SiteTrail *a, const SiteTrail *b);

/* A line about a recording without stacks. %s: its name */
#define SITE_MATCHING_NO_STACKS \
    "%s has no call stacks, which --site-tolerance needs: wend trace --stacks records them"

/* The options of commands that match stacks. WITH: "With", and the options that they need. */
#define SITE_MATCHING_OPTIONS(with, tolerance, ignored)                                          \
    {"site-tolerance",                                                                           \
     0,                                                                                          \
     0,                                                                                          \
     G_OPTION_ARG_INT,                                                                           \
     &(tolerance),                                                                               \
     with ", count call stacks as one that differ in at most N frames",                          \
     "N"},                                                                                       \
    {                                                                                            \
        "site-ignore", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(ignored),                              \
            with ", let frames in this function or file of the program match all others", "NAME" \
    }
/* Whether they may be given. MISSING: the options of which none was given, and they need one; NULL:
 * one was. FALSE: a message was printed, and *STATUS is how COMMAND ends. */
gboolean site_matching_options(const char *command, const char *missing, gint tolerance,
                               char **ignored, int *status);

/* Which sites of N's recording count as one by the options: *COUNTS_AS has for each site the first
 * one that it matches and whose functions of MPI are the same, as a uint32_t. NULL: no option was
 * given, and each site counts as itself. The caller unrefs it. COMMAND says if the recording lacks
 * the call stacks that TOLERANCE is for. Goes through the calls (wend_read_site_totals). Returns a
 * status of wend/read.h. */
int site_matching_groups(const char *command, SiteNames *n, guint tolerance, char **ignored,
                         GArray **counts_as);

#endif
