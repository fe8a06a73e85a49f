/* SPDX-License-Identifier: BSD-3-Clause */
/* lower-bound.h: binary search. */
#ifndef WEND_LOWER_BOUND_H
#define WEND_LOWER_BOUND_H

/* The first index I, from 0 to N, that is not BELOW: an expression in I that holds for the first
 * indices alone, such as at[i].key < key. N, of the type of N, if it holds for all of them. */
#define LOWER_BOUND(i, n, below)                                                 \
    __extension__({                                                              \
        __typeof__((n) + 0) bound_from = 0, bound_to = (n);                      \
        while (bound_from < bound_to) {                                          \
            __typeof__(bound_from) i = bound_from + (bound_to - bound_from) / 2; \
            if (below)                                                           \
                bound_from = i + 1;                                              \
            else                                                                 \
                bound_to = i;                                                    \
        }                                                                        \
        bound_from;                                                              \
    })

/* The last index I below N that HOLDS, as all before it do; 0 if none does. */
#define LAST_WHERE(i, n, holds)                               \
    __extension__({                                           \
        __typeof__((n) + 0) bound = LOWER_BOUND(i, n, holds); \
        bound - (bound > 0);                                  \
    })

#endif
