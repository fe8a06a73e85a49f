/* SPDX-License-Identifier: BSD-3-Clause */
/* items.c: see items.h. */
#include "config.h"

#include "items.h"

#include <string.h>

#include "call-text.h"
#include "src/command/text.h"

typedef enum {
    SORT_UNKNOWN,
    SORT_PLACE, /* a note about the place of memory: no item */
    SORT_PLAIN,
    SORT_FAILED,
    SORT_WAIT, /* Wait, Waitall */
    SORT_TEST, /* Test */
    SORT_TESTALL,
    SORT_ANY /* Waitany, Waitsome, Testany, Testsome */
} Sort;

struct Items {
    ComparisonKeyRank *comparison_key;
    const WendProgram *program;
    guint rank, sequence;
    gboolean outcomes, polls;
    WendWalk *walk;
    const WendCall *last;    /* the last call that was read; NULL at the end */
    guint8 *sorts;           /* by terminal */
    GHashTable *completions; /* (function of the terminal, request) -> key */
    GArray *queue;           /* Item: read and not dropped, from HEAD on */
    gsize head;
    gboolean ended;
};

static WendWalk *items_walk(const Items *s)
{
    return walk_new(s->program, s->rank, s->sequence, s->polls ? WEND_WALK_POLLS : WEND_WALK_MAIN);
}

Items *items_new(ComparisonKeyRank *comparison_key, const WendProgram *p, guint rank,
                 guint sequence, ItemsDetail detail)
{
    Items *s = g_new0(Items, 1);
    s->comparison_key = comparison_key;
    s->program = p;
    s->rank = rank;
    s->sequence = sequence;
    s->outcomes = detail >= ITEMS_OUTCOMES;
    s->polls = detail == ITEMS_POLLS;
    comparison_key_begin(comparison_key, sequence);
    s->walk = items_walk(s);
    s->sorts = g_new0(guint8, program_n_terminals(p));
    s->completions = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    s->queue = g_array_new(FALSE, FALSE, sizeof(Item));
    return s;
}

void items_free(Items *s)
{
    if (!s)
        return;
    walk_free(s->walk);
    g_free(s->sorts);
    g_hash_table_unref(s->completions);
    g_array_unref(s->queue);
    g_free(s);
}

static Sort sort_of(const WendCall *call)
{
    guint32 flags = call->function->flags;
    if (comparison_key_is_place(call))
        return SORT_PLACE;
    if (call->failed)
        return SORT_FAILED;
    if ((flags & WEND_F_COMPLETES) == 0)
        return SORT_PLAIN;
    if ((flags & WEND_F_ANY) != 0)
        return SORT_ANY;
    if ((flags & WEND_F_POLL) == 0)
        return SORT_WAIT;
    for (guint i = 0; i < call->n_args; i++)
        if (call->args[i].param->kind == WEND_KIND_REQUEST && call->args[i].param->array)
            return SORT_TESTALL;
    return SORT_TEST;
}

static void add(Items *s, guint32 number, gboolean choice, const WendCall *call)
{
    Item item = {number, choice, call->index};
    g_array_append_val(s->queue, item);
}

static const WendArg *requests_of(const WendCall *call)
{
    for (guint i = 0; i < call->n_args; i++)
        if (call->args[i].param->kind == WEND_KIND_REQUEST)
            return &call->args[i];
    return NULL;
}

typedef struct {
    const WendWalk *walk;
    const gint64 *completed;
    guint n;
} Activity;

/* Whether a request was active before the call. The walk has passed the call: its requests were
 * active, and so are those that still are. */
static gboolean was_active(gpointer data, gint64 request)
{
    const Activity *a = data;
    for (guint i = 0; i < a->n; i++)
        if (a->completed[i] == request)
            return TRUE;
    WendRequestState state;
    return walk_request(a->walk, request, &state) && state.active;
}

/* The key of a call that completes its whole array. Inactive entries are MPI_REQUEST_NULL. */
static guint32 number_of_waiting(Items *s, const WendCall *call, const gint64 *completed, guint n)
{
    const WendArg *requests = requests_of(call);
    if (!s->outcomes && requests != NULL && requests->n_in >= 0 && (guint64)requests->n_in == n)
        return comparison_key_terminal(s->comparison_key, call->terminal);
    Activity activity = {s->walk, completed, n};
    return comparison_key_call(s->comparison_key, call,
                               s->outcomes ? COMPARISON_KEY_IN | COMPARISON_KEY_OUTCOMES
                                           : COMPARISON_KEY_IN,
                               was_active, &activity);
}

/* The key of "FUNCTION completed REQUEST". */
static guint32 number_of_completion(Items *s, const WendCall *call, gint64 request)
{
    guint32 key[2] = {call->terminal, comparison_key_request(s->comparison_key, request)};
    gint64 both;
    memcpy(&both, key, sizeof both);
    gpointer known = g_hash_table_lookup(s->completions, &both);
    if (!known) {
        GByteArray *name = g_byte_array_new();
        g_byte_array_append(name, (const guint8 *)"d", 1);
        g_byte_array_append(name, (const guint8 *)call->function->name,
                            (guint)strlen(call->function->name) + 1);
        g_byte_array_append(name, (const guint8 *)&key[1], sizeof key[1]);
        known = GUINT_TO_POINTER(comparison_key_intern(comparison_key_of_rank(s->comparison_key),
                                                       name->data, name->len));
        g_byte_array_unref(name);
        g_hash_table_insert(s->completions, g_memdup2(&both, sizeof both), known);
    }
    return GPOINTER_TO_UINT(known);
}

/* The key of a failed call, with the name of its error class, because libraries number classes
 * differently. */
static guint32 number_of_failure(Items *s, const WendCall *call)
{
    char *class = call_text_error_class(s->program, call->return_code);
    GString *name = g_string_new("f");
    g_string_append_printf(name, "%u ", comparison_key_terminal(s->comparison_key, call->terminal));
    if (class != NULL)
        g_string_append(name, class);
    else
        g_string_append_printf(name, "%" G_GINT64_FORMAT, call->return_code);
    guint32 number =
        comparison_key_intern(comparison_key_of_rank(s->comparison_key), name->str, name->len);
    g_string_free(name, TRUE);
    g_free(class);
    return number;
}

static gboolean is_poll(const WendCall *call)
{
    return (call->function->flags & WEND_F_POLL) != 0;
}

/* Queues a call that completes nothing. */
static void add_plain(Items *s, const WendCall *call)
{
    guint n;
    const guint32 *keys = comparison_key_counts_as(s->comparison_key, &n);
    for (guint i = 0; i < n; i++)
        add(s, keys[i], FALSE, call);
    if (n == 0)
        add(s, comparison_key_terminal(s->comparison_key, call->terminal), FALSE, call);
}

/* Queues the items of the next call. */
static void read_call(Items *s)
{
    const WendCall *call = s->last = walk_next(s->walk);
    if (!call) {
        s->ended = TRUE;
        return;
    }
    if (call->poll) {
        Activity activity = {s->walk, NULL, 0};
        add(s,
            comparison_key_call(s->comparison_key, call, COMPARISON_KEY_IN, was_active, &activity),
            FALSE, call);
        return;
    }
    comparison_key_next(s->comparison_key, call, s->walk);
    guint8 *sort = &s->sorts[call->terminal];
    if (*sort == SORT_UNKNOWN)
        *sort = (guint8)sort_of(call);
    if (*sort == SORT_PLACE)
        return;
    if (*sort == SORT_PLAIN && !s->outcomes) {
        add_plain(s, call);
        return;
    }
    if (*sort == SORT_FAILED) {
        add(s, number_of_failure(s, call), FALSE, call);
        return;
    }
    if (*sort == SORT_PLAIN) {
        add(s,
            comparison_key_call(s->comparison_key, call,
                                COMPARISON_KEY_IN | COMPARISON_KEY_OUTCOMES, NULL, NULL),
            FALSE, call);
        return;
    }
    guint n;
    const gint64 *completed = walk_completed(s->walk, &n);
    if (n == 0 && is_poll(call) && !s->polls)
        return; /* a test that found only inactive requests; their number is nondeterministic */
    if (s->outcomes || *sort == SORT_WAIT || n == 0)
        add(s, number_of_waiting(s, call, completed, n), FALSE, call);
    else if (*sort == SORT_TESTALL)
        add(s, number_of_waiting(s, call, completed, n), TRUE, call);
    else
        for (guint i = 0; i < n; i++)
            add(s, number_of_completion(s, call, completed[i]), TRUE, call);
}

Item items_peek(Items *s, gsize ahead)
{
    while (s->queue->len - s->head <= ahead && !s->ended)
        read_call(s);
    if (s->queue->len - s->head <= ahead)
        return (Item){0, FALSE, 0};
    return g_array_index(s->queue, Item, s->head + ahead);
}

void items_drop(Items *s, gsize n)
{
    s->head += n;
    if (s->head == s->queue->len) {
        g_array_set_size(s->queue, 0);
        s->head = 0;
    } else if (s->head > 4096 && s->head > s->queue->len / 2) {
        g_array_remove_range(s->queue, 0, (guint)s->head);
        s->head = 0;
    }
}

static char *describe(const Items *s, const WendWalk *walk, const WendCall *call, const char **name)
{
    GString *text = g_string_new(NULL);
    call_text(text, s->program, walk, call);
    *name = call->function->name;
    return g_string_free(text, FALSE);
}

char *items_describe(Items *s, const Item *item, const char **name)
{
    if (s->last != NULL && s->last->index == item->index)
        return describe(s, s->walk, s->last, name);
    WendWalk *walk = items_walk(s);
    const WendCall *call;
    char *text = NULL;
    while ((call = walk_next(walk)) != NULL && call->index < item->index)
        ;
    if (call != NULL)
        text = describe(s, walk, call, name);
    walk_free(walk);
    return text;
}

void items_put_call(GString *out, char mark, const WendProgram *p, guint rank, guint sequence,
                    guint64 index)
{
    WendWalk *walk = walk_new(p, rank, sequence, WEND_WALK_MAIN);
    const WendCall *call;
    while ((call = walk_next(walk)) != NULL && call->index < index)
        ;
    g_string_append_printf(out, "  %c ", mark);
    if (call != NULL) {
        text_decimal(out, (gint64)index);
        g_string_append(out, "  ");
        call_text(out, p, walk, call);
        g_string_append_c(out, '\n');
    } else {
        g_string_append(out, "(the end)\n");
    }
    walk_free(walk);
}
