/* SPDX-License-Identifier: BSD-3-Clause */
/* objects.h: objects of MPI, which calls make, use and free: handles, communicators, windows,
 * files, datatypes, messages and requests. No handle that Wend does not know is ever passed to an
 * MPI function. */
#ifndef WEND_OBJECTS_H
#define WEND_OBJECTS_H

#include "recorder/recorder.h"

/* -- handles: value of the library -> word. Kinds by enum, one hash each. -- */
/* handle_word (handles.h, inline): constant, known handle, or WEND_UNKNOWN */
/* word of an output, not pushed; new unless known (then one reference more) */
int64_t handle_made(ActiveCall *c, HandleKind kind, uintptr_t value);
/* A call that frees a handle: before it, and after it if it failed, or if it did not (C NULL:
 * nothing is recorded of it). One reference less; at none the id is free again. Once the library
 * has freed a handle it may give its value to another thread, before this one is told. */
void handle_ending(ActiveCall *c, HandleKind kind, uintptr_t value);
void handle_stays(ActiveCall *c, HandleKind kind, uintptr_t value);
void handle_freed(ActiveCall *c, HandleKind kind, uintptr_t value);

/* Generated: the predefined handles of this library (null handles too): kind, number of the
 * constant, value. */
typedef struct {
    HandleKind kind;
    uint32_t constant;
    uintptr_t value;
} PredefinedHandle;
extern const PredefinedHandle wend_predefined[];
extern const size_t wend_n_predefined;
/* Generated: the library's error classes. */
typedef struct {
    int value;
    uint32_t constant;
} ErrorClass;
extern const ErrorClass wend_error_classes[];
extern const size_t wend_n_error_classes;

/* -- communicators, windows, files -- */
typedef struct {
    int size, rank, remote_size; /* remote_size -1: an intracommunicator */
    int leader, remote_leader;   /* world ranks, -1 unknown or none */
    /* of a dynamic window: their world ranks, -1 unknown. NULL: it is none */
    const int *members;
} CommMetadata;
/* NULL unknown or null handle. Never calls MPI on an unknown handle */
const CommMetadata *comm_facts(MPI_Comm comm);
/* of the window's communicator */
const CommMetadata *win_facts(MPI_Win win);
const CommMetadata *file_facts(MPI_File file);
/* neighbours of a topology, 0 if none; cached */
int comm_indegree(MPI_Comm comm), comm_outdegree(MPI_Comm comm);
/* whether its edges have weights */
bool comm_weighted(MPI_Comm comm);
/* handle_made and the facts; pushes handle word (shape) and, if it is a handle, 5 slots */
int64_t comm_made(ActiveCall *c, MPI_Comm comm);
/* Of a graph just made (lib/record/neighbours.h). */
void put_neighbours(ActiveCall *c, MPI_Comm graph);
/* MPI_Comm_idup…: pushes what comm_made does, from the parent's facts; VARIABLE is read when the
 * request completes */
void comm_made_later(ActiveCall *c, MPI_Comm parent, MPI_Comm *variable);
/* after handle_made: its facts are those of COMM */
void win_made(MPI_Win win, MPI_Comm comm);
void file_made(MPI_File file, MPI_Comm comm);
/* pushes word (shape) and, if it is a handle, 5 slots */
int64_t datatype_made(ActiveCall *c, MPI_Datatype type);
const int64_t *datatype_facts(MPI_Datatype type); /* the five; NULL unknown */
/* do bounds of one of them differ in each run? */
bool datatypes_vary(const MPI_Datatype *types, int64_t n);
/* bytes; -1 unknown. Cached, no MPI call for predefined ones */
int64_t datatype_size(MPI_Datatype type);

/* -- requests, and their statuses -- */
enum {
    REQUEST_SEND,
    REQUEST_RECV,
    REQUEST_COLLECTIVE,
    REQUEST_RMA,
    REQUEST_IO,
    REQUEST_GENERALIZED,
    REQUEST_COMM /* makes a communicator */
};
struct RequestMetadata {
    int type;
    bool persistent;
    int self, source, tag; /* RECV: as posted; source may be MPI_ANY_SOURCE */
    int64_t bytes;         /* RECV: posted size */
};
/* Instead of call_end, for calls that make a request; pushes the request's word. */
void call_end_new_request(ActiveCall *c, MPI_Request *variable,
                          const struct RequestMetadata *facts);
/* Resolves n variables into c->requests and pushes their words (length word too if ARRAY). Before
 * the PMPI call. */
void in_requests(ActiveCall *c, int n, MPI_Request *variables, bool array);
/* A request passed by value (MPI_Request_get_status, MPI_Grequest_complete, MPI_Pready,
 * MPI_Parrived): into c->requests[0]. */
void in_request_value(ActiveCall *c, MPI_Request value);
/* After the PMPI call: says what became of c->requests[i]: COMPLETED (done; freed if not
 * persistent), FREED, STARTED. Statuses are pushed before: they are relative to what the request
 * was while it ran. A NULL c->requests[i] is skipped. */
typedef enum { REQUEST_COMPLETED, REQUEST_FREED, REQUEST_STARTED } RequestEvent;
/* by_choice: by a Test*, Waitany or Waitsome, so the variable's NULL is remembered as this request
 * (docs/recording.md). */
void request_event(ActiveCall *c, size_t i, MPI_Request *variable, RequestEvent event,
                   bool by_choice);
/* Pushes the four outcome words of a status relative to the request c->requests[i] (i < 0: relative
 * to source, tag, bytes given). */
void out_status_of_request(ActiveCall *c, long i, const MPI_Status *status);
void out_status(ActiveCall *c, const MPI_Status *status, int self, int source, int tag,
                int64_t bytes);

/* Matched probes, after handle_made: what MPI_Mrecv and MPI_Imrecv will compare their status
 * with. */
typedef struct {
    int self, source, tag;
} MessageMetadata;
void message_made(MPI_Message m, int self, int source, int tag);
/* of an unknown message or none: a wildcard's, self 0 */
MessageMetadata message_facts(MPI_Message m);

#include "communicators.h"
#include "handles.h"

#endif
