/* SPDX-License-Identifier: BSD-3-Clause */
/* page.c: a page is a file in memory, which other ranks find by its name (memory-files.h). */
#include "page.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Allocates the page. A limit on the size of files applies. */
static bool allocate(int file)
{
    Shield shield;
    shield_raise(&shield);
    bool good = fallocate(file, 0, 0, sizeof *own) == 0;
    shield_lower(&shield);
    return good;
}

Page *page_open(uint32_t rank, uint32_t size)
{
    char name[64];
    launcher = node_launcher();
    own_rank = rank;
    n_ranks = size;
    snprintf(name, sizeof name, "wend-replay-%ld-%u", launcher, rank);
    pages = calloc(size, sizeof *pages);
    void *p = MAP_FAILED;
    if (pages && kept_take(&own_file, memfd_create(name, MFD_CLOEXEC)) && allocate(own_file.number))
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

/* Takes a page of this job (memory_files_find). */
static void take_page(unsigned long rank, int folder, const char *entry)
{
    struct stat info;
    int fd = rank < n_ranks && !pages[rank] ? openat(folder, entry, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *p = fstat(fd, &info) == 0 && info.st_size >= (off_t)sizeof **pages
                  ? mmap(NULL, sizeof **pages, PROT_READ, MAP_SHARED, fd, 0)
                  : MAP_FAILED;
    close(fd);
    pages[rank] = p == MAP_FAILED ? NULL : p;
}

const Page *page_of(uint32_t rank)
{
    if (!pages || rank >= n_ranks || pages[rank] || launcher < 0)
        return pages && rank < n_ranks ? pages[rank] : NULL;
    if (clock_nanoseconds() < look_again)
        return NULL;
    char prefix[48];
    snprintf(prefix, sizeof prefix, "wend-replay-%ld-", launcher);
    memory_files_find(prefix, take_page);
    look_again = clock_nanoseconds() + UINT64_C(100000000);
    return pages[rank];
}
