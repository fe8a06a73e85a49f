/* SPDX-License-Identifier: BSD-3-Clause */
/* cst.c: see cst.h.
 *
 * Three tables of signatures: shapes (no slots), terminals, and pools (of signatures that create
 * requests, without the request's word). Records and words live in one arena. A terminal points to
 * its shape's words, so a signature costs its slots only. */
#include "cst.h"

#include <string.h>

#include "base/base.h"
#include "intern.h"
#include "stream.h"

typedef struct {
    WendSignature signature; /* no slots */
    uint32_t number;
    uint32_t n_terminals;
    struct Elastic *elastic; /* NULL: its calls have terminals */
    WendStream outcomes;
    WendTimes *common;  /* of all terminals without times of their own */
    uint32_t common_of; /* the first of these terminals */
} Shape;

typedef struct {
    WendSignature signature; /* of an elastic shape's: no slots */
    Shape *shape;
    WendTerminalEntry entry;
} Terminal;

/* The calls of a shape as values. */
typedef struct Elastic {
    Terminal terminal;
    WendStream values; /* slots, as differences from the previous call; from zeros for the first */
    /* slots of the last call, and room for as many differences behind CAP words */
    int64_t *last;
    size_t n, cap;
} Elastic;

typedef struct Pool {
    WendSignature signature; /* of a common one: no slots */
    struct Maker *maker;
    struct Pool *other; /* from which calls of this signature take their requests; NULL: from it */
    uint32_t number;
    uint32_t n_free;   /* in heap */
    uint32_t n, cap;   /* number of k that were ever taken; capacity of both arrays */
    uint32_t *numbers; /* of k: the request's number in the table */
    uint32_t *heap;    /* free k, a binary heap, smallest first */
} Pool;

/* A shape, without the request's word, whose calls make requests. */
typedef struct Maker {
    WendSignature signature; /* no slots */
    uint64_t requests;       /* made, in all */
    uint32_t n_pools;
    Pool *common; /* NULL: each signature has its own */
} Maker;

/* A table and its records by number. */
typedef struct {
    WendIntern table;
    void **records;
    uint32_t n, cap;
} Index;

struct WendCst {
    WendArena arena;
    Index shapes, terminals, pools;
    WendIntern makers;
    uint32_t n_requests;
};

size_t cst_patience = 1 << 18;

WendCst *cst_new(void)
{
    return budget_zeroed(sizeof(WendCst));
}

void cst_free(WendCst *t)
{
    if (!t)
        return;
    for (uint32_t i = 0; i < t->shapes.n; i++) {
        Shape *s = t->shapes.records[i];
        stream_clear(&s->outcomes);
        if (s->elastic) {
            stream_clear(&s->elastic->values);
            budget_free(s->elastic->last, 2 * s->elastic->cap * sizeof(int64_t));
        }
    }
    for (uint32_t i = 0; i < t->pools.n; i++) {
        Pool *p = t->pools.records[i];
        budget_free(p->numbers, p->cap * sizeof *p->numbers);
        budget_free(p->heap, p->cap * sizeof *p->heap);
    }
    Index *all[] = {&t->shapes, &t->terminals, &t->pools};
    for (size_t i = 0; i < 3; i++) {
        intern_clear(&all[i]->table);
        budget_free(all[i]->records, all[i]->cap * sizeof *all[i]->records);
    }
    intern_clear(&t->makers);
    arena_clear(&t->arena);
    budget_free(t, sizeof *t);
}

/* Adds a record without entering it into the table. Its number is x->n - 1. */
static bool index_append(Index *x, void *record)
{
    if (!record || x->n == UINT32_MAX)
        return false;
    if (x->n == x->cap) {
        uint32_t cap = x->cap ? x->cap > UINT32_MAX / 2 ? UINT32_MAX : x->cap * 2 : 16;
        void **records = budget_resize(x->records, x->cap * sizeof *records, cap * sizeof *records);
        if (!records)
            return false;
        x->records = records;
        x->cap = cap;
    }
    x->records[x->n++] = record;
    return true;
}

static bool index_add(Index *x, void *record, uint64_t hash)
{
    if (!index_append(x, record))
        return false;
    if (intern_add(&x->table, record, hash))
        return true;
    x->n--;
    return false;
}

/* Makes a record of BYTES that begins with the signature of a shape. */
static void *record_of_shape(WendCst *t, size_t bytes, const int64_t *shape, size_t n_shape)
{
    WendSignature *s = arena_new(&t->arena, bytes);
    const int64_t *words = arena_copy(&t->arena, shape, n_shape * sizeof *shape);
    if (!s || !words)
        return NULL;
    s->shape = words;
    s->n_shape = n_shape;
    return s;
}

/* The same with slots; the words of the shape are those of an existing record. */
static void *record_of_slots(WendCst *t, size_t bytes, const WendSignature *shape,
                             const int64_t *slots, size_t n_slots)
{
    WendSignature *s = arena_new(&t->arena, bytes);
    const int64_t *words = arena_copy(&t->arena, slots, n_slots * sizeof *slots);
    if (!s || !words)
        return NULL;
    *s = (WendSignature){
        .shape = shape->shape, .n_shape = shape->n_shape, .slots = words, .n_slots = n_slots};
    return s;
}

static Shape *get_shape(WendCst *t, const int64_t *shape, size_t n)
{
    uint64_t hash;
    Shape *s = (Shape *)intern_find(&t->shapes.table, shape, n, NULL, 0, &hash);
    if (s)
        return s;
    s = record_of_shape(t, sizeof *s, shape, n);
    if (s)
        s->number = t->shapes.n;
    return index_add(&t->shapes, s, hash) ? s : NULL;
}

/* Adds a terminal for a signature that has not occurred. */
static Terminal *add_terminal(WendCst *t, Shape *s, const int64_t *slots, size_t n_slots,
                              uint64_t hash)
{
    Terminal *e = record_of_slots(t, sizeof *e, &s->signature, slots, n_slots);
    WendTimes *times = s->common ? s->common : arena_new(&t->arena, sizeof *times);
    if (!e || !times)
        return NULL;
    e->shape = s;
    e->entry = (WendTerminalEntry){.number = t->terminals.n, .shape = s->number, .times = times};
    if (!index_add(&t->terminals, e, hash))
        return NULL;
    if (++s->n_terminals > WEND_TIMED_APART && !s->common) {
        s->common = times;
        s->common_of = e->entry.number;
    }
    return e;
}

WendTerminalEntry *cst_terminal(WendCst *t, const int64_t *shape, size_t n_shape,
                                const int64_t *slots, size_t n_slots)
{
    uint64_t hash;
    Terminal *e =
        (Terminal *)intern_find(&t->terminals.table, shape, n_shape, slots, n_slots, &hash);
    Shape *s = e ? NULL : get_shape(t, shape, n_shape);
    if (s)
        e = add_terminal(t, s, slots, n_slots, hash);
    return e ? &e->entry : NULL;
}

/* -- elastic shapes -- */

/* Bytes of a terminal, with its symbol in the grammar and its entry in the tables, beyond 8 for
 * each slot; and of a call in a stream, beyond 1 for each slot. Measured with random values. */
enum { TERMINAL_BYTES = 200, CALL_BYTES = 4 };

static bool pays(const Shape *s, size_t n_slots)
{
    uint64_t terminals = s->n_terminals * (TERMINAL_BYTES + 8 * (uint64_t)n_slots),
             calls = s->outcomes.entries * (CALL_BYTES + (uint64_t)n_slots);
    return s->n_terminals > WEND_TIMED_APART && terminals > cst_patience
           && terminals - cst_patience > calls;
}

/* Short of memory the shape stays as it is. */
static void make_elastic(WendCst *t, Shape *s)
{
    Elastic *e = record_of_slots(t, sizeof *e, &s->signature, NULL, 0);
    if (!index_append(&t->terminals, e))
        return;
    e->terminal.shape = s;
    e->terminal.entry = (WendTerminalEntry){
        .number = t->terminals.n - 1, .shape = s->number, .times = s->common, .elastic = true};
    s->elastic = e;
}

static bool reserve_values(Elastic *e, size_t n)
{
    if (n <= e->cap)
        return true;
    int64_t *last = budget_resize(NULL, 0, 2 * n * sizeof *last);
    if (!last)
        return false;
    if (e->n > 0)
        memcpy(last, e->last, e->n * sizeof *last);
    budget_free(e->last, 2 * e->cap * sizeof *last);
    e->last = last;
    e->cap = n;
    return true;
}

static WendTerminalEntry *add_values(Elastic *e, const int64_t *slots, size_t n)
{
    if (!reserve_values(e, n))
        return NULL;
    int64_t *differences = e->last + e->cap;
    for (size_t i = 0; i < n; i++)
        differences[i] = (int64_t)((uint64_t)slots[i] - (i < e->n ? (uint64_t)e->last[i] : 0));
    if (!stream_add(&e->values, differences, n))
        return NULL;
    if (n > 0)
        memcpy(e->last, slots, n * sizeof *slots);
    e->n = n;
    return &e->terminal.entry;
}

/* Asks for the memory that the rest of the call needs. In a program with thousands of calls none of
 * it is in the cache, and each line would be waited for. */
static inline void fetch_ahead(const Terminal *e)
{
    __builtin_prefetch(&e->shape->outcomes, 1);
    __builtin_prefetch(&e->shape->outcomes.n, 1);
    __builtin_prefetch(e->entry.times, 1);
    __builtin_prefetch((const char *)e->entry.times + sizeof(WendStat), 1);
    __builtin_prefetch(e->signature.next);
}

WendTerminalEntry *cst_call(WendCst *t, const int64_t *shape, size_t n_shape, const int64_t *slots,
                            size_t n_slots)
{
    uint64_t hash;
    Terminal *e =
        (Terminal *)intern_find(&t->terminals.table, shape, n_shape, slots, n_slots, &hash);
    Shape *s = e ? e->shape : get_shape(t, shape, n_shape);
    if (!s)
        return NULL;
    if (e)
        fetch_ahead(e);
    if (!e && !s->elastic && pays(s, n_slots))
        make_elastic(t, s);
    if (s->elastic)
        return add_values(s->elastic, slots, n_slots);
    if (!e)
        e = add_terminal(t, s, slots, n_slots, hash);
    return e ? &e->entry : NULL;
}

void cst_call_undo(WendCst *t, const WendTerminalEntry *e)
{
    Elastic *of = ((Shape *)t->shapes.records[e->shape])->elastic;
    if (of && e == &of->terminal.entry)
        stream_undo(&of->values);
}

uint64_t cst_elastic_calls(const WendCst *t)
{
    uint64_t calls = 0;
    for (uint32_t i = 0; i < t->shapes.n; i++) {
        const Elastic *e = ((const Shape *)t->shapes.records[i])->elastic;
        calls += e ? e->values.entries : 0;
    }
    return calls;
}

/* -- pools -- */

static Maker *get_maker(WendCst *t, const int64_t *shape, size_t n_shape)
{
    uint64_t hash;
    Maker *m = (Maker *)intern_find(&t->makers, shape, n_shape, NULL, 0, &hash);
    if (m)
        return m;
    m = record_of_shape(t, sizeof *m, shape, n_shape);
    return m && intern_add(&t->makers, &m->signature, hash) ? m : NULL;
}

static Pool *new_pool(WendCst *t, Maker *m, const int64_t *slots, size_t n_slots)
{
    Pool *p = record_of_slots(t, sizeof *p, &m->signature, slots, n_slots);
    if (p) {
        p->maker = m;
        p->number = t->pools.n;
    }
    return p;
}

static Pool *add_pool(WendCst *t, Maker *m, const int64_t *slots, size_t n_slots, uint64_t hash)
{
    Pool *p = new_pool(t, m, slots, n_slots);
    if (!index_add(&t->pools, p, hash))
        return NULL;
    m->n_pools++;
    return p;
}

/* A pool takes 1,300 bytes, with its call's shape and terminal and the shapes of the calls that
 * complete its request. POOL_BYTES is less: if hundreds of partners repeat in any order, pools of
 * their own keep the signatures equal. FEW_REQUESTS: the average number of requests of a pool below
 * which pools do not repeat. */
enum { POOL_BYTES = 256, FEW_REQUESTS = 4 };

static bool has_many_pools(const Maker *m)
{
    return m->n_pools > cst_patience / POOL_BYTES && m->requests / FEW_REQUESTS < m->n_pools;
}

/* Short of memory the shape stays as it is. */
static void make_common(WendCst *t, Maker *m)
{
    Pool *p = new_pool(t, m, NULL, 0);
    if (index_append(&t->pools, p))
        m->common = p;
}

static Pool *get_pool(WendCst *t, const int64_t *shape, size_t n_shape, const int64_t *slots,
                      size_t n_slots, bool alike)
{
    uint64_t hash;
    Pool *p = (Pool *)intern_find(&t->pools.table, shape, n_shape, slots, n_slots, &hash);
    if (p && p->other)
        p = p->other;
    Maker *m = p ? p->maker : get_maker(t, shape, n_shape);
    if (!m)
        return NULL;
    m->requests++;
    if (!p && alike && !m->common && has_many_pools(m))
        make_common(t, m);
    if (alike && m->common)
        return m->common;
    return p ? p : add_pool(t, m, slots, n_slots, hash);
}

/* Makes room for one more k, in the heap too, so that a release cannot fail. */
static bool reserve(Pool *p)
{
    if (p->n < p->cap)
        return true;
    if (p->cap > UINT32_MAX / 2)
        return false;
    uint32_t cap = p->cap ? p->cap * 2 : 4;
    size_t before = p->cap * sizeof(uint32_t), bytes = cap * sizeof(uint32_t);
    uint32_t *numbers = budget_resize(NULL, 0, bytes),
             *heap = numbers ? budget_resize(NULL, 0, bytes) : NULL;
    if (!heap) {
        budget_free(numbers, numbers ? bytes : 0);
        return false;
    }
    if (before > 0) {
        memcpy(numbers, p->numbers, before);
        memcpy(heap, p->heap, before);
    }
    budget_free(p->numbers, before);
    budget_free(p->heap, before);
    p->numbers = numbers;
    p->heap = heap;
    p->cap = cap;
    return true;
}

static uint32_t heap_pop(uint32_t *heap, uint32_t n) /* n: before */
{
    uint32_t smallest = heap[0], moved = heap[n - 1], i = 0;
    n--;
    for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && heap[child + 1] < heap[child])
            child++;
        if (moved <= heap[child])
            break;
        heap[i] = heap[child];
    }
    heap[i] = moved;
    return smallest;
}

static void heap_push(uint32_t *heap, uint32_t n, uint32_t k) /* n: before */
{
    uint32_t i = n;
    for (; i > 0 && heap[(i - 1) / 2] > k; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = k;
}

bool cst_request(WendCst *t, const int64_t *shape, size_t n_shape, const int64_t *slots,
                 size_t n_slots, bool alike, WendPoolKey *key, uint32_t *number)
{
    Pool *p = get_pool(t, shape, n_shape, slots, n_slots, alike);
    if (!p)
        return false;
    uint32_t k;
    if (p->n_free > 0) {
        k = heap_pop(p->heap, p->n_free--);
    } else {
        if (t->n_requests == UINT32_MAX || !reserve(p))
            return false;
        k = p->n++;
        p->numbers[k] = t->n_requests++;
    }
    *key = (WendPoolKey){p->number, k};
    *number = p->numbers[k];
    return true;
}

void cst_share_pool(WendCst *t, const int64_t *shape, size_t n_shape, const int64_t *slots,
                    size_t n_slots, WendPoolKey key)
{
    uint64_t hash;
    Pool *p = (Pool *)intern_find(&t->pools.table, shape, n_shape, slots, n_slots, &hash);
    Maker *m = p ? p->maker : get_maker(t, shape, n_shape);
    if (!p && m)
        p = add_pool(t, m, slots, n_slots, hash);
    if (p)
        p->other = t->pools.records[key.signature];
}

void cst_release(WendCst *t, WendPoolKey key)
{
    Pool *p = t->pools.records[key.signature];
    heap_push(p->heap, p->n_free++, key.k);
}

/* -- outcomes, encoding -- */

bool cst_outcome(WendCst *t, uint32_t shape, const int64_t *words, size_t n)
{
    return stream_add(&((Shape *)t->shapes.records[shape])->outcomes, words, n);
}

void cst_outcome_undo(WendCst *t, uint32_t shape)
{
    stream_undo(&((Shape *)t->shapes.records[shape])->outcomes);
}

size_t cst_memory(const WendCst *t)
{
    size_t bytes = sizeof *t + t->arena.bytes;
    const Index *all[] = {&t->shapes, &t->terminals, &t->pools};
    for (size_t i = 0; i < 3; i++)
        bytes += intern_memory(&all[i]->table) + all[i]->cap * sizeof *all[i]->records;
    for (uint32_t i = 0; i < t->shapes.n; i++) {
        const Shape *s = t->shapes.records[i];
        bytes += stream_memory(&s->outcomes);
        bytes += s->elastic
                     ? stream_memory(&s->elastic->values) + 2 * s->elastic->cap * sizeof(int64_t)
                     : 0;
    }
    bytes += intern_memory(&t->makers);
    for (uint32_t i = 0; i < t->pools.n; i++)
        bytes += 2 * sizeof(uint32_t) * ((Pool *)t->pools.records[i])->cap;
    return bytes;
}

static void write_words(WendBuf *out, const int64_t *words, size_t n)
{
    buf_unsigned(out, n);
    for (size_t i = 0; i < n; i++)
        buf_signed(out, words[i]);
}

static void write_stat(WendBuf *out, const WendStat *s)
{
    buf_unsigned(out, s->count);
    if (s->count == 0)
        return;
    double n = (double)s->count, m2 = s->sum2 - s->sum * s->sum / n;
    buf_double(out, s->shift + s->sum / n);
    buf_double(out, s->min);
    buf_double(out, s->max);
    buf_double(out, m2 > 0 ? m2 : 0); /* rounding can make it negative */
}

static void write_no_times(WendBuf *out)
{
    buf_bytes(out, "\0", 2); /* counts of durations and intervals */
}

uint32_t cst_terminals(const WendCst *t)
{
    return t->terminals.n;
}

void cst_sketch(const WendCst *t, uint64_t one_of, uint64_t bits[WEND_SKETCH_WORDS])
{
    for (uint32_t i = 0; i < t->terminals.n; i++) {
        const Terminal *e = t->terminals.records[i];
        if (e->signature.n_slots == 0 && !e->entry.elastic)
            continue;
        uint64_t h = intern_hash(e->signature.shape, e->signature.n_shape, NULL, 0);
        if ((h >> 32 & (one_of - 1)) == 0)
            bits[h / 64 % WEND_SKETCH_WORDS] |= UINT64_C(1) << h % 64;
    }
}

/* Writes the outcome stream of a shape of unfinished calls: the polls before the first call, and no
 * outputs. */
static void write_unfinished(WendBuf *out, const WendUnfinished *unfinished, size_t n, size_t shape)
{
    WendBuf runs = {.resize = out->resize};
    uint64_t times = 0;
    int64_t polls = shape == 0 ? (int64_t)unfinished->polls : 0;
    for (size_t i = 0; i < n; i++)
        times += unfinished[i].number == shape ? unfinished[i].times : 0;
    uint64_t first = polls ? 1 : times; /* equal consecutive entries must be one run */
    stream_put_run(&runs, (const int64_t[]){polls, 0}, 2, first);
    if (times > first)
        stream_put_run(&runs, (const int64_t[]){0, 0}, 2, times - first);
    buf_unsigned(out, times);
    buf_block(out, &runs);
    buf_clear(&runs);
}

void cst_encode(const WendCst *t, bool timing, const WendUnfinished *unfinished,
                size_t n_unfinished, WendBuf *out)
{
    size_t n_new = 0; /* shapes */
    for (size_t i = 0; i < n_unfinished; i++)
        n_new += unfinished[i].number == n_new;
    buf_unsigned(out, t->shapes.n + n_new);
    for (uint32_t i = 0; i < t->shapes.n; i++) {
        const Shape *s = t->shapes.records[i];
        write_words(out, s->signature.shape, s->signature.n_shape);
    }
    for (size_t i = 0, next = 0; i < n_unfinished; i++)
        if (unfinished[i].number == next) {
            write_words(out, unfinished[i].shape, unfinished[i].n_shape);
            next++;
        }
    buf_unsigned(out, t->terminals.n + n_unfinished);
    for (uint32_t i = 0; i < t->terminals.n; i++) {
        const Terminal *e = t->terminals.records[i];
        const Elastic *elastic = ((const Shape *)t->shapes.records[e->entry.shape])->elastic;
        bool is_stream = elastic && e == &elastic->terminal;
        buf_unsigned(out, 2 * (uint64_t)e->entry.shape + is_stream);
        if (is_stream)
            stream_encode(&elastic->values, out);
        else
            write_words(out, e->signature.slots, e->signature.n_slots);
    }
    for (size_t i = 0; i < n_unfinished; i++) {
        buf_unsigned(out, 2 * (t->shapes.n + (uint64_t)unfinished[i].number));
        write_words(out, unfinished[i].slots, unfinished[i].n_slots);
    }
    for (uint32_t i = 0; i < t->shapes.n; i++)
        stream_encode(&((const Shape *)t->shapes.records[i])->outcomes, out);
    for (size_t i = 0; i < n_new; i++)
        write_unfinished(out, unfinished, n_unfinished, i);
    buf_unsigned(out, timing ? t->terminals.n + n_unfinished : 0);
    for (uint32_t i = 0; timing && i < t->terminals.n; i++) {
        const Terminal *e = t->terminals.records[i];
        const Shape *s = t->shapes.records[e->entry.shape];
        if (e->entry.times == s->common && s->common_of != i) {
            write_no_times(out);
        } else {
            write_stat(out, &e->entry.times->duration);
            write_stat(out, &e->entry.times->interval);
        }
    }
    for (size_t i = 0; timing && i < n_unfinished; i++)
        write_no_times(out);
}
