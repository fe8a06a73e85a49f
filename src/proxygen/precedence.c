/* SPDX-License-Identifier: BSD-3-Clause */
/* precedence.c: which calls cannot begin before another one has returned. See precedence.h. */
#include <string.h>

#include "effects.h"
#include "precedence.h"

/* N calls of one rank, one after the other, that send or receive on a channel. */
typedef struct { guint64 step, times; gboolean returns; } Transfers;
typedef struct { GArray *sent, *received; } Traffic; /* of Transfers */
/* What is sent at AT of one rank or later has been received when UNTIL of rank TO returns. */
typedef struct { guint64 at, until; guint to; } Edge;
typedef struct { guint comm; /* its number */ } Window;
/* RANK has a lock, from its step LOCK on or some time later, to UNLOCK. */
typedef struct {
    guint rank, phase, target;
    const Window *window;
    gboolean exclusive;
    gboolean waited;         /* for the lock: it is of the process's own part of the window, which it may load from and store to when MPI_Win_lock has returned */
    guint64 lock, unlock;
    const GPtrArray *place;  /* once it is unlocked: the epochs of its phase, window and target */
    guint64 *after;          /* by rank: what begins after LOCK, other locks aside; NULL: not found out yet */
} Epoch;
/* What leads out of a rank's calls of one phase. */
typedef struct { GArray *edges; GPtrArray *epochs; /* by unlock */ } Ways;
typedef struct { const Window *window; guint phase, target; } PlaceKey;

struct Precedence {
    const Plan *plan;
    const Members *members;
    gint64 any_tag, exclusive; /* words */
    GHashTable *channels;    /* Channel -> Traffic */
    GHashTable *unsure;      /* Channel: bytes_known() */
    GHashTable *windows;     /* number of the communicator, and of the window on it -> Window */
    GHashTable *made_on;     /* rank and number of a communicator -> guint: windows made */
    GHashTable *held;        /* rank and handle -> Window *; NULL: not known */
    GHashTable *ways;        /* phase and rank -> Ways */
    GHashTable *places;      /* PlaceKey -> GPtrArray * of Epoch */
    GPtrArray **open;        /* by rank: Epoch, not unlocked yet */
    GPtrArray *epochs;       /* all of them */
    gboolean no_windows;     /* it is not clear which is which */
    gboolean matched;        /* the traffic became edges */
    guint64 steps;           /* that were taken to find out something */
    guint64 *reached;
};

static void traffic_free(gpointer traffic)
{
    Traffic *t = traffic;
    g_array_unref(t->sent);
    g_array_unref(t->received);
    g_free(t);
}

static void ways_free(gpointer ways)
{
    Ways *w = ways;
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
    g_free(((Epoch *)epoch)->after);
    g_free(epoch);
}

Precedence *precedence_new(const Plan *plan, const Members *members)
{
    Precedence *p = g_new0(Precedence, 1);
    p->plan = plan;
    p->members = members;
    p->any_tag = wend_constant_word("MPI_ANY_TAG");
    p->exclusive = wend_constant_word("MPI_LOCK_EXCLUSIVE");
    p->channels = bytes_entries(traffic_free);
    p->unsure = bytes_table();
    p->windows = bytes_entries(g_free);
    p->made_on = bytes_entries(g_free);
    p->held = bytes_entries(g_free);
    p->ways = bytes_entries(ways_free);
    p->places = bytes_entries(place_free);
    p->open = g_new(GPtrArray *, plan->n_ranks);
    for (guint r = 0; r < plan->n_ranks; r++)
        p->open[r] = g_ptr_array_new();
    p->epochs = g_ptr_array_new_with_free_func(epoch_free);
    p->reached = g_new(guint64, plan->n_ranks);
    return p;
}

void precedence_free(Precedence *p)
{
    GHashTable *tables[] = {p->channels, p->unsure, p->windows, p->made_on, p->held, p->ways, p->places};
    for (guint i = 0; i < G_N_ELEMENTS(tables); i++)
        g_hash_table_destroy(tables[i]);
    for (guint r = 0; r < p->plan->n_ranks; r++)
        g_ptr_array_unref(p->open[r]);
    g_free(p->open);
    g_ptr_array_unref(p->epochs);
    g_free(p->reached);
    g_free(p);
}

/* -- messages -- */

static Traffic *traffic_of(Precedence *p, const Channel *channel)
{
    Traffic *t = bytes_entry(p->channels, channel, sizeof *channel, sizeof *t);
    if (!t->sent)
        *t = (Traffic){g_array_new(FALSE, FALSE, sizeof(Transfers)), g_array_new(FALSE, FALSE, sizeof(Transfers))};
    return t;
}

void precedence_sent(Precedence *p, const Channel *channel, guint64 step, guint64 times)
{
    const Transfers one = {step, times, FALSE};
    g_array_append_val(traffic_of(p, channel)->sent, one);
}

void precedence_received(Precedence *p, const Channel *channel, guint64 step, guint64 times, gboolean returns)
{
    const Transfers one = {step, times, returns};
    g_array_append_val(traffic_of(p, channel)->received, one);
}

void precedence_unsure(Precedence *p, const Channel *channels)
{
    gboolean new;
    bytes_number(p->unsure, channels, sizeof *channels, &new);
}

static gboolean is_unsure(const Precedence *p, const Channel *c)
{
    enum { TAG = 1, PHASE = 2, COMM = 4, FROM = 8, TO = 16, ALL = 32 };
    for (guint any = 0; any < ALL; any++) {
        Channel like = *c;
        if (any & TAG) like.tag = p->any_tag;
        if (any & PHASE) like.phase = CHANNEL_ANY;
        if (any & COMM) like.comm = COMM_UNKNOWN;
        if (any & FROM) like.from = CHANNEL_ANY;
        if (any & TO) like.to = CHANNEL_ANY;
        if (bytes_known(p->unsure, &like, sizeof like))
            return TRUE;
    }
    return FALSE;
}

static Ways *ways_of(Precedence *p, guint phase, guint rank)
{
    const guint key[] = {phase, rank};
    Ways *w = bytes_entry(p->ways, key, sizeof key, sizeof *w);
    if (!w->edges)
        *w = (Ways){g_array_new(FALSE, FALSE, sizeof(Edge)), g_ptr_array_new()};
    return w;
}

/* The k-th message goes to the k-th receive. Of several that one call in the grammar receives, the last one says most. */
static void match(Precedence *p, const Channel *channel, const Traffic *t)
{
    Ways *w = ways_of(p, channel->phase, channel->from);
    guint64 sent = 0, received = 0;
    for (guint r = 0, s = 0; r < t->received->len; r++) {
        const Transfers *receive = &g_array_index(t->received, Transfers, r);
        received += receive->times;
        while (s < t->sent->len && sent + g_array_index(t->sent, Transfers, s).times < received)
            sent += g_array_index(t->sent, Transfers, s++).times;
        if (s == t->sent->len)
            break;
        const Edge e = {g_array_index(t->sent, Transfers, s).step, receive->step, channel->to};
        if (receive->returns)
            g_array_append_val(w->edges, e);
    }
}

static gint compare_edges(gconstpointer a, gconstpointer b)
{
    const Edge *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void match_all(Precedence *p)
{
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, p->channels);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const Channel *channel = g_bytes_get_data(key, NULL);
        if (!is_unsure(p, channel))
            match(p, channel, value);
    }
    g_hash_table_iter_init(&iter, p->ways);
    while (g_hash_table_iter_next(&iter, NULL, &value))
        g_array_sort(((Ways *)value)->edges, compare_edges);
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
    return strcmp(f->name, "MPI_Win_lock") == 0 || strcmp(f->name, "MPI_Win_unlock") == 0 || window_made(f) != NULL;
}

/* The window that a handle is on the rank, now. */
static const Window **window_at(Precedence *p, guint rank, gint64 handle)
{
    const gint64 key[] = {rank, handle};
    return bytes_entry(p->held, key, sizeof key, sizeof(const Window *));
}

/* All members of a communicator make the windows on it in one order. */
static void make_window(Precedence *p, guint rank, gint64 handle, guint comm)
{
    const guint maker[] = {rank, comm};
    guint *n_made = bytes_entry(p->made_on, maker, sizeof maker, sizeof *n_made);
    const guint key[] = {comm, (*n_made)++};
    const Window **at = window_at(p, rank, handle);
    *at = NULL;
    if (comm == COMM_UNKNOWN || comm == COMM_SELF)
        return;
    Window *w = bytes_entry(p->windows, key, sizeof key, sizeof *w);
    w->comm = comm;
    *at = w;
}

/* Of the lock that the rank has there, its place among those it has; -1: it has none. */
static int open_epoch(const Precedence *p, guint rank, const Window *window, guint target)
{
    for (guint i = 0; i < p->open[rank]->len; i++) {
        const Epoch *e = p->open[rank]->pdata[i];
        if (e->window == window && e->target == target)
            return (int)i;
    }
    return -1;
}

static void lock(Precedence *p, const Call *c, guint rank, guint phase, const Window *window, guint target, guint64 step)
{
    const Arg *type = call_arg_named(c, "lock_type"), *assert = call_arg_named(c, "assert");
    if (call_number(c, assert, rank, -1) != 0)
        return; /* with MPI_MODE_NOCHECK nothing is locked */
    Epoch *e = g_new(Epoch, 1);
    *e = (Epoch){.rank = rank, .phase = phase, .target = target, .window = window, .exclusive = call_value(c, type->in[0], rank) == p->exclusive,
                 .waited = target == rank, .lock = step, .unlock = G_MAXUINT64};
    g_ptr_array_add(p->epochs, e);
    g_ptr_array_add(p->open[rank], e);
}

static void unlock(Precedence *p, guint rank, guint phase, guint at, guint64 step, gboolean once)
{
    Epoch *e = g_ptr_array_steal_index_fast(p->open[rank], at);
    if (!once || e->phase != phase)
        return;
    const PlaceKey key = {e->window, phase, e->target};
    GPtrArray **place = bytes_entry(p->places, &key, sizeof key, sizeof *place);
    if (!*place)
        *place = g_ptr_array_new();
    e->unlock = step;
    e->place = *place;
    g_ptr_array_add(*place, e);
    g_ptr_array_add(ways_of(p, phase, rank)->epochs, e);
}

void precedence_window(Precedence *p, const Call *c, guint rank, guint phase, guint comm, guint64 step, gboolean once)
{
    const WendParam *made = window_made(c->function);
    const Arg *window = call_arg_of_kind(c, WEND_KIND_WIN), *whom = call_arg_named(c, "rank");
    const char *name = c->function->name;
    if (made) {
        p->no_windows |= c->failed || !once || window->n_out_words == 0;
        if (!p->no_windows)
            make_window(p, rank, window->out[0].value, comm);
        return;
    }
    if (p->no_windows || window->n_in_words == 0)
        return;
    const Window *which = *window_at(p, rank, call_value(c, window->in[0], rank));
    if (!which)
        return;
    gint target = whom ? members_process(p->members, which->comm, rank, call_value(c, whom->in[0], rank)) : -1;
    gboolean certain = once && !c->failed;
    if (target < 0)
        return;
    int at = open_epoch(p, rank, which, (guint)target);
    if (strcmp(name, "MPI_Win_lock") == 0 && certain && at < 0)
        lock(p, c, rank, phase, which, (guint)target, step);
    else if (strcmp(name, "MPI_Win_unlock") == 0 && at >= 0)
        unlock(p, rank, phase, (guint)at, step, certain);
}

/* -- what follows -- */

/* Ranks of which more is reached than has been followed, and how far the ways out of each have been. */
typedef struct { guint64 *reached; GArray *ranks; guint *edges, *epochs; } Front;

static void reach(Front *f, guint rank, guint64 step)
{
    if (step >= f->reached[rank])
        return;
    f->reached[rank] = step;
    g_array_append_val(f->ranks, rank);
}

static gboolean too_long(Precedence *p) { return ++p->steps > STEP_LIMIT; }

static void follow_messages(Precedence *p, Front *f, guint rank, const GArray *edges)
{
    for (guint *n = &f->edges[rank]; *n > 0 && g_array_index(edges, Edge, *n - 1).at >= f->reached[rank] && !too_long(p); --*n) {
        const Edge *e = &g_array_index(edges, Edge, *n - 1);
        reach(f, e->to, e->until + 1);
    }
}

static void find_after(Precedence *p, guint phase, guint rank, guint64 step, gboolean locks, guint64 *reached);

static void follow_locks(Precedence *p, Front *f, guint phase, guint rank, const GPtrArray *epochs)
{
    for (guint *n = &f->epochs[rank]; *n > 0 && ((Epoch *)epochs->pdata[*n - 1])->unlock >= f->reached[rank] && !too_long(p); --*n) {
        Epoch *first = epochs->pdata[*n - 1];
        if (!first->waited)
            continue;
        if (!first->after) {
            first->after = g_new(guint64, p->plan->n_ranks);
            find_after(p, phase, rank, first->lock, FALSE, first->after);
        }
        for (guint i = 0; i < first->place->len && !too_long(p); i++) {
            const Epoch *second = first->place->pdata[i];
            if (second->rank != rank && (first->exclusive || second->exclusive) && first->after[second->rank] <= second->lock)
                reach(f, second->rank, second->unlock + 1);
        }
    }
}

static void find_after(Precedence *p, guint phase, guint rank, guint64 step, gboolean locks, guint64 *reached)
{
    g_autoptr(GArray) ranks = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autofree guint *edges = g_new(guint, p->plan->n_ranks), *epochs = g_new(guint, p->plan->n_ranks);
    Front f = {reached, ranks, edges, epochs};
    for (guint r = 0; r < p->plan->n_ranks; r++) {
        const Ways *w = ways_of(p, phase, r);
        reached[r] = G_MAXUINT64;
        edges[r] = w->edges->len;
        epochs[r] = w->epochs->len;
    }
    reach(&f, rank, step + 1);
    while (ranks->len > 0) {
        guint r = g_array_index(ranks, guint, ranks->len - 1);
        const Ways *w = ways_of(p, phase, r);
        g_array_set_size(ranks, ranks->len - 1);
        follow_messages(p, &f, r, w->edges);
        if (locks)
            follow_locks(p, &f, phase, r, w->epochs);
    }
}

const guint64 *precedence_after(Precedence *p, guint phase, guint rank, guint64 step)
{
    if (!p->matched)
        match_all(p);
    find_after(p, phase, rank, step, TRUE, p->reached);
    return p->steps <= STEP_LIMIT ? p->reached : NULL;
}
