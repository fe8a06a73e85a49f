/* SPDX-License-Identifier: BSD-3-Clause */
/* turn-calls.c: functions of MPI that wait or make several messages, in turns. */
#include <limits.h>
#include <sched.h>

#include "lib/base/budget.h"
#include "turns.h"

int turn_wait(int rc, MPI_Request *request, MPI_Status *status)
{
    return rc == MPI_SUCCESS ? PMPI_Wait(request, status) : rc;
}

static void take_back(MPI_Request *request)
{
    PMPI_Cancel(request);
    PMPI_Request_free(request);
}

int turn_wait_both(int received, int sent, MPI_Request requests[2], MPI_Status *status)
{
    if (received != MPI_SUCCESS || sent != MPI_SUCCESS) {
        if (received == MPI_SUCCESS)
            take_back(&requests[0]);
        if (sent == MPI_SUCCESS)
            PMPI_Request_free(&requests[1]);
        return received != MPI_SUCCESS ? received : sent;
    }
    sent = PMPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    received = PMPI_Wait(&requests[0], status);
    return sent != MPI_SUCCESS ? sent : received;
}

/* -- probes -- */

/* A probe counts when it finds its message. Until then others take their turns. In a replay its
 * turn has come, and it may wait in MPI. */

int turn_probe(ActiveCall *c, CommOrder *order, int source, int tag, MPI_Comm comm,
               MPI_Status *status)
{
    for (;;) {
        int found = 0;
        TURN turn = turn_take(c, order, TURN_RECEIVE, source, tag);
        int rc = turn.replayed || !turn.order ? PMPI_Probe(source, tag, comm, status)
                                              : PMPI_Iprobe(source, tag, comm, &found, status);
        if (turn.replayed || !turn.order || found || rc != MPI_SUCCESS) {
            turn_give(&turn);
            return rc;
        }
        turn_drop(&turn);
        sched_yield();
    }
}

int turn_mprobe(ActiveCall *c, CommOrder *order, int source, int tag, MPI_Comm comm,
                MPI_Message *message, MPI_Status *status)
{
    for (;;) {
        int found = 0;
        TURN turn = turn_take(c, order, TURN_RECEIVE, source, tag);
        int rc = turn.replayed || !turn.order
                     ? PMPI_Mprobe(source, tag, comm, message, status)
                     : PMPI_Improbe(source, tag, comm, &found, message, status);
        if (turn.replayed || !turn.order || found || rc != MPI_SUCCESS) {
            turn_give(&turn);
            return rc;
        }
        turn_drop(&turn);
        sched_yield();
    }
}

/* -- persistent requests -- */

Turn turn_take_start(ActiveCall *c, size_t i)
{
    const struct RequestMetadata *m = i < c->n_requests ? request_metadata(c->requests[i]) : NULL;
    if (!m || !m->order || (m->type != REQUEST_RECV && m->type != REQUEST_SEND))
        return (Turn){.order = NULL};
    return turn_take(c, m->order, m->type == REQUEST_RECV ? TURN_RECEIVE : TURN_SEND, m->source,
                     m->tag);
}

int turn_start(ActiveCall *c, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;
    if (count <= 0 || !requests || (size_t)count != c->n_requests)
        return PMPI_Startall(count, requests);
    for (int i = 0; i < count; i++) {
        TURN turn = turn_take_start(c, (size_t)i);
        if (rc == MPI_SUCCESS)
            rc = PMPI_Start(&requests[i]);
        turn_give(&turn);
    }
    return rc;
}

/* -- MPI_Sendrecv_replace -- */

/* A copy of the message as bytes. NULL: there is no memory, or it is too long for them. */
static void *packed(const void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Comm comm,
                    int *size, int *position)
{
    if (count < 0 || count > INT_MAX
        || PMPI_Pack_size((int)count, datatype, comm, size) != MPI_SUCCESS)
        return NULL;
    void *copy = wend_budget_resize(NULL, 0, (size_t)*size + 1);
    *position = 0;
    if (copy && PMPI_Pack(buf, (int)count, datatype, copy, *size, position, comm) == MPI_SUCCESS)
        return copy;
    wend_budget_free(copy, copy ? (size_t)*size + 1 : 0);
    return NULL;
}

bool turn_sendrecv_replace(ActiveCall *c, CommOrder *order, void *buf, MPI_Count count,
                           MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                           int post_source, int post_tag, MPI_Comm comm, MPI_Status *status,
                           int *rc)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int size = 0, position = 0;
    void *copy = packed(buf, count, datatype, comm, &size, &position);
    int received = MPI_ERR_OTHER, sent = MPI_ERR_OTHER;
    {
        TURN turn = turn_take(c, order, TURN_RECEIVE, source, recvtag);
        if (copy)
            received =
                PMPI_Irecv(buf, (int)count, datatype, post_source, post_tag, comm, &requests[0]);
        turn_give(&turn);
    }
    {
        TURN turn = turn_take(c, order, TURN_SEND, dest, sendtag);
        if (copy && received == MPI_SUCCESS)
            sent = PMPI_Isend(copy, position, MPI_PACKED, dest, sendtag, comm, &requests[1]);
        turn_give(&turn);
    }
    if (!copy)
        return false;
    *rc = turn_wait_both(received, sent, requests, status);
    wend_budget_free(copy, (size_t)size + 1);
    return true;
}
