/* SPDX-License-Identifier: BSD-3-Clause */
/* allowance.h: how much memory the archives of one recording may take.
 *
 * A few bytes of a hostile archive stand for any number of things: Zstandard unpacks one byte to
 * 32,000, and a row of equal numbers takes five bytes, however long it is. So a reader takes from
 * the allowance before it makes room for what an archive claims, and gives back what it frees.
 *
 * Unless a size is given, an allowance is ALLOWANCE_FACTOR times the bytes of the archives, but at
 * least ALLOWANCE_LEAST, and at most ALLOWANCE_MOST or half of the process's address space
 * (RLIMIT_AS). docs/format.md, "Limits of readers", says how far honest recordings are from it. */
#ifndef WEND_ALLOWANCE_H
#define WEND_ALLOWANCE_H

#include "containers.h"
#include "error.h"

#define ALLOWANCE_FACTOR 1024
#define ALLOWANCE_LEAST (UINT64_C(1) << 30)
#define ALLOWANCE_MOST (UINT64_C(8) << 30)

typedef struct Allowance Allowance;

/* An allowance of BYTES, or for 0 by the size of the archives. The caller has one reference. */
Allowance *allowance_new(uint64_t bytes);
Allowance *allowance_ref(Allowance *a);
void allowance_unref(Allowance *a); /* A may be NULL */
/* Counts an archive of BYTES that is about to be read. */
void allowance_add_archive(Allowance *a, uint64_t bytes);

/* Takes N × SIZE bytes. Returns false if less is left: then nothing is taken, and the allowance is
 * exceeded from then on. If A is NULL there is no limit. */
bool allowance_take(Allowance *a, uint64_t n, size_t size);
void allowance_give(Allowance *a, uint64_t bytes);
/* Takes N × SIZE bytes and returns a zeroed block for N + 1 things of SIZE bytes. The caller frees
 * it with memory_free. It gives the bytes back, unless the allowance ends with it. Returns NULL if
 * less is left or there is no memory. */
void *allowance_block(Allowance *a, uint64_t n, size_t size);
/* Takes N - OLD bytes and resizes *BLOCK from OLD to N bytes. Returns false, and leaves the block
 * unchanged, if less is left or there is no memory. */
bool allowance_grow(Allowance *a, uint8_t **block, size_t old, size_t n);

/* Returns true and sets the error if anything was refused: NAME takes too much
 * (WEND_ERROR_INPUT), or there is no memory (WEND_ERROR_SYSTEM). */
bool allowance_error(const Allowance *a, const char *name, Error **error);

#endif
