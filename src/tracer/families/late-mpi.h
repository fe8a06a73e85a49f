/* SPDX-License-Identifier: BSD-3-Clause */
/* late-mpi.h: an MPI library that was not there when the process started: Python loads it with the
 * extension module that needs it, other programs with a plugin, and mostly for that module alone
 * (RTLD_LOCAL). Calls come to Wend then as ever, but the dynamic linker has nothing for Wend's own
 * references: neither for those that it bound at the start, nor for those that it binds at their
 * first use. */
#ifndef WEND_LATE_MPI_H
#define WEND_LATE_MPI_H

#include <stdbool.h>

/* Before a thread's first call goes on to MPI: Wend's references lead to the library that is there
 * now. */
void late_mpi_open(void);

#endif
