/* SPDX-License-Identifier: BSD-3-Clause */
/* foreign-mpi.h: the MPI library of this process is of another family (family.h) than this libwend
 * was built for, whose wrappers would take handles of another size. So they get out of the way, and
 * the program runs as if they were not there. */
#ifndef WEND_FOREIGN_MPI_H
#define WEND_FOREIGN_MPI_H

#include <stdbool.h>

/* When the MPI library is there, at the start or later. TRUE: it is of another family; the
 * program's references lead past Wend, and those that are bound from now on will not find it. What
 * has been called already takes integers and pointers alone, whose sizes are the same everywhere
 * (MPI_Init, MPI_Initialized). */
bool foreign_mpi_met(void);

#endif
