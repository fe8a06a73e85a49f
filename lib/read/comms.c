/* SPDX-License-Identifier: BSD-3-Clause */
/* comms.c: one number for a communicator, whichever member asks.
 *
 * A communicator's identity is what its members agree on without a message (docs/recording.md,
 * "Communicators"). Identities are numbered in the order of ranks, sequences and calls. Only rules
 * that contain a creating call are entered, so the cost follows the creations. */
#include "program-private.h"

#include <string.h>

#include "base/buf.h"

/* A file that lies can claim any number of creations. Beyond this many, over all ranks,
 * communicators are unknown. */
enum { CREATIONS_MAX = 1 << 24 };

struct CommNumbers {
    GPtrArray *by_rank; /* GPtrArray of GArray of WendCommMade, by sequence */
    guint n;            /* numbers given */
};

typedef struct {
    WendProgram *p;
    guint8 *rule_creates, *terminal_creates;
    GHashTable *numbers; /* identity -> number */
    WendDecoder *decoder;
    guint rank, world;
    GHashTable *here;   /* this rank: handle -> number */
    GHashTable *counts; /* this rank: what n counts -> how many so far */
    guint creations;
} Numbering;

int wend_function_comm_made(const WendFunction *f)
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

/* -- identities -- */

/* The number of a communicator argument, as a word of an identity: constants and unknown ones by
 * what they are and to whom. */
static void put_comm(const Numbering *n, WendBuf *b, gint64 handle)
{
    gpointer number;
    if (g_hash_table_lookup_extended(n->here, &handle, NULL, &number)) {
        wend_buf_unsigned(b, 0);
        wend_buf_unsigned(b, GPOINTER_TO_UINT(number));
        return;
    }
    wend_buf_unsigned(b, 1);
    wend_buf_signed(b, handle);
    wend_buf_unsigned(b, handle == n->p->comm_world ? n->world : n->rank);
}

static guint count_of(Numbering *n, const WendBuf *what)
{
    GBytes *key = g_bytes_new(what->data, what->len);
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(n->counts, key));
    g_hash_table_replace(n->counts, key, GUINT_TO_POINTER(count + 1));
    return count;
}

static void put_words(WendBuf *b, const WendArg *arg)
{
    wend_buf_signed(b, arg->n_in);
    gint64 words = arg->param->kind == WEND_KIND_STRING ? (arg->n_in + 7) / 8 : arg->n_in;
    for (gint64 i = 0; i < words; i++)
        wend_buf_signed(b, arg->in[i]);
}

/* What n counts: by all members in the same order. Most creations are collective over the parent,
 * so n counts them all on it. Where that is not so (only a group takes part, or two groups that
 * have no common parent), leaders, tags and the function tell them apart. */
static void identify(Numbering *n, const WendCall *call, const gint64 *out, WendBuf *identity)
{
    const WendFunction *f = call->function;
    gboolean by_group = strstr(f->name, "_group") != NULL,
             merge = strstr(f->name, "Intercomm_merge") != NULL;
    gboolean pair = strstr(f->name, "Intercomm_create") != NULL;
    gboolean own = by_group || merge || pair;
    /* after the handle: size, rank, leader, remote size, remote leader. The two sides of an
     * intercommunicator see them exchanged. */
    gint64 a = wend_is_handle(out[0]) ? out[3] : -1, c = wend_is_handle(out[0]) ? out[5] : -1;
    gint64 low = MIN(a, c), high = MAX(a, c);
    WendBuf what = WEND_BUF_INIT;
    /* leaders are ranks of it; what it has in common with other worlds has a number in each */
    wend_buf_unsigned(&what, n->world);
    wend_buf_string(&what, own ? f->name : "");
    gboolean parent = FALSE;
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        if (arg->n_in <= 0 || arg->param->dir == WEND_DIR_OUT)
            continue;
        if (arg->param->kind == WEND_KIND_COMM && !pair && !parent) {
            put_comm(n, &what, arg->in[0]);
            parent = TRUE;
        }
        if ((by_group || pair)
            && (arg->param->kind == WEND_KIND_TAG || arg->param->kind == WEND_KIND_STRING))
            put_words(&what, arg);
    }
    if (by_group || pair) {
        wend_buf_signed(&what, low);
        wend_buf_signed(&what, high);
    }
    if (!parent && !own)
        wend_buf_string(&what, f->name);
    guint count = count_of(n, &what);
    wend_buf_bytes(identity, what.data, what.len);
    wend_buf_unsigned(identity, count);
    wend_buf_signed(identity, low);
    wend_buf_signed(identity, high);
    wend_buf_clear(&what);
}

/* How many neighbours a Cartesian or distributed graph has, from the call that makes it. */
static gint64 out_neighbours(const WendCall *call)
{
    const WendArg *dims = wend_call_arg(call, "ndims");
    const WendArg *degree = wend_call_arg(call, "outdegree");
    if (dims && dims->n_in > 0)
        return dims->in[0] >= 0 && dims->in[0] <= G_MAXINT32 ? 2 * dims->in[0] : -1;
    return degree && degree->n_in > 0 && degree->in[0] >= 0 ? degree->in[0] : -1;
}

static void made(Numbering *n, guint32 terminal, GArray *list)
{
    const WendCall *call = wend_decoder_call(n->decoder, terminal, n->rank);
    const WendArg *arg = &call->args[wend_function_comm_made(call->function)];
    WendCommMade comm = {arg->n_out == 1 ? arg->out[0] : WEND_UNKNOWN,
                         G_MAXUINT,
                         -1,
                         -1,
                         -1,
                         -1,
                         -1,
                         -1,
                         call->function};
    if (wend_is_handle(comm.handle)) {
        comm.out_neighbours = out_neighbours(call);
        comm.size = arg->out[1];
        comm.rank = arg->out[2];
        comm.leader = arg->out[3];
        comm.remote_size = arg->out[4];
        comm.remote_leader = arg->out[5];
    }
    gpointer known;
    if (!(call->function->flags & WEND_F_CREATES_COMM)
        && g_hash_table_lookup_extended(n->here, &comm.handle, NULL, &known)) {
        comm.number = GPOINTER_TO_UINT(known); /* a handle that it has already */
        g_array_append_val(list, comm);
        return;
    }
    WendBuf identity = WEND_BUF_INIT;
    identify(n, call, arg->out, &identity); /* counts also where this rank gets MPI_COMM_NULL */
    if (wend_is_handle(comm.handle)) {
        GBytes *key = g_bytes_new(identity.data, identity.len);
        gpointer number;
        if (g_hash_table_lookup_extended(n->numbers, key, NULL, &number)) {
            comm.number = GPOINTER_TO_UINT(number);
            g_bytes_unref(key);
        } else {
            comm.number = g_hash_table_size(n->numbers) + 1; /* 0 is MPI_COMM_WORLD */
            g_hash_table_insert(n->numbers, key, GUINT_TO_POINTER(comm.number));
        }
        g_hash_table_replace(n->here, handle_key(comm.handle), GUINT_TO_POINTER(comm.number));
    }
    wend_buf_clear(&identity);
    g_array_append_val(list, comm);
}

/* -- going through a sequence -- */

static void expand(Numbering *n, guint rule, GArray *list)
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

static void mark(Numbering *n)
{
    WendProgram *p = n->p;
    for (guint i = 0; i < p->n_terminals; i++) {
        const WendShape *s = &p->shapes[p->terminals[i].shape];
        n->terminal_creates[i] = !s->failed && wend_function_comm_made(s->function) >= 0;
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

static void make_numbers(WendProgram *p)
{
    Numbering n = {.p = p,
                   .rule_creates = g_new0(guint8, p->n_rules + 1),
                   .terminal_creates = g_new0(guint8, p->n_terminals + 1),
                   .numbers = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                                    (GDestroyNotify)g_bytes_unref, NULL),
                   .decoder = wend_decoder_new(p),
                   .here = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL),
                   .counts = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                                   (GDestroyNotify)g_bytes_unref, NULL)};
    mark(&n);
    p->comms = g_new0(CommNumbers, 1);
    p->comms->by_rank = g_ptr_array_new_with_free_func(free_rank);
    for (n.rank = 0; n.rank < p->ranks; n.rank++) {
        GPtrArray *row = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
        g_ptr_array_add(p->comms->by_rank, row);
        const WendClass *k = &p->classes[p->class_of[n.rank]];
        g_hash_table_remove_all(n.here);
        g_hash_table_remove_all(n.counts);
        n.world = wend_program_world_of(p, n.rank);
        for (guint q = 0; q < k->n_sequences; q++) {
            GArray *list = g_array_new(FALSE, FALSE, sizeof(WendCommMade));
            expand(&n, k->sequences[q].rule, list);
            g_ptr_array_add(row, list);
        }
    }
    p->comms->n = g_hash_table_size(n.numbers);
    wend_decoder_free(n.decoder);
    g_hash_table_unref(n.numbers);
    g_hash_table_unref(n.here);
    g_hash_table_unref(n.counts);
    g_free(n.rule_creates);
    g_free(n.terminal_creates);
}

const WendCommMade *wend_program_comms(const WendProgram *program, guint rank, guint sequence,
                                       guint *n)
{
    WendProgram *p = (WendProgram *)program; /* only what it makes when first needed is changed */
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

guint wend_program_n_comms(const WendProgram *program)
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
