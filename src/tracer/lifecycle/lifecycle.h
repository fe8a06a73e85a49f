/* SPDX-License-Identifier: BSD-3-Clause */
/* lifecycle.h: the interface between the files of this folder. */
#ifndef WEND_LIFECYCLE_H
#define WEND_LIFECYCLE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/record/part.h"
#include "process/process.h"
#include "recorder/recorder.h"

/* -- control.c, for sessions.c -- */
/* opens the recording; MPI runs, and rank and size of the world are known */
void control_open(void);
/* From now on ends before MPI_Finalize are handled. Called when the call that starts MPI is
 * recorded: a rank that is asked to save has that call. */
void control_watch(void);
bool control_called_by_mpi(void); /* by MPI and not by the application, or in a forked child */
void control_abandon(void);       /* discards the recording */
void control_finish(void);        /* closes the recording */
void control_say_absent(void);    /* if some ranks run without Wend, one process prints it */
/* merges on all ranks of COMM, and frees it; false: rank 0 or another one does not record */
bool control_merge(MPI_Comm comm);

/* -- limit.c: the memory that the recording may take --
 *
 * Sets the limit. MPI runs, and the size of the world is known. */
void limit_open(void);
/* The bytes that this process may take for one step of the merge. In step STEP, ranks that are STEP
 * apart merge. In step 0 each rank reads its part. */
uint64_t limit_room(int64_t step);
/* Address space that the recorder leaves to others, if there is a limit. MPI maps 4 to 8 MB (MPICH
 * with UCX) when it makes a communicator, and was seen to hang with 50 MB left. */
enum { LIMIT_ADDRESSES_MB = 64 };
/* Whether the limit of address space (RLIMIT_AS) leaves as much. */
bool limit_has_addresses(void);

/* top.c: notes that MPI was started in this process. A program that it execs later does not print
 * that nothing was recorded. */
void top_started(void);

/* facts.c: the facts of a rank in its part. */
/* notes facts that may change until the end: directory, time */
void facts_open(void);
/* notes all other facts, once; rank and size of the world are known */
void facts_collect(void);
/* MPI calls of this rank that are recorded so far */
uint64_t facts_calls(void);
/* writes all facts to F, without calls of MPI or malloc. ENDED is how the rank ended; NULL in
 * MPI_Finalize */
void facts_put(WendFacts *f, const char *ended);

/* rank-part.c: writes this rank's part to OUT. No other thread may change the recording
 * meanwhile. Returns whether the rank has members of its own in the archive (side_stream_put). */
bool rank_part_write(WendBuf *out, const char *ended);
/* The terminals of this rank, and the sketch of its shapes (cst_sketch). */
uint64_t rank_part_terminals(void);
void rank_part_sketch(uint64_t one_of, uint64_t *bits);

/* finalize.c: merges the recordings of COMM's ranks, and writes the archive on rank 0. All ranks of
 * COMM call it. If a step fails on any rank, all ranks still take part in all communication, and
 * rank 0 prints the reason. Recording may go on afterwards. Each rank has FEWEST to MOST terminals.
 * Returns false if no archive was written. */
bool finalize_merge(MPI_Comm comm, int fewest, int most);

/* -- waiting.c: waits -- */

/* Waits for MPI that leave the processor to others. MPI's own waits spin. With more ranks than
 * processors they take the time of the rank that is waited for. */

/* Once all ranks have come to their end, a rank that has to do nothing before it answers does so
 * within this number of seconds, or MPI cannot communicate any more. */
enum { WAITING_SECONDS = 20 };

/* Waits until REQUEST, which is one of Wend's own, is complete. SECONDS: the longest wait, INFINITY
 * for one without end. FALSE: MPI reports an error, or the time is over. Then REQUEST is still
 * pending, and its buffers stay in use. */
bool waiting_for_request(MPI_Request *request, double seconds);

/* The longest wait of each function below, in SECONDS, for a rank that merges before it answers. It
 * is WAITING_SECONDS at first, and again once one of them has waited in vain. */
void waiting_set_limit(double seconds);

/* As PMPI_Send, PMPI_Recv and PMPI_Bcast, of N elements of TYPE. FALSE: MPI reports an error, or
 * the time is over. Then the library may still read and write DATA. */
bool waiting_send(const void *data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm);
bool waiting_recv(void *data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm);
bool waiting_bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm);
/* As PMPI_Allreduce in place, of at most WAITING_REDUCED bytes. False: as above. Then DATA is
 * unchanged, and nothing uses it. */
enum { WAITING_REDUCED = 8 << 10 };
bool waiting_reduce(void *data, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm);
/* *ALL: whether OWN holds on all ranks. False: as above. */
bool waiting_all(bool own, bool *all, MPI_Comm comm);
/* Whether one of these functions has waited in vain since waiting_set_limit. */
bool waiting_failed(void);

/* -- waiting.c: error handlers -- */

/* The application's error handlers while Wend itself calls MPI.
 *
 * An error in a call of Wend must not run the application's error handler, which may print, exit or
 * throw. MPI's default handler ends the job. So calls of Wend that may fail run with
 * MPI_ERRORS_RETURN, at the end of MPI, when no other thread is in MPI. Before the end, handlers
 * are not changed, because the application's other threads use them, too. Also, MPICH cannot tell a
 * handler that was set from the default one. Until then Wend only makes MPI calls that cannot
 * fail. */

typedef struct {
    struct {
        MPI_Comm comm;
        MPI_Errhandler before;
    } of[2];
    int n;
} Errhandlers;

/* Sets MPI_ERRORS_RETURN on MPI_COMM_WORLD and MPI_COMM_SELF. One of the two handles errors that
 * belong to no communicator (which one differs between MPI 3 and MPI 4). Call it between MPI_Init
 * and MPI_Finalize. */
void errhandlers_suspend(Errhandlers *e);
/* Restores the handlers of errhandlers_suspend. */
void errhandlers_restore(Errhandlers *e);

/* -- participation.c -- */

/* Checks whether all ranks of the job run under Wend. If one did not, a collective call of Wend
 * would never return. */

typedef enum {
    /* every rank of MPI_COMM_WORLD has arrived. One that gave up at that moment does not take part
     * in participation_agree, which shows it */
    PARTICIPATION_ALL,
    PARTICIPATION_PARTIAL,     /* a rank of this node runs without Wend */
    PARTICIPATION_UNKNOWN,     /* some ranks did not arrive in the given time */
    PARTICIPATION_NO_PROGRESS, /* all ranks are at their ends, and MPI communicates no more */
} Participation;

/* Waits until all SIZE ranks of MPI_COMM_WORLD have arrived, or for SECONDS if some may be on other
 * nodes. Each rank under Wend calls it, after the application has made its last MPI call and while
 * MPI still runs. Error handlers are suspended, as in participation_agree. */
Participation participation_wait(int size, double seconds);

/* Whether OWN is true on all ranks, at MPI_Init: all ranks under Wend call it, once. It waits for
 * ranks that do not come for SECONDS and a little more, and then returns false. If it returns true
 * on one rank, it does so on all. */
bool participation_prove(bool own, double seconds);

/* Whether OWN is true on all ranks. All ranks call it after PARTICIPATION_ALL, at most twice, and
 * before any collective call of Wend's that cannot be given up. The result is also false if a rank
 * cannot communicate. The other ranks wait for it for seconds. */
bool participation_agree(bool own);

/* node_ranks for this libwend.so. */
bool participation_of_node(NodeRanks *node);

/* -- termination.c -- */

/* The end of a process that does not reach MPI_Finalize. Its part is saved (lifecycle.h), and then
 * it ends as it would without Wend. */

/* Handles signals that would end the process, from MPI_Init on. Returns false if they were handled
 * already, or cannot be. */
bool termination_open(void);
/* Gives the thread a stack for signal handlers, so that an overflow of its own stack is handled. */
void termination_prepare_thread(void);
void termination_exit(int status); /* exit or _exit, if MPI was started and not finalized */
/* the process executes the program NAME; NULL: a program given by a descriptor */
void termination_exec(const char *name);
void termination_fatal(void);       /* the MPI library is about to end the job */
void termination_watch_fatal(void); /* detects that from now on */
bool termination_abort(int code);   /* MPI_Abort; false: nothing is saved */
/* there is no archive at the end: each rank saves its part, and rank 0 prints WHY */
void termination_keep(int rank, const char *why);

/* Gives the launcher MS < 1,000 milliseconds to read the line. It learns of the end next, and then
 * drops unread output. */
void termination_let_be_read(long ms);

/* -- host-clocks.c: compares the clocks of the hosts of a world, by round trips -- */

/* Compares the clocks of all hosts with that of rank 0, and notes the result for the times of
 * calls (side-streams/call-times.c). All ranks of COMM call it, which is a communicator of Wend's
 * own and has all ranks of the world. LAST: it is the last time. If a rank does not answer within
 * seconds, the clocks behind it are not compared. */
void host_clocks_compare(MPI_Comm comm, bool last);

/* The number of hosts that were compared; 0: none. *KNOWN: whether the clock of this rank was. Then
 * *ERROR is the number of nanoseconds by which it may differ from rank 0's. */
uint32_t host_clocks_result(bool *known, uint64_t *error);

/* -- thread-start.c: prepares a thread before its first call is recorded -- */

struct Thread;
/* The function for thread_new of State. Returns NULL if nothing is to be recorded here, or if
 * memory is short, in which case recording has stopped. */
struct Thread *thread_start(void);

/* -- watcher.c -- */

/* A thread of Wend that saves this rank's part (output.h): each WEND_CHECKPOINT seconds, when this
 * process is about to end, and when another process of this host announces its end. */

void watcher_open(void);  /* once, after MPI_Init, when rank 0 has its directory */
void watcher_quiet(void); /* no more checkpoints, because the merge begins */
/* shows the other ranks of the host that this one is at its end (process.h) */
void watcher_at_end(void);
/* ends the thread, because the recording is closed. A program may end with its last thread */
void watcher_close(void);
void watcher_in_child(void); /* after a fork: the child has no watcher */

/* Saves the part, with the way in which the process ends ("": in MPI_Finalize), and waits for that,
 * for some seconds at most. ALL: the host's other ranks save their parts, too, because the launcher
 * is likely to kill them next. May be called in signal handlers. Returns false if the part is not
 * saved. */
bool watcher_save(const char *ended, bool all);

/* The printable directory, if this process is the one that prints it for all ranks. NULL if there
 * is none, or another rank has printed it. May be called in signal handlers. */
const char *watcher_news(void);

#endif
