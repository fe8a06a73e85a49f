/* SPDX-License-Identifier: BSD-3-Clause */
/* order-parts.h: the parts of an order file that follow from all calls of a rank, for order-*.c
 * alone. */
#ifndef WEND_ORDER_PARTS_H
#define WEND_ORDER_PARTS_H

#include "lib/analysis/analysis.h"
#include "lib/base/allowance.h"
#include "lib/record/stream.h"
#include "src/tracer/replay/order-file.h"

/* -- answers: what becomes of the receives and sends that a rank posts -- */

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

/* ANSWER as one of the file's, or of those that are not final. */
OrderAnswer order_answers_answer(const Answer *answer);

/* Takes the memory of a stream that grows, of which *TAKEN was taken before. FALSE: less is
 * left. */
gboolean order_answers_admit(Allowance *allowance, const WendStream *stream, gsize *taken);

/* -- leftovers: what receives got whose status is not in the recording -- */

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

/* -- turns of the threads of a rank, as the replayer needs them -- */

typedef struct OrderTurns OrderTurns;

/* Goes through the calls of RANK, if an order of its threads was recorded. NULL: no memory, or more
 * than ALLOWANCE has. The allowance must outlive the result. */
OrderTurns *order_turns(const WendProgram *p, guint rank, Allowance *allowance,
                        const OrderAnswers *answers);
/* The turns of SEQUENCE: entries of ORDER_TURN_WORDS (order-file.h). It belongs to TURNS. NULL:
 * nothing is to be enforced. */
WendStream *order_turns_of(const OrderTurns *turns, guint sequence);
guint64 order_turns_channels(const OrderTurns *turns);
void order_turns_free(OrderTurns *turns);

#endif
