/* SPDX-License-Identifier: BSD-3-Clause */
/* symbols.h: what a program or a library on disk defines by itself, as its tables of symbols have
 * it. C11 and nothing else: wend trace asks before it runs a program, the tracer at the end of one
 * that it saw nothing of. */
#ifndef WEND_SYMBOLS_H
#define WEND_SYMBOLS_H

#include <stdbool.h>

/* Does the ELF file in FD define something of that name? False if it is none, and if its tables
 * have been stripped. */
bool symbols_define(int fd, const char *name);

/* Is the MPI library linked into it statically? Its calls then lead to that whatever is
 * preloaded. */
static inline bool symbols_have_mpi(int fd)
{
    return symbols_define(fd, "PMPI_Init");
}

#endif
