/* SPDX-License-Identifier: BSD-3-Clause */
/* order-answers.h: what becomes of the receives and sends that a rank posts: known where they
 * complete, needed where they are posted. */
#ifndef WEND_ORDER_ANSWERS_H
#define WEND_ORDER_ANSWERS_H

#include "lib/analysis/answers.h"
#include "lib/record/stream.h"
#include "src/tracer/replay/order-file.h"

typedef struct OrderAnswers OrderAnswers;

/* What a receive gets: KIND is one of ORDER_ANSWER_AS_POSTED and the like (order-file.h). */
typedef struct {
    gint32 kind, source, tag;
} OrderAnswer;

/* Goes through the calls of RANK, unless none of them posts a receive from any source or with any
 * tag, or cancels. NULL: no memory, or more than ALLOWANCE has; or the calls of other ranks are
 * needed, which P may be without. Then NEEDS_ALL is set. It may be NULL, if P has the calls of all.
 * The allowance must outlive the result. */
OrderAnswers *order_answers(const WendProgram *p, guint rank, Allowance *allowance,
                            gboolean *needs_all);
/* The answers of SEQUENCE for what it posts of a kind: entries of ORDER_ANSWER_WORDS
 * (order-file.h). It belongs to ANSWERS. NULL: nothing is to be enforced. */
WendStream *order_answers_of(const OrderAnswers *answers, OrderPosted kind, guint sequence);
/* The answer of the receive that SEQUENCE posts after POSTING others. It is kept only for ranks
 * with orders of threads. NULL: unknown. */
const OrderAnswer *order_answer(const OrderAnswers *answers, guint sequence, gsize posting);
/* Whether any of them is ORDER_ANSWER_NONE. */
gboolean order_answers_none(const OrderAnswers *answers);
void order_answers_free(OrderAnswers *answers);

/* ANSWER as one of the file's, or of those that are not final (order-leftovers.h). */
OrderAnswer order_answers_answer(const Answer *answer);

/* Takes the memory of a stream that grows, of which *TAKEN was taken before. FALSE: less is
 * left. */
gboolean order_answers_admit(Allowance *allowance, const WendStream *stream, gsize *taken);

#endif
