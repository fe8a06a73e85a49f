/* SPDX-License-Identifier: BSD-3-Clause */
/* request-effects.c: the requests that calls name, the arrays of requests, and what calls do to
 * requests. */
#include <string.h>

#include "src/proxygen/plan/requests.h"

/* -- arrays -- */

struct RequestLists {
    Map *by_words; /* the words of a RequestList -> the list */
    GPtrArray *in_order;
};

static void list_free(gpointer list)
{
    g_free(((RequestList *)list)->words);
    g_free(list);
}

RequestLists *request_lists_new(void)
{
    RequestLists *lists = g_new(RequestLists, 1);
    lists->by_words = map_of_bytes(list_free);
    lists->in_order = g_ptr_array_new();
    return lists;
}

void request_lists_free(RequestLists *lists)
{
    g_ptr_array_free(lists->in_order, TRUE);
    map_unref(lists->by_words);
    g_free(lists);
}

GPtrArray *request_lists_in_order(const RequestLists *lists)
{
    return lists->in_order;
}

void request_lists_add(RequestLists *lists, const Word *words, gint64 n)
{
    RequestList *list = g_new0(RequestList, 1);
    list->n = n;
    list->words = g_new(gint64, n);
    gboolean any = FALSE;
    for (gint64 i = 0; i < n; i++) {
        list->words[i] = words[i].value;
        any |= word_is_handle(words[i].value);
    }
    gsize bytes = (gsize)n * sizeof *list->words;
    if (!any || map_has_bytes(lists->by_words, list->words, bytes)) {
        list_free(list);
        return;
    }
    map_put_bytes(lists->by_words, list->words, bytes, list);
    g_ptr_array_add(lists->in_order, list);
}

RequestList *request_lists_find(const RequestLists *lists, const Word *words, gint64 n)
{
    g_autofree gint64 *values = g_new(gint64, MAX(n, 1));
    for (gint64 i = 0; i < n; i++)
        values[i] = words[i].value;
    return map_get_bytes(lists->by_words, values, (gsize)n * sizeof *values);
}

/* -- numbers -- */

struct RequestNumbers {
    GHashTable *by_request; /* request -> number + 1 */
    GArray *requests;       /* of gint64, by number */
    guint *index;           /* by number; NULL until indices are assigned */
    GHashTable *counts;     /* thread -> number of requests */
    GHashTable *arrays;     /* thread -> another thread whose array has its requests, + 1 */
};

RequestNumbers *request_numbers_new(void)
{
    RequestNumbers *numbers = g_new0(RequestNumbers, 1);
    numbers->by_request = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    numbers->requests = g_array_new(FALSE, FALSE, sizeof(gint64));
    numbers->counts = g_hash_table_new(NULL, NULL);
    numbers->arrays = g_hash_table_new(NULL, NULL);
    return numbers;
}

void request_numbers_free(RequestNumbers *numbers)
{
    g_hash_table_destroy(numbers->by_request);
    g_array_unref(numbers->requests);
    g_free(numbers->index);
    g_hash_table_destroy(numbers->counts);
    g_hash_table_destroy(numbers->arrays);
    g_free(numbers);
}

gint request_numbers_find(const RequestNumbers *numbers, gint64 request)
{
    return word_is_handle(request)
               ? GPOINTER_TO_INT(g_hash_table_lookup(numbers->by_request, &request)) - 1
               : NO_REQUEST_NUMBER;
}

/* The number of a request, which gets the next one if it has none. NO_REQUEST_NUMBER if the word is
 * no handle, as that of MPI_REQUEST_NULL. */
static gint number_request(RequestNumbers *numbers, gint64 request)
{
    if (word_is_handle(request) && request_numbers_find(numbers, request) < 0) {
        g_array_append_val(numbers->requests, request);
        g_hash_table_insert(numbers->by_request, g_memdup2(&request, sizeof request),
                            GUINT_TO_POINTER(numbers->requests->len));
    }
    return request_numbers_find(numbers, request);
}

guint request_numbers_count(const RequestNumbers *numbers)
{
    return numbers->requests->len;
}

gint64 request_numbers_request(const RequestNumbers *numbers, guint number)
{
    return g_array_index(numbers->requests, gint64, number);
}

guint request_numbers_thread(const RequestNumbers *numbers, guint number)
{
    return word_handle_tid(request_numbers_request(numbers, number));
}

static gint compare_requests(gconstpointer a, gconstpointer b, gpointer numbers)
{
    gint64 x = request_numbers_request(numbers, *(const guint *)a),
           y = request_numbers_request(numbers, *(const guint *)b);
    guint s = word_handle_tid(x), t = word_handle_tid(y), k = word_handle_number(x),
          l = word_handle_number(y);
    return s != t ? (s < t ? -1 : 1) : k != l ? (k < l ? -1 : 1) : 0;
}

/* Assigns indices, once all requests have numbers. The index of a request is the number of requests
 * of its thread with a smaller handle. Handles of a thread are numbered with few gaps, so at[3] is
 * mostly request 3. A table up to the largest handle could have any size that a recording
 * claims. */
static void assign_indices(RequestNumbers *numbers)
{
    guint n = numbers->requests->len;
    g_autofree guint *order = g_new(guint, n + 1);
    for (guint i = 0; i < n; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)n, sizeof *order, compare_requests, numbers);
    numbers->index = g_new(guint, n + 1);
    for (guint i = 0; i < n; i++) {
        gpointer thread = GUINT_TO_POINTER(request_numbers_thread(numbers, order[i]));
        guint *index = &numbers->index[order[i]];
        *index = GPOINTER_TO_UINT(g_hash_table_lookup(numbers->counts, thread));
        g_hash_table_insert(numbers->counts, thread, GUINT_TO_POINTER(*index + 1));
    }
}

guint request_numbers_index(const RequestNumbers *numbers, guint number)
{
    return numbers->index[number];
}

guint request_numbers_of_thread(const RequestNumbers *numbers, guint thread)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(numbers->counts, GUINT_TO_POINTER(thread)));
}

guint request_numbers_array(const RequestNumbers *numbers, guint thread)
{
    for (guint next;
         (next = GPOINTER_TO_UINT(g_hash_table_lookup(numbers->arrays, GUINT_TO_POINTER(thread))))
         != 0;)
        thread = next - 1;
    return thread;
}

void request_numbers_share_array(RequestNumbers *numbers, guint a, guint b)
{
    a = request_numbers_array(numbers, a);
    b = request_numbers_array(numbers, b);
    if (a != b)
        g_hash_table_insert(numbers->arrays, GUINT_TO_POINTER(MAX(a, b)),
                            GUINT_TO_POINTER(MIN(a, b) + 1));
}

/* -- effects -- */

static RequestEffect *classify_call(RequestEffects *effects, const CallPattern *c)
{
    RequestEffect *effect = NULL;
    for (guint i = 0; i < c->n_args; i++) {
        const Arg *arg = &c->args[i];
        if (arg->param->kind != WEND_KIND_REQUEST)
            continue;
        if (!effect) {
            effect = g_new0(RequestEffect, 1);
            effect->makes = g_array_new(FALSE, FALSE, sizeof(gint));
            effect->gives = g_array_new(FALSE, FALSE, sizeof(gint));
            effect->differs = (c->function->flags & WEND_F_ANY) || c->failed;
            effect->frees = c->function->id == WEND_FN_MPI_Request_free;
        }
        for (guint w = 0; w < arg->n_in_words; w++) {
            gint number = number_request(effects->numbers, arg->in[w].value);
            g_array_append_val(effect->gives, number);
        }
        for (guint w = 0; w < arg->n_out_words; w++) {
            gint number = number_request(effects->numbers, arg->out[w].value);
            if (number >= 0)
                g_array_append_val(effect->makes, number);
        }
        if (arg->param->array && arg->n_in > 0)
            effect->list = request_lists_find(effects->lists, arg->in, arg->n_in);
    }
    return effect;
}

RequestEffects *request_effects_find(const Plan *plan, const RequestLists *lists,
                                     RequestNumbers *numbers)
{
    guint n_terminals = program_n_terminals(plan->program);
    RequestEffects *effects = g_new(RequestEffects, 1);
    *effects = (RequestEffects){
        .plan = plan,
        .lists = lists,
        .numbers = numbers,
        .of = g_new0(RequestEffect *, n_terminals + 1),
    };
    for (guint t = 0; t < n_terminals; t++) {
        if (plan->terminal_ranks[t].n == 0)
            continue;
        call_pattern_decode(plan->call, t);
        effects->of[t] = classify_call(effects, plan->call);
    }
    assign_indices(numbers);
    return effects;
}

void request_effects_free(RequestEffects *effects)
{
    for (guint t = 0; t < program_n_terminals(effects->plan->program); t++) {
        if (!effects->of[t])
            continue;
        g_array_unref(effects->of[t]->makes);
        g_array_unref(effects->of[t]->gives);
        g_free(effects->of[t]);
    }
    g_free(effects->of);
    g_free(effects);
}

guint request_effect_count(const RequestEffect *effect)
{
    return effect->makes->len + effect->gives->len;
}

gint request_effect_number(const RequestEffect *effect, guint n)
{
    return n < effect->makes->len ? g_array_index(effect->makes, gint, n)
                                  : g_array_index(effect->gives, gint, n - effect->makes->len);
}

/* The terminals below RULE, each once. */
static GArray *terminals_below(const Plan *plan, guint rule)
{
    GArray *terminals = g_array_new(FALSE, FALSE, sizeof(guint)),
           *open = g_array_new(FALSE, FALSE, sizeof(guint));
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL),
                          seen_terminals = g_hash_table_new(NULL, NULL);
    g_array_append_val(open, rule);
    while (open->len > 0) {
        const PlanRule *r = &plan->rules[g_array_index(open, guint, open->len - 1)];
        g_array_set_size(open, open->len - 1);
        for (guint i = 0; i < r->n; i++) {
            guint id = r->symbols[i].id;
            if (g_hash_table_add(r->symbols[i].is_rule ? seen : seen_terminals,
                                 GUINT_TO_POINTER(id)))
                g_array_append_val(r->symbols[i].is_rule ? open : terminals, id);
        }
    }
    g_array_unref(open);
    return terminals;
}

RequestUse *request_effects_use(const RequestEffects *effects, const WendClass *class)
{
    guint n = request_numbers_count(effects->numbers);
    RequestUse *use = g_new(RequestUse, 1);
    *use = (RequestUse){.class = class,
                        .walks = g_new0(gboolean, class->n_sequences + 1),
                        .stays = g_new0(gboolean, n + 1),
                        .same = TRUE};
    /* by number: the last sequence that names it, + 1 */
    g_autofree guint *seen = g_new0(guint, n + 1);
    for (guint s = 0; s < class->n_sequences; s++) {
        g_autoptr(GArray) terminals = terminals_below(effects->plan, class->sequences[s].rule);
        for (guint t = 0; t < terminals->len; t++) {
            const RequestEffect *effect = effects->of[g_array_index(terminals, guint, t)];
            if (!effect)
                continue;
            use->walks[s] = TRUE;
            use->same &= !effect->differs;
            for (guint i = 0; i < request_effect_count(effect); i++) {
                gint number = request_effect_number(effect, i);
                if (number < 0)
                    continue;
                use->stays[number] |= (seen[number] && seen[number] != s + 1)
                                      || class->sequences[s].kind != WEND_SEQUENCE_THREAD;
                seen[number] = s + 1;
            }
        }
    }
    return use;
}

void request_use_free(RequestUse *use)
{
    g_free(use->walks);
    g_free(use->stays);
    g_free(use);
}
