/* SPDX-License-Identifier: BSD-3-Clause */
/* elsewhere.c: a preload for tests: what several ranks write to (lib/base/shared-file.h) is not
 * there for some of them, as on nodes without a common file system. ELSEWHERE says how:
 *
 *   absent   other processes than the file's owner do not find it
 *   another  they find one of the same name that is another
 *   lost     absent, and the owner finds the disk full when it writes for them
 *   full     the owner finds the disk full
 *
 * Each time that it does so it adds a line to the file ELSEWHERE_LOG. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int is(const char *how)
{
    const char *given = getenv("ELSEWHERE");
    return given && strcmp(given, how) == 0;
}

static void note(void)
{
    const char *name = getenv("ELSEWHERE_LOG");
    int fd = name ? open(name, O_WRONLY | O_CREAT | O_APPEND, 0666) : -1;
    if (fd >= 0 && write(fd, "x\n", 2) != 2)
        abort();
    close(fd);
}

/* Processes that do not own the file open it to read the mark and to write. */
static int is_contribution(const char *name, int flags)
{
    return strncmp(name, ".wend-", 6) == 0 && (flags & O_ACCMODE) == O_RDWR;
}

int openat(int dir, const char *name, int flags, ...)
{
    int (*real)(int, const char *, int, ...) =
        (int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, "openat");
    va_list list;
    va_start(list, flags);
    int mode = flags & O_CREAT ? va_arg(list, int) : 0;
    va_end(list);
    if (!is_contribution(name, flags) || !(is("absent") || is("another") || is("lost")))
        return real(dir, name, flags, mode);
    note();
    if (!is("another")) {
        errno = ENOENT;
        return -1;
    }
    int fd = memfd_create("another", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, 1 << 20) != 0)
        abort();
    return fd;
}

/* The first shard's place is the beginning of the file, where the owner otherwise only writes the
 * mark. */
static int finds_no_room(size_t n, off_t offset)
{
    if (is("full") || (is("lost") && offset == 0 && n > sizeof(uint64_t))) {
        note();
        errno = ENOSPC;
        return 1;
    }
    return 0;
}

ssize_t pwrite(int fd, const void *data, size_t n, off_t offset)
{
    ssize_t (*real)(int, const void *, size_t, off_t) =
        (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    return finds_no_room(n, offset) ? -1 : real(fd, data, n, offset);
}
