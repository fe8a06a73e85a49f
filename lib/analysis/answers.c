/* SPDX-License-Identifier: BSD-3-Clause */
/* answers.c: see answers.h. */
#include "config.h"

#include "answers.h"

#include <string.h>

/* Where a failed call has the status of a message that was too long. MPI_Waitany and MPI_Testany
 * have the index of its request there and the status behind, then the indices of other requests
 * that the call ended. */
enum { FAILED_AT = 2, STATUS_WORDS = 4 };
enum { POSTING_MEMORY = 2 * (sizeof(Answer) + 32) };
enum { STEPS = 64 }; /* calls of another sequence at a time */

/* A posting that has not been given to the user. */
typedef struct {
    Answer answer;
    gboolean settled;
    gboolean left; /* its own sequence does not complete it */
} PostedAnswer;

/* Postings by number: those before FIRST have been given. */
typedef struct {
    WendWalk *walk; /* NULL: not begun, or at its end */
    gboolean ended;
    GArray *postings; /* Posted */
    gsize taken;      /* of the array */
    guint64 first;    /* number of the first one in the array */
} AnswerSequence;

/* Requests that the user has no answers for are followed as well, if other threads may complete
 * them. Their number is NOT_ASKED. */
#define NOT_ASKED G_MAXUINT64
typedef struct {
    guint sequence;
    guint64 number;
} PostingAt;

/* Things in order, of which the first TAKEN have been taken. */
typedef struct {
    GArray *things;
    guint taken;
} Queue;

/* One request word. */
typedef struct {
    GArray *open;    /* PostingAt: neither complete nor left */
    Queue left;      /* PostingAt: not completed by the sequence that posted it, in order */
    Queue elsewhere; /* Answer: completions in other sequences, in order */
} PostedRequest;

struct RankAnswers {
    const WendProgram *p;
    CallPlans *plans;
    guint rank, n_sequences;
    guint flags;
    guint keep; /* decoded signatures */
    Allowance *allowance;
    gboolean full; /* memory is used up */
    AnswerSequence *sequences;
    GHashTable *requests; /* word -> PostedRequest */
    WendDecoder *decoder;
    MessageWords words;
};

gboolean answers_needed(const WendProgram *p, CallPlans *plans, guint rank, gboolean *cancels)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    const MessageWords words = call_plan_message_words();
    WendDecoder *decoder = decoder_new(p);
    gboolean needs = FALSE;
    guint n = program_n_rules(p);
    g_autofree guint8 *needed = g_new0(guint8, n + 1);
    *cancels = FALSE;
    for (guint q = 0; q < class->n_sequences; q++)
        needed[class->sequences[q].rule] = TRUE;
    for (guint r = n; !*cancels && r-- > 0;) {
        const WendRule *rule = program_rule(p, r);
        for (guint k = 0; needed[r] && k < rule->n; k++) {
            const WendSymbol *s = &rule->symbols[k];
            if (s->is_rule) {
                needed[s->id] = TRUE;
                continue;
            }
            const WendFunction *f = program_shape(p, program_terminal(p, s->id)->shape)->function;
            *cancels |= f->id == WEND_FN_MPI_Cancel;
            if (needs || !(f->flags & WEND_F_RECV))
                continue;
            const WendCall *call = decoder_call(decoder, s->id, rank);
            const CallPlan *plan = call_plans_of(plans, call);
            needs =
                plan && call_plan_posts_receive(plan) && call_plan_leaves_open(plan, call, &words);
        }
    }
    decoder_free(decoder);
    return needs || *cancels;
}

/* -- requests -- */

static void queue_push(RankAnswers *a, Queue *q, gconstpointer thing)
{
    a->full |= !allowance_take(a->allowance, 2, g_array_get_element_size(q->things));
    g_array_append_vals(q->things, thing, 1);
}

static gboolean queue_is_empty(const Queue *q)
{
    return q->taken == q->things->len;
}

/* Takes the first of Q, which is not empty. It is valid until the next push. */
static gconstpointer queue_pop(RankAnswers *a, Queue *q)
{
    guint size = g_array_get_element_size(q->things);
    if (q->taken >= 1024 && 2 * q->taken >= q->things->len) {
        g_array_remove_range(q->things, 0, q->taken);
        q->taken = 0;
    }
    allowance_give(a->allowance, 2 * (guint64)size);
    return q->things->data + (gsize)size * q->taken++;
}

static void request_free(gpointer data)
{
    PostedRequest *r = data;
    g_array_unref(r->open);
    g_array_unref(r->left.things);
    g_array_unref(r->elsewhere.things);
    g_free(r);
}

static PostedRequest *request_of(RankAnswers *a, gint64 word)
{
    PostedRequest *r = g_hash_table_lookup(a->requests, &word);
    if (!r) {
        r = g_new(PostedRequest, 1);
        *r = (PostedRequest){g_array_new(FALSE, FALSE, sizeof(PostingAt)),
                             {g_array_new(FALSE, FALSE, sizeof(PostingAt)), 0},
                             {g_array_new(FALSE, FALSE, sizeof(Answer)), 0}};
        g_hash_table_insert(a->requests, g_memdup2(&word, sizeof word), r);
    }
    return r;
}

/* -- postings and completions -- */

/* NULL: it has been given, or is never asked for. */
static PostedAnswer *posted_at(RankAnswers *a, PostingAt at)
{
    AnswerSequence *q = &a->sequences[at.sequence];
    return at.number != NOT_ASKED && at.number >= q->first
               ? &g_array_index(q->postings, PostedAnswer, q->taken + (gsize)(at.number - q->first))
               : NULL;
}

static void settle(RankAnswers *a, PostingAt at, Answer answer)
{
    PostedAnswer *posted = posted_at(a, at);
    if (!posted)
        return;
    answer.is_send = posted->answer.is_send;
    if (posted->answer.kind == ANSWER_NONE || answer.kind == ANSWER_CANCELLED)
        posted->answer = answer;
    posted->answer.completed_by = answer.completed_by;
    posted->settled = TRUE;
}

static void pair_left(RankAnswers *a, PostedRequest *r)
{
    while (!queue_is_empty(&r->left) && !queue_is_empty(&r->elsewhere)) {
        const PostingAt *at = queue_pop(a, &r->left);
        Answer answer = *(const Answer *)queue_pop(a, &r->elsewhere);
        answer.completed_by = ANSWER_NEVER;
        settle(a, *at, answer);
    }
}

/* The open postings of R that SEQUENCE made are completed elsewhere, if at all. */
static void leave(RankAnswers *a, PostedRequest *r, guint sequence)
{
    for (guint i = 0; i < r->open->len;) {
        PostingAt at = g_array_index(r->open, PostingAt, i);
        if (at.sequence != sequence) {
            i++;
            continue;
        }
        PostedAnswer *posted = posted_at(a, at);
        if (posted)
            posted->left = TRUE;
        queue_push(a, &r->left, &at);
        g_array_remove_index(r->open, i);
    }
    pair_left(a, r);
}

/* SEQUENCE posts what MAKER is for, under WORD. */
static void post(RankAnswers *a, guint sequence, gint64 word, const CallMaker *maker)
{
    AnswerSequence *q = &a->sequences[sequence];
    PostingAt at = {sequence, NOT_ASKED};
    gboolean cancels = (a->flags & ANSWERS_CANCELS) != 0,
             receives = maker->plan && call_plan_posts_receive(maker->plan),
             sends = maker->plan && call_plan_posts_send(maker->plan);
    if (receives || (sends && cancels)) {
        gboolean open = receives && call_plan_leaves_open(maker->plan, maker->call, &a->words);
        AnswerKind kind = open ? ANSWER_NONE : ANSWER_AS_POSTED;
        gboolean wanted = open || cancels || (a->flags & ANSWERS_COMPLETIONS) != 0;
        PostedAnswer posted = {{kind, sends, 0, 0, ANSWER_NEVER},
                               .settled = !word_is_handle(word) || !wanted};
        at.number = q->first + (q->postings->len - q->taken);
        a->full |= !allowance_take(a->allowance, 1, POSTING_MEMORY);
        g_array_append_val(q->postings, posted);
    }
    if (!word_is_handle(word) || (at.number == NOT_ASKED && a->n_sequences == 1))
        return;
    PostedRequest *r = request_of(a, word);
    leave(a, r, sequence);
    g_array_append_val(r->open, at);
}

static void complete(RankAnswers *a, guint sequence, gint64 word, Answer answer)
{
    PostedRequest *r =
        a->n_sequences > 1 ? request_of(a, word) : g_hash_table_lookup(a->requests, &word);
    guint last = r ? r->open->len - 1 : 0;
    if (r && r->open->len > 0 && g_array_index(r->open, PostingAt, last).sequence == sequence) {
        settle(a, g_array_index(r->open, PostingAt, last), answer);
        g_array_set_size(r->open, last);
    } else if (a->n_sequences > 1) {
        queue_push(a, &r->elsewhere, &answer);
        pair_left(a, r);
    }
}

/* What STATUS says of a request that CALL completed. */
static Answer answer_of(const gint64 *status, const WendCall *call)
{
    Answer answer = {.kind = ANSWER_UNKNOWN, .completed_by = call->index};
    if (status && (status[3] & 1)) {
        answer.kind = ANSWER_CANCELLED;
    } else if (status && !word_is_special(status[0]) && !word_is_special(status[1])) {
        answer.kind = ANSWER_MATCHED;
        answer.source = status[0];
        answer.tag = status[1];
    }
    return answer;
}

static CallMaker maker_of(const RankAnswers *a, guint sequence, gint64 request)
{
    return call_maker(a->plans, a->sequences[sequence].walk, a->decoder, a->rank, request);
}

/* -- calls that fail -- */

gboolean answers_has_status(const WendCall *failed)
{
    return failed->failed && !failed->unfinished && failed->n_outcome >= FAILED_AT + STATUS_WORDS;
}

/* The same for a status at AT. */
static gboolean truncated_at(const WendCall *failed, guint at, const CallMaker *receive,
                             gint64 status[4])
{
    if (!answers_has_status(failed) || failed->n_outcome < at + STATUS_WORDS)
        return FALSE;
    const MessageWords words = call_plan_message_words();
    gint64 source = call_plan_word(receive->call, receive->plan->source),
           tag = call_plan_word(receive->call, receive->plan->receive_tag);
    memcpy(status, failed->outcome + at, STATUS_WORDS * sizeof *status);
    if (source == words.any_source) /* relative to self */
        source = call_plan_word(receive->call, receive->plan->self);
    if (tag == words.any_tag)
        tag = 0;
    status[2] = WEND_UNKNOWN;
    return !word_is_special(source) && !word_is_special(tag)
           && !__builtin_add_overflow(status[0], source, &status[0])
           && !__builtin_add_overflow(status[1], tag, &status[1]);
}

gboolean answers_truncated(const WendCall *failed, const CallMaker *receive, gint64 status[4])
{
    return truncated_at(failed, FAILED_AT, receive, status);
}

/* The place in its array of the request that a failed MPI_Waitany or MPI_Testany completed. -1: it
 * is not recorded. */
static gint64 failed_index(const WendCall *call, const WendArg *requests)
{
    if (!requests->param->array || call->n_outcome < FAILED_AT + 1 + STATUS_WORDS)
        return -1;
    gint64 index = call->outcome[FAILED_AT];
    return index >= 0 && index < requests->n_in ? index : -1;
}

/* Whether a failed call may have completed the request at I. ONE: the request that it chose. */
static gboolean may_have_completed(const WendCall *call, gint64 one, gint64 i)
{
    gboolean may = one < 0 || i == one;
    for (guint k = FAILED_AT + 1 + STATUS_WORDS; !may && k < call->n_outcome; k++)
        may = call->outcome[k] == i;
    return may;
}

/* A call that failed or never returned may have completed its requests. */
static void fail(RankAnswers *a, guint sequence, const WendCall *call)
{
    const WendArg *requests = call_arg_of_kind(call, WEND_KIND_REQUEST);
    if (!requests || requests->param->dir == WEND_DIR_OUT
        || !(call->function->flags & WEND_F_COMPLETES))
        return;
    gint64 one = failed_index(call, requests);
    for (gint64 i = 0; i < requests->n_in; i++) {
        gint64 request = requests->in[i], status[STATUS_WORDS];
        const PostedRequest *r = g_hash_table_lookup(a->requests, &request);
        gboolean pending = r && (r->open->len > 0 || !queue_is_empty(&r->left));
        if (!word_is_handle(request) || !may_have_completed(call, one, i)
            || !(pending || call->unfinished))
            continue;
        CallMaker maker = {NULL, NULL};
        if (i == one || !requests->param->array)
            maker = maker_of(a, sequence, request);
        gboolean known =
            maker.call && call_plan_posts_receive(maker.plan)
            && truncated_at(call, i == one ? FAILED_AT + 1 : FAILED_AT, &maker, status);
        complete(a, sequence, request, answer_of(known ? status : NULL, call));
    }
}

/* -- calls that return -- */

/* Persistent requests that the call starts. */
static void start(RankAnswers *a, guint sequence, const WendCall *call)
{
    const WendArg *requests = call_arg_of_kind(call, WEND_KIND_REQUEST);
    for (gint64 i = 0; requests && i < requests->n_in; i++) {
        CallMaker maker = maker_of(a, sequence, requests->in[i]);
        post(a, sequence, requests->in[i], &maker);
    }
}

/* A request is freed. What it was posted for last is not known to be complete. */
static void forget(RankAnswers *a, guint sequence, const WendCall *call)
{
    const WendArg *request = call_arg_of_kind(call, WEND_KIND_REQUEST);
    gint64 word = request && request->n_in == 1 ? request->in[0] : WEND_ABSENT;
    CallMaker maker = maker_of(a, sequence, word);
    /* Another thread may have completed the last start of a persistent one. */
    gboolean may_be_complete = a->n_sequences > 1 && (!maker.plan || maker.plan->persistent);
    if (word_is_handle(word) && !may_be_complete)
        complete(a, sequence, word, (Answer){.kind = ANSWER_FREED, .completed_by = ANSWER_NEVER});
}

/* MPI_Request_get_status says what the request got, and leaves it to be completed or freed. */
static void look(RankAnswers *a, guint sequence, const WendCall *call)
{
    const WendArg *request = call_arg_of_kind(call, WEND_KIND_REQUEST);
    gint64 word = request && request->n_in == 1 ? request->in[0] : WEND_ABSENT;
    const gint64 *status = call_status_of(call, NULL, 0);
    const PostedRequest *r = word_is_handle(word) ? g_hash_table_lookup(a->requests, &word) : NULL;
    if (!status || !r || r->open->len == 0)
        return;
    PostingAt at = g_array_index(r->open, PostingAt, r->open->len - 1);
    PostedAnswer *posted = at.sequence == sequence ? posted_at(a, at) : NULL;
    Answer seen = answer_of(status, call);
    if (!posted || (posted->answer.kind != ANSWER_NONE && seen.kind != ANSWER_CANCELLED))
        return;
    seen.is_send = posted->answer.is_send;
    seen.completed_by = ANSWER_NEVER;
    posted->answer = seen;
    posted->settled |= (a->flags & ANSWERS_COMPLETIONS) == 0;
}

static void follow_call(RankAnswers *a, guint sequence, const WendCall *call)
{
    const CallPlan *plan = call_plans_of(a->plans, call);
    guint n;
    if (!plan)
        return;
    if (call->failed) {
        fail(a, sequence, call);
        return;
    }
    const gint64 *completed = walk_completed(a->sequences[sequence].walk, &n);
    for (guint i = 0; i < n; i++)
        complete(a, sequence, completed[i], answer_of(call_status_of(call, completed, i), call));
    if (plan->starts)
        start(a, sequence, call);
    else if (plan->role == ROLE_REQUEST_FREE)
        forget(a, sequence, call);
    else if (plan->role == ROLE_REQUEST_LOOK && !call->poll)
        look(a, sequence, call);
    else if (plan->request_made >= 0 && !plan->persistent)
        post(a, sequence, call_plan_request(plan, call), &(CallMaker){call, plan});
}

/* -- going through the calls -- */

static void end(RankAnswers *a, guint sequence)
{
    AnswerSequence *q = &a->sequences[sequence];
    GHashTableIter i;
    gpointer value;
    q->ended = TRUE;
    g_clear_pointer(&q->walk, walk_free);
    g_hash_table_iter_init(&i, a->requests);
    while (g_hash_table_iter_next(&i, NULL, &value))
        leave(a, value, sequence);
}

static void step(RankAnswers *a, guint sequence)
{
    AnswerSequence *q = &a->sequences[sequence];
    if (!q->walk) {
        q->walk = walk_new(a->p, a->rank, sequence, WEND_WALK_MAIN);
        walk_keep(q->walk, a->keep);
    }
    const WendCall *call = walk_next(q->walk);
    if (call)
        follow_call(a, sequence, call);
    else
        end(a, sequence);
}

/* Goes on in the other sequences. FALSE: they are at their ends. */
static gboolean step_others(RankAnswers *a, guint sequence)
{
    gboolean went = FALSE;
    for (guint q = 0; q < a->n_sequences; q++)
        for (guint i = 0; i < STEPS && q != sequence && !a->sequences[q].ended; i++) {
            step(a, q);
            went = TRUE;
        }
    return went;
}

static void take(AnswerSequence *q, Answer *answer)
{
    *answer = g_array_index(q->postings, PostedAnswer, q->taken).answer;
    q->taken++;
    q->first++;
    if (q->taken >= 1024 && 2 * q->taken >= q->postings->len) {
        g_array_remove_range(q->postings, 0, (guint)q->taken);
        q->taken = 0;
    }
}

gboolean answers_next(RankAnswers *a, guint sequence, Answer *answer)
{
    AnswerSequence *q = &a->sequences[sequence];
    for (;;) {
        const PostedAnswer *next = q->postings->len > q->taken
                                       ? &g_array_index(q->postings, PostedAnswer, q->taken)
                                       : NULL;
        if (a->full)
            return FALSE;
        if (next && next->settled)
            break;
        if (!q->ended && !(next && next->left))
            step(a, sequence);
        else if (!next)
            return FALSE;
        else if (!step_others(a, sequence))
            break;
    }
    take(q, answer);
    allowance_give(a->allowance, POSTING_MEMORY);
    return TRUE;
}

RankAnswers *answers_new(const WendProgram *p, CallPlans *plans, guint rank, guint flags,
                         guint keep, Allowance *allowance)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    RankAnswers *a = g_new(RankAnswers, 1);
    *a = (RankAnswers){.p = p,
                       .plans = plans,
                       .rank = rank,
                       .n_sequences = class->n_sequences,
                       .flags = flags,
                       .keep = keep,
                       .allowance = allowance,
                       .words = call_plan_message_words()};
    a->sequences = g_new0(AnswerSequence, a->n_sequences + 1);
    for (guint q = 0; q < a->n_sequences; q++)
        a->sequences[q].postings = g_array_new(FALSE, FALSE, sizeof(PostedAnswer));
    a->requests = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, request_free);
    a->decoder = decoder_new(p);
    return a;
}

void answers_free(RankAnswers *a)
{
    if (!a)
        return;
    for (guint q = 0; q < a->n_sequences; q++) {
        walk_free(a->sequences[q].walk);
        g_array_unref(a->sequences[q].postings);
    }
    g_free(a->sequences);
    g_hash_table_unref(a->requests);
    decoder_free(a->decoder);
    g_free(a);
}
