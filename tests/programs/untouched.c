/* SPDX-License-Identifier: BSD-3-Clause */
/* untouched WAY: buffers that MPI does not read or write. Their address depends on WAY, as that of
 * an uninitialised pointer does: 0 a block that is used at the end, 1 the stack, 2 static data, 3 a
 * block that was freed, 4 an address without memory. Calls that need an even number of ranks are
 * between neighbours. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD

enum { MOST = 64 };

static int rank, size, peer;
static char in_static[4096];
static void *nowhere; /* the untouched buffer */
static int out[MOST], in[MOST], nothing[MOST], places[MOST];

static void waited(MPI_Request request)
{
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void messages(void)
{
    MPI_Request requests[2];
    MPI_Message none;
    MPI_Irecv(nowhere, 0, MPI_INT, peer, 0, WORLD, &requests[0]);
    MPI_Send(nowhere, 0, MPI_INT, peer, 0, WORLD);
    waited(requests[0]);
    MPI_Recv_init(nowhere, 0, MPI_INT, peer, 0, WORLD, &requests[0]);
    MPI_Send_init(nowhere, 0, MPI_INT, peer, 0, WORLD, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Sendrecv_replace(nowhere, 0, MPI_INT, peer, 0, peer, 0, WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(nowhere, 3, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, WORLD,
                         MPI_STATUS_IGNORE);
    MPI_Send(nowhere, 4, MPI_INT, MPI_PROC_NULL, 0, WORLD);
    MPI_Recv(nowhere, 4, MPI_INT, MPI_PROC_NULL, 0, WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, 4, MPI_INT, peer, 0, nowhere, 4, MPI_INT, MPI_PROC_NULL, 0, WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(nowhere, 4, MPI_INT, MPI_PROC_NULL, 0, in, 4, MPI_INT, peer, 0, WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 0, WORLD, &none, MPI_STATUS_IGNORE);
    MPI_Mrecv(nowhere, 4, MPI_INT, &none, MPI_STATUS_IGNORE);
}

static void collectives(void)
{
    void *at_root = rank == 0 ? in : nowhere, *elsewhere = rank == 0 ? nowhere : in;
    MPI_Request request;
    MPI_Bcast(nowhere, 0, MPI_INT, 0, WORLD);
    MPI_Allreduce(nowhere, in, 0, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce(out, at_root, 3, MPI_INT, MPI_SUM, 0, WORLD);
    MPI_Exscan(out, elsewhere, 3, MPI_INT, MPI_SUM, WORLD);
    MPI_Gather(out, 1, MPI_INT, at_root, rank == 0, rank == 0 ? MPI_INT : MPI_CHAR, 0, WORLD);
    MPI_Allgather(nowhere, 0, MPI_INT, in, 0, MPI_INT, WORLD);
    MPI_Alltoallv(nowhere, nothing, places, MPI_INT, in, nothing, places, MPI_INT, WORLD);
    MPI_Ialltoallv(out, nothing, places, MPI_INT, nowhere, nothing, places, MPI_INT, WORLD,
                   &request);
    waited(request);
    int counts[MOST] = {3};
    MPI_Gatherv(rank == 0 ? out : nowhere, counts[rank], MPI_INT, at_root, counts, places, MPI_INT,
                0, WORLD);
    MPI_Scatterv(rank == 0 ? out : nowhere, counts, places, MPI_INT, at_root, counts[rank], MPI_INT,
                 0, WORLD);
    MPI_Allgatherv(rank == 0 ? out : nowhere, counts[rank], MPI_INT, in, counts, places, MPI_INT,
                   WORLD);
    MPI_Reduce_scatter(out, at_root, counts, MPI_INT, MPI_SUM, WORLD);
    MPI_Reduce_scatter(nowhere, in, nothing, MPI_INT, MPI_SUM, WORLD);
}

static void datatypes(void)
{
    MPI_Datatype none, types[MOST];
    int ones[MOST];
    MPI_Type_contiguous(0, MPI_INT, &none);
    MPI_Type_commit(&none);
    for (int i = 0; i < size; i++) {
        types[i] = none;
        ones[i] = 1;
    }
    MPI_Bcast(nowhere, 7, none, 0, WORLD);
    MPI_Alltoallw(nowhere, ones, places, types, in, ones, places, types, WORLD);
    MPI_Type_free(&none);
}

static void neighbours(void)
{
    MPI_Comm alone;
    MPI_Dist_graph_create_adjacent(WORLD, 0, &rank, MPI_UNWEIGHTED, 0, &rank, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &alone);
    MPI_Neighbor_allgather(out, 1, MPI_INT, nowhere, 1, MPI_INT, alone);
    MPI_Neighbor_alltoall(nowhere, 1, MPI_INT, nowhere, 1, MPI_INT, alone);
    MPI_Comm_free(&alone);
}

static void accesses(void)
{
    MPI_Win win;
    MPI_Win_create(rank == 0 ? nowhere : in, rank == 0 ? 0 : sizeof in, sizeof *in, MPI_INFO_NULL,
                   WORLD, &win);
    MPI_Win_fence(0, win);
    MPI_Put(nowhere, 0, MPI_INT, 1, 0, 0, MPI_INT, win);
    MPI_Put(nowhere, 3, MPI_INT, MPI_PROC_NULL, 0, 3, MPI_INT, win);
    MPI_Get(nowhere, 0, MPI_INT, 1, 0, 0, MPI_INT, win);
    MPI_Accumulate(nowhere, 0, MPI_INT, 1, 0, 0, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Fetch_and_op(nowhere, out, MPI_INT, 1, 0, MPI_NO_OP, win);
    MPI_Win_unlock(1, win);
    MPI_Win_free(&win);
}

static void files(void)
{
    MPI_File file;
    MPI_File_open(WORLD, "untouched.out",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 0, rank == 0 ? out : nowhere, rank == 0, MPI_INT,
                          MPI_STATUS_IGNORE);
    MPI_File_write_all_begin(file, nowhere, 0, MPI_INT);
    MPI_File_write_all_end(file, nowhere, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, nowhere, 0, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    char on_stack[4096], *block = malloc(4096), *freed = malloc(5000);
    void *ways[] = {block, on_stack, in_static, freed, (void *)0x7123456789ab};
    nowhere = ways[argc > 1 ? atoi(argv[1]) : 0];
    free(freed);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    peer = rank ^ 1;
    messages();
    collectives();
    datatypes();
    neighbours();
    accesses();
    files();
    for (int i = 0; i < 2; i++)
        MPI_Bcast(i ? on_stack : block, 100, MPI_CHAR, 0, WORLD);
    free(block);
    MPI_Finalize();
    return 0;
}
