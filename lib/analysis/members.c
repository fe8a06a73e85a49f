/* SPDX-License-Identifier: BSD-3-Clause */
/* members.c: see members.h.
 *
 * Each member of a communicator recorded its own rank in it and the leader of its group. The reader
 * knows the leader as a rank of the job, whatever its world. Leader and rank together identify a
 * process, also in an intercommunicator, whose two groups have different leaders. */
#include "members.h"

#include <string.h>

enum { NOW_BY_HANDLE = 0, NOW_UNKNOWN = G_MAXUINT }; /* others: number of the creation, from 1 */
enum { NOBODY = G_MAXINT32 }; /* in place of a process: several claim the rank */

/* A rank in a group of a communicator. The group is identified by its leader. */
typedef struct {
    guint comm, leader, rank;
} MemberKey;
typedef struct {
    gint64 rank;
    gint64 handle;
} Held;
typedef struct {
    guint comm, sequence;
    gboolean several; /* several sequences make it */
} Holding;

struct WendMembers {
    const WendProgram *program;
    guint n_ranks;
    WendDecoder *decoder;
    gint64 world, self;    /* words of MPI_COMM_WORLD, MPI_COMM_SELF */
    Map *processes;        /* MemberKey -> rank in the job */
    Map *facts;            /* MemberKey with leader 0 and the rank in the job -> WendCommMade */
    GHashTable *members;   /* comm -> number of ranks that recorded it */
    Map *held;             /* Held -> Holding */
    guint *world_recorded; /* by world: ranks with calls; 0: not counted yet */
};

struct WendMembersPass {
    WendMembers *m;
    guint rank, sequence; /* the first rank of the class */
    GHashTable *now;      /* handle -> number of the creation, from 1 */
    guint64 made;
    guint n;
};

static void note_held(WendMembers *m, guint rank, guint sequence, const WendCommMade *made)
{
    const Held key = {rank, made->handle};
    Holding *known = map_get_bytes(m->held, &key, sizeof key);
    if (!known) {
        const Holding first = {made->number, sequence, FALSE};
        map_put_bytes(m->held, &key, sizeof key, memory_copy(&first, sizeof first));
        return;
    }
    known->several |= known->sequence != sequence;
    if (known->comm != made->number)
        known->comm = WEND_COMM_UNKNOWN;
}

static void note(WendMembers *m, guint rank, guint sequence, const WendCommMade *made)
{
    const MemberKey place = {made->number, (guint)made->leader, (guint)made->rank};
    const MemberKey own = {made->number, 0, rank};
    void *other;
    guint process = rank;
    if (map_find_bytes(m->processes, &place, sizeof place, &other) && NUMBER_OF(other) != rank)
        process = NOBODY; /* there are groups with unknown leaders */
    map_put_bytes(m->processes, &place, sizeof place, OF_NUMBER(process));
    if (map_put_bytes(m->facts, &own, sizeof own, (void *)(uintptr_t)made)) {
        gpointer comm = GUINT_TO_POINTER(made->number);
        guint n = GPOINTER_TO_UINT(g_hash_table_lookup(m->members, comm));
        g_hash_table_replace(m->members, comm, GUINT_TO_POINTER(n + 1));
    }
    note_held(m, rank, sequence, made);
}

static void note_rank(WendMembers *m, guint rank)
{
    const WendClass *class = program_class(m->program, program_class_of(m->program, rank));
    for (guint q = 0; q < class->n_sequences; q++) {
        guint n;
        const WendCommMade *made = program_comms(m->program, rank, q, &n);
        for (guint i = 0; i < n; i++)
            if (word_is_handle(made[i].handle) && made[i].number < WEND_COMM_SELF)
                note(m, rank, q, &made[i]);
    }
}

/* Finds the words of MPI_COMM_WORLD and MPI_COMM_SELF, which are constants of the archive. */
static void find_constants(WendMembers *m)
{
    const char *name;
    for (guint i = 0; (name = program_constant_name(m->program, WEND_CONST(i))) != NULL; i++) {
        if (strcmp(name, "MPI_COMM_WORLD") == 0)
            m->world = WEND_CONST(i);
        else if (strcmp(name, "MPI_COMM_SELF") == 0)
            m->self = WEND_CONST(i);
    }
}

WendMembers *members_new(const WendProgram *program)
{
    WendMembers *m = g_new0(WendMembers, 1);
    m->program = program;
    m->n_ranks = program_ranks(program);
    m->decoder = decoder_new(program);
    m->processes = map_of_bytes(NULL);
    m->facts = map_of_bytes(NULL);
    m->members = g_hash_table_new(NULL, NULL);
    m->held = map_of_bytes(memory_free);
    m->world_recorded = g_new0(guint, program_n_worlds(program) + 1);
    find_constants(m);
    for (guint rank = 0; rank < m->n_ranks; rank++)
        note_rank(m, rank);
    return m;
}

void members_free(WendMembers *m)
{
    if (!m)
        return;
    map_unref(m->processes);
    map_unref(m->facts);
    g_hash_table_destroy(m->members);
    map_unref(m->held);
    g_free(m->world_recorded);
    decoder_free(m->decoder);
    g_free(m);
}

static const WendCommMade *facts_of(const WendMembers *m, guint comm, guint rank)
{
    const MemberKey own = {comm, 0, rank};
    return map_get_bytes(m->facts, &own, sizeof own);
}

static const WendWorld *world_of(const WendMembers *m, guint rank)
{
    return program_world(m->program, program_world_of(m->program, rank));
}

gboolean members_is_inter(const WendMembers *m, guint comm, guint rank)
{
    const WendCommMade *facts = facts_of(m, comm, rank);
    return facts && facts->remote_size >= 0;
}

/* The rank in the job of rank PARTNER of a group of COMM: the group of RANK or, if REMOTE, the
 * other one. -1: unknown. */
static gint process_of(const WendMembers *m, guint comm, guint rank, gint64 partner,
                       gboolean remote)
{
    if (partner < 0 || partner > G_MAXINT32)
        return -1;
    const WendWorld *world = world_of(m, rank);
    if (comm == WEND_COMM_WORLD)
        return partner < (gint64)world->ranks ? (gint)world->first + (gint)partner : -1;
    if (comm == WEND_COMM_SELF)
        return partner == 0 ? (gint)rank : -1;
    const WendCommMade *facts = facts_of(m, comm, rank);
    if (!facts || (remote && facts->remote_leader < 0))
        return -1; /* unknown, or the group is of another job */
    const gint64 leader = remote ? facts->remote_leader : facts->leader;
    const MemberKey place = {comm, (guint)leader, (guint)partner};
    void *process;
    if (!map_find_bytes(m->processes, &place, sizeof place, &process))
        return -1;
    return NUMBER_OF(process) != NOBODY ? (gint)NUMBER_OF(process) : -1;
}

gint members_process(const WendMembers *m, guint comm, guint rank, gint64 partner)
{
    return process_of(m, comm, rank, partner, members_is_inter(m, comm, rank));
}

gint members_local_process(const WendMembers *m, guint comm, guint rank, gint64 member)
{
    return process_of(m, comm, rank, member, FALSE);
}

gint64 members_local_size(const WendMembers *m, guint comm, guint rank)
{
    if (comm == WEND_COMM_WORLD)
        return world_of(m, rank)->ranks;
    if (comm == WEND_COMM_SELF)
        return 1;
    const WendCommMade *facts = facts_of(m, comm, rank);
    return facts ? facts->size : -1;
}

gint64 members_size(const WendMembers *m, guint comm, guint rank)
{
    const WendCommMade *facts = facts_of(m, comm, rank);
    if (facts && facts->remote_size >= 0)
        return facts->remote_size;
    return members_local_size(m, comm, rank);
}

gint64 members_remote_size(const WendMembers *m, guint comm, guint rank)
{
    const WendCommMade *facts = facts_of(m, comm, rank);
    return facts ? MAX(facts->remote_size, -1) : -1;
}

gint64 members_out_neighbours(const WendMembers *m, guint comm, guint rank)
{
    const WendCommMade *facts = facts_of(m, comm, rank);
    return facts ? facts->out_neighbours : -1;
}

/* The ranks of a world that have sequences, found once for each world. */
static guint recorded_of_world(const WendMembers *m, guint world)
{
    guint *known = &m->world_recorded[world];
    const WendWorld *w = program_world(m->program, world);
    if (*known > 0)
        return *known;
    for (guint i = 0; i < w->ranks; i++) {
        guint class = program_class_of(m->program, w->first + i);
        *known += program_class(m->program, class)->n_sequences > 0;
    }
    return *known;
}

guint members_recorded(const WendMembers *m, guint comm, guint rank)
{
    if (comm == WEND_COMM_SELF)
        return 1;
    if (comm == WEND_COMM_WORLD)
        return recorded_of_world(m, program_world_of(m->program, rank));
    return GPOINTER_TO_UINT(g_hash_table_lookup(m->members, GUINT_TO_POINTER(comm)));
}

guint members_home(const WendMembers *m, guint comm, guint rank)
{
    return comm == WEND_COMM_WORLD ? program_world_of(m->program, rank) : 0;
}

gboolean members_all(const WendMembers *m, guint comm, guint rank)
{
    if (comm == WEND_COMM_WORLD)
        return TRUE;
    const WendCommMade *facts = facts_of(m, comm, rank);
    gpointer n = g_hash_table_lookup(m->members, GUINT_TO_POINTER(comm));
    return facts && facts->remote_size < 0 && GPOINTER_TO_UINT(n) == m->n_ranks;
}

guint members_of_walk(const WendMembers *m, const WendWalk *walk, guint rank, gint64 handle)
{
    if (!word_is_handle(handle))
        return members_number(m, rank, 0, handle, NOW_BY_HANDLE);
    return MIN(walk_comm(walk, handle), WEND_COMM_UNKNOWN);
}

/* -- passes, without a walk of each rank -- */

WendMembersPass *members_pass_new(WendMembers *m, guint class_index, guint sequence)
{
    WendMembersPass *pass = g_new0(WendMembersPass, 1);
    pass->m = m;
    pass->rank = program_class(m->program, class_index)->ranks[0];
    pass->sequence = sequence;
    pass->now = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    program_comms(m->program, pass->rank, sequence, &pass->n);
    return pass;
}

void members_pass_free(WendMembersPass *pass)
{
    g_hash_table_destroy(pass->now);
    g_free(pass);
}

void members_pass_made(WendMembersPass *pass, guint terminal, guint64 times, gboolean any_order)
{
    const WendCall *call = decoder_call(pass->m->decoder, terminal, pass->rank);
    const WendArg *arg = &call->args[comm_made_parameter(call->function)];
    pass->made += times;
    if (arg->n_out <= 0 || !word_is_handle(arg->out[0]))
        return;
    gboolean unknown = any_order || pass->made >= NOW_UNKNOWN;
    g_hash_table_replace(pass->now, g_memdup2(&arg->out[0], sizeof(gint64)),
                         GUINT_TO_POINTER(unknown ? NOW_UNKNOWN : (guint)pass->made));
}

gboolean members_pass_complete(const WendMembersPass *pass)
{
    return pass->made == pass->n;
}

guint members_pass_now(const WendMembersPass *pass, gint64 handle)
{
    const Held key = {pass->rank, handle};
    const Holding *held = map_get_bytes(pass->m->held, &key, sizeof key);
    if (!held || held->several || held->sequence != pass->sequence)
        return NOW_BY_HANDLE; /* this sequence does not know when another one makes it */
    return GPOINTER_TO_UINT(g_hash_table_lookup(pass->now, &handle));
}

guint members_number(const WendMembers *m, guint rank, guint sequence, gint64 handle, guint now)
{
    if (handle == m->world)
        return WEND_COMM_WORLD;
    if (handle == m->self)
        return WEND_COMM_SELF;
    const Held key = {rank, handle};
    const Holding *held = map_get_bytes(m->held, &key, sizeof key);
    if (!held)
        return WEND_COMM_UNKNOWN;
    if (held->comm != WEND_COMM_UNKNOWN || now == NOW_BY_HANDLE)
        return held->comm;
    guint n;
    const WendCommMade *made = program_comms(m->program, rank, sequence, &n);
    if (now > n || made[now - 1].handle != handle || made[now - 1].number >= WEND_COMM_SELF)
        return WEND_COMM_UNKNOWN;
    return made[now - 1].number;
}
