/* SPDX-License-Identifier: BSD-3-Clause */
/* call-plan.c: see call-plan.h. */
#include "config.h"

#include "call-plan.h"

#include <string.h>

struct CallPlans {
    const WendProgram *program;
    CallPlan **by_shape; /* NULL: not made yet, or NOTHING */
};

static CallPlan nothing;

/* -- what a function does -- */

static void find_input(CallPlan *plan, const WendParam *p, gint16 i)
{
    gint16 *at = p->kind == WEND_KIND_COMM      ? &plan->comm
                 : p->kind == WEND_KIND_WIN     ? &plan->window
                 : p->kind == WEND_KIND_FILE    ? &plan->file
                 : p->kind == WEND_KIND_REQUEST ? &plan->requests
                 : p->kind == WEND_KIND_MESSAGE ? &plan->message
                 : p->kind == WEND_KIND_SELF    ? &plan->self
                                                : NULL;
    if (at != NULL && *at < 0)
        *at = i;
    if (strcmp(p->name, "dest") == 0)
        plan->dest = i;
    if (strcmp(p->name, "source") == 0)
        plan->source = i;
    if (strcmp(p->name, "root") == 0)
        plan->root = i;
    if (strcmp(p->name, "thread") == 0)
        plan->thread = i;
    if (p->kind == WEND_KIND_TAG && strcmp(p->name, "recvtag") != 0)
        plan->send_tag = i;
    if (p->kind == WEND_KIND_TAG && strcmp(p->name, "sendtag") != 0)
        plan->receive_tag = i;
}

/* Buffers may share a count. */
static void find_count(CallPlan *plan, const WendFunction *f, const WendParam *buffer)
{
    gint16 count = buffer->count;
    if (count < 0 || f->params[count].array || plan->counts[0] == count)
        return;
    guint at = plan->counts[0] >= 0;
    plan->counts[at] = count;
    plan->types[at] = buffer->type;
}

static void find_output(CallPlan *plan, const WendParam *p, gint16 i)
{
    gint16 *at = p->kind == WEND_KIND_WIN       ? &plan->window_made
                 : p->kind == WEND_KIND_FILE    ? &plan->file_made
                 : p->kind == WEND_KIND_REQUEST ? &plan->request_made
                 : p->kind == WEND_KIND_MESSAGE ? &plan->message_made
                 : p->kind == WEND_KIND_STATUS  ? &plan->status
                                                : NULL;
    if (at != NULL && *at < 0)
        *at = i;
}

static CallRole role_of(const WendFunction *f)
{
    switch (f->id) {
    case WEND_FN_wend_start:
        return ROLE_THREAD_START;
    case WEND_FN_wend_join:
        return ROLE_THREAD_JOIN;
    case WEND_FN_MPI_Request_free:
        return ROLE_REQUEST_FREE;
    case WEND_FN_MPI_Request_get_status:
        return ROLE_REQUEST_LOOK;
    default:
        return ROLE_NONE;
    }
}

static CallPlan *plan_new(const WendFunction *f)
{
    CallPlan *plan = g_new0(CallPlan, 1);
    plan->comm = plan->window = plan->file = plan->window_made = plan->file_made = -1;
    plan->comm_made = (gint16)comm_made_parameter(f);
    plan->dest = plan->send_tag = plan->source = plan->receive_tag = -1;
    plan->request_made = plan->requests = plan->status = plan->message = plan->message_made = -1;
    plan->root = plan->self = plan->thread = -1;
    plan->counts[0] = plan->counts[1] = -1;
    gboolean buffer = FALSE;
    for (guint i = 0; i < f->n_params; i++) {
        const WendParam *p = &f->params[i];
        buffer |= p->kind == WEND_KIND_BUF;
        if (p->kind == WEND_KIND_BUF && f->sync != WEND_SYNC_NONE)
            find_count(plan, f, p);
        if (p->dir == WEND_DIR_OUT || p->dir == WEND_DIR_RETURN)
            find_output(plan, p, (gint16)i);
        else
            find_input(plan, p, (gint16)i);
    }
    gboolean takes = (f->flags & WEND_F_RECV) != 0 && plan->source >= 0 && plan->receive_tag >= 0;
    plan->sends = (f->flags & WEND_F_SEND) != 0 && plan->dest >= 0 && plan->send_tag >= 0;
    plan->receives = takes && buffer;
    plan->probes = takes && !buffer;
    plan->receives_probed = (f->flags & WEND_F_RECV) != 0 && plan->message >= 0;
    plan->starts = f->operation == WEND_FN_MPI_Start;
    plan->completes = plan->requests >= 0 && (f->flags & WEND_F_COMPLETES) != 0;
    plan->any = (f->flags & WEND_F_ANY) != 0;
    plan->persistent = f->progress == WEND_PERSISTENT;
    plan->partitioned = f->id == WEND_FN_MPI_Psend_init || f->id == WEND_FN_MPI_Precv_init;
    plan->synchronous = f->mode == WEND_MODE_SYNCHRONOUS && f->progress == WEND_BLOCKING;
    plan->role = role_of(f);
    plan->sync = f->sync;
    plan->waits = f->usual_sync;
    plan->of_object = plan->sends || plan->receives || plan->probes || plan->sync != WEND_SYNC_NONE
                      || plan->request_made >= 0 || plan->window_made >= 0 || plan->file_made >= 0
                      || plan->comm_made >= 0;
    if (plan->of_object || plan->receives_probed || plan->starts || plan->completes
        || plan->role != ROLE_NONE)
        return plan;
    g_free(plan);
    return &nothing;
}

/* -- plans by shape -- */

CallPlans *call_plans_new(const WendProgram *p)
{
    CallPlans *plans = g_new(CallPlans, 1);
    *plans = (CallPlans){p, g_new0(CallPlan *, program_n_shapes(p) + 1)};
    return plans;
}

void call_plans_free(CallPlans *plans)
{
    for (guint i = 0; i < program_n_shapes(plans->program); i++)
        if (plans->by_shape[i] != &nothing)
            g_free(plans->by_shape[i]);
    g_free(plans->by_shape);
    g_free(plans);
}

const CallPlan *call_plans_of(CallPlans *plans, const WendCall *call)
{
    CallPlan **plan = &plans->by_shape[call->shape];
    if (!*plan)
        *plan = plan_new(call->function);
    return *plan != &nothing ? *plan : NULL;
}

/* -- sends and receives -- */

gboolean call_plan_posts_receive(const CallPlan *plan)
{
    return plan->receives && plan->request_made >= 0;
}

gboolean call_plan_posts_send(const CallPlan *plan)
{
    return plan->sends && !plan->receives && plan->request_made >= 0;
}

MessageWords call_plan_message_words(void)
{
    return (MessageWords){.any_source = program_constant_word("MPI_ANY_SOURCE"),
                          .any_tag = program_constant_word("MPI_ANY_TAG"),
                          .proc_null = program_constant_word("MPI_PROC_NULL"),
                          .root = program_constant_word("MPI_ROOT")};
}

gboolean call_plan_leaves_open(const CallPlan *plan, const WendCall *call,
                               const MessageWords *words)
{
    return plan->receives
           && (call_plan_word(call, plan->source) == words->any_source
               || call_plan_word(call, plan->receive_tag) == words->any_tag);
}

gboolean call_plan_is_empty(const CallPlan *plan, const TransferSizes *sizes, const WendCall *call)
{
    for (guint i = 0; i < G_N_ELEMENTS(plan->counts) && plan->counts[i] >= 0; i++) {
        gint64 count = call_plan_word(call, plan->counts[i]);
        if (count == 0)
            return TRUE;
        /* Predefined datatypes have a size. Without a count, they are not significant. */
        gint64 type = call_plan_word(call, plan->types[i]);
        if (count > 0 && word_is_handle(type) && sizes->type_size(sizes->data, type) == 0)
            return TRUE;
    }
    return FALSE;
}

WendSync call_plan_sync(const CallPlan *plan, const WendWalk *walk, const WendCall *call)
{
    if (plan->sync <= WEND_SYNC_LOOSE)
        return plan->sync;
    const TransferSizes sizes = transfer_sizes_of_walk(walk);
    return call_plan_is_empty(plan, &sizes, call) ? WEND_SYNC_LOOSE : plan->sync;
}

CallMaker call_maker(CallPlans *plans, const WendWalk *walk, WendDecoder *decoder, guint rank,
                     gint64 request)
{
    WendRequestState state;
    CallMaker maker = {NULL, NULL};
    if (!word_is_handle(request) || !walk_request(walk, request, &state)
        || state.terminal >= program_n_terminals(plans->program))
        return maker;
    maker.call = decoder_call(decoder, state.terminal, rank);
    maker.plan = call_plans_of(plans, maker.call);
    return maker.plan != NULL ? maker : (CallMaker){NULL, NULL};
}

/* -- arguments -- */

gint64 call_plan_word(const WendCall *call, gint16 arg)
{
    const WendArg *a = arg >= 0 && (guint)arg < call->n_args ? &call->args[arg] : NULL;
    return a != NULL && a->n_in > 0 && a->in != NULL ? a->in[0] : WEND_ABSENT;
}

gint64 call_plan_request(const CallPlan *plan, const WendCall *call)
{
    const WendArg *made = plan->request_made >= 0 ? &call->args[plan->request_made] : NULL;
    return made != NULL && made->n_out > 0 && made->out != NULL ? made->out[0] : WEND_ABSENT;
}

const gint64 *call_plan_status(const CallPlan *plan, const WendCall *call)
{
    if (plan->status < 0)
        return NULL;
    const WendArg *a = &call->args[plan->status];
    return a->n_out > 0 && a->out != NULL ? a->out : NULL;
}
