/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy-files.h: the generated program: its files, its threads, and its helpers. */
#ifndef PROXYGEN_PROXY_FILES_H
#define PROXYGEN_PROXY_FILES_H

#include "lib/base/error.h"
#include "src/proxygen/emit/emit.h"

/* -- proxy-files.c -- */

/* Writes the program. Adds the identifiers of its text that begin with MPI to NAMES. On failure
 * returns FALSE with an error that names the file. */
gboolean proxy_files_write(Plan *plan, GHashTable *names, Error **error);

/* -- proxy-threads.c: the threads of the program -- */

/* The stack limit that the thread needs, in bytes; 0 if the default is enough. */
gint64 proxy_threads_stack_limit(const Emitter *e, guint thread);
/* Whether some thread needs more than the default. */
gboolean proxy_threads_any_large(const Emitter *e);
/* Writes the memory of a thread's stack segment. */
void proxy_threads_emit_stack(Emitter *e, Statements *out, guint thread);

/* Writes the functions of further threads, their lists, and the functions that ranks start with.
 * Call it after all rules have been written. */
void proxy_threads_emit(Emitter *e, GString *out);
/* Writes the choice of each rank's function. */
void proxy_threads_emit_starts(Emitter *e, Statements *out);
/* Writes the creation of threads that exist before MPI_Init. */
void proxy_threads_emit_early(Emitter *e, Statements *out);
/* Whether the ranks must know their numbers there. */
gboolean proxy_threads_by_launcher(const Emitter *e);

/* -- proxy-helpers.c: variables, and the functions that a proxy has beside the calls -- */

/* Appends what the proxy needs (needs of E), and notes in E what this needs in turn. Call it after
 * all else is written. */
void proxy_helpers_emit(Emitter *e, GString *declarations, GString *definitions);
/* Adds the #include lines of what the proxy needs, as pieces to be freed. */
void proxy_helpers_includes(const Emitter *e, GPtrArray *lines);
/* Appends calls of helpers that must run once MPI has started. ALL is a communicator of all
 * ranks. */
void proxy_helpers_begin(Emitter *e, Statements *out, const char *all);
/* Appends calls of helpers that must run after the application's calls. */
void proxy_helpers_end(Emitter *e, Statements *out);

#endif
