/* SPDX-License-Identifier: BSD-3-Clause */
/* order-answers.h: what becomes of the receives and sends that a rank posts: known where they
 * complete, needed where they are posted. */
#ifndef WEND_ORDER_ANSWERS_H
#define WEND_ORDER_ANSWERS_H

#include "lib/read/program.h"
#include "lib/record/stream.h"
#include "order-file.h"

typedef struct OrderAnswers OrderAnswers;

/* Goes through the calls of RANK, unless none of them posts a receive from any source or with any
 * tag, or cancels. NULL: no memory. */
OrderAnswers *order_answers(const WendProgram *p, guint rank);
/* The answers of SEQUENCE for what it posts of a kind: entries of ORDER_ANSWER_WORDS
 * (order-file.h). It belongs to ANSWERS. NULL: nothing is to be enforced. */
WendStream *order_answers_of(const OrderAnswers *answers, OrderPosted kind, guint sequence);
/* Whether any of them is ORDER_ANSWER_NONE. */
gboolean order_answers_none(const OrderAnswers *answers);
void order_answers_free(OrderAnswers *answers);

#endif
