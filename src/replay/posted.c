/* SPDX-License-Identifier: BSD-3-Clause */
/* posted.c: see posted.h. */
#include "posted.h"

PostedAny posted_any(void)
{
    return (PostedAny){wend_constant_word("MPI_ANY_SOURCE"), wend_constant_word("MPI_ANY_TAG")};
}

static const WendArg *output(const WendCall *call, WendKind kind)
{
    for (guint i = 0; i < call->n_args; i++)
        if (call->args[i].param->kind == kind && call->args[i].param->dir == WEND_DIR_OUT)
            return &call->args[i];
    return NULL;
}

const WendParam *posted_receive(const WendCall *call)
{
    if (!(call->function->flags & WEND_F_RECV) || output(call, WEND_KIND_MESSAGE))
        return NULL;
    const WendArg *of = output(call, WEND_KIND_REQUEST);
    of = of ? of : output(call, WEND_KIND_STATUS);
    int source = of && of->param->count >= 0 ? of->param->source : -1; /* a probe has no count */
    return source >= 0 && call->args[source].param->kind == WEND_KIND_RANK ? of->param : NULL;
}

gboolean posted_is_receive(const WendCall *call)
{
    return output(call, WEND_KIND_REQUEST) && posted_receive(call);
}

gboolean posted_is_send(const WendCall *call)
{
    return (call->function->flags & (WEND_F_SEND | WEND_F_RECV)) == WEND_F_SEND
           && output(call, WEND_KIND_REQUEST);
}

gboolean posted_is_persistent(const WendCall *call)
{
    return (call->function->flags & WEND_F_PERSISTENT) != 0;
}

gboolean posted_starts(const WendCall *call)
{
    return g_str_has_prefix(call->function->name, "MPI_Start");
}

gint64 posted_word(const WendCall *call, int param)
{
    const WendArg *arg = param >= 0 && param < (int)call->n_args ? &call->args[param] : NULL;
    return arg && arg->n_in > 0 && arg->in ? arg->in[0] : WEND_ABSENT;
}

gint64 posted_request(const WendCall *call)
{
    const WendArg *made = output(call, WEND_KIND_REQUEST);
    return made && made->n_out > 0 && made->out ? made->out[0] : WEND_ABSENT;
}

gboolean posted_leaves_open(const WendCall *call, PostedAny any)
{
    const WendParam *of = posted_receive(call);
    return of
           && (posted_word(call, of->source) == any.source
               || posted_word(call, of->tag) == any.tag);
}

const WendCall *posted_maker(const WendWalk *walk, WendDecoder *decoder, guint rank, gint64 request)
{
    WendRequestState state;
    return wend_walk_request(walk, request, &state) && state.terminal != G_MAXUINT32
               ? wend_decoder_call(decoder, state.terminal, rank)
               : NULL;
}
