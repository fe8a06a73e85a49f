/* SPDX-License-Identifier: BSD-3-Clause */
/* kernel.c: see kernel.h. */
#include "kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool kernel_text(const char *path, char text[KERNEL_TEXT])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t n = 0;
    ssize_t more = 0;
    while (fd >= 0 && n < KERNEL_TEXT - 1 && (more = read(fd, text + n, KERNEL_TEXT - 1 - n)) > 0)
        n += (size_t)more;
    if (fd >= 0)
        close(fd);
    text[n] = '\0';
    return fd >= 0 && more >= 0;
}

static bool number_at(const char *text, uint64_t *n)
{
    char *end;
    text += strspn(text, " \t");
    *n = strtoull(text, &end, 10);
    return end > text;
}

uint64_t kernel_number(const char *path, uint64_t otherwise)
{
    char text[KERNEL_TEXT];
    uint64_t n;
    return kernel_text(path, text) && number_at(text, &n) ? n : otherwise;
}

uint64_t kernel_number_of(const char *path, const char *key, uint64_t otherwise)
{
    char text[KERNEL_TEXT];
    size_t length = strlen(key);
    uint64_t n;
    if (!kernel_text(path, text))
        return otherwise;
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && (line[length] == ' ' || line[length] == '\t')
            && number_at(line + length, &n))
            return n;
    }
    return otherwise;
}
