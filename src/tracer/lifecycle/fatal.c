/* SPDX-License-Identifier: BSD-3-Clause */
/* fatal.c: the way in which MPICH ends a job after an error that is not handled
 * (MPI_ERRORS_ARE_FATAL). It writes one line to the launcher, which kills all ranks at once, this
 * one included. The only function on that way that a library can intercept is write(). So that
 * reference of the MPI library is redirected to this file, and the parts are saved before the line
 * is written. */
#include "termination.h"

#include <string.h>
#include <unistd.h>

#include "interpose/interpose.h"

static bool begins(const char *text, size_t n, const char *with)
{
    return n >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* The line is in one of PMI's two wire protocols. The second begins with a length of six digits. */
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

static void visit(const Module *m, void *of_library)
{
    if (module_contains(m, of_library))
        module_redirect(m, wrapper_of, NULL);
}

void fatal_open(void)
{
    /* a reference by name would also look it up in programs without MPI */
    void *of_library = mpi_library_symbol("PMPI_Init");
    if (of_library)
        modules_each(visit, of_library);
}
