/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy_threads.h: the threads of the program. */
#ifndef PROXYGEN_PROXY_THREADS_H
#define PROXYGEN_PROXY_THREADS_H

#include "src/proxygen/emit/emit.h"

/* The stack limit that the thread needs, in bytes; 0 if the default is enough. */
gint64 proxy_threads_stack_limit(const Emitter *e, guint thread);
/* Whether some thread needs more than the default. */
gboolean proxy_threads_any_large(const Emitter *e);
/* Writes the memory of a thread's stack segment. */
void proxy_threads_emit_stack(Emitter *e, GString *out, guint thread);

/* Writes the functions of further threads, their lists, and the functions that ranks start with.
 * Call it after all rules have been written. */
void proxy_threads_emit(Emitter *e, GString *out);
/* Writes the choice of each rank's function. */
void proxy_threads_emit_starts(Emitter *e, GString *out);
/* Writes the creation of threads that exist before MPI_Init. */
void proxy_threads_emit_early(Emitter *e, GString *out);
/* Whether the ranks must know their numbers there. */
gboolean proxy_threads_by_launcher(const Emitter *e);

#endif
