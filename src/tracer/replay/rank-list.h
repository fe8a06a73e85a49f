/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-list.h: ranks as a user gives them. C11 and libc alone. */
#ifndef WEND_RANK_LIST_H
#define WEND_RANK_LIST_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RANK_LIST_WRONG "--debug takes ranks, such as 0,3-5, or all"

/* Reads a number below 2^32, and moves *P behind it. Returns false if there is none. */
static inline bool rank_list_number(const char **p, uint64_t *n)
{
    char *end;
    if (!isdigit((unsigned char)**p))
        return false;
    *n = strtoull(*p, &end, 10);
    *p = end;
    return *n <= UINT32_MAX;
}

/* Sets *HAS to whether RANK is in LIST: numbers and ranges, such as 0,3-5, or "all". Returns false
 * if LIST is not valid. */
static inline bool rank_list_has(const char *list, uint32_t rank, bool *has)
{
    *has = strcmp(list, "all") == 0;
    if (*has)
        return true;
    for (const char *p = list;; p++) {
        uint64_t first, last;
        if (!rank_list_number(&p, &first))
            return false;
        last = first;
        if (*p == '-' && (p++, !rank_list_number(&p, &last) || last < first))
            return false;
        *has |= rank >= first && rank <= last;
        if (*p != ',')
            return *p == '\0';
    }
}

#endif
