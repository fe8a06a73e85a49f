/* SPDX-License-Identifier: BSD-3-Clause */
/* comm-leaders.c: see comm-leaders.h. Recorded data are not trusted: leaders that contradict each
 * other stay unknown. */
#include "comm-leaders.h"

/* The most groups of one event that are compared. With more groups, sizes hardly identify them. */
enum { GROUPS_MAX = 64 };

typedef struct {
    CommPlace at;
    guint world;
    WendCommMade made;
} Noted;

/* A group whose leader some member knows. */
typedef struct {
    gint64 leader, size, remote_leader, remote_size;
    guint world; /* of the leader */
} Group;

struct CommLeaders {
    const WendProgram *program;
    Map *found;  /* CommPlace -> Leaders */
    Map *events; /* bytes of an event -> GArray of Noted */
};

typedef struct {
    gint64 own, remote;
} Leaders;

CommLeaders *comm_leaders_new(const WendProgram *p)
{
    CommLeaders *l = g_new0(CommLeaders, 1);
    l->program = p;
    l->found = map_of_bytes(memory_free);
    l->events = map_of_bytes((Release)g_array_unref);
    return l;
}

void comm_leaders_free(CommLeaders *l)
{
    map_unref(l->found);
    map_unref(l->events);
    g_free(l);
}

void comm_leaders_set_found(const CommLeaders *l, CommPlace at, WendCommMade *made)
{
    const Leaders *found = map_get_bytes(l->found, &at, sizeof at);
    if (found && made->leader < 0)
        made->leader = found->own;
    if (found && made->remote_leader < 0)
        made->remote_leader = found->remote;
}

gboolean comm_leaders_missing(const WendCommMade *made)
{
    return made->leader < 0 || (made->remote_size >= 0 && made->remote_leader < 0);
}

void comm_leaders_note(CommLeaders *l, const WendBuf *event, CommPlace at, const WendCommMade *made)
{
    GArray *all = map_get_bytes(l->events, event->data, event->len);
    const Noted noted = {at, program_world_of(l->program, at.rank), *made};
    if (!all) {
        all = g_array_new(FALSE, FALSE, sizeof(Noted));
        map_put_bytes(l->events, event->data, event->len, all);
    }
    g_array_append_val(all, noted);
}

/* -- the communicators of one call -- */

/* A rank in a group, which is identified by its leader. */
typedef struct {
    guint leader, rank;
} GroupRank;

static gboolean is_free(Map *taken_ranks, gint64 leader, gint64 rank, guint process)
{
    const GroupRank group_rank = {(guint)leader, (guint)rank};
    void *taken;
    return !map_find_bytes(taken_ranks, &group_rank, sizeof group_rank, &taken)
           || NUMBER_OF(taken) == process;
}

/* Notes that PROCESS has this rank of the group. FALSE: another process has it. */
static gboolean take_rank(Map *taken_ranks, gint64 leader, gint64 rank, guint process)
{
    const GroupRank group_rank = {(guint)leader, (guint)rank};
    if (!is_free(taken_ranks, leader, rank, process))
        return FALSE;
    map_put_bytes(taken_ranks, &group_rank, sizeof group_rank, OF_NUMBER(process));
    return TRUE;
}

static Group *group_led_by(GArray *groups, gint64 leader)
{
    for (guint i = 0; i < groups->len; i++)
        if (g_array_index(groups, Group, i).leader == leader)
            return &g_array_index(groups, Group, i);
    return NULL;
}

/* The groups of all members that know their leaders. NULL: there are more than GROUPS_MAX. */
static GArray *groups_of(const CommLeaders *l, const GArray *all)
{
    GArray *groups = g_array_new(FALSE, FALSE, sizeof(Group));
    for (guint i = 0; i < all->len; i++) {
        const WendCommMade *m = &g_array_index(all, Noted, i).made;
        if (m->leader < 0)
            continue;
        Group *known = group_led_by(groups, m->leader);
        if (known && known->remote_leader < 0)
            known->remote_leader = m->remote_leader;
        if (known)
            continue;
        const Group one = {m->leader, m->size, m->remote_leader, m->remote_size,
                           program_world_of(l->program, (guint)m->leader)};
        g_array_append_val(groups, one);
        if (groups->len > GROUPS_MAX) {
            g_array_unref(groups);
            return NULL;
        }
    }
    return groups;
}

/* The group of another world than WORLD that has these sizes. NULL if there are none or several.
 * OTHER: the leader of the remote group, or -1. */
static const Group *only_group(const GArray *groups, guint world, gint64 size, gint64 remote_size,
                               gint64 other)
{
    const Group *only = NULL;
    for (guint i = 0; i < groups->len; i++) {
        const Group *g = &g_array_index(groups, Group, i);
        if (g->world == world || g->size != size || g->remote_size != remote_size
            || (other >= 0 && g->remote_leader >= 0 && g->remote_leader != other))
            continue;
        if (only)
            return NULL;
        only = g;
    }
    return only;
}

static gboolean put_found(CommLeaders *l, const Noted *of, gint64 own, gint64 remote)
{
    const Leaders leaders = {own, remote};
    if (own == of->made.leader && remote == of->made.remote_leader)
        return FALSE;
    map_put_bytes(l->found, &of->at, sizeof of->at, memory_copy(&leaders, sizeof leaders));
    return TRUE;
}

static gboolean find_in_event(CommLeaders *l, GArray *all)
{
    GArray *groups = groups_of(l, all);
    gboolean found = FALSE;
    if (!groups)
        return FALSE;
    AUTO(Map) taken_ranks = map_of_bytes(NULL);
    for (guint i = 0; i < all->len; i++) {
        const WendCommMade *m = &g_array_index(all, Noted, i).made;
        if (m->leader >= 0)
            take_rank(taken_ranks, m->leader, m->rank, g_array_index(all, Noted, i).at.rank);
    }
    for (guint i = 0; i < all->len; i++) {
        const Noted *one = &g_array_index(all, Noted, i);
        gint64 own = one->made.leader, remote = one->made.remote_leader;
        if (own < 0) {
            const Group *g =
                only_group(groups, one->world, one->made.size, one->made.remote_size, remote);
            if (!g || !take_rank(taken_ranks, g->leader, one->made.rank, one->at.rank))
                continue;
            own = g->leader;
        }
        if (one->made.remote_size >= 0 && remote < 0) {
            const Group *g =
                only_group(groups, one->world, one->made.remote_size, one->made.size, own);
            remote = g && g->leader != own ? g->leader : -1;
        }
        found |= put_found(l, one, own, remote);
    }
    g_array_unref(groups);
    return found;
}

gboolean comm_leaders_find(CommLeaders *l)
{
    gboolean found = FALSE;
    for (MapPlace at = {.map = l->events}; map_next(&at);)
        found |= find_in_event(l, at.value);
    map_clear(l->events);
    return found;
}

/* -- one communicator -- */

/* The groups of a communicator: their leaders and sizes. */
typedef struct {
    gint64 leaders[2], sizes[2];
    guint n; /* 3: more than two, which is a contradiction */
} GroupPair;

static void add_group(GroupPair *s, gint64 leader, gint64 size)
{
    if (leader < 0 || s->n > 2)
        return;
    for (guint i = 0; i < s->n; i++)
        if (s->leaders[i] == leader)
            return;
    if (s->n < 2) {
        s->leaders[s->n] = leader;
        s->sizes[s->n] = size;
    }
    s->n++;
}

static void settle_intra(const CommMember *members, guint n, gint64 leader)
{
    for (guint i = 0; i < n; i++)
        if (members[i].made->leader < 0)
            members[i].made->leader = leader;
}

static void set_group(WendCommMade *made, const GroupPair *s, guint group)
{
    made->leader = s->leaders[group];
    made->remote_leader = s->leaders[1 - group];
}

/* The group of a member that knows no leader: the one with the size of its group. If both have that
 * size, it is the one where its rank is free. 2: unknown. */
static guint group_of(const CommMember *member, const GroupPair *s, Map *taken_ranks)
{
    const WendCommMade *made = member->made;
    guint group = 2;
    for (guint i = 0; i < 2; i++) {
        if (s->sizes[i] != made->size || s->sizes[1 - i] != made->remote_size
            || !is_free(taken_ranks, s->leaders[i], made->rank, member->rank))
            continue;
        if (group < 2)
            return 2;
        group = i;
    }
    return group;
}

static void settle_inter(const CommMember *members, guint n, const GroupPair *s)
{
    AUTO(Map) taken_ranks = map_of_bytes(NULL);
    for (guint i = 0; i < n; i++) {
        WendCommMade *made = members[i].made;
        if (made->leader >= 0)
            set_group(made, s, made->leader == s->leaders[1]);
        else if (made->remote_leader >= 0)
            set_group(made, s, made->remote_leader == s->leaders[0]);
        if (made->leader >= 0)
            take_rank(taken_ranks, made->leader, made->rank, members[i].rank);
    }
    for (guint i = 0; i < n; i++) {
        WendCommMade *made = members[i].made;
        guint group = made->leader < 0 ? group_of(&members[i], s, taken_ranks) : 2;
        if (group == 2)
            continue;
        set_group(made, s, group);
        take_rank(taken_ranks, made->leader, made->rank, members[i].rank);
    }
}

void comm_leaders_settle(const CommMember *members, guint n)
{
    GroupPair pair = {.n = 0};
    guint inter = 0;
    for (guint i = 0; i < n; i++) {
        const WendCommMade *made = members[i].made;
        inter += made->remote_size >= 0;
        add_group(&pair, made->leader, made->size);
        add_group(&pair, made->remote_leader, made->remote_size);
    }
    if (inter == 0 && pair.n == 1)
        settle_intra(members, n, pair.leaders[0]);
    else if (inter == n && pair.n == 2)
        settle_inter(members, n, &pair);
}
