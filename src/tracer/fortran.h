/* fortran.h: the calls that MPICH's Fortran layer makes past the names that a tracer stands before. */
#ifndef WEND_FORTRAN_H
#define WEND_FORTRAN_H

/* When the process has started, for the first call of "use mpi_f08" is such a one; and when an MPI library came later. */
void fortran_open(void);

#endif
