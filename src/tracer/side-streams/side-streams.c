/* SPDX-License-Identifier: BSD-3-Clause */
/* side-streams.c: the producers: streams and their chunks; in a replay, the recorded elements one
 * by one. */
#include "side-streams.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/budget.h"
#include "recorder/recorder.h"
#include "recorder/sequence.h"
#include "replay/replay.h"
#include "side-private.h"

SideStream *_Atomic side_streams;

/* By kind: that of this thread. */
static __thread __attribute__((tls_model("initial-exec"))) SideStream *own[WEND_SIDE_KINDS];

/* By kind: see side_stream_was_cut. */
static _Atomic bool cut[WEND_SIDE_KINDS];

/* Chunks that a stream may have before MPI has begun. Most processes that have some then never
 * call MPI. */
enum { CHUNKS_BEFORE = 256 };

void *side_stream_memory(size_t bytes)
{
    if (!budget_take_half(bytes))
        return NULL;
    long p =
        syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    if (p != -1)
        return (void *)p;
    budget_give(bytes);
    return NULL;
}

SideStream *side_stream_new(WendSideKindNumber kind, const CallSequence *sequence, uint32_t birth)
{
    SideStream *s = side_stream_memory(sizeof *s);
    SideChunk *chunk = s ? side_stream_memory(sizeof *chunk) : NULL;
    if (!chunk) { /* memory is short, and a page is not worth more code */
        atomic_store(&cut[kind], true);
        return NULL;
    }
    s->kind = kind;
    s->birth = birth;
    s->chunk_words = side_stream_kind(kind)->symbols ? SIDE_SYMBOL_WORDS : SIDE_CHUNK_WORDS;
    s->first = chunk;
    atomic_store(&s->filling, chunk);
    atomic_store(&s->sequence, sequence);
    s->next = atomic_load(&side_streams);
    while (!atomic_compare_exchange_weak(&side_streams, &s->next, s))
        ;
    return s;
}

static SideStream *of_callback(WendSideKindNumber kind, CallSequence *q)
{
    SideStream *s = __atomic_load_n(&q->side[kind], __ATOMIC_ACQUIRE);
    if (s)
        return s;
    pthread_mutex_lock(&q->lock);
    if (!q->side[kind])
        __atomic_store_n(&q->side[kind], side_stream_new(kind, q, 0), __ATOMIC_RELEASE);
    s = q->side[kind];
    pthread_mutex_unlock(&q->lock);
    return s;
}

SideStream *side_stream(WendSideKindNumber kind)
{
    const Thread *t = this_thread;
    if (t && __builtin_expect(t->sequence->callback, 0))
        return of_callback(kind, t->sequence);
    SideStream *s = own[kind];
    if (__builtin_expect(!s, 0)) {
        uint32_t birth;
        if (!thread_number_birth(&birth))
            return NULL;
        own[kind] = s = side_stream_new(kind, t ? t->sequence : NULL, birth);
    } else if (__builtin_expect(!atomic_load_explicit(&s->sequence, memory_order_relaxed), 0)
               && t) {
        atomic_store(&s->sequence, t->sequence);
    }
    return s;
}

SideStream *side_stream_of(CallSequence *q, WendSideKindNumber kind)
{
    SideStream *s = q->side[kind];
    uint32_t birth = 0;
    if (s)
        return s;
    if (!q->callback && !thread_number_birth(&birth))
        return NULL;
    s = side_stream_new(kind, q, birth);
    __atomic_store_n(&q->side[kind], s, __ATOMIC_RELEASE);
    return s;
}

/* Several threads may run a callback. */
bool side_stream_enter(SideStream *s)
{
    const CallSequence *q = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    if (q && __builtin_expect(q->callback, 0))
        sequence_lock((CallSequence *)q);
    else if (s->entered)
        return false;
    s->entered = true;
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

void side_stream_leave(SideStream *s)
{
    const CallSequence *q = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    s->entered = false;
    if (q && __builtin_expect(q->callback, 0))
        sequence_unlock((CallSequence *)q);
}

/* -- appending -- */

SideChunk *side_next_chunk(SideStream *s, SideChunk *full)
{
    int saved = errno;
    bool early = !state()->started && full->number + 1 >= CHUNKS_BEFORE;
    if (state()->started)
        side_stream_open();
    bool none = early || !side_reserve(s);
    SideChunk *chunk = none ? NULL : side_chunk_take_unused();
    if (!chunk && !none)
        chunk = side_stream_memory(sizeof *chunk);
    if (chunk) {
        chunk->number = full->number + 1;
        atomic_store(&s->filling, chunk);
        atomic_store_explicit(&full->next, chunk, memory_order_release);
        side_wake();
        side_help(s);
    } else {
        side_stream_end(s);
    }
    errno = saved;
    return chunk;
}

void side_stream_append_after(SideStream *s, uint64_t step, unsigned code, unsigned sub,
                              const void *data, size_t bytes)
{
    size_t n = 1 + (bytes + 7) / 8;
    if (atomic_load_explicit(&s->ended, memory_order_relaxed))
        return;
    SideChunk *chunk = atomic_load_explicit(&s->filling, memory_order_relaxed);
    uint32_t used = atomic_load_explicit(&chunk->used, memory_order_relaxed);
    if (__builtin_expect(s->chunk_words - used < n, 0)) {
        if (!(chunk = side_next_chunk(s, chunk)))
            return;
        used = 0;
    }
    chunk->words[used] = side_word(step, code, sub, bytes);
    memcpy(&chunk->words[used + 1], data, bytes);
    atomic_store_explicit(&chunk->used, used + (uint32_t)n, memory_order_release);
}

void side_stream_append(SideStream *s, unsigned code, unsigned sub, const void *data, size_t bytes)
{
    const CallSequence *q = atomic_load_explicit(&s->sequence, memory_order_relaxed);
    uint64_t steps = q ? q->steps : 0, step = steps - s->steps;
    if (atomic_load_explicit(&s->ended, memory_order_relaxed))
        return;
    s->steps = steps;
    side_stream_append_after(s, step, code, sub, data, bytes);
}

bool side_stream_was_cut(WendSideKindNumber kind)
{
    return atomic_load(&cut[kind]);
}

void side_stream_end(SideStream *s)
{
    atomic_store(&cut[s->kind], true);
    atomic_store(&s->ended, true);
}

/* -- a replay -- */

static bool open_reader(SideStream *s)
{
    const CallSequence *q = atomic_load(&s->sequence);
    bool callback = q && q->callback;
    WendSideHead head = {.id = callback ? q->function : 0, .birth = s->birth};
    head.kind = callback ? WEND_SEQUENCE_CALLBACK : WEND_SEQUENCE_THREAD;
    WendCursor rows;
    if (!replay_side(s->kind, &head, &rows) || !(s->reader = side_stream_memory(sizeof *s->reader)))
        return false;
    side_reader_open(s->reader, s->kind, &head, rows);
    return true;
}

const WendSideElement *side_stream_next(SideStream *s)
{
    if (!s->over && !s->due)
        s->over = (!s->reader && !open_reader(s)) || !(s->due = side_reader_next(s->reader));
    return s->over ? NULL : s->due;
}

const WendSideElement *side_stream_due(SideStream *s, unsigned code, unsigned sub)
{
    const WendSideForm *forms = side_stream_kind(s->kind)->forms;
    if (s->over)
        return NULL;
    if (!side_stream_next(s)) {
        replay_side_ends(s->birth, s->reader && s->reader->cut, forms[code].name);
        return NULL;
    }
    if (s->due->code == code && s->due->sub == sub)
        return s->due;
    s->over = true;
    replay_side_departs(s->birth, forms[s->due->code].name, forms[code].name);
    return NULL;
}
