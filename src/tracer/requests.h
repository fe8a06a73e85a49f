/* requests.h: between call.c and requests.c. */
#ifndef WEND_REQUESTS_H
#define WEND_REQUESTS_H

#include "call.h"

/* Takes a number for the request that call C (signature complete but for it) made in *VARIABLE; returns its word. C's sequence is locked. */
int64_t request_made(Call *c, MPI_Request *variable, const struct RequestFacts *facts);

#endif
