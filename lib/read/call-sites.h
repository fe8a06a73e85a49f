/* SPDX-License-Identifier: BSD-3-Clause */
/* call-sites.h: from where in the application the calls come (docs/format.md, "Call sites"). */
#ifndef WEND_CALL_SITES_H
#define WEND_CALL_SITES_H

#include "base/error.h"
#include "program.h"
#include "record/site-guesses.h"
#include "site-symbols.h"

/* A file of code: the program or a library. */
typedef struct {
    const char *file; /* its path at the run; "": the program itself */
    const guint8 *id; /* the linker's identifier of the file (build-id), N_ID bytes; 0: none */
    guint n_id;
    guint world; /* whose program it is; of a library, the first world that has it */
} WendSiteModule;

/* From where the function is called that a site, or a frame, is in. The recording has no stacks;
 * nowhere; or not known, since the stack was cut there. Other numbers are frames. */
#define WEND_CALLER_NOT_RECORDED G_MAXUINT
#define WEND_CALLER_OUTERMOST (G_MAXUINT - 1)
#define WEND_CALLER_CUT (G_MAXUINT - 2)
#define WEND_CALLER_IS_FRAME(caller) ((caller) < WEND_CALLER_CUT)

/* A site, or a frame of a stack: from where functions of the application called others. */
typedef struct {
    guint module;   /* G_MAXUINT: the recorder could not say where it is */
    guint64 offset; /* of the return address, as an address in the file */
    guint caller;   /* a frame, or one of the above */
} WendSite;

typedef struct WendCallSites WendCallSites;

/* The sites of a recording; none if it has none. Returns NULL and sets the error if they are
 * damaged or take too much memory. P must outlive the result, which the caller frees. */
WendCallSites *call_sites_open(const WendProgram *p, Error **error);
/* Those that ranks share, and those of RANK. Other ranks may seem to have none. */
WendCallSites *call_sites_open_rank(const WendProgram *p, guint rank, Error **error);
void call_sites_free(WendCallSites *s); /* S may be NULL */
guint call_sites_n(const WendCallSites *s);
const WendSite *call_site(const WendCallSites *s, guint site);
guint call_sites_n_frames(const WendCallSites *s);
const WendSite *call_sites_frame(const WendCallSites *s, guint frame);
/* The functions that SITE is in, innermost first, if the archive has their names; *N of them. DEPTH
 * from 1 on: those that its caller is in, and so on outwards. NULL: there are no names, or no such
 * caller. */
const WendSiteFrame *call_site_frames(const WendCallSites *s, guint site, guint depth, guint *n);
/* Whether SITE has a caller at DEPTH. */
gboolean call_site_has_caller(const WendCallSites *s, guint site, guint depth);
/* The names of all addresses that the archive has, which belong to S. */
const WendSiteSymbols *call_sites_symbols(const WendCallSites *s);
guint call_sites_n_modules(const WendCallSites *s);
const WendSiteModule *call_sites_module(const WendCallSites *s, guint module);

/* Follows the sites of one sequence of one rank. */
typedef struct WendSiteWalk WendSiteWalk;
WendSiteWalk *site_walk_new(const WendCallSites *s, guint rank, guint sequence);
/* The site of CALL. The caller gives every call of the sequence in its order, with unsuccessful
 * polls (WEND_WALK_POLLS). G_MAXUINT: it is not known. */
guint site_walk_next(WendSiteWalk *w, const WendCall *call);
/* Instead of that: takes the next element of the sequence's stream, as it was recorded
 * (site-guesses.h). */
WendSiteTaken site_walk_take(WendSiteWalk *w, WendRecordedSite *next);
/* The site of the last call of a sequence, which had not returned. G_MAXUINT: it is not known. */
guint call_site_unfinished(const WendCallSites *s, guint rank, guint sequence);
/* Appends to KEY a text. Two ranks of a class append the same only if they call from the same
 * sites: they share the stream, and the same of TERMINALS, the N of the sequence, have equal
 * signatures. FALSE: other ranks may differ. */
gboolean site_walk_key(WendSiteWalk *w, const guint32 *terminals, guint n, GString *key);
void site_walk_free(WendSiteWalk *w); /* W may be NULL */

#endif
