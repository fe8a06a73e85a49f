/* SPDX-License-Identifier: BSD-3-Clause */
/* error-codes.h: error codes and their classes. */
#ifndef WEND_ERROR_CODES_H
#define WEND_ERROR_CODES_H

/* The class of RC, which a call returned, or RC itself if MPI cannot tell. The class is noted,
 * because the recording has the names of all classes that occurred. */
int error_code_note(int rc);

/* The word of an error code that is an argument. A code that can only come from a failed call is
 * replaced by its class, as return codes are, since it differs from run to run. A code that the
 * application made with MPI_Add_error_code stays as it is. */
int error_code_class(int code);
/* Notes a code that the application made with MPI_Add_error_code. */
void error_code_added(int code);

/* Calls VISIT for each class that was noted. May be called at any time, even in a signal
 * handler. */
void error_codes_each_class(void (*visit)(void *user, int class), void *user);

#endif
