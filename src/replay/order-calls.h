/* SPDX-License-Identifier: BSD-3-Clause */
/* order-calls.h: what a recorded call posts: receives, and persistent requests that it starts. */
#ifndef WEND_ORDER_CALLS_H
#define WEND_ORDER_CALLS_H

#include "lib/read/program.h"

/* The first word of the parameter with number PARAM. WEND_ABSENT: it has none. */
gint64 call_in_word(const WendCall *call, int param);
/* The parameter for the request that the call makes; NULL: it makes none. */
const WendArg *call_request_made(const WendCall *call);
/* Whether the call makes a request for a receive that is matched by source and tag. */
gboolean call_makes_receive(const WendCall *call);
/* Whether it posts such a receive at once. */
gboolean call_posts_receive(const WendCall *call);
/* Whether it starts persistent requests. */
gboolean call_starts(const WendCall *call);

/* A walk of a sequence, and a decoder for the calls that made its requests. */
typedef struct {
    guint sequence;
    WendWalk *walk;
    WendDecoder *decoder;
} CallFollower;
CallFollower call_follower(const WendProgram *p, guint rank, guint sequence);
void call_follower_clear(CallFollower *f);
/* The call that made a request; NULL: unknown. It belongs to the decoder. */
const WendCall *call_maker(const CallFollower *f, gint64 request, guint rank);

#endif
