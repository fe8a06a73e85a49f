/* SPDX-License-Identifier: BSD-3-Clause */
/* otf2-events.c: see otf2.h.
 *
 * A send is written when its call begins, a receive when it has completed. A request has the number
 * thread x 2^32 + number of its handle, which another request may get when it is free. */
#include "config.h"

#include "otf2.h"

#include <glib.h>
#include <otf2/otf2.h>

#include "lib/record/record.h"
#include "wend/read.h"

/* -- amounts -- */

/* The bytes that a rank sends and receives in a collective. */

typedef struct {
    guint64 sent, received;
} Amounts;

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
static guint64 bytes_of(const WendReadCall *call, const char *prefix)
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

/* The sizes of the send and receive buffers of CALL, a collective that does OP. Buffers that MPI
 * does not use on this rank, and MPI_IN_PLACE, count 0. ROOT: the caller is the root. */
static Amounts amounts_of(const WendReadCall *call, const WendReadTransfer *transfer,
                          OTF2_CollectiveOp op, gboolean root)
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
        data = bytes_of(call, "recv");
        if (op == OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK)
            return (Amounts){in_place ? 0 : times(data, n), data};
        return (Amounts){in_place ? 0 : data, own_part(call)};
    case OTF2_COLLECTIVE_OP_GATHER:
        return (Amounts){bytes_of(call, "send"), root ? times(bytes_of(call, "recv"), n) : 0};
    case OTF2_COLLECTIVE_OP_GATHERV:
        return (Amounts){bytes_of(call, "send"), root ? bytes_of(call, "recv") : 0};
    case OTF2_COLLECTIVE_OP_SCATTER:
        return (Amounts){root ? times(bytes_of(call, "send"), n) : 0, bytes_of(call, "recv")};
    case OTF2_COLLECTIVE_OP_SCATTERV:
        return (Amounts){root ? bytes_of(call, "send") : 0, bytes_of(call, "recv")};
    case OTF2_COLLECTIVE_OP_ALLGATHER:
        return (Amounts){bytes_of(call, "send"), times(bytes_of(call, "recv"), n)};
    case OTF2_COLLECTIVE_OP_ALLTOALL:
        return (Amounts){times(bytes_of(call, "send"), n), times(bytes_of(call, "recv"), n)};
    default:
        return (Amounts){bytes_of(call, "send"), bytes_of(call, "recv")};
    }
}

typedef struct {
    enum { REQUEST_MESSAGE, REQUEST_COLLECTIVE, REQUEST_FILE } kind;
    gboolean persistent, active;
    gboolean sends, receives;
    gboolean exchanges; /* MPI_Isendrecv: its transfer is that of the send */
    OTF2_CommRef comm;
    guint32 peer, tag;
    guint64 bytes; /* of a receive: the size of its buffer */
    OTF2_CollectiveOp op;
    guint32 root;
    Amounts amounts;
    OTF2_IoHandleRef file;
    guint64 operation;
} Request;

typedef struct {
    OTF2_RmaWinRef number;
    guint64 epoch; /* the number of all operations that end with the next synchronization */
    gboolean used; /* some have begun */
} Window;

struct Otf2Rank {
    Otf2Names *names;
    guint rank;
    GHashTable *requests;           /* handle -> Request; owned */
    GHashTable *windows;            /* handle -> Window; owned */
    GHashTable *windows_made;       /* communicator -> number of windows made on it */
    GHashTable *files, *operations; /* handle -> number + 1; of a split collective */
    guint64 next_operation;
};

/* One call, while it is written. */
typedef struct {
    Otf2Rank *rank;
    OTF2_EvtWriter *writer;
    guint64 location, start, end;
    const WendReadCall *call;
    const Act *act;
    WendReadTransfer transfer;
    OTF2_CommRef comm;
} Writing;

Otf2Rank *otf2_rank_new(Otf2Names *n, guint rank)
{
    Otf2Rank *r = g_new0(Otf2Rank, 1);
    r->names = n;
    r->rank = rank;
    r->requests = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    r->windows = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    r->windows_made = g_hash_table_new(NULL, NULL);
    r->files = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    r->operations = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    return r;
}

void otf2_rank_free(Otf2Rank *r)
{
    if (!r)
        return;
    g_hash_table_destroy(r->requests);
    g_hash_table_destroy(r->windows);
    g_hash_table_destroy(r->windows_made);
    g_hash_table_destroy(r->files);
    g_hash_table_destroy(r->operations);
    g_free(r);
}

static OTF2_ErrorCode counted(const Writing *w, guint64 time, OTF2_ErrorCode code)
{
    if (code == OTF2_SUCCESS)
        otf2_names_count(w->rank->names, w->location, time);
    return code;
}

/* -- handles -- */

static gint64 key_of(const WendReadHandle *h)
{
    return (gint64)((guint64)h->thread << 32 | h->number);
}

/* The key of the object that parameter I names, in or out. FALSE: it names none. */
static gboolean named(const WendReadCall *call, guint i, gint64 *key)
{
    WendReadValue v;
    if (i == WEND_READ_NO_INDEX || wend_read_input(call, i, &v) < 0 || v.type != WEND_READ_HANDLE)
        return FALSE;
    *key = key_of(&v.handle);
    return TRUE;
}

static gint64 *new_key(gint64 key)
{
    return g_memdup2(&key, sizeof key);
}

static void keep_request(Writing *w, const Request *request)
{
    gint64 key;
    if (named(w->call, w->act->request, &key))
        g_hash_table_insert(w->rank->requests, new_key(key), g_memdup2(request, sizeof *request));
}

/* -- messages -- */

static guint64 number_or(gint64 n, guint64 other)
{
    return n >= 0 ? (guint64)n : other;
}

/* The number that was passed for parameter I; OTHER if it is a constant or unknown. */
static guint32 passed(const WendReadCall *call, guint i, guint32 other)
{
    WendReadValue v;
    if (i == WEND_READ_NO_INDEX || wend_read_input(call, i, &v) < 0 || v.type != WEND_READ_NUMBER)
        return other;
    return (guint32)v.number;
}

/* To MPI_PROC_NULL nothing is sent. */
static gboolean is_nobody(const WendReadCall *call, const char *parameter)
{
    WendReadValue v;
    guint i = wend_read_parameter_named(call->function, parameter);
    return i != WEND_READ_NO_INDEX && wend_read_input(call, i, &v) == WEND_READ_OK
           && v.type == WEND_READ_CONSTANT && g_str_equal(v.constant, "MPI_PROC_NULL");
}

static OTF2_ErrorCode write_send(Writing *w, guint32 peer, OTF2_CommRef comm, guint32 tag,
                                 guint64 bytes)
{
    return counted(w, w->start,
                   OTF2_EvtWriter_MpiSend(w->writer, NULL, w->start, peer, comm, tag, bytes));
}

static OTF2_ErrorCode write_posted(Writing *w, const Request *q, gint64 key)
{
    if (q->sends && !q->receives)
        return counted(w, w->start,
                       OTF2_EvtWriter_MpiIsend(w->writer, NULL, w->start, q->peer, q->comm, q->tag,
                                               q->bytes, (guint64)key));
    return counted(w, w->start,
                   OTF2_EvtWriter_MpiIrecvRequest(w->writer, NULL, w->start, (guint64)key));
}

/* A request that sends, receives or both is posted. */
static OTF2_ErrorCode post_message(Writing *w)
{
    const Act *a = w->act;
    gboolean both = a->sends && a->receives;
    gint64 key;
    Request q = {.kind = REQUEST_MESSAGE,
                 .persistent = a->persistent,
                 .active = !a->persistent,
                 .sends = a->sends,
                 .receives = a->receives,
                 .exchanges = both,
                 .comm = w->comm,
                 .peer = (guint32)number_or(w->transfer.peer, OTF2_UNDEFINED_UINT32),
                 .tag = passed(w->call, a->tag, OTF2_UNDEFINED_UINT32),
                 .bytes = number_or(w->transfer.bytes, 0)};
    if (!named(w->call, a->request, &key))
        return OTF2_SUCCESS;
    if (is_nobody(w->call, a->sends ? "dest" : "source") && !both)
        return OTF2_SUCCESS; /* completes as if nothing had been */
    if (both) {
        if (!is_nobody(w->call, "dest"))
            OTF2_TRY(write_send(w, q.peer, q.comm, q.tag, q.bytes));
        q.sends = FALSE;
        q.peer = passed(w->call, wend_read_parameter_named(w->call->function, "source"),
                        OTF2_UNDEFINED_UINT32);
        q.tag = passed(w->call, wend_read_parameter_named(w->call->function, "recvtag"),
                       OTF2_UNDEFINED_UINT32);
        if (is_nobody(w->call, "source"))
            return OTF2_SUCCESS;
    }
    keep_request(w, &q);
    return q.active ? write_posted(w, &q, key) : OTF2_SUCCESS;
}

/* The status of parameter I, or of element K of that list. FALSE: the caller ignored it. */
static gboolean status_of(const WendReadCall *call, guint i, gint64 k, WendReadStatus *status)
{
    WendReadValue v, element;
    if (i == WEND_READ_NO_INDEX || wend_read_output(call, i, &v) < 0)
        return FALSE;
    if (v.type == WEND_READ_LIST && k >= 0) {
        if ((guint64)k >= v.length || wend_read_element(&v, (guint64)k, &element) < 0)
            return FALSE;
        v = element;
    }
    if (v.type != WEND_READ_STATUS)
        return FALSE;
    *status = v.status;
    return TRUE;
}

/* A blocking receive, or a send and a receive. */
static OTF2_ErrorCode receive_message(Writing *w)
{
    const Act *a = w->act;
    WendReadStatus s;
    if (!a->receives || is_nobody(w->call, "source"))
        return OTF2_SUCCESS;
    gboolean told = status_of(w->call, a->status, -1, &s) && !s.source_name && s.source >= 0;
    guint from = wend_read_parameter_named(w->call->function, "source");
    guint tag = wend_read_parameter_named(w->call->function, a->sends ? "recvtag" : "tag");
    guint32 sender = told       ? (guint32)s.source
                     : a->sends ? passed(w->call, from, OTF2_UNDEFINED_UINT32)
                                : (guint32)number_or(w->transfer.peer, OTF2_UNDEFINED_UINT32);
    guint32 label =
        told && !s.tag_name ? (guint32)s.tag : passed(w->call, tag, OTF2_UNDEFINED_UINT32);
    guint64 bytes = told ? number_or(s.bytes, 0) : number_or(w->transfer.bytes, 0);
    return counted(w, w->end,
                   OTF2_EvtWriter_MpiRecv(w->writer, NULL, w->end, sender, w->comm, label, bytes));
}

static OTF2_ErrorCode begin_message(Writing *w)
{
    if (w->act->request != WEND_READ_NO_INDEX)
        return post_message(w);
    if (!w->act->sends || is_nobody(w->call, "dest"))
        return OTF2_SUCCESS;
    return write_send(w, (guint32)number_or(w->transfer.peer, OTF2_UNDEFINED_UINT32), w->comm,
                      passed(w->call, w->act->tag, OTF2_UNDEFINED_UINT32),
                      number_or(w->transfer.bytes, 0));
}

/* -- requests -- */

typedef OTF2_ErrorCode (*EachRequest)(Writing *w, gint64 key, Request *request);

/* Calls EACH for the requests in parameter I, a handle or a list of them, of which RANK knows. */
static OTF2_ErrorCode each_request(Writing *w, guint i, EachRequest each)
{
    WendReadValue v, element;
    if (i == WEND_READ_NO_INDEX || wend_read_input(w->call, i, &v) < 0)
        return OTF2_SUCCESS;
    guint64 n = v.type == WEND_READ_LIST ? v.length : 1;
    for (guint64 k = 0; k < n; k++) {
        element = v;
        if (v.type == WEND_READ_LIST && wend_read_element(&v, k, &element) < 0)
            continue;
        if (element.type != WEND_READ_HANDLE)
            continue;
        gint64 key = key_of(&element.handle);
        Request *q = g_hash_table_lookup(w->rank->requests, &key);
        if (q != NULL)
            OTF2_TRY(each(w, key, q));
    }
    return OTF2_SUCCESS;
}

static OTF2_ErrorCode start_one(Writing *w, gint64 key, Request *q)
{
    q->active = TRUE;
    if (q->kind == REQUEST_COLLECTIVE)
        return counted(
            w, w->start,
            OTF2_EvtWriter_NonBlockingCollectiveRequest(w->writer, NULL, w->start, (guint64)key));
    return q->kind == REQUEST_MESSAGE ? write_posted(w, q, key) : OTF2_SUCCESS;
}

static OTF2_ErrorCode test_one(Writing *w, gint64 key, Request *q)
{
    if (q->kind != REQUEST_MESSAGE || !q->active)
        return OTF2_SUCCESS;
    return counted(w, w->end, OTF2_EvtWriter_MpiRequestTest(w->writer, NULL, w->end, (guint64)key));
}

static OTF2_ErrorCode free_one(Writing *w, gint64 key, Request *q)
{
    (void)q;
    g_hash_table_remove(w->rank->requests, &key);
    return OTF2_SUCCESS;
}

static OTF2_ErrorCode complete_message(Writing *w, gint64 key, const Request *q,
                                       const WendReadStatus *s, guint index)
{
    guint64 id = (guint64)key;
    WendReadTransfer t;
    if (s != NULL && s->cancelled)
        return counted(w, w->end, OTF2_EvtWriter_MpiRequestCancelled(w->writer, NULL, w->end, id));
    if (q->sends)
        return counted(w, w->end, OTF2_EvtWriter_MpiIsendComplete(w->writer, NULL, w->end, id));
    guint32 sender = q->peer, tag = q->tag;
    guint64 bytes = q->bytes;
    if (!q->exchanges && wend_read_completed_transfer(w->call, index, &t) == WEND_READ_OK
        && t.peer >= 0)
        sender = (guint32)t.peer;
    if (s != NULL && !s->source_name && s->source >= 0) {
        sender = (guint32)s->source;
        tag = !s->tag_name ? (guint32)s->tag : tag;
        bytes = number_or(s->bytes, bytes);
    }
    return counted(
        w, w->end,
        OTF2_EvtWriter_MpiIrecv(w->writer, NULL, w->end, sender, q->comm, tag, bytes, id));
}

static OTF2_ErrorCode complete_one(Writing *w, gint64 key, Request *q, const WendReadStatus *s,
                                   guint index)
{
    if (!q->active)
        return OTF2_SUCCESS;
    if (q->kind == REQUEST_MESSAGE)
        OTF2_TRY(complete_message(w, key, q, s, index));
    else if (q->kind == REQUEST_COLLECTIVE)
        OTF2_TRY(counted(w, w->end,
                         OTF2_EvtWriter_NonBlockingCollectiveComplete(
                             w->writer, NULL, w->end, q->op, q->comm, q->root, q->amounts.sent,
                             q->amounts.received, (guint64)key)));
    else
        OTF2_TRY(counted(w, w->end,
                         OTF2_EvtWriter_IoOperationComplete(
                             w->writer, NULL, w->end, q->file,
                             s != NULL ? number_or(s->bytes, q->bytes) : q->bytes, q->operation)));
    q->active = FALSE;
    if (!q->persistent)
        g_hash_table_remove(w->rank->requests, &key);
    return OTF2_SUCCESS;
}

/* The place of the request KEY in array_of_requests, from *FROM on; -1 if it is not there. */
static gint64 place_of(const WendReadValue *list, gint64 key, guint64 *from)
{
    WendReadValue v;
    for (; *from < list->length; ++*from)
        if (wend_read_element(list, *from, &v) == WEND_READ_OK && v.type == WEND_READ_HANDLE
            && key_of(&v.handle) == key)
            return (gint64)(*from)++;
    return -1;
}

static OTF2_ErrorCode complete(Writing *w)
{
    const Act *a = w->act;
    WendReadValue done, list = {0}, v;
    guint64 from = 0;
    if (wend_read_completed(w->call, &done) < 0 || done.type != WEND_READ_LIST)
        return OTF2_SUCCESS;
    /* The statuses of MPI_Waitsome are of the requests that completed, others of all. */
    gboolean all = a->requests != WEND_READ_NO_INDEX && a->indices == WEND_READ_NO_INDEX
                   && wend_read_input(w->call, a->requests, &list) == WEND_READ_OK
                   && list.type == WEND_READ_LIST;
    for (guint64 i = 0; i < done.length; i++) {
        WendReadStatus s;
        if (wend_read_element(&done, i, &v) < 0 || v.type != WEND_READ_HANDLE)
            continue;
        gint64 key = key_of(&v.handle);
        gint64 place = all ? place_of(&list, key, &from) : (gint64)i;
        Request *q = g_hash_table_lookup(w->rank->requests, &key);
        if (!q)
            continue;
        gboolean told = a->statuses != WEND_READ_NO_INDEX
                            ? place >= 0 && status_of(w->call, a->statuses, place, &s)
                            : status_of(w->call, a->status, -1, &s);
        OTF2_TRY(complete_one(w, key, q, told ? &s : NULL, (guint)i));
    }
    return OTF2_SUCCESS;
}

/* -- collectives -- */

static guint32 root_of(const Writing *w)
{
    WendReadValue v;
    guint i = wend_read_parameter_named(w->call->function, "root");
    if (i == WEND_READ_NO_INDEX || wend_read_input(w->call, i, &v) < 0)
        return OTF2_COLLECTIVE_ROOT_NONE;
    if (v.type == WEND_READ_CONSTANT)
        return g_str_equal(v.constant, "MPI_ROOT") ? OTF2_COLLECTIVE_ROOT_SELF
                                                   : OTF2_COLLECTIVE_ROOT_THIS_GROUP;
    return v.type == WEND_READ_NUMBER ? (guint32)v.number : OTF2_COLLECTIVE_ROOT_NONE;
}

static gboolean is_root(const Writing *w, guint32 root)
{
    WendReadValue v;
    if (root == OTF2_COLLECTIVE_ROOT_SELF)
        return TRUE;
    return w->act->self != WEND_READ_NO_INDEX
           && wend_read_input(w->call, w->act->self, &v) == WEND_READ_OK
           && v.type == WEND_READ_NUMBER && (guint32)v.number == root;
}

static OTF2_ErrorCode begin_collective(Writing *w)
{
    gint64 key;
    Request q = {.kind = REQUEST_COLLECTIVE,
                 .persistent = w->act->persistent,
                 .active = !w->act->persistent,
                 .comm = w->comm,
                 .op = w->act->op,
                 .root = root_of(w)};
    if (w->act->request == WEND_READ_NO_INDEX)
        return counted(w, w->start, OTF2_EvtWriter_MpiCollectiveBegin(w->writer, NULL, w->start));
    if (!named(w->call, w->act->request, &key))
        return OTF2_SUCCESS;
    q.amounts = amounts_of(w->call, &w->transfer, q.op, is_root(w, q.root));
    keep_request(w, &q);
    return q.active ? start_one(w, key, &q) : OTF2_SUCCESS;
}

static OTF2_ErrorCode end_collective(Writing *w)
{
    guint32 root = root_of(w);
    if (w->act->request != WEND_READ_NO_INDEX)
        return OTF2_SUCCESS;
    Amounts m = amounts_of(w->call, &w->transfer, w->act->op, is_root(w, root));
    return counted(w, w->end,
                   OTF2_EvtWriter_MpiCollectiveEnd(w->writer, NULL, w->end, w->act->op, w->comm,
                                                   root, m.sent, m.received));
}

/* -- one-sided operations -- */

static Window *window_of(const Writing *w, gint64 *key)
{
    guint i = wend_read_parameter_named(w->call->function, "win");
    return named(w->call, i, key) ? g_hash_table_lookup(w->rank->windows, key) : NULL;
}

static OTF2_ErrorCode make_window(Writing *w)
{
    gint64 key;
    guint i = wend_read_parameter_named(w->call->function, "win");
    if (!named(w->call, i, &key) || w->comm == OTF2_UNDEFINED_COMM)
        return OTF2_SUCCESS;
    gpointer comm = GUINT_TO_POINTER(w->comm);
    guint k = GPOINTER_TO_UINT(g_hash_table_lookup(w->rank->windows_made, comm));
    g_hash_table_insert(w->rank->windows_made, comm, GUINT_TO_POINTER(k + 1));
    Window *made = g_new0(Window, 1);
    made->number = otf2_names_window(w->rank->names, w->comm, k);
    made->epoch = w->rank->next_operation++;
    g_hash_table_insert(w->rank->windows, new_key(key), made);
    return counted(w, w->end, OTF2_EvtWriter_RmaWinCreate(w->writer, NULL, w->end, made->number));
}

/* What was begun on the window is complete. */
static OTF2_ErrorCode end_epoch(Writing *w, Window *window)
{
    if (!window->used)
        return OTF2_SUCCESS;
    window->used = FALSE;
    guint64 id = window->epoch;
    window->epoch = w->rank->next_operation++;
    return counted(
        w, w->end,
        OTF2_EvtWriter_RmaOpCompleteBlocking(w->writer, NULL, w->end, window->number, id));
}

static OTF2_ErrorCode transfer_one_sided(Writing *w, Window *window)
{
    guint32 peer = (guint32)number_or(w->transfer.peer, OTF2_UNDEFINED_UINT32);
    guint64 bytes = number_or(w->transfer.bytes, 0);
    gboolean fetches = w->act->atomic != OTF2_RMA_ATOMIC_TYPE_ACCUMULATE;
    if (is_nobody(w->call, "target_rank"))
        return OTF2_SUCCESS;
    window->used = TRUE;
    OTF2_ErrorCode code =
        w->act->kind == ACT_PUT ? OTF2_EvtWriter_RmaPut(w->writer, NULL, w->start, window->number,
                                                        peer, bytes, window->epoch)
        : w->act->kind == ACT_GET
            ? OTF2_EvtWriter_RmaGet(w->writer, NULL, w->start, window->number, peer, bytes,
                                    window->epoch)
            : OTF2_EvtWriter_RmaAtomic(w->writer, NULL, w->start, window->number, peer,
                                       w->act->atomic, bytes, fetches ? bytes : 0, window->epoch);
    return counted(w, w->start, code);
}

static OTF2_ErrorCode begin_window(Writing *w)
{
    gint64 key;
    Window *window = window_of(w, &key);
    if (!window)
        return OTF2_SUCCESS;
    if (w->act->kind == ACT_WIN_FENCE)
        return counted(w, w->start, OTF2_EvtWriter_RmaCollectiveBegin(w->writer, NULL, w->start));
    if (w->act->kind == ACT_PUT || w->act->kind == ACT_GET || w->act->kind == ACT_ATOMIC)
        return transfer_one_sided(w, window);
    return OTF2_SUCCESS;
}

static OTF2_ErrorCode end_window(Writing *w)
{
    gint64 key;
    if (w->act->kind == ACT_WIN_MAKE)
        return make_window(w);
    Window *window = window_of(w, &key);
    if (!window)
        return OTF2_SUCCESS;
    if (w->act->kind == ACT_WIN_FENCE || w->act->kind == ACT_WIN_SYNC
        || w->act->kind == ACT_WIN_FREE)
        OTF2_TRY(end_epoch(w, window));
    if (w->act->kind == ACT_WIN_FENCE)
        return counted(w, w->end,
                       OTF2_EvtWriter_RmaCollectiveEnd(
                           w->writer, NULL, w->end, OTF2_COLLECTIVE_OP_BARRIER,
                           OTF2_RMA_SYNC_LEVEL_PROCESS | OTF2_RMA_SYNC_LEVEL_MEMORY, window->number,
                           OTF2_COLLECTIVE_ROOT_NONE, 0, 0));
    if (w->act->kind != ACT_WIN_FREE)
        return OTF2_SUCCESS;
    OTF2_RmaWinRef number = window->number;
    g_hash_table_remove(w->rank->windows, &key);
    return counted(w, w->end, OTF2_EvtWriter_RmaWinDestroy(w->writer, NULL, w->end, number));
}

/* -- files -- */

static gboolean file_of(const Writing *w, gint64 *key, OTF2_IoHandleRef *file)
{
    guint i = wend_read_parameter_named(w->call->function, "fh");
    if (!named(w->call, i, key))
        return FALSE;
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(w->rank->files, key));
    *file = number - 1;
    return number > 0;
}

static OTF2_ErrorCode open_file(Writing *w)
{
    gint64 key;
    WendReadValue name;
    const WendReadFunction *f = w->call->function;
    if (!named(w->call, wend_read_parameter_named(f, "fh"), &key)
        || wend_read_input(w->call, wend_read_parameter_named(f, "filename"), &name) < 0
        || name.type != WEND_READ_STRING)
        return OTF2_SUCCESS;
    OTF2_IoHandleRef file = otf2_names_file(w->rank->names, w->comm, name.string.bytes);
    g_hash_table_insert(w->rank->files, new_key(key), GUINT_TO_POINTER(file + 1));
    return counted(
        w, w->end,
        OTF2_EvtWriter_IoCreateHandle(w->writer, NULL, w->end, file, OTF2_IO_ACCESS_MODE_READ_WRITE,
                                      OTF2_IO_CREATION_FLAG_NONE, OTF2_IO_STATUS_FLAG_NONE));
}

static OTF2_ErrorCode begin_file(Writing *w)
{
    gint64 key;
    OTF2_IoHandleRef file;
    const Act *a = w->act;
    gboolean moves = a->kind == ACT_FILE_READ || a->kind == ACT_FILE_WRITE;
    if (!moves || a->ends || !file_of(w, &key, &file))
        return OTF2_SUCCESS;
    guint64 id = w->rank->next_operation++, bytes = number_or(w->transfer.bytes, 0);
    OTF2_IoOperationFlag flags =
        a->collective ? OTF2_IO_OPERATION_FLAG_COLLECTIVE : OTF2_IO_OPERATION_FLAG_NONE;
    if (a->request != WEND_READ_NO_INDEX || a->begins)
        flags |= OTF2_IO_OPERATION_FLAG_NON_BLOCKING;
    Request q = {
        .kind = REQUEST_FILE, .active = TRUE, .bytes = bytes, .file = file, .operation = id};
    if (a->request != WEND_READ_NO_INDEX)
        keep_request(w, &q);
    else /* until the call returns, or the other half of a split collective does */
        g_hash_table_insert(w->rank->operations, new_key(key), g_memdup2(&q, sizeof q));
    return counted(w, w->start,
                   OTF2_EvtWriter_IoOperationBegin(w->writer, NULL, w->start, file,
                                                   a->kind == ACT_FILE_READ
                                                       ? OTF2_IO_OPERATION_MODE_READ
                                                       : OTF2_IO_OPERATION_MODE_WRITE,
                                                   flags, bytes, id));
}

static OTF2_ErrorCode end_file(Writing *w)
{
    gint64 key;
    OTF2_IoHandleRef file;
    WendReadStatus s;
    const Act *a = w->act;
    if (a->kind == ACT_FILE_OPEN)
        return open_file(w);
    if (!file_of(w, &key, &file))
        return OTF2_SUCCESS;
    if (a->kind == ACT_FILE_CLOSE) {
        g_hash_table_remove(w->rank->files, &key);
        return counted(w, w->end, OTF2_EvtWriter_IoDestroyHandle(w->writer, NULL, w->end, file));
    }
    if (a->kind == ACT_FILE_SEEK || a->begins || a->request != WEND_READ_NO_INDEX)
        return OTF2_SUCCESS;
    const Request *q = g_hash_table_lookup(w->rank->operations, &key);
    if (!q)
        return OTF2_SUCCESS;
    guint64 bytes = status_of(w->call, a->status, -1, &s) ? number_or(s.bytes, q->bytes) : q->bytes;
    OTF2_ErrorCode code = counted(
        w, w->end,
        OTF2_EvtWriter_IoOperationComplete(w->writer, NULL, w->end, q->file, bytes, q->operation));
    g_hash_table_remove(w->rank->operations, &key);
    return code;
}

/* -- a call -- */

static void note_name(Writing *w)
{
    WendReadValue v;
    guint i = wend_read_parameter_named(w->call->function, "comm_name");
    if (w->call->function->index == WEND_FN_MPI_Comm_set_name && i != WEND_READ_NO_INDEX
        && wend_read_input(w->call, i, &v) == WEND_READ_OK && v.type == WEND_READ_STRING)
        otf2_names_name_comm(w->rank->names, w->rank->rank, w->transfer.communicator,
                             v.string.bytes);
}

static OTF2_ErrorCode begin(Writing *w)
{
    switch (w->act->kind) {
    case ACT_MESSAGE:
        return begin_message(w);
    case ACT_START:
        return each_request(
            w, w->act->request != WEND_READ_NO_INDEX ? w->act->request : w->act->requests,
            start_one);
    case ACT_FREE:
        return each_request(w, w->act->request, free_one);
    case ACT_COLLECTIVE:
        return begin_collective(w);
    case ACT_WIN_FENCE:
    case ACT_PUT:
    case ACT_GET:
    case ACT_ATOMIC:
        return begin_window(w);
    case ACT_FILE_READ:
    case ACT_FILE_WRITE:
        return begin_file(w);
    default:
        note_name(w);
        return OTF2_SUCCESS;
    }
}

static OTF2_ErrorCode end(Writing *w)
{
    if ((w->call->function->flags & WEND_READ_COMPLETES) != 0)
        return w->call->poll ? each_request(
                   w, w->act->request != WEND_READ_NO_INDEX ? w->act->request : w->act->requests,
                   test_one)
                             : complete(w);
    switch (w->act->kind) {
    case ACT_MESSAGE:
        return w->act->request == WEND_READ_NO_INDEX ? receive_message(w) : OTF2_SUCCESS;
    case ACT_COLLECTIVE:
        return end_collective(w);
    case ACT_WIN_MAKE:
    case ACT_WIN_FREE:
    case ACT_WIN_SYNC:
    case ACT_WIN_FENCE:
        return end_window(w);
    case ACT_FILE_OPEN:
    case ACT_FILE_CLOSE:
    case ACT_FILE_READ:
    case ACT_FILE_WRITE:
        return end_file(w);
    default:
        return OTF2_SUCCESS;
    }
}

OTF2_ErrorCode otf2_rank_write_call(Otf2Rank *r, OTF2_EvtWriter *writer, guint64 location,
                                    const TimedCall *timed)
{
    Writing w = {.rank = r,
                 .writer = writer,
                 .location = location,
                 .start = timed->start,
                 .end = timed->end,
                 .call = timed->call};
    OTF2_RegionRef region = otf2_names_region(r->names, w.call, &w.act);
    if (wend_read_transfer(w.call, &w.transfer) < 0)
        return OTF2_ERROR_INVALID_DATA;
    w.comm = otf2_names_comm(r->names, r->rank, w.transfer.communicator);
    OTF2_TRY(counted(&w, w.start, OTF2_EvtWriter_Enter(writer, NULL, w.start, region)));
    /* A call that failed did nothing. One that did not return may have sent its message. */
    if (!w.call->failed || (w.call->unfinished && w.act->kind == ACT_MESSAGE))
        OTF2_TRY(begin(&w));
    if (!w.call->failed)
        OTF2_TRY(end(&w));
    return counted(&w, w.end, OTF2_EvtWriter_Leave(writer, NULL, w.end, region));
}
