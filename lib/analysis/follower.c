/* SPDX-License-Identifier: BSD-3-Clause */
/* follower.c: see follower.h. */
#include "config.h"

#include "follower.h"

#include <string.h>

typedef enum { NOTE_REQUEST, NOTE_MESSAGE, NOTE_WINDOW, NOTE_FILE, NOTES } NoteKind;

static const WendKind note_kinds[NOTES] = {WEND_KIND_REQUEST, WEND_KIND_MESSAGE, WEND_KIND_WIN,
                                           WEND_KIND_FILE};

struct Follower {
    const WendProgram *program;
    const WendMembers *members;
    guint rank;
    WendDecoder *decoder;     /* for requests of other threads; NULL until needed */
    GHashTable *notes[NOTES]; /* handle word -> Transfer */
    TransferSizes sizes;
    const WendWalk *walk; /* the current walk and its last call */
    const WendCall *call;
    Transfer own;       /* the transfer of that call */
    gboolean own_known; /* whether OWN is set */
};

/* -- sizes at the current call -- */

static guint64 type_size(gpointer data, gint64 type)
{
    Follower *f = data;
    gint64 bytes = walk_datatype_size(f->walk, type);
    return bytes >= 0 ? (guint64)bytes : TRANSFER_UNSIZED;
}

static guint comm_of_word(const Follower *f, gint64 word)
{
    return members_of_walk(f->members, f->walk, f->rank, word);
}

static guint64 comm_size(gpointer data, gint64 comm)
{
    Follower *f = data;
    gint64 n = members_size(f->members, comm_of_word(f, comm), f->rank);
    return n >= 0 ? (guint64)n : TRANSFER_UNSIZED;
}

static guint64 comm_neighbours(gpointer data, gint64 comm)
{
    Follower *f = data;
    gint64 n = members_out_neighbours(f->members, comm_of_word(f, comm), f->rank);
    return n >= 0 ? (guint64)n : TRANSFER_UNSIZED;
}

/* -- begin and end -- */

Follower *follower_new(const WendProgram *p, const WendMembers *m, guint rank)
{
    Follower *f = g_new0(Follower, 1);
    f->program = p;
    f->members = m;
    f->rank = rank;
    f->sizes = (TransferSizes){f, type_size, comm_size, comm_neighbours};
    for (guint i = 0; i < NOTES; i++)
        f->notes[i] = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, g_free);
    return f;
}

void follower_free(Follower *f)
{
    if (!f)
        return;
    for (guint i = 0; i < NOTES; i++)
        g_hash_table_unref(f->notes[i]);
    decoder_free(f->decoder);
    g_free(f);
}

/* -- one call -- */

static void set_peer(const WendMembers *m, guint rank, Transfer *t, gint64 peer)
{
    t->peer = peer;
    t->process = peer;
    if (peer < 0)
        return;
    gint64 process = t->comm == WEND_COMM_UNKNOWN ? -1 : members_process(m, t->comm, rank, peer);
    t->process = process >= 0 ? process : WEND_UNKNOWN;
}

void follower_place(const WendMembers *m, guint rank, const WendCall *call, guint comm, Transfer *t)
{
    gint64 peer = transfer_peer(call);
    if (word_is_const(peer)) /* no process, except MPI_ANY_SOURCE */
        peer = transfer_is_constant(peer, "MPI_ANY_SOURCE") ? WEND_UNKNOWN : WEND_ABSENT;
    t->comm = comm;
    set_peer(m, rank, t, peer);
    t->counts = transfer_kind(call, &t->kind);
    t->inward = call->function->operation == WEND_FN_MPI_Get;
}

static const Transfer *note_of(const Follower *f, NoteKind kind, gint64 word)
{
    return g_hash_table_lookup(f->notes[kind], &word);
}

/* The communicator of a call: its argument, or that of its message, window or file. */
static guint comm_of_call(const Follower *f, const WendCall *call)
{
    gint64 word = transfer_object(call, WEND_KIND_COMM);
    if (word != WEND_ABSENT)
        return comm_of_word(f, word);
    for (guint i = NOTE_MESSAGE; i < NOTES; i++) {
        const Transfer *note = note_of(f, i, transfer_object(call, note_kinds[i]));
        if (note != NULL)
            return note->comm;
    }
    return WEND_COMM_UNKNOWN;
}

static const gint64 *first_status(const WendCall *call)
{
    const WendArg *status = call_arg_of_kind(call, WEND_KIND_STATUS);
    gboolean one = status != NULL && !status->param->array && status->param->dir == WEND_DIR_OUT;
    return one && status->n_out == 1 && status->out != NULL ? status->out : NULL;
}

/* The transfer of a call by its own arguments, without the requests that it is given. */
static void own_transfer(Follower *f, const WendCall *call, Transfer *t)
{
    *t = (Transfer){.comm = WEND_COMM_UNKNOWN, .peer = WEND_ABSENT, .process = WEND_ABSENT};
    follower_place(f->members, f->rank, call, comm_of_call(f, call), t);
    if (!call->failed)
        t->sized = transfer_bytes(&f->sizes, call, &t->bytes);
    const gint64 *status = first_status(call);
    if ((call->function->flags & WEND_F_RECV) == 0 || (call->function->flags & WEND_F_SEND) != 0)
        return; /* it has no source, or its peer is the destination */
    const Transfer *message = note_of(f, NOTE_MESSAGE, transfer_object(call, WEND_KIND_MESSAGE));
    if (message != NULL)
        set_peer(f->members, f->rank, t, message->peer);
    else if (t->peer == WEND_UNKNOWN && status != NULL && status[0] >= 0 && !call->poll)
        set_peer(f->members, f->rank, t, status[0]);
}

/* The transfer of the last call, determined once. */
static const Transfer *own_of_call(Follower *f)
{
    if (!f->own_known)
        own_transfer(f, f->call, &f->own);
    f->own_known = TRUE;
    return &f->own;
}

/* -- requests -- */

static const WendArg *requests_of(const WendCall *call)
{
    return call_arg_of_kind(call, WEND_KIND_REQUEST);
}

/* The transfer of a request. FALSE: it is unknown. If another thread of the rank made the request,
 * the terminal that made it determines the transfer. */
static gboolean request_transfer(Follower *f, gint64 word, Transfer *t)
{
    const Transfer *note = note_of(f, NOTE_REQUEST, word);
    WendRequestState state;
    if (note != NULL) {
        *t = *note;
        return TRUE;
    }
    if (!word_is_handle(word) || !walk_request(f->walk, word, &state)
        || state.terminal >= program_n_terminals(f->program))
        return FALSE; /* no request, or the call that made it was not recorded */
    if (!f->decoder)
        f->decoder = decoder_new(f->program);
    own_transfer(f, decoder_call(f->decoder, state.terminal, f->rank), t);
    return TRUE;
}

static gboolean starts(const WendCall *call)
{
    return call->function->operation == WEND_FN_MPI_Start && requests_of(call) != NULL;
}

static void transfer_of_starts(Follower *f, const WendCall *call, Transfer *t)
{
    const WendArg *requests = requests_of(call);
    *t = (Transfer){.comm = WEND_COMM_UNKNOWN, .peer = WEND_ABSENT, .process = WEND_ABSENT};
    guint64 bytes = 0;
    for (gint64 i = 0; i < requests->n_in; i++) {
        Transfer one;
        if (!request_transfer(f, requests->in[i], &one) || !one.sized)
            one = (Transfer){.bytes = TRANSFER_UNSIZED};
        else if (requests->n_in == 1)
            *t = one;
        bytes = transfer_plus(bytes, one.bytes);
    }
    t->sized = requests->n_in > 0;
    t->bytes = bytes;
}

gboolean follower_completed(Follower *f, guint i, Transfer *t)
{
    guint n;
    const gint64 *completed = walk_completed(f->walk, &n);
    if (i >= n || !request_transfer(f, completed[i], t))
        return FALSE;
    const gint64 *status = call_status_of(f->call, completed, i);
    if (t->peer == WEND_UNKNOWN && status != NULL && status[0] >= 0)
        set_peer(f->members, f->rank, t, status[0]);
    t->sized = FALSE; /* its bytes count where it was posted or started */
    t->counts = FALSE;
    return TRUE;
}

/* The transfer of a call that completes exactly one request: that of the request. Else T is
 * unchanged. */
static void transfer_of_completion(Follower *f, Transfer *t)
{
    guint n;
    Transfer one;
    walk_completed(f->walk, &n);
    if (n == 1 && follower_completed(f, 0, &one))
        *t = one;
}

void follower_transfer(Follower *f, Transfer *t)
{
    const WendCall *call = f->call;
    if (!call->failed && starts(call)) {
        transfer_of_starts(f, call, t);
        return;
    }
    *t = *own_of_call(f);
    if ((call->function->flags & WEND_F_PERSISTENT) != 0 || call->poll)
        t->counts = FALSE;
    if (!call->failed && !call->poll && (call->function->flags & WEND_F_COMPLETES) != 0)
        transfer_of_completion(f, t);
}

void follower_each(Follower *f, FollowerVisit visit, gpointer data)
{
    const WendCall *call = f->call;
    Transfer t;
    if (call->failed || call->poll)
        return;
    if (!starts(call)) {
        follower_transfer(f, &t);
        if (t.counts)
            visit(data, &t);
        return;
    }
    for (gint64 i = 0; i < requests_of(call)->n_in; i++)
        if (request_transfer(f, requests_of(call)->in[i], &t) && t.counts)
            visit(data, &t);
}

/* -- what calls make -- */

static void put_note(Follower *f, NoteKind kind, gint64 word, const Transfer *t)
{
    Transfer *known = word_is_handle(word) ? g_hash_table_lookup(f->notes[kind], &word) : NULL;
    if (known != NULL)
        *known = *t;
    else if (word_is_handle(word))
        g_hash_table_insert(f->notes[kind], g_memdup2(&word, sizeof word), g_memdup2(t, sizeof *t));
}

static gboolean makes(const WendArg *arg, WendKind kind)
{
    return arg->param->kind == kind && arg->param->dir == WEND_DIR_OUT && arg->n_out > 0
           && arg->out != NULL;
}

void follower_next(Follower *f, const WendWalk *walk, const WendCall *call)
{
    f->walk = walk;
    f->call = call;
    f->own_known = FALSE;
    if (call->failed || call->poll)
        return;
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        for (guint k = 0; k < NOTES; k++) {
            if (!makes(arg, note_kinds[k]))
                continue;
            for (gint64 e = 0; e < arg->n_out; e++)
                put_note(f, k, arg->out[e], own_of_call(f));
        }
    }
}
