/* SPDX-License-Identifier: BSD-3-Clause */
/* order-leftovers.h: finds by elimination what receives got whose status is not in the recording:
 * they were freed before they completed, for example.
 *
 * A channel is a source, a tag and a communicator. What was sent on it, less what the other
 * receives got, is left for these. The n-th receive of a channel, in the order of posting, gets the
 * n-th message. So a message that such a receive takes moves those of later receives, and each must
 * still get one that was sent before it completed. A message was sent after a point of the receiver
 * if the sender had a message from there before, or both had passed a barrier. If several channels
 * remain, one of them is chosen. */
#ifndef WEND_ORDER_LEFTOVERS_H
#define WEND_ORDER_LEFTOVERS_H

#include "lib/analysis/analysis.h"
#include "lib/base/allowance.h"

typedef struct OrderLeftovers OrderLeftovers;

typedef struct {
    guint comm;         /* order_leftovers_comm */
    gint64 source, tag; /* as posted, words of MPI_ANY_SOURCE and MPI_ANY_TAG included; or as got */
    /* the calls of its sequence that posted it and completed it; ANSWER_NEVER: it is not known to
     * have completed */
    guint64 posted, completed;
} OrderReceive;

/* Notes the messages that were sent to RANK, a rank of the job. Walks over all calls of the
 * recording. P, PLANS and the allowance, which the messages take memory of, must outlive the
 * result. */
OrderLeftovers *order_leftovers_new(const WendProgram *p, CallPlans *plans, guint rank,
                                    Allowance *allowance);
/* FALSE: there was more than the allowance has memory for, so some messages are missing. */
gboolean order_leftovers_good(const OrderLeftovers *l);
void order_leftovers_free(OrderLeftovers *l); /* L may be NULL */

/* The communicator of the word COMM at the last call of WALK, which goes through calls of the
 * rank. */
guint order_leftovers_comm(const OrderLeftovers *l, const WendWalk *walk, gint64 comm);
/* A receive is known to have got a message with this source and tag. */
void order_leftovers_take(OrderLeftovers *l, OrderReceive r);
/* Gives messages that are left to N receives. GOT[i] becomes whether receive i gets one, and
 * WANTED[i] then has its source and tag. Those that are known to have completed come first. */
void order_leftovers_give(OrderLeftovers *l, OrderReceive *wanted, gboolean *got, guint n);

#endif
