/* SPDX-License-Identifier: BSD-3-Clause */
/* recorded-sites.h: from where a recorded call came, and one that is made, for the line about a
 * divergence. Names come from the order file: in the application none can be looked up. */
#ifndef WEND_RECORDED_SITES_H
#define WEND_RECORDED_SITES_H

#include "lib/record/site-guesses.h"
#include "order-read.h"
#include "recorder/recorder.h"

/* The elements of a sequence, for a follower of its calls (site-guesses.h). */
typedef struct {
    const Order *order;
    const OrderSequence *sequence;
    uint64_t at;
} RecordedSites;

/* S must live as long as F. The caller closes F. */
void recorded_sites_open(WendSiteFollower *f, RecordedSites *s, const Order *order,
                         const OrderSequence *sequence);
/* The site of the next call of the sequence, or of an unsuccessful poll. WEND_SITE_NONE: it is not
 * known. */
uint32_t recorded_sites_next(WendSiteFollower *f, const Order *order, const OrderTerminal *t,
                             bool poll);

/* A site as text: "exchange (halo.c:42)", "halo + 0x12ab"; "": it is not known. */
typedef struct {
    char text[256];
} SiteText;
void recorded_site_text(SiteText *text, const Order *order, uint32_t site);
/* The site of C, with its name if the recording has that site. */
void recorded_sites_made_text(SiteText *text, const Order *order, const ActiveCall *c);
/* Whether C comes from another version of the file that SITE is in, a site without a name. */
bool recorded_sites_is_of_other_version(const Order *order, uint32_t site, const ActiveCall *c);

#endif
