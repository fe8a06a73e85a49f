/* SPDX-License-Identifier: BSD-3-Clause */
/* walk.c: walks the calls of one sequence of one rank, in order, with outcomes.
 *
 * The words of a terminal are equal in all its calls, so each terminal is decoded once. A step of
 * the walk takes the next entry of the outcomes of the shape, and follows requests, messages,
 * communicators and datatypes. */
#include <string.h>

#include "cursor.h"
#include "decode.h"
#include "program-private.h"
#include "record/codec.h"
#include "record/neighbours.h"

/* -- requests -- */

/* The requests and messages that a walk follows. */

/* The values that the words of a status are relative to. */
typedef struct {
    /* FALSE: the status is empty (a send, a collective, an inactive request) */
    gboolean known;
    gint64 source, tag; /* may be constants; WEND_ABSENT: there is none (files) */
    gint64 bytes;       /* bytes posted; WEND_UNKNOWN: the size of the datatype is unknown */
} StatusBase;

typedef struct {
    WendRequestState state;
    StatusBase base;
    gboolean exists;
} Request;

typedef struct {
    guint tid;           /* the requests of this thread are in OWN, all others in FOREIGN */
    GArray *own;         /* Request, by number */
    GHashTable *foreign; /* word -> Request */
} Requests;

/* No requests yet. TID: the number of the walk's thread. */
static void requests_init(Requests *r, guint tid)
{
    r->tid = tid;
    r->own = g_array_new(FALSE, TRUE, sizeof(Request));
    r->foreign = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

static void requests_clear(Requests *r)
{
    g_array_unref(r->own);
    g_hash_table_unref(r->foreign);
}

/* NULL: there is none */
static Request *requests_find(const Requests *r, gint64 word)
{
    if (!word_is_handle(word))
        return NULL;
    guint32 number = word_handle_number(word);
    if (word_handle_tid(word) == r->tid && number < r->own->len) {
        Request *q = &g_array_index(r->own, Request, number);
        if (q->exists)
            return q;
    }
    return g_hash_table_size(r->foreign) ? g_hash_table_lookup(r->foreign, &word) : NULL;
}

/* a new one, or the old one with this number */
static Request *requests_put(Requests *r, gint64 word)
{
    guint32 number = word_handle_number(word);
    Request *found = requests_find(r, word);
    if (found)
        return found;
    /* Numbers go up by one. Large gaps come from another thread or a hostile file, and must not
     * cost memory. */
    if (word_handle_tid(word) == r->tid && number <= r->own->len + 1024) {
        if (number >= r->own->len)
            g_array_set_size(r->own, number + 1);
        found = &g_array_index(r->own, Request, number);
    } else {
        found = g_new0(Request, 1);
        g_hash_table_replace(r->foreign, g_memdup2(&word, sizeof word), found);
    }
    found->exists = TRUE;
    return found;
}

/* The outcomes of one shape on the rank of the walk. */
typedef struct {
    OutcomeReader reader;
    guint64 left;  /* how many of the next entries are equal to WORDS; G_MAXUINT64: all */
    guint64 run;   /* number of the run, from 1 */
    GArray *words; /* the reader's */
} Stream;

/* A terminal, decoded. */
typedef struct {
    WendCall call;
    WendArg *args;
    gint64 *words; /* the words that the arguments point to, except outcomes */
    guint n_outcomes;
    gint16 *outcomes;    /* parameters with words in the outcome */
    guint32 *outcome_at; /* the index of each one's words in outcome_words */
    Vector *outcome_words;
    guint64 run; /* the run of the stream that outcome_words are from; 0: none */
    Stream *stream;
    int request_out, request_in, message_out, comm_out, status, index_out, flag_out, neighbours;
    gboolean starts, frees, generalized;
    gboolean makes;   /* a request, message, communicator or datatype */
    gboolean settled; /* its other calls equal the last one, outcomes included, without polls */
} Known;

/* Pointers by number, few of many: a rank uses few terminals of a recording whose ranks have
 * nothing in common. Pages are made when they are needed. */
enum { PAGE_BITS = 6, PAGE = 1 << PAGE_BITS };
typedef struct {
    gpointer **pages;
    guint n_pages;
} PointerTable;

/* About what a Known and a Stream take, with the blocks around them, in bytes. */
enum { KNOWN_MEMORY = sizeof(Known) + 400, STREAM_MEMORY = sizeof(Stream) + 400 };

static void pointer_table_init(PointerTable *t, guint n)
{
    t->n_pages = n / PAGE + 1;
    t->pages = g_new0(gpointer *, t->n_pages);
}

static gpointer *pointer_table_at(PointerTable *t, guint i)
{
    gpointer **page = &t->pages[i >> PAGE_BITS];
    if (!*page)
        *page = g_new0(gpointer, PAGE);
    return &(*page)[i & (PAGE - 1)];
}

static void pointer_table_clear(PointerTable *t, GDestroyNotify free_one)
{
    for (guint i = 0; i < t->n_pages; i++) {
        for (guint k = 0; t->pages[i] && k < PAGE; k++)
            if (t->pages[i][k])
                free_one(t->pages[i][k]);
        g_free(t->pages[i]);
    }
    g_free(t->pages);
}

struct WendWalk {
    WendProgram *p; /* it keeps data that the walk makes on demand */
    guint rank, sequence, class;
    WendWalkFlags flags;
    RuleCursor main, polls;
    const guint32 *poll_terminals; /* by number in the grammar of polls; NULL: no polls */
    guint64 polls_due, polls_after, index;
    gboolean main_waits; /* a call was taken from MAIN, but polls come before it */
    guint32 main_terminal;
    PointerTable known;   /* Known by terminal */
    PointerTable streams; /* Stream by shape */
    gsize bytes;          /* of KNOWN and STREAMS, about */
    guint n_known, most_known;
    gsize known_bytes;
    Layout layout;
    GArray *slots;
    Requests requests;
    GHashTable *messages; /* handle -> StatusBase */
    GHashTable *sizes;    /* datatype handle -> bytes */
    GHashTable *comms;    /* handle -> number; NULL until needed */
    guint comms_made;
    GArray *completed; /* words */
    const Known *last; /* the last call; its effects on its inputs happen in the next step */
};

/* -- decoding a terminal -- */

static int find_param(const WendFunction *f, WendKind kind, gboolean out)
{
    for (int i = 0; i < f->n_params; i++) {
        const WendParam *p = &f->params[i];
        gboolean is_out = p->dir == WEND_DIR_OUT || p->dir == WEND_DIR_RETURN;
        if (p->kind == kind && is_out == out)
            return i;
    }
    return -1;
}

static Stream *get_stream(WendWalk *w, guint32 shape)
{
    gpointer *at = pointer_table_at(&w->streams, shape);
    if (*at)
        return *at;
    Stream *s = *at = g_new0(Stream, 1);
    w->bytes += STREAM_MEMORY;
    guint64 entries = 0;
    const OutcomeContent *content = outcome_content(w->p, w->rank, w->sequence, shape, &entries);
    outcome_reader_init(&s->reader, content, entries);
    s->words = s->reader.words;
    if (!content) { /* nothing is recorded: all words are 0 */
        s->left = G_MAXUINT64;
        s->run = 1;
        g_array_set_size(s->words, 2);
    }
    return s;
}

/* With its arrays, in one block: a walk that goes on after those of a thousand other ranks finds
 * nothing of it in the processor's caches. */
static Known *known_new(const Layout *layout, guint n_params)
{
    gsize words = layout->words->len * sizeof(gint64), args = (n_params + 1) * sizeof(WendArg);
    guint n = layout->outcome->len;
    guint8 *block =
        g_malloc0(sizeof(Known) + args + words + n * sizeof(guint32) + n * sizeof(gint16));
    Known *k = (Known *)(gpointer)block;
    k->n_outcomes = n;
    k->args = (WendArg *)(gpointer)(block += sizeof *k);
    k->words = (gint64 *)(gpointer)(block += args);
    k->outcome_at = (guint32 *)(gpointer)(block += words);
    k->outcomes = (gint16 *)(gpointer)(block + n * sizeof(guint32));
    memcpy(k->words, layout->words->data, words);
    for (guint i = 0; i < n; i++)
        k->outcomes[i] = g_array_index(layout->outcome, gint16, i);
    return k;
}

static gboolean makes_datatype(const WendFunction *f)
{
    gboolean makes = FALSE;
    for (guint i = 0; i < f->n_params; i++)
        makes |= f->params[i].kind == WEND_KIND_DATATYPE && f->params[i].dir != WEND_DIR_IN;
    return makes;
}

static Known *get_known(WendWalk *w, guint32 terminal)
{
    gpointer *at = pointer_table_at(&w->known, terminal);
    if (*at)
        return *at;
    const WendTerminal *t = &w->p->terminals[terminal];
    const WendShape *s = &w->p->shapes[t->shape];
    const WendFunction *f = s->function;
    decode_static(w->p, terminal, w->rank, &w->layout, w->slots);
    Known *k = *at = known_new(&w->layout, f->n_params);
    decode_args(f, &w->layout, k->words, k->args);
    k->outcome_words = vector_with_room(sizeof(gint64), 8);
    k->call = (WendCall){.function = f,
                         .terminal = terminal,
                         .shape = t->shape,
                         .rank = w->rank,
                         .failed = s->failed,
                         .unfinished = w->layout.unfinished,
                         .fixed = k->n_outcomes == 0,
                         .n_args = f->n_params,
                         .args = k->args};
    k->request_out = find_param(f, WEND_KIND_REQUEST, TRUE);
    k->request_in = find_param(f, WEND_KIND_REQUEST, FALSE);
    k->message_out = find_param(f, WEND_KIND_MESSAGE, TRUE);
    k->status = find_param(f, WEND_KIND_STATUS, TRUE);
    k->index_out = find_param(f, WEND_KIND_INDEX, TRUE);
    k->flag_out = find_param(f, WEND_KIND_LOGICAL, TRUE);
    k->neighbours = find_param(f, WEND_KIND_NEIGHBOURS, TRUE);
    k->comm_out = comm_made_parameter(f);
    k->starts = f->operation == WEND_FN_MPI_Start;
    k->frees = f->id == WEND_FN_MPI_Request_free;
    k->generalized = f->id == WEND_FN_MPI_Grequest_start;
    k->makes = k->request_out >= 0 || k->message_out >= 0 || k->comm_out >= 0 || makes_datatype(f);
    gsize bytes = KNOWN_MEMORY + f->n_params * sizeof(WendArg) + w->layout.words->len * 8;
    w->n_known++;
    w->known_bytes += bytes;
    w->bytes += bytes;
    return k;
}

static void known_free(gpointer known)
{
    vector_unref(((Known *)known)->outcome_words);
    g_free(known);
}

static void stream_free(gpointer stream)
{
    outcome_reader_clear(&((Stream *)stream)->reader);
    g_free(stream);
}

/* -- begin and end -- */

WendWalk *walk_new(const WendProgram *program, guint rank, guint sequence, WendWalkFlags flags)
{
    WendProgram *p = (WendProgram *)program; /* only data that are made on demand change */
    g_return_val_if_fail(rank < p->ranks, NULL);
    guint class = p->class_of[rank];
    if (sequence >= p->classes[class].n_sequences)
        return NULL;
    WendWalk *w = g_new0(WendWalk, 1);
    *w = (WendWalk){.p = p,
                    .rank = rank,
                    .sequence = sequence,
                    .class = class,
                    .flags = flags,
                    .most_known = G_MAXUINT};
    const WendSequence *q = &p->classes[class].sequences[sequence];
    rule_cursor_init(&w->main, p->rules, q->rule);
    WendPolls polls;
    if (flags & WEND_WALK_POLLS && program_poll_calls(p, rank, sequence, &polls)) {
        w->poll_terminals = polls.terminals;
        rule_cursor_init(&w->polls, polls.rules, polls.n_rules - 1);
        w->polls_after = polls.after;
    }
    pointer_table_init(&w->known, p->n_terminals);
    pointer_table_init(&w->streams, p->n_shapes);
    layout_init(&w->layout);
    w->slots = g_array_sized_new(FALSE, FALSE, sizeof(gint64), 16);
    requests_init(&w->requests, q->kind == WEND_SEQUENCE_THREAD ? (guint)q->id : G_MAXUINT);
    w->messages = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    w->sizes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    w->completed = g_array_sized_new(FALSE, FALSE, sizeof(gint64), 8);
    return w;
}

void walk_free(WendWalk *w)
{
    if (!w)
        return;
    pointer_table_clear(&w->known, known_free);
    pointer_table_clear(&w->streams, stream_free);
    rule_cursor_clear(&w->main);
    rule_cursor_clear(&w->polls);
    layout_clear(&w->layout);
    g_array_unref(w->slots);
    requests_clear(&w->requests);
    g_hash_table_unref(w->messages);
    g_hash_table_unref(w->sizes);
    if (w->comms)
        g_hash_table_unref(w->comms);
    g_array_unref(w->completed);
    g_free(w);
}

gsize walk_bytes(const WendWalk *w)
{
    return w->bytes + (w->known.n_pages + w->streams.n_pages) * sizeof(gpointer);
}

/* -- outcomes -- */

static void next_entry(Stream *s)
{
    if (s->left > 0) {
        if (s->left != G_MAXUINT64)
            s->left--;
        return;
    }
    guint64 repeats = outcome_reader_next(&s->reader);
    s->run++;
    if (s->words->len < 2)
        g_array_set_size(s->words, 2);
    /* repeats is not 0: open has counted entries */
    s->left = s->reader.at == s->reader.entries ? G_MAXUINT64 : repeats - 1;
}

static void take_outcome(Known *k, const Stream *s)
{
    OutcomeCursor c = {(const gint64 *)(gpointer)s->words->data, s->words->len, 2};
    vector_resize(k->outcome_words, 0);
    for (guint i = 0; i < k->n_outcomes; i++) {
        k->outcome_at[i] = k->outcome_words->len;
        WendArg *arg = &k->args[k->outcomes[i]];
        arg->n_out = layout_outcome(&c, arg->param, k->outcome_words);
    }
    for (guint i = 0; i < k->n_outcomes; i++)
        k->args[k->outcomes[i]].out =
            (const gint64 *)(gpointer)k->outcome_words->data + k->outcome_at[i];
}

/* -- statuses -- */

/* -- neighbours -- */

static gint64 absolute(gint64 base, gint64 word)
{
    gint64 sum;
    if (word_is_special(base) || word_is_special(word))
        return word == 0 ? base : word;
    return __builtin_add_overflow(base, word, &sum) ? WEND_UNKNOWN : sum;
}

static void make_ranks_absolute(Known *k)
{
    const WendArg *arg = &k->args[k->neighbours];
    Neighbours graph;
    if (k->comm_out < 0 || k->args[k->comm_out].n_out != 1
        || !neighbours_read(arg->out, arg->n_out, &graph))
        return;
    gint64 self = k->args[k->comm_out].out[2];
    gint64 *ranks = (gint64 *)arg->out + WEND_NEIGHBOURS_HEAD;
    for (gint64 i = 0; i < graph.n[0] + graph.n[1]; i++)
        ranks[i] = absolute(self, ranks[i]);
}

static gint64 in_word(const WendCall *call, int param)
{
    return param >= 0 && (guint)param < call->n_args && call->args[param].n_in > 0
                   && call->args[param].in
               ? call->args[param].in[0]
               : WEND_ABSENT;
}

static StatusBase status_base(const WendWalk *w, const WendCall *call, const WendParam *of)
{
    StatusBase b = {FALSE, WEND_ABSENT, WEND_ABSENT, 0};
    if (of->source < 0 && of->tag < 0 && of->count < 0)
        return b;
    b.known = TRUE;
    if (of->source >= 0 && call->args[of->source].param->kind == WEND_KIND_MESSAGE) {
        gint64 message = in_word(call, of->source);
        const StatusBase *made = g_hash_table_lookup(w->messages, &message);
        if (made) {
            b.source = made->source;
            b.tag = made->tag;
        } else {
            b.source = w->p->proc_null; /* MPI_MESSAGE_NO_PROC */
        }
    } else if (of->source >= 0) {
        b.source = in_word(call, of->source);
        if (b.source == w->p->any_source)
            b.source = call->function->flags & WEND_F_SELF ? in_word(call, 0) : 0;
    }
    if (of->tag >= 0) {
        b.tag = in_word(call, of->tag);
        if (b.tag == w->p->any_tag)
            b.tag = 0;
    }
    if (of->type >= 0) {
        gint64 count = of->count >= 0 ? in_word(call, of->count) : 1,
               size = walk_datatype_size(w, in_word(call, of->type));
        gint64 parts = of->displs >= 0 ? in_word(call, of->displs) : 1;
        if (size < 0 || count < 0 || parts < 0 || __builtin_mul_overflow(count, size, &b.bytes)
            || __builtin_mul_overflow(b.bytes, parts, &b.bytes))
            b.bytes = WEND_UNKNOWN;
    } else if (of->count >= 0) {
        b.bytes = in_word(call, of->count);
        if (b.bytes < 0)
            b.bytes = WEND_UNKNOWN;
    }
    return b;
}

/* Makes STATUS (source, tag, bytes, flags), which is relative to B, absolute, as MPI_Status has
 * it. */
static void make_absolute(const WendProgram *p, const StatusBase *b, gint64 *status)
{
    if (!b || !b->known || (status[3] & 1) || b->source == p->proc_null) {
        status[0] = b && b->known && b->source == p->proc_null && !(status[3] & 1) ? p->proc_null
                                                                                   : p->any_source;
        status[1] = p->any_tag;
        status[2] = 0;
        return;
    }
    status[0] = b->source == WEND_ABSENT ? p->any_source : absolute(b->source, status[0]);
    status[1] = b->tag == WEND_ABSENT ? p->any_tag : absolute(b->tag, status[1]);
    if (b->bytes == WEND_UNKNOWN || status[2] == WEND_UNKNOWN
        || __builtin_sub_overflow(b->bytes, status[2], &status[2]))
        status[2] = WEND_UNKNOWN;
}

/* A table of the requests or datatypes (KIND) that calls of the class of W make: word -> the last
 * terminal that makes it, + 1. The table is made once and kept in *KEPT. */
static GHashTable *makers_of_class(const WendWalk *w, WendKind kind, GHashTable **kept)
{
    if (*kept)
        return *kept;
    *kept = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    const WendClass *class = &w->p->classes[w->class];
    WendDecoder *decoder = decoder_new(w->p);
    guint n;
    for (guint q = 0; q < class->n_sequences; q++) {
        guint32 *terminals = program_rule_terminals(w->p, class->sequences[q].rule, &n);
        for (guint i = 0; i < n; i++) {
            const WendCall *call = decoder_call(decoder, terminals[i], w->rank);
            int made = find_param(call->function, kind, TRUE);
            if (made < 0 || call->args[made].n_out != 1 || !word_is_handle(call->args[made].out[0]))
                continue;
            g_hash_table_replace(*kept, g_memdup2(&call->args[made].out[0], sizeof(gint64)),
                                 GUINT_TO_POINTER(terminals[i] + 1));
        }
        g_free(terminals);
    }
    decoder_free(decoder);
    return *kept;
}

/* The request WORD, which another thread may have made. NULL: there is none. If another thread made
 * it, calls that make it may differ in their amounts (functions.h), so statuses are not relative to
 * these. */
static Request *find_request(WendWalk *w, gint64 word)
{
    Request *r = requests_find(&w->requests, word);
    if (r || !word_is_handle(word) || word_handle_tid(word) == w->requests.tid)
        return r;
    guint maker = GPOINTER_TO_UINT(g_hash_table_lookup(
        makers_of_class(w, WEND_KIND_REQUEST, &w->p->class_data[w->class].request_makers), &word));
    if (!maker)
        return NULL;
    const Known *k = get_known(w, maker - 1);
    r = requests_put(&w->requests, word);
    r->state =
        (WendRequestState){TRUE, (k->call.function->flags & WEND_F_PERSISTENT) != 0, 0, maker - 1};
    r->base = status_base(w, &k->call, k->args[k->request_out].param);
    r->base.bytes = 0;
    return r;
}

/* -- what a call completes -- */

static gboolean still_pending(const WendWalk *w, gint64 flags)
{
    if (flags >> 1 == 0)
        return FALSE;
    g_autofree char *code = g_strdup_printf("%" G_GINT64_FORMAT, flags >> 1);
    g_autofree char *name = g_key_file_get_string(w->p->meta, "error", code, NULL);
    return name && strcmp(name, "MPI_ERR_PENDING") == 0;
}

/* The index of the request that the I-th status belongs to: I, or the I-th index that the call
 * gave. -1: there is none. */
static gint64 request_index(const Known *k, gint64 i)
{
    if (k->index_out < 0)
        return i;
    const WendArg *index = &k->args[k->index_out];
    return i < index->n_out ? index->out[i] : -1;
}

static void complete(WendWalk *w, Known *k)
{
    const WendArg *requests = &k->args[k->request_in];
    gint64 *statuses = k->status >= 0 ? (gint64 *)k->args[k->status].out : NULL;
    gint64 n_statuses = statuses ? k->args[k->status].n_out : 0;
    gboolean completes = (k->call.function->flags & WEND_F_COMPLETES) != 0;
    gboolean nothing = k->index_out < 0 && k->flag_out >= 0
                       && (k->args[k->flag_out].n_out != 1 || k->args[k->flag_out].out[0] == 0);
    gint64 n = k->index_out >= 0 ? k->args[k->index_out].n_out : requests->n_in;
    for (gint64 i = 0; i < n; i++) {
        gint64 at = request_index(k, i);
        gint64 word = at >= 0 && at < requests->n_in ? requests->in[at] : w->p->request_null;
        Request *r = find_request(w, word);
        if (!r && word_is_handle(word)) { /* made while recording was off */
            r = requests_put(&w->requests, word);
            r->state = (WendRequestState){.active = TRUE, .terminal = G_MAXUINT32};
        }
        /* Only the sequence that posts a request sees that it is active again. */
        gboolean foreign = word_is_handle(word) && word_handle_tid(word) != w->requests.tid;
        gboolean active = r && (r->state.active || foreign) && !nothing;
        gint64 flags = i < n_statuses ? statuses[4 * i + 3] : 0;
        /* The status of a generalized request is as the program set it. */
        if (active && r->base.known && r->base.bytes == WEND_ABSENT) {
            if (i < n_statuses
                && __builtin_sub_overflow(0, statuses[4 * i + 2], &statuses[4 * i + 2]))
                statuses[4 * i + 2] = WEND_UNKNOWN;
        } else if (i < n_statuses) {
            make_absolute(w->p, active ? &r->base : NULL, &statuses[4 * i]);
        }
        if (active && completes && !still_pending(w, flags))
            g_array_append_val(w->completed, word);
    }
    for (gint64 i = MAX(n, 0); i < n_statuses; i++)
        make_absolute(w->p, NULL, &statuses[4 * i]);
}

/* -- effects -- */

static void put_size(WendWalk *w, gint64 handle, gint64 bytes)
{
    g_hash_table_replace(w->sizes, g_memdup2(&handle, sizeof handle),
                         g_memdup2(&bytes, sizeof bytes));
}

/* After a call: follows the objects that it made. */
static void outputs(WendWalk *w, Known *k)
{
    const WendFunction *f = k->call.function;
    if (k->call.failed || !k->makes)
        return;
    if (k->request_out >= 0) {
        const WendArg *arg = &k->args[k->request_out];
        for (gint64 i = 0; i < arg->n_out; i++) {
            if (!word_is_handle(arg->out[i]))
                continue;
            Request *r = requests_put(&w->requests, arg->out[i]);
            gboolean persistent = (f->flags & WEND_F_PERSISTENT) != 0;
            r->state = (WendRequestState){!persistent, persistent, k->call.index, k->call.terminal};
            r->base = status_base(w, &k->call, arg->param);
            if (k->generalized)
                r->base = (StatusBase){TRUE, 0, 0, WEND_ABSENT};
        }
    }
    if (k->message_out >= 0 && k->args[k->message_out].n_out == 1) {
        gint64 message = k->args[k->message_out].out[0];
        if (word_is_handle(message) && k->status >= 0) {
            StatusBase b = status_base(w, &k->call, k->args[k->status].param);
            g_hash_table_replace(w->messages, g_memdup2(&message, sizeof message),
                                 g_memdup2(&b, sizeof b));
        }
    }
    if (k->comm_out >= 0) {
        if (w->comms) {
            guint n;
            const WendCommMade *made = program_comms(w->p, w->rank, w->sequence, &n);
            if (w->comms_made < n && word_is_handle(made[w->comms_made].handle))
                g_hash_table_replace(w->comms,
                                     g_memdup2(&made[w->comms_made].handle, sizeof(gint64)),
                                     GUINT_TO_POINTER(made[w->comms_made].number));
        }
        w->comms_made++;
    }
    for (guint i = 0; i < k->call.n_args; i++) {
        const WendArg *arg = &k->args[i];
        if (arg->param->kind != WEND_KIND_DATATYPE || arg->n_out <= 0 || !arg->out
            || arg->param->dir == WEND_DIR_IN)
            continue;
        for (gint64 e = 0; e < arg->n_out; e++)
            if (word_is_handle(arg->out[6 * e]))
                put_size(w, arg->out[6 * e], arg->out[6 * e + 1]);
    }
}

/* Before the next call: follows the effects of the last call on requests that it was given. */
static void inputs(WendWalk *w)
{
    const Known *k = w->last;
    w->last = NULL;
    if (!k || k->request_in < 0 || k->call.poll || k->call.failed) {
        g_array_set_size(w->completed, 0);
        return;
    }
    for (guint i = 0; i < w->completed->len; i++) {
        Request *r = requests_find(&w->requests, g_array_index(w->completed, gint64, i));
        if (!r)
            continue;
        r->state.active = FALSE;
    }
    g_array_set_size(w->completed, 0);
    if (!k->starts && !k->frees)
        return;
    const WendArg *requests = &k->args[k->request_in];
    for (gint64 i = 0; i < requests->n_in; i++) {
        Request *r = find_request(w, requests->in[i]);
        if (r && k->starts)
            r->state.active = TRUE;
        if (r && k->frees)
            r->state.active = FALSE;
    }
}

/* -- steps -- */

static const WendCall *give_poll(WendWalk *w, guint32 terminal)
{
    Known *k = get_known(w, terminal);
    for (guint i = 0; i < k->n_outcomes; i++)
        k->args[k->outcomes[i]].n_out = 0;
    k->run = 0;
    k->call.poll = TRUE;
    k->call.n_outcome = 0;
    k->call.polls_before = 0;
    k->call.return_code = 0;
    k->call.index = w->index++;
    w->last = k;
    return &k->call;
}

/* Gives the call K as it was given last. */
static const WendCall *give_again(WendWalk *w, Known *k)
{
    k->call.index = w->index++;
    outputs(w, k);
    w->last = k;
    return &k->call;
}

static const WendCall *give_main(WendWalk *w, Known *k)
{
    if (!k->stream) /* forgotten while polls before the call were given */
        k->stream = get_stream(w, k->call.shape);
    Stream *s = k->stream;
    gboolean by_request =
        k->request_in >= 0 && (k->status >= 0 || (k->call.function->flags & WEND_F_COMPLETES));
    if (k->run != s->run || by_request || k->message_out >= 0 || k->call.poll) {
        take_outcome(k, s);
        k->run = s->run;
        k->call.return_code = s->words->len > 1 ? g_array_index(s->words, gint64, 1) : 0;
        if (by_request && !k->call.failed) {
            complete(w, k);
        } else if (k->status >= 0 && k->args[k->status].n_out > 0) {
            StatusBase b = status_base(w, &k->call, k->args[k->status].param);
            gint64 *statuses = (gint64 *)k->args[k->status].out;
            for (gint64 i = 0; i < k->args[k->status].n_out; i++)
                make_absolute(w->p, &b, &statuses[4 * i]);
        } else if (k->neighbours >= 0) {
            make_ranks_absolute(k);
        }
    }
    k->call.poll = FALSE;
    k->call.n_outcome = s->words->len;
    k->call.outcome = (const gint64 *)(gpointer)s->words->data;
    k->call.polls_before = s->words->len ? (guint64)g_array_index(s->words, gint64, 0) : 0;
    k->settled =
        s->left == G_MAXUINT64 && !by_request && k->message_out < 0 && k->call.polls_before == 0;
    return give_again(w, k);
}

void walk_keep(WendWalk *w, guint n)
{
    w->most_known = n;
}

/* Forgets what has been decoded. It will be decoded again. */
static void forget(WendWalk *w)
{
    pointer_table_clear(&w->known, known_free);
    pointer_table_init(&w->known, w->p->n_terminals);
    w->bytes -= w->known_bytes;
    w->known_bytes = w->n_known = 0;
}

const WendCall *walk_next(WendWalk *w)
{
    guint32 terminal;
    inputs(w);
    if (w->n_known > w->most_known)
        forget(w);
    if (!w->main_waits) {
        if (rule_cursor_next(&w->main, &terminal)) {
            Known *k = get_known(w, terminal);
            if (k->settled && !k->call.poll) {
                w->polls_due = 0;
                return give_again(w, k);
            }
            if (!k->stream)
                k->stream = get_stream(w, k->call.shape);
            next_entry(k->stream);
            w->polls_due = w->poll_terminals && k->stream->words->len
                               ? (guint64)g_array_index(k->stream->words, gint64, 0)
                               : 0;
            if (w->polls_due == 0)
                return give_main(w, k);
            w->main_terminal = terminal;
            w->main_waits = TRUE;
        } else {
            w->polls_due += w->polls_after;
            w->polls_after = 0;
        }
    }
    if (w->polls_due > 0 && w->poll_terminals && rule_cursor_next(&w->polls, &terminal)) {
        w->polls_due--;
        return give_poll(w, w->poll_terminals[terminal]);
    }
    if (!w->main_waits)
        return NULL;
    w->main_waits = FALSE;
    return give_main(w, get_known(w, w->main_terminal));
}

/* -- objects at the current call -- */

static void load_comms(WendWalk *w)
{
    w->comms = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint q = 0; q < w->p->classes[w->class].n_sequences; q++) {
        guint n;
        const WendCommMade *made = program_comms(w->p, w->rank, q, &n);
        gboolean own = q == w->sequence;
        for (guint i = 0; i < n && (!own || i < w->comms_made); i++) {
            if (!word_is_handle(made[i].handle)
                || (!own && g_hash_table_contains(w->comms, &made[i].handle)))
                continue;
            g_hash_table_replace(w->comms, g_memdup2(&made[i].handle, sizeof(gint64)),
                                 GUINT_TO_POINTER(made[i].number));
        }
    }
}

guint walk_comm(const WendWalk *walk, gint64 handle)
{
    WendWalk *w = (WendWalk *)walk;
    if (handle == w->p->comm_world)
        return 0;
    if (!word_is_handle(handle))
        return G_MAXUINT;
    if (!w->comms)
        load_comms(w);
    gpointer number;
    return g_hash_table_lookup_extended(w->comms, &handle, NULL, &number) ? GPOINTER_TO_UINT(number)
                                                                          : G_MAXUINT;
}

gboolean walk_request(const WendWalk *walk, gint64 request, WendRequestState *state)
{
    const Request *r = find_request((WendWalk *)walk, request);
    if (r && state)
        *state = r->state;
    return r != NULL;
}

gboolean walk_starts(const WendWalk *w)
{
    return w->last && w->last->starts && !w->last->call.failed;
}

gboolean walk_frees(const WendWalk *w)
{
    return w->last && w->last->frees && !w->last->call.failed;
}

gint64 walk_datatype_size(const WendWalk *walk, gint64 datatype)
{
    WendWalk *w = (WendWalk *)walk;
    gint64 facts[5];
    if (word_is_const(datatype))
        return program_datatype(w->p, datatype, facts) ? facts[0] : -1;
    const gint64 *bytes = g_hash_table_lookup(w->sizes, &datatype);
    if (bytes || !word_is_handle(datatype))
        return bytes ? *bytes : -1;
    /* it is another thread's */
    guint maker = GPOINTER_TO_UINT(g_hash_table_lookup(
        makers_of_class(w, WEND_KIND_DATATYPE, &w->p->class_data[w->class].datatype_makers),
        &datatype));
    if (!maker)
        return -1;
    const WendCall *call = &get_known(w, maker - 1)->call;
    return call->args[find_param(call->function, WEND_KIND_DATATYPE, TRUE)].out[1];
}

const gint64 *walk_completed(const WendWalk *w, guint *n)
{
    *n = w->completed->len;
    return (const gint64 *)(gpointer)w->completed->data;
}
