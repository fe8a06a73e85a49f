/* SPDX-License-Identifier: BSD-3-Clause */
/* foreign-mpi.h: a foreign MPI library, which is of another family (family.h) than this libwend.
 * Wend's wrappers would take handles of another size. So the program's references are changed to
 * bypass them, and the program runs as if Wend were not there. */
#ifndef WEND_FOREIGN_MPI_H
#define WEND_FOREIGN_MPI_H

#include <stdbool.h>

/* Checks the MPI library once it is loaded, at the start or later. If it is of another family,
 * returns true, and the program's references bypass Wend. References that are bound later do not
 * find Wend either. The calls made before are MPI_Init, MPI_Initialized and the like, with integers
 * and pointers only, which have the same size in all families. */
bool foreign_mpi_met(void);

#endif
