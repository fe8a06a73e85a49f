/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-part.c: makes this rank's part: its facts, its sequences, and the calls that have not
 * returned. The merge calls it, and the watcher, which saves the part while the application is at
 * any point. So it uses no memory but OUT's, and no function of libc that takes a lock. */
#include "lifecycle.h"

#include <string.h>

#include "recorder/recorder.h"
#include "side-streams/side-streams.h"

typedef struct {
    WendUnfinished *calls;
    size_t n, cap;
    size_t n_shapes;
    WendBuf *out; /* provides the memory */
} UnfinishedCalls;

/* Of all sequences, for their sites. */
typedef struct {
    SideUnfinished *calls;
    size_t n, cap;
} AllUnfinished;

static bool same_words(const int64_t *a, size_t n_a, const int64_t *b, size_t n_b)
{
    return n_a == n_b && (n_a == 0 || memcmp(a, b, n_a * sizeof *a) == 0);
}

static void list_add(UnfinishedCalls *l, const ActiveCall *c, uint64_t polls)
{
    size_t n = c->shape.n + 1, bytes = l->cap * sizeof *l->calls;
    if (l->n == l->cap) {
        WendUnfinished *grown =
            buf_resize(l->out->resize, l->calls, bytes, 2 * bytes + 8 * sizeof *grown);
        if (!grown) {
            l->out->failed = true;
            return;
        }
        l->calls = grown;
        l->cap = 2 * l->cap + 8;
    }
    int64_t *shape = buf_resize(l->out->resize, NULL, 0, n * sizeof *shape);
    if (!shape) {
        l->out->failed = true;
        return;
    }
    memcpy(shape, c->shape.w, c->shape.n * sizeof *shape);
    shape[0] = WEND_SHAPE_HEAD(c->function, true);
    shape[n - 1] = WEND_UNFINISHED;
    size_t number = l->n_shapes;
    for (size_t i = 0; i < l->n; i++) {
        WendUnfinished *u = &l->calls[i];
        if (!same_words(u->shape, u->n_shape, shape, n))
            continue;
        number = u->number;
        if (same_words(u->slots, u->n_slots, c->slots.w, c->slots.n)) {
            u->times++;
            buf_resize(l->out->resize, shape, n * sizeof *shape, 0);
            return;
        }
    }
    l->n_shapes += number == l->n_shapes;
    l->calls[l->n] = (WendUnfinished){.shape = shape,
                                      .n_shape = n,
                                      .slots = c->slots.w,
                                      .n_slots = c->slots.n,
                                      .number = number,
                                      .times = 1,
                                      .polls = l->n > 0 ? 0 : polls};
    l->n++;
}

static void list_free(UnfinishedCalls *l)
{
    for (size_t i = 0; i < l->n; i++)
        buf_resize(l->out->resize, (void *)l->calls[i].shape,
                   l->calls[i].n_shape * sizeof *l->calls[i].shape, 0);
    buf_resize(l->out->resize, l->calls, l->cap * sizeof *l->calls, 0);
}

static void all_add(AllUnfinished *all, const CallSequence *q, const ActiveCall *c, WendBuf *out)
{
    if (all->n == all->cap) {
        size_t cap = 2 * all->cap + 8;
        SideUnfinished *grown =
            buf_resize(out->resize, all->calls, all->cap * sizeof *grown, cap * sizeof *grown);
        if (!grown)
            return; /* without its site */
        all->calls = grown;
        all->cap = cap;
    }
    all->calls[all->n++] = (SideUnfinished){q, c};
}

/* The calls of Q that some thread has begun and not finished. They are added to ALL, too. */
static UnfinishedCalls unfinished(const CallSequence *q, AllUnfinished *all, WendBuf *out)
{
    UnfinishedCalls l = {.out = out};
    if (!atomic_load(&state()->recording))
        return l;
    for (const CallSequence *o = __atomic_load_n(&state()->sequences, __ATOMIC_ACQUIRE); o;
         o = __atomic_load_n(&o->next, __ATOMIC_ACQUIRE)) {
        const Thread *t = __atomic_load_n(&o->owner, __ATOMIC_ACQUIRE);
        for (const ActiveCall *c = t ? __atomic_load_n(&t->call, __ATOMIC_ACQUIRE) : NULL; c;
             c = c->outer)
            if (atomic_load(&c->running) && c->sequence == q) {
                list_add(&l, c, q->polls_since);
                all_add(all, q, c, out);
            }
    }
    return l;
}

static enum sequence_kind kind_of(const CallSequence *q)
{
    return q->order ? q->order : q->callback ? WEND_SEQUENCE_CALLBACK : WEND_SEQUENCE_THREAD;
}

uint64_t rank_part_terminals(void)
{
    uint64_t n = 0;
    for (const CallSequence *q = __atomic_load_n(&state()->sequences, __ATOMIC_ACQUIRE); q;
         q = __atomic_load_n(&q->next, __ATOMIC_ACQUIRE))
        n += cst_terminals(q->main);
    return n;
}

void rank_part_sketch(uint64_t one_of, uint64_t *bits)
{
    for (const CallSequence *q = __atomic_load_n(&state()->sequences, __ATOMIC_ACQUIRE); q;
         q = __atomic_load_n(&q->next, __ATOMIC_ACQUIRE))
        cst_sketch(q->main, one_of, bits);
}

bool rank_part_write(WendBuf *out, const char *ended)
{
    const State *s = state();
    WendFacts facts = {.bytes.resize = out->resize};
    AllUnfinished all = {NULL, 0, 0};
    const CallSequence *first = __atomic_load_n(&s->sequences, __ATOMIC_ACQUIRE);
    size_t n = 0;
    for (const CallSequence *q = first; q; q = __atomic_load_n(&q->next, __ATOMIC_ACQUIRE))
        n++;
    facts_put(&facts, ended);
    part_begin(out, &facts, (uint32_t)s->world_rank, (uint32_t)s->world_size, n);
    for (const CallSequence *q = first; n > 0; q = q->next, n--) {
        UnfinishedCalls l = unfinished(q, &all, out);
        part_sequence(out, &(WendPartSequence){
                               .kind = kind_of(q),
                               .id = kind_of(q) == WEND_SEQUENCE_THREAD ? q->tid : q->function,
                               .calls = q->main,
                               .grammar = q->main_grammar,
                               .polls_after = q->polls_since,
                               .unfinished = l.calls,
                               .n_unfinished = l.n,
                               .polls = q->polls,
                               .polls_grammar = q->polls_grammar,
                           });
        list_free(&l);
    }
    bool own_members = side_stream_put(out, all.calls, all.n);
    buf_resize(out->resize, all.calls, all.cap * sizeof *all.calls, 0);
    buf_clear(&facts.bytes);
    return own_members;
}
