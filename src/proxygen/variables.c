/* SPDX-License-Identifier: BSD-3-Clause */
/* variables.c: handles and requests become arrays of the proxy, by kind and by the thread that made them.
 *
 * Requests need care. MPI_Waitall takes an array, so the requests that the application had side by side must be side by side here too;
 * the numbers of a recording say only who they are. Each recorded array is a constraint "these stand in this order". If each number can have one place such that
 * all arrays agree, it has it; else places are a matter of ranks and times (positions.c). An array that does not agree even so is gathered from its places before
 * the call and scattered after it. */
#include "variables.h"

#include <string.h>

typedef struct { WendKind kind; const char *ctype, *name, *null; } HandleKind;
static const HandleKind handle_kinds[] = {
    {WEND_KIND_COMM, "MPI_Comm", "comm", "MPI_COMM_NULL"},
    {WEND_KIND_GROUP, "MPI_Group", "group", "MPI_GROUP_NULL"},
    {WEND_KIND_DATATYPE, "MPI_Datatype", "type", "MPI_DATATYPE_NULL"},
    {WEND_KIND_OP, "MPI_Op", "op", "MPI_OP_NULL"},
    {WEND_KIND_ERRHANDLER, "MPI_Errhandler", "errhandler", "MPI_ERRHANDLER_NULL"},
    {WEND_KIND_INFO, "MPI_Info", "info", "MPI_INFO_NULL"},
    {WEND_KIND_FILE, "MPI_File", "file", "MPI_FILE_NULL"},
    {WEND_KIND_WIN, "MPI_Win", "win", "MPI_WIN_NULL"},
    {WEND_KIND_MESSAGE, "MPI_Message", "message", "MPI_MESSAGE_NULL"},
    {WEND_KIND_SESSION, "MPI_Session", "session", "MPI_SESSION_NULL"},
    {WEND_KIND_KEYVAL, "int", "keyval", "MPI_KEYVAL_INVALID"},
    {WEND_KIND_TENUM, "MPI_T_enum", "enumeration", "MPI_T_ENUM_NULL"},
    {WEND_KIND_CVAR, "MPI_T_cvar_handle", "cvar", "MPI_T_CVAR_HANDLE_NULL"},
    {WEND_KIND_PVAR, "MPI_T_pvar_handle", "pvar", "MPI_T_PVAR_HANDLE_NULL"},
    {WEND_KIND_PVARSESSION, "MPI_T_pvar_session", "pvar_session", "MPI_T_PVAR_SESSION_NULL"},
    {WEND_KIND_EVENTREG, "MPI_T_event_registration", "event_registration", "NULL"},
    {WEND_KIND_EVENT, "MPI_T_event_instance", "event_instance", "NULL"},
    {WEND_KIND_REQUEST, "MPI_Request", "request", "MPI_REQUEST_NULL"},
};

static const HandleKind *find_kind(WendKind kind)
{
    for (guint i = 0; i < G_N_ELEMENTS(handle_kinds); i++)
        if (handle_kinds[i].kind == kind)
            return &handle_kinds[i];
    g_assert_not_reached();
}

const char *handle_ctype(WendKind kind) { return find_kind(kind)->ctype; }
const char *handle_null(WendKind kind) { return find_kind(kind)->null; }

/* Requests that stand in a fixed order: position -> request number, and -1 where the application had MPI_REQUEST_NULL. */
typedef struct {
    guint thread;
    GArray *at;              /* of gint64 */
    guint first;             /* in the thread's array, when laid out */
} Row;
enum { PLACE_FREE = -2, PLACE_NULL = -1 };

typedef struct { Row *row; guint position; } Place;

struct Variables {
    GHashTable *lengths;     /* kind << 32 | thread (gint64) -> length of the array (guint) */
    GHashTable *lists;       /* RequestList (by words) -> itself */
    GPtrArray *list_order;   /* of RequestList, by first use */
    GHashTable *places;      /* request word -> Place */
    GPtrArray *rows;
    Positions *positions;    /* NULL: the above do */
    GHashTable *shared;      /* kind << 56 | handle: several references to one object may be alive */
};

static guint list_hash(gconstpointer list)
{
    const RequestList *l = list;
    guint h = (guint)l->n;
    for (gint64 i = 0; i < l->n; i++)
        h = h * 31 + (guint)l->words[i] + (guint)((guint64)l->words[i] >> 32) * 17;
    return h;
}

static gboolean list_equal(gconstpointer a, gconstpointer b)
{
    const RequestList *l = a, *m = b;
    return l->n == m->n && memcmp(l->words, m->words, (gsize)l->n * sizeof *l->words) == 0;
}

static void list_free(gpointer list)
{
    g_free(((RequestList *)list)->words);
    g_free(list);
}

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
    if (!wend_is_handle(handle))
        return;
    gint64 *length = length_of(v, kind, wend_handle_tid(handle));
    *length = MAX(*length, (gint64)wend_handle_number(handle) + 1);
}

static gint64 row_get(const Row *row, gint64 position)
{
    return position < 0 || position >= (gint64)row->at->len ? PLACE_FREE : g_array_index(row->at, gint64, position);
}

/* Can the list stand in ROW with its first entry at BASE? */
static gboolean fits(const Variables *v, const Row *row, const RequestList *list, gint64 base)
{
    for (gint64 i = 0; i < list->n; i++) {
        gint64 word = wend_is_handle(list->words[i]) ? list->words[i] : PLACE_NULL, there = row_get(row, base + i);
        if (there != PLACE_FREE && there != word)
            return FALSE;
        if (word == PLACE_NULL || there == word)
            continue;
        if (wend_handle_tid(word) != row->thread || g_hash_table_lookup(v->places, &word))
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
        g_array_index(row->at, gint64, base + i) = wend_is_handle(word) ? word : PLACE_NULL;
        if (wend_is_handle(word) && !g_hash_table_lookup(v->places, &word)) {
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
        if (wend_is_handle(list->words[i]) && !g_hash_table_add(seen, &list->words[i]))
            return TRUE;
    return FALSE;
}

/* Gives the list places of its own order if they agree with those given before. */
static void place_list(Variables *v, RequestList *list)
{
    Row *row = NULL;
    gint64 base = 0, one = -1;
    if (has_duplicates(list))
        return;
    for (gint64 i = 0; i < list->n; i++) {
        if (!wend_is_handle(list->words[i]))
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
        row->thread = wend_handle_tid(one);
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

static void note_request_list(Variables *v, const Word *words, gint64 n)
{
    RequestList *list = g_new0(RequestList, 1);
    list->n = n;
    list->words = g_new(gint64, n);
    gboolean any = FALSE;
    for (gint64 i = 0; i < n; i++) {
        list->words[i] = words[i].value;
        any |= wend_is_handle(words[i].value);
    }
    if (!any || g_hash_table_contains(v->lists, list)) {
        list_free(list);
        return;
    }
    g_hash_table_add(v->lists, list);
    g_ptr_array_add(v->list_order, list);
}

/* Does the call give out references to objects that exist, rather than new ones? */
static gboolean gives_references(const Call *c, WendKind kind)
{
    return strstr(c->function->name, "_get_") || kind == WEND_KIND_GROUP || kind == WEND_KIND_ERRHANDLER ||
           g_str_has_prefix(c->function->name, "MPI_Type_create_f90");
}

static gint64 *shared_key(WendKind kind, gint64 handle)
{
    gint64 *key = g_new(gint64, 1);
    *key = (gint64)kind << 56 | handle;
    return key;
}

gboolean variable_is_shared(Plan *plan, WendKind kind, gint64 handle)
{
    g_autofree gint64 *key = shared_key(kind, handle);
    return g_hash_table_contains(plan->variables->shared, key);
}

static void note_call(Plan *plan, const Call *c)
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
            if (kind != WEND_KIND_REQUEST && wend_is_handle(arg->out[w].value) && gives_references(c, kind))
                g_hash_table_add(v->shared, shared_key(kind, arg->out[w].value));
        }
        if (kind == WEND_KIND_REQUEST && arg->param->array && arg->n_in > 0 &&
            !call_failed_on(c, arg))
            note_request_list(v, arg->in, arg->n_in);
    }
}

/* Rows one after the other, then the requests that are in no array. */
static void lay_out(Plan *plan)
{
    Variables *v = plan->variables;
    GHashTable *used = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free); /* thread -> places used */
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
        gint64 thread = *(gint64 *)key & G_MAXUINT32, *length = value, *n = g_hash_table_lookup(used, &thread);
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
    for (guint i = 0; i < v->list_order->len; i++)
        if (!((const RequestList *)g_ptr_array_index(v->list_order, i))->direct)
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
            *(gint64 *)length = positions_length(v->positions, (guint)(*(gint64 *)key & G_MAXUINT32));
}

void plan_variables(Plan *plan)
{
    Variables *v = plan->variables = g_new0(Variables, 1);
    v->lengths = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    v->lists = g_hash_table_new_full(list_hash, list_equal, list_free, NULL);
    v->list_order = g_ptr_array_new();
    v->places = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    v->rows = g_ptr_array_new_with_free_func(row_free);
    v->shared = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (guint t = 0; t < wend_program_n_terminals(plan->program); t++) {
        if (plan->terminal_ranks[t].n == 0)
            continue;
        call_decode(plan->call, t);
        note_call(plan, plan->call);
    }
    /* The longest first: shorter ones are mostly parts of them. */
    g_ptr_array_sort(v->list_order, compare_lists);
    for (guint i = 0; i < v->list_order->len; i++)
        place_list(v, g_ptr_array_index(v->list_order, i));
    if (!all_agree(v) && (v->positions = positions_find(plan, v->list_order)) != NULL)
        take_lengths(v);
    else
        lay_out(plan);
    guint number = 0;
    for (guint i = 0; i < v->list_order->len; i++) {
        RequestList *list = g_ptr_array_index(v->list_order, i);
        if (!list->direct)
            list->number = ++number;
    }
}

void variables_free(Variables *v)
{
    if (!v)
        return;
    g_hash_table_destroy(v->lengths);
    g_ptr_array_free(v->list_order, TRUE);
    g_hash_table_destroy(v->lists);
    g_hash_table_destroy(v->places);
    g_hash_table_destroy(v->shared);
    positions_free(v->positions);
    g_ptr_array_free(v->rows, TRUE);
    g_free(v);
}

char *variables_suffix(guint thread)
{
    return thread == 0 ? g_strdup("") : g_strdup_printf("_of_thread_%u", thread);
}

static char *array_name(WendKind kind, guint thread)
{
    g_autofree char *suffix = variables_suffix(thread);
    return g_strconcat(find_kind(kind)->name, suffix, NULL);
}

char *variable_of_handle(Emitter *e, WendKind kind, gint64 handle)
{
    g_autofree char *name = array_name(kind, wend_handle_tid(handle)), *index = expression_index(e, wend_handle_number(handle));
    return g_strdup_printf("%s[%s]", name, index);
}

/* The array that has the requests of the thread. */
static char *array_of_requests(const Variables *v, guint thread)
{
    return array_name(WEND_KIND_REQUEST, v->positions ? positions_array(v->positions, thread) : thread);
}

/* The request's place if it is the same always, else -1. */
static gint64 place_of_request(const Variables *v, gint64 request, RankSet ranks)
{
    const Place *place = v->positions ? NULL : g_hash_table_lookup(v->places, &request);
    return place ? place->row->first + place->position : positions_place(v->positions, request, ranks);
}

/* Where it is now: "at[3]". */
static char *place_now(Emitter *e, gint64 request)
{
    g_autofree char *suffix = variables_suffix(wend_handle_tid(request)), *index = expression_index(e, positions_index(e->plan->variables->positions, request));
    return g_strdup_printf("at%s[%s]", suffix, index);
}

char *variable_of_request(Emitter *e, gint64 request, RankSet ranks)
{
    const Variables *v = e->plan->variables;
    gint64 place = place_of_request(v, request, ranks);
    g_autofree char *name = array_of_requests(v, wend_handle_tid(request)), *index = place < 0 ? place_now(e, request) : expression_index(e, place);
    return g_strdup_printf("%s[%s]", name, index);
}

char *variable_of_request_moves(Emitter *e, gint64 request, RankSet ranks)
{
    const Variables *v = e->plan->variables;
    if (!v->positions || !positions_move(v->positions, request, ranks))
        return NULL;
    g_autofree char *suffix = variables_suffix(wend_handle_tid(request)), *now = place_now(e, request), *index = expression_index(e, positions_index(v->positions, request));
    return g_strdup_printf("%s = next_place%s(%s);", now, suffix, index);
}

char *variables_of_list(Emitter *e, const RequestList *list, RankSet ranks)
{
    gint64 first = 0;
    while (!wend_is_handle(list->words[first]))
        first++;
    gint64 request = list->words[first], place = place_of_request(e->plan->variables, request, ranks);
    g_autofree char *name = array_of_requests(e->plan->variables, wend_handle_tid(request));
    if (place == first && !e->columns)
        return g_steal_pointer(&name);
    g_autofree char *index = place < 0 ? place_now(e, request) : expression_index(e, place - first);
    return place >= 0 || first == 0 ? g_strdup_printf("&%s[%s]", name, index) : g_strdup_printf("&%s[%s - %" G_GINT64_FORMAT "]", name, index, first);
}

const Positions *variables_positions(const Plan *plan) { return plan->variables->positions; }

RequestList *variables_request_list(Plan *plan, const Word *words, gint64 n)
{
    g_autofree gint64 *values = g_new(gint64, MAX(n, 1));
    for (gint64 i = 0; i < n; i++)
        values[i] = words[i].value;
    RequestList key = {.n = n, .words = values};
    return g_hash_table_lookup(plan->variables->lists, &key);
}

static int compare_keys(gconstpointer a, gconstpointer b)
{
    gint64 x = **(gint64 *const *)a, y = **(gint64 *const *)b;
    return x < y ? -1 : x > y;
}

void variables_foreach(Plan *plan, VariableFunction function, gpointer data)
{
    g_autofree gpointer *keys = NULL;
    guint n = 0;
    keys = g_hash_table_get_keys_as_array(plan->variables->lengths, &n);
    qsort(keys, n, sizeof *keys, compare_keys);
    for (guint i = 0; i < n; i++) {
        gint64 key = *(gint64 *)keys[i], length = *(const gint64 *)g_hash_table_lookup(plan->variables->lengths, &key);
        if (length == 0)
            continue;
        const HandleKind *kind = find_kind((WendKind)(key >> 32));
        g_autofree char *name = array_name(kind->kind, (guint)(key & G_MAXUINT32));
        function(kind->ctype, name, (guint)length, kind->null, data);
    }
}
