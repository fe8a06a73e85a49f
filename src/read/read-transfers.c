/* SPDX-License-Identifier: BSD-3-Clause */
/* read-transfers.c: communication: the transfers of calls, communicators, the matrix. */
#include "config.h"

#include "lib/analysis/matrix.h"
#include "lib/base/error.h"
#include "lib/ranks/rankset.h"
#include "read-private.h"

G_STATIC_ASSERT(WEND_READ_COMM_WORLD == WEND_COMM_WORLD);
G_STATIC_ASSERT(WEND_READ_COMM_SELF == WEND_COMM_SELF);
G_STATIC_ASSERT(WEND_READ_UNKNOWN == WEND_UNKNOWN && WEND_READ_ABSENT == WEND_ABSENT);
G_STATIC_ASSERT(WEND_READ_POINT_TO_POINT == 1 << TRAFFIC_POINT);
G_STATIC_ASSERT(WEND_READ_COLLECTIVES == 1 << TRAFFIC_COLLECTIVE);
G_STATIC_ASSERT(WEND_READ_ONE_SIDED == 1 << TRAFFIC_ONE_SIDED);
G_STATIC_ASSERT(WEND_READ_FILE_WRITES == 1 << TRAFFIC_FILE_WRITE);
G_STATIC_ASSERT(WEND_READ_FILE_READS == 1 << TRAFFIC_FILE_READ);
G_STATIC_ASSERT(WEND_READ_N_TRANSFER_KINDS == TRAFFIC_KINDS);
G_STATIC_ASSERT(WEND_READ_N_SIZES == MATRIX_SIZES);

WendMembers *read_members(WendRead *r)
{
    if (!r->members)
        r->members = members_new(r->program);
    return r->members;
}

/* -- a call -- */

/* The transfer of a signature. Its communicator is known if the handle always stands for the same
 * one. */
static void bare_transfer(const ReadCall *c, Transfer *t)
{
    WendMembers *members = read_members(c->reader);
    gint64 word = transfer_object(c->call, WEND_KIND_COMM);
    *t = (Transfer){.comm = WEND_COMM_UNKNOWN};
    follower_place(members, c->call->rank, c->call,
                   members_number(members, c->call->rank, 0, word, 0), t);
    t->sized = FALSE;
}

static void set_sizes(const ReadCall *c, WendReadTransfer *to, guint comm)
{
    const WendMembers *members = read_members(c->reader);
    gint64 local = members_local_size(members, comm, c->call->rank);
    gint64 remote = members_remote_size(members, comm, c->call->rank);
    to->comm_size = local >= 0 ? local : WEND_READ_UNKNOWN;
    to->remote_size = remote >= 0 ? remote : WEND_READ_ABSENT;
}

static void set_transfer(const ReadCall *c, WendReadTransfer *to, const Transfer *t)
{
    gboolean known = t->comm != WEND_COMM_UNKNOWN;
    *to = (WendReadTransfer){.communicator = known ? t->comm : WEND_READ_NO_INDEX,
                             .comm_size = WEND_READ_ABSENT,
                             .remote_size = WEND_READ_ABSENT,
                             .peer = t->peer,
                             .peer_world = t->process,
                             .bytes = WEND_READ_ABSENT};
    if (known)
        set_sizes(c, to, t->comm);
    if (t->sized)
        to->bytes =
            t->bytes == TRANSFER_UNSIZED ? WEND_READ_UNKNOWN : (int64_t)MIN(t->bytes, G_MAXINT64);
}

int wend_read_transfer(const WendReadCall *call, WendReadTransfer *transfer)
{
    const ReadCall *c = (const ReadCall *)call;
    Transfer t;
    if (!call || !transfer)
        return WEND_READ_ERROR_USAGE;
    if (c->follower != NULL)
        follower_transfer(c->follower, &t);
    else
        bare_transfer(c, &t);
    set_transfer(c, transfer, &t);
    return WEND_READ_OK;
}

int wend_read_completed_transfer(const WendReadCall *call, uint32_t index,
                                 WendReadTransfer *transfer)
{
    const ReadCall *c = (const ReadCall *)call;
    guint n = 0;
    Transfer t;
    if (!call || !transfer)
        return WEND_READ_ERROR_USAGE;
    if (c->walk != NULL)
        walk_completed(c->walk, &n);
    int status = read_check_index(c->reader, transfer, "completed request", index, n);
    if (status < 0)
        return status;
    if (!c->follower || !follower_completed(c->follower, index, &t))
        return read_fail(c->reader, WEND_READ_ERROR_NONE, "nothing is known of the request");
    set_transfer(c, transfer, &t);
    return WEND_READ_OK;
}

/* -- communicators -- */

static void note_members(WendRead *r, guint rank, const WendCommMade *made, guint n)
{
    for (guint i = 0; i < n; i++) {
        if (!word_is_handle(made[i].handle) || made[i].number >= r->comms->len)
            continue;
        CommMembers *c = &g_array_index(r->comms, CommMembers, made[i].number);
        if (!c->made) {
            c->first = rank;
            c->made = &made[i];
        } else if (!c->remote && made[i].remote_size >= 0 && made[i].leader != c->made->leader) {
            c->second = rank;
            c->remote = &made[i];
        }
    }
}

static void need_comms(WendRead *r)
{
    const WendProgram *p = r->program;
    if (r->comms != NULL)
        return;
    r->comms = g_array_new(FALSE, TRUE, sizeof(CommMembers));
    g_array_set_size(r->comms, program_n_comms(p) + 1);
    for (guint rank = 0; rank < program_ranks(p); rank++) {
        guint index = program_class_of(p, rank);
        guint n_sequences = index < program_n_classes(p) ? program_class(p, index)->n_sequences : 0;
        for (guint q = 0; q < n_sequences; q++) {
            guint n;
            const WendCommMade *made = program_comms(p, rank, q, &n);
            note_members(r, rank, made, n);
        }
    }
}

int wend_read_n_communicators(WendRead *r, uint32_t *n)
{
    int status = read_check(r, n);
    if (status == WEND_READ_OK)
        *n = program_n_comms(r->program);
    return status;
}

/* The group of RANK. A damaged archive cannot ask for more members than a world may have. */
static gint64 *group_of(WendRead *r, guint comm, guint rank, gint64 size, guint32 *n)
{
    *n = size > 0 && size <= RANKSET_MAX ? (guint32)size : 0;
    gint64 *group = g_new(gint64, *n + 1);
    for (guint i = 0; i < *n; i++) {
        gint64 process = members_local_process(read_members(r), comm, rank, i);
        group[i] = process >= 0 ? process : WEND_READ_UNKNOWN;
    }
    return group;
}

/* A group without a recorded member. */
static gint64 *unknown_group(gint64 size, guint32 *n)
{
    *n = size > 0 && size <= RANKSET_MAX ? (guint32)size : 0;
    gint64 *group = g_new(gint64, *n + 1);
    for (guint i = 0; i < *n; i++)
        group[i] = WEND_READ_UNKNOWN;
    return group;
}

static void swap_groups(WendRead *r)
{
    WendReadCommunicator *c = &r->communicator;
    gint64 *group = r->groups[0];
    guint32 n = c->n_members;
    r->groups[0] = r->groups[1];
    r->groups[1] = group;
    c->n_members = c->n_remote;
    c->n_remote = n;
}

static void set_groups(WendRead *r, const CommMembers *m, guint number)
{
    WendReadCommunicator *c = &r->communicator;
    c->function = m->made->function->name;
    r->groups[0] = group_of(r, number, m->first, m->made->size, &c->n_members);
    if (m->remote != NULL)
        r->groups[1] = group_of(r, number, m->second, m->remote->size, &c->n_remote);
    else if (m->made->remote_size >= 0)
        r->groups[1] = unknown_group(m->made->remote_size, &c->n_remote);
    if (m->remote != NULL && m->remote->leader < m->made->leader)
        swap_groups(r);
}

int wend_read_communicator(WendRead *r, uint32_t number, const WendReadCommunicator **c)
{
    int status = read_check(r, c);
    if (status == WEND_READ_OK)
        status = read_check_index(r, c, "communicator", number,
                                  (guint64)program_n_comms(r->program) + 1);
    if (status < 0)
        return status;
    need_comms(r);
    g_clear_pointer(&r->groups[0], g_free);
    g_clear_pointer(&r->groups[1], g_free);
    r->communicator = (WendReadCommunicator){.number = number};
    const CommMembers *m = &g_array_index(r->comms, CommMembers, number);
    if (number == WEND_READ_COMM_WORLD)
        r->groups[0] =
            group_of(r, number, 0, program_world(r->program, 0)->ranks, &r->communicator.n_members);
    else if (m->made != NULL)
        set_groups(r, m, number);
    r->communicator.members = r->groups[0];
    r->communicator.remote = r->groups[1];
    *c = &r->communicator;
    return WEND_READ_OK;
}

int wend_read_world_rank(WendRead *r, uint32_t rank, uint32_t communicator, int64_t peer,
                         int64_t *world_rank)
{
    int status = read_check(r, world_rank);
    if (status == WEND_READ_OK)
        status = read_check_index(r, world_rank, "rank", rank, program_ranks(r->program));
    if (status < 0)
        return status;
    gint64 process = communicator < WEND_COMM_UNKNOWN
                         ? members_process(read_members(r), communicator, rank, peer)
                         : -1;
    if (process < 0)
        return read_fail(r, WEND_READ_ERROR_NONE,
                         "who rank %" G_GINT64_FORMAT " of the communicator is, is not known",
                         peer);
    *world_rank = process;
    return WEND_READ_OK;
}

/* -- the matrix -- */

static int check_kinds(WendRead *r, const void *result, unsigned kinds, unsigned possible)
{
    int status = read_check(r, result);
    if (status == WEND_READ_OK && (kinds == 0 || (kinds & ~possible) != 0))
        return read_fail(r, WEND_READ_ERROR_USAGE, "there are no such kinds of transfers: %u",
                         kinds);
    return status;
}

int wend_read_matrix(WendRead *r, unsigned kinds, const WendReadPair **pairs, uint64_t *n)
{
    Error *error = NULL;
    int status = check_kinds(r, pairs, kinds, WEND_READ_POINT_TO_POINT | WEND_READ_ONE_SIDED);
    if (status == WEND_READ_OK)
        status = read_check(r, n);
    if (status < 0)
        return status;
    GArray *found = matrix_pairs(r->program, read_members(r), kinds, r->memory,
                                 r->path != NULL ? r->path : "the recording", &error);
    if (!found)
        return read_fail_error(r, error);
    g_clear_pointer(&r->pairs, g_array_unref);
    r->pairs = g_array_sized_new(FALSE, TRUE, sizeof(WendReadPair), found->len);
    g_array_set_size(r->pairs, found->len);
    for (guint i = 0; i < found->len; i++) {
        const MatrixPair *from = &g_array_index(found, MatrixPair, i);
        WendReadPair *to = &g_array_index(r->pairs, WendReadPair, i);
        to->source = from->source;
        to->destination = from->destination;
        read_amount_set(&to->amount, &from->amount);
    }
    g_array_unref(found);
    *pairs = (const WendReadPair *)(gpointer)r->pairs->data;
    *n = r->pairs->len;
    return WEND_READ_OK;
}

int wend_read_sizes(WendRead *r, unsigned kinds, const WendReadSizes **sizes)
{
    Traffic found[MATRIX_SIZES] = {0};
    int status = check_kinds(r, sizes, kinds, (1u << WEND_READ_N_TRANSFER_KINDS) - 1);
    if (status < 0)
        return status;
    r->sizes.unsized = matrix_sizes(r->program, read_members(r), kinds, found);
    for (guint i = 0; i < MATRIX_SIZES; i++)
        read_amount_set(&r->sizes.sizes[i], &found[i]);
    *sizes = &r->sizes;
    return WEND_READ_OK;
}

void read_transfers_clear(WendRead *r)
{
    g_clear_pointer(&r->members, members_free);
    g_clear_pointer(&r->comms, g_array_unref);
    g_clear_pointer(&r->groups[0], g_free);
    g_clear_pointer(&r->groups[1], g_free);
    g_clear_pointer(&r->pairs, g_array_unref);
}
