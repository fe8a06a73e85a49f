/* SPDX-License-Identifier: BSD-3-Clause */
/* page.h: what each rank of a replay shows to the others of its host: a page of memory that all can
 * read. */
#ifndef WEND_PAGE_H
#define WEND_PAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "argument.h"

typedef enum {
    PAGE_RUNS,
    PAGE_WAITS,   /* in a call, for as long as the replay has patience */
    PAGE_STOPPED, /* at --until */
    PAGE_ENDED,   /* where the recording of a run that died ends */
    PAGE_LEFT     /* its last call is made; nobody looks after the rank any more */
} PageState;

typedef struct {
    _Atomic uint32_t state;
    _Atomic bool freed; /* --on-divergence=free: no rank follows the recording any more */
    int32_t process;
    CallText text; /* the call at hand; PAGE_ENDED: where the rank is */
} Page;

/* Makes the page of rank RANK of SIZE ranks. Other ranks find it only if the launcher is known.
 * Returns NULL if there is no memory. */
Page *page_open(uint32_t rank, uint32_t size);
/* The page of another rank of this host, or NULL if it has not been found. Searches at most ten
 * times a second. Only one thread may call it. */
const Page *page_of(uint32_t rank);
void page_close(void);

#endif
