/* SPDX-License-Identifier: BSD-3-Clause */
/* callbacks.h: functions of the application that MPI calls (encode/closures.h) have calls of their
 * own. */
#ifndef WEND_CALLBACKS_H
#define WEND_CALLBACKS_H

#include "recorder.h"

/* From callback_enter to callback_leave this thread is in application code that the library called:
 * call_begin gives an ActiveCall of its own again (the one that was interrupted stays as it is),
 * and what is recorded goes to the sequence of kind callback with that id, which is made at its
 * first call. They nest. FALSE: nothing is recorded here now (off, broken, no MPI yet), and there
 * must be no leave. */
bool callback_enter(int64_t function_word);
/* an error handler, since enter, made MPI_SUCCESS of CODE */
void callback_error_ignored(int code);
/* the function that was entered made no calls, and that is all there is to say of it */
void callback_passed(void);
/* how often that was so since the last one that is recorded; forgets them */
uint64_t callback_passes(void);
/* recorded since this thread's last enter */
uint64_t callback_calls(void);
void callback_leave(void);

#endif
