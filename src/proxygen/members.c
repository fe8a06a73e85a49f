/* SPDX-License-Identifier: BSD-3-Clause */
/* members.c: which communicator a handle is, and who is in it. See members.h.
 *
 * Numbers of handles come again, and each rank has communicators of its own behind the same handle. But the ranks of a class make them by the same calls:
 * "the third that this sequence made" is a communicator on each of them, and the recording says which. */
#include "members.h"
#include "worlds.h"

#include <string.h>

enum { NOW_BY_HANDLE = 0, NOW_UNKNOWN = G_MAXUINT }; /* others: place among those made, + 1 */
enum { NOBODY = G_MAXINT32 };        /* in the place of a rank: it is not clear which */

typedef struct { guint comm, leader, rank; } Seat;
typedef struct { guint rank; gint64 handle; } Held;
typedef struct { guint comm, sequence; gboolean several; /* sequences make it */ } Holding;

struct Members {
    const Plan *plan;
    gint64 world, self;      /* words */
    GHashTable *processes;   /* Seat -> rank in the job */
    GHashTable *facts;       /* Seat, leader 0, rank in the job -> WendCommMade */
    GHashTable *members;     /* comm -> how many ranks have facts of it */
    GHashTable *held;        /* Held -> Holding */
};

struct MembersWalk {
    Members *m;
    guint rank, sequence;    /* a rank of the class */
    GHashTable *now;         /* handle -> place + 1 */
    guint64 made;
    guint n;
};

static guint seat_hash(gconstpointer key)
{
    const Seat *s = key;
    return (s->comm * 2654435761u ^ s->leader) * 2654435761u ^ s->rank;
}

static gboolean seat_equal(gconstpointer a, gconstpointer b) { return memcmp(a, b, sizeof(Seat)) == 0; }

static guint held_hash(gconstpointer key)
{
    const Held *h = key;
    return wend_program_word_hash(&h->handle) ^ h->rank * 2654435761u;
}

static gboolean held_equal(gconstpointer a, gconstpointer b)
{
    const Held *h = a, *i = b;
    return h->rank == i->rank && h->handle == i->handle;
}

static void note(Members *m, guint rank, guint sequence, const WendCommMade *made)
{
    Seat seat = {made->number, (guint)made->leader, (guint)made->rank}, own = {made->number, 0, rank};
    gpointer other;
    if (g_hash_table_lookup_extended(m->processes, &seat, NULL, &other) && GPOINTER_TO_UINT(other) != rank)
        g_hash_table_replace(m->processes, g_memdup2(&seat, sizeof seat), GUINT_TO_POINTER(NOBODY)); /* groups whose leaders are not known */
    else
        g_hash_table_replace(m->processes, g_memdup2(&seat, sizeof seat), GUINT_TO_POINTER(rank));
    if (g_hash_table_replace(m->facts, g_memdup2(&own, sizeof own), (gpointer)made)) {
        gpointer comm = GUINT_TO_POINTER(made->number);
        g_hash_table_replace(m->members, comm, GUINT_TO_POINTER(GPOINTER_TO_UINT(g_hash_table_lookup(m->members, comm)) + 1));
    }
    Held key = {rank, made->handle};
    Holding *known = g_hash_table_lookup(m->held, &key);
    if (!known) {
        known = g_new(Holding, 1);
        *known = (Holding){made->number, sequence, FALSE};
        g_hash_table_insert(m->held, g_memdup2(&key, sizeof key), known);
    } else {
        known->several |= known->sequence != sequence;
        if (known->comm != made->number)
            known->comm = COMM_UNKNOWN;
    }
}

Members *members_new(const Plan *plan)
{
    Members *m = g_new0(Members, 1);
    m->plan = plan;
    const char *name;
    for (guint i = 0; (name = wend_constant_name(plan->program, WEND_CONST(i))) != NULL; i++) {
        if (strcmp(name, "MPI_COMM_WORLD") == 0)
            m->world = WEND_CONST(i);
        else if (strcmp(name, "MPI_COMM_SELF") == 0)
            m->self = WEND_CONST(i);
    }
    m->processes = g_hash_table_new_full(seat_hash, seat_equal, g_free, NULL);
    m->facts = g_hash_table_new_full(seat_hash, seat_equal, g_free, NULL);
    m->members = g_hash_table_new(NULL, NULL);
    m->held = g_hash_table_new_full(held_hash, held_equal, g_free, g_free);
    for (guint rank = 0; rank < plan->n_ranks; rank++) {
        const WendClass *class = wend_program_class(plan->program, wend_program_class_of(plan->program, rank));
        for (guint q = 0; q < class->n_sequences; q++) {
            guint n;
            const WendCommMade *made = wend_program_comms(plan->program, rank, q, &n);
            for (guint i = 0; i < n; i++)
                if (wend_is_handle(made[i].handle) && made[i].number < COMM_SELF)
                    note(m, rank, q, &made[i]);
        }
    }
    return m;
}

void members_free(Members *m)
{
    g_hash_table_destroy(m->processes);
    g_hash_table_destroy(m->facts);
    g_hash_table_destroy(m->members);
    g_hash_table_destroy(m->held);
    g_free(m);
}

gint members_process(const Members *m, guint comm, guint rank, gint64 partner)
{
    if (partner < 0 || partner >= (gint64)m->plan->n_ranks)
        return -1;
    if (comm == COMM_WORLD)
        return partner < (gint64)worlds_of(m->plan, rank)->ranks ? (gint)worlds_of(m->plan, rank)->first + (gint)partner : -1;
    if (comm == COMM_SELF)
        return partner == 0 ? (gint)rank : -1;
    const Seat own = {comm, 0, rank};
    const WendCommMade *facts = g_hash_table_lookup(m->facts, &own);
    if (!facts)
        return -1;
    gboolean inter = facts->remote_size >= 0;
    if (inter && facts->remote_leader < 0)
        return -1; /* processes of another world */
    const Seat seat = {comm, (guint)(inter ? facts->remote_leader : facts->leader), (guint)partner};
    gpointer process;
    return g_hash_table_lookup_extended(m->processes, &seat, NULL, &process) && GPOINTER_TO_UINT(process) != NOBODY ? (gint)GPOINTER_TO_UINT(process) : -1;
}

gboolean members_all(const Members *m, guint comm, guint rank)
{
    const Seat own = {comm, 0, rank};
    const WendCommMade *facts = g_hash_table_lookup(m->facts, &own);
    if (comm == COMM_WORLD)
        return TRUE;
    return facts && facts->remote_size < 0 && GPOINTER_TO_UINT(g_hash_table_lookup(m->members, GUINT_TO_POINTER(comm))) == m->plan->n_ranks;
}

/* -- over time -- */

MembersWalk *members_walk_new(Members *m, guint class_index, guint sequence)
{
    MembersWalk *w = g_new0(MembersWalk, 1);
    w->m = m;
    w->rank = wend_program_class(m->plan->program, class_index)->ranks[0];
    w->sequence = sequence;
    w->now = g_hash_table_new_full(wend_program_word_hash, g_int64_equal, g_free, NULL);
    wend_program_comms(m->plan->program, w->rank, sequence, &w->n);
    return w;
}

void members_walk_free(MembersWalk *w)
{
    g_hash_table_destroy(w->now);
    g_free(w);
}

void members_walk_made(MembersWalk *w, guint terminal, guint64 times, gboolean any_order)
{
    call_decode(w->m->plan->call, terminal);
    const Arg *arg = &w->m->plan->call->args[wend_function_comm_made(w->m->plan->call->function)];
    w->made += times;
    if (arg->n_out_words > 0 && wend_is_handle(arg->out[0].value))
        g_hash_table_replace(w->now, g_memdup2(&arg->out[0].value, sizeof(gint64)),
                             GUINT_TO_POINTER(any_order || w->made >= NOW_UNKNOWN ? NOW_UNKNOWN : (guint)w->made));
}

gboolean members_walk_complete(const MembersWalk *w) { return w->made == w->n; }

guint members_walk_now(const MembersWalk *w, gint64 handle)
{
    const Held key = {w->rank, handle};
    const Holding *held = g_hash_table_lookup(w->m->held, &key);
    if (!held || held->several || held->sequence != w->sequence)
        return NOW_BY_HANDLE; /* what another sequence makes has no time here */
    return GPOINTER_TO_UINT(g_hash_table_lookup(w->now, &handle));
}

guint members_number(const Members *m, guint rank, guint sequence, gint64 handle, guint now)
{
    if (handle == m->world)
        return COMM_WORLD;
    if (handle == m->self)
        return COMM_SELF;
    const Held key = {rank, handle};
    const Holding *held = g_hash_table_lookup(m->held, &key);
    if (!held || held->comm != COMM_UNKNOWN || now == NOW_BY_HANDLE)
        return held ? held->comm : COMM_UNKNOWN;
    guint n;
    const WendCommMade *made = wend_program_comms(m->plan->program, rank, sequence, &n);
    return now <= n && made[now - 1].handle == handle && made[now - 1].number < COMM_SELF ? made[now - 1].number : COMM_UNKNOWN;
}
