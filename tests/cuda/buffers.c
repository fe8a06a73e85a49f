/* SPDX-License-Identifier: BSD-3-Clause */
/* buffers.c: an MPI program whose buffers are CUDA's, of each kind. Built with the shared runtime,
 * with the static one, as a library that buffers-host.c opens, and (BY_DLSYM) so that it looks for
 * each function itself. What it prints, Wend must not change. */
#include <mpi.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cuda_runtime.h"

#ifdef BY_DLSYM
static void *find(const char *name)
{
    static void *library;
    if (!library && !(library = dlopen("libcudart.so.12", RTLD_NOW))) {
        puts(dlerror());
        exit(1);
    }
    return dlsym(library, name);
}
#define cudaMalloc ((cudaError_t(*)(void **, size_t))find("cudaMalloc"))
#define cudaMallocManaged ((cudaError_t(*)(void **, size_t, unsigned))find("cudaMallocManaged"))
#define cudaHostAlloc ((cudaError_t(*)(void **, size_t, unsigned))find("cudaHostAlloc"))
#define cudaMallocHost ((cudaError_t(*)(void **, size_t))find("cudaMallocHost"))
#define cudaMallocPitch ((cudaError_t(*)(void **, size_t *, size_t, size_t))find("cudaMallocPitch"))
#define cudaMalloc3D \
    ((cudaError_t(*)(struct cudaPitchedPtr *, struct cudaExtent))find("cudaMalloc3D"))
#define cudaMallocAsync ((cudaError_t(*)(void **, size_t, cudaStream_t))find("cudaMallocAsync"))
#define cudaMallocFromPoolAsync                                                                  \
    ((cudaError_t(*)(void **, size_t, cudaMemPool_t, cudaStream_t))find("cudaMallocFromPoolAsyn" \
                                                                        "c"))
#define cudaFree ((cudaError_t(*)(void *))find("cudaFree"))
#define cudaFreeHost ((cudaError_t(*)(void *))find("cudaFreeHost"))
#define cudaFreeAsync ((cudaError_t(*)(void *, cudaStream_t))find("cudaFreeAsync"))
#define cudaGetDeviceCount ((cudaError_t(*)(int *))find("cudaGetDeviceCount"))
#define cudaSetDevice ((cudaError_t(*)(int))find("cudaSetDevice"))
#define cudaDeviceReset ((cudaError_t(*)(void))find("cudaDeviceReset"))
#define cudaDeviceGetDefaultMemPool \
    ((cudaError_t(*)(cudaMemPool_t *, int))find("cudaDeviceGetDefaultMemPool"))
#define cudaStreamCreate ((cudaError_t(*)(cudaStream_t *))find("cudaStreamCreate"))
#define cudaGetLastError ((cudaError_t(*)(void))find("cudaGetLastError"))
#define cudaPeekAtLastError ((cudaError_t(*)(void))find("cudaPeekAtLastError"))
#endif

static int rank, size, right, left;
static long sum;

#define GOOD(call)                                                  \
    do {                                                            \
        cudaError_t e = (call);                                     \
        if (e != cudaSuccess) {                                     \
            printf("rank %d: %s: error %d\n", rank, #call, (int)e); \
            MPI_Abort(MPI_COMM_WORLD, 1);                           \
        }                                                           \
    } while (0)

static void fill(int *p, int n, int with)
{
    for (int i = 0; i < n; i++)
        p[i] = with + i;
}

static void add_up(const int *p, int n)
{
    for (int i = 0; i < n; i++)
        sum = sum * 31 + p[i];
}

static void around(int *p, int n, int tag) /* the first half goes, the second comes */
{
    fill(p, n / 2, 1000 * rank + tag);
    MPI_Sendrecv(p, n / 2, MPI_INT, right, tag, p + n / 2, n / 2, MPI_INT, left, tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    add_up(p, n);
}

static void on_device(void)
{
    int *unused, *a, *b;
    GOOD(cudaMalloc((void **)&unused, 100)); /* MPI never sees it */
    GOOD(cudaMalloc((void **)&a, 1000 * sizeof *a));
    around(a + 100, 200, 1);
    GOOD(cudaMalloc((void **)&b, 2000 * sizeof *b));
    around(b, 2000, 2);
    MPI_Barrier(MPI_COMM_WORLD);
    /* the end of an array */
    MPI_Aint end;
    MPI_Get_address(b + 2000, &end);
    GOOD(cudaFree(a));
    GOOD(cudaMalloc((void **)&a, 500 * sizeof *a)); /* the same place, as a new block */
    around(a, 10, 3);
    GOOD(cudaFree(b));
    GOOD(cudaFree(a));
    GOOD(cudaFree(unused));
}

static void pitched(void)
{
    int *a;
    size_t pitch;
    MPI_Datatype column;
    GOOD(cudaMallocPitch((void **)&a, &pitch, 10 * sizeof *a, 8));
    MPI_Type_create_hvector(8, 1, (MPI_Aint)pitch, MPI_INT, &column);
    MPI_Type_commit(&column);
    for (int row = 0; row < 8; row++)
        fill((int *)((char *)a + (size_t)row * pitch), 10, rank + row);
    MPI_Sendrecv(a + 9, 1, column, right, 4, a, 1, column, left, 4, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    int *row = (int *)((char *)a + 5 * pitch) + 2;
    around(row, 8, 5);
    MPI_Type_free(&column);
    GOOD(cudaFree(a));
    struct cudaPitchedPtr box;
    GOOD(cudaMalloc3D(&box, (struct cudaExtent){64, 4, 3}));
    around((int *)((char *)box.ptr + box.pitch * 4 * 2), 16, 6);
    GOOD(cudaFree(box.ptr));
}

static void not_on_device(void)
{
    int *managed, *pinned, *other;
    GOOD(cudaMallocManaged((void **)&managed, 64 * sizeof *managed, cudaMemAttachGlobal));
    GOOD(cudaHostAlloc((void **)&pinned, 64 * sizeof *pinned, cudaHostAllocDefault));
    GOOD(cudaMallocHost((void **)&other, 64 * sizeof *other));
    fill(managed, 64, rank);
    MPI_Bcast(managed, 64, MPI_INT, size - 1, MPI_COMM_WORLD);
    MPI_Allreduce(managed + 1, pinned + 1, 63, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    add_up(managed, 64);
    add_up(pinned + 1, 63);
    GOOD(cudaFree(managed));
    GOOD(cudaFreeHost(pinned));
    GOOD(cudaFreeHost(other));
}

static void in_order_of_a_stream(int n_devices)
{
    cudaStream_t stream;
    cudaMemPool_t pool;
    int *a, *b;
    GOOD(cudaStreamCreate(&stream));
    for (int i = 0; i < 10; i++) {
        GOOD(cudaMallocAsync((void **)&a, 256, stream));
        around(a, 64, 7);
        GOOD(cudaFreeAsync(a, stream));
    }
    int elsewhere = (rank + 1) % n_devices; /* not the current device */
    GOOD(cudaDeviceGetDefaultMemPool(&pool, elsewhere));
    GOOD(cudaMallocFromPoolAsync((void **)&b, 256, pool, stream));
    around(b, 64, 8);
    GOOD(cudaFreeAsync(b, stream));
}

static void two_devices(int n_devices)
{
    int *a, *b;
    MPI_Request requests[2];
    GOOD(cudaMalloc((void **)&a, 400));
    GOOD(cudaSetDevice((rank + 1) % n_devices));
    GOOD(cudaMalloc((void **)&b, 400));
    fill(a, 100, rank);
    for (int i = 0; i < 5; i++) {
        MPI_Irecv(b, 100, MPI_INT, left, 9, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(a, 100, MPI_INT, right, 9, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
    add_up(b, 100);
    GOOD(cudaDeviceReset()); /* b goes, a stays */
    GOOD(cudaMalloc((void **)&b, 100));
    around(b, 20, 10);
    around(a, 20, 11);
    GOOD(cudaFree(b));
    GOOD(cudaSetDevice(rank % n_devices));
    GOOD(cudaFree(a));
}

/* An error of the program's own stays the last one, and none of Wend's comes to it. */
static void errors(void)
{
    int *a, *none, seen[8], n = 0;
    seen[n++] = (int)cudaGetLastError();
    seen[n++] = (int)cudaFree(&rank);
    GOOD(cudaMalloc((void **)&a, 400));
    around(a, 20, 12);
    seen[n++] = (int)cudaPeekAtLastError();
    cudaGetLastError();
    seen[n++] = (int)cudaMalloc((void **)&none, (size_t)1 << 50);
    seen[n++] = (int)cudaGetLastError();
    seen[n++] = (int)cudaFree((char *)a + 8);
    seen[n++] = (int)cudaGetLastError();
    around(a, 20, 13);
    GOOD(cudaFree(a));
    GOOD(cudaFree(NULL));
    seen[n++] = (int)cudaPeekAtLastError();
    printf("rank %d: errors %d %d %d %d %d %d %d %d\n", rank, seen[0], seen[1], seen[2], seen[3],
           seen[4], seen[5], seen[6], seen[7]);
}

typedef struct {
    int number, device;
    MPI_Comm comm;
    long sum;
} Thread;

static void *in_thread(void *arg)
{
    Thread *t = arg;
    int *a;
    GOOD(cudaSetDevice(t->device));
    for (int i = 0; i < 20; i++) {
        GOOD(cudaMalloc((void **)&a, 1024));
        a[0] = 100 * rank + i;
        MPI_Sendrecv(a, 1, MPI_INT, right, t->number, a + 1, 1, MPI_INT, left, t->number, t->comm,
                     MPI_STATUS_IGNORE);
        t->sum += a[1];
        GOOD(cudaFree(a));
    }
    return NULL;
}

static void threads(int n_devices)
{
    enum { N = 2 };
    pthread_t ids[N];
    Thread t[N];
    for (int i = 0; i < N; i++) {
        t[i] = (Thread){i, (rank + i) % n_devices, MPI_COMM_NULL, 0};
        MPI_Comm_dup(MPI_COMM_WORLD, &t[i].comm);
    }
    for (int i = 0; i < N; i++)
        pthread_create(&ids[i], NULL, in_thread, &t[i]);
    for (int i = 0; i < N; i++) {
        pthread_join(ids[i], NULL);
        sum += t[i].sum;
        MPI_Comm_free(&t[i].comm);
    }
}

int buffers(int argc, char **argv);
int buffers(int argc, char **argv)
{
    int level, n_devices;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    GOOD(cudaGetDeviceCount(&n_devices));
    GOOD(cudaSetDevice(rank % n_devices));
    on_device();
    pitched();
    not_on_device();
    in_order_of_a_stream(n_devices);
    two_devices(n_devices);
    errors();
    if (argc > 1 && level == MPI_THREAD_MULTIPLE)
        threads(n_devices);
    int *kept;
    GOOD(cudaMalloc((void **)&kept, 100)); /* never freed */
    around(kept, 4, 14);
    printf("rank %d: %ld\n", rank, sum);
    MPI_Finalize();
    return 0;
}

#ifndef AS_LIBRARY
int main(int argc, char **argv)
{
    return buffers(argc, argv);
}
#endif
