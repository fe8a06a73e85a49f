/* SPDX-License-Identifier: BSD-3-Clause */
/* operation.c: see operation.h. */
#include "config.h"

#include "operation.h"

static gint64 send_bytes(const WendWalk *walk, const WendCall *call)
{
    const TransferSizes sizes = transfer_sizes_of_walk(walk);
    guint64 bytes;
    return transfer_bytes(&sizes, call, &bytes) && bytes <= G_MAXINT64 ? (gint64)bytes
                                                                       : WEND_UNKNOWN;
}

Operation operation_of(const MessageWords *words, const WendWalk *walk, const CallPlan *plan,
                       const WendCall *call, guint comm)
{
    gint64 root = call_plan_word(call, plan->root);
    Operation op = {.sends = plan->sends,
                    .receives = plan->receives,
                    .sync = call_plan_sync(plan, walk, call),
                    .waits = plan->waits,
                    .comm = comm,
                    .comm_word = call_plan_word(call, plan->comm),
                    .dest = WEND_ABSENT,
                    .source = WEND_ABSENT,
                    .bytes = WEND_UNKNOWN,
                    .synchronous = plan->synchronous};
    if (op.sync != plan->sync)
        op.waits = op.sync;
    op.root =
        root != WEND_ABSENT && (root == words->root || root == call_plan_word(call, plan->self));
    if (op.sends) {
        op.dest = call_plan_word(call, plan->dest);
        op.send_tag = call_plan_word(call, plan->send_tag);
        op.bytes = op.dest != words->proc_null ? send_bytes(walk, call) : 0;
    }
    if (op.receives || plan->probes) {
        op.source = call_plan_word(call, plan->source);
        op.receive_tag = call_plan_word(call, plan->receive_tag);
    }
    return op;
}

gboolean operation_process(const WendMembers *m, guint comm, guint rank, gint64 peer,
                           guint *process)
{
    gint found = wend_word_is_special(peer) || comm == WEND_COMM_UNKNOWN
                     ? -1
                     : wend_members_process(m, comm, rank, peer);
    *process = (guint)MAX(found, 0);
    return found >= 0;
}
