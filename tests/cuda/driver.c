/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.c: stands for CUDA's driver, libcuda.so.1. Memory of its devices is memory of the host,
 * which MPI can use.
 *
 * Each call that a program can notice is a line in $STANDIN_LOG.RANK, and so is each context that
 * comes into being, so that a test sees if Wend changes anything. STANDIN_DEVICES: how many there
 * are (3). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_DEVICE = 101,
    INVALID_CONTEXT = 201,
    NOT_FOUND = 500
};
enum { MAX_DEVICES = 16, ALIGNMENT = 256, CHUNK = 1 << 20 };

typedef unsigned long long Pointer;
typedef struct {
    int device;
    int alive;
} Context;
typedef struct Block {
    char *base;
    size_t bytes;
    int device;
    struct Block *next;
} Block;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Context contexts[MAX_DEVICES];
static __thread Context *current;
static Block *blocks;

static void note(const char *what, int device)
{
    const char *log = getenv("STANDIN_LOG"), *rank = getenv("PMI_RANK");
    char name[4096];
    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!log)
        return;
    snprintf(name, sizeof name, "%s.%s", log, rank ? rank : "0");
    FILE *f = fopen(name, "a");
    if (!f)
        return;
    fprintf(f, "%s %d\n", what, device);
    fclose(f);
}

static int n_devices(void)
{
    const char *n = getenv("STANDIN_DEVICES");
    int devices = n ? atoi(n) : 3;
    return devices < 0 ? 0 : devices > MAX_DEVICES ? MAX_DEVICES : devices;
}

int cuInit(unsigned flags)
{
    return flags == 0 ? SUCCESS : INVALID_VALUE;
}

int cuDeviceGetCount(int *count)
{
    *count = n_devices();
    return SUCCESS;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    if (device < 0 || device >= n_devices())
        return INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    Context *c = &contexts[device];
    if (!c->alive)
        note("context", device);
    c->alive = 1;
    c->device = device;
    pthread_mutex_unlock(&lock);
    *context = c;
    return SUCCESS;
}

int cuCtxSetCurrent(void *context)
{
    current = context;
    return SUCCESS;
}

/* The first place that is large enough in what there is: an address comes again when it was
 * freed. */
static int take(const char *what, void **p, size_t bytes, int device)
{
    static char *arena;
    static const size_t room = (size_t)1 << 30;
    if (bytes == 0 || !p)
        return INVALID_VALUE;
    if (device < 0)
        return INVALID_CONTEXT;
    if (bytes > room)
        return OUT_OF_MEMORY;
    Block *new = malloc(sizeof *new);
    pthread_mutex_lock(&lock);
    if (!arena
        && (arena = mmap(NULL, room, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
               == MAP_FAILED)
        arena = NULL;
    Block **at = &blocks;
    char *free_from = arena;
    size_t needed = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    while (*at && (size_t)((*at)->base - free_from) < needed) {
        free_from = (*at)->base + ((*at)->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        at = &(*at)->next;
    }
    int good = new &&arena && (size_t)(arena + room - free_from) >= needed;
    if (good) {
        *new = (Block){free_from, bytes, device, *at};
        *at = new;
        *p = free_from;
        memset(free_from, 0, bytes);
        note(what, device);
    } else {
        free(new);
    }
    pthread_mutex_unlock(&lock);
    return good ? SUCCESS : OUT_OF_MEMORY;
}

static int give(const char *what, void *p)
{
    int rc = INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (Block **at = &blocks; *at && rc != SUCCESS; at = rc != SUCCESS ? &(*at)->next : at)
        if ((*at)->base == p) {
            Block *gone = *at;
            *at = gone->next;
            note(what, gone->device);
            free(gone);
            rc = SUCCESS;
            break;
        }
    pthread_mutex_unlock(&lock);
    return p ? rc : SUCCESS;
}

static int here(void)
{
    return current && current->alive ? current->device : -1;
}
/* streams and pools are numbers of devices, from 1 */
static int of_stream(void *stream)
{
    return stream ? (int)(size_t)stream - 1 : here();
}

int cuMemAlloc_v2(Pointer *p, size_t n)
{
    return take("device", (void **)p, n, here());
}
int cuMemAllocManaged(Pointer *p, size_t n, unsigned flags)
{
    return flags == 1 || flags == 2 ? take("managed", (void **)p, n, here()) : INVALID_VALUE;
}
int cuMemHostAlloc(void **p, size_t n, unsigned flags)
{
    return flags < 8 ? take("pinned", p, n, here()) : INVALID_VALUE;
}
int cuMemAllocHost_v2(void **p, size_t n)
{
    return take("pinned", p, n, here());
}
int cuMemAllocAsync(Pointer *p, size_t n, void *stream)
{
    return take("async", (void **)p, n, of_stream(stream));
}
int cuMemAllocAsync_ptsz(Pointer *p, size_t n, void *stream)
{
    return take("async_ptsz", (void **)p, n, of_stream(stream));
}
int cuMemAllocFromPoolAsync(Pointer *p, size_t n, void *pool, void *stream)
{
    return stream || current ? take("pool", (void **)p, n, of_stream(pool)) : INVALID_CONTEXT;
}
int cuMemAllocFromPoolAsync_ptsz(Pointer *p, size_t n, void *pool, void *stream)
{
    return cuMemAllocFromPoolAsync(p, n, pool, stream);
}
int cuMemFree_v2(Pointer p)
{
    return give("free", (void *)p);
}
int cuMemFreeHost(void *p)
{
    return give("free_pinned", p);
}
int cuMemFreeAsync(Pointer p, void *stream)
{
    (void)stream;
    return give("free_async", (void *)p);
}
int cuMemFreeAsync_ptsz(Pointer p, void *stream)
{
    (void)stream;
    return give("free_async_ptsz", (void *)p);
}

int cuMemAllocPitch_v2(Pointer *p, size_t *pitch, size_t width, size_t height, unsigned element)
{
    if (element != 4 && element != 8 && element != 16)
        return INVALID_VALUE;
    *pitch = (width + 511) / 512 * 512;
    return take("pitched", (void **)p, *pitch * height, here());
}

int cuDevicePrimaryCtxReset_v2(int device)
{
    if (device < 0 || device >= n_devices())
        return INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    note("reset", device);
    contexts[device].alive = 0;
    for (Block **at = &blocks; *at;) {
        Block *gone = *at;
        if (gone->device == device) {
            *at = gone->next;
            free(gone);
        } else {
            at = &gone->next;
        }
    }
    pthread_mutex_unlock(&lock);
    return SUCCESS;
}

/* The device ordinal (9) only. */
int cuPointerGetAttribute(void *value, int which, Pointer pointer)
{
    int rc = INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (Block *b = blocks; b && which == 9; b = b->next)
        if (pointer - (Pointer)b->base < b->bytes) {
            *(int *)value = b->device;
            rc = SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return rc;
}

int cuGetProcAddress_v2(const char *name, void **f, int version, unsigned long long flags,
                        int *status);
int cuGetProcAddress(const char *name, void **f, int version, unsigned long long flags);

/* clang-format off */
#define EACH(X) \
    X(cuInit, ) \
    X(cuDeviceGetCount, ) \
    X(cuDevicePrimaryCtxRetain, ) \
    X(cuCtxSetCurrent, ) \
    X(cuDevicePrimaryCtxReset, _v2) \
    X(cuMemAlloc, _v2) \
    X(cuMemAllocManaged, ) \
    X(cuMemHostAlloc, ) \
    X(cuMemAllocHost, _v2) \
    X(cuMemAllocPitch, _v2) \
    X(cuMemFree, _v2) \
    X(cuMemFreeHost, ) \
    X(cuPointerGetAttribute, ) \
    X(cuGetProcAddress, _v2)
/* clang-format on */
#define EACH_WITH_STREAM(X) X(cuMemAllocAsync) X(cuMemAllocFromPoolAsync) X(cuMemFreeAsync)

int cuGetProcAddress_v2(const char *name, void **f, int version, unsigned long long flags,
                        int *status)
{
#define ROW(NAME, VERSION) {#NAME, (void *)NAME##VERSION, (void *)NAME##VERSION},
#define ROW_WITH_STREAM(NAME) {#NAME, (void *)NAME, (void *)NAME##_ptsz},
    static const struct {
        const char *name;
        void *f, *per_thread;
    } rows[] = {EACH(ROW) EACH_WITH_STREAM(ROW_WITH_STREAM)};
    *f = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0)
            *f = flags & 2 ? rows[i].per_thread : rows[i].f;
    if (version < 12000 && strcmp(name, "cuGetProcAddress") == 0)
        *f = (void *)cuGetProcAddress;
    if (status)
        *status = *f ? 0 : 1;
    return *f ? SUCCESS : NOT_FOUND;
}

int cuGetProcAddress(const char *name, void **f, int version, unsigned long long flags)
{
    return cuGetProcAddress_v2(name, f, version, flags, NULL);
}
