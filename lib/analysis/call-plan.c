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

/* The name without "MPI_", without the I of nonblocking functions. */
static const char *bare_name(const WendFunction *f, gboolean nonblocking)
{
    const char *name = f->name + (g_str_has_prefix(f->name, "MPI_") ? 4 : 0);
    return nonblocking && name[0] == 'I' ? name + 1 : name;
}

/* A name in any case: after the I of a nonblocking function the letters are small. */
static gboolean begins(const char *name, const char *with)
{
    return g_ascii_strncasecmp(name, with, strlen(with)) == 0;
}

/* The variants with an array of counts are loose: a member with a count of 0 waits for nobody. */
static void find_sync(CallPlan *plan, const WendFunction *f, gboolean request)
{
    static const struct {
        const char *name;
        SyncKind sync, waits;
    } kinds[] = {{"Barrier", SYNC_ALL, SYNC_ALL},
                 {"Allgatherv", SYNC_LOOSE, SYNC_ALL},
                 {"Allgather", SYNC_ALL, SYNC_ALL},
                 {"Allreduce", SYNC_ALL, SYNC_ALL},
                 {"Alltoallv", SYNC_LOOSE, SYNC_ALL},
                 {"Alltoallw", SYNC_LOOSE, SYNC_ALL},
                 {"Alltoall", SYNC_ALL, SYNC_ALL},
                 {"Reduce_scatter_block", SYNC_ALL, SYNC_ALL},
                 {"Reduce_scatter", SYNC_LOOSE, SYNC_ALL},
                 {"Bcast", SYNC_FROM_ROOT, SYNC_FROM_ROOT},
                 {"Scatterv", SYNC_LOOSE, SYNC_FROM_ROOT},
                 {"Scatter", SYNC_FROM_ROOT, SYNC_FROM_ROOT},
                 {"Gatherv", SYNC_LOOSE, SYNC_TO_ROOT},
                 {"Gather", SYNC_TO_ROOT, SYNC_TO_ROOT},
                 {"Reduce", SYNC_TO_ROOT, SYNC_TO_ROOT},
                 /* of some members of a communicator */
                 {"Comm_create_group", SYNC_NONE, SYNC_NONE},
                 {"Comm_create_from_group", SYNC_NONE, SYNC_NONE},
                 {"Intercomm_create_from_groups", SYNC_NONE, SYNC_NONE}};
    const char *name = bare_name(f, request && !(f->flags & WEND_F_PERSISTENT));
    plan->sync = plan->waits = SYNC_LOOSE;
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (begins(name, kinds[i].name)) {
            plan->sync = kinds[i].sync;
            plan->waits = kinds[i].waits;
            return;
        }
}

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
    return strcmp(f->name, "wend_start") == 0               ? ROLE_THREAD_START
           : strcmp(f->name, "wend_join") == 0              ? ROLE_THREAD_JOIN
           : strcmp(f->name, "MPI_Request_free") == 0       ? ROLE_REQUEST_FREE
           : strcmp(f->name, "MPI_Request_get_status") == 0 ? ROLE_REQUEST_LOOK
                                                            : ROLE_NONE;
}

static CallPlan *plan_new(const WendFunction *f)
{
    CallPlan *plan = g_new0(CallPlan, 1);
    plan->comm = plan->window = plan->file = plan->window_made = plan->file_made = -1;
    plan->comm_made = (gint16)wend_comm_made_parameter(f);
    plan->dest = plan->send_tag = plan->source = plan->receive_tag = -1;
    plan->request_made = plan->requests = plan->status = plan->message = plan->message_made = -1;
    plan->root = plan->self = plan->thread = -1;
    gboolean buffer = FALSE;
    for (guint i = 0; i < f->n_params; i++) {
        const WendParam *p = &f->params[i];
        buffer |= p->kind == WEND_KIND_BUF;
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
    plan->starts = plan->requests >= 0 && g_str_has_prefix(f->name, "MPI_Start");
    plan->completes = plan->requests >= 0 && (f->flags & WEND_F_COMPLETES) != 0;
    plan->any = (f->flags & WEND_F_ANY) != 0;
    plan->persistent = (f->flags & WEND_F_PERSISTENT) != 0;
    plan->partitioned =
        strcmp(f->name, "MPI_Psend_init") == 0 || strcmp(f->name, "MPI_Precv_init") == 0;
    plan->synchronous = g_str_has_prefix(f->name, "MPI_Ssend") && plan->request_made < 0;
    plan->role = role_of(f);
    gboolean over = plan->comm >= 0 || plan->window >= 0 || plan->file >= 0;
    if ((f->flags & WEND_F_COLLECTIVE) != 0 && over)
        find_sync(plan, f, plan->request_made >= 0);
    plan->of_object = plan->sends || plan->receives || plan->probes || plan->sync != SYNC_NONE
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
    *plans = (CallPlans){p, g_new0(CallPlan *, wend_program_n_shapes(p) + 1)};
    return plans;
}

void call_plans_free(CallPlans *plans)
{
    for (guint i = 0; i < wend_program_n_shapes(plans->program); i++)
        if (plans->by_shape[i] != &nothing)
            g_free(plans->by_shape[i]);
    g_free(plans->by_shape);
    g_free(plans);
}

const CallPlan *call_plans_of(CallPlans *plans, const WendCall *call)
{
    CallPlan **plan = &plans->by_shape[call->shape];
    if (*plan == NULL)
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
    return (MessageWords){.any_source = wend_program_constant_word("MPI_ANY_SOURCE"),
                          .any_tag = wend_program_constant_word("MPI_ANY_TAG"),
                          .proc_null = wend_program_constant_word("MPI_PROC_NULL"),
                          .root = wend_program_constant_word("MPI_ROOT")};
}

gboolean call_plan_leaves_open(const CallPlan *plan, const WendCall *call,
                               const MessageWords *words)
{
    return plan->receives
           && (call_plan_word(call, plan->source) == words->any_source
               || call_plan_word(call, plan->receive_tag) == words->any_tag);
}

CallMaker call_maker(CallPlans *plans, const WendWalk *walk, WendDecoder *decoder, guint rank,
                     gint64 request)
{
    WendRequestState state;
    CallMaker maker = {NULL, NULL};
    if (!wend_word_is_handle(request) || !wend_walk_request(walk, request, &state)
        || state.terminal >= wend_program_n_terminals(plans->program))
        return maker;
    maker.call = wend_decoder_call(decoder, state.terminal, rank);
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
