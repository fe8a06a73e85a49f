/* SPDX-License-Identifier: BSD-3-Clause */
/* late-mpi.h: an MPI library that was not loaded when the process started. Python loads it with the
 * extension module that needs it, other programs with a plugin, mostly for that module alone
 * (RTLD_LOCAL). Calls then reach Wend as usual. But the dynamic linker cannot bind Wend's own
 * references to that library, neither at the start nor at their first use. */
#ifndef WEND_LATE_MPI_H
#define WEND_LATE_MPI_H

#include <stdbool.h>

/* Binds Wend's references to the library that is loaded now. Called before a thread's first call
 * goes on to MPI. */
void late_mpi_open(void);

#endif
