/* SPDX-License-Identifier: BSD-3-Clause */
/* intern.c: see intern.h. */
#include "intern.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/budget.h"
#include "words.h"

struct intern_entry {
    uint64_t hash;
    WendSignature *signature; /* NULL: empty */
};

uint64_t intern_hash(const int64_t *shape, size_t n_shape, const int64_t *slots, size_t n_slots)
{
    uint64_t h = XXH3_64bits(shape, n_shape * sizeof *shape);
    /* With the odd factor, a word that moves from one row to the other changes the hash. */
    if (n_slots > 0)
        h = (h ^ n_slots) * 0x9e3779b97f4a7c15u ^ XXH3_64bits(slots, n_slots * sizeof *slots);
    return h;
}

static inline bool is_signature(const WendSignature *s, const int64_t *shape, size_t n_shape,
                                const int64_t *slots, size_t n_slots)
{
    return s->n_shape == n_shape && s->n_slots == n_slots && words_equal(s->shape, shape, n_shape)
           && words_equal(s->slots, slots, n_slots);
}

static WendSignature *found(WendIntern *t, WendSignature *s)
{
    if (t->last)
        t->last->next = s;
    t->last = s;
    return s;
}

/* The look-up if the guess was wrong. A function of its own, so that intern_find saves no
 * registers. */
static __attribute__((noinline)) WendSignature *look_up(WendIntern *t, const int64_t *shape,
                                                        size_t n_shape, const int64_t *slots,
                                                        size_t n_slots, uint64_t *hash)
{
    uint64_t h = *hash = intern_hash(shape, n_shape, slots, n_slots);
    if (t->n == 0)
        return NULL;
    for (size_t i = h & t->mask;; i = (i + 1) & t->mask) {
        const struct intern_entry *e = &t->entries[i];
        if (!e->signature)
            return NULL;
        if (e->hash == h && is_signature(e->signature, shape, n_shape, slots, n_slots))
            return found(t, e->signature);
    }
}

WendSignature *intern_find(WendIntern *t, const int64_t *shape, size_t n_shape,
                           const int64_t *slots, size_t n_slots, uint64_t *hash)
{
    WendSignature *guess = t->last ? t->last->next : NULL;
    if (guess && is_signature(guess, shape, n_shape, slots, n_slots))
        return t->last = guess;
    return look_up(t, shape, n_shape, slots, n_slots, hash);
}

static void put(WendIntern *t, struct intern_entry e)
{
    size_t i = e.hash & t->mask;
    while (t->entries[i].signature)
        i = (i + 1) & t->mask;
    t->entries[i] = e;
}

/* Keeps the table at most half full, so that probes stay short. */
static bool grow(WendIntern *t)
{
    size_t size = t->entries ? t->mask + 1 : 0, new_size = size ? size * 2 : 16;
    struct intern_entry *old = t->entries, *entries = budget_zeroed(new_size * sizeof *entries);
    if (!entries)
        return false;
    t->entries = entries;
    t->mask = new_size - 1;
    for (size_t i = 0; i < size; i++)
        if (old[i].signature)
            put(t, old[i]);
    budget_free(old, size * sizeof *old);
    return true;
}

bool intern_add(WendIntern *t, WendSignature *s, uint64_t hash)
{
    if ((!t->entries || t->n * 2 > t->mask) && !grow(t))
        return false;
    put(t, (struct intern_entry){hash, s});
    t->n++;
    found(t, s);
    return true;
}

size_t intern_memory(const WendIntern *t)
{
    return t->entries ? (t->mask + 1) * sizeof *t->entries : 0;
}

void intern_clear(WendIntern *t)
{
    budget_free(t->entries, intern_memory(t));
    *t = (WendIntern){0};
}
