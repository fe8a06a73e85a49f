/* SPDX-License-Identifier: BSD-3-Clause */
/* enforce.c: calls that test or choose, as they came out. */
#include "enforce.h"

#include <sched.h>

#include "lib/base/budget.h"
#include "objects/objects.h"
#include "replay-private.h"
#include "process/process.h"
#include "replay.h"
#include "objects/turns.h"

/* Lets MPI make progress: in a loop that polls without pause for half of the time at most, and not
 * again within two microseconds. The replay makes all polls of the recorded run, even if there is
 * nothing to wait for. */
static int found_nothing(const ActiveCall *c, int *flag)
{
    static __thread uint64_t due;
    if (c->start >= due) {
        progress_make();
        uint64_t now = clock_ticks(), pause = (uint64_t)(2e-6 / state()->seconds_per_tick),
                 took = now - c->start;
        due = now + (took > pause ? took : pause);
    }
    *flag = 0;
    return MPI_SUCCESS;
}

static int64_t outcome_word(const ActiveCall *c, size_t at)
{
    return at < c->recorded->n_outcome ? c->recorded->outcome[at] : WEND_ABSENT;
}

/* The index at word AT of the outcome, if it is one of COUNT. -1: none. */
static int index_at(const ActiveCall *c, size_t at, int count)
{
    int64_t index = outcome_word(c, at);
    return index >= 0 && index < count ? (int)index : -1;
}

static bool was_truncated(const ActiveCall *c)
{
    return c->recorded->failed && replay_is_truncation(outcome_word(c, 1));
}

/* -- one, or all -- */

/* A persistent receive stays the application's, and what was posted for it completes. */
int replay_wait(ActiveCall *c, MPI_Request *request, MPI_Status *status)
{
    (void)c;
    PersistentReceive *p = request ? persistent_find(*request) : NULL;
    return PMPI_Wait(p ? &p->posted : request, status);
}

int replay_test(ActiveCall *c, MPI_Request *request, int *flag, MPI_Status *status)
{
    if (c->recorded->found_nothing)
        return found_nothing(c, flag);
    /* A message that was too long had come; any other error comes at once. */
    if (c->recorded->failed && !was_truncated(c))
        return PMPI_Test(request, flag, status);
    *flag = 1;
    return replay_wait(c, request, status);
}

/* The outcome of a call that completes all: a number of statuses, and these. */
enum { ALL_STATUSES = 3 };

/* The error of request I in a call with errors. 0: it completed without. */
static int64_t error_of(const ActiveCall *c, int i)
{
    return outcome_word(c, ALL_STATUSES + STATUS_WORDS * (size_t)i + STATUS_FLAGS) >> 1;
}

/* For loops that ask MPI again and again, where it has no call that waits. A yield takes more than
 * ten times as long as such a call. */
static void yield_sometimes(void)
{
    static __thread unsigned times;
    if (++times % 32 == 0)
        sched_yield();
}

static void wait_until_complete(MPI_Request request)
{
    int complete = request == MPI_REQUEST_NULL;
    while (!complete
           && PMPI_Request_get_status(request, &complete, MPI_STATUS_IGNORE) == MPI_SUCCESS
           && !complete)
        yield_sometimes();
}

/* Some of the requests of a call, and where they are in its array. */
typedef struct {
    MPI_Request *requests;
    MPI_Status *statuses;
    int *at;
    int n;
} Chosen;

/* Waits for the chosen requests. MPICH calls all pending that follow the first one with an error,
 * even if they are complete. So requests of a recording of Open MPI may have to be waited for
 * again. */
static int wait_for_chosen(const Chosen *these)
{
    int rc = PMPI_Waitall(these->n, these->requests, these->statuses);
    for (int k = 0; k < these->n; k++) {
        MPI_Status *s = &these->statuses[k];
        if (rc == MPI_SUCCESS)
            s->MPI_ERROR = MPI_SUCCESS;
        else if (s->MPI_ERROR == MPI_ERR_PENDING)
            s->MPI_ERROR = PMPI_Wait(&these->requests[k], s);
    }
    return rc;
}

/* Waits for requests of ALL: for those that failed in the recorded call, or for those that did
 * not. */
static int wait_for_outcome(const ActiveCall *c, bool failed, int count, MPI_Request *all,
                            MPI_Status *statuses, Chosen *these)
{
    these->n = 0;
    for (int i = 0; i < count; i++) {
        int64_t error = error_of(c, i);
        if (replay_is_pending(error) || (error != 0) != failed)
            continue;
        if (failed)
            wait_until_complete(all[i]);
        these->requests[these->n] = all[i];
        these->at[these->n++] = i;
    }
    int rc = wait_for_chosen(these);
    for (int k = 0; k < these->n; k++) {
        all[these->at[k]] = these->requests[k];
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[these->at[k]] = these->statuses[k];
    }
    return rc;
}

/* Waits for all but those that were pending after an error. A library may leave any request pending
 * that is not complete when it sees an error. So what completed without error is waited for
 * first. */
static int waitall_with_errors(const ActiveCall *c, int count, MPI_Request *all,
                               MPI_Status *statuses)
{
    size_t n = (size_t)count;
    Chosen these = {.requests = budget_zeroed(n * sizeof *these.requests),
                    .statuses = budget_zeroed(n * sizeof *these.statuses),
                    .at = budget_zeroed(n * sizeof *these.at)};
    int rc, failed;
    if (these.requests && these.statuses && these.at) {
        rc = wait_for_outcome(c, false, count, all, statuses, &these);
        failed = wait_for_outcome(c, true, count, all, statuses, &these);
        rc = rc == MPI_SUCCESS ? failed : rc;
        for (int i = 0; statuses != MPI_STATUSES_IGNORE && i < count; i++)
            if (replay_is_pending(error_of(c, i)))
                statuses[i].MPI_ERROR = MPI_ERR_PENDING;
    } else {
        rc = PMPI_Waitall(count, all, statuses);
    }
    budget_free(these.requests, these.requests ? n * sizeof *these.requests : 0);
    budget_free(these.statuses, these.statuses ? n * sizeof *these.statuses : 0);
    budget_free(these.at, these.at ? n * sizeof *these.at : 0);
    return rc;
}

static int waitall(const ActiveCall *c, int count, MPI_Request *all, MPI_Status *statuses)
{
    if (c->recorded->failed || count <= 0 || c->recorded->outcome[1] == MPI_SUCCESS)
        return PMPI_Waitall(count, all, statuses);
    return waitall_with_errors(c, count, all, statuses);
}

int replay_waitall(ActiveCall *c, int count, MPI_Request *requests, MPI_Status *statuses)
{
    MPI_Request *all = NULL;
    size_t size = count > 0 ? (size_t)count * sizeof *all : 0;
    if (persistent_any() && requests && size)
        all = budget_resize(NULL, 0, size);
    if (!all)
        return waitall(c, count, requests, statuses);
    for (int i = 0; i < count; i++) {
        PersistentReceive *p = persistent_find(requests[i]);
        all[i] = p ? p->posted : requests[i];
    }
    int rc = waitall(c, count, all, statuses);
    for (int i = 0; i < count; i++) {
        PersistentReceive *p = persistent_find(requests[i]);
        *(p ? &p->posted : &requests[i]) = all[i];
    }
    budget_free(all, size);
    return rc;
}

int replay_testall(ActiveCall *c, int count, MPI_Request *requests, int *flag, MPI_Status *statuses)
{
    if (c->recorded->found_nothing)
        return found_nothing(c, flag);
    if (c->recorded->failed || outcome_word(c, 2) == 0)
        return PMPI_Testall(count, requests, flag, statuses);
    *flag = 1;
    return replay_waitall(c, count, requests, statuses);
}

/* -- any: the outcome has the index first. If a message was too long, its status follows, and the
 * indices of others that the library ended with it -- */

enum { ANY_INDEX = 2, ANY_OTHERS = ANY_INDEX + 1 + STATUS_WORDS };

/* The request that completed, by its message or because that was too long. -1: there was no active
 * request, or the call failed in another way. */
static int recorded_any(const ActiveCall *c, int count)
{
    return c->recorded->failed && !was_truncated(c) ? -1 : index_at(c, ANY_INDEX, count);
}

/* The library ends them again if they are complete and it sees no others. */
static int wait_with_others(ActiveCall *c, size_t others, int count, MPI_Request *requests,
                            const int *chosen, MPI_Status *status)
{
    size_t n = others + 1, size = n * sizeof(MPI_Request);
    MPI_Request *these = budget_zeroed(size), **from = budget_zeroed(n * sizeof *from);
    int rc = MPI_ERR_TRUNCATE, first;
    for (size_t i = 0; these && from && i < n; i++) {
        int index = i == 0 ? *chosen : index_at(c, ANY_OTHERS + i - 1, count);
        PersistentReceive *p = persistent_find(requests[index < 0 ? *chosen : index]);
        from[i] = p ? &p->posted : &requests[index < 0 ? *chosen : index];
        these[i] = index < 0 ? MPI_REQUEST_NULL : *from[i];
        wait_until_complete(these[i]);
    }
    if (these && from)
        rc = PMPI_Waitany((int)n, these, &first, status);
    for (size_t i = 0; these && from && i < n; i++)
        if (these[i] == MPI_REQUEST_NULL)
            *from[i] = MPI_REQUEST_NULL;
    budget_free(these, these ? size : 0);
    budget_free(from, from ? n * sizeof *from : 0);
    return rc;
}

static int wait_for(ActiveCall *c, int index, int count, MPI_Request *requests, int *chosen,
                    MPI_Status *status)
{
    *chosen = index;
    if (c->recorded->failed && c->recorded->n_outcome > ANY_OTHERS)
        return wait_with_others(c, c->recorded->n_outcome - ANY_OTHERS, count, requests, chosen,
                                status);
    return replay_wait(c, &requests[index], status);
}

int replay_waitany(ActiveCall *c, int count, MPI_Request *requests, int *index, MPI_Status *status)
{
    int recorded = recorded_any(c, count);
    if (recorded < 0) /* the same again */
        return PMPI_Waitany(count, requests, index, status);
    return wait_for(c, recorded, count, requests, index, status);
}

int replay_testany(ActiveCall *c, int count, MPI_Request *requests, int *index, int *flag,
                   MPI_Status *status)
{
    if (c->recorded->found_nothing) {
        *index = MPI_UNDEFINED;
        return found_nothing(c, flag);
    }
    int recorded = recorded_any(c, count);
    if (recorded < 0)
        return PMPI_Testany(count, requests, index, flag, status);
    *flag = 1;
    return wait_for(c, recorded, count, requests, index, status);
}

/* -- some: the outcome has the number that completed, a length, and the indices -- */

enum { SOME_COUNT = 2, SOME_INDICES = 4 };

/* How many of INCOUNT requests completed. -1: not recorded, or none was active. */
static int recorded_count(const ActiveCall *c, int incount)
{
    int64_t n = outcome_word(c, SOME_COUNT);
    if (c->recorded->failed || n < 0 || n > incount
        || SOME_INDICES + (size_t)n > c->recorded->n_outcome)
        return -1;
    for (int i = 0; i < (int)n; i++)
        if (index_at(c, SOME_INDICES + (size_t)i, incount) < 0)
            return -1;
    return (int)n;
}

static int wait_for_some(ActiveCall *c, int n, MPI_Request *requests, int *outcount, int *indices,
                         MPI_Status *statuses)
{
    int result = MPI_SUCCESS;
    *outcount = n;
    for (int i = 0; i < n; i++) {
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
        indices[i] = (int)c->recorded->outcome[SOME_INDICES + i];
        int rc = replay_wait(c, &requests[indices[i]], status);
        if (rc != MPI_SUCCESS)
            result = MPI_ERR_IN_STATUS;
        if (status != MPI_STATUS_IGNORE)
            status->MPI_ERROR = rc;
    }
    return result;
}

int replay_waitsome(ActiveCall *c, int incount, MPI_Request *requests, int *outcount, int *indices,
                    MPI_Status *statuses)
{
    int n = recorded_count(c, incount);
    if (n < 0)
        return PMPI_Waitsome(incount, requests, outcount, indices, statuses);
    return wait_for_some(c, n, requests, outcount, indices, statuses);
}

int replay_testsome(ActiveCall *c, int incount, MPI_Request *requests, int *outcount, int *indices,
                    MPI_Status *statuses)
{
    if (c->recorded->found_nothing)
        return found_nothing(c, outcount);
    int n = recorded_count(c, incount);
    if (n < 0)
        return PMPI_Testsome(incount, requests, outcount, indices, statuses);
    return wait_for_some(c, n, requests, outcount, indices, statuses);
}

/* -- requests that are started, cancelled and freed -- */

static Posting posting_of(ActiveCall *c, const PersistentReceive *p)
{
    return state()->replay->posting(c, p ? p->as_called : (Posting){0, 0, MPI_COMM_NULL});
}

int replay_send_nowhere(MPI_Request *request)
{
    return PMPI_Irecv(NULL, 0, MPI_BYTE, 0, 0, replay_nowhere(), request);
}

/* A send that was cancelled in time is like a receive that leaves all open and gets nothing. The
 * next start may be another. */
static PersistentReceive *unsent(ActiveCall *c, MPI_Request request)
{
    bool here = state()->replay->unsent(c);
    if (here && !persistent_find(request))
        persistent_add(request,
                       (PersistentReceive){.type = MPI_BYTE, .as_called = {0, 0, MPI_COMM_NULL}});
    else if (!here && persistent_any())
        persistent_remove(request);
    return here ? persistent_find(request) : NULL;
}

static int start_all(ActiveCall *c, int count, MPI_Request *requests)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < count; i++) {
        const struct RequestMetadata *m =
            (size_t)i < c->n_requests ? request_metadata(c->requests[i]) : NULL;
        PersistentReceive *p =
            m && m->type == REQUEST_SEND ? unsent(c, requests[i]) : persistent_find(requests[i]);
        Posting posting = {0, 0, replay_nowhere()};
        if (m && m->type == REQUEST_RECV)
            posting = posting_of(c, p);
        TURN turn = turns_on() ? turn_take_start(c, (size_t)i) : (Turn){.order = NULL};
        if (rc == MPI_SUCCESS)
            rc = p ? persistent_start(p, posting) : PMPI_Start(&requests[i]);
        turn_give(&turn);
    }
    return rc;
}

int replay_start(ActiveCall *c, MPI_Request *request)
{
    return c->recorded->failed ? PMPI_Start(request) : start_all(c, 1, request);
}

int replay_startall(ActiveCall *c, int count, MPI_Request *requests)
{
    return c->recorded->failed ? PMPI_Startall(count, requests) : start_all(c, count, requests);
}

static void remember(ActiveCall *c, int rc, MPI_Request *request, PersistentReceive receive)
{
    if (rc == MPI_SUCCESS && !c->recorded->failed)
        persistent_add(*request, receive);
}

int replay_recv_init(ActiveCall *c, void *buf, int count, MPI_Datatype datatype, int source,
                     int tag, MPI_Comm comm, MPI_Request *request)
{
    int rc = PMPI_Recv_init(buf, count, datatype, source, tag, comm, request);
    remember(c, rc, request,
             (PersistentReceive){
                 .buf = buf, .count = count, .type = datatype, .as_called = {source, tag, comm}});
    return rc;
}

#ifdef HAVE_MPI_Recv_init_c
int replay_recv_init_c(ActiveCall *c, void *buf, MPI_Count count, MPI_Datatype datatype, int source,
                       int tag, MPI_Comm comm, MPI_Request *request)
{
    int rc = PMPI_Recv_init_c(buf, count, datatype, source, tag, comm, request);
    remember(c, rc, request,
             (PersistentReceive){.buf = buf,
                                 .count = count,
                                 .large = true,
                                 .type = datatype,
                                 .as_called = {source, tag, comm}});
    return rc;
}
#endif

/* What was cancelled in time is posted where nothing comes, so it is cancelled in time again. What
 * completed in spite of it is not cancelled, since now it might be in time. */
int replay_cancel(ActiveCall *c, MPI_Request *request)
{
    const struct RequestMetadata *m = c->n_requests ? request_metadata(c->requests[0]) : NULL;
    PersistentReceive *p = request ? persistent_find(*request) : NULL;
    bool in_time = p ? p->nowhere : m && m->nowhere;
    if (!c->recorded->failed && m && (m->type == REQUEST_RECV || m->type == REQUEST_SEND)
        && !in_time)
        return MPI_SUCCESS;
    return PMPI_Cancel(p ? &p->posted : request);
}

int replay_request_free(ActiveCall *c, MPI_Request *request)
{
    (void)c;
    if (request)
        persistent_remove(*request);
    return PMPI_Request_free(request);
}

/* -- probes: the outcome has the flag, then the status -- */

enum { PROBE_STATUS = 3 };

int replay_iprobe(ActiveCall *c, int self, int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Status *status)
{
    if (c->recorded->failed)
        return PMPI_Iprobe(source, tag, comm, flag, status);
    if (c->recorded->found_nothing)
        return found_nothing(c, flag);
    *flag = 1;
    return PMPI_Probe(replay_source(c, source, self, PROBE_STATUS),
                      replay_tag(c, tag, PROBE_STATUS), comm, status);
}

int replay_improbe(ActiveCall *c, int self, int source, int tag, MPI_Comm comm, int *flag,
                   MPI_Message *message, MPI_Status *status)
{
    if (c->recorded->failed)
        return PMPI_Improbe(source, tag, comm, flag, message, status);
    if (c->recorded->found_nothing)
        return found_nothing(c, flag);
    *flag = 1;
    return PMPI_Mprobe(replay_source(c, source, self, PROBE_STATUS),
                       replay_tag(c, tag, PROBE_STATUS), comm, message, status);
}

/* -- what MPI has no waiting function for -- */

int replay_request_get_status(ActiveCall *c, MPI_Request request, int *flag, MPI_Status *status)
{
    if (c->recorded->found_nothing)
        return found_nothing(c, flag);
    PersistentReceive *p = persistent_find(request);
    if (p && p->posted != MPI_REQUEST_NULL)
        request = p->posted;
    int rc = PMPI_Request_get_status(request, flag, status);
    while (rc == MPI_SUCCESS && !c->recorded->failed && !*flag) {
        yield_sometimes();
        rc = PMPI_Request_get_status(request, flag, status);
    }
    return rc;
}

int replay_win_test(ActiveCall *c, int self, MPI_Win win, int *flag)
{
    (void)self;
    if (c->recorded->failed)
        return PMPI_Win_test(win, flag);
    if (c->recorded->found_nothing)
        return found_nothing(c, flag);
    *flag = 1;
    return PMPI_Win_wait(win);
}

#ifdef HAVE_MPI_Parrived
int replay_parrived(ActiveCall *c, MPI_Request request, int partition, int *flag)
{
    int rc = PMPI_Parrived(request, partition, flag);
    if (c->recorded->found_nothing) {
        *flag = 0; /* the partition may have come: it stays with the request */
        return rc;
    }
    while (rc == MPI_SUCCESS && !c->recorded->failed && !*flag) {
        yield_sometimes();
        rc = PMPI_Parrived(request, partition, flag);
    }
    return rc;
}
#endif
