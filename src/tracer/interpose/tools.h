/* SPDX-License-Identifier: BSD-3-Clause */
/* tools.h: other libraries than Wend that stand before MPI: profilers, checkers, the application's
 * own wrappers. Each of them, and Wend, defines MPI_Send and hands the call on to PMPI_Send, so
 * that by itself only the first of them would see it. Wend joins the row where the loader has put
 * it:
 *
 *     application ──► a tool in front ──► Wend ──► a tool behind ──► the MPI library
 *
 * What a wrapper calls as PMPI_Send leads to the MPI_Send of the next tool, if there is one that
 * has it. What Wend asks MPI for itself is nothing of theirs: files that do so include own.gen.h,
 * by which PMPI_Comm_rank is the library's even then. */
#ifndef WEND_TOOLS_H
#define WEND_TOOLS_H

#include <stdbool.h>

#include "functions.gen.h"

/* The library's functions, by index, if a tool stands behind Wend. NULL: none does, and
 * PMPI_Comm_rank itself is the library's. */
extern void *const *tools_own;

/* Own.gen.h defines PMPI_X(...) as this for each function. */
#define WEND_OWN(function, ...)                                                          \
    (tools_own ? ((__typeof__(P##function) *)tools_own[WEND_FN_##function])(__VA_ARGS__) \
               : P##function(__VA_ARGS__))
/* In a file that includes it: what stands behind Wend, as a wrapper wants it. */
#define WEND_NEXT(function) (P##function)

/* Looks who there is: when Wend is loaded, */
void tools_open(void);
/* and when MPI starts, which a program may have loaded in between. Does not come back if there is
 * no MPI library. */
void tools_start(void);
/* Has the process another libwend.so, which comes before this one? It may be preloaded by two
 * paths, or preloaded and linked. */
bool tools_other_wend(void);

#endif
