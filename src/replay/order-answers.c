/* SPDX-License-Identifier: BSD-3-Clause */
/* order-answers.c: what each receive that a rank posts gets, as streams of the order file.
 *
 * The replayer counts postings by the rule of lib/analysis/answers.h, which finds the answers. */
#include "order-answers.h"

#include "lib/analysis/answers.h"
#include "order-file.h"

struct OrderAnswers {
    guint n_sequences;
    WendStream *streams; /* by sequence */
};

static void put_words(const Answer *answer, gint64 words[ORDER_ANSWER_WORDS])
{
    words[ORDER_ANSWER_KIND] = ORDER_ANSWER_AS_POSTED;
    words[ORDER_ANSWER_SOURCE] = words[ORDER_ANSWER_TAG] = 0;
    if (answer->kind == ANSWER_CANCELLED || answer->kind == ANSWER_NONE) {
        words[ORDER_ANSWER_KIND] = ORDER_ANSWER_NONE; /* it must get no message */
    } else if (answer->kind == ANSWER_MATCHED && answer->source == (gint32)answer->source
               && answer->tag == (gint32)answer->tag) {
        words[ORDER_ANSWER_KIND] = ORDER_ANSWER_MATCHED;
        words[ORDER_ANSWER_SOURCE] = answer->source;
        words[ORDER_ANSWER_TAG] = answer->tag;
    }
}

OrderAnswers *order_answers(const WendProgram *p, guint rank)
{
    const WendClass *class = wend_program_class(p, wend_program_class_of(p, rank));
    OrderAnswers *a = g_new0(OrderAnswers, 1);
    gboolean cancels, going = TRUE;
    if (!answers_needed(p, rank, &cancels))
        return a;
    a->n_sequences = class->n_sequences;
    a->streams = g_new0(WendStream, a->n_sequences + 1);
    RankAnswers *answers = answers_new(p, rank, FALSE, cancels, G_MAXUINT, NULL);
    for (guint q = 0; q < a->n_sequences && going; q++) {
        Answer answer;
        a->streams[q].flat = true;
        while (going && answers_next(answers, q, &answer)) {
            gint64 words[ORDER_ANSWER_WORDS];
            put_words(&answer, words);
            going = wend_stream_add_run(&a->streams[q], words, ORDER_ANSWER_WORDS, 1);
        }
    }
    answers_free(answers);
    if (!going) {
        order_answers_free(a);
        return NULL;
    }
    return a;
}

WendStream *order_answers_of(const OrderAnswers *a, guint sequence)
{
    return sequence < a->n_sequences && a->streams[sequence].entries ? &a->streams[sequence] : NULL;
}

void order_answers_free(OrderAnswers *a)
{
    for (guint q = 0; q < a->n_sequences; q++)
        wend_stream_clear(&a->streams[q]);
    g_free(a->streams);
    g_free(a);
}
