/* SPDX-License-Identifier: BSD-3-Clause */
/* handles.c: the library's handle values and their words: one hash with open addressing for each
 * kind. Predefined handles are entries, too. */
#include "objects.h"

#include <string.h>

#include "lib/base/budget.h"
#include "recorder/recorder.h"

struct HandleTable handles_of_kind[HANDLE_KINDS];

/* -- ids: the smallest free one -- */

static bool id_take(struct IdPool *p, uint32_t *id)
{
    while (p->first < p->words && p->used[p->first] == UINT64_MAX)
        p->first++;
    if (p->first == p->words) {
        size_t words = p->words ? 2 * p->words : 1;
        uint64_t *grown = budget_resize(p->used, p->words * sizeof *grown, words * sizeof *grown);
        if (!grown)
            return false;
        memset(grown + p->words, 0, (words - p->words) * sizeof *grown);
        p->used = grown;
        p->words = words;
    }
    unsigned bit = (unsigned)__builtin_ctzll(~p->used[p->first]);
    p->used[p->first] |= UINT64_C(1) << bit;
    *id = (uint32_t)(p->first * 64 + bit);
    return true;
}

static void id_release(struct IdPool *p, uint32_t id)
{
    p->used[id / 64] &= ~(UINT64_C(1) << id % 64);
    if (id / 64 < p->first)
        p->first = id / 64;
}

/* Returns the id of an object of MAKER, the made-th of its kind, which C has freed (WEND_LAG). */
static void give_back(const ActiveCall *c, CallSequence *maker, HandleKind kind, uint32_t id,
                      uint64_t made)
{
    struct IdPool *p = &maker->ids[kind];
    if (!c || c->sequence == maker || c->sequence->callback || maker->callback) {
        id_release(p, id);
        return;
    }
    if (p->n_given_back == p->cap_given_back) {
        size_t cap = p->cap_given_back ? 2 * p->cap_given_back : 16;
        struct GivenBack *grown =
            budget_resize(p->given_back, p->cap_given_back * sizeof *grown, cap * sizeof *grown);
        if (!grown) {
            id_release(p, id);
            return;
        }
        p->given_back = grown;
        p->cap_given_back = cap;
    }
    p->given_back[p->n_given_back++] = (struct GivenBack){id, made};
}

static void take_back(struct IdPool *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_given_back; i++)
        if (p->made - p->given_back[i].made >= WEND_LAG)
            id_release(p, p->given_back[i].id);
        else
            p->given_back[n++] = p->given_back[i];
    p->n_given_back = n;
}

/* -- the hash -- */

/* The entry of the value: the calling thread's own if there are several. NULL if there is none;
 * *VACANT is then the free slot for it. */
static HandleEntry *lookup(HandleKind kind, uintptr_t value, HandleEntry **vacant)
{
    size_t n = handles_of_kind[kind].n;
    HandleEntry *found = NULL;
    for (size_t i = handle_home(value, n);; i = (i + 1) & (n - 1)) {
        HandleEntry *e = &handles_of_kind[kind].slots[i];
        if (e->references == 0) {
            *vacant = e;
            return found;
        }
        if (e->value != value)
            continue;
        if (!found)
            found = e;
        if (handle_is_own(e, kind))
            return e;
    }
}

static HandleEntry *find(HandleKind kind, uintptr_t value)
{
    HandleEntry *vacant;
    return handles_of_kind[kind].n ? lookup(kind, value, &vacant) : NULL;
}

static bool grow(HandleKind kind)
{
    size_t before = handles_of_kind[kind].n, n = before ? 2 * before : 64;
    HandleEntry *old = handles_of_kind[kind].slots, *grown = budget_zeroed(n * sizeof *grown);
    if (!grown)
        return false;
    handles_of_kind[kind].slots = grown;
    handles_of_kind[kind].n = n;
    for (size_t i = 0; i < before; i++)
        if (old[i].references) {
            size_t k = handle_home(old[i].value, n);
            while (grown[k].references)
                k = (k + 1) & (n - 1);
            grown[k] = old[i];
        }
    budget_free(old, before * sizeof *old);
    return true;
}

/* The entry of the value, or a free one, which then counts as used. NULL if memory is short. */
static HandleEntry *insert(HandleKind kind, uintptr_t value)
{
    if (2 * handles_of_kind[kind].used >= handles_of_kind[kind].n && !grow(kind))
        return NULL;
    HandleEntry *vacant = NULL, *e = lookup(kind, value, &vacant);
    bool of_another = e && !e->ending && !handle_is_own(e, kind);
    if (e && !of_another)
        return e;
    handles_of_kind[kind].used++;
    return vacant;
}

/* What a search finds is another thing now. Other threads then no longer use what they found. */
static void changed(HandleKind kind)
{
    atomic_fetch_add_explicit(&handles_of_kind[kind].version, 1, memory_order_release);
}

static void erase(HandleKind kind, HandleEntry *e)
{
    size_t n = handles_of_kind[kind].n, hole = (size_t)(e - handles_of_kind[kind].slots);
    HandleEntry *slots = handles_of_kind[kind].slots;
    handles_of_kind[kind].used--;
    for (size_t i = (hole + 1) & (n - 1); slots[i].references; i = (i + 1) & (n - 1)) {
        /* An entry moves back to the hole unless its home is after the hole. */
        if (((i - handle_home(slots[i].value, n)) & (n - 1)) >= ((i - hole) & (n - 1))) {
            slots[hole] = slots[i];
            hole = i;
        }
    }
    slots[hole] = (HandleEntry){0};
}

/* -- functions for other files -- */

void handles_open(void)
{
    for (size_t i = 0; i < mpi_n_predefined; i++) {
        const PredefinedHandle *p = &mpi_predefined[i];
        HandleEntry *e = insert(p->kind, p->value);
        if (!e) {
            state_break("out of memory");
            return;
        }
        /* Two constants may have one value: the first in the list stands for both. */
        if (e->references == 0)
            *e = (HandleEntry){.value = p->value,
                               .word = WEND_CONST(p->constant),
                               .references = HANDLE_PREDEFINED};
    }
    for (int kind = 0; kind < HANDLE_KINDS; kind++)
        changed(kind);
}

/* Threads that call at once look up the same few handles again and again, and would wait for one
 * lock each time. So each keeps what it found last, for as long as the table does not change. */
static HandleFound search(HandleKind kind, uintptr_t value)
{
    HandleFound *kept =
        this_thread ? &this_thread->found[kind][handle_home(value, HANDLES_FOUND)] : NULL;
    if (kept && kept->value == value && kept->owner == handle_owner()
        && kept->version
               == atomic_load_explicit(&handles_of_kind[kind].version, memory_order_acquire))
        return *kept;
    bool locked = state_lock(&state()->handles_lock);
    const HandleEntry *e = find(kind, value);
    HandleFound found = {
        .value = value,
        .version = atomic_load_explicit(&handles_of_kind[kind].version, memory_order_relaxed),
        .owner = handle_owner(),
        .word = e ? e->word : WEND_UNKNOWN,
        .facts = e ? e->facts : NULL,
    };
    state_unlock(&state()->handles_lock, locked);
    if (kept)
        *kept = found;
    return found;
}

int64_t handle_word_searched(HandleKind kind, uintptr_t value)
{
    return search(kind, value).word;
}

void *handle_facts_searched(HandleKind kind, uintptr_t value)
{
    return search(kind, value).facts;
}

static int64_t reserve(CallSequence *q, HandleKind kind)
{
    uint32_t id;
    q->ids[kind].made++;
    take_back(&q->ids[kind]);
    return id_take(&q->ids[kind], &id) ? WEND_HANDLE(q->tid, id) : WEND_UNKNOWN;
}

int64_t handle_made(ActiveCall *c, HandleKind kind, uintptr_t value)
{
    c->kept = true;
    bool locked = state_lock(&state()->handles_lock);
    HandleEntry *e = insert(kind, value);
    int64_t word = WEND_UNKNOWN;
    /* the library uses the value of a freed handle again */
    if (e && e->references == HANDLE_ENDED) {
        id_release(&e->maker->ids[kind], word_handle_number(e->word));
        e->references = 0;
    }
    if (e && e->references && !e->ending) {
        word = e->word;
        if (e->references != HANDLE_PREDEFINED)
            e->references++;
    } else if (e) {
        word = reserve(c->sequence, kind);
        if (word != WEND_UNKNOWN)
            *e = (HandleEntry){.value = value,
                               .word = word,
                               .references = 1,
                               .maker = c->sequence,
                               .made = c->sequence->ids[kind].made};
        else if (!e->references)
            handles_of_kind[kind].used--;
        changed(kind);
    }
    state_unlock(&state()->handles_lock, locked);
    if (word == WEND_UNKNOWN)
        state_break("out of memory");
    return word;
}

void handle_ending(ActiveCall *c, HandleKind kind, uintptr_t value)
{
    bool locked = state_lock(&state()->handles_lock);
    HandleEntry *e = find(kind, value);
    if (e && e->references == 1) {
        e->ending = true;
        c->ending = (EndedHandle){e->word, e->maker, e->made, e->facts};
    }
    state_unlock(&state()->handles_lock, locked);
}

void handle_stays(ActiveCall *c, HandleKind kind, uintptr_t value)
{
    bool locked = state_lock(&state()->handles_lock);
    HandleEntry *e = find(kind, value);
    if (e && c->ending.maker && e->word == c->ending.word)
        e->ending = false;
    state_unlock(&state()->handles_lock, locked);
}

void handle_freed(ActiveCall *c, HandleKind kind, uintptr_t value)
{
    if (c)
        c->kept = true;
    bool locked = state_lock(&state()->handles_lock);
    HandleEntry *e = find(kind, value);
    void *facts = NULL;
    /* another thread has an object with this value already */
    if (c && c->ending.maker && (!e || e->word != c->ending.word)) {
        facts = c->ending.facts;
        give_back(c, c->ending.maker, kind, word_handle_number(c->ending.word), c->ending.made);
    } else if (e && e->references == 1 && kind == HANDLE_KEYVAL) {
        /* Attributes outlive the key, and MPI_Comm_delete_attr may name them by it. So the id stays
         * in use until the library uses the value again. */
        facts = e->facts;
        e->facts = NULL;
        e->ending = false;
        e->references = HANDLE_ENDED;
        changed(kind);
    } else if (e && e->references == 1) {
        facts = e->facts;
        give_back(c, e->maker, kind, word_handle_number(e->word), e->made);
        erase(kind, e);
        changed(kind);
    } else if (e && e->references != HANDLE_PREDEFINED && e->references != HANDLE_ENDED) {
        e->references--;
    }
    state_unlock(&state()->handles_lock, locked);
    handle_facts_free(facts);
}

/* The size is stored before the facts. */
void *handle_facts_new(size_t bytes)
{
    max_align_t *p = budget_zeroed(sizeof *p + bytes);
    if (!p)
        return NULL;
    *(size_t *)p = sizeof *p + bytes;
    return p + 1;
}

void handle_facts_free(void *facts)
{
    if (!facts)
        return;
    max_align_t *p = (max_align_t *)facts - 1;
    budget_free(p, *(size_t *)p);
}

bool handle_set_metadata(HandleKind kind, uintptr_t value, void *facts)
{
    bool locked = state_lock(&state()->handles_lock);
    HandleEntry *e = find(kind, value);
    if (e) {
        void *before = e->facts;
        e->facts = facts;
        facts = before;
        changed(kind);
    }
    state_unlock(&state()->handles_lock, locked);
    handle_facts_free(facts);
    return e != NULL;
}

int64_t handle_reserve(ActiveCall *c, HandleKind kind)
{
    c->kept = true;
    bool locked = state_lock(&state()->handles_lock);
    int64_t word = reserve(c->sequence, kind);
    state_unlock(&state()->handles_lock, locked);
    if (word == WEND_UNKNOWN)
        state_break("out of memory");
    return word;
}

void handle_arrived(CallSequence *maker, HandleKind kind, uintptr_t value, int64_t word,
                    void *facts)
{
    bool locked = state_lock(&state()->handles_lock);
    HandleEntry *e = insert(kind, value);
    if (e && (e->references == 0 || e->ending)) {
        *e = (HandleEntry){.value = value,
                           .word = word,
                           .references = 1,
                           .maker = maker,
                           .made = maker->ids[kind].made,
                           .facts = facts};
        facts = NULL;
        changed(kind);
    }
    state_unlock(&state()->handles_lock, locked);
    handle_facts_free(facts);
    if (!e)
        state_break("out of memory");
}
