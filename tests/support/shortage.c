/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage.c: a preload, in front of libwend.so, for which memory is short at the end of one
 * rank: allocations that Wend makes fail, from when the program calls
 * shortage_begins() before MPI_Finalize. What MPI allocates for itself is its own affair.
 *
 * SHORTAGE=RANK:FIRST:LAST: the FIRSTth to the LASTth fail, the first being 1; LAST 0: all from
 * there on. SHORTAGE_COUNT=FILE: how many that rank has made in all goes there, and in a second
 * line which of them are mappings that libwendmerge.so's heap takes.
 * What counts is what is called from Wend's libraries and Zstandard, all that dlopen allocates for
 * them, and libc's functions that allocate. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define FROM_HERE __builtin_return_address(0)

static _Atomic bool begun;
static _Atomic long made;
static long first, last;
static __thread int in_dlopen;
static const char *count_file;
static long mappings[1000];
static _Atomic size_t n_mappings;

void shortage_begins(void);
void shortage_begins(void)
{
    const char *given = getenv("SHORTAGE"), *rank = getenv("PMI_RANK");
    long wanted;
    if (!rank)
        rank = getenv("OMPI_COMM_WORLD_RANK");
    if (!given || !rank || sscanf(given, "%ld:%ld:%ld", &wanted, &first, &last) != 3
        || wanted != atol(rank))
        return;
    count_file = getenv("SHORTAGE_COUNT");
    atomic_store(&begun, true);
}

__attribute__((destructor)) static void write_count(void)
{
    bool was = atomic_exchange(&begun, false);
    FILE *f = was && count_file ? fopen(count_file, "w") : NULL;
    if (!f)
        return;
    fprintf(f, "%ld\n", atomic_load(&made));
    for (size_t i = 0; i < n_mappings && i < sizeof mappings / sizeof *mappings; i++)
        fprintf(f, "%ld ", mappings[i]);
    fputc('\n', f);
    fclose(f);
}

/* Of the library that CALLER is in; "": of none. */
static const char *name_of(const void *caller)
{
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname)
        return "";
    const char *slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

static bool is_wends(const void *caller)
{
    if (in_dlopen)
        return true;
    const char *name = name_of(caller);
    /* the last two, should they come back */
    static const char *const libraries[] = {"libwend", "libzstd", "libglib", "libarchive"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return true;
    return false;
}

/* Notes the Kth allocation. */
static void note_mapping(long k, const void *caller)
{
    static const char heap[] = "libwendmerge.";
    if (in_dlopen || strncmp(name_of(caller), heap, strlen(heap)) != 0)
        return;
    size_t i = atomic_fetch_add(&n_mappings, 1);
    if (i < sizeof mappings / sizeof *mappings)
        mappings[i] = k;
}

static bool fails_as(const void *caller, bool maps)
{
    if (!atomic_load(&begun) || !is_wends(caller))
        return false;
    long k = atomic_fetch_add(&made, 1) + 1;
    if (maps)
        note_mapping(k, caller);
    if (first == 0 || k < first || (last > 0 && k > last))
        return false;
    errno = ENOMEM;
    return true;
}

static bool fails(const void *caller)
{
    return fails_as(caller, false);
}

/* The next definition of a function. */
#define NEXT(name)                 \
    static __typeof__(&name) next; \
    if (!next)                     \
    next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

void *malloc(size_t n)
{
    NEXT(malloc);
    return fails(FROM_HERE) ? NULL : next(n);
}

void *calloc(size_t n, size_t size)
{
    NEXT(calloc);
    return fails(FROM_HERE) ? NULL : next(n, size);
}

void *realloc(void *p, size_t n)
{
    NEXT(realloc);
    return fails(FROM_HERE) ? NULL : next(p, n);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    NEXT(posix_memalign);
    return fails(FROM_HERE) ? ENOMEM : next(p, alignment, n);
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset)
{
    NEXT(mmap);
    return fails_as(FROM_HERE, true) ? MAP_FAILED : next(at, n, protection, flags, fd, offset);
}

void *mremap(void *p, size_t n, size_t more, int flags, ...)
{
    NEXT(mremap);
    va_list args;
    va_start(args, flags);
    void *to = flags & MREMAP_FIXED ? va_arg(args, void *) : NULL;
    va_end(args);
    return fails_as(FROM_HERE, true) ? MAP_FAILED
           : flags & MREMAP_FIXED    ? next(p, n, more, flags, to)
                                     : next(p, n, more, flags);
}

FILE *fopen(const char *path, const char *mode)
{
    NEXT(fopen);
    return fails(FROM_HERE) ? NULL : next(path, mode);
}

DIR *opendir(const char *path)
{
    NEXT(opendir);
    return fails(FROM_HERE) ? NULL : next(path);
}

char *strdup(const char *s)
{
    NEXT(strdup);
    return fails(FROM_HERE) ? NULL : next(s);
}

int vasprintf(char **text, const char *format, va_list args)
{
    NEXT(vasprintf);
    return fails(FROM_HERE) ? -1 : next(text, format, args);
}

int asprintf(char **text, const char *format, ...)
{
    va_list args;
    if (fails(FROM_HERE))
        return -1;
    va_start(args, format);
    int n = vasprintf(text, format, args);
    va_end(args);
    return n;
}

void *dlopen(const char *path, int mode)
{
    NEXT(dlopen);
    if (!atomic_load(&begun) || !is_wends(FROM_HERE))
        return next(path, mode);
    in_dlopen++;
    void *library = next(path, mode);
    in_dlopen--;
    return library;
}
