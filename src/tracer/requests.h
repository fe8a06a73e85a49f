/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.h: between call.c and requests.c. */
#ifndef WEND_REQUESTS_H
#define WEND_REQUESTS_H

#include "call.h"

/* Takes a number for the request that call C (signature complete but for it) made in *VARIABLE; returns its word. C's sequence is locked. */
int64_t request_made(Call *c, MPI_Request *variable, const struct RequestFacts *facts);

/* While recording is off. The call that made C->made is not recorded: it is put aside until the request ends, or recording goes on
 * (requests_unstash: false when memory is short). */
void request_stash(Call *c);
bool requests_unstash(Sequence *q);
bool call_append(Call *c);            /* call.c: to M, without times */

#endif
