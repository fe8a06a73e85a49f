/* SPDX-License-Identifier: BSD-3-Clause */
/* variables.c: stores handles and requests in arrays of the proxy, by kind and by the thread that
 * made them.
 *
 * Requests need care. MPI_Waitall takes an array, so requests that were side by side in the
 * application must be side by side here, too. Their numbers do not say where they were. Each
 * recorded array is a constraint on the order of its requests. If each number can have one slot
 * such that all arrays agree, it gets that slot. Otherwise slots depend on ranks and times
 * (request-slots.c). An array that still does not agree is gathered from its slots before the call,
 * and scattered after it. */
#include "src/proxygen/plan/passes.h"

#include <string.h>

/* Requests in a fixed order: position -> request number; -1 where the application had
 * MPI_REQUEST_NULL. */
typedef struct {
    guint thread;
    GArray *at;  /* of gint64 */
    guint first; /* slot in the thread's array */
} Row;
enum { PLACE_FREE = -2, PLACE_NULL = -1 };

typedef struct {
    Row *row;
    guint position;
} Place;

struct Variables {
    GHashTable *lengths; /* kind << 32 | thread (gint64) -> length of the array (guint) */
    RequestLists *lists;
    GHashTable *places; /* request word -> Place */
    GPtrArray *rows;
    RequestSlots *positions; /* NULL: PLACES has all */
    /* kind << 56 | handle: several references to one object may exist */
    GHashTable *shared;
};

static void row_free(gpointer row)
{
    g_array_free(((Row *)row)->at, TRUE);
    g_free(row);
}

static gint64 *length_of(Variables *v, WendKind kind, guint thread)
{
    gint64 key = (gint64)kind << 32 | thread, *found = g_hash_table_lookup(v->lengths, &key);
    if (!found) {
        found = g_new0(gint64, 1);
        g_hash_table_insert(v->lengths, g_memdup2(&key, sizeof key), found);
    }
    return found;
}

static void note_handle(Variables *v, WendKind kind, gint64 handle)
{
    if (!word_is_handle(handle))
        return;
    gint64 *length = length_of(v, kind, word_handle_tid(handle));
    *length = MAX(*length, (gint64)word_handle_number(handle) + 1);
}

static gint64 row_get(const Row *row, gint64 position)
{
    return position < 0 || position >= (gint64)row->at->len
               ? PLACE_FREE
               : g_array_index(row->at, gint64, position);
}

/* Whether the list fits into ROW with its first entry at BASE. */
static gboolean fits(const Variables *v, const Row *row, const RequestList *list, gint64 base)
{
    for (gint64 i = 0; i < list->n; i++) {
        gint64 word = word_is_handle(list->words[i]) ? list->words[i] : PLACE_NULL,
               there = row_get(row, base + i);
        if (there != PLACE_FREE && there != word)
            return FALSE;
        if (word == PLACE_NULL || there == word)
            continue;
        if (word_handle_tid(word) != row->thread || g_hash_table_lookup(v->places, &word))
            return FALSE;
    }
    return TRUE;
}

static void put(Variables *v, Row *row, const RequestList *list, gint64 base)
{
    gint64 unset = PLACE_FREE;
    for (gint64 i = 0; i < list->n; i++) {
        while ((gint64)row->at->len <= base + i)
            g_array_append_val(row->at, unset);
        gint64 word = list->words[i];
        g_array_index(row->at, gint64, base + i) = word_is_handle(word) ? word : PLACE_NULL;
        if (word_is_handle(word) && !g_hash_table_lookup(v->places, &word)) {
            Place *place = g_new(Place, 1);
            *place = (Place){row, (guint)(base + i)};
            g_hash_table_insert(v->places, g_memdup2(&word, sizeof word), place);
        }
    }
}

static gboolean has_duplicates(const RequestList *list)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (gint64 i = 0; i < list->n; i++)
        if (word_is_handle(list->words[i]) && !g_hash_table_add(seen, &list->words[i]))
            return TRUE;
    return FALSE;
}

/* Puts the list into consecutive slots, if it agrees with the lists before. */
static void place_list(Variables *v, RequestList *list)
{
    Row *row = NULL;
    gint64 base = 0, one = -1;
    if (has_duplicates(list))
        return;
    for (gint64 i = 0; i < list->n; i++) {
        if (!word_is_handle(list->words[i]))
            continue;
        one = list->words[i];
        const Place *place = g_hash_table_lookup(v->places, &list->words[i]);
        if (place) {
            row = place->row;
            base = (gint64)place->position - i;
            break;
        }
    }
    if (one < 0 || base < 0)
        return;
    if (!row) {
        row = g_new0(Row, 1);
        row->thread = word_handle_tid(one);
        row->at = g_array_new(FALSE, FALSE, sizeof(gint64));
        if (!fits(v, row, list, 0)) {
            row_free(row);
            return;
        }
        g_ptr_array_add(v->rows, row);
    } else if (!fits(v, row, list, base)) {
        return;
    }
    put(v, row, list, base);
    list->direct = TRUE;
}

static int compare_lists(gconstpointer a, gconstpointer b)
{
    const RequestList *l = *(RequestList *const *)a, *m = *(RequestList *const *)b;
    return l->n > m->n ? -1 : l->n < m->n;
}

/* Whether the call returns references to existing objects rather than new objects. */
static gboolean gives_references(const CallPattern *c, WendKind kind)
{
    return (c->function->flags & WEND_F_REFERS) || kind == WEND_KIND_GROUP
           || kind == WEND_KIND_ERRHANDLER;
}

static gint64 *shared_key(WendKind kind, gint64 handle)
{
    gint64 *key = g_new(gint64, 1);
    *key = (gint64)kind << 56 | handle;
    return key;
}

gboolean variables_are_shared(const Plan *plan, WendKind kind, gint64 handle)
{
    g_autofree gint64 *key = shared_key(kind, handle);
    return g_hash_table_contains(plan->variables->shared, key);
}

static void note_call(Plan *plan, const CallPattern *c)
{
    Variables *v = plan->variables;
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        WendKind kind = arg->param->kind;
        if (!kind_is_handle(kind) && kind != WEND_KIND_REQUEST)
            continue;
        gboolean wide = kind == WEND_KIND_COMM || kind == WEND_KIND_DATATYPE;
        for (guint w = 0; w < arg->n_in_words; w++)
            note_handle(v, kind, arg->in[w].value);
        for (guint w = 0; w < arg->n_out_words; w += wide ? 6 : 1) {
            note_handle(v, kind, arg->out[w].value);
            if (kind != WEND_KIND_REQUEST && word_is_handle(arg->out[w].value)
                && gives_references(c, kind))
                g_hash_table_add(v->shared, shared_key(kind, arg->out[w].value));
        }
        if (kind == WEND_KIND_REQUEST && arg->param->array && arg->n_in > 0
            && !call_pattern_failed_on(c, arg))
            request_lists_add(v->lists, arg->in, arg->n_in);
    }
}

/* Assigns slots: rows one after the other, then requests that are in no array. */
static void lay_out(Plan *plan)
{
    Variables *v = plan->variables;
    /* thread -> number of slots */
    GHashTable *used = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    for (guint i = 0; i < v->rows->len; i++) {
        Row *row = g_ptr_array_index(v->rows, i);
        gint64 thread = row->thread, *n = g_hash_table_lookup(used, &thread);
        if (!n)
            g_hash_table_insert(used, g_memdup2(&thread, sizeof thread), n = g_new0(gint64, 1));
        row->first = (guint)*n;
        *n += row->at->len;
    }
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, v->lengths);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        if ((WendKind)(*(gint64 *)key >> 32) != WEND_KIND_REQUEST)
            continue;
        gint64 thread = *(gint64 *)key & G_MAXUINT32, *length = value,
               *n = g_hash_table_lookup(used, &thread);
        guint total = n ? (guint)*n : 0;
        Row *row = g_new0(Row, 1);
        row->thread = (guint)thread;
        row->first = total;
        row->at = g_array_new(FALSE, FALSE, sizeof(gint64));
        g_ptr_array_add(v->rows, row);
        for (gint64 r = 0; r < *length; r++) {
            gint64 word = WEND_HANDLE(thread, r);
            if (g_hash_table_lookup(v->places, &word))
                continue;
            Place *place = g_new(Place, 1);
            *place = (Place){row, row->at->len};
            g_array_append_val(row->at, word);
            g_hash_table_insert(v->places, g_memdup2(&word, sizeof word), place);
        }
        *length = total + row->at->len;
    }
    g_hash_table_destroy(used);
}

static gboolean all_agree(const Variables *v)
{
    const GPtrArray *lists = request_lists_in_order(v->lists);
    for (guint i = 0; i < lists->len; i++)
        if (!((const RequestList *)g_ptr_array_index(lists, i))->direct)
            return FALSE;
    return TRUE;
}

static void take_lengths(Variables *v)
{
    GHashTableIter iter;
    gpointer key, length;
    g_hash_table_iter_init(&iter, v->lengths);
    while (g_hash_table_iter_next(&iter, &key, &length))
        if ((WendKind)(*(gint64 *)key >> 32) == WEND_KIND_REQUEST)
            *(gint64 *)length =
                request_slots_length(v->positions, (guint)(*(gint64 *)key & G_MAXUINT32));
}

void plan_variables(Plan *plan)
{
    Variables *v = plan->variables = g_new0(Variables, 1);
    v->lengths = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    v->lists = request_lists_new();
    v->places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    v->rows = g_ptr_array_new_with_free_func(row_free);
    v->shared = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint t = 0; t < program_n_terminals(plan->program); t++) {
        if (plan->terminal_ranks[t].n == 0)
            continue;
        call_pattern_decode(plan->call, t);
        note_call(plan, plan->call);
    }
    /* Longest lists first: shorter ones are mostly parts of them. */
    GPtrArray *lists = request_lists_in_order(v->lists);
    g_ptr_array_sort(lists, compare_lists);
    for (guint i = 0; i < lists->len; i++)
        place_list(v, g_ptr_array_index(lists, i));
    if (!all_agree(v) && (v->positions = request_slots_find(plan, v->lists)) != NULL)
        take_lengths(v);
    else
        lay_out(plan);
    guint number = 0;
    for (guint i = 0; i < lists->len; i++) {
        RequestList *list = g_ptr_array_index(lists, i);
        if (!list->direct)
            list->number = ++number;
    }
}

void variables_free(Variables *v)
{
    if (!v)
        return;
    g_hash_table_destroy(v->lengths);
    request_lists_free(v->lists);
    g_hash_table_destroy(v->places);
    g_hash_table_destroy(v->shared);
    request_slots_free(v->positions);
    g_ptr_array_free(v->rows, TRUE);
    g_free(v);
}

gint64 variables_place(const Plan *plan, gint64 request, RankList ranks)
{
    const Variables *v = plan->variables;
    const Place *place = v->positions ? NULL : g_hash_table_lookup(v->places, &request);
    return place ? place->row->first + place->position
                 : request_slots_place(v->positions, request, ranks);
}

const RequestSlots *variables_request_slots(const Plan *plan)
{
    return plan->variables->positions;
}

guint variables_array_of_requests(const Plan *plan, guint thread)
{
    const RequestSlots *positions = plan->variables->positions;
    return positions ? request_slots_array(positions, thread) : thread;
}

RequestList *variables_request_list(const Plan *plan, const Word *words, gint64 n)
{
    return request_lists_find(plan->variables->lists, words, n);
}

static int compare_keys(gconstpointer a, gconstpointer b)
{
    gint64 x = **(gint64 *const *)a, y = **(gint64 *const *)b;
    return x < y ? -1 : x > y;
}

void variables_foreach(const Plan *plan, VariableFunction function, gpointer data)
{
    guint n = 0;
    GHashTable *lengths = plan->variables->lengths;
    g_autofree gpointer *keys = g_hash_table_get_keys_as_array(lengths, &n);
    qsort(keys, n, sizeof *keys, compare_keys);
    for (guint i = 0; i < n; i++) {
        const gint64 key = *(gint64 *)keys[i], *length = g_hash_table_lookup(lengths, &key);
        if (*length > 0)
            function((WendKind)(key >> 32), (guint)(key & G_MAXUINT32), (guint)*length, data);
    }
}
