/* SPDX-License-Identifier: BSD-3-Clause */
/* enforce.h: makes a call of a replay have the outcome that it had. For wrappers.
 *
 * A receive or probe that leaves source or tag open gets them from the recorded status. A call that
 * tests gets what it found: nothing, after MPI has made progress; or what completed, for which it
 * waits. All that sends or moves data is as the application calls it.
 *
 * c->recorded is NULL if nothing is enforced: in a run that is no replay, and behind a
 * divergence. */
#ifndef WEND_ENFORCE_H
#define WEND_ENFORCE_H

#include "recorder/recorder.h"

/* The words of a status in an outcome: source and tag relative to those of the call, or with a
 * wildcard to its rank SELF and 0. AT: where they begin. A failed call has them if its message was
 * too long. */
static inline int replay_source(const ActiveCall *c, int source, int self, size_t at)
{
    const RecordedCall *r = c->recorded;
    if (__builtin_expect(!r, 1) || source != MPI_ANY_SOURCE || r->n_outcome <= at)
        return source;
    return self + (int)r->outcome[at];
}

static inline int replay_tag(const ActiveCall *c, int tag, size_t at)
{
    const RecordedCall *r = c->recorded;
    if (__builtin_expect(!r, 1) || tag != MPI_ANY_TAG || r->n_outcome <= at + 1)
        return tag;
    return (int)r->outcome[at + 1];
}

static inline Posting replay_posting(ActiveCall *c, int source, int tag, MPI_Comm comm)
{
    Posting as_called = {source, tag, comm};
    return __builtin_expect(!c->recorded, 1) ? as_called : state()->replay->posting(c, as_called);
}

/* Whether the send that the call makes was cancelled in time. Then a request that can be cancelled
 * again takes its place. */
static inline bool replay_unsent(ActiveCall *c)
{
    return __builtin_expect(c->recorded != NULL, 0) && state()->replay->unsent(c);
}
int replay_send_nowhere(MPI_Request *request);

/* The functions of MPI, for calls with c->recorded. SELF: the caller's rank in the communicator. */
int replay_test(ActiveCall *c, MPI_Request *request, int *flag, MPI_Status *status);
int replay_testall(ActiveCall *c, int count, MPI_Request *requests, int *flag,
                   MPI_Status *statuses);
int replay_testany(ActiveCall *c, int count, MPI_Request *requests, int *index, int *flag,
                   MPI_Status *status);
int replay_testsome(ActiveCall *c, int incount, MPI_Request *requests, int *outcount, int *indices,
                    MPI_Status *statuses);
int replay_wait(ActiveCall *c, MPI_Request *request, MPI_Status *status);
int replay_waitall(ActiveCall *c, int count, MPI_Request *requests, MPI_Status *statuses);
int replay_waitany(ActiveCall *c, int count, MPI_Request *requests, int *index, MPI_Status *status);
int replay_waitsome(ActiveCall *c, int incount, MPI_Request *requests, int *outcount, int *indices,
                    MPI_Status *statuses);
int replay_request_get_status(ActiveCall *c, MPI_Request request, int *flag, MPI_Status *status);
int replay_request_free(ActiveCall *c, MPI_Request *request);
int replay_cancel(ActiveCall *c, MPI_Request *request);
int replay_start(ActiveCall *c, MPI_Request *request);
int replay_startall(ActiveCall *c, int count, MPI_Request *requests);
int replay_recv_init(ActiveCall *c, void *buf, int count, MPI_Datatype datatype, int source,
                     int tag, MPI_Comm comm, MPI_Request *request);
#ifdef HAVE_MPI_Recv_init_c
int replay_recv_init_c(ActiveCall *c, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                       int tag, MPI_Comm comm, MPI_Request *request);
#endif
int replay_iprobe(ActiveCall *c, int self, int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Status *status);
int replay_improbe(ActiveCall *c, int self, int source, int tag, MPI_Comm comm, int *flag,
                   MPI_Message *message, MPI_Status *status);
int replay_dist_graph_create(ActiveCall *c, MPI_Comm comm_old, int n, const int *sources,
                             const int *degrees, const int *destinations, const int *weights,
                             MPI_Info info, int reorder, MPI_Comm *graph);
int replay_win_test(ActiveCall *c, int self, MPI_Win win, int *flag);
#ifdef HAVE_MPI_Parrived
int replay_parrived(ActiveCall *c, MPI_Request request, int partition, int *flag);
#endif

#endif
