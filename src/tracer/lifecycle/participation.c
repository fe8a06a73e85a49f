/* SPDX-License-Identifier: BSD-3-Clause */
/* participation.c: before the first collective call of Wend's own, whether all ranks run under it.
 * Jobs of several programs, wrapper scripts that trace one rank, a node without the library: MPI
 * has no call that tells, and whoever asks with one waits for ever.
 *
 * So nothing is asked while the application runs. At the end all are in MPI_Finalize, which waits
 * for all anyway, or will be. /proc tells of the ranks of this node. If there are others, a
 * nonblocking barrier that is polled shows when they are there. It is given up after a time, and
 * only then it is left pending (transports may remark on that when they shut down). */
#include "participation.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "objects/objects.h"
#include "own.gen.h"
#include "waiting.h"

bool participation_of_node(NodeRanks *node)
{
    return node_ranks(module_own_file(), node);
}

/* -- the barrier -- */

static Participation wait_for(MPI_Request *request, double limit)
{
    return wait_for_request(request, limit) ? PARTICIPATION_ALL : PARTICIPATION_UNKNOWN;
}

static Participation of_node(int size)
{
    NodeRanks node;
    /* Where MPI_Init lets one go on before all are started, the others may still be on their
     * way. */
    for (int tries = 0; tries < 3; tries++) {
        if (!participation_of_node(&node))
            return PARTICIPATION_UNKNOWN;
        if (node.first_without < 0)
            return node.with == size ? PARTICIPATION_ALL : PARTICIPATION_UNKNOWN;
        nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    }
    return PARTICIPATION_PARTIAL;
}

/* Once all have come each goes on within so many seconds, or has given up. */
enum { PROMPT = 60 };
/* How long a rank waits for others that have come, too. */
static double patience = INFINITY;

Participation participation_wait(int size, double seconds)
{
    Participation result = size == 1 ? PARTICIPATION_ALL : of_node(size);
    if (size == 1 || result == PARTICIPATION_PARTIAL)
        return result;
    /* Ranks that know that all are here do the same as those that know nothing (of other nodes, or
     * short of memory): these wait for them. They wait as long as it takes for the last to come. */
    bool known = result == PARTICIPATION_ALL;
    patience = known && seconds < PROMPT ? PROMPT : seconds;
    /* Twice: one that gave up just when the last came is missed by all in the second. */
    result = PARTICIPATION_ALL;
    for (int round = 0; round < 2 && result == PARTICIPATION_ALL; round++) {
        MPI_Request request;
        result = PARTICIPATION_UNKNOWN;
        if (PMPI_Ibarrier(MPI_COMM_WORLD, &request) == MPI_SUCCESS)
            result = wait_for(&request, known && round == 0 ? INFINITY : patience);
    }
    return result;
}

bool participation_agree(bool own)
{
    static int answers[2][2]; /* an operation that is given up goes on with its buffers */
    static int asked;
    int *mine = answers[asked++ % 2], *least = mine + 1;
    MPI_Request request;
    *mine = own;
    int rc = PMPI_Iallreduce(mine, least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    return rc == MPI_SUCCESS && wait_for(&request, patience) == PARTICIPATION_ALL && *least;
}
