/* SPDX-License-Identifier: BSD-3-Clause */
/* mpich-ucx.h: what is particular to MPICH over UCX. */
#ifndef WEND_MPICH_UCX_H
#define WEND_MPICH_UCX_H

#include <stdbool.h>

/* Whether the MPI library is MPICH over UCX, of a version before MAJOR.MINOR. */
bool mpich_ucx_before(int major, int minor);

/* Called in MPI_Finalize on all ranks of the world, after all communication of the application and
 * of Wend. The library then does not wait in MPI_Finalize until other ranks have confirmed what
 * this rank has sent, and so does not wait for ever. Does nothing for other libraries. */
void mpich_ucx_finalize(void);
/* After MPI_Finalize: the library closes its connections as it always does. A program with sessions
 * may start it again. */
void mpich_ucx_finalized(void);

#endif
