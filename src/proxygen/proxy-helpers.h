/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy-helpers.h: the variables of a proxy, and the functions that it has beside the application's
 * calls. */
#ifndef PROXYGEN_PROXY_HELPERS_H
#define PROXYGEN_PROXY_HELPERS_H

#include "src/proxygen/emit/emit.h"

/* Appends what the proxy needs (needs of E), and notes in E what this needs in turn. Call it after
 * all else is written. */
void proxy_helpers_emit(Emitter *e, GString *declarations, GString *definitions);
/* Adds the #include lines of what the proxy needs, as pieces to be freed. */
void proxy_helpers_includes(const Emitter *e, GPtrArray *lines);
/* Appends calls of helpers that must run once MPI has started. ALL is a communicator of all
 * ranks. */
void proxy_helpers_begin(Emitter *e, GString *out, const char *all);
/* Appends calls of helpers that must run after the application's calls. */
void proxy_helpers_end(Emitter *e, GString *out);

#endif
