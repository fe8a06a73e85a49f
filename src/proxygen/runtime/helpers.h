/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers.h: the parts of helpers.c, which says what they are. */
#ifndef PROXYGEN_HELPERS_H
#define PROXYGEN_HELPERS_H

#include "src/proxygen/emit/emit.h"

void helpers_emit(Emitter *e, GString *declarations, GString *definitions);
/* Calls of what helpers must do once MPI has started, on a communicator of all ranks. */
void helpers_begin(Emitter *e, GString *out, const char *all);

/* -- for the files that write them -- */

/* Where the text goes: into a header for programs of several files, and into the file of the
 * helpers; NULLS is what sets handles to their null. */
typedef struct {
    Emitter *e;
    GString *declarations, *definitions, *nulls;
} Out;

/* A definition: @ in TEXT stands for "static " or, in programs of several files, for nothing. */
void helper_define(Emitter *e, GString *out, const char *text);
/* The same with PART in the place of each #. */
void helper_define_with(Out *o, const char *text, const char *part);
/* A declaration, in programs of several files. */
void helper_declare(Emitter *e, GString *out, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* starting, joining, and waiting for what another thread makes */
void helpers_threads(Out *o);
/* turns, pinned persistent receives, places of memory in dynamic windows */
void helpers_messages(Out *o);
void helpers_files(Out *o);        /* the scratch directory, ports, the launcher's rank */
void helpers_worlds(Out *o);       /* of several worlds: which there are; */
void helpers_world_notes(Out *o);  /* which of them run, */
void helpers_world_starts(Out *o); /* and how they begin */
/* the end of a block, which may be memory of CUDA (RELEASE: of one that is not), and its
 * beginning */
void helpers_cuda(Out *o, const char *release);

#endif
