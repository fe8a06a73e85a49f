/* SPDX-License-Identifier: BSD-3-Clause */
/* recorder.h: the state of a thread that records, and how its recording is held. What a wrapper
 * does is in call.h. This header is the interface of the folder, and includes call.h, callbacks.h
 * and sequence.h. */
#ifndef WEND_RECORDER_H
#define WEND_RECORDER_H

#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/record/words.h"
#include "library.gen.h"
#include "process/process.h"
#include "segment-events.h"

/* Kinds of handles, by the enum that a wrapper says; HANDLE_REQUEST is its null handle only. */
typedef enum {
    HANDLE_COMM,
    HANDLE_GROUP,
    HANDLE_DATATYPE,
    HANDLE_OP,
    HANDLE_ERRHANDLER,
    HANDLE_INFO,
    HANDLE_FILE,
    HANDLE_WIN,
    HANDLE_MESSAGE,
    HANDLE_SESSION,
    HANDLE_KEYVAL,
    HANDLE_TENUM,
    HANDLE_CVAR,
    HANDLE_PVAR,
    HANDLE_PVARSESSION,
    HANDLE_EVENTREG,
    HANDLE_EVENT,
    HANDLE_REQUEST,
    HANDLE_KINDS
} HandleKind;

typedef struct {
    int64_t *w;
    size_t n, cap;
} Words;

typedef struct CallSequence CallSequence; /* a thread's or callback's CST and grammars */
typedef struct RequestRecord RequestRecord;
struct CommEntry;
struct ActiveCall;

/* The object whose last reference a call frees. */
/* maker NULL: none */
typedef struct {
    int64_t word;
    CallSequence *maker;
    uint64_t made;
    void *facts;
} EndedHandle;

/* What the recording says of a call that is made again (replay/). */
typedef struct {
    bool found_nothing;     /* an unsuccessful poll: there is no outcome */
    bool failed;            /* there are no outputs in the outcome */
    const int64_t *outcome; /* polls, return code, outputs; until the end of the call */
    size_t n_outcome;
} RecordedCall;

/* What a receive is posted with. */
typedef struct {
    int source, tag;
    MPI_Comm comm;
} Posting;

/* The place of a turn (turns.h) among those of its channel. */
typedef struct {
    uint64_t channel, number;
} ReplayedTurn;

/* How the calls of a recording are made again. */
typedef struct ReplayHooks {
    /* Before a call, when its input words are complete. NULL: nothing is enforced. */
    const RecordedCall *(*before)(struct ActiveCall *c);
    /* After it, when all words are complete. The sequence is locked. */
    void (*after)(struct ActiveCall *c);
    /* Then, when nothing is locked. */
    void (*left)(void);
    /* What to post the next receive with that the call posts, so that it gets what it got. */
    Posting (*posting)(struct ActiveCall *c, Posting as_called);
    /* Whether the next send that the call posts was cancelled in time. */
    bool (*unsent)(struct ActiveCall *c);
    /* Waits until the next turn of the call may be taken, and gives its place. False: the order of
     * threads is not enforced. NULL: it never is. */
    bool (*turn_take)(struct ActiveCall *c, ReplayedTurn *place);
    /* The turn is over. */
    void (*turn_give)(const ReplayedTurn *place);
    /* The shape of the call that comes next in the recording, of *N words. NULL: it is of another
     * function, or there is none. */
    const int64_t *(*recorded_shape)(struct ActiveCall *c, size_t *n);
} ReplayHooks;

/* Who records the time of each call. */
typedef struct TimeHook {
    /* A call or unsuccessful poll has been appended to Q, which is locked. PLACE is a small number,
     * the same for all calls of one shape. START 0: the times are not known. STOP 0: the duration
     * is not. */
    void (*append)(CallSequence *q, uint32_t place, uint64_t start, uint64_t stop);
} TimeHook;

/* From where in the application a call comes. */
typedef struct CallOrigin {
    char file[1024];  /* the path of the file of code; "": the program */
    uint8_t id[32];   /* the linker's identifier of the file (build-id), N_ID bytes */
    size_t n_id;      /* 0: it has none */
    uintptr_t offset; /* of the return address, as an address in the file */
} CallOrigin;

typedef struct ActiveCall {
    CallSequence *sequence;
    int function;
    /* Where the wrapper returns to, and its frame; 0 and NULL of a call that has no wrapper. */
    uintptr_t return_address;
    const uintptr_t *frame;
    bool failed, found_nothing; /* found_nothing: a poll that found nothing; goes to F */
    /* it failed, and an error handler made MPI_SUCCESS of the code: nothing of its outputs is
     * there */
    bool error_ignored;
    /* bounds of the datatype that it makes are different in each run */
    bool varies;
    EndedHandle ending;
    /* bit i: slot i is a count or a place in a file (set by calls that make requests, and by no
     * others) */
    uint64_t amounts;
    /* bit i: shape word i is the segment of a buffer, slot i is the offset of one (the same) */
    uint64_t segments, offsets;
    bool untouched; /* the call does not touch one of these buffers (the same) */
    /* bit i: parameter i gives a result, and the caller gave NULL for it */
    int64_t nulls;
    /* error class of the return code; MPI_SUCCESS, or MPI_ERR_IN_STATUS in a call that is not
     * failed */
    int rc;
    Words shape, slots, outcome; /* reused from call to call, grown when needed */
    uint64_t start, stop;        /* clock ticks */
    /* in MPI: the words so far are those of the call, and stay */
    _Atomic bool running;
    int saved_errno;
    struct Thread *thread;
    struct ActiveCall *outer, *inner; /* callbacks nest */
    CallSequence *outer_sequence;
    bool outer_inside;
    uint64_t ended; /* calls that ended here since callback_enter */
    /* what follows is for calls about requests; live-requests.c */
    /* resolved inputs, NULL entries for MPI_REQUEST_NULL */
    RequestRecord **requests;
    size_t n_requests;
    size_t cap_requests;
    struct CommEntry *later; /* comm_made_later: taken by the request */
    /* it made a request, which keeps there what the call is put aside as (stash.c) */
    struct Stash **stash_at;
    /* recorded also while recording is off: it makes or ends something that readers must know */
    bool kept;
    const RecordedCall *recorded; /* in a replay; NULL: the call is as MPI makes it */
    _Atomic bool waits_for_turn;  /* in a replay: of other threads */
} ActiveCall;

/* What a thread is doing. Callbacks of the application that MPI runs get an ActiveCall and a
 * CallSequence of their own (callback_enter). */
/* What a thread has found in a table of handles (objects/handles.c). */
typedef struct HandleFound {
    uintptr_t value;
    uint64_t version;          /* of the table; 0: nothing was found so far */
    const CallSequence *owner; /* that of the thread at the time */
    int64_t word;
    void *facts;
} HandleFound;
enum { HANDLES_FOUND = 4 };

typedef struct Thread {
    ActiveCall *call;       /* the innermost */
    CallSequence *sequence; /* that calls go to now */
    uint32_t number;
    Words frees; /* segments freed inside MPI: recorded after the call */
    /* between call_begin and call_end: MPI that is called now is called by MPI, or by Wend */
    bool inside;
    _Atomic bool busy; /* between recorder_enter and recorder_leave */
    /* a signal that came then waits for the end of it (termination.c) */
    _Atomic int postponed;
    struct AddressLog *asked; /* NULL: no address yet */
    MPI_Status *statuses;     /* scratch */
    size_t n_statuses;
    HandleFound found[HANDLE_KINDS][HANDLES_FOUND];
} Thread;

extern __thread Thread *this_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* of the calling thread; NULL: no memory, and recording has stopped */
Thread *thread_new(void);

/* For the function that makes a thread's state (State's thread_new). NULL and false: no memory. */
Thread *thread_alloc(void);
void thread_free(Thread *t);
/* it has a sequence from now on. With threads_lock held */
bool thread_register(Thread *t, uint32_t number);

bool words_grow(Words *w); /* false: no memory, and recording has stopped */

static inline Thread *thread_self(void)
{
    Thread *t = this_thread;
    return __builtin_expect(t != NULL, 1) ? t : thread_new();
}

/* What is recorded (sequences, and the words of a running call) is changed between these two, and
 * read by the watcher while nobody is there. They cost a few loads and stores: that they are seen
 * in their order by another processor is the watcher's business (membarrier). */
void recorder_wait(Thread *t);      /* until the watcher has read */
void recorder_postponed(Thread *t); /* the signal comes again, now */

/* For the watcher. From hold to release no thread changes what is recorded. False: some thread does
 * not leave the recorder, as it has crashed there; nothing is held. */
bool recorder_hold(void);
void recorder_release(void);

static inline void recorder_enter(Thread *t)
{
    atomic_store_explicit(&t->busy, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&state()->hold, memory_order_acquire), 0))
        recorder_wait(t);
}

static inline void recorder_leave(Thread *t)
{
    atomic_store_explicit(&t->busy, false, memory_order_release);
    atomic_signal_fence(memory_order_seq_cst);
    if (__builtin_expect(atomic_load_explicit(&t->postponed, memory_order_relaxed) != 0, 0))
        recorder_postponed(t);
}

static inline void words_put(Words *w, int64_t word)
{
    if (__builtin_expect(w->n < w->cap, 1) || words_grow(w))
        w->w[w->n++] = word;
}

/* Room for N words, which count as put. NULL: no memory. */
static inline int64_t *words_room(Words *w, size_t n)
{
    while (__builtin_expect(w->cap - w->n < n, 0))
        if (!words_grow(w))
            return NULL;
    w->n += n;
    return w->w + w->n - n;
}

/* to use in the place of MPI_STATUS(ES)_IGNORE */
MPI_Status *thread_statuses(ActiveCall *c, size_t n);

/* -- error-codes.c: error codes and their classes -- */

/* The class of RC, which a call returned, or RC itself if MPI cannot tell. The class is noted,
 * because the recording has the names of all classes that occurred. */
int error_code_note(int rc);

/* The word of an error code that is an argument. A code that can only come from a failed call is
 * replaced by its class, as return codes are, since it differs from run to run. A code that the
 * application made with MPI_Add_error_code stays as it is. */
int error_code_class(int code);
/* Notes a code that the application made with MPI_Add_error_code. */
void error_code_added(int code);

/* Calls VISIT for each class that was noted. May be called at any time, even in a signal
 * handler. */
void error_codes_each_class(void (*visit)(void *user, int class), void *user);

#include "call.h"
#include "callbacks.h"
#include "sequence.h"

/* -- stash.c -- */

/* Calls that made requests while recording was off. Such a call is kept, without its times, until
 * the request ends or recording goes on. The lock of the table of requests protects it, too. */

typedef struct Stash Stash;

/* Keeps C. *C->stash_at gets the Stash of its request. If memory is short, nothing is kept. */
void stash_call(ActiveCall *c);
/* Appends the kept calls of sequence Q whose requests are still pending, before the first call that
 * is recorded again, because the calls that complete them are recorded. Returns false if memory is
 * short. */
bool stash_append_all(CallSequence *q);

/* Both are called with requests_lock held, for the request that has S. stash_remove: the request
 * has ended without being recorded, so S is dropped. stash_let_go: its end is recorded, so S stays,
 * and the request no longer refers to it. */
void stash_remove(CallSequence *q, Stash *s);
void stash_let_go(Stash *s);

/* -- thread-numbers.c: numbers of threads -- */

/* Counts threads that are created from now on, which may be the application's. Call it when the
 * library is loaded. */
void thread_numbers_open(void);
/* The number of the calling thread. Call it once for a thread, with threads_lock held. IS_FIRST: it
 * is the first thread of the process that calls MPI. */
uint32_t thread_number_new(bool is_first);
/* The number of the calling thread by its creation (thread-birth.h); 0: the initial
 * thread. A signal handler may ask. False: it is no thread of the application. */
bool thread_number_birth(uint32_t *birth);
/* The number of the thread with that birth, as it is known so far. */
uint32_t thread_number_of(uint32_t birth);
/* Whether some thread has another number than by the count of all threads, or was created or joined
 * by another function than pthread_create and pthread_join, or its number in a join is not that of
 * its creation. A replay knows no more than these if the recording does not say so. */
bool thread_numbers_by_creator(void);

#endif
