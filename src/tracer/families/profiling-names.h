/* SPDX-License-Identifier: BSD-3-Clause */
/* profiling-names.h: calls that the application makes by the profiling names of MPI (PMPI_Iprobe),
 * so that no tool counts them. Messages depend on them as on all others. */
#ifndef WEND_PROFILING_NAMES_H
#define WEND_PROFILING_NAMES_H

/* Leads these references of the program and of its libraries to Wend's wrappers. Call it at the
 * start of the process, and when an MPI library is loaded late. A library is taken for the
 * application's if it calls MPI functions by both names, defines none, and is not needed by a
 * library that does: a profiler has wrappers, and parts that these need or that call nothing but
 * PMPI functions. */
void profiling_names_open(void);

#endif
