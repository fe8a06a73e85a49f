/* SPDX-License-Identifier: BSD-3-Clause */
/* order-answers.c: the answers of lib/analysis/answers.h as streams for the order file. The
 * replayer counts postings by the same rule.
 *
 * If it is not recorded what some receives got, the calls are gone through again, to find that by
 * elimination. */
#include "order-parts.h"

#include <string.h>

#include "lib/read/terminations.h"

#define KEEP_ALL G_MAXUINT /* decoded signatures */

struct OrderAnswers {
    const WendProgram *p;
    guint rank;
    guint n_sequences;
    Allowance *allowance;
    AnswerRow *answers[ORDER_POSTED_KINDS];  /* by sequence */
    WendStream *streams[ORDER_POSTED_KINDS]; /* by sequence */
    CallPlans *plans;
    guint flags;      /* ANSWERS_CANCELS; else all sends are made */
    gboolean none;    /* an answer is ORDER_ANSWER_NONE */
    gboolean ordered; /* there are orders of threads */
};

OrderAnswer order_answers_answer(const Answer *answer)
{
    switch (answer->kind) {
    case ANSWER_AS_POSTED:
        return (OrderAnswer){ORDER_ANSWER_AS_POSTED, 0, 0};
    case ANSWER_CANCELLED:
        return (OrderAnswer){ORDER_ANSWER_NONE, 0, 0};
    case ANSWER_FREED:
        return (OrderAnswer){ORDER_ANSWER_FREED, 0, 0};
    case ANSWER_NONE:
        return (OrderAnswer){ORDER_ANSWER_PENDING, 0, 0};
    case ANSWER_MATCHED:
        if (answer->source == (gint32)answer->source && answer->tag == (gint32)answer->tag)
            return (OrderAnswer){ORDER_ANSWER_MATCHED, (gint32)answer->source, (gint32)answer->tag};
        break;
    case ANSWER_UNKNOWN:
        break;
    }
    return (OrderAnswer){ORDER_ANSWER_UNKNOWN, 0, 0};
}

gboolean order_answers_admit(Allowance *allowance, const WendStream *stream, gsize *taken)
{
    gsize now = stream_memory(stream);
    if (now > *taken && !allowance_take(allowance, now - *taken, 1))
        return FALSE;
    *taken = MAX(*taken, now);
    return TRUE;
}

/* FALSE: no memory, or more than is allowed. */
static gboolean add(OrderAnswers *a, AnswerRow *row, OrderAnswer answer)
{
    if (row->n == row->room) {
        gsize room = MAX(2 * row->room, 64);
        guint8 *block = (guint8 *)row->at;
        gboolean good = room < G_MAXUINT / sizeof *row->at
                        && allowance_grow(a->allowance, &block, row->room * sizeof *row->at,
                                          room * sizeof *row->at);
        row->at = (OrderAnswer *)(gpointer)block;
        if (!good)
            return FALSE;
        row->room = room;
    }
    row->at[row->n++] = answer;
    return TRUE;
}

/* Whether more memory was wanted than is allowed: then answers are missing. */
static gboolean is_full(const OrderAnswers *a)
{
    return allowance_error(a->allowance, "", NULL);
}

/* Reads the answers of all that the rank posts. FALSE: no memory, or more than is allowed. */
static gboolean read_answers(OrderAnswers *a)
{
    RankAnswers *answers = answers_new(a->p, a->plans, a->rank, a->flags, KEEP_ALL, a->allowance);
    gboolean good = TRUE;
    Answer answer;
    for (guint q = 0; q < a->n_sequences; q++)
        while (good && answers_next(answers, q, &answer))
            good = add(a, &a->answers[answer.is_send ? ORDER_SENDS : ORDER_RECEIVES][q],
                       order_answers_answer(&answer));
    answers_free(answers);
    return good && !is_full(a);
}

/* -- what is not recorded -- */

static gboolean is_final(const OrderAnswer *answer)
{
    return answer->kind <= ORDER_ANSWER_NONE;
}

/* Whether there are receives of which it is not recorded what they got. If the run died, what was
 * pending stays pending. */
static gboolean has_unknown(OrderAnswers *a)
{
    gboolean died = terminations_any_early(a->p), unknown = FALSE;
    for (guint q = 0; q < a->n_sequences; q++)
        for (gsize i = 0; i < a->answers[ORDER_RECEIVES][q].n; i++) {
            OrderAnswer *answer = &a->answers[ORDER_RECEIVES][q].at[i];
            if (died && answer->kind == ORDER_ANSWER_PENDING)
                answer->kind = ORDER_ANSWER_NONE;
            unknown |= !is_final(answer);
        }
    return unknown;
}

/* -- the whole -- */

/* Makes the stream of a row. What is not known is as posted, or gets nothing if it may not have got
 * anything. FALSE: no memory. */
static gboolean put_stream(OrderAnswers *a, AnswerRow *row, WendStream *stream)
{
    gsize taken = 0;
    stream->flat = true;
    for (gsize i = 0; i < row->n; i++) {
        OrderAnswer *answer = &row->at[i];
        if (!is_final(answer))
            answer->kind =
                answer->kind == ORDER_ANSWER_UNKNOWN ? ORDER_ANSWER_AS_POSTED : ORDER_ANSWER_NONE;
        a->none |= answer->kind == ORDER_ANSWER_NONE;
        gint64 words[ORDER_ANSWER_WORDS] = {answer->kind, answer->source, answer->tag};
        if (!stream_add_run(stream, words, ORDER_ANSWER_WORDS, 1)
            || !order_answers_admit(a->allowance, stream, &taken))
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

static gboolean put_streams(OrderAnswers *a)
{
    gboolean good = TRUE;
    for (guint q = 0; good && q < a->n_sequences; q++) {
        good = put_stream(a, &a->answers[ORDER_RECEIVES][q], &a->streams[ORDER_RECEIVES][q]);
        if (good && any_none(&a->answers[ORDER_SENDS][q])) /* else all sends are made */
            good = put_stream(a, &a->answers[ORDER_SENDS][q], &a->streams[ORDER_SENDS][q]);
    }
    return good;
}

OrderAnswers *order_answers(const WendProgram *p, guint rank, Allowance *allowance,
                            gboolean *needs_all)
{
    const WendClass *class = program_class(p, program_class_of(p, rank));
    OrderAnswers *a = g_new(OrderAnswers, 1);
    gboolean cancels;
    *a = (OrderAnswers){.p = p, .rank = rank, .allowance = allowance, .plans = call_plans_new(p)};
    if (!answers_needed(p, a->plans, rank, &cancels))
        return a;
    a->n_sequences = class->n_sequences;
    a->ordered = class->n_orders > 0;
    a->flags = cancels ? ANSWERS_CANCELS : 0;
    for (OrderPosted k = 0; k < ORDER_POSTED_KINDS; k++) {
        a->answers[k] = g_new0(AnswerRow, a->n_sequences);
        a->streams[k] = g_new0(WendStream, a->n_sequences);
    }
    gboolean good = read_answers(a), unknown = good && has_unknown(a);
    if (unknown && needs_all) {
        *needs_all = TRUE;
        good = FALSE;
    } else if (unknown) {
        good = order_leftovers_give(p, a->plans, rank, a->flags, a->answers[ORDER_RECEIVES],
                                    allowance);
    }
    if (good && put_streams(a))
        return a;
    order_answers_free(a);
    return NULL;
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
            stream_clear(&a->streams[k][q]);
        }
        g_free(a->answers[k]);
        g_free(a->streams[k]);
    }
    call_plans_free(a->plans);
    g_free(a);
}
