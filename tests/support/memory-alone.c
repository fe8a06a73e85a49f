/* SPDX-License-Identifier: BSD-3-Clause */
/* memory-alone.c: for programs that link the tracer's memory files alone, the functions of other
 * files that these call. */
#include "src/tracer/memory/address.h"

int64_t thread_number(void)
{
    return 0;
}
void segment_event_free(int64_t segment)
{
    (void)segment;
}
void segment_event_name(int64_t segment, enum memory_place place, int device)
{
    (void)segment;
    (void)place;
    (void)device;
}
void segment_event_unloaded(unsigned long long modules)
{
    (void)modules;
}
void state_break(const char *why)
{
    (void)why;
}
