/* SPDX-License-Identifier: BSD-3-Clause */
/* site-numbers.h: the sites of a sequence and the frames of their stacks, by number, and the table
 * of them that goes before the stream (docs/format.md, "Call sites"). */
#ifndef WEND_SITE_NUMBERS_H
#define WEND_SITE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "known-addresses.h"
#include "lib/base/buf.h"

/* From where a function was called: nowhere, since it is the outermost of the stack; not known; or
 * frame N, which is SITE_CALLER_FRAME + N. */
enum { SITE_CALLER_NONE, SITE_CALLER_UNKNOWN, SITE_CALLER_FRAME };

/* Something in a function that was called from there. */
typedef struct {
    KnownModule *module; /* NULL: not known */
    uintptr_t offset;    /* in the module */
    uint32_t caller;
    uint32_t number; /* + 1; 0: the place is free */
} SiteNumber;

/* Numbers by what they are: N of MASK + 1 places. */
typedef struct {
    SiteNumber *at;
    size_t mask;
    uint32_t n;
} SiteNumbers;

/* The number of LIKE. WEND_SITE_NONE: there is none so far. */
uint32_t site_number_find(const SiteNumbers *s, const SiteNumber *like);
/* Gives LIKE, which has none, the next number. Memory is the kernel's, of which side streams take
 * half of the recorder's at most. WEND_SITE_NONE: there is no more. */
uint32_t site_number_new(SiteNumbers *s, const SiteNumber *like);

/* Puts an address into the table: the module and the offset. N_MODULES are in the table so far. */
void site_number_put_address(WendBuf *table, uint32_t *n_modules, KnownModule *m, uintptr_t offset);

#endif
