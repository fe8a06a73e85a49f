/* SPDX-License-Identifier: BSD-3-Clause */
/* error-codes.h: codes of errors, and their classes. */
#ifndef WEND_ERROR_CODES_H
#define WEND_ERROR_CODES_H

/* The class of RC, which a call returned, or RC itself where MPI cannot say. It is noted: the
 * names of classes go with the recording. */
int error_code_note(int rc);

/* An argument. A code that the application can have from nowhere but a call that failed stands for
 * its class, as return codes do, since it differs from run to run. A code that the application
 * made with MPI_Add_error_code stands for itself. */
int error_code_class(int code);
void error_code_added(int code);

/* Each class that was noted. At any time, also in a signal's handler. */
void error_classes_each(void (*visit)(void *user, int class), void *user);

#endif
