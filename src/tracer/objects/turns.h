/* SPDX-License-Identifier: BSD-3-Clause */
/* turns.h: the order in which the threads of a rank receive, probe and send on one communicator.
 *
 * MPI matches the messages of a (source, tag, communicator) in the order of receives and sends. If
 * several threads make them, this order is nobody's but the run's. So each receive, each probe that
 * finds a message, and each send is a turn: it is posted while its thread holds the lock of the
 * communicator's receives or sends, and the order of turns is recorded. A call that blocks is made
 * as the nonblocking one, in its turn, and a wait, after it. So no thread holds a lock while it
 * waits for a message.
 *
 * Nothing is recorded as long as no two threads use overlapping sources and tags on the
 * communicator. Then only the number of each thread's turns is kept. The order is a sequence of its
 * own (recorder/sequence.h), and no call has other words because of it.
 *
 * Turns are taken only if MPI provides MPI_THREAD_MULTIPLE and the application has created a
 * thread (State's ordered). Calls in callbacks take none. In a replay a turn is held up until those
 * that came before it on the same channel are over (ReplayHooks), and no lock is held. */
#ifndef WEND_TURNS_H
#define WEND_TURNS_H

#include "objects.h"

typedef enum { TURN_RECEIVE, TURN_SEND, TURN_DIRECTIONS } TurnDirection;

/* Both orders of one communicator, or of several that had its word one after the other. It lives as
 * long as the process. */
typedef struct CommOrder CommOrder;

/* A turn. ORDER is NULL if there is nothing to take or to give. */
typedef struct {
    struct ThreadTurns *order;
    ActiveCall *call;
    int peer, tag;
    bool locked, replayed;
    ReplayedTurn place;
} Turn;

/* Declares a turn that ends with its scope, also if an exception leaves it. */
#define TURN __attribute__((cleanup(turn_drop))) Turn

static inline bool turns_on(void)
{
    return __builtin_expect(atomic_load_explicit(&state()->ordered, memory_order_relaxed), 0);
}

/* The orders of the communicator COMM with FACTS. NULL: it is unknown, or memory is short. */
CommOrder *comm_order(const CommMetadata *facts, MPI_Comm comm);
/* The same for a persistent request. NULL also if threads can take no turns. */
CommOrder *comm_order_of_persistent(const CommMetadata *facts, MPI_Comm comm);

/* Begins a turn of call C to or from PEER, which may be MPI_ANY_SOURCE, with TAG. ORDER may be
 * NULL. To MPI_PROC_NULL there are no turns. */
Turn turn_take(ActiveCall *c, CommOrder *order, TurnDirection direction, int peer, int tag);
/* Ends the turn, which counts. */
void turn_give(Turn *t);
/* Ends it if it has not ended, and it does not count: a poll found nothing. */
void turn_drop(Turn *t);

/* -- functions of MPI, in turns -- */

/* Waits for *REQUEST, which a call that blocks has posted with RC. */
int turn_wait(int rc, MPI_Request *request, MPI_Status *status);
/* Waits for both halves of a sendrecv, which were posted with these codes. */
int turn_wait_both(int received, int sent, MPI_Request requests[2], MPI_Status *status);
int turn_probe(ActiveCall *c, CommOrder *order, int source, int tag, MPI_Comm comm,
               MPI_Status *status);
int turn_mprobe(ActiveCall *c, CommOrder *order, int source, int tag, MPI_Comm comm,
                MPI_Message *message, MPI_Status *status);
/* Starts persistent requests one by one. */
int turn_start(ActiveCall *c, int count, MPI_Request *requests);
/* Begins the turn of the I-th request that call C starts. */
Turn turn_take_start(ActiveCall *c, size_t i);
/* MPI_Sendrecv_replace, with its arguments and return code. The receive is posted with POST_SOURCE
 * and POST_TAG. False: the turns are over, and MPI's function is still to be called, because there
 * is no memory for a copy of the message. */
bool turn_sendrecv_replace(ActiveCall *c, CommOrder *order, void *buf, MPI_Count count,
                           MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag,
                           int post_source, int post_tag, MPI_Comm comm, MPI_Status *status,
                           int *rc);

#endif
