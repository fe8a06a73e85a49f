/* SPDX-License-Identifier: BSD-3-Clause */
/* stash.h: calls that made requests while recording was off. Such a call is kept, without its
 * times, until the request ends or recording goes on. The lock of the table of requests protects
 * it, too. */
#ifndef WEND_STASH_H
#define WEND_STASH_H

#include "recorder.h"

typedef struct Stash Stash;

/* Keeps C. *C->stash_at gets the Stash of its request. If memory is short, nothing is kept. */
void stash_call(ActiveCall *c);
/* Appends the kept calls of sequence Q whose requests are still pending, before the first call that
 * is recorded again, because the calls that complete them are recorded. Returns false if memory is
 * short. */
bool stash_append_all(CallSequence *q);

/* Both are called with requests_lock held, for the request that has S. stash_remove: the request
 * has ended without being recorded, so S is dropped. stash_let_go: its end is recorded, so S stays,
 * and the request no longer refers to it. */
void stash_remove(CallSequence *q, Stash *s);
void stash_let_go(Stash *s);

#endif
