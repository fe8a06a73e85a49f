/* SPDX-License-Identifier: BSD-3-Clause */
/* participation.c: checks before Wend's first collective call that all ranks run under Wend. They
 * may not: a job of several programs, a wrapper script that traces one rank, a node without the
 * library. MPI has no call for this check, and a collective call would wait for ever.
 *
 * So there is no check while the application runs, unless the ranks are to compare their clocks, or
 * are replayed on several hosts (control.c). At the end all ranks are in MPI_Finalize, or
 * will be, and it waits for all ranks anyway. /proc shows the ranks of this node. If there are
 * ranks on other nodes, a nonblocking barrier is polled. After some time it is given up. Only then
 * it stays pending, and transports may print a message about it when they shut down. */

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "objects/objects.h"
#include "own.gen.h"
#include "lifecycle.h"

bool participation_of_node(NodeRanks *node)
{
    return node_ranks(module_own_file(), node);
}

/* -- the barrier -- */

static Participation of_node(int size)
{
    NodeRanks node;
    /* MPI_Init may return before all ranks are started, so others may still start. */
    for (int tries = 0; tries < 3; tries++) {
        if (!participation_of_node(&node))
            return PARTICIPATION_UNKNOWN;
        if (node.first_without < 0)
            return node.with == size ? PARTICIPATION_ALL : PARTICIPATION_UNKNOWN;
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    }
    return PARTICIPATION_PARTIAL;
}

/* Waits until the last rank arrives. All are on this node. MPI may not communicate any more. So a
 * rank that has waited for long shows that it is here, and the wait ends when all have shown it. */
static Participation on_one_node(MPI_Request *request)
{
    NodeRanks node;
    for (int all_here = 0; all_here < 2;) {
        uint64_t before = clock_nanoseconds();
        if (waiting_for_request(request, WAITING_SECONDS))
            return PARTICIPATION_ALL;
        if (clock_nanoseconds() - before < WAITING_SECONDS * UINT64_C(1000000000))
            return PARTICIPATION_UNKNOWN; /* MPI reports an error */
        watcher_at_end();
        all_here += participation_of_node(&node) && node.at_end == node.all;
    }
    return PARTICIPATION_NO_PROGRESS;
}

Participation participation_wait(int size, double seconds)
{
    Participation result = size == 1 ? PARTICIPATION_ALL : of_node(size);
    if (size == 1 || result == PARTICIPATION_PARTIAL)
        return result;
    /* Ranks that know that all ranks are here do the same as ranks that know nothing (with ranks on
     * other nodes, or short of memory), because the latter wait for them. They wait until the last
     * rank arrives. */
    MPI_Request request;
    if (PMPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS)
        return PARTICIPATION_UNKNOWN;
    return result == PARTICIPATION_ALL              ? on_one_node(&request)
           : waiting_for_request(&request, seconds) ? PARTICIPATION_ALL
                                                    : PARTICIPATION_UNKNOWN;
}

/* Once the barrier is complete on one rank, all ranks are here, and each will take part in the
 * second operation. So that one has one result, unless MPI cannot communicate any more. A rank that
 * gives up takes part, too: operations that ranks under Wend begin are as many on all of them. */
bool participation_prove(bool own, double seconds)
{
    static MPI_Request requests[2]; /* they and the buffers stay in use where it is given up */
    static int mine, least;
    NodeRanks node;
    if (PMPI_Ibarrier(MPI_COMM_WORLD, &requests[0]) != MPI_SUCCESS)
        return false;
    bool all = waiting_for_request(&requests[0], 1);
    if (!all && !(participation_of_node(&node) && node.first_without >= 0))
        all = waiting_for_request(&requests[0], seconds);
    mine = all && own;
    return PMPI_Iallreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &requests[1])
               == MPI_SUCCESS
           && all && waiting_for_request(&requests[1], seconds + WAITING_SECONDS) && least;
}

/* The answers of all ranks are as long as the longest message of MPI_Comm_create: a transport may
 * have other means for longer messages, and they may fail alone. */
enum { ANSWER_INTS = 128 };

/* All ranks begin the second operation, those that the first one has failed on, too. So a rank that
 * comes at the last moment learns that others have given up. */
bool participation_agree(bool own)
{
    /* the buffers of an operation that is given up stay in use */
    static int answers[2][2][2][ANSWER_INTS];
    static int asked;
    int at = asked++ % 2;
    bool all = own, waits = true;
    for (int stage = 0; stage < 2; stage++) {
        int *mine = answers[at][stage][0], *least = answers[at][stage][1];
        MPI_Request request;
        for (int i = 0; i < ANSWER_INTS; i++)
            mine[i] = all;
        if (PMPI_Iallreduce(mine, least, ANSWER_INTS, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request)
            != MPI_SUCCESS)
            return false;
        /* UCX prints a warning about a request that is still pending when MPI ends. */
        waits = waits && waiting_for_request(&request, (stage + 1) * WAITING_SECONDS);
        all = waits && *least;
    }
    return all;
}
