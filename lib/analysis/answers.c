/* SPDX-License-Identifier: BSD-3-Clause */
/* answers.c: see answers.h. */
#include "config.h"

#include "answers.h"

#include <string.h>

enum { STATUS_AT = 2, STATUS_WORDS = 4 }; /* of a failed receive, in its outcome */
enum { POSTING_MEMORY = 2 * (sizeof(Answer) + 32) };
enum { STEPS = 64 }; /* calls of another sequence at a time */

/* A posting that has not been given to the user. */
typedef struct {
    Answer answer;
    gboolean settled;
    gboolean left; /* its own sequence does not complete it */
} Posted;

/* Postings by number: those before FIRST have been given. */
typedef struct {
    WendWalk *walk; /* NULL: not begun, or at its end */
    gboolean ended;
    GArray *postings; /* Posted */
    gsize taken;      /* of the array */
    guint64 first;    /* number of the first one in the array */
} AnswerSequence;

typedef struct {
    guint sequence;
    guint64 number;
} PostingAt;

/* One request word. */
typedef struct {
    GArray *open;      /* PostingAt: neither complete nor left */
    GArray *left;      /* PostingAt: not completed by the sequence that posted it, in order */
    GArray *elsewhere; /* Answer: completions in other sequences, in order */
} PostedRequest;

struct RankAnswers {
    const WendProgram *p;
    guint rank, n_sequences;
    gboolean sends, cancels;
    guint keep; /* decoded signatures */
    Allowance *allowance;
    gboolean full; /* memory is used up */
    AnswerSequence *sequences;
    GHashTable *requests; /* word -> PostedRequest */
    WendDecoder *decoder;
    gint64 any_source, any_tag;
};

/* -- which calls post -- */

static const WendArg *request_made(const WendCall *call)
{
    for (guint i = 0; i < call->n_args; i++)
        if (call->args[i].param->kind == WEND_KIND_REQUEST
            && call->args[i].param->dir == WEND_DIR_OUT)
            return &call->args[i];
    return NULL;
}

static gint64 in_word(const WendCall *call, int param)
{
    const WendArg *arg = param >= 0 && param < (int)call->n_args ? &call->args[param] : NULL;
    return arg && arg->n_in > 0 && arg->in ? arg->in[0] : WEND_ABSENT;
}

/* Whether the receive that CALL makes leaves source or tag to the messages that come. */
static gboolean leaves_open(gint64 any_source, gint64 any_tag, const WendCall *call,
                            const WendParam *of)
{
    gboolean named = of->source >= 0 && call->args[of->source].param->kind == WEND_KIND_RANK;
    return (named && in_word(call, of->source) == any_source) || in_word(call, of->tag) == any_tag;
}

gboolean answers_is_receive(const WendCall *call)
{
    const WendArg *made = call->function->flags & WEND_F_RECV ? request_made(call) : NULL;
    int source = made ? made->param->source : -1; /* a matched receive has a message there */
    return source >= 0 && call->args[source].param->kind == WEND_KIND_RANK;
}

static gboolean is_send(const WendCall *call)
{
    return (call->function->flags & WEND_F_SEND) && request_made(call);
}

static gboolean is_posting(const RankAnswers *a, const WendCall *call)
{
    return answers_is_receive(call) || (a->sends && is_send(call));
}

gboolean answers_needed(const WendProgram *p, guint rank, gboolean *cancels)
{
    const WendClass *class = wend_program_class(p, wend_program_class_of(p, rank));
    gint64 any_source = wend_constant_word("MPI_ANY_SOURCE"),
           any_tag = wend_constant_word("MPI_ANY_TAG");
    WendDecoder *decoder = wend_decoder_new(p);
    gboolean needs = FALSE;
    guint n = wend_program_n_rules(p);
    g_autofree guint8 *needed = g_new0(guint8, n + 1);
    *cancels = FALSE;
    for (guint q = 0; q < class->n_sequences; q++)
        needed[class->sequences[q].rule] = TRUE;
    for (guint r = n; !*cancels && r-- > 0;) {
        const WendRule *rule = wend_program_rule(p, r);
        for (guint k = 0; needed[r] && k < rule->n; k++) {
            const WendSymbol *s = &rule->symbols[k];
            if (s->is_rule) {
                needed[s->id] = TRUE;
                continue;
            }
            const WendFunction *f =
                wend_program_shape(p, wend_program_terminal(p, s->id)->shape)->function;
            *cancels |= strcmp(f->name, "MPI_Cancel") == 0;
            if (needs || !(f->flags & WEND_F_RECV))
                continue;
            const WendCall *call = wend_decoder_call(decoder, s->id, rank);
            needs = answers_is_receive(call)
                    && leaves_open(any_source, any_tag, call, request_made(call)->param);
        }
    }
    wend_decoder_free(decoder);
    return needs || *cancels;
}

/* -- postings and completions -- */

static void request_free(gpointer data)
{
    PostedRequest *r = data;
    g_array_unref(r->open);
    g_array_unref(r->left);
    g_array_unref(r->elsewhere);
    g_free(r);
}

static PostedRequest *request_of(RankAnswers *a, gint64 word)
{
    PostedRequest *r = g_hash_table_lookup(a->requests, &word);
    if (!r) {
        r = g_new(PostedRequest, 1);
        *r = (PostedRequest){g_array_new(FALSE, FALSE, sizeof(PostingAt)),
                             g_array_new(FALSE, FALSE, sizeof(PostingAt)),
                             g_array_new(FALSE, FALSE, sizeof(Answer))};
        g_hash_table_insert(a->requests, g_memdup2(&word, sizeof word), r);
    }
    return r;
}

/* NULL: it has been given. */
static Posted *posted_at(RankAnswers *a, PostingAt at)
{
    AnswerSequence *q = &a->sequences[at.sequence];
    return at.number >= q->first
               ? &g_array_index(q->postings, Posted, q->taken + (gsize)(at.number - q->first))
               : NULL;
}

static void settle(RankAnswers *a, PostingAt at, Answer answer)
{
    Posted *posted = posted_at(a, at);
    if (!posted)
        return;
    if (answer.kind == ANSWER_CANCELLED || posted->answer.kind == ANSWER_NONE)
        posted->answer = answer;
    posted->settled = TRUE;
}

static void pair_left(RankAnswers *a, PostedRequest *r)
{
    while (r->left->len > 0 && r->elsewhere->len > 0) {
        settle(a, g_array_index(r->left, PostingAt, 0), g_array_index(r->elsewhere, Answer, 0));
        g_array_remove_index(r->left, 0);
        g_array_remove_index(r->elsewhere, 0);
    }
}

/* The open postings of R are completed elsewhere, if at all: all, or those of SEQUENCE. */
static void leave(RankAnswers *a, PostedRequest *r, guint sequence)
{
    for (guint i = 0; i < r->open->len;) {
        PostingAt at = g_array_index(r->open, PostingAt, i);
        if (at.sequence != sequence) {
            i++;
            continue;
        }
        Posted *posted = posted_at(a, at);
        if (posted)
            posted->left = TRUE;
        g_array_append_val(r->left, at);
        g_array_remove_index(r->open, i);
    }
    pair_left(a, r);
}

static void post(RankAnswers *a, guint sequence, gint64 word, gboolean open)
{
    AnswerSequence *q = &a->sequences[sequence];
    PostingAt at = {sequence, q->first + (q->postings->len - q->taken)};
    Posted posted = {{open ? ANSWER_NONE : ANSWER_AS_POSTED, 0, 0}, FALSE, FALSE};
    /* A posting that names source and tag gets nothing else, unless it may be cancelled. */
    posted.settled = !wend_is_handle(word) || (!open && !a->cancels);
    a->full |= !allowance_take(a->allowance, 1, POSTING_MEMORY);
    g_array_append_val(q->postings, posted);
    if (!wend_is_handle(word))
        return;
    PostedRequest *r = request_of(a, word);
    leave(a, r, sequence);
    g_array_append_val(r->open, at);
}

static void complete(RankAnswers *a, guint sequence, gint64 word, Answer answer)
{
    PostedRequest *r = request_of(a, word);
    guint last = r->open->len - 1;
    if (r->open->len > 0 && g_array_index(r->open, PostingAt, last).sequence == sequence) {
        settle(a, g_array_index(r->open, PostingAt, last), answer);
        g_array_set_size(r->open, last);
    } else if (a->n_sequences > 1) {
        g_array_append_val(r->elsewhere, answer);
        pair_left(a, r);
    }
}

static Answer answer_of(const gint64 *status)
{
    if (status && (status[3] & 1))
        return (Answer){ANSWER_CANCELLED, 0, 0};
    if (!status || wend_is_special(status[0]) || wend_is_special(status[1]))
        return (Answer){ANSWER_AS_POSTED, 0, 0};
    return (Answer){ANSWER_MATCHED, status[0], status[1]};
}

/* The call that made a request; NULL: unknown. It belongs to the decoder. */
static const WendCall *maker_of(const RankAnswers *a, const WendWalk *walk, gint64 request)
{
    WendRequestState state;
    return wend_walk_request(walk, request, &state)
                   && state.terminal < wend_program_n_terminals(a->p)
               ? wend_decoder_call(a->decoder, state.terminal, a->rank)
               : NULL;
}

gboolean answers_has_status(const WendCall *failed)
{
    return failed->failed && !failed->unfinished && failed->n_outcome >= STATUS_AT + STATUS_WORDS;
}

gboolean answers_truncated(const WendCall *failed, const WendCall *receive, const WendParam *of,
                           gint64 status[4])
{
    if (!answers_has_status(failed))
        return FALSE;
    gint64 any_source = wend_constant_word("MPI_ANY_SOURCE"),
           any_tag = wend_constant_word("MPI_ANY_TAG"), source = in_word(receive, of->source),
           tag = in_word(receive, of->tag);
    memcpy(status, failed->outcome + STATUS_AT, STATUS_WORDS * sizeof *status);
    if (source == any_source) /* relative to self */
        source = in_word(receive, 0);
    if (tag == any_tag)
        tag = 0;
    status[2] = WEND_UNKNOWN;
    return !wend_is_special(source) && !wend_is_special(tag)
           && !__builtin_add_overflow(status[0], source, &status[0])
           && !__builtin_add_overflow(status[1], tag, &status[1]);
}

/* A call that failed may have completed its requests. Of arrays it is not recorded which. */
static void fail(RankAnswers *a, guint sequence, const WendCall *call)
{
    const WendArg *requests = wend_call_arg_of_kind(call, WEND_KIND_REQUEST);
    if (!requests || requests->param->dir == WEND_DIR_OUT || call->unfinished
        || !(call->function->flags & WEND_F_COMPLETES))
        return;
    for (gint64 i = 0; i < requests->n_in; i++) {
        gint64 request = requests->in[i], status[STATUS_WORDS];
        const PostedRequest *r =
            wend_is_handle(request) ? g_hash_table_lookup(a->requests, &request) : NULL;
        if (!r || r->open->len == 0)
            continue;
        Answer answer = {ANSWER_AS_POSTED, 0, 0};
        const WendCall *maker =
            requests->param->array ? NULL : maker_of(a, a->sequences[sequence].walk, request);
        if (maker && answers_is_receive(maker)
            && answers_truncated(call, maker, request_made(maker)->param, status))
            answer = answer_of(status);
        complete(a, sequence, request, answer);
    }
}

/* Persistent requests that the call starts. */
static void start(RankAnswers *a, guint sequence, const WendCall *call)
{
    const WendArg *requests = wend_call_arg_of_kind(call, WEND_KIND_REQUEST);
    for (gint64 i = 0; requests && i < requests->n_in; i++) {
        const WendCall *maker = maker_of(a, a->sequences[sequence].walk, requests->in[i]);
        if (maker && is_posting(a, maker))
            post(a, sequence, requests->in[i],
                 answers_is_receive(maker)
                     && leaves_open(a->any_source, a->any_tag, maker, request_made(maker)->param));
    }
}

/* -- going through the calls -- */

static void step(RankAnswers *a, guint sequence)
{
    AnswerSequence *q = &a->sequences[sequence];
    if (!q->walk) {
        q->walk = wend_walk_new(a->p, a->rank, sequence, WEND_WALK_MAIN);
        wend_walk_keep(q->walk, a->keep);
    }
    const WendCall *call = wend_walk_next(q->walk);
    if (!call) {
        GHashTableIter i;
        gpointer value;
        q->ended = TRUE;
        g_clear_pointer(&q->walk, wend_walk_free);
        g_hash_table_iter_init(&i, a->requests);
        while (g_hash_table_iter_next(&i, NULL, &value))
            leave(a, value, sequence);
        return;
    }
    if (call->failed) {
        fail(a, sequence, call);
        return;
    }
    guint n;
    gint64 k = 0;
    const gint64 *completed = wend_walk_completed(q->walk, &n);
    const WendArg *requests = n > 0 ? wend_call_arg_of_kind(call, WEND_KIND_REQUEST) : NULL;
    const WendArg *statuses = n > 0 ? wend_call_arg_of_kind(call, WEND_KIND_STATUS) : NULL;
    gboolean each = n > 0 && requests->param->array && !(call->function->flags & WEND_F_ANY);
    for (guint i = 0; i < n; i++, k++) {
        while (each && k < requests->n_in && requests->in[k] != completed[i])
            k++;
        complete(a, sequence, completed[i],
                 answer_of(statuses && k < statuses->n_out ? &statuses->out[4 * k] : NULL));
    }
    if (is_posting(a, call) && !(call->function->flags & WEND_F_PERSISTENT)) {
        const WendArg *made = request_made(call);
        post(a, sequence, made->n_out > 0 ? made->out[0] : -1,
             answers_is_receive(call) && leaves_open(a->any_source, a->any_tag, call, made->param));
    } else if (g_str_has_prefix(call->function->name, "MPI_Start")) {
        start(a, sequence, call);
    }
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
    *answer = g_array_index(q->postings, Posted, q->taken).answer;
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
        const Posted *next =
            q->postings->len > q->taken ? &g_array_index(q->postings, Posted, q->taken) : NULL;
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

RankAnswers *answers_new(const WendProgram *p, guint rank, gboolean sends, gboolean cancels,
                         guint keep, Allowance *allowance)
{
    const WendClass *class = wend_program_class(p, wend_program_class_of(p, rank));
    RankAnswers *a = g_new(RankAnswers, 1);
    *a = (RankAnswers){.p = p,
                       .rank = rank,
                       .n_sequences = class->n_sequences,
                       .sends = sends,
                       .cancels = cancels,
                       .keep = keep,
                       .allowance = allowance,
                       .any_source = wend_constant_word("MPI_ANY_SOURCE"),
                       .any_tag = wend_constant_word("MPI_ANY_TAG")};
    a->sequences = g_new0(AnswerSequence, a->n_sequences + 1);
    for (guint q = 0; q < a->n_sequences; q++)
        a->sequences[q].postings = g_array_new(FALSE, FALSE, sizeof(Posted));
    a->requests =
        g_hash_table_new_full(wend_program_word_hash, g_int64_equal, g_free, request_free);
    a->decoder = wend_decoder_new(p);
    return a;
}

void answers_free(RankAnswers *a)
{
    if (!a)
        return;
    for (guint q = 0; q < a->n_sequences; q++) {
        wend_walk_free(a->sequences[q].walk);
        g_array_unref(a->sequences[q].postings);
    }
    g_free(a->sequences);
    g_hash_table_unref(a->requests);
    wend_decoder_free(a->decoder);
    g_free(a);
}
