/* SPDX-License-Identifier: BSD-3-Clause */
/* cuda.c: the allocators of CUDA, if the program has them.
 *
 * They are not exported as MPI's functions and malloc are. A library that refers to cudaMalloc
 * weakly, or looks it up, to find out whether there is CUDA would find it in a program without
 * CUDA. Instead, references of loaded modules to CUDA's functions are changed to wrappers
 * (interpose.h), and so are the results of dlsym (interpose.h) and cuGetProcAddress. So only
 * existing functions are wrapped, and each wrapper knows its function, even if a process has two
 * runtimes.
 *
 * By default nvcc links the runtime statically. That does no harm, because the runtime finds the
 * driver's functions by dlsym and cuGetProcAddress. With the shared runtime both functions are
 * seen, and the outer call counts.
 *
 * The driver knows the device of an address (cuPointerGetAttribute). It is asked only after an
 * allocation: this makes no context, and does not change the runtime's last error.
 *
 * Some functions allocate no memory with an address of their own: cudaMallocArray (opaque; MPI
 * cannot use it), and cudaHostRegister (the memory stays what it was, such as a heap block).
 * Memory that is mapped by cuMemMap or from another process (cudaIpcOpenMemHandle) is a mapping
 * like any other. */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "segments.h"

/* These are declared here, because CUDA's headers may be missing. All functions return 0 for
 * success. A CUdeviceptr is as wide as a pointer. */
typedef struct {
    void *ptr;
    size_t pitch, xsize, ysize;
} CudaPitched; /* cudaPitchedPtr */
typedef struct {
    size_t width, height, depth;
} CudaExtent; /* cudaExtent */
/* CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CUDA_ERROR_…, CU_GET_PROC_ADDRESS_… */
enum { POINTER_DEVICE = 9, INVALID_VALUE = 1, PER_THREAD_STREAM = 2 };
_Static_assert(sizeof(void *) == sizeof(unsigned long long), "CUdeviceptr");

/* name, form of its parameters, place of the memory */
/* clang-format off */
#define EACH_FUNCTION(X) \
    X(cudaMalloc, SIZE, DEVICE) \
    X(cudaMallocManaged, FLAGS, MANAGED) \
    X(cudaHostAlloc, FLAGS, PINNED) \
    X(cudaMallocHost, SIZE, PINNED) \
    X(cudaMallocAsync, STREAM, DEVICE) \
    X(cudaMallocAsync_ptsz, STREAM, DEVICE) \
    X(cudaMallocFromPoolAsync, POOL, DEVICE) \
    X(cudaMallocFromPoolAsync_ptsz, POOL, DEVICE) \
    X(cudaMallocPitch, PITCH, DEVICE) \
    X(cudaMalloc3D, EXTENT, DEVICE) \
    X(cudaFree, FREE, ) \
    X(cudaFreeHost, FREE, ) \
    X(cudaFreeAsync, FREE_STREAM, ) \
    X(cudaFreeAsync_ptsz, FREE_STREAM, ) \
    X(cudaDeviceReset, RESET, ) \
    X(cuMemAlloc_v2, SIZE, DEVICE) \
    X(cuMemAllocManaged, FLAGS, MANAGED) \
    X(cuMemHostAlloc, FLAGS, PINNED) \
    X(cuMemAllocHost_v2, SIZE, PINNED) \
    X(cuMemAllocAsync, STREAM, DEVICE) \
    X(cuMemAllocAsync_ptsz, STREAM, DEVICE) \
    X(cuMemAllocFromPoolAsync, POOL, DEVICE) \
    X(cuMemAllocFromPoolAsync_ptsz, POOL, DEVICE) \
    X(cuMemAllocPitch_v2, PITCH_ELEMENT, DEVICE) \
    X(cuMemFree_v2, FREE, ) \
    X(cuMemFreeHost, FREE, ) \
    X(cuMemFreeAsync, FREE_STREAM, ) \
    X(cuMemFreeAsync_ptsz, FREE_STREAM, ) \
    X(cuDevicePrimaryCtxReset, RESET_DEVICE, ) \
    X(cuDevicePrimaryCtxReset_v2, RESET_DEVICE, ) \
    X(cuDevicePrimaryCtxRelease, RESET_DEVICE, ) \
    X(cuDevicePrimaryCtxRelease_v2, RESET_DEVICE, ) \
    X(cuCtxDestroy_v2, RESET_CONTEXT, ) \
    X(cuGetProcAddress, LOOKUP, ) \
    X(cuGetProcAddress_v2, LOOKUP_STATUS, )
/* clang-format on */

#define NUMBER(name, form, place) FN_##name,
enum { EACH_FUNCTION(NUMBER) FUNCTIONS };
#define NAME(name, form, place) #name,
static const char *const names[FUNCTIONS] = {EACH_FUNCTION(NAME)};

/* A wrapper serves one function for ever. There are four of each, because a process may have
 * several runtimes. Allocations of a fifth one are not seen. */
enum { BANKS = 4 };
static void *_Atomic real[FUNCTIONS][BANKS];

/* Inside a call of the runtime, calls of the driver do not count. */
static __thread int inside;

/* -- events -- */

static int (*_Atomic pointer_attribute)(void *value, int which, unsigned long long pointer);

/* Looks for the driver. It is only called after the application has used CUDA. */
static bool driver_ready(void)
{
    if (pointer_attribute)
        return true;
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *f = driver ? dlsym(driver, "cuPointerGetAttribute") : NULL;
    if (!f)
        dlerror();
    pointer_attribute = (int (*)(void *, int, unsigned long long))f;
    return f != NULL;
}

static void allocated(const void *base, size_t bytes, enum memory_place place)
{
    int saved = errno, device = -1;
    if (base && driver_ready() && pointer_attribute(&device, POINTER_DEVICE, (uintptr_t)base) != 0)
        device = -1;
    memory_cuda_add(base, bytes, place, device);
    errno = saved;
}

static void freed(CudaBlock *block, int rc)
{
    if (rc == 0)
        memory_cuda_end(block);
    else
        memory_cuda_attach(block);
}

static bool is_gone(uintptr_t base)
{
    int device;
    return pointer_attribute(&device, POINTER_DEVICE, base) == INVALID_VALUE;
}

static void contexts_ended(void)
{
    int saved = errno;
    if (driver_ready())
        memory_cuda_sweep(is_gone);
    errno = saved;
}

static void *wrapper_for(int function, void *f);

/* Replaces the result of cuGetProcAddress, which takes names without version and kind of stream. */
static void looked_up(const char *name, void **f, int version, unsigned long long flags)
{
    static const char *const endings[] = {"_ptsz", "", "_v2"};
    /* since CUDA 3.2; before, addresses on devices had 32 bits */
    if (!name || !f || !*f || version < 3020)
        return;
    size_t n = strlen(name);
    bool has_status = strcmp(name, "cuGetProcAddress") == 0 && version >= 12000;
    for (size_t k = has_status ? 2 : flags & PER_THREAD_STREAM ? 0 : 1; k < 3; k++)
        for (int i = 0; i < FUNCTIONS; i++)
            if (strncmp(names[i], name, n) == 0 && strcmp(names[i] + n, endings[k]) == 0) {
                *f = wrapper_for(i, *f);
                return;
            }
}

/* -- the wrappers -- */

#define REAL(copy, name, PARAMETERS) ((int(*) PARAMETERS)real[FN_##name][copy])

#define AROUND(copy, name, PARAMETERS, ARGUMENTS, SEEN)  \
    static int name##_of_##copy PARAMETERS               \
    {                                                    \
        inside++;                                        \
        int rc = REAL(copy, name, PARAMETERS) ARGUMENTS; \
        if (--inside == 0 && rc == 0)                    \
            SEEN;                                        \
        return rc;                                       \
    }
#define AROUND_FREE(copy, name, PARAMETERS, ARGUMENTS)                                           \
    static int name##_of_##copy PARAMETERS                                                       \
    {                                                                                            \
        CudaBlock block;                                                                         \
        bool known = inside == 0                                                                 \
                     && memory_cuda_detach(                                                      \
                         p, &block); /* first: another thread may get the address right after */ \
        inside++;                                                                                \
        int rc = REAL(copy, name, PARAMETERS) ARGUMENTS;                                         \
        inside--;                                                                                \
        if (known)                                                                               \
            freed(&block, rc);                                                                   \
        return rc;                                                                               \
    }

#define FORM_SIZE(copy, name, place) \
    AROUND(copy, name, (void **p, size_t n), (p, n), allocated(*p, n, MEMORY_##place))
#define FORM_FLAGS(copy, name, place)                                       \
    AROUND(copy, name, (void **p, size_t n, unsigned flags), (p, n, flags), \
           allocated(*p, n, MEMORY_##place))
#define FORM_STREAM(copy, name, place)                                     \
    AROUND(copy, name, (void **p, size_t n, void *stream), (p, n, stream), \
           allocated(*p, n, MEMORY_##place))
#define FORM_POOL(copy, name, place)                                                         \
    AROUND(copy, name, (void **p, size_t n, void *pool, void *stream), (p, n, pool, stream), \
           allocated(*p, n, MEMORY_##place))
#define FORM_PITCH(copy, name, place)                                          \
    AROUND(copy, name, (void **p, size_t *pitch, size_t width, size_t height), \
           (p, pitch, width, height), allocated(*p, *pitch *height, MEMORY_##place))
#define FORM_PITCH_ELEMENT(copy, name, place)                                                    \
    AROUND(copy, name, (void **p, size_t *pitch, size_t width, size_t height, unsigned element), \
           (p, pitch, width, height, element), allocated(*p, *pitch *height, MEMORY_##place))
#define FORM_EXTENT(copy, name, place)                          \
    AROUND(copy, name, (CudaPitched * p, CudaExtent e), (p, e), \
           allocated(p->ptr, p->pitch *e.height *e.depth, MEMORY_##place))
#define FORM_FREE(copy, name, place) AROUND_FREE(copy, name, (void *p), (p))
#define FORM_FREE_STREAM(copy, name, place) \
    AROUND_FREE(copy, name, (void *p, void *stream), (p, stream))
#define FORM_RESET(copy, name, place) AROUND(copy, name, (void), (), contexts_ended())
#define FORM_RESET_DEVICE(copy, name, place) \
    AROUND(copy, name, (int device), (device), contexts_ended())
#define FORM_RESET_CONTEXT(copy, name, place) \
    AROUND(copy, name, (void *context), (context), contexts_ended())
/* The runtime itself looks up functions, so "inside" does not matter. */
#define FORM_LOOKUP(copy, name, place)                                                           \
    static int name##_of_##copy(const char *of, void **f, int version, unsigned long long flags) \
    {                                                                                            \
        int rc = REAL(copy, name,                                                                \
                      (const char *, void **, int, unsigned long long))(of, f, version, flags);  \
        if (rc == 0)                                                                             \
            looked_up(of, f, version, flags);                                                    \
        return rc;                                                                               \
    }
#define FORM_LOOKUP_STATUS(copy, name, place)                                                    \
    static int name##_of_##copy(const char *of, void **f, int version, unsigned long long flags, \
                                int *status)                                                     \
    {                                                                                            \
        int rc = REAL(copy, name, (const char *, void **, int, unsigned long long, int *))(      \
            of, f, version, flags, status);                                                      \
        if (rc == 0)                                                                             \
            looked_up(of, f, version, flags);                                                    \
        return rc;                                                                               \
    }

#define DEFINE_0(name, form, place) FORM_##form(0, name, place)
#define DEFINE_1(name, form, place) FORM_##form(1, name, place)
#define DEFINE_2(name, form, place) FORM_##form(2, name, place)
#define DEFINE_3(name, form, place) FORM_##form(3, name, place)
EACH_FUNCTION(DEFINE_0)
EACH_FUNCTION(DEFINE_1)
EACH_FUNCTION(DEFINE_2)
EACH_FUNCTION(DEFINE_3)

#define ROW(name, form, place) \
    {(void *)name##_of_0, (void *)name##_of_1, (void *)name##_of_2, (void *)name##_of_3},
static void *const wrappers[FUNCTIONS][BANKS] = {EACH_FUNCTION(ROW)};

/* The wrapper for F. It is F itself if F is a wrapper, or if no wrapper is left. */
static void *wrapper_for(int function, void *f)
{
    for (int b = 0; b < BANKS; b++)
        if (f == wrappers[function][b])
            return f;
    for (int b = 0; b < BANKS; b++) {
        void *none = NULL;
        if (atomic_compare_exchange_strong(&real[function][b], &none, f) || none == f)
            return wrappers[function][b];
    }
    return f;
}

static int function_number(const char *name)
{
    if (name[0] != 'c' || name[1] != 'u')
        return -1;
    for (int i = 0; i < FUNCTIONS; i++)
        if (strcmp(name, names[i]) == 0)
            return i;
    return -1;
}

/* -- lookups -- */

/* The wrapper for NAME. NULL if it is not of CUDA. With RTLD_NEXT, libraries of this kind look for
 * the function behind them, which they must get. */
static void *answer(void *handle, const char *name, const void *caller)
{
    int function = function_number(name);
    (void)caller;
    void *f = function >= 0 && handle != RTLD_NEXT ? dlsym(handle, name) : NULL;
    return f ? wrapper_for(function, f) : NULL;
}

/* -- references of modules -- */

/* Whether F is the beginning of the function, and not a stub of a module. */
static bool is_definition(void *f)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    return f && dladdr1(f, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 && info.dli_saddr == f
           && symbol && symbol->st_shndx != SHN_UNDEF;
}

/* The function that the module would call by that name: the current target, or the result of the
 * dynamic linker's search. */
static void *definition(const char *name, void *now, void *module)
{
    if (is_definition(now))
        return now;
    /* not the program's, which may be a stub for the function */
    void *f = dlsym(RTLD_NEXT, name);
    if (!is_definition(f))
        f = dlsym(module, name);
    return is_definition(f) ? f : NULL;
}

typedef struct {
    void *handle;
    bool missing;
} ModuleLook;

static void *wrapper_of(const char *name, void *now, void *user)
{
    ModuleLook *looking = user;
    if (!now || name[0] == '\0')
        return NULL; /* a weak reference without a target */
    int function = function_number(name);
    if (function < 0)
        return NULL;
    for (int b = 0; b < BANKS; b++)
        if (now == wrappers[function][b])
            return NULL;
    void *f = definition(name, now, looking->handle);
    looking->missing |= !f;
    return f ? wrapper_for(function, f) : NULL;
}

static bool look(const Module *m, void *handle)
{
    ModuleLook looking = {handle, false};
    module_redirect_from(m, wrapper_of, &looking);
    return !looking.missing;
}

__attribute__((constructor)) static void begin(void)
{
    static const LookupHooks hooks = {.answer = answer, .look = look};
    lookups_add(&hooks);
}
