/* SPDX-License-Identifier: BSD-3-Clause */
/* runtime.c: stands for CUDA's runtime, libcudart.so.12 or, linked statically, libcudart_static.a:
 * it opens the driver when it is first used and looks for its functions as the real one does. An
 * error stays until it is asked for. */
#include "cuda_runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* clang-format off */
#define EACH_DRIVER_FUNCTION(X) \
    X(cuInit, (unsigned), 0) \
    X(cuDeviceGetCount, (int *), 0) \
    X(cuDevicePrimaryCtxRetain, (void **, int), 0) \
    X(cuCtxSetCurrent, (void *), 0) \
    X(cuDevicePrimaryCtxReset, (int), 0) \
    X(cuMemAlloc, (void **, size_t), 0) \
    X(cuMemAllocManaged, (void **, size_t, unsigned), 0) \
    X(cuMemHostAlloc, (void **, size_t, unsigned), 0) \
    X(cuMemAllocHost, (void **, size_t), 0) \
    X(cuMemAllocPitch, (void **, size_t *, size_t, size_t, unsigned), 0) \
    X(cuMemFree, (void *), 0) \
    X(cuMemFreeHost, (void *), 0) \
    X(cuMemAllocAsync, (void **, size_t, void *), 0) \
    X(cuMemAllocFromPoolAsync, (void **, size_t, void *, void *), 0) \
    X(cuMemFreeAsync, (void *, void *), 0)
/* clang-format on */

static struct {
#define MEMBER(name, PARAMETERS, flags) int(*name) PARAMETERS;
    EACH_DRIVER_FUNCTION(MEMBER)
    int (*async_ptsz)(void **, size_t, void *);
    int (*pool_ptsz)(void **, size_t, void *, void *);
    int (*free_async_ptsz)(void *, void *);
} driver;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ready;
static __thread int device;
static __thread cudaError_t last;

static void open_driver(void)
{
    typedef int Lookup(const char *, void **, int, unsigned long long, int *);
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    Lookup *first = library ? (Lookup *)dlsym(library, "cuGetProcAddress_v2") : NULL,
           *lookup = NULL;
    if (!first || first("cuGetProcAddress", (void **)&lookup, 12000, 0, NULL) != 0)
        return;
#define FIND(name, PARAMETERS, flags)                                  \
    if (lookup(#name, (void **)&driver.name, 12000, flags, NULL) != 0) \
        return;
    EACH_DRIVER_FUNCTION(FIND)
    if (lookup("cuMemAllocAsync", (void **)&driver.async_ptsz, 12000, 2, NULL) != 0
        || lookup("cuMemFreeAsync", (void **)&driver.free_async_ptsz, 12000, 2, NULL) != 0
        || lookup("cuMemAllocFromPoolAsync", (void **)&driver.pool_ptsz, 12000, 2, NULL) != 0)
        return;
    ready = driver.cuInit(0) == 0;
}

static cudaError_t result(int rc)
{
    if (rc != 0)
        last = (cudaError_t)rc;
    return (cudaError_t)rc;
}

/* The device's context, made when it is first needed. */
static int begin(void)
{
    void *context;
    pthread_once(&once, open_driver);
    if (!ready)
        return cudaErrorNoDevice;
    int rc = driver.cuDevicePrimaryCtxRetain(&context, device);
    return rc ? rc : driver.cuCtxSetCurrent(context);
}

#define CALL(call)                       \
    do {                                 \
        int rc = begin();                \
        return result(rc ? rc : (call)); \
    } while (0)

cudaError_t cudaGetDeviceCount(int *count)
{
    pthread_once(&once, open_driver);
    int rc = ready ? driver.cuDeviceGetCount(count) : cudaErrorNoDevice;
    return result(rc == 0 && *count == 0 ? cudaErrorNoDevice : rc);
}

cudaError_t cudaSetDevice(int number)
{
    int n = 0;
    if (cudaGetDeviceCount(&n) != 0 || number < 0 || number >= n)
        return result(cudaErrorInvalidDevice);
    device = number;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *number)
{
    *number = device;
    return cudaSuccess;
}

cudaError_t cudaDeviceReset(void)
{
    CALL(driver.cuDevicePrimaryCtxReset(device));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int number)
{
    *pool = (cudaMemPool_t)(size_t)(number + 1);
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    *stream = (cudaStream_t)(size_t)(device + 1);
    return result(begin());
}

cudaError_t cudaMalloc(void **p, size_t n)
{
    CALL(driver.cuMemAlloc(p, n));
}
cudaError_t cudaMallocManaged(void **p, size_t n, unsigned flags)
{
    CALL(driver.cuMemAllocManaged(p, n, flags));
}
cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags)
{
    CALL(driver.cuMemHostAlloc(p, n, flags));
}
cudaError_t cudaMallocHost(void **p, size_t n)
{
    CALL(driver.cuMemAllocHost(p, n));
}
cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    CALL(driver.cuMemAllocPitch(p, pitch, width, height, 4));
}
cudaError_t cudaFree(void *p)
{
    CALL(driver.cuMemFree(p));
}
cudaError_t cudaFreeHost(void *p)
{
    CALL(driver.cuMemFreeHost(p));
}
cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t stream)
{
    CALL(driver.cuMemAllocAsync(p, n, stream));
}
cudaError_t cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t pool, cudaStream_t stream)
{
    CALL(driver.cuMemAllocFromPoolAsync(p, n, pool, stream));
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    CALL(driver.cuMemFreeAsync(p, stream));
}
cudaError_t cudaMallocAsync_ptsz(void **p, size_t n, cudaStream_t stream)
{
    CALL(driver.async_ptsz(p, n, stream));
}
cudaError_t cudaMallocFromPoolAsync_ptsz(void **p, size_t n, cudaMemPool_t pool,
                                         cudaStream_t stream)
{
    CALL(driver.pool_ptsz(p, n, pool, stream));
}
cudaError_t cudaFreeAsync_ptsz(void *p, cudaStream_t stream)
{
    CALL(driver.free_async_ptsz(p, stream));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent e)
{
    *p = (struct cudaPitchedPtr){NULL, 0, e.width, e.height};
    CALL(driver.cuMemAllocPitch(&p->ptr, &p->pitch, e.width, e.height * e.depth, 4));
}

cudaError_t cudaMemset(void *p, int byte, size_t n)
{
    memset(p, byte, n);
    return cudaSuccess;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t e = last;
    last = cudaSuccess;
    return e;
}

const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess:
        return "no error";
    case cudaErrorInvalidValue:
        return "invalid argument";
    case cudaErrorMemoryAllocation:
        return "out of memory";
    case cudaErrorNoDevice:
        return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
        return "invalid device ordinal";
    }
    return "unknown error";
}
