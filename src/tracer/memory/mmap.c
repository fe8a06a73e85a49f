/* SPDX-License-Identifier: BSD-3-Clause */
/* mmap.c: sees what the modules of the process map. Their references are changed (interpose.h). An
 * exported mmap would not do: UCX and Open MPI overwrite the first code of the function that is
 * found by this name. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

#include "interpose/interpose.h"
#include "mapped.h"

static void *mapped_mmap(void *address, size_t bytes, int protection, int flags, int fd,
                         off_t offset)
{
    void *p = mmap(address, bytes, protection, flags, fd, offset);
    if (p != MAP_FAILED)
        mapped_add((uintptr_t)p, bytes, flags & MAP_FIXED);
    return p;
}

static int mapped_munmap(void *address, size_t bytes)
{
    mapped_remove((uintptr_t)address, bytes);
    return munmap(address, bytes);
}

static void *mapped_mremap(void *address, size_t bytes, size_t new_bytes, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    void *to = flags & MREMAP_FIXED ? va_arg(more, void *) : NULL;
    va_end(more);
    mapped_remove((uintptr_t)address, bytes);
    void *p = mremap(address, bytes, new_bytes, flags, to);
    bool made = p != MAP_FAILED;
    mapped_add((uintptr_t)(made ? p : address), made ? new_bytes : bytes, false);
    return p;
}

static const struct {
    const char *name;
    void *wrapper, *real;
} functions[] = {
    {"mmap", (void *)mapped_mmap, (void *)mmap},
    {"mmap64", (void *)mapped_mmap, (void *)mmap64},
    {"munmap", (void *)mapped_munmap, (void *)munmap},
    {"mremap", (void *)mapped_mremap, (void *)mremap},
};

/* A module that calls the function of another tool goes on to do so. */
static void *wrapper_of(const char *name, void *now, void *module)
{
    for (size_t i = 0; name[0] == 'm' && now && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(name, functions[i].name) == 0)
            return now == functions[i].real || module_contains(module, now) ? functions[i].wrapper
                                                                            : NULL;
    return NULL;
}

static bool look(const Module *m, void *unused)
{
    (void)unused;
    module_redirect_from(m, wrapper_of, (void *)(uintptr_t)m);
    return true;
}

__attribute__((constructor)) static void begin(void)
{
    static const LookupHooks hooks = {.look = look};
    lookups_add(&hooks);
}
