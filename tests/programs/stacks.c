/* SPDX-License-Identifier: BSD-3-Clause */
/* stacks.c: calls of MPI below stacks of several kinds. tests/sites/stacks.bats compiles it in
 * several ways, and looks at the functions in each stack.
 *
 *     stacks               frames of any size and kind, recursion, callbacks, threads
 *     stacks unloaded LIB  a frame is in a library that has been closed (a build of
 *                          stacks-library.c)
 *     stacks made          a frame is in code that is made while the program runs
 *     stacks wrong         frames whose rules lead to anywhere (x86-64)
 */
#include <alloca.h>
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define APART __attribute__((noinline, noclone))
/* No compiler makes a jump of a call that something follows. */
#define HERE __asm__ volatile("" ::: "memory")

static int data;

APART static void leaf(void)
{
    MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
    HERE;
}

/* -- frames -- */

APART static void with_alloca(int n)
{
    volatile char *p = alloca((size_t)n * 16 + 1);
    p[0] = 1;
    leaf();
    HERE;
}

APART static void aligned(int n)
{
    volatile double v[8] __attribute__((aligned(64)));
    v[0] = n;
    leaf();
    with_alloca(n);
    __asm__ volatile("" ::"r"(v));
}

APART static void large(int n)
{
    volatile char v[3 << 20];
    v[0] = (char)n;
    leaf();
    __asm__ volatile("" ::"r"(v));
}

APART static void recurse(int n)
{
    if (n == 0)
        leaf();
    else
        recurse(n - 1);
    HERE;
}

static int compare(const void *a, const void *b)
{
    leaf();
    return *(const int *)a - *(const int *)b;
}

__attribute__((always_inline)) static inline void inlined(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    HERE;
}

APART static void around(void)
{
    inlined();
    leaf();
    HERE;
}

/* Two stacks whose inner frames are equal, at the same places. */
APART static void middle(void)
{
    leaf();
    HERE;
}

APART static void first(void)
{
    middle();
    HERE;
}

APART static void second(void)
{
    middle();
    HERE;
}

static void frames(void)
{
    int numbers[] = {2, 1};
    for (int i = 0; i < 4; i++) {
        leaf();
        with_alloca(i);
        aligned(i);
        large(i);
        recurse(i);
        recurse(80 + i);
        around();
        first();
        second();
    }
    qsort(numbers, 2, sizeof *numbers, compare);
}

/* -- callbacks and threads -- */

APART static int free_inner(void)
{
    int n;
    MPI_Comm_size(MPI_COMM_SELF, &n);
    HERE;
    return MPI_SUCCESS;
}

static int freed(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    int result = free_inner();
    HERE;
    return result;
}

APART static void callbacks(void)
{
    int key;
    MPI_Comm comm;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, freed, &key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_attr(comm, key, &key);
    MPI_Comm_free(&comm);
    MPI_Comm_free_keyval(&key);
}

APART static void in_thread(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    HERE;
}

static void *thread(void *unused)
{
    for (int i = 0; i < 5; i++)
        in_thread();
    HERE;
    return unused;
}

static void threads(void)
{
    pthread_t all[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&all[i], NULL, thread, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(all[i], NULL);
}

/* -- frames that lead nowhere -- */

static jmp_buf back;
static void *library;

static void close_and_call(void)
{
    dlclose(library);
    for (int i = 0; i < 3; i++)
        leaf();
    longjmp(back, 1);
}

static void unloaded(const char *path)
{
    library = dlopen(path, RTLD_NOW);
    void (*call)(void (*)(void)) =
        library ? (void (*)(void (*)(void)))dlsym(library, "stacks_call") : NULL;
    if (!call) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    if (setjmp(back) == 0)
        call(close_and_call);
    leaf();
    HERE;
}

#ifdef __x86_64__
static void made(void)
{
    static const uint8_t code[] = {0x48, 0x83, 0xec, 0x08, /* sub $8, %rsp */
                                   0xff, 0xd7,             /* call *%rdi */
                                   0x48, 0x83, 0xc4, 0x08, /* add $8, %rsp */
                                   0xc3};                  /* ret */
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        exit(77);
    memcpy(page, code, sizeof code);
    void (*call)(void (*)(void));
    memcpy(&call, &page, sizeof call);
    for (int i = 0; i < 3; i++)
        call(leaf);
    leaf();
    HERE;
}

/* Calls F while the frame pointer is POINTER, by which the rule finds the caller. */
void stacks_call_wrong(void (*f)(void), uintptr_t pointer);
__asm__(".text\n"
        ".globl stacks_call_wrong\n"
        ".type stacks_call_wrong, @function\n"
        "stacks_call_wrong:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 6, -16\n"
        "mov %rsi, %rbp\n"
        ".cfi_def_cfa_register 6\n"
        "call *%rdi\n"
        "pop %rbp\n"
        ".cfi_def_cfa 7, 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stacks_call_wrong, .-stacks_call_wrong\n");

/* A function that needs the frame pointer for nothing. */
__attribute__((optimize("omit-frame-pointer"))) APART static void leaf_of_wrong(void)
{
    MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
    HERE;
}

enum { HALF = 1 << 20 };

/* The upper half of the mapping, whose lower half is this thread's stack, goes away between two
 * calls whose stacks seem to be the same. */
static void *gone(void *mapping)
{
    uint8_t *upper = (uint8_t *)mapping + HALF;
    for (int i = 0; i < 4; i++) {
        stacks_call_wrong(leaf_of_wrong, (uintptr_t)upper + 64);
        if (i == 1)
            munmap(upper, HALF);
    }
    return NULL;
}

static void wrong(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    const uintptr_t anywhere[] = {0,
                                  8,
                                  1,
                                  here + 4,
                                  here - (1 << 16),
                                  here + (1 << 14),
                                  here + (UINT64_C(1) << 29),
                                  UINT64_C(1) << 47,
                                  UINTPTR_MAX - 7,
                                  UINTPTR_MAX - 24,
                                  UINT64_C(1) << 63};
    for (int twice = 0; twice < 2; twice++)
        for (size_t i = 0; i < sizeof anywhere / sizeof *anywhere; i++)
            stacks_call_wrong(leaf_of_wrong, anywhere[i]);
    for (uintptr_t page = here & ~(uintptr_t)4095; page < here + (1 << 18); page += 4096)
        for (int offset = -16; offset <= 16; offset += 8)
            stacks_call_wrong(leaf_of_wrong, page + (uintptr_t)offset);
    pthread_t one;
    pthread_attr_t attributes;
    void *mapping = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (mapping == MAP_FAILED)
        exit(77);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, mapping, HALF);
    pthread_create(&one, &attributes, gone, mapping);
    pthread_join(one, NULL);
    leaf();
    HERE;
}
#else
static void made(void)
{
}
static void wrong(void)
{
}
#endif

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (argc > 2 && strcmp(argv[1], "unloaded") == 0) {
        unloaded(argv[2]);
    } else if (argc > 1 && strcmp(argv[1], "made") == 0) {
        made();
    } else if (argc > 1 && strcmp(argv[1], "wrong") == 0) {
        wrong();
    } else {
        frames();
        callbacks();
        if (level == MPI_THREAD_MULTIPLE)
            threads();
    }
    MPI_Finalize();
    return 0;
}
