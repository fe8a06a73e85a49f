/* SPDX-License-Identifier: BSD-3-Clause */
/* call-stamps.c: see call-stamps.h. */
#include "config.h"

#include "call-stamps.h"

#include <math.h>

#include "read-private.h"

enum { KEEP = 64 }; /* signatures that a walk keeps decoded */

/* What goes along with the calls of one sequence. */
typedef struct {
    gboolean begun;
    ReadTimes *times;    /* NULL: not wanted, or no more */
    WendSiteWalk *sites; /* NULL: not wanted */
    WendWalk *polls;     /* with the unsuccessful polls, for SITES; NULL: there are none */
} StampLane;

struct CallStamps {
    WendRead *reader;
    unsigned flags;
    int status;
    guint *first; /* number of the first lane of each rank, and of all */
    StampLane *lanes;
};

CallStamps *call_stamps_new(WendRead *r, unsigned flags, int *status)
{
    GError *error = NULL;
    if ((flags & WEND_READ_WITH_SITES) != 0 && read_sites(r, &error) == NULL) {
        *status = read_fail_error(r, error);
        return NULL;
    }
    CallStamps *s = g_new0(CallStamps, 1);
    guint n_ranks = wend_program_ranks(r->program);
    s->reader = r;
    s->flags = flags;
    s->first = g_new0(guint, n_ranks + 1);
    for (guint rank = 0; rank < n_ranks; rank++) {
        guint class_index = wend_program_class_of(r->program, rank);
        s->first[rank + 1] =
            s->first[rank] + wend_program_class(r->program, class_index)->n_sequences;
    }
    s->lanes = g_new0(StampLane, s->first[n_ranks] + 1);
    return s;
}

static void lane_clear(StampLane *lane)
{
    g_clear_pointer(&lane->times, read_times_free);
    g_clear_pointer(&lane->sites, wend_site_walk_free);
    g_clear_pointer(&lane->polls, wend_walk_free);
}

void call_stamps_free(CallStamps *s)
{
    if (s == NULL)
        return;
    for (guint i = 0; i < s->first[wend_program_ranks(s->reader->program)]; i++)
        lane_clear(&s->lanes[i]);
    g_free(s->lanes);
    g_free(s->first);
    g_free(s);
}

static void begin(CallStamps *s, StampLane *lane, guint rank, guint sequence)
{
    WendRead *r = s->reader;
    lane->begun = TRUE;
    if ((s->flags & WEND_READ_WITH_TIMES) != 0 && s->status == WEND_READ_OK)
        s->status = read_times_new(r, rank, sequence, FALSE, &lane->times);
    if (lane->times != NULL && !read_times_any(lane->times))
        g_clear_pointer(&lane->times, read_times_free);
    if ((s->flags & WEND_READ_WITH_SITES) == 0 || wend_call_sites_n(r->sites) == 0)
        return;
    lane->sites = wend_site_walk_new(r->sites, rank, sequence);
    if (wend_program_polls(r->program, rank, sequence) == 0)
        return;
    lane->polls = wend_walk_new(r->program, rank, sequence, WEND_WALK_POLLS);
    wend_walk_keep(lane->polls, KEEP);
}

/* The site of CALL, which is the next one of the sequence that is no unsuccessful poll. */
static guint next_site(StampLane *lane, const WendCall *call)
{
    guint site = G_MAXUINT;
    if (lane->polls == NULL)
        return wend_site_walk_next(lane->sites, call);
    do {
        call = wend_walk_next(lane->polls);
        if (call != NULL)
            site = wend_site_walk_next(lane->sites, call);
    } while (call != NULL && call->poll);
    return site;
}

void call_stamps_set(gpointer stamps, const WendCall *call, MessagePlace *place)
{
    CallStamps *s = stamps;
    StampLane *lane = &s->lanes[s->first[place->rank] + place->sequence];
    WendReadTime time;
    if (!lane->begun)
        begin(s, lane, place->rank, place->sequence);
    if (lane->sites != NULL)
        place->site = next_site(lane, call);
    if (lane->times == NULL)
        return;
    read_times_next(lane->times, call);
    int status = read_times_get(s->reader, lane->times, &time);
    if (status == WEND_READ_OK) {
        place->start = time.start;
        place->end = time.start + time.duration;
        return;
    }
    if (status != WEND_READ_ERROR_NONE)
        s->status = status;
    g_clear_pointer(&lane->times, read_times_free); /* there are no more */
}

int call_stamps_status(const CallStamps *s)
{
    return s->status;
}
