/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c: a page is a file in memory, so that nothing of it remains however a process ends. Other
 * ranks find it by its name among the open files of the host's processes. */
#include "page.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/process.h"

static long launcher;
static uint32_t own_rank, n_ranks;
static Page *own;
static KeptFile own_file = KEPT_NONE;
static const Page **pages; /* by rank */
static uint64_t look_again;

Page *page_open(uint32_t rank, uint32_t size)
{
    char name[64];
    launcher = node_launcher();
    own_rank = rank;
    n_ranks = size;
    snprintf(name, sizeof name, "wend-replay-%ld-%u", launcher, rank);
    pages = calloc(size, sizeof *pages);
    void *p = MAP_FAILED;
    if (pages && kept_take(&own_file, memfd_create(name, MFD_CLOEXEC))
        && fallocate(own_file.number, 0, 0, sizeof *own) == 0)
        p = mmap(NULL, sizeof *own, PROT_READ | PROT_WRITE, MAP_SHARED, own_file.number, 0);
    if (p == MAP_FAILED) {
        page_close();
        return NULL;
    }
    own = p;
    own->process = getpid();
    pages[rank] = own;
    return own;
}

void page_close(void)
{
    if (own)
        munmap(own, sizeof *own);
    own = NULL;
    kept_close(&own_file);
    for (uint32_t i = 0; pages && i < n_ranks; i++)
        if (pages[i] && i != own_rank)
            munmap((void *)(uintptr_t)pages[i], sizeof **pages);
    free(pages);
    pages = NULL;
}

/* Takes the page of one process, if it has one of this job. */
static void look_at_process(const char *pid)
{
    char path[320], name[128], prefix[48];
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *files = opendir(path);
    if (!files)
        return; /* the process belongs to another user, or has ended */
    int length = snprintf(prefix, sizeof prefix, "/memfd:wend-replay-%ld-", launcher);
    for (struct dirent *d; (d = readdir(files)) != NULL;) {
        ssize_t n = readlinkat(dirfd(files), d->d_name, name, sizeof name - 1);
        if (n <= length || strncmp(name, prefix, (size_t)length) != 0)
            continue;
        name[n] = '\0';
        unsigned long rank = strtoul(name + length, NULL, 10);
        struct stat info;
        int fd = rank < n_ranks && !pages[rank] ? openat(dirfd(files), d->d_name, O_RDONLY) : -1;
        if (fd < 0)
            continue;
        void *p = fstat(fd, &info) == 0 && info.st_size >= (off_t)sizeof **pages
                      ? mmap(NULL, sizeof **pages, PROT_READ, MAP_SHARED, fd, 0)
                      : MAP_FAILED;
        close(fd);
        pages[rank] = p == MAP_FAILED ? NULL : p;
    }
    closedir(files);
}

const Page *page_of(uint32_t rank)
{
    if (!pages || rank >= n_ranks || pages[rank] || launcher < 0)
        return pages && rank < n_ranks ? pages[rank] : NULL;
    uint64_t now = clock_nanoseconds();
    DIR *proc = now >= look_again ? opendir("/proc") : NULL;
    if (!proc)
        return NULL;
    for (struct dirent *d; (d = readdir(proc)) != NULL;)
        if (isdigit((unsigned char)d->d_name[0]))
            look_at_process(d->d_name);
    closedir(proc);
    look_again = clock_nanoseconds() + UINT64_C(100000000);
    return pages[rank];
}
