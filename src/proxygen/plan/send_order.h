/* SPDX-License-Identifier: BSD-3-Clause */
/* send_order.h: senders that wait for their turn. */
#ifndef PROXYGEN_SEND_ORDER_H
#define PROXYGEN_SEND_ORDER_H

#include "src/proxygen/model/model.h"

/* Plans turns for the messages to HUB, whose wildcards could not stay so otherwise. FALSE: it could
 * deadlock, or is not understood. */
gboolean plan_turns(Plan *plan, guint hub);

#endif
