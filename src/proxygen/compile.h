/* SPDX-License-Identifier: BSD-3-Clause */
/* compile.h: runs all passes in order. */
#ifndef PROXYGEN_COMPILE_H
#define PROXYGEN_COMPILE_H

#include "lib/base/error.h"
#include "src/proxygen/model/model.h"

/* Compiles the program to C. Adds the identifiers of the text that begin with MPI to NAMES, a set
 * of strings that it owns. *CHANGES is the list of calls that the proxy pins, reorders or leaves
 * out, as lines of text (changes.c), which the caller unrefs. On failure returns FALSE, and
 * *CHANGES is NULL. */
gboolean compile_program(const WendProgram *program, const Options *options, GHashTable *names,
                         GPtrArray **changes, Error **error);

#endif
