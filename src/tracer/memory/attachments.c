/* SPDX-License-Identifier: BSD-3-Clause */
/* attachments.c: see address.h.
 *
 * A list is in a file in memory, whose name has the launcher's number and the rank. Other processes
 * find it by its name (system.h). */
#include "address.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "process/process.h"
#include "lib/base/lower-bound.h"
#include "process/launcher.h"

/* Sorted by LOW. Windows may overlap in memory; REACH is the highest HIGH up to this entry. */
typedef struct {
    uint64_t low, high, reach, window;
    int64_t segment, offset;
} Attachment;
typedef struct {
    _Atomic uint64_t version; /* odd while the list is changed */
    _Atomic uint64_t n;
    _Atomic uint64_t closed; /* the list is no longer maintained */
    Attachment at[];
} AttachmentList;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static _Atomic bool any;                                 /* there has been a dynamic window */

static AttachmentList *own;
/* a second mapping of its first page, which never moves */
static AttachmentList *_Atomic own_head;
/* distinguishes this world's processes from others; 0: unknown so far, -1: unknown */
static long job;
static KeptFile own_file = KEPT_NONE;
static size_t own_bytes;

/* By world rank. */
static struct {
    const AttachmentList *list;
    size_t bytes;
    KeptFile file;
} * peers;
static int n_peers;         /* number of lists found */
static int looks;           /* searches of /proc since the last window was made */
static uint64_t look_again; /* nanoseconds: no search before this time */

/* -- the list of this process -- */

static size_t list_room(size_t bytes)
{
    return bytes > sizeof(AttachmentList) ? (bytes - sizeof(AttachmentList)) / sizeof(Attachment)
                                          : 0;
}

/* Spawned processes have the same launcher, and ranks of their own. PMIx, or else Wend, has a name
 * for their job. */
long attachments_job(void)
{
    const char *name = !state()->spawned          ? ""
                       : getenv("PMIX_NAMESPACE") ? getenv("PMIX_NAMESPACE")
                                                  : launcher_world();
    long launcher = node_launcher();
    if (launcher < 0 || !name || !*name)
        return name ? launcher : -1;
    return (long)(XXH3_64bits_withSeed(name, strlen(name), (uint64_t)launcher) >> 2 | 1);
}

/* Resizes the file, and allocates its memory: a page that cannot be allocated later would cause a
 * SIGBUS. A limit on the size of files applies. */
static bool resize(int file, size_t bytes)
{
    WriteSignals blocked;
    write_signals_block(&blocked);
    bool good = fallocate(file, 0, 0, (off_t)bytes) == 0;
    write_signals_restore(&blocked);
    return good;
}

/* Stops maintaining the list: to other processes its addresses are then unknown. */
static void attachments_close(void)
{
    AttachmentList *head = atomic_load(&own_head);
    if (head)
        atomic_store(&head->closed, 1);
}

static bool own_make(void)
{
    char name[64];
    size_t bytes = 4096;
    const State *s = state();
    if (job == 0)
        job = attachments_job();
    if (job < 0 || s->world_rank < 0)
        return false;
    snprintf(name, sizeof name, "wend-%ld-%d", job, s->world_rank);
    if (!kept_file_take(&own_file, memfd_create(name, MFD_CLOEXEC)))
        return false;
    int file = own_file.number;
    void *p = MAP_FAILED;
    if (resize(file, bytes))
        p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (p == MAP_FAILED) {
        kept_file_close(&own_file);
        return false;
    }
    own = p;
    own_bytes = bytes;
    p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    atomic_store(&own_head, p == MAP_FAILED ? NULL : p);
    atomic_store(&state()->at_break, attachments_close);
    if (atomic_load(&state()->broken))
        attachments_close();
    return true;
}

static bool own_grow(void)
{
    if (own->n < list_room(own_bytes))
        return true;
    int file = kept_file_number(&own_file);
    if (file < 0 || !resize(file, 2 * own_bytes))
        return false;
    void *p = mremap(own, own_bytes, 2 * own_bytes, MREMAP_MAYMOVE);
    if (p == MAP_FAILED)
        return false;
    own = p;
    own_bytes *= 2;
    return true;
}

/* Between change_begin and change_end readers repeat their lookup. */
static void change_begin(void)
{
    atomic_fetch_add(&own->version, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

static void change_end(size_t from, size_t n)
{
    for (size_t i = from; i < n; i++)
        own->at[i].reach = i > 0 && own->at[i - 1].reach > own->at[i].high ? own->at[i - 1].reach
                                                                           : own->at[i].high;
    own->n = n;
    atomic_fetch_add(&own->version, 1);
}

void attachments_open(void)
{
    int saved = errno;
    pthread_mutex_lock(&lock);
    if (!own)
        own_make();
    atomic_store(&any, true);
    looks = 0; /* processes that were not found before may have come with this window */
    pthread_mutex_unlock(&lock);
    errno = saved;
}

/* Whether memory at BASE is attached to the window. */
static bool is_there(uintptr_t window, const void *base)
{
    for (size_t i = 0; i < own->n; i++)
        if (own->at[i].window == window && own->at[i].low == (uintptr_t)base)
            return true;
    return false;
}

bool attachments_add(uintptr_t window, const void *base, int64_t bytes)
{
    int saved = errno;
    Where w = memory_where(base);
    pthread_mutex_lock(&lock);
    bool adds =
        own && bytes > 0 && word_is_segment(w.segment) && !is_there(window, base) && own_grow();
    if (adds) {
        size_t n = own->n, i = n;
        uint64_t low = (uintptr_t)base;
        while (i > 0 && own->at[i - 1].low > low)
            i--;
        change_begin();
        memmove(&own->at[i + 1], &own->at[i], (n - i) * sizeof *own->at);
        own->at[i] = (Attachment){.low = low,
                                  .high = low + (uint64_t)bytes,
                                  .window = window,
                                  .segment = w.segment,
                                  .offset = w.offset};
        change_end(i, n + 1);
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
    return adds;
}

/* Removes attachments of the window; all of them if BASE is NULL. */
static void remove_some(uintptr_t window, const void *base)
{
    pthread_mutex_lock(&lock);
    size_t n = own ? own->n : 0, kept = 0;
    if (n > 0) {
        change_begin();
        for (size_t i = 0; i < n; i++) {
            const Attachment *a = &own->at[i];
            if (a->window != window || (base && a->low != (uintptr_t)base))
                own->at[kept++] = *a;
        }
        change_end(0, kept);
    }
    pthread_mutex_unlock(&lock);
}

void attachments_remove(uintptr_t window, const void *base)
{
    remove_some(window, base);
}
void attachments_remove_window(uintptr_t window)
{
    remove_some(window, NULL);
}

/* -- the lists of other processes -- */

/* Takes a list of this job (memory_files_find). */
static void take_list(unsigned long rank, int folder, const char *entry)
{
    if (rank < (unsigned long)state()->world_size && peers[rank].file.number < 0)
        n_peers += kept_file_take(&peers[rank].file, openat(folder, entry, O_RDONLY | O_CLOEXEC));
}

/* Searches the host's processes. The caller holds the lock. If some ranks are not found, it
 * searches a few times for each window, and after that for at most a tenth of the time. */
static void look_for_peers(void)
{
    uint64_t start = clock_nanoseconds();
    /* its own list is among them */
    if ((looks++ >= 4 && start < look_again) || job <= 0 || n_peers >= state()->world_size)
        return;
    if (!peers) {
        peers = calloc((size_t)state()->world_size, sizeof *peers);
        if (!peers)
            return;
        for (int i = 0; i < state()->world_size; i++)
            peers[i].file.number = -1;
    }
    char prefix[48];
    snprintf(prefix, sizeof prefix, "wend-%ld-", job);
    memory_files_find(prefix, take_list);
    uint64_t end = clock_nanoseconds();
    look_again = end + 10 * (end - start);
}

/* The list of that rank, with *ROOM mapped entries; NULL if it is not available. The caller holds
 * the lock. */
static const AttachmentList *list_of(int rank, size_t *room)
{
    if (rank == state()->world_rank) {
        *room = list_room(own_bytes);
        return own;
    }
    if (rank < 0 || rank >= state()->world_size)
        return NULL;
    if (!peers || peers[rank].file.number < 0)
        look_for_peers();
    if (!peers || peers[rank].file.number < 0)
        return NULL;
    /* the list is new, or has grown */
    if (!peers[rank].list || peers[rank].list->n > list_room(peers[rank].bytes)) {
        int file = kept_file_number(&peers[rank].file);
        struct stat info;
        off_t bytes = file >= 0 && fstat(file, &info) == 0 ? info.st_size : 0;
        if (peers[rank].list)
            munmap((void *)(uintptr_t)peers[rank].list, peers[rank].bytes);
        void *p = MAP_FAILED;
        if (bytes > 0)
            p = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, file, 0);
        peers[rank].list = p == MAP_FAILED ? NULL : p;
        peers[rank].bytes = (size_t)bytes;
    }
    *room = list_room(peers[rank].bytes);
    return peers[rank].list;
}

static bool search(const AttachmentList *l, size_t room, uint64_t address, Where *where)
{
    size_t n = l->n, low = LOWER_BOUND(i, n < room ? n : room, l->at[i].low <= address);
    while (low-- > 0 && l->at[low].reach > address)
        if (l->at[low].high > address) {
            *where = (Where){l->at[low].segment,
                             l->at[low].offset + (int64_t)(address - l->at[low].low)};
            return true;
        }
    return false;
}

/* Looks ADDRESS up in the list of RANK. *HAVE: there is a list. The caller holds the lock. */
static bool find(int rank, uint64_t address, Where *where, bool *have)
{
    *have = false;
    for (int tries = 0; tries < 10000; tries++) {
        size_t room;
        const AttachmentList *l = list_of(rank, &room);
        *have = l != NULL && !atomic_load(&l->closed);
        if (!*have)
            return false;
        uint64_t version = atomic_load(&l->version);
        bool found = search(l, room, address, where);
        atomic_thread_fence(memory_order_seq_cst);
        if (version % 2 == 0 && atomic_load(&l->version) == version && l->n <= room)
            return found;
        sched_yield(); /* its process is changing it */
    }
    return false;
}

Where attachments_at(int world_rank, uintptr_t address)
{
    Where w = {WEND_UNKNOWN, 0}, plain = {WEND_PLAIN, (int64_t)address};
    bool have;
    if (address < MEMORY_LOWEST_ADDRESS)
        return plain;
    int saved = errno;
    pthread_mutex_lock(&lock);
    bool found = find(world_rank, address, &w, &have);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return found ? w : have ? (Where){WEND_UNKNOWN, 0} : plain;
}

/* Resolves an address that is in no segment of this process that MPI has used, by the lists of
 * other processes. */
static bool find_elsewhere(uintptr_t address, Where *where)
{
    if (!atomic_load_explicit(&any, memory_order_relaxed) || address < MEMORY_LOWEST_ADDRESS
        || word_is_segment(memory_known((const void *)address).segment))
        return false;
    int saved = errno;
    bool found = false, have;
    Where w;
    pthread_mutex_lock(&lock);
    look_for_peers();
    for (int i = 0; i < state()->world_size && peers && !found; i++)
        if (i != state()->world_rank && peers[i].file.number >= 0
            && (found = find(i, address, &w, &have)))
            *where = (Where){WEND_SEGMENT(WEND_SEGMENT_REMOTE, w.segment),
                             WEND_REMOTE_OFFSET(i, w.offset)};
    pthread_mutex_unlock(&lock);
    errno = saved;
    return found;
}

Where attachments_where(uintptr_t value, Gap *gap)
{
    Where w;
    if (find_elsewhere(value, &w))
        return w;
    return memory_looks_mapped(value, gap) ? memory_where((const void *)value)
                                           : (Where){WEND_UNKNOWN, 0};
}

bool attachments_looks_mapped(uintptr_t value, Gap *gap)
{
    Where w;
    return memory_looks_mapped(value, gap) || find_elsewhere(value, &w);
}
