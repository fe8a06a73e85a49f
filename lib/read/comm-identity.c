/* SPDX-License-Identifier: BSD-3-Clause */
/* comm-identity.c: see comm-identity.h. What members agree on is in docs/recording.md,
 * "Communicators". */
#include "comm-identity.h"

#include <string.h>

/* Appends the number of a communicator to an identity. A constant or an unknown handle is appended
 * as the handle and the world or the rank that it belongs to. */
static void put_comm(const CommNumbering *n, WendBuf *b, gint64 handle)
{
    gpointer number;
    if (g_hash_table_lookup_extended(n->here, &handle, NULL, &number)) {
        buf_unsigned(b, 0);
        buf_unsigned(b, GPOINTER_TO_UINT(number));
        return;
    }
    buf_unsigned(b, 1);
    buf_signed(b, handle);
    buf_unsigned(b, handle == n->comm_world ? n->world : n->rank);
}

static guint count_of(CommNumbering *n, const WendBuf *what)
{
    guint count = NUMBER_OF(map_get_bytes(n->counts, what->data, what->len));
    map_put_bytes(n->counts, what->data, what->len, OF_NUMBER(count + 1));
    return count;
}

static void put_words(WendBuf *b, const WendArg *arg)
{
    buf_signed(b, arg->n_in);
    gint64 words = arg->param->kind == WEND_KIND_STRING ? (arg->n_in + 7) / 8 : arg->n_in;
    for (gint64 i = 0; i < words; i++)
        buf_signed(b, arg->in[i]);
}

/* Whether a call makes one communicator, so that all processes that get a communicator are its
 * members. */
static gboolean makes_one(const WendFunction *f)
{
    switch (f->makes) {
    case WEND_MAKES_DUP:
    case WEND_MAKES_TOPOLOGY:
    case WEND_MAKES_MERGE:
    case WEND_MAKES_SPAWN:
    case WEND_MAKES_CONNECT:
        return TRUE;
    default:
        return FALSE;
    }
}

guint comm_numbering_find(const CommNumbering *n, const WendArg *comm)
{
    gpointer number;
    return comm && g_hash_table_lookup_extended(n->here, &comm->in[0], NULL, &number)
               ? GPOINTER_TO_UINT(number)
               : 0;
}

CommCreation comm_creation(const CommNumbering *n, const WendCall *call, WendCommMade *made)
{
    WendMakes makes = call->function->makes;
    CommCreation c = {.call = call, .made = made};
    c.by_group = makes == WEND_MAKES_GROUP || makes == WEND_MAKES_PAIR_OF_GROUPS;
    c.merge = makes == WEND_MAKES_MERGE;
    c.pair = makes == WEND_MAKES_PAIR || makes == WEND_MAKES_PAIR_OF_GROUPS;
    for (guint i = 0; i < call->n_args && !c.parent; i++)
        if (call->args[i].param->kind == WEND_KIND_COMM && call->args[i].n_in > 0
            && call->args[i].param->dir != WEND_DIR_OUT)
            c.parent = &call->args[i];
    c.across = g_hash_table_contains(n->across, GUINT_TO_POINTER(comm_numbering_find(n, c.parent)));
    c.by_local = c.pair && c.parent && (c.across || made->remote_leader < 0);
    return c;
}

void comm_identity_put_tags(const WendCall *call, WendBuf *b)
{
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        if (arg->n_in > 0 && arg->param->dir != WEND_DIR_OUT
            && (arg->param->kind == WEND_KIND_TAG || arg->param->kind == WEND_KIND_STRING))
            put_words(b, arg);
    }
}

/* Appends the leaders. The two groups of an intercommunicator see them exchanged, so they are
 * sorted. The world is appended if leaders may be unknown, because they are then unknown to all
 * members of that world. */
static void put_leaders(const CommNumbering *n, const CommCreation *c, WendBuf *b)
{
    buf_signed(b, MIN(c->made->leader, c->made->remote_leader));
    buf_signed(b, MAX(c->made->leader, c->made->remote_leader));
    buf_unsigned(b, c->across && !comm_leaders_missing(c->made) ? 0 : n->world + 1);
}

/* Appends the number of C among the creations that all its members count in the same order. Most
 * creations are collective over the parent, so all of them are counted together, by parent. Other
 * creations have only a group of the parent as members, or two groups without a common parent. They
 * are counted by the leaders, the tags and the function too. */
static void count(CommNumbering *n, CommCreation *c, WendBuf *identity)
{
    gboolean own = c->by_group || c->merge || c->pair;
    WendBuf what = WEND_BUF_INIT;
    buf_unsigned(&what, c->across || c->by_local ? 0 : n->world + 1);
    buf_string(&what, own || !c->parent ? c->call->function->name : "");
    if (c->parent && (!c->pair || c->by_local))
        put_comm(n, &what, c->parent->in[0]);
    if (c->by_group || c->pair)
        comm_identity_put_tags(c->call, &what);
    if (c->by_group || (c->pair && !c->by_local))
        put_leaders(n, c, &what);
    c->count = count_of(n, &what);
    buf_bytes(identity, what.data, what.len);
    buf_unsigned(identity, c->count);
    buf_clear(&what);
}

/* -- Cartesian communicators -- */

enum { DIMENSIONS_MAX = 64 }; /* grids of more dimensions are not kept */

/* The dimensions of a Cartesian communicator that C made; the caller unrefs. NULL: unknown. */
static GArray *dimensions_of(const CommNumbering *n, const CommCreation *c)
{
    const WendFunction *f = c->call->function;
    const GArray *before =
        g_hash_table_lookup(n->grids, GUINT_TO_POINTER(comm_numbering_find(n, c->parent)));
    const WendArg *dims = call_arg(c->call, "dims"), *remain = call_arg(c->call, "remain_dims");
    GArray *all = g_array_new(FALSE, FALSE, sizeof(gint64));
    if (f->id == WEND_FN_MPI_Cart_create && dims && dims->n_in > 0 && dims->n_in <= DIMENSIONS_MAX)
        g_array_append_vals(all, dims->in, (guint)dims->n_in);
    else if (f->makes == WEND_MAKES_DUP && before)
        g_array_append_vals(all, before->data, before->len);
    else if (remain && before && remain->n_in == before->len)
        for (guint i = 0; i < before->len; i++)
            if (remain->in[i])
                g_array_append_val(all, g_array_index(before, gint64, i));
    if (all->len > 0)
        return all;
    g_array_unref(all);
    return NULL;
}

/* Appends the coordinates that all members of a part of a grid (MPI_Cart_sub) have in common.
 * FALSE: the grid is unknown. */
static gboolean put_coordinates(const CommNumbering *n, const CommCreation *c, WendBuf *b)
{
    const WendArg *remain = call_arg(c->call, "remain_dims"),
                  *self = call_arg_of_kind(c->call, WEND_KIND_SELF);
    const GArray *grid =
        g_hash_table_lookup(n->grids, GUINT_TO_POINTER(comm_numbering_find(n, c->parent)));
    if (!remain || !grid || remain->n_in != grid->len || !self || self->n_in <= 0
        || self->in[0] < 0)
        return FALSE;
    gint64 rank = self->in[0];
    for (guint i = grid->len; i-- > 0;) {
        gint64 extent = g_array_index(grid, gint64, i);
        if (extent <= 0)
            return FALSE;
        if (!remain->in[i])
            buf_signed(b, rank % extent);
        rank /= extent;
    }
    return TRUE;
}

/* -- all -- */

static gboolean put_color(const CommNumbering *n, const CommCreation *c, WendBuf *b)
{
    const WendArg *color = call_arg(c->call, "color");
    if (!color || color->n_in <= 0)
        return put_coordinates(n, c, b);
    buf_signed(b, color->in[0]);
    return TRUE;
}

void comm_identity_put(CommNumbering *n, CommCreation *c, WendBuf *identity)
{
    count(n, c, identity);
    if (c->by_local || (c->across && makes_one(c->call->function)))
        return;
    if (!c->across || !put_color(n, c, identity))
        put_leaders(n, c, identity);
}

/* Notes C under a name that all communicators have that the same calls made, or may have made, in
 * any world. */
static void note_event(const CommNumbering *n, const CommCreation *c)
{
    WendBuf event = WEND_BUF_INIT;
    buf_string(&event, c->call->function->name);
    buf_unsigned(&event, comm_numbering_find(n, c->parent));
    if (c->by_group)
        comm_identity_put_tags(c->call, &event);
    else
        buf_unsigned(&event, c->count);
    comm_leaders_note(n->leaders, &event, (CommPlace){n->rank, n->place}, c->made);
    buf_clear(&event);
}

void comm_numbering_note_across(CommNumbering *n, const CommCreation *c)
{
    gpointer number = GUINT_TO_POINTER(c->made->number);
    GArray *grid = g_hash_table_contains(n->grids, number) ? NULL : dimensions_of(n, c);
    g_hash_table_add(n->across, number);
    if (grid)
        g_hash_table_insert(n->grids, number, grid);
    if (c->across && !c->by_local && !makes_one(c->call->function))
        note_event(n, c);
}
