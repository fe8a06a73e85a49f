/* SPDX-License-Identifier: BSD-3-Clause */
/* objects.h: objects of MPI, which calls make, use and free: handles, communicators, windows,
 * files, datatypes, messages and requests. A handle that Wend does not know is never passed to an
 * MPI function. */
#ifndef WEND_OBJECTS_H
#define WEND_OBJECTS_H

#include "recorder/recorder.h"

/* -- handles: value of the library -> word. There is one hash for each kind. -- */
/* The word of an output handle, which is not pushed. It is a new word, unless the handle is known,
 * which then gets one more reference. */
int64_t handle_made(ActiveCall *c, HandleKind kind, uintptr_t value);
/* A call that frees a handle: handle_ending before the call, then handle_freed if it succeeded, or
 * handle_stays if it failed. C is NULL if the call is not recorded. Each free takes one reference;
 * without references the id is free again. handle_ending is needed because the library may give the
 * value of a freed handle to another thread before handle_freed runs. */
void handle_ending(ActiveCall *c, HandleKind kind, uintptr_t value);
void handle_stays(ActiveCall *c, HandleKind kind, uintptr_t value);
void handle_freed(ActiveCall *c, HandleKind kind, uintptr_t value);

/* Generated: the predefined handles of this library, null handles included. */
typedef struct {
    HandleKind kind;
    uint32_t constant;
    uintptr_t value;
} PredefinedHandle;
extern const PredefinedHandle mpi_predefined[];
extern const size_t mpi_n_predefined;
/* Generated: the error classes of this library. */
typedef struct {
    int value;
    uint32_t constant;
} ErrorClass;
extern const ErrorClass mpi_error_classes[];
extern const size_t mpi_n_error_classes;

/* -- communicators, windows, files -- */
typedef struct {
    int size, rank, remote_size; /* remote_size is -1 for an intracommunicator */
    int leader, remote_leader;   /* world ranks; -1: unknown or none */
    /* of a dynamic window: world ranks of its members, -1 if unknown; NULL for others */
    const int *members;
    /* of a communicator: turns.h; NULL: not asked for so far */
    struct CommOrder *_Atomic order;
} CommMetadata;
/* NULL for an unknown handle or the null handle; makes no MPI call on an unknown handle */
const CommMetadata *comm_metadata(MPI_Comm comm);
/* facts of the window's communicator */
const CommMetadata *comm_metadata_of_win(MPI_Win win);
const CommMetadata *comm_metadata_of_file(MPI_File file);
/* The role of the caller in it. Only comm_metadata_size needs a communicator; F may be NULL in the
 * others. */
static inline int comm_metadata_self(const CommMetadata *f)
{
    return f ? f->rank : -1;
}
static inline int64_t comm_metadata_size(const CommMetadata *f)
{
    return f->remote_size >= 0 ? f->remote_size : f->size;
}

/* Whether arguments are significant: those of the root, those of ranks that contribute data, and
 * those of members (mpi.spec: ?root, ?leaf, ?member). With an unknown communicator, none is. */
static inline bool comm_metadata_is_root(const CommMetadata *f, int root)
{
    return f && (f->remote_size < 0 ? root == f->rank : root == MPI_ROOT);
}
static inline bool comm_metadata_is_leaf(const CommMetadata *f, int root)
{
    return f && (f->remote_size < 0 || root >= 0);
}
static inline bool comm_metadata_is_member(const CommMetadata *f, int root)
{
    return f && (f->remote_size < 0 || root != MPI_PROC_NULL);
}

/* number of neighbours in a topology, 0 if there is none; cached */
int comm_indegree(MPI_Comm comm), comm_outdegree(MPI_Comm comm);
/* whether the edges have weights */
bool comm_weighted(MPI_Comm comm);
/* handle_made with facts; pushes the handle word (shape) and, if it is a handle, 5 slots */
int64_t comm_made(ActiveCall *c, MPI_Comm comm);
/* Puts the neighbours of a graph that was just made (lib/record/neighbours.h). */
void comm_put_neighbours(ActiveCall *c, MPI_Comm graph);
/* for MPI_Comm_idup and the like: pushes the words of comm_made from the parent's facts; VARIABLE
 * is read when the request completes */
void comm_made_later(ActiveCall *c, MPI_Comm parent, MPI_Comm *variable);
/* after handle_made: gives the window or file the facts of COMM */
void comm_made_win(MPI_Win win, MPI_Comm comm);
void comm_made_file(MPI_File file, MPI_Comm comm);
/* A split collective operation on FILE: whether it touches its buffer. comm_split_begins returns
 * TOUCHES; comm_split_touches that of the last operation, or true if the file is unknown. */
bool comm_split_begins(MPI_File file, bool touches);
bool comm_split_touches(MPI_File file);
/* handle_made with facts; pushes the word (shape) and, if it is a handle, 5 slots */
int64_t datatype_made(ActiveCall *c, MPI_Datatype type);
const int64_t *datatype_metadata(MPI_Datatype type); /* the five facts; NULL: unknown */
/* whether bounds of one of the types differ in each run */
bool datatypes_vary(const MPI_Datatype *types, int64_t n);
/* bytes; -1: unknown. Cached; no MPI call for predefined types */
int64_t datatype_size(MPI_Datatype type);
/* Whether the datatype is known to have no bytes. Fast in programs that made no such datatype. */
bool datatype_is_empty(MPI_Datatype type);

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
    bool nowhere;   /* in a replay: a receive posted where nobody sends, also in place of a send */
    bool sends_too; /* RECV: MPI_Isendrecv and the like, with two partners */
    int self, source, tag; /* RECV: as posted; source may be MPI_ANY_SOURCE */
    /* persistent messages: turns.h; NULL: no turns. Source and tag are those of a send, too */
    struct CommOrder *order;
    int64_t bytes; /* RECV: posted size */
};
/* Of a request of c->requests, which may be NULL. NULL: unknown. */
const struct RequestMetadata *request_metadata(const RequestRecord *r);
/* Ends a call that makes a request, instead of call_end. Pushes the request's word. */
void live_request_end_call(ActiveCall *c, MPI_Request *variable,
                           const struct RequestMetadata *facts);
/* Resolves N variables into c->requests and pushes their words, with a length word if ARRAY. Before
 * the PMPI call. */
void live_requests_encode(ActiveCall *c, int n, MPI_Request *variables, bool array);
/* The same for a request that is passed by value (MPI_Request_get_status, MPI_Grequest_complete,
 * MPI_Pready, MPI_Parrived): into c->requests[0]. */
void live_request_encode_value(ActiveCall *c, MPI_Request value);
/* The change of c->requests[i], after the PMPI call: COMPLETED (freed, if it is not persistent),
 * FREED, STARTED. Statuses must be pushed before, because they are relative to the running request.
 * A NULL entry is skipped. */
typedef enum { REQUEST_COMPLETED, REQUEST_FREED, REQUEST_STARTED } RequestEvent;
/* BY_CHOICE: a Test*, Waitany or Waitsome completed it, so a NULL in the variable is later read as
 * this request (docs/recording.md). */
void request_event(ActiveCall *c, size_t i, MPI_Request *variable, RequestEvent event,
                   bool by_choice);
/* The words of a status in an outcome. */
enum { STATUS_SOURCE, STATUS_TAG, STATUS_BYTES, STATUS_FLAGS, STATUS_WORDS };

/* Pushes the words of a status, relative to the request c->requests[i], or for i < 0 to an inactive
 * request. A replay first gives the status what the library left to chance. */
void live_request_encode_status(ActiveCall *c, long i, MPI_Status *status);
void objects_encode_status(ActiveCall *c, MPI_Status *status, int self, int source, int tag,
                           int64_t bytes);

/* Matched probes, after handle_made: the facts that statuses of MPI_Mrecv and MPI_Imrecv are
 * relative to. */
typedef struct {
    int self, source, tag;
} MessageMetadata;
void message_made(MPI_Message m, int self, int source, int tag);
/* for an unknown message or none: the facts of a wildcard, self 0 */
MessageMetadata message_metadata(MPI_Message m);

#include "handles.h"

/* -- comm.c: communicators, for the start of MPI and for requests that make communicators -- */

/* after MPI_Init: adds MPI_COMM_WORLD, MPI_COMM_SELF and predefined datatypes */
void comm_open_world(void);
/* reads the facts of the predefined datatypes, once MPI runs */
void datatypes_open(void);
/* for comm_made_later: the variable has its handle now */
void comm_arrived(struct CommEntry *e);

/* -- progress.c -- */

/* Lets MPI make progress without communication, where Wend waits for what other processes do.
 * They may need this one to complete their operations. */

/* Any thread may call it while MPI runs. Returns at once if another thread does the same. */
void progress_make(void);
/* When the application has made its last call, and MPI still runs. */
void progress_close(void);

#endif
