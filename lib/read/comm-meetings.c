/* SPDX-License-Identifier: BSD-3-Clause */
/* comm-meetings.c: see comm-meetings.h. */
#include "comm-meetings.h"

/* A call by the root or the leader of one group. */
typedef struct {
    CommPlace at;
    gint64 thread;
    guint number;
    guint peer_comm; /* of MPI_Intercomm_create, as the next */
    gint64 peer_rank;
} GroupCall;

/* The calls of both groups: those that accept and those that connect. For MPI_Intercomm_create,
 * SIDES[0] has the calls of both leaders. */
typedef struct {
    GArray *groups[2]; /* GroupCall */
} Meeting;

typedef struct {
    CommPlace at;
    guint number;
} NumberedPlace;

struct CommMeetings {
    Map *ports;            /* bytes of a port -> Meeting */
    Map *pairs;            /* bytes of a tag -> Meeting, groups[0] only */
    GHashTable *noted;     /* numbers that these calls made */
    GHashTable *peers;     /* numbers of the peer communicators */
    GHashTable *processes; /* guint64: peer communicator and rank -> rank of the job + 1 */
    GArray *members;       /* NumberedPlace, of the noted numbers */
    Map *joins;            /* CommPlace -> an earlier CommPlace, its target */
    Map *targets;          /* CommPlace -> number in this round */
    guint n_numbers;
};

static void meeting_free(gpointer meeting)
{
    Meeting *m = meeting;
    g_array_unref(m->groups[0]);
    g_array_unref(m->groups[1]);
    g_free(m);
}

CommMeetings *comm_meetings_new(void)
{
    CommMeetings *m = g_new0(CommMeetings, 1);
    m->ports = map_of_bytes(meeting_free);
    m->pairs = map_of_bytes(meeting_free);
    m->noted = g_hash_table_new(NULL, NULL);
    m->peers = g_hash_table_new(NULL, NULL);
    m->processes = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    m->members = g_array_new(FALSE, FALSE, sizeof(NumberedPlace));
    m->joins = map_of_bytes(memory_free);
    m->targets = map_of_bytes(NULL);
    return m;
}

void comm_meetings_free(CommMeetings *m)
{
    map_unref(m->ports);
    map_unref(m->pairs);
    g_hash_table_unref(m->noted);
    g_hash_table_unref(m->peers);
    g_hash_table_unref(m->processes);
    g_array_unref(m->members);
    map_unref(m->joins);
    map_unref(m->targets);
    g_free(m);
}

/* -- notes of a round -- */

static void note(CommMeetings *m, Map *meetings, const WendBuf *name, guint group,
                 const GroupCall *call)
{
    Meeting *known = map_get_bytes(meetings, name->data, name->len);
    if (!known) {
        known = g_new(Meeting, 1);
        for (guint i = 0; i < 2; i++)
            known->groups[i] = g_array_new(FALSE, FALSE, sizeof(GroupCall));
        map_put_bytes(meetings, name->data, name->len, known);
    }
    g_array_append_val(known->groups[group], *call);
    g_hash_table_add(m->noted, GUINT_TO_POINTER(call->number));
}

void comm_meetings_at_port(CommMeetings *m, const WendBuf *port, gboolean accepts, gint64 thread,
                           CommPlace at, guint number)
{
    const GroupCall call = {.at = at, .thread = thread, .number = number};
    note(m, m->ports, port, accepts ? 0 : 1, &call);
}

void comm_meetings_of_pair(CommMeetings *m, const WendBuf *tag, guint peer_comm, gint64 peer_rank,
                           CommPlace at, guint number)
{
    const GroupCall call = {
        .at = at, .number = number, .peer_comm = peer_comm, .peer_rank = peer_rank};
    if (peer_comm == 0)
        return;
    note(m, m->pairs, tag, 0, &call);
    g_hash_table_add(m->peers, GUINT_TO_POINTER(peer_comm));
}

gboolean comm_meetings_prepare(CommMeetings *m, guint n_numbers)
{
    m->n_numbers = n_numbers;
    return g_hash_table_size(m->noted) > 0;
}

static gint64 rank_key(guint comm, gint64 rank)
{
    return (gint64)((guint64)comm << 32 | (guint32)rank);
}

void comm_meetings_member(CommMeetings *m, CommPlace at, const WendCommMade *made)
{
    gpointer number = GUINT_TO_POINTER(made->number);
    const NumberedPlace member = {at, made->number};
    if (g_hash_table_contains(m->noted, number))
        g_array_append_val(m->members, member);
    if (made->remote_size < 0 && made->rank >= 0 && g_hash_table_contains(m->peers, number)) {
        const gint64 rank_in_comm = rank_key(made->number, made->rank);
        g_hash_table_replace(m->processes, g_memdup2(&rank_in_comm, sizeof rank_in_comm),
                             GUINT_TO_POINTER(at.rank + 1));
    }
}

/* -- which calls belong together -- */

/* The least number of the communicator NUMBER. SAME has, by number, a smaller number of the same
 * communicator, or the number itself. */
static guint least_of(const guint *same, guint number)
{
    while (same[number] != number)
        number = same[number];
    return number;
}

static void join_numbers(guint *same, guint a, guint b)
{
    a = least_of(same, a);
    b = least_of(same, b);
    same[MAX(a, b)] = MIN(a, b);
}

static gboolean of_one_thread(const GArray *group)
{
    const GroupCall *first = &g_array_index(group, GroupCall, 0);
    for (guint i = 1; i < group->len; i++) {
        const GroupCall *call = &g_array_index(group, GroupCall, i);
        if (call->at.rank != first->at.rank || call->thread != first->thread)
            return FALSE;
    }
    return TRUE;
}

static void join_groups(guint *same, const GArray *a, const GArray *b)
{
    for (guint i = 0; a->len == b->len && i < a->len; i++)
        join_numbers(same, g_array_index(a, GroupCall, i).number,
                     g_array_index(b, GroupCall, i).number);
}

static void join_at_ports(const CommMeetings *m, guint *same)
{
    for (MapPlace p = {.map = m->ports}; map_next(&p);) {
        const Meeting *at = p.value;
        if (of_one_thread(at->groups[0]) && of_one_thread(at->groups[1]))
            join_groups(same, at->groups[0], at->groups[1]);
    }
}

static void array_free(gpointer array)
{
    g_array_unref(array);
}

/* Joins the calls with one tag. For each two leaders, the i-th call of one belongs to the i-th call
 * of the other. */
static void join_leaders(const CommMeetings *m, const GArray *calls, guint *same)
{
    GHashTable *by_leaders = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, array_free);
    for (guint i = 0; i < calls->len; i++) {
        const GroupCall *call = &g_array_index(calls, GroupCall, i);
        const gint64 rank_in_comm = rank_key(call->peer_comm, call->peer_rank);
        guint partner = GPOINTER_TO_UINT(g_hash_table_lookup(m->processes, &rank_in_comm));
        if (partner == 0)
            continue;
        const gint64 key = rank_key(call->at.rank, partner - 1);
        GArray *known = g_hash_table_lookup(by_leaders, &key);
        if (!known) {
            known = g_array_new(FALSE, FALSE, sizeof(GroupCall));
            g_hash_table_insert(by_leaders, g_memdup2(&key, sizeof key), known);
        }
        g_array_append_val(known, *call);
    }
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, by_leaders);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const guint64 leaders = (guint64) * (const gint64 *)key;
        const gint64 other = rank_key((guint)leaders, (gint64)(leaders >> 32));
        const GArray *there = g_hash_table_lookup(by_leaders, &other);
        if (there)
            join_groups(same, value, there);
    }
    g_hash_table_unref(by_leaders);
}

static void join_pairs(const CommMeetings *m, guint *same)
{
    for (MapPlace p = {.map = m->pairs}; map_next(&p);)
        join_leaders(m, ((const Meeting *)p.value)->groups[0], same);
}

/* Joins each place whose communicator has a smaller number to its target, the first place with that
 * number. In each round the target gets its number before the places that are joined to it. */
static gboolean set_joins(CommMeetings *m, const guint *same)
{
    g_autofree CommPlace *firsts = g_new(CommPlace, m->n_numbers + 1);
    g_autofree gboolean *seen = g_new0(gboolean, m->n_numbers + 1);
    gboolean joined = FALSE;
    for (guint i = 0; i < m->members->len; i++) {
        const NumberedPlace *member = &g_array_index(m->members, NumberedPlace, i);
        guint least = least_of(same, member->number);
        if (!seen[member->number])
            firsts[member->number] = member->at;
        seen[member->number] = TRUE;
        if (least == member->number || !seen[least])
            continue;
        map_put_bytes(m->joins, &member->at, sizeof member->at,
                      memory_copy(&firsts[least], sizeof firsts[least]));
        map_put_bytes(m->targets, &firsts[least], sizeof firsts[least], NULL);
        joined = TRUE;
    }
    return joined;
}

/* Prepares the next round, in which no target has a number yet. */
static void forget_numbers(CommMeetings *m)
{
    for (MapPlace at = {.map = m->targets}; map_next(&at);)
        map_put_bytes(m->targets, map_key_bytes(&at), sizeof(CommPlace), NULL);
}

gboolean comm_meetings_join(CommMeetings *m)
{
    gboolean joined = FALSE;
    forget_numbers(m);
    if (m->members->len > 0) {
        g_autofree guint *same = g_new(guint, m->n_numbers + 1);
        for (guint i = 0; i <= m->n_numbers; i++)
            same[i] = i;
        join_at_ports(m, same);
        join_pairs(m, same);
        joined = set_joins(m, same);
    }
    map_clear(m->ports);
    map_clear(m->pairs);
    g_hash_table_remove_all(m->noted);
    g_hash_table_remove_all(m->peers);
    g_hash_table_remove_all(m->processes);
    g_array_set_size(m->members, 0);
    return joined;
}

/* -- the next round -- */

guint comm_meetings_number(const CommMeetings *m, CommPlace at)
{
    const CommPlace *target = map_get_bytes(m->joins, &at, sizeof at);
    return target ? NUMBER_OF(map_get_bytes(m->targets, target, sizeof *target)) : 0;
}

gboolean comm_meetings_note_number(CommMeetings *m, CommPlace at, guint number)
{
    if (map_has_bytes(m->targets, &at, sizeof at)) {
        map_put_bytes(m->targets, &at, sizeof at, OF_NUMBER(number));
        return TRUE;
    }
    return map_has_bytes(m->joins, &at, sizeof at);
}
