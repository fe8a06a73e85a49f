/* SPDX-License-Identifier: BSD-3-Clause */
/* intern.h: hash tables of signatures (shape words and slot words) that find a known one in a few
 * nanoseconds. No GLib.
 *
 * The caller owns the records, which begin with a WendSignature; the table holds pointers to them.
 * Each record has a pointer to the record that was found after it the last time. Programs repeat
 * themselves, so most lookups find that record again, with one comparison and no hash. */
#ifndef WEND_INTERN_H
#define WEND_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct WendSignature {
    const int64_t *shape, *slots;
    size_t n_shape, n_slots;
    struct WendSignature *next; /* found after this one the last time; NULL unknown */
} WendSignature;

typedef struct {
    struct intern_entry *entries; /* open addressing, linear probing */
    size_t n, mask;               /* mask + 1 entries, a power of two; 0: none yet */
    WendSignature *last;          /* found last */
} WendIntern;                     /* {0} is empty */

/* The record of a signature, or NULL and the hash to add it with. */
WendSignature *intern_find(WendIntern *t, const int64_t *shape, size_t n_shape,
                           const int64_t *slots, size_t n_slots, uint64_t *hash);
/* Adds a record that was not found. False: no memory, nothing changed. */
bool intern_add(WendIntern *t, WendSignature *s, uint64_t hash);
/* The hash of a signature, equal in all processes. */
uint64_t intern_hash(const int64_t *shape, size_t n_shape, const int64_t *slots, size_t n_slots);
size_t intern_memory(const WendIntern *t);
void intern_clear(WendIntern *t); /* the records stay */

#endif
