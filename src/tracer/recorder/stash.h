/* SPDX-License-Identifier: BSD-3-Clause */
/* stash.h: calls that made requests while recording was off. Such a call is put aside, without its
 * times, until the request ends, or recording goes on. The table of requests has its lock for it,
 * too. */
#ifndef WEND_STASH_H
#define WEND_STASH_H

#include "recorder.h"

typedef struct Stash Stash;

/* C->stash_at is where its request keeps what is returned for it; nothing is kept without
 * memory. */
void stash_call(ActiveCall *c);
/* Of sequence Q, before its first call that is recorded again: requests that are still pending get
 * their place, since what completes them is recorded. False: no memory. */
bool stash_append_all(CallSequence *q);

/* With requests_lock held, for the request that keeps S. The request has ended where that is not
 * recorded, so that S is not needed; or where it is, so that S stays, and the request lets go of
 * it. */
void stash_remove(CallSequence *q, Stash *s);
void stash_let_go(Stash *s);

#endif
