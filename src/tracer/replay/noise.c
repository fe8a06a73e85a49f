/* SPDX-License-Identifier: BSD-3-Clause */
/* noise.c: see noise.h. */
#include "noise.h"

#include <stdlib.h>
#include <time.h>

#include "lib/record/functions.h"
#include "shared/shared.h"

static uint64_t seed;

bool noise_open(void)
{
    seed = (uint64_t)settings()->noise;
    return seed != 0;
}

/* A hash of four numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", 2014). */
static uint64_t mix(uint64_t z)
{
    z += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint64_t own_rank(void)
{
    const char *variable = launcher_rank_variable();
    return variable ? strtoull(getenv(variable), NULL, 10) : 0;
}

void noise_delay(const ActiveCall *c)
{
    static uint64_t rank;
    static _Atomic bool known;
    static __thread uint64_t calls;
    if (!(wend_functions[c->function].flags & (WEND_F_SEND | WEND_F_RECV | WEND_F_COMPLETES)))
        return;
    if (!known) {
        rank = own_rank();
        known = true;
    }
    uint64_t r = mix(mix(mix(seed ^ rank) ^ c->thread->number) ^ calls++);
    if (r % 4 != 0)
        return;
    long least = 1000L << (r >> 8) % 11; /* nanoseconds */
    struct timespec t = {0, least + (long)((r >> 16) % (uint64_t)least)};
    nanosleep(&t, NULL);
}
