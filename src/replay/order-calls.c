/* SPDX-License-Identifier: BSD-3-Clause */
/* order-calls.c: see order-calls.h. */
#include "order-calls.h"

gint64 call_in_word(const WendCall *call, int param)
{
    const WendArg *arg = param >= 0 && param < (int)call->n_args ? &call->args[param] : NULL;
    return arg && arg->n_in > 0 && arg->in ? arg->in[0] : WEND_ABSENT;
}

const WendArg *call_request_made(const WendCall *call)
{
    for (guint i = 0; i < call->n_args; i++)
        if (call->args[i].param->kind == WEND_KIND_REQUEST
            && call->args[i].param->dir == WEND_DIR_OUT)
            return &call->args[i];
    return NULL;
}

gboolean call_makes_receive(const WendCall *call)
{
    const WendArg *made = call->function->flags & WEND_F_RECV ? call_request_made(call) : NULL;
    int source = made ? made->param->source : -1; /* a matched receive has a message there */
    return source >= 0 && call->args[source].param->kind == WEND_KIND_RANK;
}

gboolean call_posts_receive(const WendCall *call)
{
    return call_makes_receive(call) && !(call->function->flags & WEND_F_PERSISTENT);
}

gboolean call_starts(const WendCall *call)
{
    return g_str_has_prefix(call->function->name, "MPI_Start");
}

CallFollower call_follower(const WendProgram *p, guint rank, guint sequence)
{
    return (CallFollower){sequence, wend_walk_new(p, rank, sequence, WEND_WALK_MAIN),
                          wend_decoder_new(p)};
}

void call_follower_clear(CallFollower *f)
{
    wend_decoder_free(f->decoder);
    wend_walk_free(f->walk);
}

const WendCall *call_maker(const CallFollower *f, gint64 request, guint rank)
{
    WendRequestState state;
    return wend_walk_request(f->walk, request, &state) && state.terminal != G_MAXUINT32
               ? wend_decoder_call(f->decoder, state.terminal, rank)
               : NULL;
}
