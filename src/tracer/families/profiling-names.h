/* SPDX-License-Identifier: BSD-3-Clause */
/* profiling-names.h: calls that the application makes by the profiling names of MPI (PMPI_Iprobe),
 * so that no tool counts them. Messages depend on them as on all others. */
#ifndef WEND_PROFILING_NAMES_H
#define WEND_PROFILING_NAMES_H

#include <stdbool.h>

#include "interpose/interpose.h"

/* Leads these references of the program and of its libraries to Wend's wrappers. Call it at the
 * start of the process, and when an MPI library is loaded late. A library is taken for the
 * application's if it calls MPI functions by both names, defines none, and is not needed by a
 * library that does: a profiler has wrappers, and parts that these need or that call nothing but
 * PMPI functions. */
void profiling_names_open(void);
/* The same for one module, which has been loaded since. SELF: of module_self. */
void profiling_names_look(const Module *m, void *self);
/* Whether M is a tool: it defines MPI functions, or a library that does needs it. */
bool profiling_names_of_tool(const Module *m);

#endif
