/* SPDX-License-Identifier: BSD-3-Clause */
/* amounts.c: see amounts.h. */
#include "config.h"

#include "amounts.h"

/* The value that was passed for the parameter NAME, or OTHER if there is none of that name. */
static gboolean value_of(const WendReadCall *call, const char *name, const char *other,
                         WendReadValue *v)
{
    guint i = wend_read_parameter_named(call->function, name);
    if (i == WEND_READ_NO_INDEX && other != NULL)
        i = wend_read_parameter_named(call->function, other);
    return i != WEND_READ_NO_INDEX && wend_read_input(call, i, v) == WEND_READ_OK;
}

static guint64 times(guint64 a, guint64 b)
{
    return b != 0 && a > G_MAXUINT64 / b ? G_MAXUINT64 : a * b;
}

static guint64 plus(guint64 a, guint64 b)
{
    return a > G_MAXUINT64 - b ? G_MAXUINT64 : a + b;
}

static guint64 type_size(const WendReadCall *call, const WendReadValue *type)
{
    gint64 bytes;
    return wend_read_datatype_size(call, type, &bytes) == WEND_READ_OK && bytes > 0 ? (guint64)bytes
                                                                                    : 0;
}

/* Element K of V if that is a list, else V. */
static gboolean element_of(const WendReadValue *v, guint64 k, WendReadValue *element)
{
    *element = *v;
    return v->type != WEND_READ_LIST || wend_read_element(v, k, element) == WEND_READ_OK;
}

static guint64 product(const WendReadCall *call, const WendReadValue *count,
                       const WendReadValue *type)
{
    if (count->type != WEND_READ_NUMBER || count->number <= 0)
        return 0;
    return times((guint64)count->number, type_size(call, type));
}

/* The sum of COUNT elements of TYPE, each one number or a list. */
static guint64 sum(const WendReadCall *call, const WendReadValue *count, const WendReadValue *type)
{
    guint64 n = count->type == WEND_READ_LIST ? count->length : 1, bytes = 0;
    for (guint64 k = 0; k < n; k++) {
        WendReadValue c, t;
        if (element_of(count, k, &c) && element_of(type, k, &t))
            bytes = plus(bytes, product(call, &c, &t));
    }
    return bytes;
}

static gboolean is_in_place(const WendReadCall *call, const char *buffer)
{
    WendReadValue v;
    return value_of(call, buffer, NULL, &v) && v.type == WEND_READ_CONSTANT;
}

/* The size of a buffer: counts and types have the names PREFIX + count, counts, type and types. */
static guint64 side(const WendReadCall *call, const char *prefix)
{
    WendReadValue count, type;
    g_autofree char *buffer = g_strconcat(prefix, "buf", NULL);
    g_autofree char *one = g_strconcat(prefix, "count", NULL);
    g_autofree char *many = g_strconcat(prefix, "counts", NULL);
    g_autofree char *single = g_strconcat(prefix, "type", NULL);
    g_autofree char *several = g_strconcat(prefix, "types", NULL);
    if (is_in_place(call, buffer) || !value_of(call, one, many, &count)
        || (!value_of(call, single, several, &type) && !value_of(call, "datatype", NULL, &type)))
        return 0;
    return sum(call, &count, &type);
}

/* The buffer of those that have one count and one datatype. */
static guint64 only(const WendReadCall *call)
{
    WendReadValue count, type;
    if (!value_of(call, "count", NULL, &count) || !value_of(call, "datatype", NULL, &type))
        return 0;
    return sum(call, &count, &type);
}

/* What the caller gets of MPI_Reduce_scatter: the count of its own rank. */
static guint64 own_part(const WendReadCall *call)
{
    WendReadValue self = {0}, counts, type, own;
    for (guint i = 0; i < call->function->n_parameters; i++)
        if (wend_read_parameter(call->function, i)->kind == WEND_READ_KIND_SELF)
            wend_read_input(call, i, &self);
    if (self.type != WEND_READ_NUMBER || self.number < 0
        || !value_of(call, "recvcounts", NULL, &counts) || counts.type != WEND_READ_LIST
        || wend_read_element(&counts, (guint64)self.number, &own) < 0
        || !value_of(call, "datatype", NULL, &type))
        return 0;
    return product(call, &own, &type);
}

Amounts amounts_of(const WendReadCall *call, const WendReadTransfer *transfer, OTF2_CollectiveOp op,
                   gboolean root)
{
    gint64 peers = transfer->remote_size > 0 ? transfer->remote_size : transfer->comm_size;
    guint64 n = peers > 0 ? (guint64)peers : 1;
    gboolean in_place = is_in_place(call, "sendbuf");
    guint64 data;
    switch (op) {
    case OTF2_COLLECTIVE_OP_BCAST:
        data = only(call);
        return root ? (Amounts){data, 0} : (Amounts){0, data};
    case OTF2_COLLECTIVE_OP_REDUCE:
        data = only(call);
        return (Amounts){in_place ? 0 : data, root ? data : 0};
    case OTF2_COLLECTIVE_OP_ALLREDUCE:
    case OTF2_COLLECTIVE_OP_SCAN:
    case OTF2_COLLECTIVE_OP_EXSCAN:
        data = only(call);
        return (Amounts){in_place ? 0 : data, data};
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER:
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK:
        data = side(call, "recv");
        if (op == OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK)
            return (Amounts){in_place ? 0 : times(data, n), data};
        return (Amounts){in_place ? 0 : data, own_part(call)};
    case OTF2_COLLECTIVE_OP_GATHER:
        return (Amounts){side(call, "send"), root ? times(side(call, "recv"), n) : 0};
    case OTF2_COLLECTIVE_OP_GATHERV:
        return (Amounts){side(call, "send"), root ? side(call, "recv") : 0};
    case OTF2_COLLECTIVE_OP_SCATTER:
        return (Amounts){root ? times(side(call, "send"), n) : 0, side(call, "recv")};
    case OTF2_COLLECTIVE_OP_SCATTERV:
        return (Amounts){root ? side(call, "send") : 0, side(call, "recv")};
    case OTF2_COLLECTIVE_OP_ALLGATHER:
        return (Amounts){side(call, "send"), times(side(call, "recv"), n)};
    case OTF2_COLLECTIVE_OP_ALLTOALL:
        return (Amounts){times(side(call, "send"), n), times(side(call, "recv"), n)};
    default:
        return (Amounts){side(call, "send"), side(call, "recv")};
    }
}
