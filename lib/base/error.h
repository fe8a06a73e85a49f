/* SPDX-License-Identifier: BSD-3-Clause */
/* error.h: the errors of all of lib/. */
#ifndef WEND_ERROR_H
#define WEND_ERROR_H

#include <glib.h>

#define WEND_ERROR (wend_error_quark())
GQuark wend_error_quark(void);
typedef enum { /* also the exit codes of the commands */
               WEND_ERROR_USAGE = 2,
               WEND_ERROR_INPUT = 3, /* missing, truncated, corrupt, of another version */
               WEND_ERROR_SYSTEM = 4 /* cannot read, write, allocate */
} WendErrorCode;

/* The error code for an errno from opening a file. It is WEND_ERROR_INPUT if the name is to blame:
 * no such file, a name that can lead to none (ELOOP, ENAMETOOLONG), or a file of the wrong kind.
 * Otherwise it is WEND_ERROR_SYSTEM. */
WendErrorCode wend_error_of_input(int number);
/* The same for a file to be written. A missing folder is WEND_ERROR_SYSTEM. */
WendErrorCode wend_error_of_output(int number);

#endif
