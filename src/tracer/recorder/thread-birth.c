/* SPDX-License-Identifier: BSD-3-Clause */
/* thread-birth.c: see thread-birth.h. */
#include "thread-birth.h"

/* Numbers below PAIRS are those of the initial thread's first threads. */
enum { PAIRS = 1000 };
/* The greatest product of a pair: there are 14.7 million pairs with products up to it. */
enum { PRODUCT_MOST = 1 << 20 };
/* Creators by the number that they have in pairs. From OTHERS on, the threads below PAIRS, from 1
 * on, alternate with those from PAIRS on, until only the latter are left. */
enum { INITIAL = 1, UNKNOWN, OTHERS, ALTERNATE = 2 * (PAIRS - 1) };

static uint64_t in_pairs(uint32_t creator)
{
    uint64_t behind = creator >= PAIRS ? creator - PAIRS : 0;
    return creator == 0                 ? INITIAL
           : creator == CREATOR_UNKNOWN ? UNKNOWN
           : creator < PAIRS            ? OTHERS + 2 * ((uint64_t)creator - 1)
           : behind < ALTERNATE / 2     ? OTHERS + 2 * behind + 1
                                        : OTHERS + ALTERNATE / 2 + behind;
}

/* The number of pairs whose product is at most X. */
static uint32_t pairs_up_to(uint32_t x)
{
    uint32_t sum = 0, root = 0;
    for (uint32_t k = 1; k * k <= x; k++) {
        sum += x / k;
        root = k;
    }
    return 2 * sum - root * root;
}

uint32_t thread_birth(uint32_t creator, uint32_t n)
{
    if (creator == 0 && n < PAIRS)
        return n;
    uint64_t a = in_pairs(creator), b = creator == 0 ? n - (uint64_t)PAIRS + 1 : n;
    if (b == 0 || a > PRODUCT_MOST || b > PRODUCT_MOST / a)
        return 0;
    uint32_t product = (uint32_t)(a * b), place = pairs_up_to(product - 1);
    for (uint32_t k = 1; k * k <= product; k++) {
        if (product % k != 0)
            continue;
        uint32_t other = product / k;
        place += (k < a) + (other > k && other < a);
    }
    return PAIRS + place;
}
