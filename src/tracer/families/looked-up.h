/* SPDX-License-Identifier: BSD-3-Clause */
/* looked-up.h: MPI functions that the application looks up in a handle of the MPI library, as
 * Python's ctypes and cffi and Julia's ccall do, and modules that prefer the MPI library to all
 * that is preloaded (RTLD_DEEPBIND). Both would go past Wend. */
#ifndef WEND_LOOKED_UP_H
#define WEND_LOOKED_UP_H

/* From now on these lookups and references lead to Wend's wrappers. A tool gets what it asks for:
 * it looks for the function behind itself. */
void looked_up_open(void);

#endif
