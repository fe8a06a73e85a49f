/* SPDX-License-Identifier: BSD-3-Clause */
/* proxy-threads.c: writes the threads of the program: their stacks, the functions that they and the
 * ranks start with, and the choice of each rank's function. */
#include "src/proxygen/proxy-files.h"

#include <string.h>

#include "src/proxygen/analysis/call-analysis.h"

/* A stack of this size always fits; it is also the room that calls need besides. */
enum { SMALL_STACK = 1 << 20 };

/* The bytes on a thread's stack. *below is the part below its offset 0. */
static gint64 stack_bytes(const Emitter *e, guint thread, gint64 *below)
{
    const Segment *s = memory_use_segment(e->plan, WEND_SEGMENT(WEND_SEGMENT_STACK, thread));
    *below = s ? (-s->low + 63) / 64 * 64 : 0;
    return s ? (*below + s->high + 63) / 64 * 64 : 0;
}

gint64 proxy_threads_stack_limit(const Emitter *e, guint thread)
{
    gint64 below, all = stack_bytes(e, thread, &below);
    return all > SMALL_STACK ? (all + SMALL_STACK + 65535) / 65536 * 65536 : 0;
}

gboolean proxy_threads_any_large(const Emitter *e)
{
    for (guint i = 0; i < e->plan->threads->len; i++)
        if (proxy_threads_stack_limit(e, g_array_index(e->plan->threads, PlanThread, i).thread))
            return TRUE;
    return FALSE;
}

/* It is on the stack, as in the application. Offset 0 is the first address that MPI saw; other
 * addresses may be lower. */
void proxy_threads_emit_stack(Emitter *e, Statements *out, guint thread)
{
    gint64 below, all = stack_bytes(e, thread, &below);
    if (all == 0)
        return;
    g_autofree char *name = expression_segment(e, WEND_SEGMENT(WEND_SEGMENT_STACK, thread));
    statements_add(out, "_Alignas(64) char stack_memory[%" G_GINT64_FORMAT "] = {0};", all);
    if (below)
        statements_add(out, "%s = stack_memory + %" G_GINT64_FORMAT ";", name, below);
    else
        statements_add(out, "%s = stack_memory;", name);
}

/* Thread number I of all threads. Main threads are followed by their other threads. */
static const PlanThread *thread_at(const Plan *plan, guint i)
{
    return &g_array_index(plan->threads, PlanThread, i);
}

static guint next_main_thread(const Plan *plan, guint i)
{
    return i + 1 + thread_at(plan, i)->n_others;
}

/* The function that the ranks of a main thread start with. */
static char *start_name(Emitter *e, guint i)
{
    return thread_at(e->plan, i)->n_started ? g_strdup_printf("start_%u", i + 1)
                                            : emit_rule_name(e, thread_at(e->plan, i)->rule);
}

/* Writes how often each thread uses each lifetime of the shared objects. */
static void emit_shares(Emitter *e, GString *out, guint start)
{
    const PlanThread *main_thread = thread_at(e->plan, start);
    guint n = g_hash_table_size(e->plan->shared), columns = main_thread->n_others + 1;
    if (n == 0 || main_thread->n_others == 0)
        return;
    e->needs[HELPER_shares] = TRUE;
    g_string_append_printf(out, "static const Share shares_%u[%u][%u] = {", start + 1, n, columns);
    for (guint i = 0; i < n; i++) {
        g_string_append(out, i ? ", {" : "{");
        for (guint k = 0; k < columns; k++) {
            const SharedShare *s = &main_thread->shares[i * columns + k];
            g_string_append_printf(
                out, "%s{%" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT ", %" G_GUINT64_FORMAT "}",
                k ? ", " : "", s->uses, s->from, s->until);
        }
        g_string_append_c(out, '}');
    }
    g_string_append(out, "};\n");
}

/* The function that ranks start with. Similar classes share one. */
typedef struct {
    char *name;
    GArray *ranks; /* of guint, ascending */
} ProgramStart;

static void start_clear(gpointer start)
{
    g_free(((ProgramStart *)start)->name);
    g_array_unref(((ProgramStart *)start)->ranks);
}

static gint compare_ranks(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

/* The function of main thread number I. */
typedef char *(*FunctionName)(Emitter *e, guint i);

static GArray *find_starts(Emitter *e, FunctionName function_name)
{
    const Plan *plan = e->plan;
    GArray *starts = g_array_new(FALSE, FALSE, sizeof(ProgramStart));
    /* name -> index + 1 */
    g_autoptr(GHashTable) places = g_hash_table_new(g_str_hash, g_str_equal);
    g_array_set_clear_func(starts, start_clear);
    for (guint i = 0; i < plan->threads->len; i = next_main_thread(plan, i)) {
        RankList ranks = thread_at(plan, i)->ranks;
        g_autofree char *name = function_name(e, i);
        guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, name));
        if (!place) {
            const ProgramStart start = {g_steal_pointer(&name),
                                        g_array_new(FALSE, FALSE, sizeof(guint))};
            g_array_append_val(starts, start);
            place = starts->len;
            g_hash_table_insert(places, start.name, GUINT_TO_POINTER(place));
        }
        g_array_append_vals(g_array_index(starts, ProgramStart, place - 1).ranks, ranks.ranks,
                            ranks.n);
    }
    for (guint i = 0; i < starts->len; i++)
        g_array_sort(g_array_index(starts, ProgramStart, i).ranks, compare_ranks);
    return starts;
}

/* A C condition that holds for the ranks of SET. NULL if a table is simpler. */
static char *rank_condition(RankList set)
{
    guint step = set.n > 1 ? set.ranks[1] - set.ranks[0] : 1;
    if (set.n == 1)
        return g_strdup_printf("rank == %u", set.ranks[0]);
    for (guint i = 1; i < set.n; i++)
        if (set.ranks[i] - set.ranks[i - 1] != step)
            step = 0;
    guint first = set.ranks[0], last = set.ranks[set.n - 1];
    if (step == 1)
        return first == 0 ? g_strdup_printf("rank <= %u", last)
                          : g_strdup_printf("rank >= %u && rank <= %u", first, last);
    if (step > 1)
        return first == 0 ? g_strdup_printf("rank <= %u && rank %% %u == 0", last, step)
                          : g_strdup_printf("rank >= %u && rank <= %u && rank %% %u == %u", first,
                                            last, step, first % step);
    if (set.n <= 4) {
        GString *s = g_string_new("");
        for (guint i = 0; i < set.n; i++)
            g_string_append_printf(s, "%srank == %u", i ? " || " : "", set.ranks[i]);
        return g_string_free(s, FALSE);
    }
    return NULL;
}

/* Writes the choice of each rank's function. */
static void emit_dispatch(Emitter *e, Statements *out, FunctionName function_name)
{
    enum { CONDITIONS = 16 };
    const Plan *plan = e->plan;
    guint covered = 0;
    g_autoptr(GArray) starts = find_starts(e, function_name);
    g_autoptr(GPtrArray) conditions = g_ptr_array_new_with_free_func(g_free);
    gboolean simple = starts->len <= CONDITIONS;
    for (guint i = 0; i < starts->len; i++) {
        const GArray *ranks = g_array_index(starts, ProgramStart, i).ranks;
        covered += ranks->len;
        g_ptr_array_add(conditions, simple ? rank_condition((RankList){
                                        ranks->len, (const guint *)(gconstpointer)ranks->data})
                                           : NULL);
        simple = simple && conditions->pdata[i];
    }
    if (starts->len == 1 && covered == plan->n_ranks) {
        statements_add(out, "%s();", g_array_index(starts, ProgramStart, 0).name);
        return;
    }
    if (simple && covered == plan->n_ranks) {
        for (guint i = 0; i < starts->len; i++) {
            const char *condition = conditions->pdata[i];
            g_autofree char *head = i + 1 == starts->len
                                        ? g_strdup_printf("else /* %s */", condition)
                                        : g_strdup_printf("%sif (%s)", i ? "else " : "", condition),
                            *call = g_strdup_printf("%s();",
                                                    g_array_index(starts, ProgramStart, i).name);
            statements_add_under(out, head, call);
        }
        return;
    }
    g_autofree const char **start = g_new0(const char *, plan->n_ranks + 1);
    for (guint i = 0; i < starts->len; i++)
        for (guint r = 0; r < g_array_index(starts, ProgramStart, i).ranks->len; r++)
            start[g_array_index(g_array_index(starts, ProgramStart, i).ranks, guint, r)] =
                g_array_index(starts, ProgramStart, i).name;
    g_autoptr(GString) list = g_string_new("");
    for (guint r = 0; r < plan->n_ranks; r++)
        /* NULL: a class without threads, in a hostile recording */
        g_string_append_printf(list, "%s%s", r ? ", " : "", start[r] ? start[r] : "abort");
    statements_add(out, "static void (*const start[%u])(void) = {%s};", plan->n_ranks, list->str);
    statements_add(out, "start[rank]();");
}

/* -- threads that exist before MPI_Init -- */

/* The list of those of a main thread, as C, and their number. Newly allocated. */
static char *early_list(const Emitter *e, const PlanThread *main_thread, guint *n)
{
    GString *list = g_string_new("");
    *n = 0;
    for (guint i = 0; i < main_thread->n_started; i++) {
        const StartedThread *t = &main_thread->started[i];
        if (t->started)
            continue;
        g_string_append_printf(list, "    {.number = %u", t->number);
        if (t->inits)
            g_string_append(list, ", .inits = 1");
        if (proxy_threads_stack_limit(e, t->number))
            g_string_append_printf(list, ", .stack = %" G_GINT64_FORMAT,
                                   proxy_threads_stack_limit(e, t->number));
        g_string_append(list, "},\n");
        (*n)++;
    }
    return g_string_free(list, FALSE);
}

/* When they are created. */
typedef enum {
    EARLY_NONE,
    EARLY_SAME,  /* the same threads on all ranks, at the beginning of main */
    EARLY_OWN,   /* likewise, others on each rank: the launcher says which rank it is */
    EARLY_LATER, /* where the calls of a rank begin, before or after MPI_Init */
} EarlyPlace;

static EarlyPlace early_place(const Emitter *e)
{
    const Plan *plan = e->plan;
    gboolean any = FALSE, same = TRUE;
    guint n;
    g_autofree char *first = NULL;
    for (guint i = 0; i < plan->threads->len; i = next_main_thread(plan, i)) {
        g_autofree char *list = early_list(e, thread_at(plan, i), &n);
        any |= n > 0;
        same &= !first || strcmp(first, list) == 0;
        if (!first)
            first = g_steal_pointer(&list);
    }
    return !any                        ? EARLY_NONE
           : !plan->prefix             ? EARLY_LATER
           : same                      ? EARLY_SAME
           : plan_worlds_several(plan) ? EARLY_LATER
                                       : EARLY_OWN;
}

static char *early_name(Emitter *e, guint i)
{
    (void)e;
    return g_strdup_printf("early_%u", i + 1);
}

/* Writes the function that creates those of the main thread START. */
static void emit_early(Emitter *e, GString *out, guint start)
{
    guint n;
    g_autofree char *list = early_list(e, thread_at(e->plan, start), &n),
                    *name = early_name(e, start);
    e->needs[HELPER_early_may_run] = TRUE;
    e->needs[HELPER_start_early] |= n > 0;
    Statements *body = statements_new();
    if (n > 0) {
        g_string_append_printf(out, "static EarlyThread early_threads_%u[] = {\n%s};\n\n",
                               start + 1, list);
        statements_add(body, "start_early(early_threads_%u, %u);", start + 1, n);
    }
    statements_print_function(out, body, NULL, "static void %s(void)", name);
}

/* Writes how the function of a main thread meets those that exist, whose calls begin once MPI
 * runs. */
static void emit_meeting(Emitter *e, Statements *out, guint start)
{
    guint n;
    g_autofree char *list = early_list(e, thread_at(e->plan, start), &n),
                    *name = early_name(e, start);
    if (n == 0)
        return;
    if (early_place(e) == EARLY_LATER)
        statements_add(out, "%s();", name);
    statements_add(out, "meet_early();");
    e->needs[HELPER_meet_early] = TRUE;
    if (e->plan->prefix || !e->begins)
        statements_add(out, "early_may_run = 1;");
}

void proxy_threads_emit_early(Emitter *e, Statements *out)
{
    EarlyPlace place = early_place(e);
    if (place == EARLY_SAME)
        statements_add(out, "early_1();");
    else if (place == EARLY_OWN)
        emit_dispatch(e, out, early_name);
}

gboolean proxy_threads_by_launcher(const Emitter *e)
{
    return early_place(e) == EARLY_OWN;
}

/* -- functions -- */

/* Writes the function of thread number I of those of START that make calls. */
static void emit_thread(Emitter *e, GString *out, guint start, guint i)
{
    const PlanThread *thread = thread_at(e->plan, start) + i;
    gint64 segment = WEND_SEGMENT(WEND_SEGMENT_STACK, thread->thread), below;
    Statements *body = statements_new();
    proxy_threads_emit_stack(e, body, thread->thread);
    if (g_hash_table_size(e->plan->shared)) {
        e->needs[HELPER_thread_number] = TRUE;
        statements_add(body, "thread_number = %u;", thread->thread);
        statements_add(body, "thread_place = %u;", i);
    }
    emit_rule_call(e, body, thread->rule);
    emit_borrowed(e, body, segment);
    if (stack_bytes(e, thread->thread, &below) > 0) {
        g_autofree char *name = expression_segment(e, segment);
        statements_add(body, "%s = NULL;", name);
    }
    statements_add(body, "return unused_argument;");
    statements_print_function(out, body, NULL,
                              "static void *thread_%u_of_start_%u(void *unused_argument)",
                              thread->thread, start + 1);
}

/* Writes the list of the threads of START. */
static void emit_list(Emitter *e, GString *out, guint start)
{
    const PlanThread *main_thread = thread_at(e->plan, start);
    e->needs[HELPER_threads] = e->needs[HELPER_join_threads] = TRUE;
    g_string_append_printf(out, "static ProxyThread threads_%u[] = {\n", start + 1);
    for (guint i = 0; i < main_thread->n_started; i++) {
        const StartedThread *t = &main_thread->started[i];
        gint64 limit = proxy_threads_stack_limit(e, t->number);
        g_string_append_printf(out, "    {.number = %u, .run = ", t->number);
        if (t->of)
            g_string_append_printf(out, "thread_%u_of_start_%u", t->number, start + 1);
        else
            g_string_append(out, "thread_without_calls");
        e->needs[HELPER_thread_without_calls] |= !t->of;
        if (limit)
            g_string_append_printf(out, ", .stack = %" G_GINT64_FORMAT, limit);
        g_string_append(out, "},\n");
    }
    g_string_append(out, "};\n\n");
}

/* Writes the function that the ranks of START begin with. */
static void emit_start(Emitter *e, GString *out, guint start)
{
    const PlanThread *main_thread = thread_at(e->plan, start);
    g_autofree char *name = start_name(e, start);
    Statements *body = statements_new();
    statements_add(body, "threads = threads_%u;", start + 1);
    statements_add(body, "n_threads = %u;", main_thread->n_started);
    if (g_hash_table_size(e->plan->shared) && main_thread->n_others) {
        statements_add(body, "shares = shares_%u[0];", start + 1);
        statements_add(body, "n_shares = %u;", main_thread->n_others + 1);
    }
    emit_meeting(e, body, start);
    emit_rule_call(e, body, main_thread->rule);
    if (e->needs[HELPER_join_main])
        statements_add(body, "main_ended = 1;");
    statements_add(body, "join_threads();");
    statements_print_function(out, body, NULL, "static void %s(void)", name);
}

void proxy_threads_emit(Emitter *e, GString *out)
{
    const Plan *plan = e->plan;
    EarlyPlace early = early_place(e);
    for (guint start = 0; start < plan->threads->len; start = next_main_thread(plan, start)) {
        const PlanThread *main_thread = thread_at(plan, start);
        if (early != EARLY_NONE && (early != EARLY_SAME || start == 0))
            emit_early(e, out, start);
        if (main_thread->n_started == 0)
            continue;
        for (guint i = 1; i <= main_thread->n_others; i++)
            emit_thread(e, out, start, i);
        emit_shares(e, out, start);
        emit_list(e, out, start);
        emit_start(e, out, start);
    }
}

void proxy_threads_emit_starts(Emitter *e, Statements *out)
{
    emit_dispatch(e, out, start_name);
}
