/* tool: another tool in the place of a profiler, by MPI's profiling interface: it counts calls, and rank 0 says at the end how many all ranks made.
 * With TOOL_TALKS it also makes a communicator when MPI starts, and sends messages of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static long calls;
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
    int function parameters \
    { \
        calls++; \
        return P##function arguments; \
    }

COUNT(MPI_Comm_rank, (MPI_Comm comm, int *rank), (comm, rank))
COUNT(MPI_Comm_size, (MPI_Comm comm, int *size), (comm, size))
COUNT(MPI_Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm), (b, n, t, to, tag, comm))
COUNT(MPI_Recv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Status *s), (b, n, t, from, tag, comm, s))
COUNT(MPI_Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm comm, MPI_Request *r), (b, n, t, to, tag, comm, r))
COUNT(MPI_Irecv, (void *b, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm, MPI_Request *r), (b, n, t, from, tag, comm, r))
COUNT(MPI_Test, (MPI_Request * r, int *flag, MPI_Status *s), (r, flag, s))
COUNT(MPI_Waitall, (int n, MPI_Request r[], MPI_Status s[]), (n, r, s))
COUNT(MPI_Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm comm), (b, n, t, root, comm))

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
    calls++;
    talk();
    return PMPI_Allreduce(in, out, n, t, op, comm);
}

/* As profilers have them: to the C function. */
void mpi_init_(MPI_Fint *error)
{
    *error = MPI_Init(NULL, NULL);
}

void mpi_comm_rank_(const MPI_Fint *comm, MPI_Fint *rank, MPI_Fint *error)
{
    int r;
    calls++;
    *error = PMPI_Comm_rank(PMPI_Comm_f2c(*comm), &r);
    *rank = r;
}

void mpi_comm_size_(const MPI_Fint *comm, MPI_Fint *size, MPI_Fint *error)
{
    int n;
    calls++;
    *error = PMPI_Comm_size(PMPI_Comm_f2c(*comm), &n);
    *size = n;
}
