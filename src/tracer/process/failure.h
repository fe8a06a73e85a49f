/* SPDX-License-Identifier: BSD-3-Clause */
/* failure.h: the tracer's failure path, for all of its files. It does not depend on MPI. */
#ifndef WEND_FAILURE_H
#define WEND_FAILURE_H

/* Stops recording. WHY (a literal) is printed at the end. The application goes on unchanged. */
void state_break(const char *why);

/* Prints one line on standard error, "wend: …". Keeps errno. */
void state_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
