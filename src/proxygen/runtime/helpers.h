/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers.h: writes the helper functions of a proxy (helpers.c). */
#ifndef PROXYGEN_HELPERS_H
#define PROXYGEN_HELPERS_H

#include "src/proxygen/emit/emit.h"

void helpers_emit(Emitter *e, GString *declarations, GString *definitions);
/* Appends calls of helpers that must run once MPI has started. ALL is a communicator of all
 * ranks. */
void helpers_begin(Emitter *e, GString *out, const char *all);

/* -- for the files of this folder -- */

/* The parts of the text: a header for programs of several files, and the file of the helpers. NULLS
 * sets handles to their null. */
typedef struct {
    Emitter *e;
    GString *declarations, *definitions, *nulls;
} Out;

/* Appends a definition. @ in TEXT stands for "static "; in programs of several files it stands for
 * nothing. */
void helper_define(Emitter *e, GString *out, const char *text);
/* The same with PART instead of each #. */
void helper_define_with(Out *o, const char *text, const char *part);
/* Appends a declaration, in programs of several files only. */
void helper_declare(Emitter *e, GString *out, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* starting and joining threads, and waiting for objects that another thread makes */
void helpers_threads(Out *o);
/* turns, pinned persistent receives, addresses of memory in dynamic windows */
void helpers_messages(Out *o);
void helpers_files(Out *o);        /* the scratch directory, ports, the launcher's rank */
void helpers_worlds(Out *o);       /* of several worlds: which worlds there are, */
void helpers_world_notes(Out *o);  /* which of them run, */
void helpers_world_starts(Out *o); /* and how they begin */
/* The end of a block that may be memory of CUDA (RELEASE: of one that is not), and its
 * beginning. */
void helpers_cuda(Out *o, const char *release);

#endif
