/* runtime.h: what the generated wrappers (wrappers.gen.c) and the few hand-written ones (special.c) call.
 *
 * A wrapper is:
 *
 *   int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
 *   {
 *       Call *c = call_begin(WEND_FN_MPI_Send);
 *       if (!c) return PMPI_Send(buf, count, datatype, dest, tag, comm);   // Wend is off, or MPI calls itself
 *       in_self_comm(c, comm);
 *       in_buf(c, buf); in_slot(c, count); in_datatype(c, datatype); in_const(c, dest, GROUP_ranks) …
 *       call_start(c);
 *       int rc = PMPI_Send(…);
 *       call_stop(c, rc);               // after it nothing counts as time of the call
 *       if (call_ok(c)) { outputs }
 *       call_end(c);                    // signature -> terminal -> grammar, outcome, timing; errno is as the library left it
 *       return rc;
 *   }
 *
 * (in_slot, in_const, … are spec's encode.h.)
 *
 * Rules: nothing here ever fails towards the application; when memory is short recording stops (state->broken) and wrappers pass through.
 * Inputs are read before the PMPI call (it may change them), outputs after it and only when call_ok. No handle that Wend does
 * not know is ever passed to an MPI function. Between call_begin and call_end of one thread no application code runs but callbacks, and those are
 * wrapped (callbacks.c), which gives them a Call of their own. While a wrapper is inside PMPI, call_begin returns NULL on that thread. */
#ifndef WEND_RUNTIME_H
#define WEND_RUNTIME_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../lib/words.h"
#include "library.gen.h"

typedef struct { int64_t *w; size_t n, cap; } Words;

typedef struct Sequence Sequence;      /* a thread's or callback's CST and grammars */
typedef struct RequestRecord RequestRecord;
struct CommEntry;

/* The object whose last reference a call frees. */
typedef struct { int64_t word; Sequence *maker; uint64_t made; void *facts; } Ending; /* maker NULL: none */

typedef struct Call {
    Sequence *sequence;
    int function;
    bool failed, found_nothing;        /* found_nothing: a poll that found nothing; goes to F */
    bool forgiven;                     /* it failed, and an error handler made MPI_SUCCESS of the code: nothing of its outputs is there */
    bool varies;                       /* bounds of the datatype that it makes are different in each run */
    Ending ending;
    uint64_t amounts;                  /* bit i: slot i is a count or a place in a file (set by calls that make requests, and by no others) */
    int64_t nulls;                     /* bit i: parameter i gives a result, and the caller gave NULL for it */
    int rc;                            /* error class of the return code; MPI_SUCCESS, or MPI_ERR_IN_STATUS in a call that is not failed */
    Words shape, slots, outcome;       /* reused from call to call, grown when needed */
    uint64_t start, stop;              /* clock ticks */
    _Atomic bool running;              /* in MPI: the words so far are those of the call, and stay */
    int saved_errno;
    struct Thread *thread;
    struct Call *outer, *inner;        /* callbacks nest */
    Sequence *outer_sequence; bool outer_inside;
    uint64_t ended;                    /* calls that ended here since callback_enter */
    /* what follows is for calls about requests; requests.c */
    RequestRecord **requests; size_t n_requests; size_t cap_requests; /* resolved inputs, NULL entries for MPI_REQUEST_NULL */
    struct CommEntry *later;           /* comm_made_later: taken by the request */
    struct Stash **stash_at;           /* it made a request, which keeps there what the call is put aside as (stash.h) */
    bool kept;                         /* recorded also while recording is off: it makes or ends something that readers must know */
} Call;

struct RequestFacts;

/* -- life of a call (call.c; the hot ones inline in call.h, which wrappers include instead of this header) --
 *   Call *call_begin(int function);
 *   void call_start(Call *c);
 *   void call_stop(Call *c, int rc);       sets failed: rc is neither MPI_SUCCESS nor of class MPI_ERR_IN_STATUS
 *   bool call_ok(const Call *c);
 *   void put_shape(Call *c, int64_t w), put_slot(…), put_outcome(…);   short of memory they stop the recording */
void call_end(Call *c);
/* The same in two steps, between which words may be put while the sequence is locked. */
void call_end_enter(Call *c);
void call_end_leave(Call *c);
void call_end_new_request(Call *c, MPI_Request *variable, const struct RequestFacts *facts); /* instead of call_end, for calls that make one; pushes the request's word */
void call_forget(Call *c);             /* instead of call_end: nothing is recorded */
/* A pseudo-call of the spec, into the calling thread's sequence: words after word 0 of the shape, and after the outcome's polls and return code; at most 6 of each. */
void call_pseudo(int function, const int64_t *shape, size_t n_shape, const int64_t *outcome, size_t n_outcome);

/* -- handles (handles.c): value of the library -> word. Kinds by enum, one hash each. -- */
typedef enum {
    HANDLE_COMM, HANDLE_GROUP, HANDLE_DATATYPE, HANDLE_OP, HANDLE_ERRHANDLER, HANDLE_INFO, HANDLE_FILE, HANDLE_WIN,
    HANDLE_MESSAGE, HANDLE_SESSION, HANDLE_KEYVAL,
    HANDLE_TENUM, HANDLE_CVAR, HANDLE_PVAR, HANDLE_PVARSESSION, HANDLE_EVENTREG, HANDLE_EVENT,
    HANDLE_REQUEST, /* its null handle only; the others are in requests.c */
    HANDLE_KINDS
} HandleKind;
/* handle_word (handles.h, inline): constant, known handle, or WEND_UNKNOWN */
int64_t handle_made(Call *c, HandleKind kind, uintptr_t value);      /* word of an output, not pushed; new unless known (then one reference more) */
/* A call that frees a handle: before it, and after it if it failed, or if it did not (C NULL: nothing is recorded of it). One reference less; at
 * none the id is free again. Once the library has freed a handle it may give its value to another thread, before this one is told. */
void handle_ending(Call *c, HandleKind kind, uintptr_t value);
void handle_stays(Call *c, HandleKind kind, uintptr_t value);
void handle_freed(Call *c, HandleKind kind, uintptr_t value);

/* Generated: the predefined handles of this library (null handles too): kind, number of the constant, value. */
typedef struct { HandleKind kind; uint32_t constant; uintptr_t value; } PredefinedHandle;
extern const PredefinedHandle wend_predefined[];
extern const size_t wend_n_predefined;
/* Generated: the library's error classes. */
typedef struct { int value; uint32_t constant; } ErrorClass;
extern const ErrorClass wend_error_classes[];
extern const size_t wend_n_error_classes;

/* -- communicators, windows, files (comm.c) -- */
typedef struct {
    int size, rank, remote_size;       /* remote_size -1: an intracommunicator */
    int leader, remote_leader;         /* world ranks, -1 unknown or none */
    const int *members;                /* of a dynamic window: their world ranks, -1 unknown. NULL: it is none */
} CommFacts;
const CommFacts *comm_facts(MPI_Comm comm);                          /* NULL unknown or null handle. Never calls MPI on an unknown handle */
const CommFacts *win_facts(MPI_Win win);                             /* of the window's communicator */
const CommFacts *file_facts(MPI_File file);
int comm_indegree(MPI_Comm comm), comm_outdegree(MPI_Comm comm);     /* neighbours of a topology, 0 if none; cached */
bool comm_weighted(MPI_Comm comm);                                   /* whether its edges have weights */
int64_t comm_made(Call *c, MPI_Comm comm);                           /* handle_made and the facts; pushes handle word (shape) and, if it is a handle, 5 slots */
void put_neighbours(Call *c, MPI_Comm graph); /* of a graph just made (lib/neighbours.h) */
void comm_made_later(Call *c, MPI_Comm parent, MPI_Comm *variable);  /* MPI_Comm_idup…: pushes what comm_made does, from the parent's facts;
                                                                      * VARIABLE is read when the request completes */
void win_made(MPI_Win win, MPI_Comm comm);                           /* after handle_made: its facts are those of COMM */
void file_made(MPI_File file, MPI_Comm comm);
int64_t datatype_made(Call *c, MPI_Datatype type);                   /* pushes word (shape) and, if it is a handle, 5 slots */
const int64_t *datatype_facts(MPI_Datatype type);                    /* the five; NULL unknown */
bool datatypes_vary(const MPI_Datatype *types, int64_t n);           /* do bounds of one of them differ in each run? */
int64_t datatype_size(MPI_Datatype type);                            /* bytes; -1 unknown. Cached, no MPI call for predefined ones */

/* -- requests (requests.c) -- */
enum { REQUEST_SEND, REQUEST_RECV, REQUEST_COLLECTIVE, REQUEST_RMA, REQUEST_IO, REQUEST_GENERALIZED, REQUEST_COMM /* makes a communicator */ };
struct RequestFacts {
    int type;
    bool persistent;
    int self, source, tag;             /* RECV: as posted; source may be MPI_ANY_SOURCE */
    int64_t bytes;                     /* RECV: posted size */
};
/* Resolves n variables into c->requests and pushes their words (length word too if ARRAY). Before the PMPI call. */
void in_requests(Call *c, int n, MPI_Request *variables, bool array);
/* A request passed by value (MPI_Request_get_status, MPI_Grequest_complete, MPI_Pready, MPI_Parrived): into c->requests[0]. */
void in_request_value(Call *c, MPI_Request value);
/* After the PMPI call: says what became of c->requests[i]: COMPLETED (done; freed if not persistent), FREED, STARTED.
 * Statuses are pushed before: they are relative to what the request was while it ran. A NULL c->requests[i] is skipped. */
typedef enum { REQUEST_COMPLETED, REQUEST_FREED, REQUEST_STARTED } RequestEvent;
/* by_choice: by a Test*, Waitany or Waitsome, so the variable's NULL is remembered as this request (docs/design.md). */
void request_event(Call *c, size_t i, MPI_Request *variable, RequestEvent event, bool by_choice);
/* Pushes the four outcome words of a status relative to the request c->requests[i] (i < 0: relative to source, tag, bytes given). */
void out_status_of_request(Call *c, long i, const MPI_Status *status);
void out_status(Call *c, const MPI_Status *status, int self, int source, int tag, int64_t bytes);
MPI_Status *scratch_statuses(Call *c, size_t n);                     /* to use in the place of MPI_STATUS(ES)_IGNORE */

/* Matched probes, after handle_made: what MPI_Mrecv and MPI_Imrecv will compare their status with. */
typedef struct { int self, source, tag; } MessageFacts;
void message_made(MPI_Message m, int self, int source, int tag);
MessageFacts message_facts(MPI_Message m);                           /* of an unknown message or none: a wildcard's, self 0 */

/* -- memory (memory.h has the lookup, MPI's own memory, and what they need of the runtime) -- */
#include "memory.h"

/* -- callbacks (callbacks.h) -- */
/* From callback_enter to callback_leave this thread is in application code that the library called: call_begin gives a Call
 * of its own again (the one that was interrupted stays as it is), and what is recorded goes to the sequence of kind callback with that id, which is made at its first
 * call. They nest. FALSE: nothing is recorded here now (off, broken, no MPI yet), and there must be no leave. */
bool callback_enter(int64_t function_word);
void callback_forgives(int code);                                    /* an error handler, since enter, made MPI_SUCCESS of CODE */
void callback_passed(void);                                          /* the function that was entered made no calls, and that is all there is to say of it */
uint64_t callback_passes(void);                                      /* how often that was so since the last one that is recorded; forgets them */
uint64_t callback_calls(void);                                       /* recorded since this thread's last enter */
void callback_leave(void);
int64_t func_word(const void *function);                             /* number by first sight */

#endif
