/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers-messages.c: requests, the order of sends, graphs, and memory in dynamic windows. */
#include <sched.h> /* sched_yield */

#include "src/proxygen/runtime/runtime.h"

/* -- lists of requests -- */

/* Hides all requests of a list but keep[0] of them, which are at the places keep[1], keep[2] and so
 * on. */
void hide_others(int n, MPI_Request *list, MPI_Request *hidden, const int *keep)
{
    for (int i = 0; i < n; i++) {
        hidden[i] = list[i];
        list[i] = MPI_REQUEST_NULL;
    }
    for (int i = 1; i <= keep[0]; i++) {
        list[keep[i]] = hidden[keep[i]];
        hidden[keep[i]] = MPI_REQUEST_NULL;
    }
}

/* Hides the requests of a list that have completed as often as they should: left[i] is 0. */
void hide_completed(int n, MPI_Request *list, MPI_Request *hidden, const long *left)
{
    for (int i = 0; i < n; i++) {
        hidden[i] = MPI_REQUEST_NULL;
        if (left[i] == 0) {
            hidden[i] = list[i];
            list[i] = MPI_REQUEST_NULL;
        }
    }
}

void show_others(int n, MPI_Request *list, const MPI_Request *hidden)
{
    for (int i = 0; i < n; i++)
        if (hidden[i] != MPI_REQUEST_NULL)
            list[i] = hidden[i];
}

int active(int n, const MPI_Request *list)
{
    int count = 0;
    for (int i = 0; i < n; i++)
        count += list[i] != MPI_REQUEST_NULL;
    return count;
}

/* Requests that stand elsewhere in another order: brought together for a call, and back. */
void gather_requests(int n, MPI_Request *const members[], MPI_Request *list)
{
    for (int i = 0; i < n; i++)
        list[i] = members[i] ? *members[i] : MPI_REQUEST_NULL;
}

void scatter_requests(int n, const MPI_Request *list, MPI_Request *const members[])
{
    for (int i = 0; i < n; i++)
        if (members[i])
            *members[i] = list[i];
}

/* A list of nothing to wait for. */
MPI_Request *null_requests(int n)
{
    static MPI_Request *list;
    static int room;
    if (n > room) {
        free(list);
        list = malloc(sizeof *list * (size_t)n);
        room = list ? n : 0;
    }
    for (int i = 0; i < room; i++)
        list[i] = MPI_REQUEST_NULL;
    return list;
}

/* -- the recorded order of sends -- */

/* The rank RECEIVER received from any source, and from some by name, in an order that mattered: so
 * each process sends to it when it is its turn in the recorded order. */
static MPI_Comm turns;

void send_order_begin(void)
{
    PMPI_Comm_dup(MPI_COMM_WORLD, &turns);
}

void give_turn(int to)
{
    if (to >= 0)
        PMPI_Send(NULL, 0, MPI_BYTE, to, 0, turns);
}

void wait_for_turn(int to)
{
    if (to == RECEIVER)
        PMPI_Recv(NULL, 0, MPI_BYTE, to, 0, turns, MPI_STATUS_IGNORE);
}

/* -- persistent receives from any source -- */

/* A persistent receive from any source that is pinned has a request for each source that came, of
 * which each start takes the one whose turn it is. */
typedef struct PinnedReceive PinnedReceive;
struct PinnedReceive {
    PinnedReceive *next;
    MPI_Request current; /* the program has it */
    const int *sources;  /* of the starts to come; -1000 ends them */
    int n;
    struct {
        int source;
        MPI_Request request;
    } made[];
};
static PinnedReceive *pinned_receives;

static PinnedReceive **pinned_of(MPI_Request request)
{
    PinnedReceive **pinned = &pinned_receives;
    while (*pinned && (*pinned)->current != request)
        pinned = &(*pinned)->next;
    return pinned;
}

static int pinned_at(const PinnedReceive *pinned, int source)
{
    int i = 0;
    while (i < pinned->n && pinned->made[i].source != source)
        i++;
    return i;
}

static void pinned_next(MPI_Request *request)
{
    PinnedReceive *pinned = *pinned_of(*request);
    if (pinned && *pinned->sources != -1000)
        *request = pinned->current = pinned->made[pinned_at(pinned, *pinned->sources++)].request;
}

/* Its requests are to be made. */
static PinnedReceive *pinned_new(const int *sources)
{
    static const int never_started[] = {MPI_ANY_SOURCE, -1000};
    int n = 0;
    if (*sources == -1000)
        sources = never_started;
    while (sources[n] != -1000)
        n++;
    PinnedReceive *pinned = malloc(sizeof *pinned + (size_t)n * sizeof pinned->made[0]);
    if (!pinned) {
        fputs("proxy: out of memory\n", stderr);
        PMPI_Abort(MPI_COMM_WORLD, 4);
    }
    *pinned = (PinnedReceive){.next = pinned_receives, .sources = sources};
    for (int i = 0; i < n; i++)
        if (pinned_at(pinned, sources[i]) == pinned->n)
            pinned->made[pinned->n++].source = sources[i];
    pinned_receives = pinned;
    return pinned;
}

int recv_init_pinned(void *buf, int count, MPI_Datatype datatype, const int *sources, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    PinnedReceive *pinned = pinned_new(sources);
    for (int i = 0; i < pinned->n; i++)
        MPI_Recv_init(buf, count, datatype, pinned->made[i].source, tag, comm,
                      &pinned->made[i].request);
    *request = pinned->current = pinned->made[0].request;
    return MPI_SUCCESS;
}

int recv_init_c_pinned(void *buf, MPI_Count count, MPI_Datatype datatype, const int *sources,
                       int tag, MPI_Comm comm, MPI_Request *request)
{
    PinnedReceive *pinned = pinned_new(sources);
    for (int i = 0; i < pinned->n; i++)
        MPI_Recv_init_c(buf, count, datatype, pinned->made[i].source, tag, comm,
                        &pinned->made[i].request);
    *request = pinned->current = pinned->made[0].request;
    return MPI_SUCCESS;
}

int start_pinned(MPI_Request *request)
{
    pinned_next(request);
    return MPI_Start(request);
}

int startall_pinned(int n, MPI_Request *requests)
{
    for (int i = 0; i < n; i++)
        pinned_next(&requests[i]);
    return MPI_Startall(n, requests);
}

int request_free_pinned(MPI_Request *request)
{
    PinnedReceive **at = pinned_of(*request), *pinned = *at;
    for (int i = 0; pinned && i < pinned->n; i++)
        if (pinned->made[i].request != pinned->current)
            MPI_Request_free(&pinned->made[i].request);
    if (pinned) {
        *at = pinned->next;
        free(pinned);
    }
    return MPI_Request_free(request);
}

/* -- graphs -- */

/* A graph whose neighbours stand in the recorded order. That of MPI_Dist_graph_create is the
 * library's, and the blocks that are sent go by it. */
int graph_create(MPI_Comm old, const int *neighbours, MPI_Info info, MPI_Comm *graph)
{
    int weighted = neighbours[1], in = neighbours[2], out = neighbours[3], result;
    const int *sources = neighbours + 4, *destinations = sources + in;
    const int *from = destinations + out, *to = from + in;
    MPI_Comm ordered = old;
    if (GRAPHS_REORDERED)
        PMPI_Comm_split(old, 0, neighbours[0], &ordered); /* ranks in it were others */
    if (!weighted)
        from = to = MPI_UNWEIGHTED;
    if (weighted && in == 0)
        from = MPI_WEIGHTS_EMPTY;
    if (weighted && out == 0)
        to = MPI_WEIGHTS_EMPTY;
    result = MPI_Dist_graph_create_adjacent(ordered, in, sources, from, out, destinations, to, info,
                                            0, graph);
    if (ordered != old)
        PMPI_Comm_free(&ordered);
    return result;
}

/* -- memory in dynamic windows -- */

/* Memory in dynamic windows, which others name by its address: each process says here where it has
 * which block. Block 0 is what was no attached memory when it was accessed. */
static MPI_Win places;
static int places_rank;      /* of this process */
static MPI_Comm places_comm; /* kept: MPICH 4.0.2 crashes where it is freed before the window */

void place_known(int block, void *base)
{
    MPI_Aint address = (MPI_Aint)base;
    PMPI_Accumulate(&address, 1, MPI_AINT, places_rank, block, 1, MPI_AINT, MPI_REPLACE, places);
    PMPI_Win_flush(places_rank, places);
}

/* ATTACHED_BLOCKS is an even number: MPICH 4.0.2 replaces what is 8 bytes before it in memory that
 * is not aligned to 16. */
void places_begin(MPI_Comm all)
{
    MPI_Aint *mine;
    PMPI_Comm_dup(all, &places_comm);
    PMPI_Comm_rank(places_comm, &places_rank);
    PMPI_Win_allocate(ATTACHED_BLOCKS * sizeof *mine, sizeof *mine, MPI_INFO_NULL, places_comm,
                      &mine, &places);
    PMPI_Win_lock_all(MPI_MODE_NOCHECK, places);
    memset(mine, 0, ATTACHED_BLOCKS * sizeof *mine);
    PMPI_Win_sync(places);
    PMPI_Barrier(places_comm);
    place_known(0, unknown_buffer);
}

void places_end(void)
{
    PMPI_Win_unlock_all(places);
    PMPI_Win_free(&places);
    PMPI_Comm_free(&places_comm);
}

/* The address of a block of that process; if it has not attached it yet, it is about to. */
MPI_Aint place(int process, int block, MPI_Aint offset)
{
    MPI_Aint base = 0;
    int flag;
    for (;;) {
        PMPI_Fetch_and_op(NULL, &base, MPI_AINT, process, block, MPI_NO_OP, places);
        PMPI_Win_flush(process, places);
        if (base != 0)
            return base + offset;
        /* Open MPI reads shared memory without looking who needs this process. */
        PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, places_comm, &flag, MPI_STATUS_IGNORE);
        sched_yield();
    }
}

/* The same of a process by its rank in a window; block -1: a displacement as other windows have
 * them. */
MPI_Aint place_in(MPI_Win window, int target, int block, MPI_Aint offset)
{
    MPI_Group members, all;
    int process;
    if (block < 0)
        return offset;
    PMPI_Win_get_group(window, &members);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_translate_ranks(members, 1, &target, all, &process);
    PMPI_Group_free(&members);
    PMPI_Group_free(&all);
    return place(process, block, offset);
}

/* Before a lock: waits for what is known to be attached by then. With the lock held the other
 * process might be kept from it. */
void await_places(MPI_Win window, int target)
{
    static int locks, next;
    const int *list = awaited[rank];
    locks++;
    for (; list[next] == locks; next += 2)
        place_in(window, target, list[next + 1], 0);
}
