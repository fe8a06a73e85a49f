/* SPDX-License-Identifier: BSD-3-Clause */
/* analysis.h: the interface of this folder: what follows from a recording as a whole. */
#ifndef WEND_ANALYSIS_H
#define WEND_ANALYSIS_H

#include "answers.h"      /* what each receive that is posted gets */
#include "call-plan.h"    /* which calls send, receive and post */
#include "count.h"        /* how often each terminal occurs in a sequence */
#include "follower.h"     /* who communicates with whom, call by call along a walk */
#include "matching.h"     /* which send met which receive */
#include "matrix.h"       /* the communication matrix, and the sizes of transfers */
#include "members.h"      /* the communicator of a handle, and its members */
#include "precedence.h"   /* which calls cannot begin before another call has returned */
#include "summary.h"      /* totals by function, class and kind */
#include "thread-order.h" /* the order in which threads use a channel */
#include "traffic.h"      /* the data that all calls hand to MPI */
#include "transfer.h"     /* the transfer of one call */

#endif
