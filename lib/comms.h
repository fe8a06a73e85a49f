/* comms.h: the numbers of communicators that are equal on all their members. */
#ifndef WEND_COMMS_H
#define WEND_COMMS_H

#include "program-private.h"

/* One communicator given to the program, in the order of a sequence's calls. Null handles too. */
typedef struct { gint64 handle; guint number; } CommMade;

/* Makes the numbers when first asked: goes through what creates communicators on all ranks, and nothing else. */
const CommMade *comm_numbers(WendProgram *p, guint rank, guint sequence, guint *n);
/* The parameter that gives a new communicator; -1 none. */
int comm_made_param(const WendFunction *f);

#endif
