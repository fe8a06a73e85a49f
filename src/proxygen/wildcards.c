/* SPDX-License-Identifier: BSD-3-Clause */
/* wildcards.c: which receives from any source may stay so, and what the others are pinned to.
 *
 * A wildcard receive stays one if, on the receiving rank and communicator,
 *   - no later receive names its source that could so miss a message that the wildcard took;
 *   - every message that could come fits;
 *   - the sends that could match are small enough to be eager in any MPI, or nonblocking: their senders go on whoever is received first.
 * Then the k-th receive completes when k messages have come, whoever sent them, and by induction over the recorded order nothing can hang. It also stays one
 * if all sends that could match are of one rank: their order is that of the sends, so that to name the rank would change nothing; or if senders can
 * wait for their turn (turns.c). Otherwise it is pinned: it names the source that the recorded one got. Probes take no message and stay as they are.
 *
 * The check looks at what the ranks do in one phase, from one collective call of all ranks to the next, on whatever communicator: messages of different phases cannot meet, if
 * in each phase as many are received as are sent, cancelled receives not counted. It errs towards pinning: where it is not clear which communicator a
 * handle is (members.h), or over the whole run one gets more messages than it takes, all communicators that the program made count as one. Within a phase messages
 * are kept apart by what has to happen before they are sent (precedence.h), which is looked at where a wildcard would be pinned without. */
#include <string.h>

#include "extent.h"
#include "plan.h"
#include "precedence.h"
#include "sources.h"
#include "turns.h"
#include "worlds.h"

typedef struct {
    guint comm;               /* its number: members.h */
    gint64 source;            /* received: the word, a constant for a wildcard; sent: the sender's rank in the job */
    gint64 tag;               /* the word */
    gint64 bytes;             /* posted, or sent at most; -1 unknown */
    gboolean blocking;        /* received: it returns when it has the message */
    gboolean persistent;      /* it is started who knows when */
    guint terminal;
    guint phase;
    guint64 first, last;      /* when the rank makes the call, counted in its calls */
} Transfer;

/* How often a rank makes a call in one phase on one communicator, and when. */
typedef struct { gint64 times; guint64 first, last; } Occurrence;
typedef struct { guint terminal, phase, comm; /* members_walk_now */ } When;
typedef struct { guint receiver, phase, comm; /* number */ } Mailbox;
/* What a rank receives in one phase of what matched probes found: how often each is called, and the smallest buffer. */
typedef struct { guint rank, phase, unused; } MatchedAt;
typedef struct { gint64 probed, received, bytes; } Matched;
enum { ANY_PHASE = G_MAXUINT };
/* By terminal: what it means here. */
typedef enum { NOTHING, TRANSFERS, SYNCHRONIZES, /* its communicator's members */ MAKES_COMM, WINDOWS /* precedence_is_of_window() */ } Move;

typedef struct {
    Plan *plan;
    gint64 any_source, any_tag, proc_null;
    Members *members;
    GPtrArray *received;      /* by rank: GArray of Transfer, named and wildcard */
    GPtrArray *sent;          /* by destination in the job: GArray of Transfer; the last one: sends of which it is not known */
    GHashTable *matched;      /* MatchedAt -> Matched; phase ANY_PHASE: of the whole run */
    guint8 *moves;            /* by terminal: Move */
    gint64 *comm_words;       /* by terminal: of those that transfer, the communicator's handle */
    gint8 *rule_moves;        /* by rule: has any terminal that moves; -1 not known yet */

    Precedence *precedence;   /* it is told of the calls, and nothing else is noted; NULL: it is not asked for */
    GHashTable *asked;        /* phases -> NULL: those about which it is asked */

    /* of the rank that is looked at */
    GHashTable *done;         /* When -> Occurrence */
    guint rank, sequence;     /* one of the ranks that do the same */
    RankSet ranks;            /* these */
    MembersWalk *comms;
    guint phase;
    GHashTable *balance;      /* Mailbox -> messages sent minus received; receiver n_ranks: not known */
    guint64 steps;            /* walked so far */
    gboolean cancels;         /* there are calls of MPI_Cancel */
    gboolean wildcards;       /* there are any */
    gboolean one_made;        /* all communicators that the program made count as one */
    guint64 loop_start;
    guint64 loop_end;         /* in a loop whose order is open: the step where it ends; else 0 */
    gboolean world_only;      /* phases are those of MPI_COMM_WORLD: for some other communicator it is not clear which it is */
    gboolean unclear;
    gboolean merged;          /* all phases have become one */
    gboolean one_phase;       /* messages cross phases */
    gboolean no_order;        /* too long to walk, or threads, which have no common order */
} Traffic;

static gboolean is_probe(const char *name)
{
    return strcmp(name, "MPI_Probe") == 0 || strcmp(name, "MPI_Iprobe") == 0;
}

static gboolean is_matched_probe(const char *name)
{
    return strcmp(name, "MPI_Mprobe") == 0 || strcmp(name, "MPI_Improbe") == 0;
}

static gboolean named(const Call *c, const char *name, guint rank, gint64 *value)
{
    const Arg *arg = call_arg_named(c, name);
    if (!arg || !arg->has_in || arg->n_in_words == 0)
        return FALSE;
    *value = call_value(c, arg->in[0], rank);
    return TRUE;
}

/* The bytes of the buffer that BUFFER is, as RANK gives it. */
static gint64 bytes_of(const Plan *plan, const Call *c, const char *buffer, guint rank)
{
    const Arg *arg = call_arg_named(c, buffer);
    if (!arg || arg->param->count < 0 || arg->param->type < 0)
        return -1;
    const Arg *type = &c->args[arg->param->type];
    gint64 count = call_number(c, &c->args[arg->param->count], rank, 0);
    gint64 partitions = arg->param->displs >= 0 ? call_number(c, &c->args[arg->param->displs], rank, 1) : 1;
    return type->n_in_words ? extent_data_size(plan->extents, type->in[0].value, count * MAX(partitions, 1), rank) : -1;
}

/* When and Mailbox are three numbers each. */
static guint three_hash(gconstpointer key)
{
    const guint *k = key;
    return (k[0] * 2654435761u ^ k[1]) * 2654435761u ^ k[2];
}

static gboolean three_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, 3 * sizeof(guint)) == 0; }

static gboolean is_made(guint comm) { return comm != COMM_WORLD && comm != COMM_SELF; }

static void count_message(Traffic *t, guint receiver, guint comm, guint phase, gint64 times)
{
    const Mailbox key = {comm == COMM_UNKNOWN ? t->plan->n_ranks : receiver, phase, comm};
    gint64 *known = g_hash_table_lookup(t->balance, &key);
    if (!known)
        g_hash_table_insert(t->balance, g_memdup2(&key, sizeof key), known = g_new0(gint64, 1));
    *known += times;
    t->one_phase |= key.receiver == t->plan->n_ranks; /* sums say nothing on each */
}

static void add(GPtrArray *lists, guint index, Transfer t)
{
    if (!lists->pdata[index])
        lists->pdata[index] = g_array_new(FALSE, FALSE, sizeof(Transfer));
    g_array_append_val((GArray *)lists->pdata[index], t);
}

/* The channel is unsure where one of its ends is open, or the order of the calls. */
static void tell(const Traffic *t, const Transfer *one, gboolean sent, gint partner, guint rank, const Occurrence *when)
{
    guint other = partner >= 0 ? (guint)partner : CHANNEL_ANY;
    const Channel channel = {one->tag, t->merged ? 0 : one->persistent ? CHANNEL_ANY : one->phase, one->comm, sent ? rank : other, sent ? other : rank};
    if (one->persistent || one->comm == COMM_UNKNOWN || partner < 0 || one->tag == t->any_tag || when->first != when->last)
        precedence_unsure(t->precedence, &channel);
    else if (sent)
        precedence_sent(t->precedence, &channel, when->first, (guint64)when->times);
    else
        precedence_received(t->precedence, &channel, when->last, (guint64)when->times, one->blocking);
}

static void note_received(Traffic *t, guint rank, const Transfer *one, gboolean probe, const Occurrence *when)
{
    if (t->precedence) {
        if (!probe)
            tell(t, one, FALSE, one->source == t->any_source ? -1 : members_process(t->members, one->comm, rank, one->source), rank, when);
        return;
    }
    add(t->received, rank, *one);
    if (!probe && !one->persistent)
        count_message(t, rank, one->comm, one->phase, -when->times);
}

static void note_sent(Traffic *t, gint receiver, const Transfer *one, const Occurrence *when)
{
    if (t->precedence) {
        tell(t, one, TRUE, receiver, (guint)one->source, when);
        return;
    }
    guint index = receiver >= 0 ? (guint)receiver : t->plan->n_ranks;
    add(t->sent, index, *one);
    if (!one->persistent)
        count_message(t, index, one->comm, one->phase, when->times);
}

static guint number_of(const Traffic *t, guint rank, guint sequence, gint64 handle, guint now)
{
    guint comm = members_number(t->members, rank, sequence, handle, now);
    return t->one_made && is_made(comm) ? COMM_UNKNOWN : comm;
}

/* A call that failed moved no message; but a receive of one that is too long fails, too (MPI_ERR_TRUNCATE), if it names somebody. */
static gboolean moved_nothing(const Traffic *t, const Call *c, guint rank, guint number)
{
    static const char *const partners[] = {"source", "dest"};
    if (!c->failed)
        return FALSE;
    gint64 value;
    for (guint i = 0; i < G_N_ELEMENTS(partners); i++)
        if (named(c, partners[i], rank, &value) && value != t->any_source && value != t->proc_null &&
            (value < 0 || value >= (gint64)t->plan->n_ranks || (!is_made(number) && members_process(t->members, number, rank, value) < 0)))
            return TRUE;
    return !(c->function->flags & WEND_F_RECV);
}

static void note_matched(Traffic *t, guint rank, guint phase, Matched more)
{
    if (t->precedence)
        return; /* it has been noted */
    const MatchedAt places[] = {{rank, phase, 0}, {rank, ANY_PHASE, 0}};
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        Matched *known = g_hash_table_lookup(t->matched, &places[i]);
        if (!known) {
            known = g_new(Matched, 1);
            *known = (Matched){0, 0, G_MAXINT64};
            g_hash_table_insert(t->matched, g_memdup2(&places[i], sizeof *places), known);
        }
        known->probed += more.probed;
        known->received += more.received;
        known->bytes = MIN(known->bytes, more.bytes);
    }
}

/* Room for what a matched probe of the phase finds; each is received in the phase, or it may be any of the rank's buffers. */
static gint64 room_for_matched(const Traffic *t, guint rank, guint phase)
{
    const MatchedAt here = {rank, phase, 0}, anywhere = {rank, ANY_PHASE, 0};
    const Matched *in_phase = g_hash_table_lookup(t->matched, &here), *all = g_hash_table_lookup(t->matched, &anywhere);
    if (in_phase && !t->merged && in_phase->probed == in_phase->received)
        return in_phase->bytes;
    return all ? all->bytes : G_MAXINT64;
}

static void note_call(Traffic *t, const Call *c, guint rank, guint phase, guint number, const Occurrence *when)
{
    const char *name = c->function->name;
    const Arg *comm = call_arg_of_kind(c, WEND_KIND_COMM);
    gint64 value;
    if (strstr(name, "recv") && call_arg_of_kind(c, WEND_KIND_MESSAGE)) {
        gint64 bytes = bytes_of(t->plan, c, "buf", rank);
        note_matched(t, rank, phase, (Matched){0, when->times, bytes >= 0 ? bytes : G_MAXINT64});
        return;
    }
    if (is_matched_probe(name))
        note_matched(t, rank, phase, (Matched){when->times, 0, G_MAXINT64});
    if (!comm || !comm->has_in || moved_nothing(t, c, rank, number))
        return;
    Transfer one = {.comm = number, .terminal = c->terminal, .source = rank, .phase = phase, .first = when->first, .last = when->last};
    if (c->function->flags & WEND_F_PERSISTENT) {
        one.persistent = TRUE;
        one.last = G_MAXUINT64;
    }
    gboolean combined = strstr(name, "endrecv") != NULL;
    if ((c->function->flags & WEND_F_RECV) && named(c, "source", rank, &one.source) && one.source != t->proc_null &&
        named(c, combined ? "recvtag" : "tag", rank, &one.tag)) {
        one.bytes = is_probe(name) || is_matched_probe(name) ? -1 : bytes_of(t->plan, c, combined && !strstr(name, "_replace") ? "recvbuf" : "buf", rank);
        one.blocking = !call_arg_of_kind(c, WEND_KIND_REQUEST); /* polls go on until they succeed */
        note_received(t, rank, &one, is_probe(name), when);
    }
    if ((c->function->flags & WEND_F_SEND) && named(c, "dest", rank, &value) && value != t->proc_null && named(c, combined ? "sendtag" : "tag", rank, &one.tag)) {
        one.source = rank;
        one.bytes = bytes_of(t->plan, c, combined && !strstr(name, "_replace") ? "sendbuf" : "buf", rank);
        one.blocking = !call_arg_of_kind(c, WEND_KIND_REQUEST) && strncmp(name, "MPI_Bsend", 9) != 0 && !combined;
        if (strncmp(name, "MPI_Ssend", 9) == 0)
            one.bytes = MAX(one.bytes, EAGER_BYTES + 1); /* waits for the receive, whatever its size; too large for no buffer: see below */
        note_sent(t, members_process(t->members, number, rank, value), &one, when);
    }
}

static gboolean tags_meet(const Traffic *t, gint64 a, gint64 b)
{
    return a == b || a == t->any_tag || b == t->any_tag;
}

static gboolean meet(const Traffic *t, const Transfer *wildcard, const Transfer *other)
{
    gboolean same = wildcard->comm == other->comm ||
                    (is_made(wildcard->comm) && is_made(other->comm) && (wildcard->comm == COMM_UNKNOWN || other->comm == COMM_UNKNOWN));
    gboolean together = other->phase == wildcard->phase || other->persistent || wildcard->persistent;
    return same && together && tags_meet(t, other->tag, wildcard->tag);
}

/* A wildcard as it is judged. */
typedef struct {
    const Transfer *receive;
    guint rank;
    const guint64 *after;     /* by rank: the first step that begins after it has returned; NULL: not known */
} Judged;

static gboolean could_take(const Traffic *t, const Judged *j, const Transfer *send)
{
    return meet(t, j->receive, send) && !(j->after && j->after[send->source] <= send->first);
}

/* The next of the sends that the wildcard could match, from number *I on of those to its rank, and to who knows whom. */
static const Transfer *next_send(const Traffic *t, const Judged *j, guint *i)
{
    const GArray *known = t->sent->pdata[j->rank], *unknown = t->sent->pdata[t->plan->n_ranks];
    guint n = known ? known->len : 0, all = n + (unknown ? unknown->len : 0);
    while (*i < all) {
        const Transfer *send = *i < n ? &g_array_index(known, Transfer, *i) : &g_array_index(unknown, Transfer, *i - n);
        ++*i;
        if (could_take(t, j, send))
            return send;
    }
    return NULL;
}

/* Are all sends that the wildcard could match of one rank? */
static gboolean one_sender(const Traffic *t, const Judged *j)
{
    const Transfer *send;
    gint64 sender = -1;
    for (guint i = 0; (send = next_send(t, j, &i)) != NULL; sender = send->source)
        if (sender >= 0 && send->source != sender)
            return FALSE;
    return TRUE;
}

/* Could the wildcard take a message that a receive, which names its source, is to get? */
static gboolean could_rob(const Traffic *t, const Judged *j, const Transfer *named_one)
{
    gint source = members_process(t->members, named_one->comm, j->rank, named_one->source);
    const Transfer *send;
    for (guint i = 0; (send = next_send(t, j, &i)) != NULL;)
        if ((source < 0 || send->source == source) && meet(t, named_one, send))
            return TRUE;
    return FALSE;
}

/* Why the wildcard must be pinned, or NULL. */
static const char *conflict_on(const Traffic *t, const Judged *j, gint64 room)
{
    if (one_sender(t, j))
        return NULL;
    const GArray *received = t->received->pdata[j->rank];
    for (guint i = 0; i < received->len; i++) {
        const Transfer *other = &g_array_index(received, Transfer, i);
        /* One that was posted earlier is matched first. */
        if (meet(t, j->receive, other) && other->last > j->receive->first && other->source != t->any_source && could_rob(t, j, other))
            return "another receive of this rank names its source and could miss its message";
    }
    const Transfer *send;
    for (guint i = 0; (send = next_send(t, j, &i)) != NULL;) {
        if (send->bytes < 0 || (room >= 0 && send->bytes > room && send->bytes != EAGER_BYTES + 1))
            return "a message of another sender might not fit";
        if (send->blocking && send->bytes > EAGER_BYTES)
            return "senders wait until they are received, so the order matters";
    }
    return NULL;
}

/* -- phases -- */

static gboolean rule_moves(Traffic *t, guint rule)
{
    if (t->rule_moves[rule] < 0) {
        const PlanRule *r = &t->plan->rules[rule];
        gint8 found = 0;
        for (guint i = 0; i < r->n && !found; i++)
            found = r->symbols[i].is_rule ? (gint8)rule_moves(t, r->symbols[i].id) : t->moves[r->symbols[i].id] != 0;
        t->rule_moves[rule] = found;
    }
    return t->rule_moves[rule];
}

/* As many as walk() takes steps: bodies of loops have no rules in them. */
static guint64 calls_of_loop(const Plan *plan, const PlanRule *loop)
{
    guint64 n = 0;
    for (guint i = 0; i < loop->n; i++)
        n += loop->symbols[i].exponent * (loop->symbols[i].is_rule ? plan->rules[loop->symbols[i].id].n : 1);
    return n;
}

/* Is it a communicator of all ranks? */
static gboolean is_of_all(const Traffic *t, guint number, guint rank)
{
    return number == COMM_WORLD || (!t->world_only && members_all(t->members, number, rank));
}

/* The call is the last step, or at any step of a loop. */
static void tell_call(Traffic *t, guint terminal, guint64 times)
{
    Move move = t->moves[terminal];
    guint now = members_walk_now(t->comms, t->comm_words[terminal]), phase = t->merged ? 0 : t->phase;
    const Occurrence when = {(gint64)times, t->loop_end ? t->loop_start : t->steps, t->loop_end ? t->loop_end : t->steps};
    if (move == NOTHING || (move == TRANSFERS && !t->merged && !g_hash_table_contains(t->asked, GUINT_TO_POINTER(phase))))
        return;
    call_decode(t->plan->call, terminal);
    for (guint r = 0; r < t->ranks.n; r++) {
        guint rank = t->ranks.ranks[r], number = number_of(t, rank, t->sequence, t->comm_words[terminal], now);
        if (move == TRANSFERS)
            note_call(t, t->plan->call, rank, phase, number, &when);
        else
            precedence_window(t->precedence, t->plan->call, rank, phase, number, t->steps, times == 1 && !t->loop_end);
    }
}

static void step(Traffic *t, guint terminal, guint64 times)
{
    t->no_order |= ++t->steps > STEP_LIMIT;
    if (t->moves[terminal] == SYNCHRONIZES) {
        gint64 handle = t->comm_words[terminal];
        guint number = members_number(t->members, t->rank, t->sequence, handle, members_walk_now(t->comms, handle));
        t->unclear |= number == COMM_UNKNOWN;
        if (is_of_all(t, number, t->rank))
            t->phase += (guint)times;
    } else if (t->moves[terminal] == MAKES_COMM) {
        members_walk_made(t->comms, terminal, times, t->loop_end != 0);
    } else if (t->precedence) {
        tell_call(t, terminal, times);
    } else if (t->moves[terminal] == TRANSFERS) {
        const When key = {terminal, t->phase, members_walk_now(t->comms, t->comm_words[terminal])};
        Occurrence *when = g_hash_table_lookup(t->done, &key);
        if (!when) {
            when = g_new0(Occurrence, 1);
            when->first = t->loop_end ? t->loop_start : t->steps;
            g_hash_table_insert(t->done, g_memdup2(&key, sizeof key), when);
        }
        when->last = MAX(t->steps, t->loop_end);
        when->times += (gint64)times;
    }
}

/* What the loop makes may be what its calls name, whichever come first in it. */
static void foresee_comms(Traffic *t, const PlanRule *r)
{
    for (guint i = 0; i < r->n; i++) {
        if (r->symbols[i].is_rule)
            foresee_comms(t, &t->plan->rules[r->symbols[i].id]);
        else if (t->moves[r->symbols[i].id] == MAKES_COMM)
            members_walk_made(t->comms, r->symbols[i].id, 0, TRUE);
    }
}

static void walk(Traffic *t, guint rule)
{
    const PlanRule *r = &t->plan->rules[rule];
    if (r->loop && !t->loop_end) {
        foresee_comms(t, r);
        /* Its calls come in any order: each may be as early as the loop and as late. */
        t->loop_start = t->steps + 1;
        t->loop_end = t->steps + calls_of_loop(t->plan, r);
        walk(t, rule);
        t->loop_end = 0;
        return;
    }
    for (guint i = 0; i < r->n && !t->no_order; i++) {
        const WendSymbol *s = &r->symbols[i];
        if (s->is_rule) {
            for (guint64 e = 0; rule_moves(t, s->id) && e < s->exponent && !t->no_order; e++)
                walk(t, s->id);
            continue;
        }
        step(t, s->id, s->exponent);
    }
}

/* On any of the ranks. */
static gboolean is_wildcard(const Traffic *t, const Call *c, RankSet ranks)
{
    gint64 source;
    for (guint r = 0; r < ranks.n; r++)
        if (named(c, "source", ranks.ranks[r], &source) && source == t->any_source)
            return TRUE;
    return FALSE;
}

/* Which terminals move messages, and which synchronize. Of the collective calls on communicators of all ranks each counts, as all ranks make all of them in
 * the same order (on several communicators, too: MPI 4.0, 6.14); but only those after which every rank has heard of every other separate phases. */
static void find_moves(Traffic *t)
{
    static const char *const synchronizing[] = {"MPI_Barrier", "MPI_Allreduce", "MPI_Allgather", "MPI_Allgatherv", "MPI_Alltoall"};
    for (guint i = 0; i < wend_program_n_terminals(t->plan->program); i++) {
        if (t->plan->terminal_ranks[i].n == 0)
            continue;
        call_decode(t->plan->call, i);
        const Call *c = t->plan->call;
        const Arg *comm = call_arg_of_kind(c, WEND_KIND_COMM);
        if (c->function->flags & (WEND_F_RECV | WEND_F_SEND)) {
            t->moves[i] = TRANSFERS;
            t->comm_words[i] = comm && comm->has_in ? comm->in[0].value : WEND_ABSENT;
            t->wildcards |= is_wildcard(t, c, t->plan->terminal_ranks[i]);
        } else if (!c->failed && wend_function_comm_made(c->function) >= 0) {
            t->moves[i] = MAKES_COMM;
        } else if (precedence_is_of_window(c->function)) {
            t->moves[i] = WINDOWS;
            t->comm_words[i] = comm && comm->has_in ? comm->in[0].value : WEND_ABSENT;
        }
        t->cancels |= strcmp(c->function->name, "MPI_Cancel") == 0;
        for (guint k = 0; k < G_N_ELEMENTS(synchronizing); k++)
            if (!c->failed && comm && comm->has_in && strcmp(c->function->name, synchronizing[k]) == 0) {
                t->moves[i] = SYNCHRONIZES;
                t->comm_words[i] = comm->in[0].value;
            }
    }
}

static void forget(Traffic *t)
{
    for (guint r = 0; r <= t->plan->n_ranks; r++) {
        if (t->received->pdata[r])
            g_array_unref(t->received->pdata[r]);
        if (t->sent->pdata[r])
            g_array_unref(t->sent->pdata[r]);
        t->received->pdata[r] = t->sent->pdata[r] = NULL;
    }
    g_hash_table_remove_all(t->balance);
    g_hash_table_remove_all(t->matched);
}

/* Takes all calls of all ranks as one phase. What there are of them is not counted, so communicators are not told apart. */
static void note_all(Traffic *t)
{
    t->one_made = TRUE;
    const Occurrence any_time = {1, 0, G_MAXUINT64};
    for (guint i = 0; i < wend_program_n_terminals(t->plan->program); i++) {
        RankSet ranks = t->plan->terminal_ranks[i];
        if (ranks.n == 0 || !(t->moves[i] == TRANSFERS || strstr(wend_program_shape(t->plan->program, wend_program_terminal(t->plan->program, i)->shape)->function->name, "recv")))
            continue;
        call_decode(t->plan->call, i);
        for (guint r = 0; r < ranks.n; r++)
            note_call(t, t->plan->call, ranks.ranks[r], 0, number_of(t, ranks.ranks[r], 0, t->comm_words[i], 0), &any_time);
    }
}

/* The number of the communicator that a handle is at the call that the walk is at; NUMBER says that of what is no object of the application's. */
static guint comm_at(WendWalk *walk, gint64 handle, guint number)
{
    return wend_is_handle(handle) ? MIN(wend_walk_comm(walk, handle), COMM_UNKNOWN) : number;
}

/* Receives that were cancelled took no message. One that was pending from phase to phase could take one of either. */
static void discount_cancelled(Traffic *t, guint rank, guint sequence)
{
    typedef struct { guint comm, phase; } Pending;
    g_autoptr(GHashTable) pending = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free); /* request -> Pending */
    WendWalk *walk = wend_walk_new(t->plan->program, rank, sequence, WEND_WALK_MAIN);
    const WendCall *call;
    guint phase = 0;
    while ((call = wend_walk_next(walk)) != NULL) {
        const gint64 *made = wend_call_request_made(call);
        if (t->moves[call->terminal] == SYNCHRONIZES) {
            gint64 handle = t->comm_words[call->terminal];
            phase += is_of_all(t, comm_at(walk, handle, members_number(t->members, rank, sequence, handle, 0)), rank);
        }
        if (made && (call->function->flags & WEND_F_RECV) && !(call->function->flags & WEND_F_PERSISTENT)) {
            gint64 handle = t->comm_words[call->terminal];
            Pending p = {comm_at(walk, handle, number_of(t, rank, sequence, handle, 0)), phase};
            if (t->one_made && is_made(p.comm))
                p.comm = COMM_UNKNOWN;
            g_hash_table_replace(pending, g_memdup2(made, sizeof *made), g_memdup2(&p, sizeof p));
        }
        guint n;
        const gint64 *completed = wend_walk_completed(walk, &n);
        for (guint i = 0; i < n && g_hash_table_size(pending) > 0; i++) {
            const Pending *p = g_hash_table_lookup(pending, &completed[i]);
            const gint64 *status = p ? wend_call_status_of(call, completed, i) : NULL;
            if (status && status[3] & 1) {
                count_message(t, rank, p->comm, p->phase, 1);
                t->one_phase |= p->phase != phase;
            }
            g_hash_table_remove(pending, &completed[i]);
        }
    }
    wend_walk_free(walk);
}

static void walk_thread(Traffic *t, const PlanThread *thread)
{
    guint prefix = t->plan->prefix ? t->plan->prefix->len : 0;
    t->comms = members_walk_new(t->members, thread->class_index, thread->sequence);
    t->phase = 0;
    t->rank = thread->ranks.ranks[0];
    t->ranks = thread->ranks;
    t->sequence = thread->sequence;
    for (guint i = 0; i < prefix; i++)
        step(t, g_array_index(t->plan->prefix, guint, i), 1);
    walk(t, thread->rule);
    t->no_order |= !members_walk_complete(t->comms);
    members_walk_free(t->comms);
}

static void note_thread(Traffic *t, const PlanThread *thread)
{
    t->done = g_hash_table_new_full(three_hash, three_equal, g_free, g_free);
    walk_thread(t, thread);
    GHashTableIter iter;
    gpointer key, occurrence;
    g_hash_table_iter_init(&iter, t->done);
    while (!t->no_order && g_hash_table_iter_next(&iter, &key, &occurrence)) {
        const When *when = key;
        call_decode(t->plan->call, when->terminal);
        for (guint r = 0; r < thread->ranks.n; r++) {
            guint rank = thread->ranks.ranks[r];
            note_call(t, t->plan->call, rank, when->phase, number_of(t, rank, thread->sequence, t->comm_words[when->terminal], when->comm), occurrence);
        }
    }
    g_hash_table_destroy(t->done);
    for (guint r = 0; t->cancels && !t->no_order && r < thread->ranks.n; r++)
        discount_cancelled(t, thread->ranks.ranks[r], thread->sequence);
}

/* Has everybody received in each phase what was sent to it, and in all of them together? */
static void weigh(const Traffic *t, gboolean *each_phase, gboolean *all)
{
    g_autoptr(GHashTable) sums = g_hash_table_new_full(three_hash, three_equal, g_free, g_free); /* Mailbox, phase 0 -> messages */
    *each_phase = *all = TRUE;
    GHashTableIter iter;
    gpointer key, left;
    g_hash_table_iter_init(&iter, t->balance);
    while (g_hash_table_iter_next(&iter, &key, &left)) {
        Mailbox mailbox = *(const Mailbox *)key;
        *each_phase &= *(gint64 *)left == 0;
        mailbox.phase = 0;
        gint64 *sum = g_hash_table_lookup(sums, &mailbox);
        if (!sum)
            g_hash_table_insert(sums, g_memdup2(&mailbox, sizeof mailbox), sum = g_new0(gint64, 1));
        *sum += *(gint64 *)left;
    }
    g_hash_table_iter_init(&iter, sums);
    while (g_hash_table_iter_next(&iter, &key, &left))
        *all &= *(gint64 *)left == 0 || !is_made(((const Mailbox *)key)->comm);
}

static void merge_phases(GPtrArray *lists)
{
    for (guint i = 0; i < lists->len; i++) {
        GArray *list = lists->pdata[i];
        g_autoptr(GHashTable) places = g_hash_table_new_full(three_hash, three_equal, g_free, NULL);
        guint kept = 0;
        for (guint k = 0; list && k < list->len; k++) {
            Transfer one = g_array_index(list, Transfer, k);
            const guint key[3] = {one.terminal, one.comm, (guint)one.source};
            gpointer place = g_hash_table_lookup(places, key);
            one.phase = 0;
            if (place) {
                Transfer *first = &g_array_index(list, Transfer, GPOINTER_TO_UINT(place) - 1);
                first->first = MIN(first->first, one.first);
                first->last = MAX(first->last, one.last);
            } else {
                g_array_index(list, Transfer, kept++) = one;
                g_hash_table_insert(places, g_memdup2(key, sizeof key), GUINT_TO_POINTER(kept));
            }
        }
        if (list)
            g_array_set_size(list, kept);
    }
}

static void walk_threads(Traffic *t)
{
    t->steps = 0;
    t->one_phase = FALSE;
    for (guint i = 0; i < t->plan->threads->len && !t->no_order; i++) {
        const PlanThread *thread = &g_array_index(t->plan->threads, PlanThread, i);
        t->no_order |= thread->n_others > 0;
        if (t->no_order)
            break;
        if (t->precedence)
            walk_thread(t, thread);
        else
            note_thread(t, thread);
    }
}

static void note_in_order(Traffic *t)
{
    walk_threads(t);
    if (!t->unclear || t->world_only || t->no_order)
        return;
    t->world_only = TRUE; /* ranks could count phases differently */
    forget(t);
    walk_threads(t);
}

static void note_transfers(Traffic *t)
{
    gboolean each_phase = FALSE, all = FALSE;
    note_in_order(t);
    if (!t->no_order)
        weigh(t, &each_phase, &all);
    /* A message that nobody takes, or communicators that are not understood: those of several worlds have a number in each. */
    if (!t->no_order && (!all || worlds_several(t->plan))) {
        t->one_made = TRUE;
        forget(t);
        note_in_order(t);
        weigh(t, &each_phase, &all);
    }
    if (t->no_order) {
        forget(t);
        t->merged = TRUE;
        note_all(t);
    } else if (t->one_phase || !each_phase) {
        t->merged = TRUE;
        merge_phases(t->received);
        merge_phases(t->sent);
    }
}

static void wildcard_free(gpointer wildcard)
{
    Wildcard *w = wildcard;
    g_hash_table_destroy(w->sources);
    g_clear_pointer(&w->starts, g_hash_table_destroy);
    g_free(w);
}

static void free_lists(GPtrArray *lists)
{
    for (guint i = 0; i < lists->len; i++)
        if (lists->pdata[i])
            g_array_unref(lists->pdata[i]);
    g_ptr_array_free(lists, TRUE);
}

/* Why the receive must be pinned, or NULL. AFTER: see Judged. */
static const char *reason_to_pin(const Traffic *t, const Transfer *one, guint rank, const guint64 *after)
{
    Plan *plan = t->plan;
    call_decode(plan->call, one->terminal);
    const char *name = plan->call->function->name;
    if (plan->options->pin)
        return "asked for with --pin";
    if (is_probe(name))
        return NULL;
    const Judged judged = {one, rank, after};
    return conflict_on(t, &judged, is_matched_probe(name) ? room_for_matched(t, rank, one->phase) : one->bytes);
}

static void pin(const Traffic *t, const Transfer *one, const char *reason)
{
    Plan *plan = t->plan;
    call_decode(plan->call, one->terminal);
    const Arg *source = call_arg_named(plan->call, "source");
    if (!source->in[0].by_slot)
        return;
    Wildcard *w = g_new0(Wildcard, 1);
    w->terminal = one->terminal;
    w->pinned = TRUE;
    w->reason = reason;
    w->slot = source->in[0].slot;
    w->any_source = t->any_source;
    w->sources = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
    if (one->persistent)
        w->starts = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_ptr_array_unref);
    g_hash_table_insert(plan->wildcards, GUINT_TO_POINTER(w->terminal), w);
}

static gboolean is_pinned(const Traffic *t, const Transfer *one)
{
    return g_hash_table_contains(t->plan->wildcards, GUINT_TO_POINTER(one->terminal));
}

typedef struct { const Transfer *receive; guint rank; } Question;

/* Pins what conflicts, and gives the receives for which it is to be looked at what happens before what. */
static GArray *pin_clear_cases(const Traffic *t)
{
    GArray *open = g_array_new(FALSE, FALSE, sizeof(Question));
    for (guint r = 0; r < t->plan->n_ranks; r++) {
        const GArray *received = t->received->pdata[r];
        for (guint i = 0; received && i < received->len; i++) {
            const Question q = {&g_array_index(received, Transfer, i), r};
            const char *reason = q.receive->source == t->any_source && !is_pinned(t, q.receive) ? reason_to_pin(t, q.receive, r, NULL) : NULL;
            if (reason && q.receive->blocking && !t->no_order && !t->cancels && !t->plan->options->pin)
                g_array_append_val(open, q);
            else if (reason)
                pin(t, q.receive, reason);
        }
    }
    return open;
}

static void answer(Traffic *t, const GArray *questions)
{
    t->asked = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < questions->len; i++)
        g_hash_table_add(t->asked, GUINT_TO_POINTER(g_array_index(questions, Question, i).receive->phase));
    Precedence *p = t->precedence = precedence_new(t->plan, t->members);
    walk_threads(t);
    t->precedence = NULL;
    for (guint i = 0; i < questions->len; i++) {
        const Question *q = &g_array_index(questions, Question, i);
        const char *reason = is_pinned(t, q->receive) ? NULL : reason_to_pin(t, q->receive, q->rank, precedence_after(p, q->receive->phase, q->rank, q->receive->last));
        if (reason)
            pin(t, q->receive, reason);
    }
    precedence_free(p);
    g_hash_table_destroy(t->asked);
}

/* All that would be pinned on one rank? */
static gboolean try_turns(const Traffic *t)
{
    Plan *plan = t->plan;
    gint hub = -1;
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, plan->wildcards);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Wildcard *w = value;
        RankSet ranks = plan->terminal_ranks[w->terminal];
        for (guint r = 0; r < ranks.n; r++) {
            if (wend_program_slot(plan->program, w->terminal, w->slot, ranks.ranks[r]) != w->any_source)
                continue;
            if (hub >= 0 && hub != (gint)ranks.ranks[r])
                return FALSE;
            hub = (gint)ranks.ranks[r];
        }
    }
    return hub >= 0 && plan_turns(plan, (guint)hub);
}

void plan_wildcards(Plan *plan)
{
    plan->wildcards = g_hash_table_new_full(NULL, NULL, NULL, wildcard_free);
    plan->turns = g_hash_table_new_full(NULL, NULL, NULL, wildcard_free);
    Traffic t = {.plan = plan, .any_source = wend_constant_word("MPI_ANY_SOURCE"), .any_tag = wend_constant_word("MPI_ANY_TAG"),
                 .proc_null = wend_constant_word("MPI_PROC_NULL")};
    t.received = g_ptr_array_new();
    t.sent = g_ptr_array_new();
    g_ptr_array_set_size(t.received, (gint)plan->n_ranks + 1);
    g_ptr_array_set_size(t.sent, (gint)plan->n_ranks + 1);
    t.matched = g_hash_table_new_full(three_hash, three_equal, g_free, g_free);
    t.moves = g_new0(guint8, wend_program_n_terminals(plan->program) + 1);
    t.rule_moves = g_malloc(plan->n_rules + 1);
    memset(t.rule_moves, -1, plan->n_rules + 1);
    t.comm_words = g_new0(gint64, wend_program_n_terminals(plan->program) + 1);
    t.balance = g_hash_table_new_full(three_hash, three_equal, g_free, g_free);
    find_moves(&t);
    if (t.wildcards) {
        t.members = members_new(plan);
        note_transfers(&t);
        g_autoptr(GArray) questions = pin_clear_cases(&t);
        if (questions->len > 0)
            answer(&t, questions);
        members_free(t.members);
    }
    /* Turns are in the recorded order, which loops do not keep. */
    if (!plan->options->pin && !plan->has_loops && !worlds_several(plan) && g_hash_table_size(plan->wildcards) > 0 && try_turns(&t))
        g_hash_table_remove_all(plan->wildcards);
    if (g_hash_table_size(plan->wildcards) > 0)
        sources_find(plan);
    free_lists(t.received);
    free_lists(t.sent);
    g_hash_table_destroy(t.matched);
    g_free(t.moves);
    g_free(t.comm_words);
    g_free(t.rule_moves);
    g_hash_table_destroy(t.balance);
}
