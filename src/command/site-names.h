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

#endif
