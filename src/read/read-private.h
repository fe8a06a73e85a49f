/* SPDX-License-Identifier: BSD-3-Clause */
/* read-private.h: the inside of a WendRead, for the files of this folder alone. */
#ifndef WEND_READ_PRIVATE_H
#define WEND_READ_PRIVATE_H

#include <glib.h>

#include "lib/analysis/analysis.h"
#include "lib/analysis/count.h"
#include "lib/analysis/follower.h"
#include "lib/analysis/matching.h"
#include "lib/analysis/members.h"
#include "lib/analysis/summary.h"
#include "lib/base/error.h"
#include "lib/read/program.h"
#include "lib/read/call-sites.h"
#include "wend/read.h"

/* A call, and all that its values are made of. The public part is the first member. */
typedef struct {
    WendReadCall public;
    WendRead *reader;
    const WendCall *call;
    const WendWalk *walk; /* NULL for the call of a signature */
    Follower *follower;   /* NULL for such a call, and if another reader owns the walk */
    const WendReadParameter *parameters; /* parameters of its function */
    GStringChunk *strings;               /* strings of its values */
    gboolean has_strings;                /* whether there are any */
    /* the list of strings that was read last: its element INDEX is at AT */
    const gint64 *list, *at;
    guint64 index;
} ReadCall;

/* The times of the calls of a walk. */
typedef struct ReadTimes ReadTimes;
/* Those of a sequence, which may have none. POLLS: the walk gives unsuccessful polls. Returns an
 * error if they are damaged. The caller frees *TIMES. */
int read_times_new(WendRead *r, guint32 rank, guint32 sequence, gboolean polls, ReadTimes **times);
void read_times_free(ReadTimes *t); /* T may be NULL */
/* Whether there are any, or more; and their relative error. */
gboolean read_times_any(const ReadTimes *t);
gdouble read_times_error(const ReadTimes *t);
/* Goes on to CALL, which the walk has given. */
void read_times_next(ReadTimes *t, const WendCall *call);
/* Sets TIME to that of the last call. T may be NULL. */
int read_times_get(WendRead *r, const ReadTimes *t, WendReadTime *time);

void read_call_init(ReadCall *c, WendRead *r);
void read_call_clear(ReadCall *c);
/* Sets C to another call. The values of the call before are gone. */
void read_call_set(ReadCall *c, const WendWalk *walk, const WendCall *call);

/* The members that name a communicator: one of each group. */
typedef struct {
    guint first, second;
    const WendCommMade *made, *remote;
} CommMembers;

typedef struct ReadPercentiles ReadPercentiles; /* read-times.c */
typedef struct WaitRows WaitRows;               /* read-waits.c */

struct WendRead {
    char *message; /* never NULL */
    guint64 memory;
    char *path;
    WendProgram *program; /* NULL: nothing is open */
    gboolean borrowed;    /* another owner frees the program */

    GPtrArray *facts;    /* WendReadFacts by world; the job's is the last */
    GPtrArray *metas;    /* GArray of MetaEntry by world; the job's is the last */
    GStringChunk *texts; /* texts of facts and metas */
    WendReadWorld world;
    const char **ends; /* by rank */
    GPtrArray *end_names;
    WendReadRank rank;
    WendReadRankTimes rank_times;
    guint32 *rank_times_ranks; /* of the job; NULL: the world's own are these */
    WendReadSequence sequence;
    WendReadClass class;
    WendReadRule rule;

    WendMembers *members; /* all members below are made at their first use */
    GArray *comms;        /* CommMembers, by number */
    WendReadCommunicator communicator;
    gint64 *groups[2];
    Counts *counts;
    GArray *counted; /* WendReadCount */
    Summary *summary;
    guint64 *class_calls; /* MPI calls of each rank, by class */
    WendReadTotals totals;
    WendReadFunctionTotals function_totals;
    GArray *pairs; /* WendReadPair */
    WendReadSizes sizes;
    WendDecoder *decoder;
    ReadCall signature, wrapped;
    WendReadValueStream value_stream;
    WendCallSites *sites;
    GArray *site_rows;    /* of read-site-totals.c */
    guint32 *site_groups; /* wend_read_group_sites; NULL: each site is one of its own */
    guint32 *group_sizes; /* by site: how many count as it */
    WendReadSite site, stack_frame;
    WendReadSiteFrame site_frame;
    WendReadStack stack;
    GArray *stack_frames; /* guint: the frames of site STACK_SITE, without itself; NULL: none yet */
    guint32 stack_site;
    WendReadSiteTotals site_totals;
    ReadPercentiles *percentiles;
    WaitRows *waits;
};

#define WITHOUT_TIMES \
    "the recording does not have the time of each call: record it with wend trace --times"

/* Sets the message, a line that begins with the recording's name if one is open. Returns CODE. */
int read_fail(WendRead *r, int code, const char *format, ...) G_GNUC_PRINTF(3, 4);
/* The same with the message of ERROR, which it frees. */
int read_fail_error(WendRead *r, Error *error);
/* Returns WEND_READ_OK if R has a recording open and RESULT is not NULL; else sets the message and
 * returns the error. */
int read_check(WendRead *r, const void *result);
/* The same; also checks that N is below LIMIT. WHAT is the name of the objects that are counted. */
int read_check_index(WendRead *r, const void *result, const char *what, guint64 n, guint64 limit);

/* Free all that belongs to the open recording, in read-facts.c, read-transfers.c and
 * read-totals.c. */
void read_facts_clear(WendRead *r);
void read_transfers_clear(WendRead *r);
void read_totals_clear(WendRead *r);
void read_sites_clear(WendRead *r);       /* in read-sites.c */
void read_percentiles_clear(WendRead *r); /* in read-times.c */
void read_waits_clear(WendRead *r);       /* in read-waits.c */

/* The public description of a function. */
const WendReadFunction *read_function_of(const WendFunction *f);
WendReadKind read_kind_of(WendKind kind);

/* Whether KIND is one of MPI's objects, without requests. */
static inline gboolean read_is_handle(WendKind kind)
{
    return kind >= WEND_KIND_COMM && kind <= WEND_KIND_EVENT;
}

WendMembers *read_members(WendRead *r);
/* NULL: they are damaged, and the error is set. */
WendCallSites *read_sites(WendRead *r, Error **error);
/* Checks RESULT and the sites. Returns the status. */
int read_sites_open(WendRead *r, const void *result);
/* The site as which SITE counts (wend_read_group_sites). G_MAXUINT counts as itself. */
guint read_site_group(const WendRead *r, guint site);
Summary *read_summary(WendRead *r);
Counts *read_counts(WendRead *r);
void read_timing_set(WendReadTiming *to, const WendTiming *from);
void read_amount_set(WendReadAmount *to, const Traffic *from);

/* -- read-messages.c: the places of messages -- */

/* When and from where the calls of all sequences were made, while their walks advance together
 * (lib/analysis/matching.h).
 *
 * Memory: for each sequence that has begun and not ended, a row of times (docs/format.md, "Times
 * of calls"), and what a walk keeps. */

typedef struct CallStamps CallStamps;

/* FLAGS: WEND_READ_WITH_TIMES, WEND_READ_WITH_SITES. Returns NULL and sets *STATUS to the error of
 * R if the sites are damaged. The caller frees the result before R. */
CallStamps *call_stamps_new(WendRead *r, unsigned flags, int *status);
void call_stamps_free(CallStamps *s); /* S may be NULL */
/* Stamps PLACE: a MatchingStamp, whose data are a CallStamps. */
void call_stamps_set(gpointer stamps, const WendCall *call, MessagePlace *place);
/* WEND_READ_OK, or the error of R: times turned out to be damaged. Stamps lack them from there
 * on. */
int call_stamps_status(const CallStamps *s);

/* -- read-waits.c -- */

/* The call of the receiver that waits for the message of E (MESSAGE_MATCHED), or for the call of E
 * (MESSAGE_WAIT). */
const MessagePlace *wait_row_call(const WendProgram *p, const MessageEvent *e);
/* How long the call at PLACE waited for the one at LATE, in seconds. NaN: a time is not known. */
gdouble wait_row_seconds(const MessagePlace *place, const MessagePlace *late);

#endif
