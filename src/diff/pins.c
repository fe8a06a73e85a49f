/* SPDX-License-Identifier: BSD-3-Clause */
/* pins.c: see pins.h. */
#include "config.h"

#include "pins.h"

#include <string.h>

#include "lib/base/containers.h"
#include "lib/record/neighbours.h"

typedef struct {
    guint64 index;
    gint64 source;        /* of the first message */
    PinnedStarts *starts; /* of a persistent receive; NULL: none */
} Pin;

struct Pins {
    GArray *list; /* Pin, by index */
    guint at;     /* index of the last one that was read, or after it */
};

const WendArg *pins_source_argument(const WendCall *call, gboolean *any)
{
    const WendArg *source =
        (call->function->flags & WEND_F_RECV) != 0 ? call_arg(call, "source") : NULL;
    if (!source || source->param->kind != WEND_KIND_RANK || source->param->dir != WEND_DIR_IN
        || source->n_in != 1)
        return NULL;
    *any = source->in[0] == program_constant_word("MPI_ANY_SOURCE");
    return source;
}

/* The status of a blocking call, or NULL. */
static const gint64 *own_status(const WendCall *call)
{
    const WendArg *status = call_arg_of_kind(call, WEND_KIND_STATUS);
    return status != NULL && status->n_out > 0 ? status->out : NULL;
}

static void pin_clear(gpointer pin)
{
    PinnedStarts *starts = ((Pin *)pin)->starts;
    if (!starts)
        return;
    g_array_unref(starts->sources);
    g_array_unref(starts->starts);
    g_free(starts);
}

/* Adds the source of a message, or of none. SEEN has the sources of persistent receives. */
static void add_start(Pin *pin, Map *seen, gint64 source)
{
    const struct {
        guint64 index;
        gint64 source;
    } key = {pin->index, source};
    PinnedStarts *s = pin->starts;
    if (!s) {
        s = pin->starts = g_new(PinnedStarts, 1);
        *s = (PinnedStarts){g_array_new(FALSE, FALSE, sizeof(gint64)),
                            g_array_new(FALSE, FALSE, sizeof(guint))};
    }
    guint at = s->sources->len;
    void *found;
    if (map_find_bytes(seen, &key, sizeof key, &found)) {
        at = NUMBER_OF(found);
    } else {
        g_array_append_val(s->sources, source);
        map_put_bytes(seen, &key, sizeof key, OF_NUMBER(at));
    }
    g_array_append_val(s->starts, at);
}

static void add_source(Pin *pin, const gint64 *status, Map *seen)
{
    gboolean cancelled = status != NULL && (status[3] & 1) != 0;
    gboolean came = status != NULL && !cancelled && status[0] >= 0;
    if (seen != NULL)
        add_start(pin, seen, came ? status[0] : program_constant_word("MPI_ANY_SOURCE"));
    if (came && pin->source == WEND_ABSENT)
        pin->source = status[0];
}

static void note_completed(Pins *pins, GHashTable *pending, Map *seen, const WendWalk *walk,
                           const WendCall *call)
{
    guint n;
    const gint64 *completed = walk_completed(walk, &n);
    for (guint i = 0; i < n && g_hash_table_size(pending) > 0; i++) {
        gpointer place;
        if (!g_hash_table_lookup_extended(pending, &completed[i], NULL, &place))
            continue;
        WendRequestState state;
        gboolean persistent = walk_request(walk, completed[i], &state) && state.persistent;
        add_source(&g_array_index(pins->list, Pin, GPOINTER_TO_UINT(place)),
                   call_status_of(call, completed, i), persistent ? seen : NULL);
        if (!persistent)
            g_hash_table_remove(pending, &completed[i]);
    }
}

Pins *pins_new(const WendProgram *p, guint rank, guint sequence)
{
    Pins *pins = g_new0(Pins, 1);
    pins->list = g_array_new(FALSE, TRUE, sizeof(Pin));
    g_array_set_clear_func(pins->list, pin_clear);
    g_autoptr(GHashTable) pending = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                                          NULL); /* request -> index in the list */
    AUTO(Map) seen = map_of_bytes(NULL);
    WendWalk *walk = walk_new(p, rank, sequence, WEND_WALK_MAIN);
    const WendCall *call;
    while ((call = walk_next(walk)) != NULL) {
        gboolean any = FALSE;
        const gint64 *made = call->failed ? NULL : call_request_made(call);
        if (made != NULL)
            g_hash_table_remove(pending, made);
        if (!call->failed && pins_source_argument(call, &any) != NULL && any) {
            const Pin pin = {.index = call->index, .source = WEND_ABSENT};
            g_array_append_val(pins->list, pin);
            if (made != NULL)
                g_hash_table_replace(pending, g_memdup2(made, sizeof *made),
                                     GUINT_TO_POINTER(pins->list->len - 1));
            else
                add_source(&g_array_index(pins->list, Pin, pins->list->len - 1), own_status(call),
                           NULL);
        }
        note_completed(pins, pending, seen, walk, call);
    }
    walk_free(walk);
    return pins;
}

void pins_free(Pins *pins)
{
    if (!pins)
        return;
    g_array_unref(pins->list);
    g_free(pins);
}

static const Pin *find_pin(Pins *pins, guint64 index)
{
    const Pin *list = (const Pin *)(void *)pins->list->data;
    if (pins->at >= pins->list->len || list[pins->at].index > index)
        pins->at = 0;
    while (pins->at < pins->list->len && list[pins->at].index < index)
        pins->at++;
    return pins->at < pins->list->len && list[pins->at].index == index ? &list[pins->at] : NULL;
}

gint64 pins_source(Pins *pins, guint64 index)
{
    const Pin *pin = find_pin(pins, index);
    return pin != NULL ? pin->source : WEND_ABSENT;
}

const PinnedStarts *pins_starts(Pins *pins, guint64 index)
{
    const Pin *pin = find_pin(pins, index);
    guint ranks = 0;
    if (!pin || !pin->starts)
        return NULL;
    for (guint i = 0; i < pin->starts->sources->len && ranks < 2; i++)
        ranks += g_array_index(pin->starts->sources, gint64, i) >= 0;
    return ranks == 2 ? pin->starts : NULL;
}

/* -- changed calls -- */

void pinned_call_init(PinnedCall *pinned)
{
    pinned->args = g_array_new(FALSE, TRUE, sizeof(WendArg));
}

void pinned_call_clear(PinnedCall *pinned)
{
    g_array_unref(pinned->args);
}

static WendArg *copy_call(PinnedCall *pinned, const WendCall *call, guint n_args)
{
    g_array_set_size(pinned->args, 0);
    g_array_set_size(pinned->args, n_args);
    pinned->call = *call;
    pinned->call.n_args = n_args;
    pinned->call.args = (const WendArg *)(void *)pinned->args->data;
    return (WendArg *)(void *)pinned->args->data;
}

const WendCall *pinned_call_name_source(PinnedCall *pinned, const WendCall *call, gint64 source)
{
    WendArg *args = copy_call(pinned, call, call->n_args);
    memcpy(args, call->args, call->n_args * sizeof *args);
    pinned->words[0] = source;
    for (guint i = 0; i < call->n_args; i++)
        if (strcmp(args[i].param->name, "source") == 0)
            args[i].in = pinned->words;
    return &pinned->call;
}

static void set_array(WendArg *arg, gint64 n, const gint64 *words)
{
    arg->n_in = n;
    arg->in = words;
}

/* Sets the sources or the destinations: their ranks or their weights. */
static void set_neighbours(WendArg *arg, const Neighbours *graph, guint which, gboolean weights)
{
    gint64 n = graph->n[which];
    if (!weights)
        set_array(arg, n, graph->ranks[which]);
    else if (!graph->weighted)
        set_array(arg, program_constant_word("MPI_UNWEIGHTED"), NULL);
    else
        set_array(arg, n > 0 ? n : program_constant_word("MPI_WEIGHTS_EMPTY"),
                  graph->weights[which]);
}

const WendCall *pinned_call_adjacent(PinnedCall *pinned, const WendCall *call, gboolean unknown_old)
{
    static const char *const lists[] = {"sources", "destinations", "sourceweights", "destweights"};
    const WendFunction *adjacent = &mpi_functions[WEND_FN_MPI_Dist_graph_create_adjacent];
    const WendArg *words = call_arg_of_kind(call, WEND_KIND_NEIGHBOURS);
    Neighbours graph;
    if (!words || !neighbours_read(words->out, words->n_out, &graph))
        return NULL;
    WendArg *args = copy_call(pinned, call, adjacent->n_params);
    pinned->call.function = adjacent;
    const gint64 numbers[] = {graph.n[0], graph.n[1], 0 /* reorder */, WEND_UNKNOWN,
                              -1 /* rank in the communicator */};
    memcpy(pinned->words, numbers, sizeof numbers);
    for (guint i = 0; i < adjacent->n_params; i++) {
        const WendParam *param = &adjacent->params[i];
        const WendArg *same = call_arg(call, param->name);
        if (same != NULL)
            args[i] = *same;
        args[i].param = param;
        if (strcmp(param->name, "indegree") == 0 || strcmp(param->name, "outdegree") == 0)
            set_array(&args[i], 1, &pinned->words[param->name[0] == 'o']);
        else if (strcmp(param->name, "reorder") == 0)
            set_array(&args[i], 1, &pinned->words[2]);
        else if (unknown_old && strcmp(param->name, "comm_old") == 0)
            set_array(&args[i], 1, &pinned->words[3]);
        else if (unknown_old && param->kind == WEND_KIND_SELF)
            set_array(&args[i], 1, &pinned->words[4]);
        for (guint k = 0; k < G_N_ELEMENTS(lists); k++)
            if (strcmp(param->name, lists[k]) == 0)
                set_neighbours(&args[i], &graph, k % 2, k >= 2);
    }
    return &pinned->call;
}
