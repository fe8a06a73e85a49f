/* SPDX-License-Identifier: BSD-3-Clause */
/* order-leftovers.h: finds by elimination what receives got whose status is not in the recording:
 * they were freed before they completed, for example. */
#ifndef WEND_ORDER_LEFTOVERS_H
#define WEND_ORDER_LEFTOVERS_H

#include "lib/analysis/analysis.h"
#include "order-answers.h"

/* Kinds of answers that are not final: they become one of the file's at the end. */
enum {
    ORDER_ANSWER_PENDING = ORDER_ANSWER_NONE + 1, /* ANSWER_NONE */
    ORDER_ANSWER_FREED,
    ORDER_ANSWER_UNKNOWN
};

/* The answers of what a sequence posts, in order. */
typedef struct {
    OrderAnswer *at;
    gsize n, room;
} AnswerRow;

/* Sets those of RECEIVES that are not final and whose receives got one of the messages that are
 * left. RECEIVES: the answers of RANK, by sequence. FLAGS: as for answers_new. Walks over all calls
 * of the recording. FALSE: there was more than ALLOWANCE has memory for. */
gboolean order_leftovers_give(const WendProgram *p, CallPlans *plans, guint rank, guint flags,
                              AnswerRow *receives, Allowance *allowance);

#endif
