/* SPDX-License-Identifier: BSD-3-Clause */
/* segments.c: resolves an address to a segment's word and an offset.
 *
 * Each thread names the segments that it uses by itself, so the words of its calls do not depend on
 * other threads. A block that two threads use has two names. Only memory that MPI made has a single
 * name, of the thread that had it made.
 *
 * A thread caches the last few segments that it looked up, because buffers are used repeatedly.
 * Behind the cache is a single lock. It is a leaf: no function that is called while it is held
 * takes another lock. */
#include "segments.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/budget.h"
#include "heap-blocks.h"
#include "mapped.h"
#include "process/system.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Handlers of fork take the lock. Otherwise another thread could hold it at that time, and the
 * child could not free memory that it inherited. */
static void lock_take(void)
{
    pthread_mutex_lock(&lock);
}
static void lock_give(void)
{
    pthread_mutex_unlock(&lock);
}
static void survive_forks(void)
{
    pthread_atfork(lock_take, lock_give, lock_give);
}

/* -- the cache of a thread -- */

enum { REMEMBERED = 8 };
static __thread __attribute__((tls_model("initial-exec"))) struct {
    uint64_t generation;
    struct {
        uintptr_t low, length, origin;
        int64_t segment;
    } entry[REMEMBERED];
    unsigned next;
    struct Names *names; /* NULL: none so far */
} mine;

/* Caches are valid as long as this number stays. */
static _Atomic uint64_t generation = 1;

static void remember(uintptr_t low, uintptr_t high, uintptr_t origin, int64_t segment)
{
    unsigned i = mine.next++ % REMEMBERED;
    mine.entry[i].low = low;
    mine.entry[i].length = high - low;
    mine.entry[i].origin = origin;
    mine.entry[i].segment = segment;
}

/* Invalidates all caches. */
void memory_changed(void)
{
    atomic_fetch_add(&generation, 1);
}

/* Invalidates the caches after one segment has ended. This thread keeps its other entries. */
static void forget_one(int64_t segment)
{
    uint64_t before = atomic_fetch_add(&generation, 1);
    if (mine.generation != before)
        return;
    mine.generation = before + 1;
    for (size_t i = 0; i < REMEMBERED; i++)
        if (mine.entry[i].segment == segment)
            mine.entry[i].length = 0;
}

/* -- names of a thread; all are protected by the lock, because other threads free -- */

typedef struct Names {
    uint32_t thread;
    /* the smallest free id of a kind */
    struct {
        uint64_t *taken;
        size_t words, first;
    } ids[WEND_SEGMENT_KINDS];
    Ranges modules, mappings;
    uintptr_t stack_origin; /* 0: MPI has not used its stack so far */
    uint64_t blocks;        /* that it has named so far: of the heap, of CUDA, and mappings */
    struct SegmentNames *given_back; /* freed by other threads; their ids are not free yet */
    struct Names *next;
    struct Names *other; /* in the same list of BY_THREAD */
} Names;

static Names *all_names;
/* A program may have tens of thousands of threads, one after the other. */
enum { THREAD_LISTS = 1 << 12 };
static Names *by_thread[THREAD_LISTS];

static Names *names_of(int64_t thread)
{
    Names *n = mine.names;
    if (thread < 0 || (n && n->thread == thread))
        return thread < 0 ? NULL : n;
    Names **list = &by_thread[thread % THREAD_LISTS];
    for (n = *list; n && n->thread != thread; n = n->other)
        ;
    if (!n && (n = budget_zeroed(sizeof *n))) {
        n->thread = (uint32_t)thread;
        n->next = all_names;
        n->other = *list;
        all_names = *list = n;
    }
    if (n && thread == thread_number())
        mine.names = n;
    return n;
}

/* The pool of numbers of a kind. Blocks of the heap and of CUDA share one, so a proxy with all of
 * them on the heap has the same numbers. */
static int pool_of(int kind)
{
    return kind == WEND_SEGMENT_CUDA ? WEND_SEGMENT_HEAP : kind;
}

/* The word with the smallest free id. */
static int64_t id_next(const Names *names, int kind)
{
    int pool = pool_of(kind);
    size_t w = names->ids[pool].first;
    while (w < names->ids[pool].words && names->ids[pool].taken[w] == UINT64_MAX)
        w++;
    int bit = w < names->ids[pool].words ? __builtin_ctzll(~names->ids[pool].taken[w]) : 0;
    return WEND_SEGMENT_OF(kind, names->thread, (int64_t)(w * 64) + bit);
}

/* Takes the smallest free id. Returns its word, or WEND_UNKNOWN if memory is short. */
static int64_t id_take(Names *names, int kind)
{
    if (!names)
        return WEND_UNKNOWN;
    int64_t word = id_next(names, kind);
    size_t n = word_segment_number(word), w = n / 64;
    kind = pool_of(kind);
    if (w == names->ids[kind].words) {
        size_t words = w ? 2 * w : 16;
        uint64_t *grown =
            budget_resize(names->ids[kind].taken, w * sizeof *grown, words * sizeof *grown);
        if (!grown)
            return WEND_UNKNOWN;
        memset(grown + w, 0, (words - w) * sizeof *grown);
        names->ids[kind].taken = grown;
        names->ids[kind].words = words;
    }
    names->ids[kind].taken[w] |= UINT64_C(1) << (n % 64);
    names->ids[kind].first = w;
    return word;
}

static void id_give(Names *names, int64_t segment)
{
    int kind = pool_of(segment_kind(segment));
    size_t n = word_segment_number(segment), w = n / 64;
    names->ids[kind].taken[w] &= ~(UINT64_C(1) << (n % 64));
    if (w < names->ids[kind].first)
        names->ids[kind].first = w;
}

/* -- used blocks of the heap, and of CUDA: start -> names, open addressing -- */

struct SegmentNames { /* the names of one block, ascending by thread */
    Names *names;
    int64_t segment;
    /* names->blocks with this name, which identifies the name among all of its thread */
    uint64_t blocks;
    SegmentNames *next;
};
static SegmentNames *unused_nodes;

typedef struct {
    uintptr_t start;
    SegmentNames *names;
} Used; /* start 0: the slot is free */
static struct {
    Used *slots;
    size_t n, cap;
} used;

static size_t used_slot(uintptr_t start)
{
    size_t i = (size_t)((start >> HEAP_GRANULE_SHIFT) * UINT64_C(0x9E3779B97F4A7C15) >> 20)
               & (used.cap - 1);
    while (used.slots[i].start != 0 && used.slots[i].start != start)
        i = (i + 1) & (used.cap - 1);
    return i;
}

static bool used_add(uintptr_t start, SegmentNames *names)
{
    if (2 * (used.n + 1) > used.cap) {
        size_t cap = used.cap ? 2 * used.cap : 256;
        Used *slots = budget_zeroed(cap * sizeof *slots), *old = used.slots;
        if (!slots)
            return false;
        size_t old_cap = used.cap;
        used.slots = slots;
        used.cap = cap;
        for (size_t i = 0; i < old_cap; i++)
            if (old[i].start != 0)
                slots[used_slot(old[i].start)] = old[i];
        budget_free(old, old_cap * sizeof *old);
    }
    used.slots[used_slot(start)] = (Used){start, names};
    used.n++;
    return true;
}

static SegmentNames *used_take(uintptr_t start)
{
    size_t i = used_slot(start);
    SegmentNames *names = used.slots[i].names;
    used.slots[i].start = 0;
    used.n--;
    /* Closes the gap: entries that were pushed past it move back. */
    for (i = (i + 1) & (used.cap - 1); used.slots[i].start != 0; i = (i + 1) & (used.cap - 1)) {
        Used moved = used.slots[i];
        used.slots[i].start = 0;
        used.slots[used_slot(moved.start)] = moved;
    }
    return names;
}

/* Frees ids that other threads gave back. Whether such a free came in time does not depend on the
 * program. So the id is used again only after the naming thread has named WEND_LAG more blocks (as
 * with requests). The caller holds the lock. */
static void take_back(Names *names)
{
    for (SegmentNames **p = &names->given_back; *p;) {
        SegmentNames *node = *p;
        if (names->blocks - node->blocks < WEND_LAG) {
            p = &node->next;
            continue;
        }
        id_give(names, node->segment);
        *p = node->next;
        node->next = unused_nodes;
        unused_nodes = node;
    }
}

/* The segment of the block at START among NAMES. With NAME it gets an id if it has none, and
 * *IS_NEW is set. WEND_UNKNOWN if it has none, or memory is short. */
static int64_t block_segment(uintptr_t start, int kind, bool name, Names *names, bool *is_new)
{
    size_t i = used.cap ? used_slot(start) : 0;
    bool known = used.cap && used.slots[i].start == start;
    SegmentNames **at = known ? &used.slots[i].names : NULL;
    while (at && *at && (!names || (*at)->names->thread < names->thread))
        at = &(*at)->next;
    if (at && *at && (*at)->names == names)
        return (*at)->segment;
    if (!name || !names)
        return WEND_UNKNOWN;
    names->blocks++;
    take_back(names);
    SegmentNames *new = unused_nodes;
    if (new)
        unused_nodes = new->next;
    else if (!(new = budget_zeroed(sizeof *new)))
        return WEND_UNKNOWN;
    *new = (SegmentNames){names, id_take(names, kind), names->blocks, at ? *at : NULL};
    if (new->segment == WEND_UNKNOWN || (!at && !used_add(start, new))) {
        if (new->segment != WEND_UNKNOWN)
            id_give(names, new->segment);
        new->next = unused_nodes;
        unused_nodes = new;
        return WEND_UNKNOWN;
    }
    if (at)
        *at = new;
    *is_new = true;
    return new->segment;
}

/* Removes the names of the block at START, which has some, from lookups. The caller holds the
 * lock. */
static SegmentNames *block_detach(uintptr_t start)
{
    SegmentNames *names = used_take(start);
    if (names->names == mine.names && !names->next)
        forget_one(names->segment);
    else
        memory_changed();
    return names;
}

SegmentNames *segment_detach(uintptr_t start)
{
    pthread_mutex_lock(&lock);
    heap_blocks_set_used(start, false);
    SegmentNames *names = block_detach(start);
    pthread_mutex_unlock(&lock);
    return names;
}

void segment_attach(uintptr_t start, SegmentNames *names)
{
    pthread_mutex_lock(&lock);
    bool added = used_add(start, names);
    if (added)
        heap_blocks_set_used(start, true);
    pthread_mutex_unlock(&lock);
    if (!added) /* memory is short: the block counts as freed, and its next use gives it a new id */
        segment_end(names);
}

void segment_end(SegmentNames *names)
{
    int saved = errno;
    int64_t thread = thread_number();
    while (names) {
        SegmentNames *node = names;
        int64_t segment = node->segment;
        names = node->next;
        pthread_mutex_lock(&lock);
        SegmentNames **list =
            node->names->thread == thread ? &unused_nodes : &node->names->given_back;
        if (list == &unused_nodes)
            id_give(node->names, segment);
        node->next = *list;
        *list = node;
        pthread_mutex_unlock(&lock);
        segment_event_free(segment);
    }
    errno = saved;
}

/* -- blocks of CUDA: by range, because no allocator of the host knows their size; OWNER has the
 * place and the device -- */

static Ranges cuda = RANGES_INIT;

static bool is_named(uintptr_t start)
{
    return used.cap && used.slots[used_slot(start)].start == start;
}

/* Moves the range and its names to BLOCK. The caller holds the lock. */
static void cuda_take(Range r, CudaBlock *block)
{
    *block = (CudaBlock){r.low, r.high, r.owner, is_named(r.low) ? block_detach(r.low) : NULL};
}

void memory_cuda_add(const void *base, size_t bytes, enum memory_place place, int device)
{
    if (!base)
        return;
    uintptr_t low = (uintptr_t)base, high = low + (bytes ? bytes : 1);
    CudaBlock block;
    Range old;
    uint64_t owner = (uint64_t)(uint32_t)device << 2 | (uint64_t)place;
    bool more = true, added = true;
    while (more) {
        pthread_mutex_lock(&lock);
        more = ranges_remove_overlap(&cuda, low, high, &old); /* its free was not seen */
        if (more)
            cuda_take(old, &block);
        else
            added = ranges_add(&cuda, (Range){low, high, low, owner, WEND_UNKNOWN});
        memory_changed(); /* the memory has been another segment before, such as a mapping */
        pthread_mutex_unlock(&lock);
        if (more)
            memory_cuda_end(&block);
    }
    if (!added)
        state_break("out of memory");
}

bool memory_cuda_detach(const void *base, CudaBlock *block)
{
    Range r;
    pthread_mutex_lock(&lock);
    const Range *known = ranges_find(&cuda, (uintptr_t)base);
    bool found = known && known->low == (uintptr_t)base
                 && ranges_remove_overlap(&cuda, known->low, known->high, &r);
    if (found)
        cuda_take(r, block);
    pthread_mutex_unlock(&lock);
    return found;
}

void memory_cuda_attach(CudaBlock *block)
{
    pthread_mutex_lock(&lock);
    bool added =
        ranges_add(&cuda, (Range){block->low, block->high, block->low, block->place, WEND_UNKNOWN})
        && (!block->names || used_add(block->low, block->names));
    pthread_mutex_unlock(&lock);
    if (!added)
        memory_cuda_end(block);
}

void memory_cuda_end(CudaBlock *block)
{
    segment_end(block->names);
}

static int compare_blocks(const void *a, const void *b)
{
    int64_t x = ((const CudaBlock *)a)->names->segment, y = ((const CudaBlock *)b)->names->segment;
    return x < y ? -1 : x > y;
}

/* The events are in the order of the names, because addresses differ from run to run. */
void memory_cuda_sweep(bool (*is_gone)(uintptr_t base))
{
    pthread_mutex_lock(&lock);
    size_t n = cuda.n, n_named = 0;
    uintptr_t *bases = n ? malloc(n * sizeof *bases) : NULL;
    CudaBlock *named = bases ? malloc(n * sizeof *named) : NULL;
    for (size_t i = 0; named && i < n; i++)
        bases[i] = cuda.at[i].low;
    pthread_mutex_unlock(&lock);
    for (size_t i = 0; named && i < n; i++)
        if (is_gone(bases[i]) && memory_cuda_detach((void *)bases[i], &named[n_named])
            && named[n_named].names)
            n_named++;
    if (n_named > 0)
        qsort(named, n_named, sizeof *named, compare_blocks);
    for (size_t i = 0; i < n_named; i++)
        memory_cuda_end(&named[i]);
    free(named);
    free(bases);
}

/* -- ranges: memory that MPI made, modules, other mappings -- */

static Ranges made = RANGES_INIT, modules = RANGES_INIT;
static unsigned long long modules_loaded, modules_unloaded;

static void made_id_give(int64_t segment)
{
    Names *names = names_of(word_segment_thread(segment));
    if (names)
        id_give(names, segment);
}

void memory_add(int kind, const void *base, size_t bytes, uintptr_t owner)
{
    if (!base)
        return;
    /* A range of no bytes still has an address. */
    uintptr_t low = (uintptr_t)base;
    Range new = {.low = low,
                 .high = low + (bytes ? bytes : 1),
                 .origin = low,
                 .owner = owner,
                 .segment = -1},
          old;
    pthread_mutex_lock(&lock);
    while (ranges_remove_overlap(&made, new.low, new.high, &old)) {
        if (old.low == low && segment_kind(old.segment) == (enum segment_kind)kind)
            new.segment = old.segment;
        else
            made_id_give(old.segment);
    }
    if (new.segment < 0)
        new.segment = id_take(names_of(thread_number()), kind);
    bool added = new.segment >= 0 && ranges_add(&made, new);
    memory_changed();
    pthread_mutex_unlock(&lock);
    if (!added)
        state_break("out of memory");
}

static void made_gone(Range *r)
{
    Range removed;
    ranges_remove_overlap(&made, r->low, r->high, &removed);
    made_id_give(removed.segment);
    memory_changed();
}

void memory_remove(const void *base)
{
    pthread_mutex_lock(&lock);
    Range *r = ranges_find(&made, (uintptr_t)base);
    if (r && r->low == (uintptr_t)base)
        made_gone(r);
    pthread_mutex_unlock(&lock);
}

void memory_remove_owner(uintptr_t owner)
{
    pthread_mutex_lock(&lock);
    for (size_t i = made.n; owner != 0 && i-- > 0;)
        if (made.at[i].owner == owner)
            made_gone(&made.at[i]);
    pthread_mutex_unlock(&lock);
}

static int module_count(struct dl_phdr_info *info, size_t size, void *data)
{
    unsigned long long *counts = data;
    (void)size;
    counts[0] = info->dlpi_adds;
    counts[1] = info->dlpi_subs;
    return 1;
}

static int module_add(struct dl_phdr_info *info, size_t size, void *data)
{
    Ranges *found = data;
    (void)size;
    uintptr_t page = ranges_page();
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || p->p_memsz == 0)
            continue;
        uintptr_t low = info->dlpi_addr + p->p_vaddr;
        Range r = {.low = low & ~(page - 1),
                   .high = (low + p->p_memsz + page - 1) & ~(page - 1),
                   .segment = WEND_UNKNOWN,
                   /* the address of its headers identifies the module */
                   .owner = (uintptr_t)info->dlpi_phdr};
        if (!ranges_add(found, r))
            return 1;
    }
    return 0;
}

/* What a proxy has told of its static data: ranges that count as modules of their own. */
static Ranges told = RANGES_INIT;

static void take_told(Ranges *found)
{
    for (size_t i = 0; i < told.n; i++)
        if (!ranges_cut(found, told.at[i].low, told.at[i].high) || !ranges_add(found, told.at[i]))
            return;
}

/* A proxy calls this before MPI_Init, by a weak reference, for data that stands for that of a
 * module of the application. */
__attribute__((visibility("default"))) void wend_proxy_static(const void *data, size_t bytes);
void wend_proxy_static(const void *data, size_t bytes)
{
    uintptr_t low = (uintptr_t)data;
    pthread_mutex_lock(&lock);
    ranges_cut(&told, low, low + bytes);
    ranges_add(&told, (Range){low, low + bytes, low, /* owner */ low, WEND_UNKNOWN});
    modules_loaded = 0; /* they are read again */
    pthread_mutex_unlock(&lock);
}

/* Reads the list of modules, without the lock, because the loader holds locks of its own while
 * constructors run. */
static void modules_refresh(void)
{
    unsigned long long counts[2] = {0, 0};
    dl_iterate_phdr(module_count, counts);
    segment_event_unloaded(counts[1]);
    pthread_mutex_lock(&lock);
    bool same = counts[0] == modules_loaded && counts[1] == modules_unloaded;
    pthread_mutex_unlock(&lock);
    if (same)
        return;
    Ranges found = RANGES_INIT;
    dl_iterate_phdr(module_add, &found);
    pthread_mutex_lock(&lock);
    take_told(&found);
    for (Names *n = all_names; n; n = n->next)
        for (size_t i = n->modules.n; i-- > 0;) { /* modules that have been unloaded */
            const Range *r = &n->modules.at[i], *still = ranges_find(&found, r->low);
            Range gone;
            if (!still || still->low != r->low || still->high != r->high
                || still->owner != r->owner)
                ranges_remove_overlap(&n->modules, r->low, r->high, &gone);
        }
    ranges_free(&modules);
    modules = found;
    modules_loaded = counts[0];
    modules_unloaded = counts[1];
    memory_changed();
    pthread_mutex_unlock(&lock);
}

/* The addresses of a module may be another segment next. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
    static int (*_Atomic real)(void *);
    if (!real)
        real = (int (*)(void *))dlsym(RTLD_NEXT, "dlclose");
    int rc = real(handle);
    int saved = errno;
    modules_refresh();
    errno = saved;
    return rc;
}

/* Gives all ranges of M's module one segment. Returns NULL if memory is short. */
static Range *module_name(const Range *m, uintptr_t address, Names *names)
{
    int64_t segment = id_take(names, WEND_SEGMENT_STATIC);
    if (segment == WEND_UNKNOWN)
        return NULL;
    for (size_t i = 0; i < modules.n; i++) {
        Range r = modules.at[i];
        r.segment = segment;
        r.origin = address;
        if (r.owner == m->owner && !ranges_add(&names->modules, r))
            return NULL;
    }
    return ranges_find(&names->modules, address);
}

/* -- the lookup -- */

/* Finds a block of CUDA. At its end another segment may begin; otherwise the end belongs to the
 * block, as on the heap. */
static const Range *cuda_find(uintptr_t a)
{
    const Range *r = ranges_find(&cuda, a);
    return r || a == 0 ? r : ranges_find(&cuda, a - 1);
}

/* A bit of OWNER after find(): this thread had no name for the block of CUDA. */
#define CUDA_NEW (UINT64_C(1) << 63)

static bool has_segment(const Ranges *rs, int64_t segment)
{
    for (size_t i = 0; i < rs->n; i++)
        if (rs->at[i].segment == segment)
            return true;
    return false;
}

/* Takes the memory of END from the mappings of NAMES. The id of one of which nothing is left is
 * free; if another thread ended it, later (take_back). */
static void end_mapping(Names *names, const MappedEnd *end)
{
    Range old;
    for (const Range *r; (r = ranges_find_overlap(&names->mappings, end->low, end->high));) {
        old = *r;
        ranges_cut(&names->mappings, old.low > end->low ? old.low : end->low,
                   old.high < end->high ? old.high : end->high);
        if (has_segment(&names->mappings, old.segment))
            continue;
        SegmentNames *node = unused_nodes;
        if (names->thread == end->thread)
            id_give(names, old.segment);
        else if (node || (node = budget_zeroed(sizeof *node))) {
            unused_nodes = node == unused_nodes ? node->next : unused_nodes;
            *node = (SegmentNames){names, old.segment, old.owner, names->given_back};
            names->given_back = node;
        }
    }
}

static void take_ends(void)
{
    MappedEnd end;
    while (mapped_ended(&end))
        for (Names *names = all_names; names; names = names->next)
            end_mapping(names, &end);
}

/* The range that contains A; NULL if there is none. The caller holds the lock. STACK is that of the
 * thread, asked for before the lock, since libc may take memory to tell. FOUND has room for a range
 * that is in no table (a block). With NAME the range gets an id among NAMES (NULL: the thread has
 * none); otherwise its segment may be WEND_UNKNOWN. The stack of another thread counts as a
 * mapping. */
static Range *find(uintptr_t a, const ThreadStack *stack, bool name, Names *names, Range *found)
{
    take_ends();
    Range *r = ranges_find(&made, a);
    if (r)
        return r;
    if (a >= stack->low && a < stack->high) {
        if (names && name && names->stack_origin == 0)
            names->stack_origin = a;
        bool named = names && names->stack_origin != 0;
        *found = (Range){.low = stack->low,
                         .high = stack->high,
                         .origin = named ? names->stack_origin : a,
                         .segment = named ? WEND_SEGMENT(WEND_SEGMENT_STACK, names->thread)
                                          : WEND_UNKNOWN};
        return found;
    }
    size_t size;
    uintptr_t start;
    bool is_new = false;
    const Range *block = cuda_find(a);
    if (block) {
        *found = *block;
        found->segment = block_segment(block->low, WEND_SEGMENT_CUDA, name, names, &is_new);
        found->owner = is_new ? CUDA_NEW | block->owner : 0;
        return found;
    }
    if (heap_blocks_find(a, &start, &size)) {
        int64_t segment = block_segment(start, WEND_SEGMENT_HEAP, name, names, &is_new);
        if (is_new)
            heap_blocks_set_used(start, true);
        *found = (Range){.low = start, .high = start + size, .origin = start, .segment = segment};
        return name && segment == WEND_UNKNOWN ? NULL : found;
    }
    if (names && (r = ranges_find(&names->modules, a)))
        return r;
    if ((r = ranges_find(&modules, a)))
        return name ? module_name(r, a, names) : r;
    return names ? ranges_find(&names->mappings, a) : NULL;
}

/* Finds any other mapping of the process: what the program has mapped, otherwise what the kernel
 * shows between that. The owner is the number of blocks with this name. The caller holds the
 * lock. */
static Range *find_mapping(uintptr_t a, bool name, Names *names, Range *found, Gap *gap)
{
    *found = (Range){0, UINTPTR_MAX, .origin = a};
    if (!mapped_find(a, name && names, &found->low, &found->high)) {
        Range shown = *found;
        if (!mappings_find(a, &shown.low, &shown.high)) {
            if (gap)
                *gap = (Gap){shown.low, shown.high - shown.low};
            return NULL;
        }
        found->low = shown.low > found->low ? shown.low : found->low;
        found->high = shown.high < found->high ? shown.high : found->high;
    }
    found->segment = WEND_UNKNOWN;
    Range old;
    /* the mapping has grown, or joined a neighbour */
    while (names && ranges_remove_overlap(&names->mappings, found->low, found->high, &old)) {
        if (found->segment < 0) {
            found->segment = old.segment;
            found->origin = old.origin;
        } else {
            id_give(names, old.segment);
        }
        memory_changed();
    }
    if (found->segment < 0 && name && names) {
        found->owner = ++names->blocks;
        take_back(names);
        found->segment = id_take(names, WEND_SEGMENT_MAP);
    }
    if (found->segment >= 0 && !ranges_add(&names->mappings, *found))
        return NULL;
    return found;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

Where memory_known(const void *address)
{
    pthread_once(&once, survive_forks);
    Range found;
    Where where = {WEND_UNKNOWN, 0};
    uintptr_t a = (uintptr_t)address;
    int64_t thread = thread_number();
    const ThreadStack *stack = thread_stack();
    pthread_mutex_lock(&lock);
    const Range *r = find(a, stack, false, names_of(thread), &found);
    if (r && r->segment >= 0)
        where = (Where){r->segment, (int64_t)(a - r->origin)};
    pthread_mutex_unlock(&lock);
    return where;
}

int64_t memory_untouched(const void *address)
{
    uintptr_t a = (uintptr_t)address;
    if (a < MEMORY_LOWEST_ADDRESS)
        return WEND_UNKNOWN;
    if (mine.generation == atomic_load_explicit(&generation, memory_order_acquire))
        for (size_t i = 0; i < REMEMBERED; i++)
            if (a - mine.entry[i].low < mine.entry[i].length)
                return mine.entry[i].segment;
    pthread_once(&once, survive_forks);
    Range found;
    int64_t thread = thread_number(), segment = WEND_UNKNOWN;
    const ThreadStack *stack = thread_stack();
    pthread_mutex_lock(&lock);
    Names *names = names_of(thread);
    const Range *r = find(a, stack, false, names, &found);
    if (r && r->segment >= 0)
        segment = r->segment;
    else if (r && names && r->low == stack->low)
        segment = WEND_SEGMENT(WEND_SEGMENT_STACK, names->thread);
    else if (r && names)
        segment = id_next(names, r != &found    ? WEND_SEGMENT_STATIC
                                 : cuda_find(a) ? WEND_SEGMENT_CUDA
                                                : WEND_SEGMENT_HEAP);
    pthread_mutex_unlock(&lock);
    return segment;
}

uint64_t memory_block_lifetime(const void *address)
{
    pthread_once(&once, survive_forks);
    uintptr_t a = (uintptr_t)address, start;
    size_t size;
    uint64_t life = 0;
    int64_t thread = thread_number();
    pthread_mutex_lock(&lock);
    const Names *names = names_of(thread);
    const Range *block = cuda_find(a);
    if (block)
        start = block->low;
    if (used.cap && names && (block || heap_blocks_find(a, &start, &size)) && is_named(start))
        for (const SegmentNames *of = used.slots[used_slot(start)].names; of; of = of->next)
            if (of->names == names)
                life = of->blocks;
    pthread_mutex_unlock(&lock);
    return life;
}

static bool lookup(uintptr_t a, bool name, Range *out, Gap *gap)
{
    pthread_once(&once, survive_forks);
    int saved = errno;
    int64_t thread = thread_number();
    const ThreadStack *stack = thread_stack();
    Range found;
    pthread_mutex_lock(&lock);
    Names *names = names_of(thread);
    Range *r = find(a, stack, name, names, &found);
    if (!r) {
        pthread_mutex_unlock(&lock);
        modules_refresh();
        stack = thread_stack_down_to(a);
        pthread_mutex_lock(&lock);
        r = find(a, stack, name, names, &found);
        if (!r)
            r = find_mapping(a, name, names, &found, gap);
    }
    if (r) {
        *out = *r;
        if (name) {
            uint64_t now = atomic_load(&generation);
            if (mine.generation != now) {
                for (size_t i = 0; i < REMEMBERED; i++)
                    mine.entry[i].length = 0;
                mine.generation = now;
            }
            if (r->segment >= 0)
                remember(r->low, r->high, r->origin, r->segment);
        }
    }
    pthread_mutex_unlock(&lock);
    if (r == &found && (found.owner & CUDA_NEW))
        segment_event_name(found.segment, (enum memory_place)(found.owner & 3),
                           (int)(uint32_t)(found.owner >> 2));
    errno = saved;
    return r != NULL;
}

Where memory_where(const void *address)
{
    uintptr_t a = (uintptr_t)address;
    if (__builtin_expect(mine.generation == atomic_load_explicit(&generation, memory_order_acquire),
                         1))
        for (size_t i = 0; i < REMEMBERED; i++)
            if (a - mine.entry[i].low < mine.entry[i].length)
                return (Where){mine.entry[i].segment, (int64_t)(a - mine.entry[i].origin)};
    Range r;
    if (!lookup(a, true, &r, NULL) || r.segment < 0)
        return (Where){WEND_UNKNOWN, 0};
    return (Where){r.segment, (int64_t)(a - r.origin)};
}

bool memory_looks_mapped(uintptr_t value, Gap *gap)
{
    if (value < MEMORY_LOWEST_ADDRESS || value >> HEAP_ADDRESS_BITS != 0
        || (gap && value - gap->low < gap->length))
        return false;
    if (mine.generation == atomic_load_explicit(&generation, memory_order_acquire))
        for (size_t i = 0; i < REMEMBERED; i++)
            if (value - mine.entry[i].low < mine.entry[i].length)
                return true;
    /* Displacements are numbers of this size, thousands in one datatype. The process's mappings are
     * not read for each of them. */
    if (value >> 32 == 0)
        return word_is_segment(memory_known((const void *)value).segment);
    Range r;
    return lookup(value, false, &r, gap);
}

bool memory_is_mapped(uintptr_t value)
{
    Range r;
    return value >= MEMORY_LOWEST_ADDRESS && value >> HEAP_ADDRESS_BITS == 0
           && lookup(value, false, &r, NULL);
}
