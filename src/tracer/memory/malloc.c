/* SPDX-License-Identifier: BSD-3-Clause */
/* malloc.c: malloc and its family. The real allocator does the work, and the bitmap of
 * heap-blocks.h has the beginnings of blocks.
 *
 * The real allocator is the next definition after this library's: glibc's, or an allocator that the
 * program is linked with. */

/* Sanitizers find the function that allocated or freed a block by frame pointers. */
#if defined __GNUC__ && !defined __clang__
#pragma GCC optimize("no-omit-frame-pointer")
#endif

#include "heap-blocks.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*usable_size)(void *);
} real;

/* Memory until the real functions are found, because dlsym may allocate. Blocks are never freed.
 * Each has its size in front. */
static struct {
    _Alignas(16) unsigned char bytes[32 << 10];
    size_t used;
} arena;
enum { ARENA_HEADER = 16 };
static bool resolving;

static bool in_arena(const void *p)
{
    return (uintptr_t)p - (uintptr_t)arena.bytes < sizeof arena.bytes;
}
static size_t arena_size(const void *p)
{
    return *(const size_t *)((const unsigned char *)p - ARENA_HEADER);
}

static void *arena_alloc(size_t alignment, size_t n)
{
    if (alignment < ARENA_HEADER)
        alignment = ARENA_HEADER;
    uintptr_t base = (uintptr_t)arena.bytes;
    uintptr_t at = (base + arena.used + ARENA_HEADER + alignment - 1) & ~(uintptr_t)(alignment - 1);
    if (n > sizeof arena.bytes || at - base > sizeof arena.bytes - n) {
        errno = ENOMEM;
        return NULL;
    }
    arena.used = at - base + n;
    *(size_t *)(at - ARENA_HEADER) = n;
    return (void *)at; /* zeroed, because it is used only once */
}

static void *next(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    if (!f)
        dlerror(); /* the message that dlerror keeps for the application must not be Wend's */
    return f;
}

/* -- LeakSanitizer -- */

/* It reports no block of the dynamic linker's, which it knows by the caller of malloc. That caller
 * is this library now. So blocks of the dynamic linker's, and Wend's own, are allocated while it is
 * disabled. The functions are there in a program with a sanitizer only. */
extern void __lsan_disable(void) __attribute__((weak));
extern void __lsan_enable(void) __attribute__((weak));

typedef struct {
    uintptr_t start, size;
} Code;
static Code linker_code, own_code; /* empty without the sanitizer */

static bool is_in_code(const Code *code, const void *address)
{
    return (uintptr_t)address - code->start < code->size;
}

static int find_code(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        Code code = {info->dlpi_addr + h->p_vaddr, h->p_memsz};
        if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
            continue;
        if (info->dlpi_addr == getauxval(AT_BASE))
            linker_code = code;
        else if (is_in_code(&code, (const void *)&find_code))
            own_code = code;
    }
    return 0;
}

/* Whether a block that CALLER allocates is none of the application's. If so, the sanitizer is
 * disabled until enable_leak_check is called with the result. */
static inline bool disable_leak_check(const void *caller)
{
    if (__builtin_expect(linker_code.size == 0, 1)
        || !(is_in_code(&linker_code, caller) || is_in_code(&own_code, caller)))
        return false;
    __lsan_disable();
    return true;
}

static inline void *enable_leak_check(bool was, void *p)
{
    if (__builtin_expect(was, 0))
        __lsan_enable();
    return p;
}

#define CALLER __builtin_return_address(0)

/* Finds the real functions. Returns false if it is called within dlsym. The first allocation of a
 * process comes before its second thread. */
static __attribute__((noinline, cold)) bool resolve(void)
{
    if (resolving)
        return false;
    resolving = true;
    int saved = errno;
    real.calloc = next("calloc");
    real.realloc = next("realloc");
    real.free = next("free");
    real.posix_memalign = next("posix_memalign");
    real.aligned_alloc = next("aligned_alloc");
    real.memalign = next("memalign");
    real.valloc = next("valloc");
    real.pvalloc = next("pvalloc");
    real.usable_size = next("malloc_usable_size");
    void *(*f)(size_t) = next("malloc");
    if (!f || !real.calloc || !real.realloc || !real.free || !real.posix_memalign
        || !real.usable_size) {
        static const char message[] = "wend: there is no malloc behind libwend.so\n";
        if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
            _exit(127);
        _exit(127);
    }
    heap_blocks_sizes(real.usable_size);
    if (__lsan_disable && __lsan_enable)
        dl_iterate_phdr(find_code, NULL);
    /* set last, because it means that the others are set */
    __atomic_store_n(&real.malloc, f, __ATOMIC_RELEASE);
    resolving = false;
    errno = saved;
    return true;
}

static inline bool ready(void)
{
    return __builtin_expect(__atomic_load_n(&real.malloc, __ATOMIC_ACQUIRE) != NULL, 1)
           || resolve();
}

static inline void *marked(void *p)
{
    heap_blocks_mark((uintptr_t)p);
    return p;
}

static __attribute__((noinline, cold)) void used_block_ends(void *p)
{
    segment_end(segment_detach((uintptr_t)p));
}

static inline __attribute__((always_inline)) void *allocate(size_t n, const void *caller)
{
    if (!ready())
        return arena_alloc(0, n);
    bool own = disable_leak_check(caller);
    return enable_leak_check(own, marked(real.malloc(n)));
}

EXPORT void *malloc(size_t n)
{
    return allocate(n, CALLER);
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (!ready()) {
        size_t n;
        if (__builtin_mul_overflow(count, size, &n)) {
            errno = ENOMEM;
            return NULL;
        }
        return arena_alloc(0, n);
    }
    bool own = disable_leak_check(CALLER);
    return enable_leak_check(own, marked(real.calloc(count, size)));
}

EXPORT void free(void *p)
{
    if (in_arena(p))
        return;
    if (__builtin_expect(heap_blocks_unmark((uintptr_t)p), 0))
        used_block_ends(p);
    if (ready())
        real.free(p);
}

/* C23. Allocators with these functions need not call free in them. */
EXPORT void free_sized(void *p, size_t n)
{
    (void)n;
    free(p);
}

EXPORT void free_aligned_sized(void *p, size_t alignment, size_t n)
{
    (void)alignment;
    (void)n;
    free(p);
}

static inline __attribute__((always_inline)) void *resize(void *p, size_t n, const void *caller)
{
    if (!p)
        return allocate(n, caller);
    if (in_arena(p)) {
        void *q = allocate(n, caller);
        if (q)
            memcpy(q, p, n < arena_size(p) ? n : arena_size(p));
        return q;
    }
    if (!ready())
        return NULL;
    /* The block is removed first: once the real realloc has moved it, another thread may get its
     * address. */
    bool used = heap_blocks_unmark((uintptr_t)p);
    SegmentNames *names = used ? segment_detach((uintptr_t)p) : NULL;
    bool own = disable_leak_check(caller);
    void *q = enable_leak_check(own, real.realloc(p, n));
    if (!q && n != 0) {
        heap_blocks_mark((uintptr_t)p);
        if (used)
            segment_attach((uintptr_t)p, names);
        return NULL;
    }
    heap_blocks_mark((uintptr_t)q);
    if (used)
        segment_end(names);
    return q;
}

EXPORT void *realloc(void *p, size_t n)
{
    return resize(p, n, CALLER);
}

EXPORT void *reallocarray(void *p, size_t count, size_t size)
{
    size_t n;
    if (__builtin_mul_overflow(count, size, &n)) {
        errno = ENOMEM;
        return NULL;
    }
    return resize(p, n, CALLER);
}

EXPORT int posix_memalign(void **p, size_t alignment, size_t n)
{
    if (!ready()) {
        void *q = arena_alloc(alignment, n);
        if (!q)
            return ENOMEM;
        *p = q;
        return 0;
    }
    int rc = real.posix_memalign(p, alignment, n);
    if (rc == 0)
        heap_blocks_mark((uintptr_t)*p);
    return rc;
}

/* Calls an old function of the allocator, or posix_memalign if the allocator lacks it. */
static void *aligned(void *(*f)(size_t, size_t), size_t alignment, size_t n)
{
    if (f)
        return marked(f(alignment, n));
    void *p = NULL;
    int rc = posix_memalign(&p, alignment < sizeof(void *) ? sizeof(void *) : alignment, n);
    if (rc != 0)
        errno = rc;
    return rc == 0 ? p : NULL;
}

EXPORT void *aligned_alloc(size_t alignment, size_t n)
{
    if (!ready())
        return arena_alloc(alignment, n);
    return aligned(real.aligned_alloc, alignment, n);
}

EXPORT void *memalign(size_t alignment, size_t n)
{
    if (!ready())
        return arena_alloc(alignment, n);
    return aligned(real.memalign, alignment, n);
}

EXPORT void *valloc(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!ready())
        return arena_alloc(page, n);
    return real.valloc ? marked(real.valloc(n)) : aligned(NULL, page, n);
}

EXPORT void *pvalloc(size_t n)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t rounded;
    if (__builtin_add_overflow(n, page - 1, &rounded)) {
        errno = ENOMEM;
        return NULL;
    }
    if (!ready())
        return arena_alloc(page, rounded & ~(page - 1));
    return real.pvalloc ? marked(real.pvalloc(n)) : aligned(NULL, page, rounded & ~(page - 1));
}

EXPORT size_t malloc_usable_size(void *p)
{
    if (!p)
        return 0;
    if (in_arena(p))
        return arena_size(p);
    return ready() ? real.usable_size(p) : 0;
}
