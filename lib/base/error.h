/* SPDX-License-Identifier: BSD-3-Clause */
/* error.h: the errors of lib/ and of the commands. */
#ifndef WEND_ERROR_H
#define WEND_ERROR_H

#include "memory.h"

typedef enum { /* also the exit codes of the commands */
               WEND_ERROR_USAGE = 2,
               WEND_ERROR_INPUT = 3, /* missing, truncated, corrupt, of another version */
               WEND_ERROR_SYSTEM = 4 /* cannot read, write, allocate */
} WendErrorCode;

/* Functions that can fail take the address of an Error *, which is NULL, and set it when they fail.
 * The address may be NULL: then nobody asks why. */
typedef struct {
    WendErrorCode code;
    char *message; /* one line, without the name of the command */
} Error;
void error_set(Error **at, WendErrorCode code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void error_give(Error **at, Error *e); /* E goes to *AT, or is freed */
/* Puts a text before the message, if there is an error. */
void error_prefix(Error **at, const char *format, ...) __attribute__((format(printf, 2, 3)));
void error_free(Error *e);
void error_clear(Error **at); /* frees *AT, if it is not NULL, and makes it NULL */
AUTO_DEFINE(Error, error_free)

/* The error code for an errno from opening a file. It is WEND_ERROR_INPUT if the name is to blame:
 * no such file, a name that can lead to none (ELOOP, ENAMETOOLONG), or a file of the wrong kind.
 * Otherwise it is WEND_ERROR_SYSTEM. */
WendErrorCode error_of_input(int number);
/* The same for a file to be written. A missing folder is WEND_ERROR_SYSTEM. */
WendErrorCode error_of_output(int number);

#endif
