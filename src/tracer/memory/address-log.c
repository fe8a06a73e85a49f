/* SPDX-License-Identifier: BSD-3-Clause */
/* address-log.c: see address-log.h. */
#include "address-log.h"

#include <stdlib.h>
#include <string.h>

#include "segments.h"

#include "lib/base/lower-bound.h"

enum {
    REMEMBERED = 1024, /* addresses; datatypes with more differences are rare */
    /* lookups for one array; beyond it, the numbers are recorded as they are */
    EFFORT = 1 << 16
};

/* Ascending by address. LIFE identifies the block at that time. An address in a block that was
 * freed says nothing about the block that is there now. */
struct AddressLog {
    uint64_t now;
    size_t n;
    struct {
        int64_t address;
        uint64_t when, life;
    } at[REMEMBERED];
};

/* The index of the first address that is not below ADDRESS. */
static size_t place(const AddressLog *a, int64_t address)
{
    return LOWER_BOUND(i, a->n, a->at[i].address < address);
}

/* The time at which the address was last asked for; 0: never. */
static uint64_t address_log_when(const AddressLog *a, int64_t address)
{
    size_t i = place(a, address);
    return i < a->n && a->at[i].address == address
                   && a->at[i].life == memory_block_lifetime((const void *)address)
               ? a->at[i].when
               : 0;
}

static void forget_oldest(AddressLog *a)
{
    size_t oldest = 0;
    for (size_t i = 1; i < a->n; i++)
        if (a->at[i].when < a->at[oldest].when)
            oldest = i;
    a->n--;
    memmove(&a->at[oldest], &a->at[oldest + 1], (a->n - oldest) * sizeof *a->at);
}

void address_log_add(AddressLog **asked, int64_t address)
{
    if (address <= 0) /* MPI_BOTTOM */
        return;
    if (!*asked)
        *asked = calloc(1, sizeof **asked);
    AddressLog *a = *asked;
    if (!a)
        return;
    size_t i = place(a, address);
    if (i == a->n || a->at[i].address != address) {
        if (a->n == REMEMBERED) {
            forget_oldest(a);
            i = place(a, address);
        }
        memmove(&a->at[i + 1], &a->at[i], (a->n - i) * sizeof *a->at);
        a->n++;
        a->at[i].address = address;
    }
    a->at[i].when = ++a->now;
    a->at[i].life = memory_block_lifetime((const void *)address);
}

int64_t address_log_displacement(Displacements d, int64_t i)
{
    if (d.width == sizeof(int32_t)) {
        int32_t value;
        memcpy(&value, (const char *)d.values + i * (int64_t)sizeof value, sizeof value);
        return value;
    }
    int64_t value;
    memcpy(&value, (const char *)d.values + i * (int64_t)sizeof value, sizeof value);
    return value;
}

int64_t address_log_segment(int64_t base, int64_t target)
{
    int64_t home = memory_known((const void *)base).segment,
            segment = memory_known((const void *)target).segment;
    if (segment != home && (!word_is_segment(segment) || segment_kind(segment) == WEND_SEGMENT_MAP)
        && memory_known((const char *)target - 1).segment == home)
        segment = home;
    return word_is_segment(segment) ? segment : -1;
}

/* How well a base explains displacements. Distances repeat, because allocators are regular. So the
 * best of several bases counts: more target addresses were asked for, or all of them later. */
typedef struct {
    /* all displacements lead to memory that MPI has used; some lead to another segment, and to an
     * address there that was asked for */
    bool possible, away;
    int64_t asked;
    uint64_t oldest; /* time of the oldest of the base and the addresses that were asked for */
} Fit;

static Fit fit(const AddressLog *a, int64_t base, Displacements d)
{
    int64_t home = address_log_segment(base, base);
    Fit f = {.oldest = address_log_when(a, base)};
    bool away = false;
    if (home < 0 || f.oldest == 0)
        return f; /* its block was freed */
    for (int64_t i = 0; i < d.n; i++) {
        int64_t target = base + address_log_displacement(d, i),
                segment = address_log_segment(base, target);
        if (segment < 0)
            return f;
        uint64_t when = address_log_when(a, target);
        if (when > 0) {
            f.asked++;
            f.oldest = when < f.oldest ? when : f.oldest;
        }
        away |= segment != home;
        f.away |= segment != home && when > 0;
    }
    f.possible = f.away == away;
    return f;
}

static bool is_better(Fit f, Fit than)
{
    return f.asked != than.asked ? f.asked > than.asked : f.oldest > than.oldest;
}

/* Chooses a few displacements that a base must explain first. A base that does not is skipped
 * without a lookup. */
static int pivots(Displacements d, int64_t pivot[4])
{
    int64_t lowest = 0, highest = 0, first = 0, last = 0;
    for (int64_t i = 0; i < d.n; i++) {
        int64_t v = address_log_displacement(d, i);
        lowest = v < lowest ? v : lowest;
        highest = v > highest ? v : highest;
        first = first ? first : v;
        last = v ? v : last;
    }
    const int64_t all[4] = {first, last, lowest, highest};
    int n = 0;
    for (int i = 0; i < 4; i++) {
        bool known = all[i] == 0 || all[i] >= INT64_MAX / 2 || all[i] <= INT64_MIN / 2;
        for (int k = 0; k < n; k++)
            known |= pivot[k] == all[i];
        if (!known)
            pivot[n++] = all[i];
    }
    return n;
}

int64_t address_log_base(const AddressLog *a, Displacements d)
{
    int64_t pivot[4], base = 0, effort = EFFORT;
    Fit best = {.possible = false};
    if (!a || d.n <= 0)
        return 0;
    int n = pivots(d, pivot);
    if (n == 0 || address_log_when(a, pivot[0])) /* nothing, or addresses themselves */
        return 0;
    for (int p = 0; p < n; p++) {
        size_t to = 0;
        for (size_t from = 0; from < a->n && to < a->n; from++) {
            int64_t target = a->at[from].address + pivot[p];
            while (to < a->n && a->at[to].address < target)
                to++;
            if (to == a->n || a->at[to].address != target)
                continue;
            effort -= d.n;
            if (effort < 0)
                return base;
            Fit f = fit(a, a->at[from].address, d);
            if (f.possible && is_better(f, best)) {
                best = f;
                base = f.away ? a->at[from].address : 0;
            }
        }
    }
    return base;
}
