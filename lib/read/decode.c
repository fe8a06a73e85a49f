/* SPDX-License-Identifier: BSD-3-Clause */
/* decode.c: decodes a terminal of one rank to a call with arguments. */
#include "decode.h"

#include <string.h>

struct WendDecoder {
    const WendProgram *p;
    Layout layout;
    GArray *slots, *args;
    Vector *origins;
    WendCall call;
};

void decode_static(const WendProgram *p, guint32 terminal, guint rank, Layout *layout,
                   GArray *slots)
{
    const WendTerminal *t = &p->terminals[terminal];
    const WendShape *s = &p->shapes[t->shape];
    g_array_set_size(slots, t->n_slots);
    for (guint i = 0; i < t->n_slots; i++)
        g_array_index(slots, gint64, i) = program_slot(p, terminal, i, rank);
    /* It fits, as was checked when the program was opened. */
    layout_static(layout, s->function, s->words, s->n_words, (const gint64 *)(gpointer)slots->data,
                  t->n_slots);
}

void decode_args(const WendFunction *f, const Layout *layout, const gint64 *words, WendArg *args)
{
    for (guint i = 0; i < f->n_params; i++) {
        const LayoutArg *a = &g_array_index(layout->args, LayoutArg, i);
        args[i] = (WendArg){&f->params[i], a->n_in,        a->n_out,
                            words + a->in, words + a->out, i < 64 && layout->nulls >> i & 1};
    }
}

WendDecoder *decoder_new(const WendProgram *p)
{
    WendDecoder *d = g_new0(WendDecoder, 1);
    d->p = p;
    layout_init(&d->layout);
    d->slots = g_array_sized_new(FALSE, FALSE, sizeof(gint64), 16);
    d->args = g_array_sized_new(FALSE, TRUE, sizeof(WendArg), 16);
    d->origins = vector_with_room(sizeof(LayoutOrigin), 16);
    return d;
}

const WendCall *decoder_call(WendDecoder *d, guint terminal, guint rank)
{
    g_return_val_if_fail(terminal < d->p->n_terminals, NULL);
    const WendTerminal *t = &d->p->terminals[terminal];
    const WendShape *s = &d->p->shapes[t->shape];
    decode_static(d->p, terminal, rank, &d->layout, d->slots);
    g_array_set_size(d->args, s->function->n_params);
    decode_args(s->function, &d->layout, (const gint64 *)(gpointer)d->layout.words->data,
                (WendArg *)(gpointer)d->args->data);
    d->call = (WendCall){.function = s->function,
                         .terminal = terminal,
                         .shape = t->shape,
                         .rank = rank,
                         .failed = s->failed,
                         .unfinished = d->layout.unfinished,
                         .n_args = s->function->n_params,
                         .args = (const WendArg *)(gpointer)d->args->data};
    return &d->call;
}

const Layout *decoder_layout(WendDecoder *d, guint terminal, const LayoutOrigin **origins)
{
    g_return_val_if_fail(terminal < d->p->n_terminals, NULL);
    const WendTerminal *t = &d->p->terminals[terminal];
    const WendShape *s = &d->p->shapes[t->shape];
    layout_symbolic(&d->layout, s->function, s->words, s->n_words, t->n_slots, d->origins);
    *origins = d->origins->data;
    return &d->layout;
}

void decoder_free(WendDecoder *d)
{
    if (!d)
        return;
    layout_clear(&d->layout);
    g_array_unref(d->slots);
    g_array_unref(d->args);
    vector_unref(d->origins);
    g_free(d);
}

const WendArg *call_arg(const WendCall *call, const char *name)
{
    for (guint i = 0; i < call->n_args; i++)
        if (strcmp(call->args[i].param->name, name) == 0)
            return &call->args[i];
    return NULL;
}

const WendArg *call_arg_of_kind(const WendCall *call, WendKind kind)
{
    for (guint i = 0; i < call->n_args; i++)
        if (call->args[i].param->kind == kind)
            return &call->args[i];
    return NULL;
}

const gint64 *call_request_made(const WendCall *call)
{
    for (guint i = 0; i < call->n_args; i++) {
        const WendArg *arg = &call->args[i];
        if (arg->param->kind == WEND_KIND_REQUEST && arg->param->dir == WEND_DIR_OUT
            && arg->n_out > 0)
            return arg->out;
    }
    return NULL;
}

const gint64 *call_status_of(const WendCall *call, const gint64 *completed, guint i)
{
    const WendArg *status = NULL, *requests = NULL;
    for (guint k = 0; k < call->n_args; k++) {
        if (call->args[k].param->kind == WEND_KIND_STATUS)
            status = &call->args[k];
        if (call->args[k].param->kind == WEND_KIND_REQUEST)
            requests = &call->args[k];
    }
    gint64 at = i;
    gboolean each = requests && requests->param->array && !(call->function->flags & WEND_F_ANY);
    while (each && at < requests->n_in && requests->in[at] != completed[i])
        at++; /* they come in the order of the array */
    return status && at < status->n_out ? &status->out[4 * at] : NULL;
}
