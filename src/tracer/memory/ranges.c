/* SPDX-License-Identifier: BSD-3-Clause */
/* ranges.c: sorted, disjoint ranges, and a parser of /proc/self/maps. */
#include "ranges.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/budget.h"

/* The index of the first range that ends above ADDRESS. */
static size_t above(const Ranges *rs, uintptr_t address)
{
    size_t low = 0, high = rs->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (rs->at[mid].high <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

Range *ranges_find(const Ranges *rs, uintptr_t address)
{
    size_t i = above(rs, address);
    return i < rs->n && rs->at[i].low <= address ? &rs->at[i] : NULL;
}

bool ranges_add(Ranges *rs, Range r)
{
    if (rs->n == rs->cap) {
        size_t cap = rs->cap ? 2 * rs->cap : 16;
        Range *grown = wend_budget_resize(rs->at, rs->cap * sizeof *grown, cap * sizeof *grown);
        if (!grown)
            return false;
        rs->at = grown;
        rs->cap = cap;
    }
    size_t i = above(rs, r.low);
    memmove(&rs->at[i + 1], &rs->at[i], (rs->n - i) * sizeof *rs->at);
    rs->at[i] = r;
    rs->n++;
    return true;
}

bool ranges_remove_overlap(Ranges *rs, uintptr_t low, uintptr_t high, Range *removed)
{
    size_t i = above(rs, low);
    if (i == rs->n || rs->at[i].low >= high)
        return false;
    *removed = rs->at[i];
    rs->n--;
    memmove(&rs->at[i], &rs->at[i + 1], (rs->n - i) * sizeof *rs->at);
    return true;
}

void ranges_free(Ranges *rs)
{
    wend_budget_free(rs->at, rs->cap * sizeof *rs->at);
    *rs = (Ranges)RANGES_INIT;
}

uintptr_t ranges_page(void)
{
    long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (uintptr_t)page : 4096;
}

/* Parses lines "low-high perms …" in ascending order, with lower-case hexadecimal numbers. Reads a
 * page of the file at a time, without allocation. */
bool ranges_mapping_of(uintptr_t address, uintptr_t *low, uintptr_t *high)
{
    *low = *high = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    enum { LOW, HIGH, REST } part = LOW;
    uintptr_t bounds[2] = {0, 0};
    bool found = false, passed = false;
    char page[4096];
    ssize_t n;
    while (!found && !passed
           && ((n = read(fd, page, sizeof page)) > 0 || (n < 0 && errno == EINTR)))
        for (ssize_t i = 0; i < n && !found && !passed; i++) {
            char c = page[i];
            if (c == '\n') {
                part = LOW;
                bounds[0] = bounds[1] = 0;
            } else if (part == LOW && c == '-') {
                part = HIGH;
                passed = address < bounds[0];
            } else if (part == HIGH && c == ' ') {
                part = REST;
                found = address < bounds[1];
                *low = found ? bounds[0] : bounds[1];
            } else if (part != REST) {
                bounds[part] = bounds[part] << 4 | (uintptr_t)(c <= '9' ? c - '0' : c - 'a' + 10);
            }
        }
    close(fd);
    /* after the last mapping no gap is known */
    *high = found ? bounds[1] : passed ? bounds[0] : *low;
    return found;
}
