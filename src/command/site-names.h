/* SPDX-License-Identifier: BSD-3-Clause */
/* site-names.h: names of call sites: function, file and line, from the recording if it has them,
 * else from the debug information of the program and its libraries, where it is on this machine.
 * Nothing is fetched over a network. */
#ifndef WEND_SITE_NAMES_H
#define WEND_SITE_NAMES_H

#include <glib.h>

#include "wend/read.h"

typedef struct SiteNames SiteNames;

/* A function in which a site is. */
typedef struct {
    const char *function; /* NULL: not known */
    const char *file;     /* NULL: not known */
    guint line;           /* 0: not known */
} SiteFrame;

/* All texts come from files that Wend did not write: print them as foreign text. */
typedef struct {
    const char *module; /* the base name of the file; NULL: not known */
    guint64 offset;     /* in the file */
    guint n_frames;     /* the innermost comes first, then those that it was inlined into; 0: not
                           known */
    const SiteFrame *frames;
} SiteName;

/* COMMAND says which file has changed since the recording, or has no names or lines of call sites,
 * and whether sites are unknown. NULL: nothing is said. The caller frees the result before R. */
SiteNames *site_names_new(WendRead *r, const char *command);
void site_names_free(SiteNames *n); /* N may be NULL */
/* Says, once, that some calls have unknown sites. */
void site_names_say_unknown(const SiteNames *n);
/* The name of SITE, which belongs to N. NULL: SITE is WEND_READ_NO_INDEX, or not known. */
const SiteName *site_name(SiteNames *n, uint32_t site);

/* The same for any place in code, such as a frame of a stack. NULL: PLACE is not known. */
const SiteName *site_name_of_place(SiteNames *n, const WendReadSite *place);
WendRead *site_names_reader(const SiteNames *n);
/* The name of an address that may be no site of R, "exchange (halo.c:42)". NULL: it has none. The
 * caller frees it. */
char *site_name_address_text(SiteNames *n, const WendReadSite *address);

/* Appends "exchange (halo.c:42)", "halo + 0x12ab" or "unknown". */
void site_names_text(GString *out, SiteNames *n, uint32_t site);
void site_name_text(GString *out, const SiteName *name); /* NAME may be NULL */
/* Appends "exchange (halo.c:42)" or as much of it as is known. */
void site_frame_text(GString *out, const SiteFrame *frame);

/* As fields of CSV: the columns, and what they have. A field is empty if it is not known. */
#define SITE_CSV_COLUMNS "site_function,site_file,site_line,site_module,site_offset"
void site_names_csv(GString *out, SiteNames *n, uint32_t site);
/* As a JSON object, or null: {"module":…,"offset":…,"frames":[{"function":…,"file":…,"line":…},…]}
 */
void site_names_json(GString *out, SiteNames *n, uint32_t site);
/* The same object without its end. */
void site_name_json(GString *out, const SiteName *name);

/* -- site-stacks.c: the call stacks of sites as text, and which of them count as one -- */

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
