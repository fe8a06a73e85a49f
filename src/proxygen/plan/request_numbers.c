/* SPDX-License-Identifier: BSD-3-Clause */
/* request_numbers.c: see request_numbers.h. */
#include "request_numbers.h"

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
    numbers->by_request = g_hash_table_new_full(wend_word_hash, g_int64_equal, g_free, NULL);
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
    return wend_word_is_handle(request)
               ? GPOINTER_TO_INT(g_hash_table_lookup(numbers->by_request, &request)) - 1
               : NO_REQUEST_NUMBER;
}

gint request_numbers_add(RequestNumbers *numbers, gint64 request)
{
    if (wend_word_is_handle(request) && request_numbers_find(numbers, request) < 0) {
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
    return wend_word_handle_tid(request_numbers_request(numbers, number));
}

static gint compare_requests(gconstpointer a, gconstpointer b, gpointer numbers)
{
    gint64 x = request_numbers_request(numbers, *(const guint *)a),
           y = request_numbers_request(numbers, *(const guint *)b);
    guint s = wend_word_handle_tid(x), t = wend_word_handle_tid(y), k = wend_word_handle_number(x),
          l = wend_word_handle_number(y);
    return s != t ? (s < t ? -1 : 1) : k != l ? (k < l ? -1 : 1) : 0;
}

void request_numbers_assign_indices(RequestNumbers *numbers)
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
