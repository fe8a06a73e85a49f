/* SPDX-License-Identifier: BSD-3-Clause */
/* tools.h: other libraries between the application and MPI: profilers, checkers, the application's
 * own wrappers. Each of them, and Wend, defines MPI_Send and passes the call on to PMPI_Send. So by
 * itself only the first of them would see the call. Wend forms a chain in the order of the loader:
 *
 *     application ──► a tool in front ──► Wend ──► a tool behind ──► the MPI library
 *
 * If a wrapper calls PMPI_Send, it reaches the MPI_Send of the next tool that defines it. Wend's
 * own calls of MPI must not reach tools. Files that make such calls include own.gen.h, in which
 * PMPI_Comm_rank is always the library's function. */
#ifndef WEND_TOOLS_H
#define WEND_TOOLS_H

#include <stdbool.h>

#include "lib/record/functions.h"

/* The library's functions, by index, if there is a tool behind Wend. Otherwise NULL, and
 * PMPI_Comm_rank itself is the library's function. */
extern void *const *tools_own;

/* own.gen.h defines PMPI_X(...) as this for each function. */
#define WEND_OWN(function, ...)                                                          \
    (tools_own ? ((__typeof__(P##function) *)tools_own[WEND_FN_##function])(__VA_ARGS__) \
               : P##function(__VA_ARGS__))
/* In a file that includes own.gen.h: the next function behind Wend, for wrappers. */
#define WEND_NEXT(function) (P##function)

/* Looks for tools when Wend is loaded. */
void tools_open(void);
/* Looks again when MPI starts, because a program may have loaded tools since. If there is no MPI
 * library, it ends the process. */
void tools_start(void);
/* Whether the process has another libwend.so that comes before this one. It may be preloaded by two
 * paths, or preloaded and linked. */
bool tools_other_wend(void);

#endif
