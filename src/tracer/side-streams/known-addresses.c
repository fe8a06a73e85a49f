/* SPDX-License-Identifier: BSD-3-Clause */
/* known-addresses.c: see call-stacks.h. */
#include "call-stacks.h"

#include <string.h>

#include "lib/base/budget.h"
#include "lib/record/site-guesses.h"

/* Addresses of code that is made while the program runs may be new each time. */
enum { PLACES_AT_FIRST = 128, PLACES_MOST = 1 << 16 };

static size_t hash(uint64_t key, size_t mask)
{
    return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
}

static KnownAddress *find(const KnownAddresses *a, uintptr_t address)
{
    size_t at = hash(address, a->mask);
    while (a->at[at].address != 0 && a->at[at].address != address)
        at = (at + 1) & a->mask;
    return &a->at[at];
}

/* Makes room for another address. False: no memory, or there are too many. */
static bool make_room(KnownAddresses *a)
{
    KnownAddresses larger = *a;
    if (a->at && 2 * (a->n + 1) <= a->mask)
        return true;
    if (a->mask + 1 >= PLACES_MOST)
        return false;
    larger.mask = a->at ? 2 * a->mask + 1 : PLACES_AT_FIRST - 1;
    larger.at = budget_zeroed((larger.mask + 1) * sizeof *a->at);
    if (!larger.at)
        return false;
    for (size_t i = 0; a->at && i <= a->mask; i++)
        if (a->at[i].address != 0)
            *find(&larger, a->at[i].address) = a->at[i];
    budget_free(a->at, a->at ? (a->mask + 1) * sizeof *a->at : 0);
    *a = larger;
    return true;
}

bool known_addresses_init(KnownAddresses *a, bool rules)
{
    *a = (KnownAddresses){.rules = rules};
    return make_room(a);
}

static KnownModule *known_module(KnownAddresses *a, const CodeModule *m)
{
    for (KnownModule *k = a->modules; k; k = k->next)
        if (k->n_id == m->n_id && memcmp(k->id, m->id, m->n_id) == 0
            && strcmp(k->file, m->file) == 0)
            return k;
    size_t n = strlen(m->file) + 1;
    KnownModule *k = budget_zeroed(sizeof *k + n);
    if (!k)
        return NULL;
    memcpy(k->file, m->file, n);
    memcpy(k->id, m->id, m->n_id);
    k->n_id = m->n_id;
    k->next = a->modules;
    k->number = WEND_SITE_NONE;
    return a->modules = k;
}

static bool is_runtime(const char *file)
{
    static const char *const names[] = {"libc.so", "libc-2.", "libpthread", "ld-linux", "ld-musl"};
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

void known_addresses_forget(KnownAddresses *a)
{
    memset(a->at, 0, (a->mask + 1) * sizeof *a->at);
    a->n = 0;
}

KnownAddress *known_address(KnownAddresses *a, uintptr_t address, bool *unloaded)
{
    KnownAddress *p = find(a, address);
    if (__builtin_expect(p->address == address, 1))
        return p;
    CodeModule m;
    unsigned long long n_unloaded;
    bool found = code_module_of(address, &m, &n_unloaded);
    if (n_unloaded != a->unloaded) {
        known_addresses_forget(a);
        *unloaded = true;
    }
    a->unloaded = n_unloaded;
    if (!make_room(a))
        return NULL;
    p = find(a, address);
    *p = (KnownAddress){.address = address, .site = WEND_SITE_NONE};
    a->n++;
    if (!found)
        return p;
    p->layer = m.layer;
    p->runtime = is_runtime(m.file);
    p->offset = address - m.base;
    p->module = known_module(a, &m);
    if (m.layer || a->rules) /* the call is just before the address to which it returns */
        p->rule = frame_rule(m.frames, m.n_frames, m.frames_low, m.frames_high, address - 1);
    return p;
}
