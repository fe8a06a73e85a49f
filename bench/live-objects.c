/* SPDX-License-Identifier: BSD-3-Clause */
/* live-objects [N]: process CPU time of MPI calls on one rank while N objects of a kind are alive
 * (default: 12,000; of kinds that are dear to MPI, fewer). Prints a line "LOOP NANOSECONDS" for
 * each, per call. bench/live.py runs it with and without Wend and compares. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STRIDE = 7919, FEW = 1000 }; /* a prime: an order that is none of the objects' */

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double began;

static void report(const char *name, long calls)
{
    printf("%s %.2f\n", name, (cpu_seconds() - began) / (double)calls * 1e9);
    began = cpu_seconds();
}

static MPI_Request *requests;
static int **blocks, *indices, flag;

static void persistent(int n)
{
    for (int i = 0; i < n; i++)
        blocks[i] = malloc(64 + i % 8 * 16);
    began = cpu_seconds();
    for (int i = 0; i < n / 2; i++) {
        MPI_Recv_init(blocks[2 * i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i]);
        MPI_Send_init(blocks[2 * i + 1], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[2 * i + 1]);
    }
    report("send_init_recv_init", n);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < n; i++)
            MPI_Start(&requests[i]);
        report(round ? "start_again" : "start", n);
        for (int i = 0; i < n; i++)
            MPI_Wait(&requests[(long)i * STRIDE % n], MPI_STATUS_IGNORE);
        report(round ? "wait_again" : "wait", n);
    }
    for (int i = 0; i < n; i++)
        MPI_Request_free(&requests[i]);
    report("request_free", n);
    for (int i = 0; i < n; i++)
        free(blocks[i]);
    report("free_of_used_blocks", n);
}

static void post(int n)
{
    for (int i = 0; i < n / 2; i++)
        MPI_Irecv(blocks[0], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    for (int i = 0; i < n / 2; i++)
        MPI_Isend(blocks[1], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[n / 2 + i]);
}

static void nonblocking(int n)
{
    int done;
    blocks[0] = malloc(64);
    blocks[1] = malloc(64);
    began = cpu_seconds();
    post(n);
    report("irecv_isend", n);
    for (int i = 0; i < n; i++)
        MPI_Request_get_status(requests[(long)i * STRIDE % n], &flag, MPI_STATUS_IGNORE);
    report("request_get_status", n);
    for (int i = 0; i < n; i++)
        MPI_Wait(&requests[(long)i * STRIDE % n], MPI_STATUS_IGNORE);
    report("wait_in_another_order", n);
    post(n);
    began = cpu_seconds();
    for (int left = n; left > 0; left -= done)
        MPI_Testsome(n, requests, &done, indices, MPI_STATUSES_IGNORE);
    report("testsome_each_request", n);
    for (int i = 0; i < n; i++)
        MPI_Irecv(blocks[0], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]);
    began = cpu_seconds();
    for (int i = 0; i < n; i++)
        MPI_Cancel(&requests[(long)i * STRIDE % n]);
    report("cancel", n);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    report("waitall_each_request", n);
    for (int i = 0; i < n; i++)
        MPI_Iprobe(0, i, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    report("iprobe_each_tag", n);
}

static void buffers(int n)
{
    began = cpu_seconds();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < n; i++) {
            blocks[i] = malloc(64 + (i + round) % 8 * 16);
            MPI_Bcast(blocks[i], 1, MPI_INT, 0, MPI_COMM_SELF);
        }
        for (int i = 0; i < n; i++)
            free(blocks[(long)i * STRIDE % n]);
        report(round ? "malloc_send_free_again" : "malloc_send_free", n);
    }
}

static void add(void *in, void *out, int *n, MPI_Datatype *type)
{
    (void)in, (void)out, (void)n, (void)type;
}

/* Objects are made one after the other and freed in another order. */
#define MADE_AND_FREED(name, Type, n, make, release)           \
    do {                                                       \
        Type *objects = malloc((size_t)(n) * sizeof *objects); \
        began = cpu_seconds();                                 \
        for (int i = 0; i < (n); i++) {                        \
            Type *object = &objects[i];                        \
            make;                                              \
        }                                                      \
        report(name "_made", n);                               \
        for (int i = 0; i < (n); i++) {                        \
            Type *object = &objects[(long)i * STRIDE % (n)];   \
            release;                                           \
        }                                                      \
        report(name "_freed", n);                              \
        free(objects);                                         \
    } while (0)

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 12000, few = n < FEW ? n : FEW;
    MPI_Group self;
    if (n < 4)
        return 2;
    n -= n % 2;
    n += n % STRIDE == 0 ? 2 : 0;
    MPI_Init(&argc, &argv);
    requests = malloc((size_t)n * sizeof *requests);
    blocks = malloc((size_t)n * sizeof *blocks);
    indices = malloc((size_t)n * sizeof *indices);
    persistent(n);
    nonblocking(n);
    buffers(n);
    MPI_Comm_group(MPI_COMM_SELF, &self);
    MADE_AND_FREED("communicator", MPI_Comm, few, MPI_Comm_dup(MPI_COMM_SELF, object),
                   MPI_Comm_free(object));
    MADE_AND_FREED("datatype", MPI_Datatype, n, MPI_Type_contiguous(i + 2, MPI_INT, object),
                   MPI_Type_free(object));
    MADE_AND_FREED("group", MPI_Group, n, MPI_Group_incl(self, 1, (int[]){0}, object),
                   MPI_Group_free(object));
    MADE_AND_FREED("op", MPI_Op, n, MPI_Op_create(add, 1, object), MPI_Op_free(object));
    MADE_AND_FREED("info", MPI_Info, n, MPI_Info_create(object), MPI_Info_free(object));
    MADE_AND_FREED("window", MPI_Win, few / 10 + 1,
                   MPI_Win_create(blocks, 8, 1, MPI_INFO_NULL, MPI_COMM_SELF, object),
                   MPI_Win_free(object));
    MADE_AND_FREED(
        "attribute", int, few,
        (MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, object, NULL),
         MPI_Comm_set_attr(MPI_COMM_SELF, *object, NULL)),
        (MPI_Comm_delete_attr(MPI_COMM_SELF, *object), MPI_Comm_free_keyval(object)));
    MPI_Group_free(&self);
    MPI_Finalize();
    return 0;
}
