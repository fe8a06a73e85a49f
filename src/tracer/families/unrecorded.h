/* SPDX-License-Identifier: BSD-3-Clause */
/* unrecorded.h: MPI functions of the process's library that this libwend does not know, because it
 * was built for another version. */
#ifndef WEND_UNRECORDED_H
#define WEND_UNRECORDED_H

/* Notes calls of such functions from now on. Call it once the MPI library is loaded. */
void unrecorded_open(void);
/* Calls VISIT for each such function that any thread has called, with the key of a fact
 * ("unrecorded.MPI_X"). May be called at any time. */
void unrecorded_each(void (*visit)(void *user, const char *key), void *user);

#endif
