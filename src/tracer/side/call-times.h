/* SPDX-License-Identifier: BSD-3-Clause */
/* call-times.h: the time of every call: wend trace --times. The kind of side stream whose elements
 * are one for each call and unsuccessful poll of the sequence, pseudo-calls included. */
#ifndef WEND_CALL_TIMES_H
#define WEND_CALL_TIMES_H

/* When the library is loaded: from the first call on, times are recorded, if they are to be. */
void call_times_open(void);
/* When MPI has started. */
void call_times_after_start(void);

#endif
