/* SPDX-License-Identifier: BSD-3-Clause */
/* tool: another tool in the place of a profiler, by MPI's profiling interface: it counts calls, and
 * rank 0 says at the end how many all ranks made. With TOOL_TALKS it also makes a communicator when
 * MPI starts, and sends messages of its own. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static long calls;
static bool in_layer;
static MPI_Comm own = MPI_COMM_NULL;

static void start(void)
{
    calls++;
    if (getenv("TOOL_TALKS"))
        PMPI_Comm_dup(MPI_COMM_WORLD, &own);
}

static void talk(void)
{
    long sum = 0;
    if (own == MPI_COMM_NULL)
        return;
    PMPI_Allreduce(&calls, &sum, 1, MPI_LONG, MPI_SUM, own);
}

int MPI_Init(int *argc, char ***argv)
{
    int rc = PMPI_Init(argc, argv);
    start();
    return rc;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int rc = PMPI_Init_thread(argc, argv, required, provided);
    start();
    return rc;
}

int MPI_Finalize(void)
{
    long sum = 0;
    int rank;
    calls++;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Reduce(&calls, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("tool: %ld calls\n", sum);
    talk();
    if (own != MPI_COMM_NULL)
        PMPI_Comm_free(&own);
    return PMPI_Finalize();
}

#define COUNT(function, parameters, arguments) \
    int function parameters                    \
    {                                          \
        calls++;                               \
        return P##function arguments;          \
    }

COUNT(MPI_Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
COUNT(MPI_Comm_size, (MPI_Comm comm, int *size), (comm, size))
COUNT(MPI_Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm),
      (b, n, t, to, tag, comm))
COUNT(MPI_Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Status *s),
      (b, n, t, from, tag, comm, s))
COUNT(MPI_Isend,
      (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request *r),
      (b, n, t, to, tag, comm, r))
COUNT(MPI_Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Request *r),
      (b, n, t, from, tag, comm, r))
COUNT(MPI_Test, (MPI_Request * r, int *flag, MPI_Status *s), (r, flag, s))
COUNT(MPI_Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
COUNT(MPI_Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm comm), (b, n, t, root, comm))

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
    calls += !in_layer;
    talk();
    return PMPI_Allreduce(in, out, n, t, op, comm);
}

/* Fortran, as profilers have it: to the C function, and past the library's layer where that is
 * easy; no statuses. */
#define COMM(comm) PMPI_Comm_f2c(*(comm))
#define TYPE(type) PMPI_Type_f2c(*(type))

void mpi_init_(MPI_Fint *error)
{
    *error = MPI_Init(NULL, NULL);
}
void mpi_finalize_(MPI_Fint *error)
{
    *error = MPI_Finalize();
}
void mpi_comm_rank_(const MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *error)
{
    calls++, *error = PMPI_Comm_rank(COMM(comm), rank);
}
void mpi_comm_size_(const MPI_Fint *comm, MPI_Fint *size, MPI_Fint *error)
{
    calls++, *error = PMPI_Comm_size(COMM(comm), size);
}

/* By the layer, which knows MPI_IN_PLACE and may come to MPI_Allreduce. */
void pmpi_allreduce_(const void *in, void *out, const MPI_Fint *n, const MPI_Fint *type,
                     const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *error)
    __attribute__((weak));
void mpi_allreduce_(const void *in, void *out, const MPI_Fint *n, const MPI_Fint *type,
                    const MPI_Fint *op, const MPI_Fint *comm, MPI_Fint *error)
{
    calls++;
    in_layer = true;
    pmpi_allreduce_(in, out, n, type, op, comm, error);
    in_layer = false;
}

void mpi_isend_(const void *b, const MPI_Fint *n, const MPI_Fint *type, const MPI_Fint *to,
                const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *r, MPI_Fint *error)
{
    MPI_Request request;
    calls++;
    *error = PMPI_Isend(b, *n, TYPE(type), *to, *tag, COMM(comm), &request);
    *r = PMPI_Request_c2f(request);
}

void mpi_irecv_(void *b, const MPI_Fint *n, const MPI_Fint *type, const MPI_Fint *from,
                const MPI_Fint *tag, const MPI_Fint *comm, MPI_Fint *r, MPI_Fint *error)
{
    MPI_Request request;
    calls++;
    *error = PMPI_Irecv(b, *n, TYPE(type), *from, *tag, COMM(comm), &request);
    *r = PMPI_Request_c2f(request);
}

void mpi_waitall_(const MPI_Fint *n, MPI_Fint r[], MPI_Fint statuses[], MPI_Fint *error)
{
    MPI_Request requests[8];
    (void)statuses;
    calls++;
    for (int i = 0; i < *n; i++)
        requests[i] = PMPI_Request_f2c(r[i]);
    *error = PMPI_Waitall(*n, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < *n; i++)
        r[i] = PMPI_Request_c2f(requests[i]);
}
