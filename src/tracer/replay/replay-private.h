/* SPDX-License-Identifier: BSD-3-Clause */
/* replay-private.h: what the files that follow a recording share. */
#ifndef WEND_REPLAY_PRIVATE_H
#define WEND_REPLAY_PRIVATE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "divergence.h"
#include "recorder/recorder.h"

/* -- channels.c -- */

/* Turns of threads on channels (src/tracer/objects/turns.h).
 *
 * A channel is what MPI keeps in order: messages of one source with one tag on one communicator,
 * or messages to one rank. A turn waits until those with lower numbers on its channel are over.
 * All threads go on at once when the order is given up. */

#define CHANNEL_NONE UINT64_MAX

/* Before the first turn. False: no memory. */
bool channels_open(uint64_t n);
/* Waits until the turn of C has come; on CHANNEL_NONE that is at once. MPI makes progress
 * meanwhile. False: the order is given up. */
bool channel_wait(ActiveCall *c, const ReplayedTurn *turn);
/* The turn is over. */
void channel_pass(const ReplayedTurn *turn);
/* After a divergence. */
void channels_give_up(void);

/* -- persistent.c -- */

/* Persistent receives that leave source or tag open. Each start of one may get a message from
 * another process. So in a replay it is never started itself: each start posts a receive for what
 * that start got, and calls with the request are made with the receive. */

typedef struct {
    void *buf;
    MPI_Count count;
    bool large; /* the large-count variant made it */
    MPI_Datatype type;
    Posting as_called;
    MPI_Request posted; /* for the last start; MPI_REQUEST_NULL once it is complete */
    bool nowhere;       /* it gets no message */
} PersistentReceive;

/* Notes that REQUEST is RECEIVE, and keeps a copy of its datatype. */
void persistent_add(MPI_Request request, PersistentReceive receive);
/* Forgets REQUEST, which the application frees, and frees what was posted for it. */
void persistent_remove(MPI_Request request);
/* The receive of REQUEST, or NULL if it is none of these. */
PersistentReceive *persistent_find(MPI_Request request);
/* Forgets all, and frees the copies of datatypes, before MPI ends. */
void persistent_close(void);
/* Whether there are any. */
bool persistent_any(void);
/* Posts a receive for a start. Returns MPI's code. */
int persistent_start(PersistentReceive *receive, Posting posting);

/* -- other-hosts.c -- */

/* What the hosts of a replay know of each other. The ranks of one host see each other's pages
 * (supervise.c). The first rank of each host is connected to rank 0 by TCP. */

/* What one host says of its ranks. */
typedef struct {
    uint32_t ranks; /* that are known */
    bool waits;     /* all of them wait, as long as the replay has patience, or have ended */
    bool ended;     /* one has come to the end of the recording of a run that died */
    bool stopped;   /* one has stopped at --until */
    bool freed;     /* one has departed, with --on-divergence=free */
} HostNote;

/* What the other hosts have said. Only rank 0 knows COMPLETE and WAIT. */
typedef struct {
    bool complete; /* all ranks are on hosts that are connected */
    bool wait;     /* all of them wait */
    bool ended, stopped, freed;
    bool ends; /* rank 0 ends the job: each host says what its ranks wait for */
} HostsView;

/* Called by all ranks once MPI runs. COMM: a communicator of Wend's own that has all ranks, if the
 * job has several hosts: there rank 0 broadcasts where it listens. Else MPI_COMM_NULL. */
void other_hosts_open(uint32_t rank, uint32_t size, MPI_Comm comm);
void other_hosts_close(void);
/* Whether there are several hosts, and rank 0 listens. */
bool other_hosts_known(void);

/* Tells rank 0 what this host has to say, or, on rank 0, all hosts. Sets *VIEW to what has come.
 * For the first rank of each host, and one thread. Returns false if there is no connection to
 * rank 0. */
bool other_hosts_exchange(const HostNote *own, HostsView *view);
/* Another rank is the first of this host. */
void other_hosts_leave(void);
/* Rank 0: tells the hosts that the job ends, and waits for at most MS milliseconds until they have
 * closed their connections. */
void other_hosts_end(long ms);

/* -- supervise.c -- */

/* A thread of each rank of a replay, which notices when nothing goes on, and stops the process at
 * --until. */

/* Reads the settings until and debug, which are those of all ranks. Returns false with the reason
 * in *WHY if one is not valid. */
bool supervise_settings(uint32_t rank, uint32_t size, const char **why);
/* Waits for a debugger if this rank is one of --debug. Called before the rank's first call. */
void supervise_debug(void);
/* Begins with the rank's first call, and ends with MPI. */
void supervise_open(void);
/* MPI_Init has returned, and the hosts have met (other_hosts_open). */
void supervise_met(void);
void supervise_close(void);

/* Called before each call. Counts it, and stops the process if it is the call of --until. NUMBER is
 * that of the call in its sequence; THREAD is -1 for a callback. */
void supervise_call(int64_t thread, uint64_t number, const CallWords *call);

/* --on-divergence=free: from now on this rank does not follow the recording, and the others do not
 * as soon as they notice. */
void supervise_free(void);
/* Whether this or another rank has called it. */
bool supervise_is_free(void);

/* Ends the job where MPI_Abort cannot: before MPI runs, when the other ranks would wait for this
 * one in MPI_Init, or while another thread is in MPI. Does not return. */
void supervise_end_job(int status);

/* The rank has come to the end of a recording of a run that died. Waits there for the others, and
 * does not return. If MPI has not started, and there are several hosts, it ends the job at once. */
void supervise_end(const CallWords *call);
/* Notes that CALL, which is made now, had not returned when the recorded run ended.
 * supervise_returned notes that it has returned in the replay. */
void supervise_unfinished(const CallWords *call);
void supervise_returned(void);

#endif
