/* SPDX-License-Identifier: BSD-3-Clause */
/* memory: blocks, segments, ids and frees, without MPI: the tracer's memory files are linked into
 * the test, which gives the runtime's part. */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/tracer/memory/address.h"
#include "src/tracer/memory/mapped.h"

#define CHECK(x)                                                              \
    do {                                                                      \
        if (!(x)) {                                                           \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #x); \
            exit(1);                                                          \
        }                                                                     \
    } while (0)

/* Keeps the compiler from removing or merging allocations. */
#define OPAQUE(p) __asm__ volatile("" : "+r"(p) : : "memory")

static __thread int64_t number = -1;
static int64_t freed[64];
static _Atomic size_t n_freed;
static struct Named {
    int64_t segment;
    enum memory_place place;
    int device;
} named[64];
static size_t n_named;

int64_t thread_number(void)
{
    return number;
}
void segment_event_free(int64_t segment)
{
    freed[n_freed++ % 64] = segment;
    errno = 77; /* the application must not see it */
}
void segment_event_name(int64_t segment, enum memory_place place, int device)
{
    named[n_named++ % 64] = (struct Named){segment, place, device};
}
void segment_event_unloaded(unsigned long long modules)
{
    (void)modules;
}
void state_break(const char *why)
{
    fprintf(stderr, "recording stopped: %s\n", why);
    exit(1);
}

static void is(const void *p, int kind, int64_t id, int64_t offset, int line)
{
    Where w = memory_where(p);
    if (w.segment != WEND_SEGMENT(kind, id) || w.offset != offset) {
        fprintf(stderr, "%s:%d: got kind %d id %lld offset %lld, not %d %lld %lld\n", __FILE__,
                line, w.segment < 0 ? -1 : (int)segment_kind(w.segment),
                (long long)word_segment_id(w.segment), (long long)w.offset, kind, (long long)id,
                (long long)offset);
        exit(1);
    }
}
#define IS(p, kind, id, offset) is((p), (kind), (id), (int64_t)(offset), __LINE__)
#define HEAP WEND_SEGMENT_HEAP

static void one_freed(int64_t id, int line)
{
    if (n_freed != 1 || freed[0] != WEND_SEGMENT(HEAP, id)) {
        fprintf(stderr, "%s:%d: %zu segments freed, first %llx\n", __FILE__, line, (size_t)n_freed,
                (unsigned long long)freed[0]);
        exit(1);
    }
    n_freed = 0;
}
#define ONE_FREED(id) one_freed((id), __LINE__)

static void test_ids(void)
{
    char *unseen = malloc(100), *a = malloc(100), *b = calloc(1, 5000), *c = malloc(1);
    IS(b, HEAP, 0, 0); /* by first use, not by allocation */
    IS(a + 99, HEAP, 1, 99);
    IS(c, HEAP, 2, 0);
    IS(b + 4999, HEAP, 0, 4999);
    free(unseen);
    CHECK(n_freed == 0);
    errno = 5;
    free(a);
    CHECK(errno == 5);
    ONE_FREED(1);
    char *d = malloc(300), *e = malloc(300);
    IS(e, HEAP, 1, 0); /* the smallest free id */
    IS(d, HEAP, 3, 0);
    free(b);
    ONE_FREED(0);
    char *f = malloc(5000); /* most likely b's place, and never b's id by memory of it */
    IS(f + 8, HEAP, 0, 8);
    free(c), free(d), free(e), free(f);
    CHECK(n_freed == 4);
    n_freed = 0;
}

static void test_edges(void)
{
    char *z1 = malloc(0), *z2 = malloc(0), *full = malloc(24);
    OPAQUE(z1);
    CHECK(z1 && z2 && z1 != z2);
    IS(z1, HEAP, 0, 0);
    IS(z2, HEAP, 1, 0);
    /* the end of an array, with a count of 0 */
    IS(full + malloc_usable_size(full), HEAP, 2, malloc_usable_size(full));
    free(z1), free(z2), free(full);
    n_freed = 0;
    free(NULL);
    CHECK(malloc_usable_size(NULL) == 0);
    CHECK(n_freed == 0);
}

static void test_realloc(void)
{
    char *a = realloc(NULL, 50);
    OPAQUE(a);
    memset(a, 7, 50);
    IS(a, HEAP, 0, 0);
    a = realloc(a, 60); /* in place, probably: still a free */
    ONE_FREED(0);
    IS(a + 1, HEAP, 0, 1);
    size_t huge = (size_t)-1 / 4;
    OPAQUE(huge);
    errno = 0;
    char *none = realloc(a, huge);
    CHECK(!none && errno == ENOMEM);
    CHECK(n_freed == 0);
    IS(a + 2, HEAP, 0, 2); /* is still there */
    CHECK(!reallocarray(a, huge, 16) && errno == ENOMEM);
    a = reallocarray(a, 1000, 1000);
    ONE_FREED(0);
    for (int i = 0; i < 50; i++)
        CHECK(a[i] == 7);
    a = realloc(a, 2000000); /* unused since: no event */
    CHECK(n_freed == 0);
    IS(a + 1999999, HEAP, 0, 1999999);
    char *b = realloc(a, 0);
    OPAQUE(b);
    ONE_FREED(0);
    free(b);
    CHECK(n_freed == 0);
}

/* Numbers are the heap's, so that a program with the same blocks on the heap has the same. */
static void test_cuda(void)
{
    char *area = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
         *host = malloc(100);
    CudaBlock block;
    memory_cuda_add(NULL, 100, MEMORY_DEVICE, 0);
    memory_cuda_add(area, 1000, MEMORY_DEVICE, 3);
    memory_cuda_add(area + 4096, 4096, MEMORY_MANAGED, -1);
    memory_cuda_add(area + 8192, 512, MEMORY_PINNED, 0);
    CHECK(memory_known(area).segment == WEND_UNKNOWN && n_named == 0);
    errno = 5;
    IS(area + 4100, WEND_SEGMENT_CUDA, 0, 4);
    CHECK(errno == 5 && n_named == 1 && named[0].segment == WEND_SEGMENT(WEND_SEGMENT_CUDA, 0)
          && named[0].place == MEMORY_MANAGED && named[0].device == -1);
    IS(host, HEAP, 1, 0);
    IS(area + 999, WEND_SEGMENT_CUDA, 2, 999);
    IS(area + 1000, WEND_SEGMENT_CUDA, 2, 1000); /* the end of an array, with a count of 0 */
    IS(area + 8192, WEND_SEGMENT_CUDA, 3, 0);    /* an end, and a beginning */
    CHECK(n_named == 3 && named[1].place == MEMORY_DEVICE && named[1].device == 3
          && named[2].place == MEMORY_PINNED && named[2].device == 0);
    IS(area + 4096, WEND_SEGMENT_CUDA, 0, 0);
    CHECK(n_named == 3);
    CHECK(!memory_cuda_detach(area + 1, &block) && !memory_cuda_detach(NULL, &block)
          && !memory_cuda_detach(host, &block));
    CHECK(memory_cuda_detach(area, &block) && n_freed == 0); /* a free that fails … */
    CHECK(memory_known(area).segment == WEND_UNKNOWN);
    memory_cuda_attach(&block);
    IS(area + 1, WEND_SEGMENT_CUDA, 2, 1);
    CHECK(n_named == 3 && n_freed == 0);
    CHECK(memory_cuda_detach(area, &block)); /* … and one that does not */
    memory_cuda_end(&block);
    CHECK(n_freed == 1 && freed[0] == WEND_SEGMENT(WEND_SEGMENT_CUDA, 2));
    n_freed = 0;
    char *other = malloc(10);
    IS(other, HEAP, 2, 0);
    /* where two blocks had been: their end was not seen */
    memory_cuda_add(area + 4096, 8192, MEMORY_DEVICE, 1);
    CHECK(n_freed == 2 && freed[0] == WEND_SEGMENT(WEND_SEGMENT_CUDA, 0)
          && freed[1] == WEND_SEGMENT(WEND_SEGMENT_CUDA, 3));
    IS(area + 8192, WEND_SEGMENT_CUDA, 0, 4096);
    CHECK(n_named == 4 && named[3].device == 1);
    free(host), free(other);
    CHECK(n_freed == 4);
    n_freed = 0;
    n_named = 0;
}

static uintptr_t alive; /* the base of the one block that is */
static bool is_gone(uintptr_t base)
{
    return base != alive;
}

static void test_cuda_reset(void)
{
    enum { N = 8 };
    char *area = mmap(NULL, N << 12, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_cuda_sweep(is_gone); /* ends what there is from other tests */
    n_freed = 0;
    for (int i = 0; i < N; i++)
        memory_cuda_add(area + (i << 12), 100, MEMORY_DEVICE, 0);
    for (int i = N - 1; i > 0; i--) /* the first is never used */
        IS(area + (i << 12), WEND_SEGMENT_CUDA, N - 1 - i, 0);
    alive = (uintptr_t)(area + (3 << 12));
    memory_cuda_sweep(is_gone);
    CHECK(n_freed == N - 2);
    for (int i = 1; i < N - 2; i++)
        CHECK(freed[i] > freed[i - 1]); /* by name: addresses differ from run to run */
    IS(area + (3 << 12) + 5, WEND_SEGMENT_CUDA, 4, 5);
    alive = 0;
    memory_cuda_sweep(is_gone);
    CHECK(n_freed == N - 1 && freed[N - 2] == WEND_SEGMENT(WEND_SEGMENT_CUDA, 4));
    n_freed = 0;
    n_named = 0;
}

static void test_aligned(void)
{
    void *p[5];
    CHECK(posix_memalign(&p[0], 4096, 100) == 0 && (uintptr_t)p[0] % 4096 == 0);
    CHECK((p[1] = aligned_alloc(256, 512)) && (uintptr_t)p[1] % 256 == 0);
    CHECK((p[2] = memalign(1 << 20, 10)) && (uintptr_t)p[2] % (1 << 20) == 0);
    CHECK((p[3] = valloc(10)) && (uintptr_t)p[3] % 4096 == 0);
    CHECK((p[4] = pvalloc(10)) && malloc_usable_size(p[4]) >= 4096);
    void *q;
    size_t odd = 3;
    OPAQUE(odd);
    CHECK(posix_memalign(&q, odd, 10) == EINVAL);
    for (int i = 0; i < 5; i++) {
        IS((char *)p[i] + 9, HEAP, i, 9);
        IS(p[i], HEAP, i, 0);
    }
    for (int i = 4; i >= 0; i--) {
        free(p[i]);
        ONE_FREED(i);
    }
}

/* Lookups from the middle of blocks across words, summaries and leaves, with holes of freed blocks
 * below. */
static void test_large(void)
{
    enum { N = 20000 };
    char **small = malloc(N * sizeof *small);
    for (int i = 0; i < N; i++)
        CHECK((small[i] = malloc(16 + (size_t)i % 4000)));
    size_t size = (size_t)5 << 30;
    /* is a 5 GiB block to be had? */
    char *big = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(big, 1);
    big = malloc(size); /* never touched */
    char *second = malloc((size_t)3 << 29);
    CHECK(big && second);
    IS(big + size - 1, HEAP, 0, size - 1);
    IS(second + 12345, HEAP, 1, 12345);
    for (size_t at = 17; at < size; at += size / 13) {
        char *other = malloc(64); /* forget the last lookup: a used segment goes */
        IS(other, HEAP, 2, 0);
        IS(big + at, HEAP, 0, at);
        free(other);
    }
    for (int i = 0; i < N; i++) {
        CHECK(memory_looks_mapped((uintptr_t)small[i], NULL));
        if (i % 3)
            free(small[i]), small[i] = NULL;
    }
    n_freed = 0;
    IS(small[0] + 15, HEAP, 2, 15);
    IS(small[N - N % 3 - 3] + 1, HEAP, 3, 1);
    for (int i = 0; i < N; i++)
        free(small[i]);
    CHECK(n_freed == 2);
    free(small);
    free(big);
    free(second);
    n_freed = 0;
}

/* Kilobytes of address space. */
static long addresses(void)
{
    long pages = -1;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f && fscanf(f, "%ld", &pages) == 1);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Blocks that are far from each other. The bits take 260 KiB for each 16 MiB in which one begins,
 * a few blocks take little, and lookups go back over leaves whose blocks are gone. */
static void test_far(void)
{
    enum { N = 400, APART = 20 << 20 };
    static char *block[N];
    long before = addresses(), own;
    for (int i = 0; i < N; i++) {
        CHECK((block[i] = malloc(APART)));
        own = addresses() - before - (i + 1L) * (APART / 1024 + 4);
        CHECK(own <= 1024 + (i + 1L) * 300);
    }
    int64_t last = 0;
    for (int i = 0; i < N; i++) {
        IS(block[i] + APART - 1, HEAP, 0, APART - 1);
        IS(block[i] + APART / 2, HEAP, 0, APART / 2);
        if (i % 5) {
            uintptr_t gone = (uintptr_t)block[i] + APART / 2;
            free(block[i]);
            ONE_FREED(0);
            CHECK(memory_known((void *)gone).segment == WEND_UNKNOWN);
        } else {
            char *other = malloc(1);
            IS(other, HEAP, 1, 0);
            free(block[i]), free(other); /* id 0 is free again for the next one */
            CHECK(n_freed == 2);
            n_freed = 0;
            CHECK((block[last++] = malloc(APART)));
        }
    }
    /* in all leaves blocks have begun, and in few there is one */
    char *large = malloc((size_t)N * APART);
    CHECK(large);
    for (size_t at = 1; at < (size_t)N * APART; at += APART / 3) {
        char *other = malloc(64); /* forget the last lookup */
        IS(large + at, HEAP, 0, at);
        IS(other, HEAP, 1, 0);
        free(other);
    }
    n_freed = 0;
    free(large);
    ONE_FREED(0);
    while (last > 0)
        free(block[--last]);
    CHECK(n_freed == 0);
}

static int in_data = 1, in_bss[100000];

static void test_static_stack(void)
{
    int local[100];
    char *low = (char *)local;
    OPAQUE(low);
    IS(&in_bss[50], WEND_SEGMENT_STATIC, 0, 0);
    IS(&in_bss[40], WEND_SEGMENT_STATIC, 0, -40); /* ints */
    IS(&in_data, WEND_SEGMENT_STATIC, 0, (char *)&in_data - (char *)&in_bss[50]);
    IS(stdout, WEND_SEGMENT_STATIC, 1, 0); /* libc's own data */
    IS(low + 100, WEND_SEGMENT_STACK, 0, 0);
    IS(low, WEND_SEGMENT_STACK, 0, -100);
    char *far = __builtin_alloca(200000);
    OPAQUE(far);
    IS(far, WEND_SEGMENT_STACK, 0, far - (low + 100));
}

static void test_made(void)
{
    char *m = malloc(1000); /* as MPI_Alloc_mem does */
    memory_add(WEND_SEGMENT_MPI, m, 1000, 0);
    IS(m + 10, WEND_SEGMENT_MPI, 0, 10);
    memory_add(WEND_SEGMENT_MPI, NULL, 10, 0);
    char *w = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory_add(WEND_SEGMENT_WIN, w, 4096, 9);
    memory_add(WEND_SEGMENT_WIN, w + 4096, 0, 9); /* another rank's empty part */
    IS(w + 4095, WEND_SEGMENT_WIN, 0, 4095);
    IS(w + 4096, WEND_SEGMENT_WIN, 1, 0);
    memory_add(WEND_SEGMENT_WIN, w, 4096, 9); /* asked again */
    IS(w, WEND_SEGMENT_WIN, 0, 0);
    memory_remove_owner(9);
    IS(w + 100, WEND_SEGMENT_MAP, 0, 0);
    IS(w + 101, WEND_SEGMENT_MAP, 0, 1);
    memory_add(WEND_SEGMENT_WIN, w + 64, 64, 10);
    IS(w + 100, WEND_SEGMENT_WIN, 0, 36);
    memory_remove(w + 64);
    memory_remove(w + 65);
    munmap(w, 8192);
    memory_remove(m);
    IS(m + 10, HEAP, 0, 10);
    free(m);
    ONE_FREED(0);
    memory_add(WEND_SEGMENT_MPI, in_bss, 16, 0);
    IS(in_bss, WEND_SEGMENT_MPI, 0, 0);
    memory_remove(in_bss);
}

static void test_unknown(void)
{
    CHECK(memory_where(NULL).segment == WEND_UNKNOWN);
    CHECK(memory_where((void *)4096).segment == WEND_UNKNOWN);
    CHECK(memory_where((void *)-1).segment == WEND_UNKNOWN);
    CHECK(memory_where((void *)(UINT64_C(1) << 46 | 123)).segment == WEND_UNKNOWN);
    CHECK(!memory_looks_mapped(0, NULL) && !memory_looks_mapped(8, NULL)
          && !memory_looks_mapped(65536, NULL) && !memory_looks_mapped(1 << 30, NULL));
    CHECK(!memory_looks_mapped((uintptr_t)-8, NULL)
          && !memory_looks_mapped(UINT64_C(1) << 46 | 123, NULL));
    char *p = malloc(100), on_stack = 0;
    CHECK(memory_looks_mapped((uintptr_t)p + 50, NULL)
          && memory_looks_mapped((uintptr_t)&on_stack, NULL)
          && memory_looks_mapped((uintptr_t)&in_data, NULL));
    free(p);
    CHECK(n_freed == 0); /* looking is not using */
    /* Behind a number that is no address lies a gap, which is not looked at again, and in which
     * nothing is. */
    Gap gap = {0};
    uintptr_t number = (uintptr_t)1 << 40;
    CHECK(!memory_looks_mapped(number, &gap) && gap.low <= number && number - gap.low < gap.length);
    char *fixed = mmap((void *)(number + 65536), 4096, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (fixed == (char *)(number + 65536)) {
        Gap before = {0}, behind = {0};
        CHECK(!memory_looks_mapped((uintptr_t)fixed + 16, &gap)
              && memory_looks_mapped((uintptr_t)fixed + 16, NULL));
        CHECK(!memory_looks_mapped(number, &before)
              && before.low + before.length == (uintptr_t)fixed);
        CHECK(!memory_looks_mapped((uintptr_t)fixed + 5000, &behind)
              && behind.low == (uintptr_t)fixed + 4096);
    }
    /* As in an executable that is not position-independent: its data are only addresses once MPI
     * has seen them. */
    char *low = mmap((void *)0x10000000, 4096, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (low == (char *)0x10000000) {
        CHECK(!memory_looks_mapped((uintptr_t)low + 16, NULL));
        CHECK(memory_where(low).segment >= 0);
        CHECK(memory_looks_mapped((uintptr_t)low + 16, NULL));
    }
}

static void test_modules(void)
{
    void *m = dlopen("libm.so.6", RTLD_NOW);
    void *added = dlopen("libutil.so.1", RTLD_NOW); /* whatever: a module more */
    int *signgam = m ? dlsym(m, "signgam") : NULL;
    if (signgam) {
        Where w = memory_where(signgam);
        CHECK(w.segment >= 0 && segment_kind(w.segment) == WEND_SEGMENT_STATIC && w.offset == 0);
        CHECK(word_segment_id(w.segment) >= 2);
    }
    if (added)
        CHECK(dlclose(added) == 0);
    if (m)
        CHECK(dlclose(m) == 0);
}

static volatile sig_atomic_t handled;

/* It may interrupt whatever the tables are at. */
static void map_elsewhere(int signal)
{
    (void)signal;
    mapped_add(0x700000000000, 4096, false);
    mapped_remove(0x700000000000, 4096);
    handled++;
}

/* Mappings against an array with the mapping of each page. */
static void test_mapped(void)
{
    enum { PAGES = 64, PAGE = 4096 };
    const uintptr_t base = 0x600000000000;
    int of[PAGES] = {0}, last = 0, rounds = 0; /* 0: none */
    bool is_named[PAGES] = {false};
    MappedEnd end;
    signal(SIGALRM, map_elsewhere);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 50}, {0, 50}}, NULL);
    srand(1);
    while (rounds++ < 200000 || handled < 100) {
        int at = rand() % PAGES, n = 1 + rand() % (PAGES - at), ended[PAGES] = {0}, ends = 0;
        bool in = rand() % 4 == 0, all = rand() % 50 == 0;
        at = all ? 0 : at;
        n = all ? PAGES : n > 8 ? 8 : n;
        uintptr_t low = base + (uintptr_t)at * PAGE;
        bool inside = in && of[at];
        for (int i = at; i < at + n; i++)
            inside &= of[i] == of[at];
        switch (rand() % 3) {
        case 0:
            mapped_add(low, (size_t)n * PAGE - (size_t)(rand() % PAGE), in);
            last++;
            for (int i = at; i < at + n && !inside; i++) {
                ended[i] = is_named[i];
                of[i] = last;
                is_named[i] = false;
            }
            break;
        case 1:
            mapped_remove(low, (size_t)n * PAGE);
            for (int i = at; i < at + n; i++) {
                ended[i] = is_named[i];
                of[i] = 0;
                is_named[i] = false;
            }
            break;
        default: {
            uintptr_t from = base, to = base + (uintptr_t)PAGES * PAGE;
            bool name = rand() % 2, found = mapped_find(low + 5, name, &from, &to);
            int first = at, behind = at;
            while (first > 0 && of[first - 1] == of[at])
                first--;
            while (behind < PAGES && of[behind] == of[at])
                behind++;
            for (int i = first; i < behind; i++)
                is_named[i] |= found && name;
            CHECK(found == (of[at] != 0));
            CHECK(from == base + (uintptr_t)first * PAGE && to == base + (uintptr_t)behind * PAGE);
            break;
        }
        }
        while (mapped_ended(&end)) {
            CHECK(end.thread == number && end.low < end.high);
            for (uintptr_t a = end.low; a < end.high; a += PAGE)
                CHECK(ended[(a - base) / PAGE]-- == 1);
            ends++;
        }
        for (int i = 0; i < PAGES; i++)
            CHECK(ended[i] == 0);
        CHECK(ends <= PAGES);
    }
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    signal(SIGALRM, SIG_DFL);
    alarm(120);
    mapped_remove(base, (size_t)PAGES * PAGE);
    while (mapped_ended(&end))
        ;
}

/* Numbers of mappings: the smallest that is free, at once in the thread that named it. */
static void test_mapped_names(void)
{
    enum { BYTES = 1 << 16 };
    char *area = mmap(NULL, 8 * BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int64_t first = 0;
    for (int i = 0; i < 8; i++) {
        char *p = area + (size_t)i * BYTES;
        mapped_add((uintptr_t)p, BYTES, false);
        Where w = memory_where(p + 100), again = memory_where(p + BYTES - 1);
        first = i == 0 ? w.segment : first;
        CHECK(segment_kind(w.segment) == WEND_SEGMENT_MAP && w.offset == 0);
        CHECK(word_segment_id(w.segment) == word_segment_id(first) + i);
        CHECK(again.segment == w.segment && again.offset == BYTES - 101);
    }
    /* a part stays what it is, and all of it gives the number back */
    mapped_remove((uintptr_t)area + 3 * BYTES, BYTES / 2);
    CHECK(memory_where(area + 4 * BYTES - 1).offset == BYTES - 101);
    mapped_remove((uintptr_t)area + 3 * BYTES + BYTES / 2, BYTES / 2);
    mapped_add((uintptr_t)area + 3 * BYTES, BYTES, false);
    Where new = memory_where(area + 3 * BYTES);
    CHECK(word_segment_id(new.segment) == word_segment_id(first) + 3 && new.offset == 0);
    /* other threads' numbers come back later */
    int64_t own = number;
    number = own + 7;
    mapped_remove((uintptr_t)area, BYTES);
    number = own;
    mapped_add((uintptr_t)area, BYTES, false);
    CHECK(word_segment_id(memory_where(area).segment) == word_segment_id(first) + 8);
    mapped_remove((uintptr_t)area, 8 * BYTES);
    munmap(area, 8 * BYTES);
}

/* Threads allocate, use, check and free; what one has freed, another frees the memory of. */
enum { THREADS = 4, BLOCKS = 300, ROUNDS = 200 };
static pthread_barrier_t barrier;
static _Atomic(char *) handed[THREADS];

static void *work(void *arg)
{
    number = 1 + (int64_t)(intptr_t)arg;
    char local = 0;
    IS(&local, WEND_SEGMENT_STACK, number, 0);
    unsigned seed = (unsigned)number;
    char *block[BLOCKS] = {NULL};
    int64_t segment[BLOCKS];
    pthread_barrier_wait(&barrier);
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < BLOCKS; k++) {
            int i = (int)(rand_r(&seed) % BLOCKS);
            if (block[i] && rand_r(&seed) % 3 == 0) {
                CHECK(segment[i] < 0 || memory_where(block[i]).segment == segment[i]);
                char *other = atomic_exchange(&handed[rand_r(&seed) % THREADS], block[i]);
                free(other);
                block[i] = NULL;
            } else if (!block[i]) {
                size_t n = 1 + rand_r(&seed) % (rand_r(&seed) % 100 ? 3000 : 300000);
                block[i] = malloc(n);
                segment[i] = -1;
                if (rand_r(&seed) % 2) {
                    Where w = memory_where(block[i] + n / 2);
                    CHECK(w.segment >= 0 && segment_kind(w.segment) == HEAP
                          && w.offset == (int64_t)(n / 2));
                    segment[i] = w.segment;
                }
            } else if (segment[i] >= 0) {
                CHECK(memory_where(block[i]).segment == segment[i]);
            }
        }
    for (int i = 0; i < BLOCKS; i++)
        free(block[i]);
    return NULL;
}

/* What a thread names does not depend on what others have named; one free ends all names of a
 * block. */
static char *shared, on_all[64];

static void *name(void *arg)
{
    number = (int64_t)(intptr_t)arg;
    char *own = calloc(1, 100);
    IS(own, HEAP, (number << 32), 0);
    IS(shared + 8, HEAP, (number << 32) + 1, 8);
    IS(&on_all[number], WEND_SEGMENT_STATIC, (number << 32), 0);
    IS(on_all, WEND_SEGMENT_STATIC, (number << 32), -number);
    free(own);
    return NULL;
}

static void *name_stack(void *arg)
{
    number = 5;
    IS(arg, WEND_SEGMENT_MAP, number << 32, 0); /* another's */
    IS((char *)arg + 1, WEND_SEGMENT_MAP, number << 32, 1);
    return NULL;
}

static void test_names(void)
{
    pthread_t t;
    char local[2] = "";
    shared = malloc(100);
    IS(shared, HEAP, 0, 0);
    for (intptr_t i = 2; i > 0; i--) {
        CHECK(pthread_create(&t, NULL, name, (void *)i) == 0);
        pthread_join(t, NULL);
    }
    CHECK(n_freed == 2 && freed[0] == WEND_SEGMENT_OF(HEAP, 2, 0)
          && freed[1] == WEND_SEGMENT_OF(HEAP, 1, 0));
    n_freed = 0;
    free(shared);
    CHECK(n_freed == 3 && freed[0] == WEND_SEGMENT(HEAP, 0)
          && freed[1] == WEND_SEGMENT_OF(HEAP, 1, 1) && freed[2] == WEND_SEGMENT_OF(HEAP, 2, 1));
    n_freed = 0;
    CHECK(pthread_create(&t, NULL, name_stack, local) == 0);
    pthread_join(t, NULL);
}

static void test_threads(void)
{
    pthread_t t[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < THREADS; i++)
        free(atomic_exchange(&handed[i], NULL));
    n_freed = 0;
    char *p = malloc(10);
    IS(p, HEAP, 0, 0); /* all ids came back */
    free(p);
    ONE_FREED(0);
}

static void test_fork(void)
{
    char *p = malloc(100);
    IS(p, HEAP, 0, 0);
    pid_t child = fork();
    if (child == 0) {
        free(p);
        _exit(n_freed == 1 ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    IS(p, HEAP, 0, 0);
    free(p);
    ONE_FREED(0);
}

int main(void)
{
    alarm(120);
    number = 0;
    test_far();
    test_ids();
    test_edges();
    test_realloc();
    test_cuda();
    test_cuda_reset();
    test_aligned();
    test_large();
    test_made();
    test_unknown();
    test_static_stack();
    test_modules();
    test_mapped();
    test_mapped_names();
    test_names();
    test_threads();
    test_ids();
    test_realloc();
    test_large();
    test_fork();
    return 0;
}
