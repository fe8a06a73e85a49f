/* SPDX-License-Identifier: BSD-3-Clause */
/* failure.h: the tracer's failure path, which all of its files may use. It knows nothing of MPI. */
#ifndef WEND_FAILURE_H
#define WEND_FAILURE_H

/* Recording stops here; WHY (a literal) is said at the end. The application notices nothing. */
void state_break(const char *why);

/* One line on stderr, "wend: …"; errno stays. */
void state_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
