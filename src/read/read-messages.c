/* SPDX-License-Identifier: BSD-3-Clause */
/* read-messages.c: which send met which receive, when and from where. */
#include "config.h"

#include <math.h>

#include "lib/analysis/matching.h"
#include "read-private.h"
#include "wrap.h"

struct WendReadMessages {
    WendRead *reader;
    Matching *messages;
    CallStamps *stamps; /* NULL: neither times nor sites are wanted */
    WendReadMessage message;
};

int wend_read_messages(WendRead *r, WendReadMessages **messages)
{
    return wend_read_messages_with(r, 0, messages);
}

int wend_read_messages_with(WendRead *r, unsigned flags, WendReadMessages **messages)
{
    CallStamps *stamps = NULL;
    int status = read_check(r, messages);
    flags &= WEND_READ_WITH_TIMES | WEND_READ_WITH_SITES;
    if (status == WEND_READ_OK && flags != 0)
        stamps = call_stamps_new(r, flags, &status);
    if (status < 0)
        return status;
    WendReadMessages *m = g_new0(WendReadMessages, 1);
    m->reader = r;
    m->messages = read_wrap_matching(r, 0);
    m->stamps = stamps;
    if (stamps != NULL)
        matching_stamp(m->messages, call_stamps_set, stamps);
    *messages = m;
    return WEND_READ_OK;
}

static WendReadCallPlace place_of(const MessagePlace *p)
{
    if (p->call == MESSAGE_NO_CALL)
        return (WendReadCallPlace){WEND_READ_NO_INDEX, WEND_READ_NO_INDEX, WEND_READ_NO_INDEX,
                                   WEND_READ_NO_CALL};
    return (WendReadCallPlace){p->rank, p->sequence, p->terminal, p->call};
}

/* Words that are no number stand for unknown. */
static gint64 known(gint64 word)
{
    return word_is_special(word) ? WEND_READ_UNKNOWN : word;
}

static void set_message(const WendProgram *p, WendReadMessage *to, const MessageEvent *e)
{
    *to = (WendReadMessage){
        .state = e->kind == MESSAGE_MATCHED     ? WEND_READ_MATCHED
                 : e->kind == MESSAGE_NOT_TAKEN ? WEND_READ_UNRECEIVED
                                                : WEND_READ_UNSENT,
        .communicator = e->comm != WEND_COMM_UNKNOWN ? e->comm : WEND_READ_NO_INDEX,
        .tag = known(e->tag),
        .source = known(e->from),
        .destination = known(e->to),
        .sent = place_of(&e->sent),
        .posted = place_of(&e->posted),
        .completed = place_of(&e->completed),
        .send_request = word_is_handle(e->send_request) ? e->send_request : WEND_READ_ABSENT,
        .receive_request =
            word_is_handle(e->receive_request) ? e->receive_request : WEND_READ_ABSENT,
        .bytes_sent = known(e->bytes_sent),
        .bytes_received = known(e->bytes_received),
        .cancelled = e->cancelled,
        .truncated = e->truncated,
        .unfinished = e->unfinished,
        .outside = e->outside,
        .uncertain = e->uncertain,
        .sent_start = e->sent.start,
        .completed_start = e->completed.start,
        .waited =
            e->kind == MESSAGE_MATCHED ? wait_row_seconds(wait_row_call(p, e), &e->sent) : NAN,
        .sent_site = e->sent.site,
        .completed_site = e->completed.site};
}

int wend_read_next_message(WendReadMessages *messages, const WendReadMessage **message)
{
    MessageEvent event;
    Error *error = NULL;
    if (!messages)
        return WEND_READ_ERROR_USAGE;
    WendRead *r = messages->reader;
    int status = read_check(r, message);
    if (status < 0)
        return status;
    if (matching_next(messages->messages, &event)) {
        set_message(r->program, &messages->message, &event);
        *message = &messages->message;
    } else if (matching_error(messages->messages, r->path != NULL ? r->path : "the recording",
                              &error)) {
        return read_fail_error(r, error);
    } else {
        *message = NULL;
    }
    return messages->stamps != NULL ? call_stamps_status(messages->stamps) : WEND_READ_OK;
}

int wend_read_message_facts(const WendReadMessages *messages, WendReadMessageFacts *facts)
{
    if (!messages || !facts)
        return WEND_READ_ERROR_USAGE;
    *facts = (WendReadMessageFacts){matching_in_flight(messages->messages),
                                    matching_most_in_flight(messages->messages),
                                    matching_broken(messages->messages)};
    return WEND_READ_OK;
}

void wend_read_messages_free(WendReadMessages *messages)
{
    if (!messages)
        return;
    matching_free(messages->messages);
    call_stamps_free(messages->stamps);
    g_free(messages);
}

/* -- when and from where calls were made -- */

enum { KEEP = 64 }; /* signatures that a walk keeps decoded */

/* What goes along with the calls of one sequence. */
typedef struct {
    gboolean begun;
    ReadTimes *times;    /* NULL: not wanted, or no more */
    WendSiteWalk *sites; /* NULL: not wanted */
    WendWalk *polls;     /* with the unsuccessful polls, for SITES; NULL: there are none */
} SequenceStamps;

struct CallStamps {
    WendRead *reader;
    unsigned flags;
    int status;
    guint *first; /* number of the first sequence of each rank, and of all */
    SequenceStamps *sequences;
};

CallStamps *call_stamps_new(WendRead *r, unsigned flags, int *status)
{
    Error *error = NULL;
    if ((flags & WEND_READ_WITH_SITES) != 0 && !read_sites(r, &error)) {
        *status = read_fail_error(r, error);
        return NULL;
    }
    CallStamps *s = g_new0(CallStamps, 1);
    guint n_ranks = program_ranks(r->program);
    s->reader = r;
    s->flags = flags;
    s->first = g_new0(guint, n_ranks + 1);
    for (guint rank = 0; rank < n_ranks; rank++) {
        guint class_index = program_class_of(r->program, rank);
        s->first[rank + 1] = s->first[rank] + program_class(r->program, class_index)->n_sequences;
    }
    s->sequences = g_new0(SequenceStamps, s->first[n_ranks] + 1);
    return s;
}

static void stamps_clear(SequenceStamps *here)
{
    g_clear_pointer(&here->times, read_times_free);
    g_clear_pointer(&here->sites, site_walk_free);
    g_clear_pointer(&here->polls, walk_free);
}

void call_stamps_free(CallStamps *s)
{
    if (!s)
        return;
    for (guint i = 0; i < s->first[program_ranks(s->reader->program)]; i++)
        stamps_clear(&s->sequences[i]);
    g_free(s->sequences);
    g_free(s->first);
    g_free(s);
}

static void begin(CallStamps *s, SequenceStamps *here, guint rank, guint sequence)
{
    WendRead *r = s->reader;
    here->begun = TRUE;
    if ((s->flags & WEND_READ_WITH_TIMES) != 0 && s->status == WEND_READ_OK)
        s->status = read_times_new(r, rank, sequence, FALSE, &here->times);
    if (here->times != NULL && !read_times_any(here->times))
        g_clear_pointer(&here->times, read_times_free);
    if ((s->flags & WEND_READ_WITH_SITES) == 0 || call_sites_n(r->sites) == 0)
        return;
    here->sites = site_walk_new(r->sites, rank, sequence);
    if (program_polls(r->program, rank, sequence) == 0)
        return;
    here->polls = walk_new(r->program, rank, sequence, WEND_WALK_POLLS);
    walk_keep(here->polls, KEEP);
}

/* The site of CALL, which is the next one of the sequence that is no unsuccessful poll. */
static guint next_site(SequenceStamps *here, const WendCall *call)
{
    guint site = G_MAXUINT;
    if (!here->polls)
        return site_walk_next(here->sites, call);
    do {
        call = walk_next(here->polls);
        if (call != NULL)
            site = site_walk_next(here->sites, call);
    } while (call != NULL && call->poll);
    return site;
}

void call_stamps_set(gpointer stamps, const WendCall *call, MessagePlace *place)
{
    CallStamps *s = stamps;
    SequenceStamps *here = &s->sequences[s->first[place->rank] + place->sequence];
    WendReadTime time;
    if (!here->begun)
        begin(s, here, place->rank, place->sequence);
    if (here->sites != NULL)
        place->site = next_site(here, call);
    if (!here->times)
        return;
    read_times_next(here->times, call);
    int status = read_times_get(s->reader, here->times, &time);
    if (status == WEND_READ_OK) {
        place->start = time.start;
        place->end = time.start + time.duration;
        return;
    }
    if (status != WEND_READ_ERROR_NONE)
        s->status = status;
    g_clear_pointer(&here->times, read_times_free); /* there are no more */
}

int call_stamps_status(const CallStamps *s)
{
    return s->status;
}
