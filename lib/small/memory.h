/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h: included first, makes files that use malloc take their memory from the heap
 * (heap.h). */
#ifndef WEND_MEMORY_H
#define WEND_MEMORY_H

#include <stdlib.h>

#include "lib/small/heap.h"

#define malloc heap_new
#define calloc heap_zeroed
#define realloc heap_resize
#define free heap_free

#endif
