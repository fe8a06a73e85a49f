/* SPDX-License-Identifier: BSD-3-Clause */
/* order-answers.h: what the receives that a rank posts get: known where they complete, needed where
 * they are posted. */
#ifndef WEND_ORDER_ANSWERS_H
#define WEND_ORDER_ANSWERS_H

#include "lib/read/program.h"
#include "lib/record/stream.h"

typedef struct OrderAnswers OrderAnswers;

/* What a receive gets: KIND is one of ORDER_ANSWER_AS_POSTED and the like (order-file.h). */
typedef struct {
    gint32 kind, source, tag;
} OrderAnswer;

/* Goes through the calls of RANK, unless none of them posts a receive from any source or with any
 * tag, or cancels. NULL: no memory. */
OrderAnswers *order_answers(const WendProgram *p, guint rank);
/* The answers of SEQUENCE: entries of ORDER_ANSWER_WORDS (order-file.h). It belongs to ANSWERS.
 * NULL: nothing is to be enforced. */
WendStream *order_answers_of(const OrderAnswers *answers, guint sequence);
/* The answer of the receive that SEQUENCE posts after POSTING others. NULL: unknown. */
const OrderAnswer *order_answer(const OrderAnswers *answers, guint sequence, gsize posting);
void order_answers_free(OrderAnswers *answers);

#endif
