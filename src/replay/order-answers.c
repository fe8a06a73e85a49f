/* SPDX-License-Identifier: BSD-3-Clause */
/* order-answers.c: follows each receive from where it is posted to where it completes.
 *
 * A posting is a call that makes a request for a receive, or the start of a persistent one. The
 * replayer counts postings by the same rule. A request number of a thread is used again once the
 * request before is complete. So if the thread itself completes a request, it is the last one that
 * it has posted under that number. If other threads complete it, the postings under one number and
 * the completions are paired in order. */
#include "order-answers.h"

#include <string.h>

#include "order-calls.h"
#include "order-file.h"

typedef OrderAnswer Answer;

typedef struct {
    Answer *at;
    gsize n, room;
} AnswerRow;

typedef struct {
    guint sequence;
    gsize index; /* into that sequence's answers */
} Posting;

typedef struct {
    GArray *open;      /* Posting: not completed so far, in order */
    GArray *elsewhere; /* Answer: completions in other sequences than the posting's, in order */
} Request;

struct OrderAnswers {
    const WendProgram *p;
    guint n_sequences;
    AnswerRow *answers;   /* by sequence */
    WendStream *streams;  /* by sequence */
    GHashTable *requests; /* word -> Request */
    gboolean failed;      /* no memory */
    gint64 any_source, any_tag;
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

/* -- which receives there are -- */

/* Whether the receive that CALL makes leaves source or tag to the messages that come. */
static gboolean leaves_open(const OrderAnswers *a, const WendCall *call, const WendParam *of)
{
    const WendArg *source = of->source >= 0 ? &call->args[of->source] : NULL;
    const WendArg *tag = of->tag >= 0 ? &call->args[of->tag] : NULL;
    return (source && source->param->kind == WEND_KIND_RANK && source->n_in > 0
            && source->in[0] == a->any_source)
           || (tag && tag->n_in > 0 && tag->in[0] == a->any_tag);
}

/* Whether anything of what RANK's calls post must be enforced. */
static gboolean needs_answers(const OrderAnswers *a, guint rank, const WendClass *class)
{
    WendDecoder *decoder = wend_decoder_new(a->p);
    gboolean needs = FALSE;
    guint n = wend_program_n_rules(a->p);
    g_autofree guint8 *needed = g_new0(guint8, n + 1);
    for (guint q = 0; q < class->n_sequences; q++)
        needed[class->sequences[q].rule] = TRUE;
    for (guint r = n; !needs && r-- > 0;) {
        const WendRule *rule = wend_program_rule(a->p, r);
        for (guint k = 0; needed[r] && !needs && k < rule->n; k++) {
            const WendSymbol *s = &rule->symbols[k];
            if (s->is_rule) {
                needed[s->id] = TRUE;
                continue;
            }
            const WendCall *call = wend_decoder_call(decoder, s->id, rank);
            needs = strcmp(call->function->name, "MPI_Cancel") == 0
                    || (call_makes_receive(call)
                        && leaves_open(a, call, call_request_made(call)->param));
        }
    }
    wend_decoder_free(decoder);
    return needs;
}

/* -- following them -- */

static void post(OrderAnswers *a, guint sequence, gint64 word, gboolean open)
{
    AnswerRow *row = &a->answers[sequence];
    /* An open one that never completes must get no message. */
    Answer answer = {open ? ORDER_ANSWER_NONE : ORDER_ANSWER_AS_POSTED, 0, 0};
    Posting posting = {sequence, row->n};
    if (row->n == row->room) {
        gsize room = MAX(2 * row->room, 64);
        Answer *grown =
            room < G_MAXUINT / sizeof(Answer) ? g_try_renew(Answer, row->at, room) : NULL;
        a->failed |= grown == NULL;
        if (a->failed)
            return;
        *row = (AnswerRow){grown, row->n, room};
    }
    row->at[row->n++] = answer;
    if (wend_is_handle(word))
        g_array_append_val(request_of(a, word)->open, posting);
}

static void settle(OrderAnswers *a, Posting posting, Answer answer)
{
    Answer *known = &a->answers[posting.sequence].at[posting.index];
    if (answer.kind != ORDER_ANSWER_MATCHED || known->kind == ORDER_ANSWER_NONE)
        *known = answer;
}

static void complete(OrderAnswers *a, guint sequence, gint64 word, Answer answer)
{
    Request *r = request_of(a, word);
    guint last = r->open->len - 1;
    if (r->open->len && g_array_index(r->open, Posting, last).sequence == sequence) {
        settle(a, g_array_index(r->open, Posting, last), answer);
        g_array_set_size(r->open, last);
    } else {
        g_array_append_val(r->elsewhere, answer);
    }
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

enum { FAILED_STATUS = 2, STATUS_WORDS = 4 };

/* What a receive got whose message was too long. The failed call has its status as it was recorded,
 * relative to the receive (docs/recording.md, "Calls as words"). */
static Answer truncated(const OrderAnswers *a, const CallFollower *f, const WendCall *call,
                        gint64 request)
{
    const WendCall *maker = call_maker(f, request, call->rank);
    if (call->n_outcome < FAILED_STATUS + STATUS_WORDS || !maker || !call_makes_receive(maker))
        return (Answer){ORDER_ANSWER_AS_POSTED, 0, 0};
    const WendParam *of = call_request_made(maker)->param;
    gint64 status[STATUS_WORDS], source = call_in_word(maker, of->source),
                                 tag = call_in_word(maker, of->tag);
    memcpy(status, call->outcome + FAILED_STATUS, sizeof status);
    gboolean good =
        !__builtin_add_overflow(
            status[0], source == a->any_source ? call_in_word(maker, 0) : source, &status[0])
        && !__builtin_add_overflow(status[1], tag == a->any_tag ? 0 : tag, &status[1]);
    return good ? answer_of(status) : (Answer){ORDER_ANSWER_AS_POSTED, 0, 0};
}

/* A call that failed may have completed its requests. Of arrays it is not recorded which. */
static void fail(OrderAnswers *a, const CallFollower *f, const WendCall *call)
{
    const WendArg *requests = wend_call_arg_of_kind(call, WEND_KIND_REQUEST);
    if (!requests || requests->param->dir == WEND_DIR_OUT
        || !(call->function->flags & WEND_F_COMPLETES))
        return;
    for (gint64 i = 0; i < requests->n_in; i++) {
        gint64 request = requests->in[i];
        if (!wend_is_handle(request) || request_of(a, request)->open->len == 0)
            continue;
        Answer answer = {ORDER_ANSWER_AS_POSTED, 0, 0};
        complete(a, f->sequence, request,
                 requests->param->array ? answer : truncated(a, f, call, request));
    }
}

/* Persistent requests that the call starts. */
static void start(OrderAnswers *a, const CallFollower *f, const WendCall *call)
{
    const WendArg *requests = wend_call_arg_of_kind(call, WEND_KIND_REQUEST);
    for (gint64 i = 0; i < requests->n_in; i++) {
        const WendCall *maker = call_maker(f, requests->in[i], call->rank);
        if (maker && call_makes_receive(maker))
            post(a, f->sequence, requests->in[i],
                 leaves_open(a, maker, call_request_made(maker)->param));
    }
}

static void follow(OrderAnswers *a, guint rank, guint sequence)
{
    CallFollower f = call_follower(a->p, rank, sequence);
    const WendCall *call;
    while (!a->failed && (call = wend_walk_next(f.walk))) {
        guint n;
        if (call->failed) {
            fail(a, &f, call);
            continue;
        }
        const gint64 *completed = wend_walk_completed(f.walk, &n);
        for (guint i = 0; i < n; i++)
            complete(a, sequence, completed[i], answer_of(wend_call_status_of(call, completed, i)));
        if (call_posts_receive(call))
            post(a, sequence,
                 call_request_made(call)->n_out > 0 ? call_request_made(call)->out[0] : -1,
                 leaves_open(a, call, call_request_made(call)->param));
        else if (call_starts(call))
            start(a, &f, call);
    }
    call_follower_clear(&f);
}

static void pair_elsewhere(OrderAnswers *a)
{
    GHashTableIter i;
    gpointer value;
    g_hash_table_iter_init(&i, a->requests);
    while (g_hash_table_iter_next(&i, NULL, &value)) {
        const Request *r = value;
        for (guint k = 0; k < r->open->len && k < r->elsewhere->len; k++)
            settle(a, g_array_index(r->open, Posting, k), g_array_index(r->elsewhere, Answer, k));
    }
}

OrderAnswers *order_answers(const WendProgram *p, guint rank)
{
    const WendClass *class = wend_program_class(p, wend_program_class_of(p, rank));
    OrderAnswers *a = g_new(OrderAnswers, 1);
    *a = (OrderAnswers){.p = p,
                        .any_source = wend_constant_word("MPI_ANY_SOURCE"),
                        .any_tag = wend_constant_word("MPI_ANY_TAG")};
    if (!needs_answers(a, rank, class))
        return a;
    a->n_sequences = class->n_sequences;
    a->answers = g_new0(AnswerRow, a->n_sequences);
    a->streams = g_new0(WendStream, a->n_sequences);
    a->requests =
        g_hash_table_new_full(wend_program_word_hash, g_int64_equal, g_free, request_free);
    for (guint q = 0; q < a->n_sequences; q++)
        follow(a, rank, q);
    if (a->failed) {
        order_answers_free(a);
        return NULL;
    }
    pair_elsewhere(a);
    for (guint q = 0; q < a->n_sequences; q++) {
        a->streams[q].flat = true;
        for (gsize i = 0; i < a->answers[q].n; i++) {
            const Answer *answer = &a->answers[q].at[i];
            gint64 words[ORDER_ANSWER_WORDS] = {answer->kind, answer->source, answer->tag};
            if (!wend_stream_add_run(&a->streams[q], words, ORDER_ANSWER_WORDS, 1)) {
                order_answers_free(a);
                return NULL;
            }
        }
    }
    return a;
}

const OrderAnswer *order_answer(const OrderAnswers *a, guint sequence, gsize posting)
{
    return sequence < a->n_sequences && posting < a->answers[sequence].n
               ? &a->answers[sequence].at[posting]
               : NULL;
}

WendStream *order_answers_of(const OrderAnswers *a, guint sequence)
{
    return sequence < a->n_sequences && a->streams[sequence].entries ? &a->streams[sequence] : NULL;
}

void order_answers_free(OrderAnswers *a)
{
    for (guint q = 0; q < a->n_sequences; q++) {
        g_free(a->answers[q].at);
        wend_stream_clear(&a->streams[q]);
    }
    if (a->requests)
        g_hash_table_unref(a->requests);
    g_free(a->answers);
    g_free(a->streams);
    g_free(a);
}
