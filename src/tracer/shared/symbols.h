/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.h: the symbols that a program or library on disk defines itself. C11 and nothing else.
 * wend trace uses it before it runs a program, and the tracer at the end of a program without
 * recorded calls. */
#ifndef WEND_SYMBOLS_H
#define WEND_SYMBOLS_H

#include <stdbool.h>

/* Whether the ELF file in FD defines NAME. False if it is no ELF file, or if its symbol tables have
 * been stripped. */
bool symbols_define(int fd, const char *name);

/* Whether the MPI library is linked into it statically. Its calls then do not reach a preloaded
 * library. */
static inline bool symbols_have_mpi(int fd)
{
    return symbols_define(fd, "PMPI_Init");
}

#endif
