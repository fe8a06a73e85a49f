/* SPDX-License-Identifier: BSD-3-Clause */
/* order-turns.h: the turns of the threads of a rank, as the replayer needs them.
 *
 * The recording has the order of turns on each communicator (src/tracer/turns/turns.h). MPI keeps
 * messages in order on each channel only: one source (or destination) and tag. So a turn waits for
 * the turns before it on its channel, and for none of other channels. A channel of one thread needs
 * no order. */
#ifndef WEND_ORDER_TURNS_H
#define WEND_ORDER_TURNS_H

#include "order-answers.h"

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
