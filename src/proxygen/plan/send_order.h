/* SPDX-License-Identifier: BSD-3-Clause */
/* send_order.h: senders that wait for their turn, so that wildcard receives get the recorded
 * sources. */
#ifndef PROXYGEN_SEND_ORDER_H
#define PROXYGEN_SEND_ORDER_H

#include "src/proxygen/model/model.h"

/* Plans turns for the messages to HUB, whose wildcards would otherwise be pinned. Returns FALSE if
 * turns could deadlock, or the traffic is not understood. */
gboolean plan_send_order(Plan *plan, guint hub);

#endif
