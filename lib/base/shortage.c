/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage.c: see shortage.h. For commands and tests; small/heap.c has these functions for the
 * merge at MPI_Finalize. */
#include "shortage.h"

#include <stdlib.h>

static void (*ends)(void) = abort;

void wend_shortage_ends(void (*end)(void))
{
    ends = end;
}

bool wend_shortage_ahead(uint64_t bytes)
{
    (void)bytes;
    return false;
}

void wend_shortage_reserve(size_t bytes)
{
    (void)bytes;
}

_Noreturn void wend_shortage(void)
{
    ends();
    abort();
}
