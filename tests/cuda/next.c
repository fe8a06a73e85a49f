/* SPDX-License-Identifier: BSD-3-Clause */
/* next.c: a library that stands before a function of another, as tools do. dlsym must know who
 * asks, or it finds this one again. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int puts(const char *text)
{
    int (*next)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "puts");
    char line[200];
    snprintf(line, sizeof line, "next: %s", text);
    return next(line);
}
