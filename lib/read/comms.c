/* SPDX-License-Identifier: BSD-3-Clause */
/* comms.c: numbers of communicators, which are the same for all members.
 *
 * A communicator's identity is made from data on which its members agree without a message
 * (docs/recording.md, "Communicators"). Identities are numbered in the order of ranks, sequences
 * and calls. Only rules that contain a creating call are expanded, so the cost follows the
 * creations.
 *
 * The members of a communicator that holds processes of several worlds do not agree on leaders,
 * because each records leaders of its own world only. Such communicators, and those that are made
 * from them ("across"), have an identity without leaders. If leaders are needed, comm-leaders.h
 * finds them. If two groups made a communicator by calls of their own, comm-meetings.h joins it.
 * After that, all numbers are given again. */
#include "program-private.h"

#include <string.h>

#include "comm-identity.h"
#include "comm-meetings.h"
#include "world-starts.h"

/* A hostile file can claim any number of creations. Communicators beyond this number, over all
 * ranks, are unknown. */
enum { CREATIONS_MAX = 1 << 24 };
/* The most rounds of numbering. Each round may identify more of the communicators that are made
 * from others of several worlds. */
enum { ROUNDS_MAX = 16 };

struct CommNumbers {
    GPtrArray *by_rank; /* GPtrArray of GArray of WendCommMade, by sequence */
    guint n;            /* numbers given */
};

typedef struct {
    WendProgram *p;
    guint8 *rule_creates, *terminal_creates;
    WendDecoder *decoder;
    CommMeetings *meetings;
    Map *starters;                  /* rank, thread and number of the call -> world */
    guint creations, all_creations; /* in this round, and in all rounds */
    /* The rest is of this round. */
    Map *numbers;        /* identity -> number */
    guint *parents;      /* by world: number of its parent communicator; 0: unknown */
    CommNumbering known; /* for the current rank */
    gint64 thread;       /* the current thread */
    guint64 starts;      /* calls of this thread that started a world */
} Pass;

int comm_made_parameter(const WendFunction *f)
{
    for (int i = 0; i < f->n_params; i++)
        if (f->params[i].kind == WEND_KIND_COMM
            && (f->params[i].dir == WEND_DIR_OUT || f->params[i].dir == WEND_DIR_RETURN)
            && !f->params[i].array)
            return i;
    return -1;
}

static gint64 *handle_key(gint64 handle)
{
    return g_memdup2(&handle, sizeof handle);
}

/* The number of out-neighbours of the Cartesian or distributed graph that CALL makes. -1: none or
 * unknown. */
static gint64 out_neighbours(const WendCall *call)
{
    const WendArg *dims = call_arg(call, "ndims");
    const WendArg *degree = call_arg(call, "outdegree");
    if (dims && dims->n_in > 0)
        return dims->in[0] >= 0 && dims->in[0] <= G_MAXINT32 ? 2 * dims->in[0] : -1;
    return degree && degree->n_in > 0 && degree->in[0] >= 0 ? degree->in[0] : -1;
}

/* -- one creation -- */

/* The rank in the job of rank LEADER of the caller's world. -1: there is no such rank. */
static gint64 process_of(const Pass *n, gint64 leader)
{
    const WendWorld *world = &n->p->worlds[n->known.world];
    return leader >= 0 && leader < (gint64)world->ranks ? (gint64)world->first + leader : -1;
}

static WendCommMade facts_of(const Pass *n, const WendCall *call)
{
    const WendArg *arg = &call->args[comm_made_parameter(call->function)];
    WendCommMade made = {arg->n_out == 1 ? arg->out[0] : WEND_UNKNOWN,
                         G_MAXUINT,
                         -1,
                         -1,
                         -1,
                         -1,
                         -1,
                         -1,
                         call->function};
    if (word_is_handle(made.handle)) {
        made.out_neighbours = out_neighbours(call);
        made.size = arg->out[1];
        made.rank = arg->out[2];
        made.leader = process_of(n, arg->out[3]);
        made.remote_size = arg->out[4];
        made.remote_leader = process_of(n, arg->out[5]);
        comm_leaders_set_found(n->known.leaders, (CommPlace){n->known.rank, n->known.place}, &made);
    }
    return made;
}

/* The world that the call started, if its rank was the root. 0: none. */
static guint started_world(Pass *n, const WendCall *call)
{
    if (!world_start_is(call))
        return 0;
    const gint64 key[] = {n->known.rank, n->thread, (gint64)n->starts++};
    return NUMBER_OF(map_get_bytes(n->starters, key, sizeof key));
}

static gboolean is_parent(const WendFunction *f)
{
    return f->id == WEND_FN_MPI_Comm_get_parent;
}

static guint number_by_identity(Pass *n, CommCreation *c)
{
    WendBuf identity = WEND_BUF_INIT;
    guint number = 0;
    comm_identity_put(&n->known, c, &identity);
    if (word_is_handle(c->made->handle)) {
        number = NUMBER_OF(map_get_bytes(n->numbers, identity.data, identity.len));
        if (number == 0 && is_parent(c->call->function))
            number = n->parents[n->known.world];
        if (number == 0)
            number = comm_meetings_number(n->meetings, (CommPlace){n->known.rank, n->known.place});
        if (number == 0) {
            number = map_size(n->numbers) + 1; /* 0 is MPI_COMM_WORLD */
            map_put_bytes(n->numbers, identity.data, identity.len, OF_NUMBER(number));
        }
    }
    buf_clear(&identity);
    return number;
}

/* Notes a communicator that two groups made by calls of their own. */
static void note_meeting(const Pass *n, const CommCreation *c)
{
    const CommPlace at = {n->known.rank, n->known.place};
    const WendArg *port = call_arg(c->call, "port_name"), *peer = call_arg(c->call, "peer_comm"),
                  *leader = call_arg(c->call, "remote_leader");
    WendBuf name = WEND_BUF_INIT;
    comm_identity_put_tags(c->call, &name);
    if (port && port->n_in > 0)
        comm_meetings_at_port(n->meetings, &name, c->call->function->id == WEND_FN_MPI_Comm_accept,
                              n->thread, at, c->made->number);
    else if (c->pair && peer && peer->n_in > 0 && leader && leader->n_in > 0)
        comm_meetings_of_pair(n->meetings, &name, comm_numbering_find(&n->known, peer),
                              leader->in[0], at, c->made->number);
    buf_clear(&name);
}

static void take_number(Pass *n, CommCreation *c, guint world)
{
    guint number = c->made->number;
    gpointer key = GUINT_TO_POINTER(number);
    gboolean joined =
        comm_meetings_note_number(n->meetings, (CommPlace){n->known.rank, n->known.place}, number);
    if (c->across || c->by_local || joined || is_parent(c->call->function)
        || c->call->function->makes == WEND_MAKES_SPAWN)
        comm_numbering_note_across(&n->known, c);
    if (world != 0)
        n->parents[world] = number;
    note_meeting(n, c);
    g_hash_table_replace(n->known.here, handle_key(c->made->handle), key);
}

static void made(Pass *n, guint32 terminal, GArray *list)
{
    const WendCall *call = decoder_call(n->decoder, terminal, n->known.rank);
    WendCommMade comm = facts_of(n, call);
    guint world = started_world(n, call);
    gpointer known;
    if (!(call->function->flags & WEND_F_CREATES_COMM)
        && g_hash_table_lookup_extended(n->known.here, &comm.handle, NULL, &known)) {
        comm.number = GPOINTER_TO_UINT(known); /* the rank has this handle already */
    } else {
        CommCreation c = comm_creation(&n->known, call, &comm);
        guint number = number_by_identity(n, &c);
        if (number != 0) {
            comm.number = number;
            take_number(n, &c, world);
        }
    }
    n->known.place++;
    g_array_append_val(list, comm);
}

/* -- going through a sequence -- */

static void expand(Pass *n, guint rule, GArray *list)
{
    typedef struct {
        guint rule, at;
        guint64 left;
    } Frame;
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(Frame));
    Frame first = {rule, 0, 0};
    if (n->rule_creates[rule])
        g_array_append_val(stack, first);
    while (stack->len && n->creations < CREATIONS_MAX) {
        Frame *top = &g_array_index(stack, Frame, stack->len - 1);
        const WendRule *r = &n->p->rules[top->rule];
        if (top->at == r->n) {
            g_array_set_size(stack, stack->len - 1);
            continue;
        }
        const WendSymbol *s = &r->symbols[top->at];
        if (!(s->is_rule ? n->rule_creates[s->id] : n->terminal_creates[s->id])) {
            top->at++;
            continue;
        }
        if (top->left == 0)
            top->left = s->repeats;
        if (--top->left == 0)
            top->at++;
        if (s->is_rule) {
            Frame next = {s->id, 0, 0};
            g_array_append_val(stack, next);
        } else {
            n->creations++;
            made(n, s->id, list);
        }
    }
}

static void mark(Pass *n)
{
    WendProgram *p = n->p;
    for (guint i = 0; i < p->n_terminals; i++) {
        const WendShape *s = &p->shapes[p->terminals[i].shape];
        n->terminal_creates[i] = !s->failed && comm_made_parameter(s->function) >= 0;
    }
    for (guint r = 0; r < p->n_rules; r++)
        for (guint k = 0; k < p->rules[r].n && !n->rule_creates[r]; k++) {
            const WendSymbol *s = &p->rules[r].symbols[k];
            n->rule_creates[r] = s->is_rule ? n->rule_creates[s->id] : n->terminal_creates[s->id];
        }
}

static void free_rank(gpointer row)
{
    g_ptr_array_unref(row);
}

static void number_rank(Pass *n, guint rank)
{
    WendProgram *p = n->p;
    const WendClass *k = &p->classes[p->class_of[rank]];
    GPtrArray *row = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    g_ptr_array_add(p->comms->by_rank, row);
    g_hash_table_remove_all(n->known.here);
    map_clear(n->known.counts);
    n->known.rank = rank;
    n->known.world = program_world_of(p, rank);
    n->known.place = 0;
    for (guint q = 0; q < k->n_sequences; q++) {
        GArray *list = g_array_new(FALSE, FALSE, sizeof(WendCommMade));
        n->thread = k->sequences[q].kind == WEND_SEQUENCE_THREAD ? k->sequences[q].id : -1;
        n->starts = 0;
        expand(n, k->sequences[q].rule, list);
        g_ptr_array_add(row, list);
    }
}

static void number_all(Pass *n)
{
    WendProgram *p = n->p;
    g_ptr_array_set_size(p->comms->by_rank, 0);
    map_clear(n->numbers);
    g_hash_table_remove_all(n->known.across);
    g_hash_table_remove_all(n->known.grids);
    memset(n->parents, 0, p->n_worlds * sizeof(guint));
    n->creations = 0;
    for (guint rank = 0; rank < p->ranks; rank++)
        number_rank(n, rank);
    n->all_creations += n->creations;
}

/* -- all members of a communicator -- */

typedef void (*TakeMember)(gpointer data, CommPlace at, WendCommMade *made);

static void each_member(const Pass *n, TakeMember take, gpointer data)
{
    for (guint rank = 0; rank < n->p->ranks; rank++) {
        const GPtrArray *row = g_ptr_array_index(n->p->comms->by_rank, rank);
        CommPlace at = {rank, 0};
        for (guint q = 0; q < row->len; q++) {
            GArray *list = g_ptr_array_index(row, q);
            for (guint i = 0; i < list->len; i++, at.place++)
                if (word_is_handle(g_array_index(list, WendCommMade, i).handle))
                    take(data, at, &g_array_index(list, WendCommMade, i));
        }
    }
}

typedef struct {
    const Pass *n;
    GArray *members; /* CommMember, of communicators that are across */
} Gathered;

static void gather(gpointer data, CommPlace at, WendCommMade *made)
{
    Gathered *g = data;
    const CommMember member = {at.rank, made};
    if (g_hash_table_contains(g->n->known.across, GUINT_TO_POINTER(made->number)))
        g_array_append_val(g->members, member);
}

static gint compare_members(gconstpointer a, gconstpointer b)
{
    const CommMember *m = a, *o = b;
    if (m->made->number != o->made->number)
        return m->made->number < o->made->number ? -1 : 1;
    return m->rank < o->rank ? -1 : m->rank > o->rank;
}

/* Sets the leaders that only members in other worlds know. */
static void settle(const Pass *n)
{
    Gathered g = {n, g_array_new(FALSE, FALSE, sizeof(CommMember))};
    if (g_hash_table_size(n->known.across) > 0)
        each_member(n, gather, &g);
    g_array_sort(g.members, compare_members);
    const CommMember *members = (const CommMember *)(gpointer)g.members->data;
    for (guint i = 0, end; i < g.members->len; i = end) {
        for (end = i + 1; end < g.members->len; end++)
            if (members[end].made->number != members[i].made->number)
                break;
        comm_leaders_settle(members + i, end - i);
    }
    g_array_unref(g.members);
}

static void take_meeting(gpointer data, CommPlace at, WendCommMade *made)
{
    comm_meetings_member(data, at, made);
}

/* Whether another round would give other numbers. */
static gboolean find_more(Pass *n)
{
    gboolean more = comm_leaders_find(n->known.leaders);
    if (comm_meetings_prepare(n->meetings, map_size(n->numbers)))
        each_member(n, take_meeting, n->meetings);
    more |= comm_meetings_join(n->meetings);
    return more && n->all_creations + n->creations <= CREATIONS_MAX;
}

/* -- the start and the end -- */

/* A call that several worlds name started none, as far as is known: 0. */
static Map *starters_of(const WendProgram *p)
{
    Map *worlds = map_of_bytes(NULL);
    g_autofree WendWorldStarter *starters = world_starters(p);
    for (guint i = 1; i < p->n_worlds; i++)
        if (starters[i].rank != G_MAXUINT) {
            const gint64 key[] = {starters[i].rank, starters[i].thread, (gint64)starters[i].number};
            bool several = map_has_bytes(worlds, key, sizeof key);
            map_put_bytes(worlds, key, sizeof key, OF_NUMBER(several ? 0 : i));
        }
    return worlds;
}

static void make_numbers(WendProgram *p)
{
    Pass n = {
        .p = p,
        .rule_creates = g_new0(guint8, p->n_rules + 1),
        .terminal_creates = g_new0(guint8, p->n_terminals + 1),
        .decoder = decoder_new(p),
        .meetings = comm_meetings_new(),
        .starters = starters_of(p),
        .numbers = map_of_bytes(NULL),
        .parents = g_new0(guint, p->n_worlds),
        .known = {.comm_world = p->comm_world,
                  .leaders = comm_leaders_new(p),
                  .across = g_hash_table_new(NULL, NULL),
                  .grids = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref),
                  .here = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                  .counts = map_of_bytes(NULL)}};
    mark(&n);
    p->comms = g_new0(CommNumbers, 1);
    p->comms->by_rank = g_ptr_array_new_with_free_func(free_rank);
    number_all(&n);
    for (guint round = 1; round < ROUNDS_MAX && find_more(&n); round++)
        number_all(&n);
    settle(&n);
    p->comms->n = map_size(n.numbers);
    decoder_free(n.decoder);
    comm_leaders_free(n.known.leaders);
    comm_meetings_free(n.meetings);
    map_unref(n.starters);
    map_unref(n.numbers);
    g_hash_table_unref(n.known.across);
    g_hash_table_unref(n.known.grids);
    g_hash_table_unref(n.known.here);
    map_unref(n.known.counts);
    g_free(n.parents);
    g_free(n.rule_creates);
    g_free(n.terminal_creates);
}

const WendCommMade *program_comms(const WendProgram *program, guint rank, guint sequence, guint *n)
{
    WendProgram *p = (WendProgram *)program; /* only data that are made on demand change */
    if (!p->comms)
        make_numbers(p);
    *n = 0;
    const GPtrArray *row = g_ptr_array_index(p->comms->by_rank, rank);
    if (sequence >= row->len)
        return NULL;
    const GArray *list = g_ptr_array_index(row, sequence);
    *n = list->len;
    return (const WendCommMade *)(gpointer)list->data;
}

guint program_n_comms(const WendProgram *program)
{
    WendProgram *p = (WendProgram *)program; /* as above */
    if (!p->comms)
        make_numbers(p);
    return p->comms->n;
}

void comm_numbers_free(CommNumbers *n)
{
    if (!n)
        return;
    g_ptr_array_unref(n->by_rank);
    g_free(n);
}
