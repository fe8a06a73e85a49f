/* SPDX-License-Identifier: BSD-3-Clause */
/* compile.h: all passes, one after the other. */
#ifndef PROXYGEN_COMPILE_H
#define PROXYGEN_COMPILE_H

#include "src/proxygen/model/model.h"

/* Compiles the program to C. The identifiers of the text that begin with MPI go to NAMES, a set of
 * strings that it owns. *CHANGES: what the proxy pins, reorders or leaves out, as lines of text
 * (changes.h), the caller's to unref; NULL on error. */
gboolean plan_compile(const WendProgram *program, const Options *options, GHashTable *names,
                      GPtrArray **changes, GError **error);

#endif
