/* SPDX-License-Identifier: BSD-3-Clause */
/* order-answers.c: follows each receive and send from where it is posted to where it completes.
 *
 * A posting is a call that makes a request for a receive or a send, or the start of a persistent
 * one. The replayer counts postings by the same rule. A request number of a thread is used again
 * once the request before is complete. So if the thread itself completes a request, it is the last
 * one that it has posted under that number. If other threads complete it, the postings under one
 * number and the completions are paired in order.
 *
 * If it is not recorded what some receives got, all of it is done again, to find that by
 * elimination. */
#include "order-answers.h"

#include <string.h>

#include "lib/read/terminations.h"
#include "order-leftovers.h"
#include "posted.h"

/* Kinds of answers that become one of the file's at the end. */
enum {
    ANSWER_PENDING = ORDER_ANSWER_NONE + 1, /* open, and never completed so far */
    ANSWER_FREED,                           /* open, and freed before it was complete */
    ANSWER_UNKNOWN                          /* open; it got a message, but which is not recorded */
};

typedef OrderAnswer Answer;

typedef struct {
    Answer *at;
    OrderReceive *as_posted; /* of receives, while what others got is found; else NULL */
    gsize n, room;
} AnswerRow;

typedef struct {
    OrderPosted kind;
    guint sequence;
    gsize index; /* into that sequence's answers */
} Posting;

typedef struct {
    GArray *open;      /* Posting: not completed so far, in order */
    GArray *elsewhere; /* Answer: completions in other sequences than the posting's, in order */
} Request;

struct OrderAnswers {
    const WendProgram *p;
    guint rank;
    guint n_sequences;
    Allowance *allowance;
    AnswerRow *answers[ORDER_POSTED_KINDS];  /* by sequence */
    WendStream *streams[ORDER_POSTED_KINDS]; /* by sequence */
    GHashTable *requests;                    /* word -> Request */
    gboolean cancels;                        /* else all sends are made */
    gboolean callbacks;                      /* some sequences are of callbacks */
    gboolean none;                           /* an answer is ORDER_ANSWER_NONE */
    gboolean ordered;                        /* there are orders of threads */
    gboolean failed;                         /* no memory, or more than is allowed */
    PostedAny any;
    OrderLeftovers *leftovers; /* NULL: nothing is to be found by elimination */
};

static void request_free(gpointer data)
{
    Request *r = data;
    g_array_unref(r->open);
    g_array_unref(r->elsewhere);
    g_free(r);
}

static Request *request_of(OrderAnswers *a, gint64 word)
{
    Request *r = g_hash_table_lookup(a->requests, &word);
    if (!r) {
        r = g_new(Request, 1);
        *r = (Request){g_array_new(FALSE, FALSE, sizeof(Posting)),
                       g_array_new(FALSE, FALSE, sizeof(Answer))};
        g_hash_table_insert(a->requests, g_memdup2(&word, sizeof word), r);
    }
    return r;
}

/* Whether anything of what the rank's calls post must be enforced. Notes whether they cancel. */
static gboolean needs_answers(OrderAnswers *a, const WendClass *class)
{
    WendDecoder *decoder = wend_decoder_new(a->p);
    gboolean needs = FALSE;
    guint n = wend_program_n_rules(a->p);
    g_autofree guint8 *needed = g_new0(guint8, n + 1);
    for (guint q = 0; q < class->n_sequences; q++)
        needed[class->sequences[q].rule] = TRUE;
    for (guint r = n; r-- > 0;) {
        const WendRule *rule = wend_program_rule(a->p, r);
        for (guint k = 0; needed[r] && k < rule->n; k++) {
            const WendSymbol *s = &rule->symbols[k];
            if (s->is_rule) {
                needed[s->id] = TRUE;
                continue;
            }
            const WendCall *call = wend_decoder_call(decoder, s->id, a->rank);
            a->cancels |= strcmp(call->function->name, "MPI_Cancel") == 0;
            needs |= posted_is_receive(call) && posted_leaves_open(call, a->any);
        }
    }
    wend_decoder_free(decoder);
    return needs || a->cancels;
}

/* -- following them -- */

/* Walks of a sequence, and the calls that made its requests. */
typedef struct {
    guint sequence;
    gint64 thread; /* its number; -1: a callback */
    guint64 index; /* of the call at hand */
    WendWalk *walk;
    WendDecoder *decoder;
} Following;

gboolean order_admits(Allowance *allowance, const WendStream *stream, gsize *taken)
{
    gsize now = wend_stream_memory(stream);
    if (now > *taken && !allowance_take(allowance, now - *taken, 1))
        return FALSE;
    *taken = MAX(*taken, now);
    return TRUE;
}

/* Makes room for N things of SIZE bytes in an array that has room for OLD. */
static gboolean grow(OrderAnswers *a, void *array, gsize old, gsize n, gsize size)
{
    guint8 *block = *(void **)array;
    gboolean good =
        n < G_MAXUINT / size && allowance_grow(a->allowance, &block, old * size, n * size);
    *(void **)array = block;
    return good;
}

/* Notes a posting or a completion of one request. */
static void note(OrderAnswers *a, GArray *row, gconstpointer entry)
{
    if (allowance_take(a->allowance, 1, 2 * g_array_get_element_size(row)))
        g_array_append_vals(row, entry, 1);
    else
        a->failed = TRUE;
}

/* The receive that the call at hand posts, with the arguments of MAKER. */
static OrderReceive receive_of(const OrderAnswers *a, const Following *f, const WendCall *maker)
{
    const WendParam *of = posted_receive(maker);
    const WendArg *comm = wend_call_arg_of_kind(maker, WEND_KIND_COMM);
    gint64 word = comm && comm->n_in > 0 ? comm->in[0] : WEND_ABSENT;
    return (OrderReceive){order_leftovers_comm(a->leftovers, f->walk, word),
                          posted_word(maker, of->source), posted_word(maker, of->tag), f->index,
                          ORDER_NEVER};
}

/* Notes that REQUEST is posted, with the arguments of MAKER. */
static void post(OrderAnswers *a, const Following *f, const WendCall *maker, gint64 request)
{
    OrderPosted kind = posted_is_send(maker) ? ORDER_SENDS : ORDER_RECEIVES;
    if (kind == ORDER_SENDS && !a->cancels)
        return;
    AnswerRow *row = &a->answers[kind][f->sequence];
    gboolean open = kind == ORDER_RECEIVES && posted_leaves_open(maker, a->any),
             eliminates = kind == ORDER_RECEIVES && a->leftovers;
    Posting posting = {kind, f->sequence, row->n};
    if (row->n == row->room) {
        gsize old = row->room;
        row->room = MAX(2 * old, 64);
        a->failed |=
            !grow(a, &row->at, old, row->room, sizeof *row->at)
            || (eliminates && !grow(a, &row->as_posted, old, row->room, sizeof *row->as_posted));
        if (a->failed)
            return;
    }
    if (eliminates)
        row->as_posted[row->n] = receive_of(a, f, maker);
    row->at[row->n++] = (Answer){open ? ANSWER_PENDING : ORDER_ANSWER_AS_POSTED, 0, 0};
    if (wend_is_handle(request))
        note(a, request_of(a, request)->open, &posting);
}

/* WHEN: the call that completed it, if its sequence did; else ORDER_NEVER. */
static void settle(OrderAnswers *a, Posting posting, Answer answer, guint64 when)
{
    const AnswerRow *row = &a->answers[posting.kind][posting.sequence];
    Answer *known = &row->at[posting.index];
    if (row->as_posted && answer.kind != ANSWER_FREED)
        row->as_posted[posting.index].completed = when;
    gboolean open = known->kind == ANSWER_PENDING;
    if (open && answer.kind == ORDER_ANSWER_AS_POSTED)
        answer.kind = ANSWER_UNKNOWN;
    if (open || answer.kind == ORDER_ANSWER_NONE)
        *known = answer;
}

static void complete(OrderAnswers *a, const Following *f, gint64 word, Answer answer)
{
    Request *r = g_hash_table_lookup(a->requests, &word);
    if (r && r->open->len) {
        Posting last = g_array_index(r->open, Posting, r->open->len - 1);
        if (last.sequence == f->sequence) {
            settle(a, last, answer, f->index);
            g_array_set_size(r->open, r->open->len - 1);
            return;
        }
    }
    /* Other sequences post it, if any does. */
    if (a->callbacks || wend_handle_tid(word) != f->thread)
        note(a, request_of(a, word)->elsewhere, &answer);
}

static Answer answer_of(const gint64 *status)
{
    if (status && (status[3] & 1))
        return (Answer){ORDER_ANSWER_NONE, 0, 0};
    if (!status || wend_is_special(status[0]) || wend_is_special(status[1])
        || status[0] != (gint32)status[0] || status[1] != (gint32)status[1])
        return (Answer){ORDER_ANSWER_AS_POSTED, 0, 0};
    return (Answer){ORDER_ANSWER_MATCHED, (gint32)status[0], (gint32)status[1]};
}

/* Another receive got the message of ANSWER, which R is. */
static void take(OrderAnswers *a, OrderReceive r, Answer answer)
{
    if (answer.kind == ORDER_ANSWER_MATCHED) {
        r.source = answer.source;
        r.tag = answer.tag;
    }
    order_leftovers_take(a->leftovers, r);
}

/* A receive that waits, or a matched probe, got a message. */
static void received(OrderAnswers *a, const Following *f, const WendCall *call)
{
    const WendArg *status = wend_call_arg_of_kind(call, WEND_KIND_STATUS),
                  *message = wend_call_arg_of_kind(call, WEND_KIND_MESSAGE),
                  *comm = wend_call_arg_of_kind(call, WEND_KIND_COMM);
    gboolean probe = message && message->param->dir == WEND_DIR_OUT && message->n_out > 0
                     && wend_is_handle(message->out[0]);
    if (call->poll || !status || status->n_out != 1 || !comm || comm->n_in < 1
        || !(probe || (posted_receive(call) && !posted_is_receive(call))))
        return;
    OrderReceive r = {order_leftovers_comm(a->leftovers, f->walk, comm->in[0]), -1, -1, f->index,
                      f->index};
    take(a, r, answer_of(status->out));
}

/* The outcome of a call that failed because a message was too long: the status; or the index of the
 * request, the status, and the indices of others that the call ended. */
enum { FAILED_STATUS = 2, FAILED_INDEX = 2, STATUS_WORDS = 4 };

/* What a receive got whose message was too long. The failed call has its status as it was recorded,
 * relative to the receive (docs/recording.md, "Calls as words"). AT: where. MAKER: the receive. */
static Answer truncated(const OrderAnswers *a, const WendCall *call, const WendCall *maker,
                        guint at)
{
    const WendParam *of = maker ? posted_receive(maker) : NULL;
    if (call->n_outcome < at + STATUS_WORDS || !of)
        return (Answer){ORDER_ANSWER_AS_POSTED, 0, 0};
    gint64 status[STATUS_WORDS], source = posted_word(maker, of->source),
                                 tag = posted_word(maker, of->tag);
    memcpy(status, call->outcome + at, sizeof status);
    gboolean good =
        !__builtin_add_overflow(status[0], source == a->any.source ? posted_word(maker, 0) : source,
                                &status[0])
        && !__builtin_add_overflow(status[1], tag == a->any.tag ? 0 : tag, &status[1]);
    return good ? answer_of(status) : (Answer){ORDER_ANSWER_AS_POSTED, 0, 0};
}

/* The request that a failed MPI_Waitany or MPI_Testany completed. -1: it is not recorded. */
static gint64 failed_index(const WendCall *call, const WendArg *requests)
{
    if (!requests->param->array || call->n_outcome < FAILED_INDEX + 1 + STATUS_WORDS)
        return -1;
    gint64 index = call->outcome[FAILED_INDEX];
    return index < requests->n_in ? index : -1;
}

/* Whether a failed call may have completed the request at I. ONE: the request that it chose. */
static gboolean may_have_completed(const WendCall *call, gint64 one, gint64 i)
{
    gboolean may = one < 0 || i == one;
    for (guint k = FAILED_INDEX + 1 + STATUS_WORDS; !may && k < call->n_outcome; k++)
        may = call->outcome[k] == i;
    return may;
}

/* A call that failed may have completed its requests. */
static void fail(OrderAnswers *a, const Following *f, const WendCall *call)
{
    const WendArg *requests = wend_call_arg_of_kind(call, WEND_KIND_REQUEST);
    if (a->leftovers && !requests && posted_receive(call) && call->n_outcome > FAILED_STATUS) {
        OrderReceive r = receive_of(a, f, call);
        r.completed = f->index;
        take(a, r, truncated(a, call, call, FAILED_STATUS));
    }
    if (!requests || requests->param->dir == WEND_DIR_OUT
        || !(call->function->flags & WEND_F_COMPLETES))
        return;
    gint64 one = failed_index(call, requests);
    for (gint64 i = 0; i < requests->n_in; i++) {
        gint64 request = requests->in[i];
        const Request *r = g_hash_table_lookup(a->requests, &request);
        if (!r || r->open->len == 0 || !may_have_completed(call, one, i))
            continue;
        Answer answer = {ORDER_ANSWER_AS_POSTED, 0, 0};
        if (i == one || !requests->param->array)
            answer = truncated(a, call, posted_maker(f->walk, f->decoder, a->rank, request),
                               i == one ? FAILED_INDEX + 1 : FAILED_STATUS);
        complete(a, f, request, answer);
    }
}

/* Persistent requests that the call starts. */
static void start(OrderAnswers *a, const Following *f, const WendCall *call)
{
    const WendArg *requests = wend_call_arg_of_kind(call, WEND_KIND_REQUEST);
    for (gint64 i = 0; i < requests->n_in; i++) {
        const WendCall *maker = posted_maker(f->walk, f->decoder, a->rank, requests->in[i]);
        if (maker && (posted_is_receive(maker) || posted_is_send(maker)))
            post(a, f, maker, requests->in[i]);
    }
}

/* A request is freed. What it was posted for last is not known to be complete. */
static void forget(OrderAnswers *a, const Following *f, const WendCall *call)
{
    const WendArg *request = wend_call_arg_of_kind(call, WEND_KIND_REQUEST);
    gint64 word = request && request->n_in == 1 ? request->in[0] : WEND_ABSENT;
    const Request *r = g_hash_table_lookup(a->requests, &word);
    const WendCall *maker = posted_maker(f->walk, f->decoder, a->rank, word);
    /* Another thread may have completed the last start of a persistent one. */
    gboolean may_be_complete = a->n_sequences > 1 && (!maker || posted_is_persistent(maker));
    if (r && r->open->len > 0 && !may_be_complete)
        complete(a, f, word, (Answer){ANSWER_FREED, 0, 0});
}

static void follow_call(OrderAnswers *a, const Following *f, const WendCall *call)
{
    guint n;
    if (call->failed) {
        fail(a, f, call);
        return;
    }
    const gint64 *completed = wend_walk_completed(f->walk, &n);
    for (guint i = 0; i < n; i++)
        complete(a, f, completed[i], answer_of(wend_call_status_of(call, completed, i)));
    if (a->leftovers)
        received(a, f, call);
    if (posted_starts(call))
        start(a, f, call);
    else if (strcmp(call->function->name, "MPI_Request_free") == 0)
        forget(a, f, call);
    else if (!posted_is_persistent(call) && (posted_is_receive(call) || posted_is_send(call)))
        post(a, f, call, posted_request(call));
}

static void follow(OrderAnswers *a, const WendClass *class, guint sequence)
{
    const WendSequence *s = &class->sequences[sequence];
    Following f = {sequence, s->kind == WEND_SEQUENCE_CALLBACK ? -1 : s->id, 0,
                   wend_walk_new(a->p, a->rank, sequence, WEND_WALK_MAIN), wend_decoder_new(a->p)};
    const WendCall *call;
    while (!a->failed && (call = wend_walk_next(f.walk))) {
        f.index = call->index;
        follow_call(a, &f, call);
    }
    wend_decoder_free(f.decoder);
    wend_walk_free(f.walk);
}

static void pair_elsewhere(OrderAnswers *a)
{
    GHashTableIter i;
    gpointer value;
    g_hash_table_iter_init(&i, a->requests);
    while (g_hash_table_iter_next(&i, NULL, &value)) {
        const Request *r = value;
        for (guint k = 0; k < r->open->len && k < r->elsewhere->len; k++)
            settle(a, g_array_index(r->open, Posting, k), g_array_index(r->elsewhere, Answer, k),
                   ORDER_NEVER);
    }
}

/* -- what is not recorded -- */

static gboolean is_final(const Answer *answer)
{
    return answer->kind <= ORDER_ANSWER_NONE;
}

/* Whether there are receives of which it is not recorded what they got. If the run died, what was
 * pending stays pending. */
static gboolean has_unknown(OrderAnswers *a)
{
    gboolean died = wend_program_ended_early(a->p), unknown = FALSE;
    for (guint q = 0; q < a->n_sequences; q++)
        for (gsize i = 0; i < a->answers[ORDER_RECEIVES][q].n; i++) {
            Answer *answer = &a->answers[ORDER_RECEIVES][q].at[i];
            if (died && answer->kind == ANSWER_PENDING)
                answer->kind = ORDER_ANSWER_NONE;
            unknown |= !is_final(answer);
        }
    return unknown;
}

/* Appends pointers to the answers of a kind, and the receives. */
static void collect(OrderAnswers *a, gint32 kind, GPtrArray *answers, GArray *wanted)
{
    for (guint q = 0; q < a->n_sequences; q++) {
        const AnswerRow *row = &a->answers[ORDER_RECEIVES][q];
        for (gsize i = 0; i < row->n; i++)
            if (row->at[i].kind == kind) {
                g_ptr_array_add(answers, &row->at[i]);
                g_array_append_val(wanted, row->as_posted[i]);
            }
    }
}

/* Finds what receives got whose status is not recorded. Those that completed got a message; others
 * perhaps. */
static void eliminate(OrderAnswers *a)
{
    for (guint q = 0; q < a->n_sequences; q++) {
        const AnswerRow *row = &a->answers[ORDER_RECEIVES][q];
        for (gsize i = 0; i < row->n; i++)
            if (row->at[i].kind == ORDER_ANSWER_AS_POSTED
                || row->at[i].kind == ORDER_ANSWER_MATCHED)
                take(a, row->as_posted[i], row->at[i]);
    }
    g_autoptr(GPtrArray) answers = g_ptr_array_new();
    g_autoptr(GArray) wanted = g_array_new(FALSE, FALSE, sizeof(OrderReceive));
    collect(a, ANSWER_UNKNOWN, answers, wanted);
    collect(a, ANSWER_FREED, answers, wanted);
    collect(a, ANSWER_PENDING, answers, wanted);
    g_autofree gboolean *got = g_new0(gboolean, answers->len + 1);
    order_leftovers_give(a->leftovers, (OrderReceive *)(gpointer)wanted->data, got, answers->len);
    for (guint i = 0; i < answers->len; i++) {
        const OrderReceive *r = &g_array_index(wanted, OrderReceive, i);
        gint64 status[STATUS_WORDS] = {r->source, r->tag};
        if (got[i])
            *(Answer *)answers->pdata[i] = answer_of(status);
    }
}

/* -- the whole -- */

static OrderAnswers *answers_new(const WendProgram *p, guint rank, Allowance *allowance)
{
    OrderAnswers *a = g_new(OrderAnswers, 1);
    *a = (OrderAnswers){.p = p, .rank = rank, .allowance = allowance, .any = posted_any()};
    return a;
}

/* Follows all that the rank posts. */
static void find(OrderAnswers *a, const WendClass *class)
{
    a->n_sequences = class->n_sequences;
    a->ordered = class->n_orders > 0;
    for (OrderPosted k = 0; k < ORDER_POSTED_KINDS; k++) {
        a->answers[k] = g_new0(AnswerRow, a->n_sequences);
        a->streams[k] = g_new0(WendStream, a->n_sequences);
    }
    a->requests =
        g_hash_table_new_full(wend_program_word_hash, g_int64_equal, g_free, request_free);
    for (guint q = 0; q < a->n_sequences; q++)
        a->callbacks |= class->sequences[q].kind == WEND_SEQUENCE_CALLBACK;
    for (guint q = 0; q < a->n_sequences; q++)
        follow(a, class, q);
    if (!a->failed)
        pair_elsewhere(a);
}

/* Makes the stream of a row. What is not known is as posted, or gets nothing if it may not have got
 * anything. FALSE: no memory. */
static gboolean put_stream(OrderAnswers *a, AnswerRow *row, WendStream *stream)
{
    gsize taken = 0;
    stream->flat = true;
    for (gsize i = 0; i < row->n; i++) {
        Answer *answer = &row->at[i];
        if (!is_final(answer))
            answer->kind =
                answer->kind == ANSWER_UNKNOWN ? ORDER_ANSWER_AS_POSTED : ORDER_ANSWER_NONE;
        a->none |= answer->kind == ORDER_ANSWER_NONE;
        gint64 words[ORDER_ANSWER_WORDS] = {answer->kind, answer->source, answer->tag};
        if (!wend_stream_add_run(stream, words, ORDER_ANSWER_WORDS, 1)
            || !order_admits(a->allowance, stream, &taken))
            return FALSE;
    }
    if (!a->ordered)
        g_clear_pointer(&row->at, g_free);
    return TRUE;
}

static gboolean any_none(const AnswerRow *row)
{
    gboolean any = FALSE;
    for (gsize i = 0; i < row->n; i++)
        any |= row->at[i].kind == ORDER_ANSWER_NONE;
    return any;
}

OrderAnswers *order_answers(const WendProgram *p, guint rank, Allowance *allowance,
                            gboolean *needs_all)
{
    const WendClass *class = wend_program_class(p, wend_program_class_of(p, rank));
    OrderAnswers *a = answers_new(p, rank, allowance);
    if (!needs_answers(a, class))
        return a;
    find(a, class);
    if (!a->failed && has_unknown(a)) {
        order_answers_free(a);
        if (needs_all) {
            *needs_all = TRUE;
            return NULL;
        }
        a = answers_new(p, rank, allowance);
        needs_answers(a, class);
        a->leftovers = order_leftovers_new(p, rank, allowance);
        find(a, class);
        a->failed |= !order_leftovers_good(a->leftovers);
        if (!a->failed && has_unknown(a))
            eliminate(a);
    }
    gboolean good = !a->failed;
    for (guint q = 0; good && q < a->n_sequences; q++) {
        good = put_stream(a, &a->answers[ORDER_RECEIVES][q], &a->streams[ORDER_RECEIVES][q]);
        if (good && any_none(&a->answers[ORDER_SENDS][q])) /* else all sends are made */
            good = put_stream(a, &a->answers[ORDER_SENDS][q], &a->streams[ORDER_SENDS][q]);
    }
    if (!good)
        order_answers_free(a);
    return good ? a : NULL;
}

const OrderAnswer *order_answer(const OrderAnswers *a, guint sequence, gsize posting)
{
    const AnswerRow *row = sequence < a->n_sequences ? &a->answers[ORDER_RECEIVES][sequence] : NULL;
    return row && row->at && posting < row->n ? &row->at[posting] : NULL;
}

gboolean order_answers_none(const OrderAnswers *a)
{
    return a->none;
}

WendStream *order_answers_of(const OrderAnswers *a, OrderPosted kind, guint sequence)
{
    return sequence < a->n_sequences && a->streams[kind][sequence].entries
               ? &a->streams[kind][sequence]
               : NULL;
}

void order_answers_free(OrderAnswers *a)
{
    for (OrderPosted k = 0; k < ORDER_POSTED_KINDS; k++) {
        for (guint q = 0; q < a->n_sequences; q++) {
            g_free(a->answers[k][q].at);
            g_free(a->answers[k][q].as_posted);
            wend_stream_clear(&a->streams[k][q]);
        }
        g_free(a->answers[k]);
        g_free(a->streams[k]);
    }
    if (a->requests)
        g_hash_table_unref(a->requests);
    order_leftovers_free(a->leftovers);
    g_free(a);
}
