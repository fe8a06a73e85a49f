/* SPDX-License-Identifier: BSD-3-Clause */
/* fatal.c: how MPICH ends a job by itself, after an error that nobody handles
 * (MPI_ERRORS_ARE_FATAL): it writes one line to the launcher, which kills all ranks at once, this
 * one included. Nothing that a library can stand before is called on the way but write(): so that
 * reference of that one library leads here, and the parts are saved before the line goes out. */
#include "termination.h"

#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include "interpose/interpose.h"

static bool begins(const char *text, size_t n, const char *with)
{
    return n >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* PMI's two wire protocols; the second has six digits of the length in front. */
static ssize_t write_of_library(int fd, const void *data, size_t n)
{
    if (begins(data, n, "cmd=abort ")
        || (n > 6 && begins((const char *)data + 6, n - 6, "cmd=abort;")))
        termination_fatal();
    return write(fd, data, n);
}

static void *wrapper_of(const char *name, void *unused)
{
    (void)unused;
    return strcmp(name, "write") == 0 ? (void *)write_of_library : NULL;
}

static void visit(const Module *m, void *base)
{
    if (m->base == (uintptr_t)base)
        module_redirect(m, wrapper_of, NULL);
}

void fatal_open(void)
{
    Dl_info library;
    /* to name it here would ask for it in programs without MPI, too */
    const void *of_library = mpi_library_symbol("PMPI_Init");
    if (of_library && dladdr(of_library, &library) && library.dli_fbase)
        modules_each(visit, library.dli_fbase);
}
