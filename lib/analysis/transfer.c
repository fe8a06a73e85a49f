/* SPDX-License-Identifier: BSD-3-Clause */
/* transfer.c: see transfer.h. */
#include "transfer.h"

#include <string.h>

guint64 transfer_times(guint64 a, guint64 b)
{
    guint64 product;
    if (a == TRANSFER_UNSIZED || b == TRANSFER_UNSIZED)
        return TRANSFER_UNSIZED;
    return __builtin_mul_overflow(a, b, &product) ? G_MAXUINT64 - 1 : product;
}

guint64 transfer_plus(guint64 a, guint64 b)
{
    guint64 sum;
    if (a == TRANSFER_UNSIZED || b == TRANSFER_UNSIZED)
        return TRANSFER_UNSIZED;
    return __builtin_add_overflow(a, b, &sum) ? G_MAXUINT64 - 1 : sum;
}

static guint64 number(gint64 word)
{
    return word >= 0 ? (guint64)word : TRANSFER_UNSIZED;
}

gboolean transfer_is_constant(gint64 word, const char *name)
{
    return word_is_const(word) && word_const_index(word) < mpi_n_constants
           && strcmp(mpi_constants[word_const_index(word)], name) == 0;
}

gint64 transfer_object(const WendCall *call, WendKind kind)
{
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        if (arg->param->kind == kind && arg->param->dir != WEND_DIR_OUT && !arg->param->array
            && arg->n_in > 0)
            return arg->in[0];
    }
    return WEND_ABSENT;
}

gint64 transfer_peer(const WendCall *call)
{
    return transfer_object(call, WEND_KIND_RANK);
}

static const WendArg *arg_at(const WendCall *call, int index)
{
    return index >= 0 && (guint)index < call->n_args ? &call->args[index] : NULL;
}

/* Whether P has a size: a count, or one element of a type (MPI_Fetch_and_op). */
static gboolean is_sized(const WendParam *p)
{
    return p->kind == WEND_KIND_BUF
           && (p->count >= 0 || (p->extent == WEND_EXTENT_COUNT && p->type >= 0));
}

/* The first buffer, or the second if the first is MPI_IN_PLACE. */
static const WendParam *first_buffer(const WendCall *call)
{
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        if (!is_sized(arg->param))
            continue;
        if (!arg->param->array && arg->n_in > 0 && transfer_is_constant(arg->in[0], "MPI_IN_PLACE"))
            continue;
        return arg->param;
    }
    return NULL;
}

/* The sum of the counts times the sizes of their datatypes. */
static guint64 elements_bytes(const TransferSizes *sizes, const WendArg *count, const WendArg *type)
{
    guint64 sum = 0, size = 1;
    gint64 last = WEND_ABSENT;
    for (gint64 i = 0; i < count->n_in; i++) {
        if (type != NULL && type->n_in > 0) {
            gint64 word = type->in[type->param->array ? MIN(i, type->n_in - 1) : 0];
            if (i == 0 || word != last)
                size = sizes->type_size(sizes->data, word);
            last = word;
        }
        sum = transfer_plus(sum, transfer_times(number(count->in[i]), size));
    }
    return sum;
}

/* The size of one element. */
static guint64 type_bytes(const TransferSizes *sizes, const WendArg *type)
{
    return type != NULL && type->n_in > 0 ? sizes->type_size(sizes->data, type->in[0])
                                          : TRANSFER_UNSIZED;
}

gboolean transfer_bytes(const TransferSizes *sizes, const WendCall *call, guint64 *bytes)
{
    const WendParam *buffer = first_buffer(call);
    const WendArg *count = buffer != NULL ? arg_at(call, buffer->count) : NULL;
    gint64 comm = transfer_object(call, WEND_KIND_COMM);
    if (!buffer)
        return FALSE;
    *bytes = TRANSFER_UNSIZED;
    if (buffer->count < 0)
        *bytes = type_bytes(sizes, arg_at(call, buffer->type));
    if (!count)
        return TRUE;
    *bytes = 0;
    if (count->n_in == WEND_ABSENT || (count->n_in > 0 && count->in[0] == WEND_ABSENT))
        return TRUE; /* not significant at this rank */
    *bytes = elements_bytes(sizes, count, arg_at(call, buffer->type));
    switch (buffer->extent) {
    case WEND_EXTENT_COUNT_SIZE:
        *bytes = transfer_times(*bytes, sizes->comm_size(sizes->data, comm));
        break;
    case WEND_EXTENT_NEIGHBORS_OUT:
        if (!count->param->array)
            *bytes = transfer_times(*bytes, sizes->comm_neighbours(sizes->data, comm));
        break;
    case WEND_EXTENT_PARTITIONS: {
        const WendArg *partitions = call_arg(call, "partitions");
        gboolean there = partitions != NULL && partitions->n_in > 0;
        *bytes = transfer_times(*bytes, there ? number(partitions->in[0]) : TRANSFER_UNSIZED);
        break;
    }
    default:
        break;
    }
    return TRUE;
}

static guint64 size_in_walk(gpointer walk, gint64 type)
{
    gint64 bytes = walk_datatype_size(walk, type);
    return bytes >= 0 ? (guint64)bytes : TRANSFER_UNSIZED;
}

static guint64 no_size(gpointer walk, gint64 comm)
{
    (void)walk;
    (void)comm;
    return TRANSFER_UNSIZED;
}

TransferSizes transfer_sizes_of_walk(const WendWalk *walk)
{
    return (TransferSizes){(gpointer)walk, size_in_walk, no_size, no_size};
}

/* Does the rank send in a collective with a root? TRUE if the collective has none. On an
 * intercommunicator the root's word is MPI_ROOT. */
static gboolean sends_as_root(const WendCall *call)
{
    const WendArg *root = call_arg(call, "root");
    const WendArg *self = call_arg_of_kind(call, WEND_KIND_SELF);
    gboolean from_root = call->function->usual_sync == WEND_SYNC_FROM_ROOT;
    if (!root || root->n_in <= 0)
        return TRUE;
    gint64 rank = root->in[0];
    if (transfer_is_constant(rank, "MPI_PROC_NULL"))
        return FALSE;
    gboolean is_root = transfer_is_constant(rank, "MPI_ROOT")
                       || (self != NULL && self->n_in > 0 && self->in[0] == rank);
    return !from_root || is_root;
}

static gboolean to_nobody(const WendCall *call, const char *name)
{
    const WendArg *peer = call_arg(call, name);
    return peer != NULL && peer->n_in > 0 && transfer_is_constant(peer->in[0], "MPI_PROC_NULL");
}

gboolean transfer_kind(const WendCall *call, TrafficKind *kind)
{
    const WendFunction *f = call->function;
    if (call->failed || !first_buffer(call) || (f->flags & (WEND_F_PSEUDO | WEND_F_QUERY)) != 0)
        return FALSE;
    gboolean typed = call_arg_of_kind(call, WEND_KIND_DATATYPE) != NULL;
    if (typed && call_arg_of_kind(call, WEND_KIND_FILE) != NULL) {
        *kind = first_buffer(call)->dir == WEND_DIR_IN ? TRAFFIC_FILE_WRITE : TRAFFIC_FILE_READ;
        return TRUE;
    }
    if (call_arg(call, "target_rank") != NULL) {
        *kind = TRAFFIC_ONE_SIDED;
        return !to_nobody(call, "target_rank");
    }
    if ((f->flags & WEND_F_SEND) != 0) {
        *kind = TRAFFIC_POINT;
        return !to_nobody(call, "dest");
    }
    *kind = TRAFFIC_COLLECTIVE;
    return typed && (f->flags & WEND_F_COLLECTIVE) != 0 && sends_as_root(call);
}
