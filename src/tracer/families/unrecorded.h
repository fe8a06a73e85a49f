/* SPDX-License-Identifier: BSD-3-Clause */
/* unrecorded.h: MPI functions that the process's library has and this libwend, which was built for
 * another version of it, does not. */
#ifndef WEND_UNRECORDED_H
#define WEND_UNRECORDED_H

/* Once the MPI library is there: calls of such functions are noted from now on. */
void unrecorded_open(void);
/* Each that was called, by any thread, as the key of a fact ("unrecorded.MPI_X"). At any time. */
void unrecorded_each(void (*visit)(void *user, const char *key), void *user);

#endif
