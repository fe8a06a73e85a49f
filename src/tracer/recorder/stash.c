/* SPDX-License-Identifier: BSD-3-Clause */
/* stash.c: see recorder.h. */
#include "recorder.h"

#include <string.h>

#include "lib/base/budget.h"
#include "sequence.h"

struct Stash {
    /* the request's pointer to it; NULL: the request does not refer to it any more */
    Stash **holder;
    Stash *previous, *next;
    int function;
    size_t n_shape, n_slots, n_outcome;
    int64_t words[]; /* shape, slots and outcome */
};

static size_t stash_bytes(size_t words)
{
    return sizeof(Stash) + words * sizeof(int64_t);
}

void stash_let_go(Stash *s)
{
    if (s->holder)
        *s->holder = NULL;
    s->holder = NULL;
}

void stash_remove(CallSequence *q, Stash *s)
{
    *(s->previous ? &s->previous->next : &q->stashed) = s->next;
    *(s->next ? &s->next->previous : &q->stashed_last) = s->previous;
    stash_let_go(s);
    budget_free(s, stash_bytes(s->n_shape + s->n_slots + s->n_outcome));
}

void stash_call(ActiveCall *c)
{
    CallSequence *q = c->sequence;
    bool locked = state_lock(&state()->requests_lock);
    size_t n = c->shape.n + c->slots.n + c->outcome.n;
    Stash *s = !*c->stash_at ? budget_zeroed(stash_bytes(n)) : NULL;
    if (s) {
        *s = (Stash){c->stash_at, q->stashed_last, NULL,        c->function,
                     c->shape.n,  c->slots.n,      c->outcome.n};
        memcpy(s->words, c->shape.w, s->n_shape * sizeof *s->words);
        memcpy(s->words + s->n_shape, c->slots.w, s->n_slots * sizeof *s->words);
        memcpy(s->words + s->n_shape + s->n_slots, c->outcome.w, s->n_outcome * sizeof *s->words);
        *c->stash_at = s;
        *(q->stashed_last ? &q->stashed_last->next : &q->stashed) = s;
        q->stashed_last = s;
    }
    state_unlock(&state()->requests_lock, locked);
}

bool stash_append_all(CallSequence *q)
{
    bool ok = true, locked = state_lock(&state()->requests_lock);
    while (q->stashed && ok) {
        Stash *s = q->stashed;
        ActiveCall c = {
            .sequence = q,
            .function = s->function,
            .shape = {s->words, s->n_shape, s->n_shape},
            .slots = {s->words + s->n_shape, s->n_slots, s->n_slots},
            .outcome = {s->words + s->n_shape + s->n_slots, s->n_outcome, s->n_outcome},
        };
        ok = sequence_append(&c, false);
        q->calls += ok;
        q->left_out -= ok;
        stash_remove(q, s);
    }
    state_unlock(&state()->requests_lock, locked);
    return ok;
}
