/* SPDX-License-Identifier: BSD-3-Clause */
/* comm.c: facts of communicators, windows and files. MPI is asked for them once, when the
 * object is made: a handle that the library has just returned is valid, so these calls run no error
 * handler. */
#include "objects.h"

#include <string.h>

#include "lib/record/neighbours.h"
#include "memory/address.h"
#include "own.gen.h"

/* Facts of a HANDLE_COMM, HANDLE_WIN or HANDLE_FILE. */
struct CommEntry {
    CommMetadata facts;
    int indegree, outdegree; /* -1: unknown so far */
    bool weighted;           /* a graph whose edges have weights */
    bool split_is_empty;     /* a file: its last split operation does not touch the buffer */
    /* for comm_made_later */
    CallSequence *maker;
    int64_t word;
    const MPI_Comm *variable;
};

#define VALUE(handle) ((uintptr_t)(handle))

static int leader_of(MPI_Group group)
{
    int zero = 0, world = MPI_UNDEFINED, size = 0;
    if (group == MPI_GROUP_NULL)
        return -1;
    if (state()->world_group_known && PMPI_Group_size(group, &size) == MPI_SUCCESS && size > 0
        && PMPI_Group_translate_ranks(group, 1, &zero, state()->world_group, &world) != MPI_SUCCESS)
        world = MPI_UNDEFINED;
    PMPI_Group_free(&group);
    return world == MPI_UNDEFINED ? -1 : world;
}

static struct CommEntry *comm_ask(MPI_Comm comm)
{
    struct CommEntry *e = handle_facts_new(sizeof *e);
    if (!e) {
        state_break("out of memory");
        return NULL;
    }
    *e = (struct CommEntry){
        {.size = -1, .rank = -1, .remote_size = -1, .leader = -1, .remote_leader = -1},
        .indegree = -1,
        .outdegree = -1};
    PMPI_Comm_size(comm, &e->facts.size);
    PMPI_Comm_rank(comm, &e->facts.rank);
    MPI_Group group = MPI_GROUP_NULL;
    PMPI_Comm_group(comm, &group);
    e->facts.leader = leader_of(group);
    int inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter) {
        PMPI_Comm_remote_size(comm, &e->facts.remote_size);
        group = MPI_GROUP_NULL;
        PMPI_Comm_remote_group(comm, &group);
        e->facts.remote_leader = leader_of(group);
    }
    return e;
}

static void put_comm(ActiveCall *c, int64_t word, const CommMetadata *facts)
{
    static const CommMetadata unknown = {-1, -1, -1, -1, -1, NULL, NULL};
    call_put_shape(c, word);
    if (!word_is_handle(word))
        return;
    if (!facts)
        facts = &unknown;
    call_put_slot(c, facts->size);
    call_put_slot(c, facts->rank);
    call_put_slot(c, facts->leader);
    call_put_slot(c, facts->remote_size);
    call_put_slot(c, facts->remote_leader);
}

static void comm_learn(MPI_Comm comm)
{
    struct CommEntry *e = comm_ask(comm);
    if (e)
        handle_set_metadata(HANDLE_COMM, VALUE(comm), e);
}

void comm_open_world(void)
{
    comm_learn(MPI_COMM_WORLD);
    comm_learn(MPI_COMM_SELF);
}

int64_t comm_made(ActiveCall *c, MPI_Comm comm)
{
    int64_t word = handle_made(c, HANDLE_COMM, VALUE(comm));
    if (word_is_handle(word) && !handle_metadata(HANDLE_COMM, VALUE(comm)))
        comm_learn(comm);
    put_comm(c, word, comm_metadata(comm));
    return word;
}

void comm_made_later(ActiveCall *c, MPI_Comm parent, MPI_Comm *variable)
{
    const CommMetadata *facts = comm_metadata(parent);
    struct CommEntry *e = handle_facts_new(sizeof *e);
    if (!e) {
        state_break("out of memory");
        return;
    }
    *e = (struct CommEntry){{-1, -1, -1, -1, -1, NULL, NULL},
                            .indegree = -1,
                            .outdegree = -1,
                            .maker = c->sequence,
                            .variable = variable};
    if (facts)
        e->facts = *facts;
    e->facts.order = NULL; /* the parent's */
    e->word = handle_reserve(c, HANDLE_COMM);
    put_comm(c, e->word, &e->facts);
    handle_facts_free(c->later);
    c->later = e;
}

void comm_arrived(struct CommEntry *e)
{
    handle_arrived(e->maker, HANDLE_COMM, VALUE(*e->variable), e->word, e);
}

const CommMetadata *comm_metadata(MPI_Comm comm)
{
    const struct CommEntry *e = handle_metadata(HANDLE_COMM, VALUE(comm));
    return e ? &e->facts : NULL;
}

const CommMetadata *comm_metadata_of_win(MPI_Win win)
{
    const struct CommEntry *e = handle_metadata(HANDLE_WIN, VALUE(win));
    return e ? &e->facts : NULL;
}

const CommMetadata *comm_metadata_of_file(MPI_File file)
{
    const struct CommEntry *e = handle_metadata(HANDLE_FILE, VALUE(file));
    return e ? &e->facts : NULL;
}

/* Gives the object the facts of COMM, with room for N ints of its own. */
static struct CommEntry *inherit(HandleKind kind, uintptr_t value, MPI_Comm comm, size_t n)
{
    const CommMetadata *facts = comm_metadata(comm);
    struct CommEntry *e = facts ? handle_facts_new(sizeof *e + n * sizeof(int)) : NULL;
    if (!e)
        return NULL;
    *e = (struct CommEntry){*facts, .indegree = -1, .outdegree = -1};
    return handle_set_metadata(kind, value, e) ? e : NULL;
}

static void members_ask(MPI_Win win, int n, int *members)
{
    MPI_Group group;
    for (int i = 0; i < n; i++)
        members[i] = -1;
    if (!state()->world_group_known || PMPI_Win_get_group(win, &group) != MPI_SUCCESS)
        return;
    for (int i = 0, world; i < n; i++)
        if (PMPI_Group_translate_ranks(group, 1, &i, state()->world_group, &world) == MPI_SUCCESS
            && world != MPI_UNDEFINED)
            members[i] = world;
    PMPI_Group_free(&group);
}

void comm_made_win(MPI_Win win, MPI_Comm comm)
{
    const CommMetadata *facts = comm_metadata(comm);
    const int *flavor;
    int known;
    bool dynamic = PMPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &known) == MPI_SUCCESS
                   && known && *flavor == MPI_WIN_FLAVOR_DYNAMIC;
    size_t n = dynamic && facts ? (size_t)facts->size : 0;
    struct CommEntry *e = inherit(HANDLE_WIN, VALUE(win), comm, n);
    if (e && dynamic) {
        int *members = (int *)(e + 1);
        members_ask(win, (int)n, members);
        e->facts.members = members;
        attachments_open();
    }
}

void comm_made_file(MPI_File file, MPI_Comm comm)
{
    inherit(HANDLE_FILE, VALUE(file), comm, 0);
}

bool comm_split_begins(MPI_File file, bool touches)
{
    struct CommEntry *e = handle_metadata(HANDLE_FILE, VALUE(file));
    if (e)
        e->split_is_empty = !touches;
    return touches;
}

bool comm_split_touches(MPI_File file)
{
    const struct CommEntry *e = handle_metadata(HANDLE_FILE, VALUE(file));
    return !e || !e->split_is_empty;
}

static void ask_degrees(MPI_Comm comm, struct CommEntry *e)
{
    int topology = MPI_UNDEFINED, n = 0, out = 0, weighted = 0;
    if (e->facts.remote_size < 0)
        PMPI_Topo_test(comm, &topology);
    switch (topology) {
    case MPI_CART:
        PMPI_Cartdim_get(comm, &n);
        n *= 2;
        out = n;
        break;
    case MPI_GRAPH:
        PMPI_Graph_neighbors_count(comm, e->facts.rank, &n);
        out = n;
        break;
    case MPI_DIST_GRAPH:
        PMPI_Dist_graph_neighbors_count(comm, &n, &out, &weighted);
        break;
    }
    e->outdegree = out;
    e->weighted = weighted;
    e->indegree = n;
}

static struct CommEntry *with_degrees(MPI_Comm comm)
{
    struct CommEntry *e = handle_metadata(HANDLE_COMM, VALUE(comm));
    if (e && e->indegree < 0)
        ask_degrees(comm, e);
    return e;
}

int comm_indegree(MPI_Comm comm)
{
    const struct CommEntry *e = with_degrees(comm);
    return e ? e->indegree : 0;
}

int comm_outdegree(MPI_Comm comm)
{
    const struct CommEntry *e = with_degrees(comm);
    return e ? e->outdegree : 0;
}

bool comm_weighted(MPI_Comm comm)
{
    const struct CommEntry *e = with_degrees(comm);
    return e && e->weighted;
}

static void put_ints(ActiveCall *c, const int *values, int n, int minus)
{
    for (int i = 0; i < n; i++)
        call_put_outcome(c, (int64_t)values[i] - minus);
}

/* The communicator is new and made by the library, so no error handler of the application runs. */
void comm_put_neighbours(ActiveCall *c, MPI_Comm graph)
{
    const struct CommEntry *e = with_degrees(graph);
    size_t in = e && e->indegree > 0 ? (size_t)e->indegree : 0;
    size_t out = e && e->outdegree > 0 ? (size_t)e->outdegree : 0;
    int *sources = e ? handle_facts_new((2 * (in + out) + 1) * sizeof(int)) : NULL;
    if (!sources) {
        call_put_outcome(c, WEND_ABSENT);
        return;
    }
    int *destinations = sources + in, *from = destinations + out, *to = from + in;
    bool weighted = e->weighted;
    if (PMPI_Dist_graph_neighbors(graph, (int)in, sources, weighted ? from : MPI_UNWEIGHTED,
                                  (int)out, destinations, weighted ? to : MPI_UNWEIGHTED)
        != MPI_SUCCESS) {
        call_put_outcome(c, WEND_ABSENT);
    } else {
        call_put_outcome(c, (int64_t)(WEND_NEIGHBOURS_HEAD + (in + out) * (weighted ? 2 : 1)));
        call_put_outcome(c, weighted);
        call_put_outcome(c, (int64_t)in);
        call_put_outcome(c, (int64_t)out);
        put_ints(c, sources, (int)(in + out), e->facts.rank);
        put_ints(c, from, weighted ? (int)(in + out) : 0, 0);
    }
    handle_facts_free(sources);
}
