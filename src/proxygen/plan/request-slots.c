/* SPDX-License-Identifier: BSD-3-Clause */
/* request-slots.c: request slots of each rank, if requests do not keep one slot on all ranks at all
 * times.
 *
 * A request's number identifies the calls that may make it, but not the variable of the
 * application. Ranks with other partners have other numbers at the same positions of an array. If
 * partners change, one number is at several positions over time. Only the arrays that calls use say
 * more about variables: the requests of an array were side by side at that time. So each rank is
 * walked in four steps, a file for each:
 *
 * 1. Requests get numbers.
 * 2. Calls are classified by their effects on requests (request-effects.c).
 * 3. A walk over the calls of a rank finds the *lifetimes* of its requests, and which of them were
 *    in one array (request-lifetimes.c).
 * 4. Lifetimes get slots (request-layout.c).
 *
 * This file does so for all ranks, and answers for all of them.
 *
 * Then each call writes its request directly to the slot where the call that completes it reads it.
 * To copy requests there would be enough for MPI, but not for a recording of the proxy. MPICH gives
 * many sends one and the same handle, and only the variable distinguishes them.
 *
 * Threads whose requests are in one array (one starts requests that another completes) share an
 * array in the proxy. An array that contradicts others (the application itself copied a handle) is
 * gathered before its calls, as in variables.c. All arrays are gathered if this takes too much
 * memory, or too many numbers in the proxy. */
#include "lib/base/containers.h"
#include "src/proxygen/plan/requests.h"

enum { NO_PLACE = -1 };
/* Moves of all ranks are numbers in the proxy. They are limited, in proportion to the size of the
 * program if that is large. */
enum { MOVES_ALWAYS = 1 << 18, MOVES_FOR_SYMBOL = 2 };

/* Whether there are too many calls to walk. In each class with requests one rank is walked, or all
 * ranks if outcomes matter. */
static gboolean is_too_long(const RequestEffects *effects)
{
    const WendProgram *p = effects->plan->program;
    guint64 steps = 0;
    for (guint c = 0; c < program_n_classes(p); c++) {
        const WendClass *class = program_class(p, c);
        g_autoptr(RequestUse) use = request_effects_use(effects, class);
        for (guint s = 0; s < class->n_sequences; s++) {
            guint64 length = program_rule(p, class->sequences[s].rule)->length;
            for (guint r = 0; use->walks[s] && r < (use->same ? 1 : class->n_ranks); r++)
                if (length >= STEP_LIMIT - steps)
                    return TRUE;
                else
                    steps += length;
        }
    }
    return FALSE;
}

/* Whether a list may be consecutive: each request occurs once. Other lists are always gathered.
 * Joins the arrays of its threads. */
static gboolean may_be_consecutive(RequestNumbers *numbers, const RequestList *list)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    gint first = NO_REQUEST_NUMBER;
    for (gint64 i = 0; i < list->n; i++) {
        gint number = request_numbers_find(numbers, list->words[i]);
        if (number >= 0 && !g_hash_table_add(seen, GINT_TO_POINTER(number)))
            return FALSE;
    }
    for (gint64 i = 0; i < list->n; i++) {
        gint number = request_numbers_find(numbers, list->words[i]);
        if (number < 0)
            continue;
        if (first < 0)
            first = number;
        request_numbers_share_array(numbers, request_numbers_thread(numbers, (guint)first),
                                    request_numbers_thread(numbers, (guint)number));
    }
    return TRUE;
}

/* The index of LAYOUT among all layouts. KNOWN finds an equal one, by the bytes of a layout; then
 * LAYOUT is freed. */
static guint index_of_layout(RequestSlots *p, Map *known, RequestLayout *layout)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    guint n = request_numbers_count(p->numbers);
    g_byte_array_append(bytes, (const guint8 *)layout->place, (guint)(n * sizeof *layout->place));
    g_byte_array_append(bytes, (const guint8 *)layout->again, (guint)(n * sizeof *layout->again));
    for (guint i = 0; i < n; i++) {
        guint len = layout->moves[i] ? layout->moves[i]->len : 0;
        g_byte_array_append(bytes, (const guint8 *)&len, sizeof len);
        if (len)
            g_byte_array_append(bytes, (const guint8 *)layout->moves[i]->data,
                                len * (guint)sizeof(RequestMove));
    }
    bool is_new;
    guint number = map_number(known, bytes->data, bytes->len, &is_new);
    if (is_new)
        g_ptr_array_add(p->layouts, layout);
    else
        request_layout_free(layout, n);
    return number;
}

static guint64 moves_allowed(const Plan *plan)
{
    guint64 most = MOVES_ALWAYS;
    for (guint r = 0; r < program_n_rules(plan->program); r++)
        most += (guint64)plan->rules[r].n * MOVES_FOR_SYMBOL;
    return most;
}

/* Returns FALSE if it is too much. */
static gboolean lay_out_ranks(RequestSlots *p, const RequestEffects *effects)
{
    const WendProgram *program = effects->plan->program;
    guint64 n_moves = 0, most = moves_allowed(effects->plan);
    AUTO(Map) known = map_of_bytes(NULL);
    for (guint c = 0; c < program_n_classes(program); c++) {
        const WendClass *class = program_class(program, c);
        g_autoptr(RequestUse) use = request_effects_use(effects, class);
        for (guint r = 0; r < class->n_ranks; r++) {
            if (r > 0 && use->same) {
                p->layout_of[class->ranks[r]] = p->layout_of[class->ranks[0]];
                continue;
            }
            RequestLayout *layout = request_layout_find(effects, use, class->ranks[r], p->lengths);
            if (!layout)
                return FALSE;
            n_moves += request_layout_moves(layout, request_numbers_count(p->numbers));
            p->layout_of[class->ranks[r]] = index_of_layout(p, known, layout);
            if (n_moves > most)
                return FALSE;
        }
    }
    return TRUE;
}

/* Whether some request of the terminal has different slots on the ranks that make the call. */
static gboolean varies(const RequestSlots *p, const RequestEffects *effects, guint terminal)
{
    const RequestEffect *effect = effects->of[terminal];
    for (guint i = 0; effect && i < request_effect_count(effect); i++) {
        gint number = request_effect_number(effect, i);
        if (number >= 0
            && request_slots_place(p, request_numbers_request(p->numbers, (guint)number),
                                   effects->plan->terminal_ranks[terminal])
                   < 0)
            return TRUE;
    }
    return FALSE;
}

RequestSlots *request_slots_find(Plan *plan, RequestLists *all_lists)
{
    const GPtrArray *lists = request_lists_in_order(all_lists);
    RequestSlots *p = g_new(RequestSlots, 1);
    *p = (RequestSlots){.numbers = request_numbers_new(),
                        .layouts = g_ptr_array_new(),
                        .layout_of = g_new0(guint, plan->n_ranks),
                        .lengths = g_hash_table_new(NULL, NULL)};
    RequestEffects *effects = request_effects_find(plan, all_lists, p->numbers);
    gboolean good = !is_too_long(effects);
    /* values before, to be restored */
    g_autofree gboolean *direct = g_new(gboolean, lists->len + 1);
    for (guint i = 0; i < lists->len; i++) {
        RequestList *list = g_ptr_array_index(lists, i);
        direct[i] = list->direct;
        if (good)
            list->direct = may_be_consecutive(p->numbers, list);
    }
    good = good && lay_out_ranks(p, effects);
    for (guint i = 0; i < lists->len && !good; i++)
        ((RequestList *)g_ptr_array_index(lists, i))->direct = direct[i];
    for (guint t = 0; t < program_n_terminals(plan->program) && good; t++)
        p->vary |= varies(p, effects, t);
    request_effects_free(effects);
    if (!good)
        g_clear_pointer(&p, request_slots_free);
    return p;
}

void request_slots_free(RequestSlots *p)
{
    if (!p)
        return;
    for (guint i = 0; i < p->layouts->len; i++)
        request_layout_free(g_ptr_array_index(p->layouts, i), request_numbers_count(p->numbers));
    g_ptr_array_unref(p->layouts);
    g_hash_table_destroy(p->lengths);
    request_numbers_free(p->numbers);
    g_free(p->layout_of);
    g_free(p);
}

/* -- results -- */

static const RequestLayout *layout_at(const RequestSlots *p, guint rank)
{
    return g_ptr_array_index(p->layouts, p->layout_of[rank]);
}

gint64 request_slots_place(const RequestSlots *p, gint64 request, RankList ranks)
{
    gint number = request_numbers_find(p->numbers, request);
    gint64 place = layout_at(p, ranks.ranks[0])->place[number];
    for (guint i = 0; i < ranks.n; i++) {
        const RequestLayout *layout = layout_at(p, ranks.ranks[i]);
        if (layout->place[number] != place || layout->moves[number])
            return NO_PLACE;
    }
    return place;
}

gboolean request_slots_move(const RequestSlots *p, gint64 request, RankList ranks)
{
    gint number = request_numbers_find(p->numbers, request);
    for (guint i = 0; i < ranks.n; i++)
        if (layout_at(p, ranks.ranks[i])->moves[number])
            return TRUE;
    return FALSE;
}

guint request_slots_index(const RequestSlots *p, gint64 request)
{
    return request_numbers_index(p->numbers, (guint)request_numbers_find(p->numbers, request));
}

guint request_slots_count(const RequestSlots *p, guint thread)
{
    return request_numbers_of_thread(p->numbers, thread);
}

guint request_slots_array(const RequestSlots *p, guint thread)
{
    return request_numbers_array(p->numbers, thread);
}

guint request_slots_length(const RequestSlots *p, guint thread)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(p->lengths, GUINT_TO_POINTER(thread)));
}
