/* SPDX-License-Identifier: BSD-3-Clause */
/* mappings.c: a parser of /proc/self/maps. */
#include "mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Parses lines "low-high perms …" in ascending order, with lower-case hexadecimal numbers. Reads a
 * page of the file at a time, without allocation. */
bool mappings_find(uintptr_t address, uintptr_t *low, uintptr_t *high)
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
