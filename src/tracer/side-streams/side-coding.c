/* SPDX-License-Identifier: BSD-3-Clause */
/* side-coding.c: the consumer: codes full chunks in a thread of its own, and puts the streams into
 * the part.
 *
 * The part is made by the watcher while the application runs, or by the thread that ends the
 * recording, and chunks also by a producer that is far ahead (side_help). Whoever codes has the
 * lock. */
#include "side-streams.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/budget.h"
#include "lib/record/words.h"
#include "process/process.h"
#include "recorder/recorder.h"
#include "recorder/sequence.h"
#include "side-private.h"

/* The thread that has it may be interrupted by a signal handler, which asks for the time. Then the
 * lock says so, and is not waited for. */
static pthread_mutex_t coding = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_t thread;
static _Atomic bool running, closing;
static _Atomic uint32_t wake; /* futex */

enum { QUEUE = (1 << 20) / SIDE_CHUNK_BYTES }; /* 1 MB */

/* How many chunks a stream may queue. Values queue as long as memory is ample: a loop that asks for
 * the time takes three times as long if it codes, too. Of other kinds there is no limit but memory:
 * MPI_Get may bring gigabytes, a hundred times faster than they are coded. */
static uint64_t longest_queue(const SideStream *s)
{
    switch (s->kind) {
    case WEND_SIDE_TIMES:
        return QUEUE;
    case WEND_SIDE_VALUES:
        return budget_is_ample() ? UINT64_MAX : QUEUE;
    default:
        return UINT64_MAX;
    }
}

/* Coded chunks that are free for any stream. They go there and back one by one, or are lost to the
 * next one that looks at the same time, who maps another one: no lock, and no list that two threads
 * change. There is room for all chunks of a stream whose thread was ahead of the coding: the faults
 * of new pages cost it more than all the rest. */
enum { UNUSED_CHUNKS = QUEUE };
static SideChunk *_Atomic unused_chunks[UNUSED_CHUNKS];

SideChunk *side_chunk_take_unused(void)
{
    for (int i = 0; i < UNUSED_CHUNKS; i++) {
        SideChunk *chunk = atomic_exchange(&unused_chunks[i], NULL);
        if (chunk)
            return chunk;
    }
    return NULL;
}

static void chunk_unmap(SideChunk *chunk)
{
    syscall(SYS_munmap, chunk, sizeof *chunk);
    budget_give(sizeof *chunk);
}

static void chunk_free(SideChunk *chunk)
{
    atomic_store(&chunk->next, NULL);
    atomic_store(&chunk->used, 0);
    for (int i = 0; i < UNUSED_CHUNKS && chunk; i++) {
        SideChunk *none = NULL;
        if (atomic_compare_exchange_strong(&unused_chunks[i], &none, chunk))
            chunk = NULL;
    }
    if (chunk)
        chunk_unmap(chunk);
}

/* False: there were none. */
static bool free_unused_chunks(void)
{
    bool any = false;
    for (SideChunk *chunk; (chunk = side_chunk_take_unused()); any = true)
        chunk_unmap(chunk);
    return any;
}

void side_wake(void)
{
    if (!atomic_load_explicit(&running, memory_order_relaxed))
        return;
    atomic_fetch_add(&wake, 1);
    futex_wake(&wake);
}

/* Memory that grows moves without a copy. */
void *side_resize(void *p, size_t old, size_t n)
{
    if (n == 0) {
        syscall(SYS_munmap, p, old);
        budget_give(old);
        return NULL;
    }
    if (!p)
        return side_stream_memory(n);
    if (n > old && !budget_take_half(n - old))
        return NULL;
    long moved = syscall(SYS_mremap, p, old, n, MREMAP_MAYMOVE);
    if (moved == -1 && n > old)
        budget_give(n - old);
    return moved == -1 ? NULL : (void *)moved;
}

/* Makes room for N more bytes. A write to a buffer that finds none would drop what is there. */
static bool make_room(WendBuf *b, size_t n)
{
    size_t cap = b->cap;
    while (cap - b->len < n)
        cap += cap / 8 + SIDE_CHUNK_BYTES;
    uint8_t *grown = cap > b->cap ? side_resize(b->data, b->cap, cap) : b->data;
    if (!grown && free_unused_chunks())
        grown = side_resize(b->data, b->cap, cap);
    if (!grown)
        return false;
    b->resize = side_resize;
    b->data = grown;
    b->cap = cap;
    return true;
}

static size_t memory_of_values(void)
{
    return sizeof(WendSideCodec);
}

static void init_values(void *learned, WendSideKindNumber kind)
{
    side_codec_init(learned, side_stream_kind(kind));
}

static void copy_values(void *learned, const void *from)
{
    side_codec_copy(learned, from);
}

static uint64_t code_values(void *learned, const uint64_t *words, uint32_t used, WendBuf *out)
{
    WendSideCodec *k = learned;
    WendSideElement e;
    RangeEncoder to;
    uint64_t elements = 0;
    range_encoder_begin(&to, out);
    for (uint32_t at = 0; at < used;) {
        uint64_t word = words[at++];
        unsigned bytes = word >> 16 & 0xffff;
        e.step = word >> 32;
        e.code = word & 0xff;
        e.sub = word >> 8 & 0xff;
        e.n_bytes = bytes;
        memcpy(e.bytes, &words[at], bytes);
        side_codec_encode(k, &to, &e);
        at += (bytes + 7) / 8;
        elements++;
    }
    range_encoder_end(&to);
    return elements;
}

static const SideCoding *coding_of(const SideStream *s)
{
    static const SideCoding of_values = {memory_of_values, init_values, copy_values, code_values,
                                         NULL};
    return s->kind == WEND_SIDE_TIMES ? &side_coding_of_times : &of_values;
}

/* A row may be longer than its chunk, if nothing is as predicted. */
enum { ROW_MOST = 4 * SIDE_CHUNK_BYTES, ROW_HEAD = 20, ROWS_RESERVED = 2 * SIDE_CHUNK_BYTES };

/* The row at hand. Whoever codes has it. */
static WendBuf row;

bool side_reserve(SideStream *s)
{
    if (!s->reserved)
        s->reserved = side_stream_memory(coding_of(s)->memory());
    if (!s->reserved_rows)
        s->reserved_rows = side_stream_memory(ROWS_RESERVED);
    return s->reserved && s->reserved_rows;
}

static void begin(SideStream *s)
{
    s->learned = s->reserved;
    coding_of(s)->init(s->learned, s->kind);
    s->rows = (WendBuf){.data = s->reserved_rows, .cap = ROWS_RESERVED, .resize = side_resize};
}

/* Makes a row of the oldest chunk of S, of *N elements. False: memory is short. */
static bool code_row(SideStream *s, uint64_t *n)
{
    if (!s->learned)
        begin(s);
    row.len = 0;
    row.failed = false;
    if (!make_room(&row, ROW_MOST))
        return false;
    *n = coding_of(s)->code(s->learned, s->first->words, atomic_load(&s->first->used), &row);
    return !row.failed;
}

static bool append_row(SideStream *s, uint64_t n)
{
    if (!make_room(&s->rows, row.len + ROW_HEAD))
        return false;
    buf_unsigned(&s->rows, n);
    buf_block(&s->rows, &row);
    return true;
}

/* Codes the oldest chunk of S, if it is full. The caller has the lock. The chunk's memory is free
 * before the rows need more. */
static bool code_first(SideStream *s)
{
    SideChunk *next = atomic_load_explicit(&s->first->next, memory_order_acquire);
    uint64_t n = 0;
    if (!next)
        return false;
    bool kept = !s->lost && code_row(s, &n);
    chunk_free(s->first);
    s->first = next;
    atomic_store(&s->coded, next->number);
    if (!kept || !append_row(s, n)) {
        s->lost = true;
        side_stream_end(s);
    }
    return true;
}

/* Whoever makes the part waits for one chunk at most. */
static _Atomic bool part_waits;

static bool code_first_locked(SideStream *s)
{
    while (atomic_load(&part_waits))
        futex_wait(&wake, atomic_load(&wake), 1000000);
    pthread_mutex_lock(&coding);
    bool coded = code_first(s);
    pthread_mutex_unlock(&coding);
    return coded;
}

static bool is_behind(SideStream *s)
{
    return atomic_load(&s->filling)->number - atomic_load(&s->coded) > longest_queue(s);
}

void side_help(SideStream *s)
{
    if (!is_behind(s) || pthread_mutex_lock(&coding) != 0)
        return;
    if (is_behind(s))
        code_first(s);
    pthread_mutex_unlock(&coding);
}

static void *code(void *unused)
{
    (void)unused;
    syscall(SYS_prctl, PR_SET_NAME, "wend-side", 0L, 0L, 0L);
    while (!atomic_load(&closing)) {
        uint32_t before = atomic_load(&wake);
        for (SideStream *s = atomic_load(&side_streams); s; s = s->next)
            while (code_first_locked(s) && !atomic_load(&closing))
                ;
        futex_wait(&wake, before, -1);
    }
    return NULL;
}

void side_stream_open(void)
{
    enum { STACK_BYTES = 256 << 10 };
    pthread_attr_t attributes;
    sigset_t all, before;
    static _Atomic bool opening;
    if (atomic_load(&running) || atomic_exchange(&opening, true))
        return;
    pthread_mutex_lock(&coding);
    make_room(&row, ROW_MOST); /* now, before chunks take all memory */
    pthread_mutex_unlock(&coding);
    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the application's threads */
    atomic_store(&closing, false);
    atomic_store(&running, pthread_create(&thread, &attributes, code, NULL) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

void side_stream_close(void)
{
    if (!atomic_load(&running))
        return;
    atomic_store(&closing, true);
    side_wake();
    atomic_store(&running, false);
    pthread_join(thread, NULL);
}

/* -- the part -- */

SideUnfinishedSite *side_unfinished_site;

/* What the part has of a stream beside its chunks: of a call that has not returned. */
typedef struct {
    WendBuf table;
    uint64_t words[2];
    uint32_t used;
} LastElement;

static LastElement last_element(const SideStream *s, const SideUnfinished *calls, size_t n,
                                WendResize resize)
{
    LastElement last = {.table = {.resize = resize}};
    const SideUnfinished *found = NULL;
    size_t matches = 0;
    for (size_t i = 0; i < n && side_stream_kind(s->kind)->symbols && !atomic_load(&s->ended);
         i++) {
        if (calls[i].sequence != atomic_load(&s->sequence))
            continue;
        found = &calls[i];
        matches++;
    }
    int64_t site;
    /* Which of several threads in a callback is which, the part does not say. */
    if (matches != 1 || !side_unfinished_site
        || !side_unfinished_site(found->sequence, found->call, &last.table, &site))
        return last;
    last.words[0] = side_word(0, WEND_SITE_FOUND, 0, sizeof site);
    last.words[1] = (uint64_t)site;
    last.used = 2;
    return last;
}

static void put_row(const SideCoding *coding, void *learned, const uint64_t *words, uint32_t used,
                    WendBuf *out)
{
    WendBuf last = {.resize = out->resize};
    uint64_t n = used > 0 ? coding->code(learned, words, used, &last) : 0;
    if (used > 0) {
        buf_unsigned(out, n);
        buf_block(out, &last);
    }
    buf_clear(&last);
}

/* Appends a row of the elements that no full chunk has, and one of LAST. They are coded with a copy
 * of what was learned, since the chunk at hand fills further. */
static void put_last_rows(const SideStream *s, const LastElement *last, WendBuf *out)
{
    const SideChunk *chunk = s->first;
    uint32_t used = s->lost ? 0 : atomic_load_explicit(&chunk->used, memory_order_acquire);
    const SideCoding *coding = coding_of(s);
    bool any = used > 0 || last->used > 0;
    void *copy = any ? buf_resize(out->resize, NULL, 0, coding->memory()) : NULL;
    out->failed |= any && !copy;
    if (!copy)
        return;
    if (s->learned)
        coding->copy(copy, s->learned);
    else
        coding->init(copy, s->kind);
    put_row(coding, copy, chunk->words, used, out);
    put_row(coding, copy, last->words, last->used, out);
    buf_resize(out->resize, copy, coding->memory(), 0);
}

/* Appends all rows of S. */
static void put_rows(SideStream *s, const SideUnfinished *calls, size_t n_calls, WendBuf *out)
{
    LastElement last = last_element(s, calls, n_calls, out->resize);
    if (coding_of(s)->head)
        coding_of(s)->head(out);
    if (side_stream_kind(s->kind)->tabled) {
        buf_unsigned(out, s->table.len + last.table.len);
        buf_bytes(out, s->table.data, s->table.len);
        buf_bytes(out, last.table.data, last.table.len);
    }
    buf_bytes(out, s->rows.data, s->rows.len);
    put_last_rows(s, &last, out);
    if (atomic_load(&s->ended)) {
        buf_unsigned(out, 0); /* the stream was cut */
        buf_unsigned(out, 0);
    }
    buf_clear(&last.table);
}

static bool is_empty(const SideStream *s)
{
    return s->rows.len == 0 && atomic_load(&s->first->used) == 0;
}

static WendSideHead head_of(const SideStream *s)
{
    const CallSequence *q = atomic_load(&s->sequence);
    bool callback = q && q->callback;
    return (WendSideHead){.kind = callback ? WEND_SEQUENCE_CALLBACK : WEND_SEQUENCE_THREAD,
                          .id = callback ? q->function : (int64_t)thread_number_of(s->birth),
                          .birth = s->birth};
}

/* Whether A comes before B: threads by birth, then callbacks. */
static bool is_before(const SideStream *a, const SideStream *b)
{
    WendSideHead x = head_of(a), y = head_of(b);
    if (x.kind != y.kind)
        return x.kind < y.kind;
    return x.kind == WEND_SEQUENCE_THREAD ? x.birth < y.birth : x.id < y.id;
}

/* Puts S into the row that begins at *FIRST, in its order. Streams come newest first, so that most
 * belong to its beginning. */
static void insert(SideStream **first, SideStream *s)
{
    while (*first && is_before(*first, s))
        first = &(*first)->behind;
    s->behind = *first;
    *first = s;
}

/* Returns whether these streams become a member of their own. */
static bool put_kind(WendSideKindNumber kind, size_t n, SideStream *first,
                     const SideUnfinished *calls, size_t n_calls, WendBuf *out)
{
    WendBuf member = {.resize = out->resize};
    buf_unsigned(out, kind);
    buf_unsigned(&member, n);
    for (SideStream *s = first; s; s = s->behind) {
        WendSideHead head = head_of(s);
        WendBuf rows = {.resize = out->resize};
        side_stream_put_head(&member, &head);
        put_rows(s, calls, n_calls, &rows);
        buf_block(&member, &rows);
        buf_clear(&rows);
    }
    bool own = member.len > side_stream_kind(kind)->shared_most;
    buf_block(out, &member);
    buf_clear(&member);
    return own;
}

static bool put_all(WendBuf *out, const SideUnfinished *calls, size_t n_calls)
{
    size_t n[WEND_SIDE_KINDS] = {0}, kinds = 0;
    SideStream *first[WEND_SIDE_KINDS] = {NULL};
    SideStream *all = atomic_load(&side_streams); /* new ones come before it */
    for (SideStream *s = all; s; s = s->next) {
        while (code_first(s))
            ;
        if (is_empty(s))
            continue;
        insert(&first[s->kind], s);
        kinds += n[s->kind]++ == 0;
    }
    bool own = false;
    if (kinds > 0)
        buf_unsigned(out, kinds);
    for (int kind = 0; kind < WEND_SIDE_KINDS; kind++)
        own = (n[kind] > 0 && put_kind(kind, n[kind], first[kind], calls, n_calls, out)) || own;
    return own;
}

bool side_stream_put(WendBuf *out, const SideUnfinished *calls, size_t n)
{
    /* The thread that codes may have crashed, and the watcher waits for nobody for long. */
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec++;
    atomic_store(&part_waits, true);
    bool own = false, locked = pthread_mutex_timedlock(&coding, &end) == 0;
    if (locked) {
        own = put_all(out, calls, n);
        pthread_mutex_unlock(&coding);
    }
    atomic_store(&part_waits, false);
    return own;
}
