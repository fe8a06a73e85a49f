/* SPDX-License-Identifier: BSD-3-Clause */
/* completion.c: the wrappers of Wait and Test in all forms. They are written by hand, because each
 * finds the completed requests in another way, from index, outcount, statuses and variables.
 *
 * A request also ends (request_event) if the call fails but has set the variable to
 * MPI_REQUEST_NULL: the operation is then complete. */
#include "encode.h"
#include "replay/enforce.h"

/* Statuses for N requests: the application's, or Wend's for MPI_STATUSES_IGNORE, so that the
 * received sizes are known. */
static MPI_Status *statuses_to_fill(ActiveCall *c, MPI_Status *s, int n)
{
    if (s != MPI_STATUSES_IGNORE || n <= 0)
        return s;
    MPI_Status *scratch = thread_statuses(c, (size_t)n);
    return scratch ? scratch : MPI_STATUSES_IGNORE;
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE || !statuses ? NULL : &statuses[i];
}

/* Puts the shape's word of an array of statuses: its length N, or ignored. */
static void put_statuses_given(ActiveCall *c, const MPI_Status *s, int n)
{
    call_put_shape(c, s == MPI_STATUSES_IGNORE ? WEND_IGNORE : length_of_array(s, n));
}

static void in_request_array(ActiveCall *c, int n, MPI_Request *requests)
{
    call_put_slot(c, n);
    live_requests_encode(c, requests && n > 0 ? n : 0, requests, true);
}

/* The status of a receive whose message was too long: the message is gone, and a replay must know
 * which it was. The request at I has got it. */
static void put_truncated(ActiveCall *c, long i, MPI_Status *filled)
{
    if (c->rc == MPI_ERR_TRUNCATE)
        live_request_encode_status(c, i, encode_status_filled(filled));
}

/* The same for one of several: its index and its status. Then the indices of others that the call
 * has ended: Open MPI frees all that have failed so far. */
static void put_truncated_any(ActiveCall *c, const int *index, const MPI_Request *requests,
                              MPI_Status *filled)
{
    if (c->rc != MPI_ERR_TRUNCATE || !index || *index < 0 || (size_t)*index >= c->n_requests)
        return;
    call_put_outcome(c, *index);
    put_truncated(c, *index, filled);
    for (size_t i = 0; i < c->n_requests; i++)
        if (i != (size_t)*index && c->requests[i] && requests[i] == MPI_REQUEST_NULL)
            call_put_outcome(c, (int64_t)i);
}

/* Ends requests whose variable is null after a failed call. */
static void end_nulled(ActiveCall *c, MPI_Request *requests, bool by_choice)
{
    for (size_t i = 0; i < c->n_requests; i++)
        if (c->requests[i] && requests[i] == MPI_REQUEST_NULL)
            request_event(c, i, &requests[i], REQUEST_COMPLETED, by_choice);
}

WEND_EXPORT int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    ActiveCall *c = call_begin(WEND_FN_MPI_Wait);
    if (!c)
        return PMPI_Wait(request, status);
    live_requests_encode(c, request != NULL, request, false);
    MPI_Status *filled = encode_status_to_fill(c, status);
    call_start(c);
    int rc = c->recorded ? replay_wait(c, request, filled) : PMPI_Wait(request, filled);
    call_stop(c, rc);
    if (call_ok(c)) {
        encode_status_given(c, status);
        live_request_encode_status(c, 0, encode_status_filled(filled));
        request_event(c, 0, request, REQUEST_COMPLETED, false);
    } else {
        put_truncated(c, 0, filled);
        end_nulled(c, request, false);
    }
    call_end(c);
    return rc;
}

WEND_EXPORT int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    ActiveCall *c = call_begin(WEND_FN_MPI_Test);
    if (!c)
        return PMPI_Test(request, flag, status);
    live_requests_encode(c, request != NULL, request, false);
    MPI_Status *filled = encode_status_to_fill(c, status);
    call_start(c);
    int rc = c->recorded ? replay_test(c, request, flag, filled) : PMPI_Test(request, flag, filled);
    call_stop(c, rc);
    if (!call_ok(c)) {
        put_truncated(c, 0, filled);
        end_nulled(c, request, true);
    } else if (*flag) {
        call_put_outcome(c, true);
        encode_status_given(c, status);
        live_request_encode_status(c, 0, encode_status_filled(filled));
        request_event(c, 0, request, REQUEST_COMPLETED, true);
    } else {
        encode_status_given(c, status);
        c->found_nothing = true;
    }
    call_end(c);
    return rc;
}

/* Puts the results of all N requests of Waitall, or of a successful Testall. */
static void out_all(ActiveCall *c, int n, MPI_Request *requests, const MPI_Status *given,
                    MPI_Status *filled, bool by_choice)
{
    put_statuses_given(c, given, n);
    call_put_outcome(c, (int64_t)c->n_requests);
    for (size_t i = 0; i < c->n_requests; i++)
        live_request_encode_status(c, (long)i, status_at(filled, (int)i));
    for (size_t i = 0; i < c->n_requests; i++) {
        const MPI_Status *s = status_at(filled, (int)i);
        if (c->rc != MPI_ERR_IN_STATUS || !s || s->MPI_ERROR != MPI_ERR_PENDING)
            request_event(c, i, &requests[i], REQUEST_COMPLETED, by_choice);
    }
}

WEND_EXPORT int MPI_Waitall(int count, MPI_Request array_of_requests[],
                            MPI_Status array_of_statuses[])
{
    ActiveCall *c = call_begin(WEND_FN_MPI_Waitall);
    if (!c)
        return PMPI_Waitall(count, array_of_requests, array_of_statuses);
    in_request_array(c, count, array_of_requests);
    MPI_Status *filled = statuses_to_fill(c, array_of_statuses, count);
    call_start(c);
    int rc = c->recorded ? replay_waitall(c, count, array_of_requests, filled)
                         : PMPI_Waitall(count, array_of_requests, filled);
    call_stop(c, rc);
    if (call_ok(c))
        out_all(c, count, array_of_requests, array_of_statuses, filled, false);
    else
        end_nulled(c, array_of_requests, false);
    call_end(c);
    return rc;
}

WEND_EXPORT int MPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
                            MPI_Status array_of_statuses[])
{
    ActiveCall *c = call_begin(WEND_FN_MPI_Testall);
    if (!c)
        return PMPI_Testall(count, array_of_requests, flag, array_of_statuses);
    in_request_array(c, count, array_of_requests);
    MPI_Status *filled = statuses_to_fill(c, array_of_statuses, count);
    call_start(c);
    int rc = c->recorded ? replay_testall(c, count, array_of_requests, flag, filled)
                         : PMPI_Testall(count, array_of_requests, flag, filled);
    call_stop(c, rc);
    if (!call_ok(c)) {
        end_nulled(c, array_of_requests, true);
    } else if (*flag || c->rc == MPI_ERR_IN_STATUS) {
        call_put_outcome(c, *flag != 0);
        out_all(c, count, array_of_requests, array_of_statuses, filled, true);
    } else {
        put_statuses_given(c, array_of_statuses, count);
        c->found_nothing = true;
    }
    call_end(c);
    return rc;
}

/* Puts the result of the request at INDEX, and ends it. MPI_UNDEFINED: there was no active
 * request. */
static void out_any(ActiveCall *c, int index, MPI_Request *requests, const MPI_Status *given,
                    MPI_Status *filled)
{
    long i = index == MPI_UNDEFINED ? -1 : index;
    encode_status_given(c, given);
    if (i < 0) {
        encode_out_status_absent(c);
        return;
    }
    live_request_encode_status(c, i, encode_status_filled(filled));
    request_event(c, (size_t)i, &requests[i], REQUEST_COMPLETED, true);
}

static int64_t index_word(int index)
{
    return index == MPI_UNDEFINED ? WEND_CONST(WEND_CONSTANT_MPI_UNDEFINED) : index;
}

WEND_EXPORT int MPI_Waitany(int count, MPI_Request array_of_requests[], int *index,
                            MPI_Status *status)
{
    ActiveCall *c = call_begin(WEND_FN_MPI_Waitany);
    if (!c)
        return PMPI_Waitany(count, array_of_requests, index, status);
    in_request_array(c, count, array_of_requests);
    MPI_Status *filled = encode_status_to_fill(c, status);
    call_start(c);
    int rc = c->recorded ? replay_waitany(c, count, array_of_requests, index, filled)
                         : PMPI_Waitany(count, array_of_requests, index, filled);
    call_stop(c, rc);
    if (call_ok(c)) {
        call_put_outcome(c, index_word(*index));
        out_any(c, *index, array_of_requests, status, filled);
    } else {
        put_truncated_any(c, index, array_of_requests, filled);
        end_nulled(c, array_of_requests, true);
    }
    call_end(c);
    return rc;
}

WEND_EXPORT int MPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag,
                            MPI_Status *status)
{
    ActiveCall *c = call_begin(WEND_FN_MPI_Testany);
    if (!c)
        return PMPI_Testany(count, array_of_requests, index, flag, status);
    in_request_array(c, count, array_of_requests);
    MPI_Status *filled = encode_status_to_fill(c, status);
    call_start(c);
    int rc = c->recorded ? replay_testany(c, count, array_of_requests, index, flag, filled)
                         : PMPI_Testany(count, array_of_requests, index, flag, filled);
    call_stop(c, rc);
    if (!call_ok(c)) {
        put_truncated_any(c, index, array_of_requests, filled);
        end_nulled(c, array_of_requests, true);
    } else if (*flag) {
        call_put_outcome(c, index_word(*index));
        call_put_outcome(c, true);
        out_any(c, *index, array_of_requests, status, filled);
    } else {
        encode_status_given(c, status);
        c->found_nothing = true;
    }
    call_end(c);
    return rc;
}

/* Puts the results of the OUTCOUNT requests at INDICES, each with its status, and ends them. The
 * array of statuses has INCOUNT elements. The shape has that number, so it does not depend on how
 * many completed this time. */
static void out_some(ActiveCall *c, int incount, int outcount, MPI_Request *requests,
                     const int *indices, const MPI_Status *given, MPI_Status *filled)
{
    int n = outcount == MPI_UNDEFINED ? 0 : outcount;
    call_put_outcome(c, index_word(outcount));
    call_put_outcome(c, length_of_array(indices, n));
    for (int i = 0; i < n; i++)
        call_put_outcome(c, indices[i]);
    put_statuses_given(c, given, incount);
    call_put_outcome(c, n);
    for (int i = 0; i < n; i++)
        live_request_encode_status(c, indices[i], status_at(filled, i));
    for (int i = 0; i < n; i++)
        request_event(c, (size_t)indices[i], &requests[indices[i]], REQUEST_COMPLETED, true);
}

WEND_EXPORT int MPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                             int array_of_indices[], MPI_Status array_of_statuses[])
{
    ActiveCall *c = call_begin(WEND_FN_MPI_Waitsome);
    if (!c)
        return PMPI_Waitsome(incount, array_of_requests, outcount, array_of_indices,
                             array_of_statuses);
    in_request_array(c, incount, array_of_requests);
    MPI_Status *filled = statuses_to_fill(c, array_of_statuses, incount);
    call_start(c);
    int rc =
        c->recorded
            ? replay_waitsome(c, incount, array_of_requests, outcount, array_of_indices, filled)
            : PMPI_Waitsome(incount, array_of_requests, outcount, array_of_indices, filled);
    call_stop(c, rc);
    if (call_ok(c))
        out_some(c, incount, *outcount, array_of_requests, array_of_indices, array_of_statuses,
                 filled);
    else
        end_nulled(c, array_of_requests, true);
    call_end(c);
    return rc;
}

WEND_EXPORT int MPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                             int array_of_indices[], MPI_Status array_of_statuses[])
{
    ActiveCall *c = call_begin(WEND_FN_MPI_Testsome);
    if (!c)
        return PMPI_Testsome(incount, array_of_requests, outcount, array_of_indices,
                             array_of_statuses);
    in_request_array(c, incount, array_of_requests);
    MPI_Status *filled = statuses_to_fill(c, array_of_statuses, incount);
    call_start(c);
    int rc =
        c->recorded
            ? replay_testsome(c, incount, array_of_requests, outcount, array_of_indices, filled)
            : PMPI_Testsome(incount, array_of_requests, outcount, array_of_indices, filled);
    call_stop(c, rc);
    if (!call_ok(c)) {
        end_nulled(c, array_of_requests, true);
    } else if (*outcount != 0) {
        out_some(c, incount, *outcount, array_of_requests, array_of_indices, array_of_statuses,
                 filled);
    } else {
        put_statuses_given(c, array_of_statuses, incount);
        c->found_nothing = true;
    }
    call_end(c);
    return rc;
}
