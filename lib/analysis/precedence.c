/* SPDX-License-Identifier: BSD-3-Clause */
/* precedence.c: see precedence.h. */
#include "precedence.h"

#include <string.h>

#include "base/containers.h"

/* The limit of steps for all questions together. */
enum { STEPS_MOST = 50 * 1000 * 1000 };

/* Calls in a row of one rank that send or receive on a channel. */
typedef struct {
    guint64 step, times;
    gboolean returns;
} TransferRun;
typedef struct {
    GArray *sent, *received;
} ChannelTraffic; /* of TransferRun */
/* Messages that a rank sends at step AT or later: they are received when step UNTIL of rank TO
 * returns. */
typedef struct {
    guint64 at, until;
    guint to;
} PrecedenceEdge;
typedef struct {
    guint comm; /* its number */
} LockWindow;
/* RANK has a lock from its step LOCK, or some time later, to its step UNLOCK. */
typedef struct {
    guint rank, phase, target;
    const LockWindow *window;
    gboolean exclusive;
    /* MPI_Win_lock waits for the lock of the process's own part of a window, as the process may
     * load from it when the call has returned. */
    gboolean waited;
    guint64 lock, unlock;
    const GPtrArray *place; /* once it is unlocked: the epochs of its phase, window and target */
    guint64 *after;         /* by rank: the first step that begins after LOCK, without other
                               locks; NULL: not computed yet */
} LockEpoch;
/* The orders that lead from a rank's calls of one phase to other ranks. */
typedef struct {
    GArray *edges;
    GPtrArray *epochs; /* by unlock */
} WaysOut;
typedef struct {
    const LockWindow *window;
    guint phase, target;
} PrecedenceLock;

struct WendPrecedence {
    guint n_ranks;
    const WendMembers *members;
    gint64 any_tag, exclusive; /* words */
    Map *channels;             /* ChannelKey -> ChannelTraffic */
    Map *unsure;               /* ChannelKey: map_find_bytes */
    Map *windows;        /* number of the communicator, and of the window on it -> LockWindow */
    Map *made_on;        /* rank and number of a communicator -> guint: windows made */
    Map *held;           /* rank and handle -> LockWindow *; NULL: not known */
    Map *ways;           /* phase and rank -> WaysOut */
    Map *places;         /* LockPlace -> GPtrArray * of LockEpoch */
    GPtrArray **open;    /* by rank: LockEpoch, not unlocked yet */
    GPtrArray *epochs;   /* all of them */
    gboolean no_windows; /* windows cannot be identified */
    gboolean matched;    /* the traffic became edges */
    guint64 steps;       /* steps taken so far, of STEPS_MOST */
    guint64 *reached;
};

static void traffic_free(gpointer traffic)
{
    ChannelTraffic *t = traffic;
    g_array_unref(t->sent);
    g_array_unref(t->received);
    g_free(t);
}

static void ways_free(gpointer ways)
{
    WaysOut *w = ways;
    g_array_unref(w->edges);
    g_ptr_array_unref(w->epochs);
    g_free(w);
}

static void place_free(gpointer place)
{
    g_ptr_array_unref(*(GPtrArray **)place);
    g_free(place);
}

static void epoch_free(gpointer epoch)
{
    g_free(((LockEpoch *)epoch)->after);
    g_free(epoch);
}

WendPrecedence *precedence_new(const WendProgram *program, const WendMembers *members)
{
    WendPrecedence *p = g_new0(WendPrecedence, 1);
    p->n_ranks = program_ranks(program);
    p->members = members;
    p->any_tag = program_constant_word("MPI_ANY_TAG");
    p->exclusive = program_constant_word("MPI_LOCK_EXCLUSIVE");
    p->channels = map_of_bytes(traffic_free);
    p->unsure = map_of_bytes(NULL);
    p->windows = map_of_bytes(memory_free);
    p->made_on = map_of_bytes(memory_free);
    p->held = map_of_bytes(memory_free);
    p->ways = map_of_bytes(ways_free);
    p->places = map_of_bytes(place_free);
    p->open = g_new(GPtrArray *, p->n_ranks);
    for (guint r = 0; r < p->n_ranks; r++)
        p->open[r] = g_ptr_array_new();
    p->epochs = g_ptr_array_new_with_free_func(epoch_free);
    p->reached = g_new(guint64, p->n_ranks);
    return p;
}

void precedence_free(WendPrecedence *p)
{
    Map *tables[] = {p->channels, p->unsure, p->windows, p->made_on, p->held, p->ways, p->places};
    for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
        map_unref(tables[i]);
    for (guint r = 0; r < p->n_ranks; r++)
        g_ptr_array_unref(p->open[r]);
    g_free(p->open);
    g_ptr_array_unref(p->epochs);
    g_free(p->reached);
    g_free(p);
}

/* -- messages -- */

static ChannelTraffic *traffic_of(WendPrecedence *p, const ChannelKey *channel)
{
    ChannelTraffic *t = map_entry(p->channels, channel, sizeof *channel, sizeof *t);
    if (!t->sent) {
        t->sent = g_array_new(FALSE, FALSE, sizeof(TransferRun));
        t->received = g_array_new(FALSE, FALSE, sizeof(TransferRun));
    }
    return t;
}

void precedence_sent(WendPrecedence *p, const ChannelKey *channel, guint64 step, guint64 times)
{
    const TransferRun one = {step, times, FALSE};
    g_array_append_val(traffic_of(p, channel)->sent, one);
}

void precedence_received(WendPrecedence *p, const ChannelKey *channel, guint64 step, guint64 times,
                         gboolean returns)
{
    const TransferRun one = {step, times, returns};
    g_array_append_val(traffic_of(p, channel)->received, one);
}

void precedence_unsure(WendPrecedence *p, const ChannelKey *channels)
{
    bool new;
    map_number(p->unsure, channels, sizeof *channels, &new);
}

static gboolean is_unsure(const WendPrecedence *p, const ChannelKey *c)
{
    enum { TAG = 1, PHASE = 2, COMM = 4, FROM = 8, TO = 16, ALL = 32 };
    for (guint any = 0; any < ALL; any++) {
        ChannelKey like = *c;
        if (any & TAG)
            like.tag = p->any_tag;
        if (any & PHASE)
            like.subchannel = WEND_CHANNEL_ANY;
        if (any & COMM)
            like.comm = WEND_COMM_UNKNOWN;
        if (any & FROM)
            like.from = WEND_CHANNEL_ANY;
        if (any & TO)
            like.to = WEND_CHANNEL_ANY;
        if (map_has_bytes(p->unsure, &like, sizeof like))
            return TRUE;
    }
    return FALSE;
}

static WaysOut *ways_of(WendPrecedence *p, guint phase, guint rank)
{
    const guint key[] = {phase, rank};
    WaysOut *w = map_entry(p->ways, key, sizeof key, sizeof *w);
    if (!w->edges)
        *w = (WaysOut){g_array_new(FALSE, FALSE, sizeof(PrecedenceEdge)), g_ptr_array_new()};
    return w;
}

/* The k-th message goes to the k-th receive. If a call in the grammar receives several messages,
 * the edge is that of the last one, from which most follows. */
static void match(WendPrecedence *p, const ChannelKey *channel, const ChannelTraffic *t)
{
    WaysOut *w = ways_of(p, channel->subchannel, channel->from);
    guint64 sent = 0, received = 0;
    for (guint r = 0, s = 0; r < t->received->len; r++) {
        const TransferRun *receive = &g_array_index(t->received, TransferRun, r);
        received += receive->times;
        while (s < t->sent->len && sent + g_array_index(t->sent, TransferRun, s).times < received)
            sent += g_array_index(t->sent, TransferRun, s++).times;
        if (s == t->sent->len)
            break;
        const TransferRun *send = &g_array_index(t->sent, TransferRun, s);
        const PrecedenceEdge e = {send->step, receive->step, channel->to};
        if (receive->returns)
            g_array_append_val(w->edges, e);
    }
}

static gint compare_edges(gconstpointer a, gconstpointer b)
{
    const PrecedenceEdge *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void match_all(WendPrecedence *p)
{
    for (MapPlace at = {.map = p->channels}; map_next(&at);)
        if (!is_unsure(p, map_key_bytes(&at)))
            match(p, map_key_bytes(&at), at.value);
    for (MapPlace at = {.map = p->ways}; map_next(&at);)
        g_array_sort(((WaysOut *)at.value)->edges, compare_edges);
    p->matched = TRUE;
}

/* -- windows -- */

static const WendParam *window_made(const WendFunction *f)
{
    for (guint i = 0; i < f->n_params; i++)
        if (f->params[i].kind == WEND_KIND_WIN && f->params[i].dir == WEND_DIR_OUT)
            return &f->params[i];
    return NULL;
}

gboolean precedence_is_of_window(const WendFunction *f)
{
    return f->id == WEND_FN_MPI_Win_lock || f->id == WEND_FN_MPI_Win_unlock
           || window_made(f) != NULL;
}

/* The window that the handle stands for on the rank at this point. */
static const LockWindow **window_at(WendPrecedence *p, guint rank, gint64 handle)
{
    const gint64 key[] = {rank, handle};
    return map_entry(p->held, key, sizeof key, sizeof(const LockWindow *));
}

/* Adds a window. All members of a communicator make the windows on it in the same order. */
static void make_window(WendPrecedence *p, guint rank, gint64 handle, guint comm)
{
    const guint maker[] = {rank, comm};
    guint *n_made = map_entry(p->made_on, maker, sizeof maker, sizeof *n_made);
    const guint key[] = {comm, (*n_made)++};
    const LockWindow **at = window_at(p, rank, handle);
    *at = NULL;
    if (comm == WEND_COMM_UNKNOWN || comm == WEND_COMM_SELF)
        return;
    LockWindow *w = map_entry(p->windows, key, sizeof key, sizeof *w);
    w->comm = comm;
    *at = w;
}

/* The index, among the rank's locks, of the one that it has there, or -1. */
static int open_epoch(const WendPrecedence *p, guint rank, const LockWindow *window, guint target)
{
    for (guint i = 0; i < p->open[rank]->len; i++) {
        const LockEpoch *e = p->open[rank]->pdata[i];
        if (e->window == window && e->target == target)
            return (int)i;
    }
    return -1;
}

static gint64 number_of(const WendArg *arg, gint64 fallback)
{
    return arg && arg->n_in > 0 && !word_is_special(arg->in[0]) ? arg->in[0] : fallback;
}

static void lock(WendPrecedence *p, const WendCall *call, guint phase, const LockWindow *window,
                 guint target, guint64 step)
{
    const WendArg *type = call_arg(call, "lock_type");
    if (number_of(call_arg(call, "assert"), -1) != 0)
        return; /* with MPI_MODE_NOCHECK there is no lock */
    LockEpoch *e = g_new(LockEpoch, 1);
    *e = (LockEpoch){.rank = call->rank,
                     .phase = phase,
                     .target = target,
                     .window = window,
                     .exclusive = type->in[0] == p->exclusive,
                     .waited = target == call->rank,
                     .lock = step,
                     .unlock = G_MAXUINT64};
    g_ptr_array_add(p->epochs, e);
    g_ptr_array_add(p->open[call->rank], e);
}

static void unlock(WendPrecedence *p, guint rank, guint phase, guint at, guint64 step,
                   gboolean once)
{
    LockEpoch *e = g_ptr_array_steal_index_fast(p->open[rank], at);
    if (!once || e->phase != phase)
        return;
    const PrecedenceLock key = {e->window, phase, e->target};
    GPtrArray **place = map_entry(p->places, &key, sizeof key, sizeof *place);
    if (!*place)
        *place = g_ptr_array_new();
    e->unlock = step;
    e->place = *place;
    g_ptr_array_add(*place, e);
    g_ptr_array_add(ways_of(p, phase, rank)->epochs, e);
}

/* A call that makes a window. */
static void note_window_made(WendPrecedence *p, const WendCall *call, guint comm, gboolean once)
{
    const WendArg *window = call_arg_of_kind(call, WEND_KIND_WIN);
    p->no_windows |= call->failed || !once || window->n_out <= 0;
    if (!p->no_windows)
        make_window(p, call->rank, window->out[0], comm);
}

void precedence_window(WendPrecedence *p, const WendCall *call, guint phase, guint comm,
                       guint64 step, gboolean once)
{
    const WendArg *window = call_arg_of_kind(call, WEND_KIND_WIN);
    const WendArg *whom = call_arg(call, "rank");
    guint id = call->function->id;
    if (window_made(call->function)) {
        note_window_made(p, call, comm, once);
        return;
    }
    if (p->no_windows || window->n_in <= 0)
        return;
    const LockWindow *which = *window_at(p, call->rank, window->in[0]);
    if (!which)
        return;
    gint target = whom ? members_process(p->members, which->comm, call->rank, whom->in[0]) : -1;
    if (target < 0)
        return;
    gboolean certain = once && !call->failed;
    int at = open_epoch(p, call->rank, which, (guint)target);
    if (id == WEND_FN_MPI_Win_lock && certain && at < 0)
        lock(p, call, phase, which, (guint)target, step);
    else if (id == WEND_FN_MPI_Win_unlock && at >= 0)
        unlock(p, call->rank, phase, (guint)at, step, certain);
}

/* -- the order that follows -- */

/* The steps reached, by rank; the ranks that are reached earlier than they have been followed; and,
 * by rank, the number of its orders that remain to be followed. */
typedef struct {
    guint64 *reached;
    GArray *ranks;
    guint *edges, *epochs;
} ReachFront;

static void reach(ReachFront *f, guint rank, guint64 step)
{
    if (step >= f->reached[rank])
        return;
    f->reached[rank] = step;
    g_array_append_val(f->ranks, rank);
}

static gboolean too_long(WendPrecedence *p)
{
    return ++p->steps > STEPS_MOST;
}

static void follow_messages(WendPrecedence *p, ReachFront *f, guint rank, const GArray *edges)
{
    for (guint *n = &f->edges[rank]; *n > 0; --*n) {
        const PrecedenceEdge *e = &g_array_index(edges, PrecedenceEdge, *n - 1);
        if (e->at < f->reached[rank] || too_long(p))
            break;
        reach(f, e->to, e->until + 1);
    }
}

static void find_after(WendPrecedence *p, guint phase, guint rank, guint64 step, gboolean locks,
                       guint64 *reached);

/* Follows the locks that are granted after FIRST has been unlocked. */
static void follow_lock(WendPrecedence *p, ReachFront *f, const LockEpoch *first)
{
    for (guint i = 0; i < first->place->len && !too_long(p); i++) {
        const LockEpoch *second = first->place->pdata[i];
        if (second->rank != first->rank && (first->exclusive || second->exclusive)
            && first->after[second->rank] <= second->lock)
            reach(f, second->rank, second->unlock + 1);
    }
}

static void follow_locks(WendPrecedence *p, ReachFront *f, guint phase, guint rank,
                         const GPtrArray *epochs)
{
    for (guint *n = &f->epochs[rank]; *n > 0; --*n) {
        LockEpoch *first = epochs->pdata[*n - 1];
        if (first->unlock < f->reached[rank] || too_long(p))
            break;
        if (!first->waited)
            continue;
        if (!first->after) {
            first->after = g_new(guint64, p->n_ranks);
            find_after(p, phase, rank, first->lock, FALSE, first->after);
        }
        follow_lock(p, f, first);
    }
}

static void find_after(WendPrecedence *p, guint phase, guint rank, guint64 step, gboolean locks,
                       guint64 *reached)
{
    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree guint *edges = g_new(guint, p->n_ranks), *epochs = g_new(guint, p->n_ranks);
    ReachFront f = {reached, ranks, edges, epochs};
    for (guint r = 0; r < p->n_ranks; r++) {
        const WaysOut *w = ways_of(p, phase, r);
        reached[r] = G_MAXUINT64;
        edges[r] = w->edges->len;
        epochs[r] = w->epochs->len;
    }
    reach(&f, rank, step + 1);
    while (ranks->len > 0) {
        guint r = g_array_index(ranks, guint, ranks->len - 1);
        const WaysOut *w = ways_of(p, phase, r);
        g_array_set_size(ranks, ranks->len - 1);
        follow_messages(p, &f, r, w->edges);
        if (locks)
            follow_locks(p, &f, phase, r, w->epochs);
    }
}

const guint64 *precedence_after(WendPrecedence *p, guint phase, guint rank, guint64 step)
{
    if (!p->matched)
        match_all(p);
    find_after(p, phase, rank, step, TRUE, p->reached);
    return p->steps <= STEPS_MOST ? p->reached : NULL;
}
