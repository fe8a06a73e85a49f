/* SPDX-License-Identifier: BSD-3-Clause */
/* graph-order.c: see graph-order.h. */
#include "graph-order.h"

#include <string.h>

#include "program-private.h"
#include "record/layout.h"

struct WendGraphOrders {
    guint8 *kinds; /* by terminal: GraphOrder */
};

/* What a function does with the order of neighbours: it makes a communicator with such an order,
 * copies one, lists the neighbours, or communicates with them. */
typedef enum { OTHER, MAKES, COPIES, LISTS, COLLECTS } Role;

static Role role_of(const WendFunction *f)
{
    return f->id == WEND_FN_MPI_Dist_graph_create      ? MAKES
           : f->id == WEND_FN_MPI_Dist_graph_neighbors ? LISTS
           : (f->flags & WEND_F_NEIGHBORS) != 0        ? COLLECTS
           : f->makes == WEND_MAKES_DUP                ? COPIES
                                                       : OTHER;
}

typedef struct {
    const WendProgram *program;
    Layout layout;
    guint8 *roles;       /* by terminal: Role */
    gint64 *comms;       /* by terminal: the communicator argument of the call */
    gint64 *made;        /* by terminal: the communicator that it makes; WEND_ABSENT: none */
    GHashTable *ordered; /* handle words of communicators whose order is the library's choice */
} Search;

static void look_at(Search *s, guint32 terminal)
{
    const WendFunction *f = s->program->shapes[s->program->terminals[terminal].shape].function;
    s->roles[terminal] = (guint8)role_of(f);
    s->comms[terminal] = s->made[terminal] = WEND_ABSENT;
    if (s->roles[terminal] == OTHER)
        return;
    /* Handles are in the shape, so the slots of a rank are not needed. */
    const WendTerminal *t = &s->program->terminals[terminal];
    const WendShape *shape = &s->program->shapes[t->shape];
    layout_fits(&s->layout, f, shape->words, shape->n_words, t->n_slots);
    for (guint i = 0; i < f->n_params && !shape->failed; i++) {
        const LayoutArg *arg = &g_array_index(s->layout.args, LayoutArg, i);
        if (f->params[i].kind != WEND_KIND_COMM)
            continue;
        if (arg->n_in == 1)
            s->comms[terminal] = g_array_index(s->layout.words, gint64, arg->in);
        else if (arg->n_out == 1)
            s->made[terminal] = g_array_index(s->layout.words, gint64, arg->out);
    }
}

static gboolean is_ordered(const Search *s, gint64 comm)
{
    return g_hash_table_contains(s->ordered, &comm);
}

/* Adds the communicators that calls make or copy. Returns whether there is a new one. */
static gboolean spread(Search *s)
{
    gboolean more = FALSE;
    for (guint32 t = 0; t < s->program->n_terminals; t++) {
        gboolean passes =
            s->roles[t] == MAKES || (s->roles[t] == COPIES && is_ordered(s, s->comms[t]));
        if (passes && word_is_handle(s->made[t]) && !is_ordered(s, s->made[t]))
            more = g_hash_table_add(s->ordered, g_memdup2(&s->made[t], sizeof(gint64)));
    }
    return more;
}

WendGraphOrders *graph_orders_new(const WendProgram *p)
{
    Search s = {.program = p,
                .roles = g_new0(guint8, p->n_terminals + 1),
                .comms = g_new0(gint64, p->n_terminals + 1),
                .made = g_new0(gint64, p->n_terminals + 1),
                .ordered = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)};
    WendGraphOrders *orders = NULL;
    layout_init(&s.layout);
    for (guint32 t = 0; t < p->n_terminals; t++)
        look_at(&s, t);
    while (spread(&s))
        ;
    if (g_hash_table_size(s.ordered) > 0) {
        orders = g_new(WendGraphOrders, 1);
        orders->kinds = g_new0(guint8, p->n_terminals);
        for (guint32 t = 0; t < p->n_terminals; t++)
            if (is_ordered(&s, s.comms[t]))
                orders->kinds[t] = s.roles[t] == LISTS      ? GRAPH_ORDER_LISTS
                                   : s.roles[t] == COLLECTS ? GRAPH_ORDER_COLLECTS
                                                            : GRAPH_ORDER_NONE;
    }
    layout_clear(&s.layout);
    g_free(s.roles);
    g_free(s.comms);
    g_free(s.made);
    g_hash_table_unref(s.ordered);
    return orders;
}

void graph_orders_free(WendGraphOrders *orders)
{
    if (!orders)
        return;
    g_free(orders->kinds);
    g_free(orders);
}

GraphOrder graph_order(const WendGraphOrders *orders, guint32 terminal)
{
    return !orders ? GRAPH_ORDER_NONE : (GraphOrder)orders->kinds[terminal];
}
