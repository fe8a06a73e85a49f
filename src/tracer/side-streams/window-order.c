/* SPDX-License-Identifier: BSD-3-Clause */
/* window-order.c: see onesided-private.h. */
#include "onesided-private.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "lib/base/budget.h"
#include "memory/address.h"
#include "objects/objects.h"
#include "own.gen.h"
#include "process/futex.h"

#define SECOND INT64_C(1000000000)
/* An operation takes microseconds. One that takes this long will never end. */
#define LOCK_LIMIT (10 * SECOND)

struct WindowFile {
    char prefix[80]; /* of the names, before the rank */
    KeptFile file;   /* this rank's; KEPT_NONE: it is not the lowest */
    WindowOrder *order;
    size_t bytes;
};

/* -- names -- */

/* How many windows each group of processes has made. Members make them in one order. */
typedef struct Count {
    uint64_t group, n;
    struct Count *next;
} Count;
static Count *counts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf, but for the search of files */

static uint64_t next_of_group(uint64_t group)
{
    pthread_mutex_lock(&lock);
    Count *c = counts;
    while (c && c->group != group)
        c = c->next;
    if (!c && (c = budget_zeroed(sizeof *c))) {
        *c = (Count){group, 0, counts};
        counts = c;
    }
    uint64_t n = c ? c->n++ : 0;
    pthread_mutex_unlock(&lock);
    return n;
}

/* A number for the members of COMM by their world ranks. 0: they are not known. */
static uint64_t group_number(MPI_Comm comm, int size)
{
    MPI_Group group;
    uint64_t number = (uint64_t)size;
    int rank = 0, world = MPI_UNDEFINED;
    if (!state()->world_group_known || PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
        return 0;
    for (; rank < size; rank++) {
        if (PMPI_Group_translate_ranks(group, 1, &rank, state()->world_group, &world) != MPI_SUCCESS
            || world == MPI_UNDEFINED)
            break;
        number = XXH3_64bits_withSeed(&world, sizeof world, number);
    }
    PMPI_Group_free(&group);
    return rank < size ? 0 : number | 1;
}

/* -- files -- */

static size_t bytes_of(int size)
{
    return sizeof(WindowOrder) + (size_t)size * sizeof(TargetOrder);
}

static WindowOrder *map(int file, size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return p == MAP_FAILED ? NULL : p;
}

/* Allocates the pages of a file, whose lack would be a SIGBUS later. */
static bool make_room(int file, size_t bytes)
{
    WriteSignals blocked;
    write_signals_block(&blocked);
    bool good = fallocate(file, 0, 0, (off_t)bytes) == 0;
    write_signals_restore(&blocked);
    return good;
}

WindowFile *window_file_new(MPI_Comm comm)
{
    int saved = errno;
    const CommMetadata *facts = comm_metadata(comm);
    long job = attachments_job();
    uint64_t group = facts && job > 0 && facts->size > 0 ? group_number(comm, facts->size) : 0;
    WindowFile *f = group ? budget_zeroed(sizeof *f) : NULL;
    if (f) {
        char name[96];
        f->bytes = bytes_of(facts->size);
        snprintf(f->prefix, sizeof f->prefix, "wend-window-%ld-%016llx-%llu-", job,
                 (unsigned long long)group, (unsigned long long)next_of_group(group));
        snprintf(name, sizeof name, "%s%d", f->prefix, state()->world_rank);
        f->file = (KeptFile)KEPT_NONE;
        if (kept_file_take(&f->file, memfd_create(name, MFD_CLOEXEC))
            && make_room(f->file.number, f->bytes))
            f->order = map(f->file.number, f->bytes);
    }
    errno = saved;
    return f;
}

/* The search for the file of the lowest rank. */
static struct {
    unsigned long rank;
    size_t bytes;
    WindowOrder *order;
} lowest;

static void take_lower(unsigned long rank, int folder, const char *entry)
{
    struct stat info;
    if (rank >= lowest.rank)
        return;
    int file = openat(folder, entry, O_RDWR | O_CLOEXEC);
    WindowOrder *order = file >= 0 && fstat(file, &info) == 0 && info.st_size >= (off_t)lowest.bytes
                             ? map(file, lowest.bytes)
                             : NULL;
    if (file >= 0)
        close(file);
    if (!order)
        return;
    if (lowest.order)
        munmap(lowest.order, lowest.bytes);
    lowest.rank = rank;
    lowest.order = order;
}

WindowOrder *window_file_join(WindowFile *f)
{
    if (!f)
        return NULL;
    int saved = errno;
    pthread_mutex_lock(&lock);
    lowest.rank = f->order ? (unsigned long)state()->world_rank : ULONG_MAX;
    lowest.bytes = f->bytes;
    lowest.order = NULL;
    memory_files_find(f->prefix, take_lower);
    WindowOrder *found = lowest.order;
    pthread_mutex_unlock(&lock);
    if (found) {
        if (f->order)
            munmap(f->order, f->bytes);
        f->order = found;
        kept_file_close(&f->file);
    }
    errno = saved;
    return f->order;
}

void window_file_free(WindowFile *f)
{
    if (!f)
        return;
    int saved = errno;
    if (f->order)
        munmap(f->order, f->bytes);
    kept_file_close(&f->file);
    budget_free(f, sizeof *f);
    errno = saved;
}

/* -- waiting -- */

/* How often a thread has looked since the last change. */
typedef struct {
    uint32_t seen;
    unsigned looks;
} Pause;

/* Lets MPI make progress, as others may need this process for what is waited for. If nothing
 * changes meanwhile, the thread sleeps, longer and longer, until WORD is not VALUE any more. */
static void wait_a_little(WindowOrder *o, Pause *p, _Atomic uint32_t *word, uint32_t value)
{
    enum { YIELDS = 200, FIRST = 10000, DOUBLED = 7 };
    uint32_t now = atomic_load(&o->changes);
    if (now != p->seen)
        *p = (Pause){now, 0};
    progress_make();
    if (p->looks++ < YIELDS) {
        sched_yield();
        return;
    }
    unsigned times = (p->looks - YIELDS) / 8;
    futex_wait_shared(word, value, (int64_t)FIRST << (times < DOUBLED ? times : DOUBLED));
}

void window_order_wake(WindowOrder *o)
{
    atomic_fetch_add(&o->changes, 1);
    if (atomic_load(&o->waiting) > 0)
        futex_wake_shared(&o->changes);
}

void window_order_give_up(WindowOrder *o)
{
    if (!atomic_exchange(&o->given_up, 1))
        window_order_wake(o);
}

bool window_order_wait(WindowOrder *o, bool (*has_come)(const WindowOrder *o, const void *place),
                       const void *place)
{
    int saved = errno;
    if (!atomic_load(&o->given_up) && !has_come(o, place)) {
        Pause pause = {0, 0};
        atomic_fetch_add(&o->waiting, 1);
        for (;;) {
            uint32_t seen = atomic_load(&o->changes);
            if (atomic_load(&o->given_up) || has_come(o, place))
                break;
            wait_a_little(o, &pause, &o->changes, seen);
        }
        atomic_fetch_sub(&o->waiting, 1);
    }
    errno = saved;
    return !atomic_load(&o->given_up);
}

/* -- the lock of a target -- */

static bool lock_slowly(WindowOrder *o, TargetOrder *t)
{
    int64_t end = (int64_t)clock_nanoseconds() + LOCK_LIMIT;
    Pause pause = {0, 0};
    while (atomic_exchange_explicit(&t->lock, 2, memory_order_acquire) != 0) {
        if (atomic_load(&o->given_up))
            return false;
        if ((int64_t)clock_nanoseconds() > end) {
            window_order_give_up(o);
            state_say("an operation on a window has not ended for %d s: the order of those of "
                      "this window is not recorded from here on",
                      (int)(LOCK_LIMIT / SECOND));
            return false;
        }
        wait_a_little(o, &pause, &t->lock, 2);
    }
    return true;
}

bool window_order_lock(WindowOrder *o, TargetOrder *t)
{
    uint32_t unheld = 0;
    if (atomic_load(&o->given_up))
        return false;
    if (atomic_compare_exchange_strong_explicit(&t->lock, &unheld, 1, memory_order_acquire,
                                                memory_order_relaxed))
        return true;
    int saved = errno;
    bool locked = lock_slowly(o, t);
    errno = saved;
    return locked;
}

void window_order_unlock(TargetOrder *t)
{
    if (atomic_exchange_explicit(&t->lock, 0, memory_order_release) == 2)
        futex_wake_shared(&t->lock);
}
