/* SPDX-License-Identifier: BSD-3-Clause */
/* driver-api.c: a program that uses the driver itself, and two runtimes that know nothing of each
 * other. */
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long Pointer;
int cuInit(unsigned flags);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);
int cuMemAlloc_v2(Pointer *p, size_t n);
int cuMemAllocManaged(Pointer *p, size_t n, unsigned flags);
int cuMemHostAlloc(void **p, size_t n, unsigned flags);
int cuMemAllocPitch_v2(Pointer *p, size_t *pitch, size_t width, size_t height, unsigned element);
int cuMemFree_v2(Pointer p);
int cuMemFreeHost(void *p);
int cuGetProcAddress(const char *name, void **f, int version, unsigned long long flags);

#define GOOD(call)                              \
    do {                                        \
        int e = (call);                         \
        if (e != 0) {                           \
            printf("%s: error %d\n", #call, e); \
            MPI_Abort(MPI_COMM_WORLD, 1);       \
        }                                       \
    } while (0)

static void use(void *p)
{
    MPI_Bcast(p, 10, MPI_INT, 0, MPI_COMM_WORLD);
}

static void by_driver(void)
{
    void *context, *pinned, *looked_up;
    Pointer p;
    size_t pitch;
    GOOD(cuInit(0));
    GOOD(cuDevicePrimaryCtxRetain(&context, 1));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuMemAlloc_v2(&p, 400));
    use((void *)p);
    GOOD(cuMemFree_v2(p));
    GOOD(cuMemAllocManaged(&p, 400, 1));
    use((void *)p);
    GOOD(cuMemFree_v2(p));
    GOOD(cuMemHostAlloc(&pinned, 400, 0));
    use(pinned);
    GOOD(cuMemFreeHost(pinned));
    GOOD(cuMemAllocPitch_v2(&p, &pitch, 100, 4, 4));
    use((void *)(p + 3 * pitch));
    GOOD(cuMemFree_v2(p));
    GOOD(cuGetProcAddress("cuMemAllocAsync", &looked_up, 11030, 2));
    GOOD(((int (*)(Pointer *, size_t, void *))looked_up)(&p, 400, NULL));
    use((void *)p);
    GOOD(cuGetProcAddress("cuMemFreeAsync", &looked_up, 11030, 2));
    GOOD(((int (*)(Pointer, void *))looked_up)(p, NULL));
    printf("%d %d\n", cuGetProcAddress("cuNothing", &looked_up, 11030, 0), !looked_up);
}

static int (*function(void *library, const char *name))(void **, size_t)
{
    return (int (*)(void **, size_t))dlsym(library, name);
}

/* Each with its own current device, so that a call that came to the other one would be seen. */
static void by_two_runtimes(void)
{
    static const char *const names[] = {"libcudart.so.12", "libcudart.so.11"};
    void *library[2], *p[2];
    for (int i = 0; i < 2; i++) {
        library[i] = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        GOOD(!library[i]);
        GOOD(((int (*)(int))dlsym(library[i], "cudaSetDevice"))(i + 1));
    }
    for (int i = 0; i < 2; i++) {
        GOOD(function(library[i], "cudaMalloc")(&p[i], 400));
        use(p[i]);
    }
    for (int i = 0; i < 2; i++)
        GOOD(((int (*)(void *))dlsym(library[i], "cudaFree"))(p[i]));
    printf("%d\n", function(library[0], "cudaMalloc") != function(library[1], "cudaMalloc"));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    by_driver();
    by_two_runtimes();
    MPI_Finalize();
    return 0;
}
