/* threads.c: when a class's further threads start and end, seen from the thread that calls MPI_Init.
 *
 * A recording does not say when threads were created and joined. What they use of the main thread's handles does: they start when the last
 * of those has been made, and end before the first of them is freed, or MPI_Finalize. The main thread's body is cut there into three. */
#include <string.h>

#include "plan.h"
#include "threads.h"

typedef struct {
    Plan *plan;
    GHashTable *used;        /* kind << 56 | handle, of the main thread, that other threads use */
    gint8 *makes, *ends;     /* by rule: does it make or end one of them? -1 not known yet */
    gint8 *terminal_makes, *terminal_ends;
} Cut;

static gint64 key_of(WendKind kind, gint64 handle) { return (gint64)kind << 56 | handle; }

/* Adds what the calls under RULE use of other threads' handles. FALSE: of one that is not the main thread's. */
static gboolean find_used(Cut *cut, guint rule, guint thread, guint main_thread, GHashTable *seen)
{
    Plan *plan = cut->plan;
    const PlanRule *r = &plan->rules[rule];
    if (!g_hash_table_add(seen, GUINT_TO_POINTER(rule + 1)))
        return TRUE;
    for (guint i = 0; i < r->n; i++) {
        if (r->symbols[i].is_rule) {
            if (!find_used(cut, r->symbols[i].id, thread, main_thread, seen))
                return FALSE;
            continue;
        }
        call_decode(plan->call, r->symbols[i].id);
        for (guint a = 0; a < plan->call->n_args; a++) {
            const Arg *arg = &plan->call->args[a];
            if (!kind_is_handle(arg->param->kind) && arg->param->kind != WEND_KIND_REQUEST)
                continue;
            for (guint w = 0; w < arg->n_in_words; w++) {
                gint64 handle = arg->in[w].value;
                if (!wend_is_handle(handle) || wend_handle_tid(handle) == thread)
                    continue;
                if (wend_handle_tid(handle) != main_thread)
                    return FALSE;
                gint64 key = key_of(arg->param->kind, handle);
                g_hash_table_add(cut->used, g_memdup2(&key, sizeof key));
            }
        }
    }
    return TRUE;
}

static void look_at_terminal(Cut *cut, guint terminal)
{
    if (cut->terminal_makes[terminal] >= 0)
        return;
    Call *c = cut->plan->call;
    call_decode(c, terminal);
    gboolean makes = FALSE, ends = strcmp(c->function->name, "MPI_Finalize") == 0 || strcmp(c->function->name, "MPI_Session_finalize") == 0;
    for (guint a = 0; a < c->n_args; a++) {
        const Arg *arg = &c->args[a];
        if (!kind_is_handle(arg->param->kind) && arg->param->kind != WEND_KIND_REQUEST)
            continue;
        gint64 key;
        if (arg->has_out && arg->n_out > 0 && wend_is_handle(arg->out[0].value)) {
            key = key_of(arg->param->kind, arg->out[0].value);
            makes |= g_hash_table_contains(cut->used, &key);
        }
        if (arg->param->dir == WEND_DIR_INOUT && !arg->param->array && arg->n_in_words && strstr(c->function->name, "ree")) {
            key = key_of(arg->param->kind, arg->in[0].value);
            ends |= g_hash_table_contains(cut->used, &key);
        }
    }
    cut->terminal_makes[terminal] = makes;
    cut->terminal_ends[terminal] = ends;
}

static gboolean has(Cut *cut, const WendSymbol *symbol, gboolean ends)
{
    if (!symbol->is_rule) {
        look_at_terminal(cut, symbol->id);
        return ends ? cut->terminal_ends[symbol->id] : cut->terminal_makes[symbol->id];
    }
    gint8 *known = ends ? cut->ends : cut->makes;
    if (known[symbol->id] < 0) {
        const PlanRule *r = &cut->plan->rules[symbol->id];
        gint8 found = 0;
        for (guint i = 0; i < r->n && !found; i++)
            found = (gint8)has(cut, &r->symbols[i], ends);
        known[symbol->id] = found;
    }
    return known[symbol->id];
}

/* Appends N symbols to LEFT up to and with the last that makes a handle, the others to RIGHT. */
static void cut_after_last(Cut *cut, const WendSymbol *symbols, guint n, GArray *left, GArray *right)
{
    guint i = n;
    while (i > 0 && !has(cut, &symbols[i - 1], FALSE))
        i--;
    if (i > 0 && symbols[i - 1].is_rule && symbols[i - 1].exponent == 1) {
        const PlanRule *r = &cut->plan->rules[symbols[i - 1].id];
        g_array_append_vals(left, symbols, i - 1);
        cut_after_last(cut, r->symbols, r->n, left, right);
    } else {
        g_array_append_vals(left, symbols, i);
    }
    g_array_append_vals(right, symbols + i, n - i);
}

/* Appends N symbols to LEFT up to the first that ends a handle, that and the others to RIGHT. */
static void cut_before_first(Cut *cut, const WendSymbol *symbols, guint n, GArray *left, GArray *right)
{
    guint i = 0;
    while (i < n && !has(cut, &symbols[i], TRUE))
        i++;
    g_array_append_vals(left, symbols, i);
    if (i < n && symbols[i].is_rule && symbols[i].exponent == 1) {
        const PlanRule *r = &cut->plan->rules[symbols[i].id];
        cut_before_first(cut, r->symbols, r->n, left, right);
        i++;
    }
    g_array_append_vals(right, symbols + i, n - i);
}

static gboolean limit(Plan *plan, GError **error, const char *what)
{
    g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: threads %s: proxygen cannot tell yet when they ran", plan->options->recording, what);
    return FALSE;
}

static gboolean cut_class(Plan *plan, PlanThread *main_thread, const PlanThread *others, guint n_others, GError **error)
{
    guint n_terminals = wend_program_n_terminals(plan->program);
    Cut cut = {.plan = plan, .used = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)};
    gboolean good = TRUE;
    for (guint i = 0; i < n_others && good; i++) {
        g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
        good = find_used(&cut, others[i].rule, others[i].thread, main_thread->thread, seen);
    }
    if (good) {
        cut.makes = g_malloc(plan->n_rules + 1);
        cut.ends = g_malloc(plan->n_rules + 1);
        cut.terminal_makes = g_malloc(n_terminals + 1);
        cut.terminal_ends = g_malloc(n_terminals + 1);
        memset(cut.makes, -1, plan->n_rules + 1);
        memset(cut.ends, -1, plan->n_rules + 1);
        memset(cut.terminal_makes, -1, n_terminals + 1);
        memset(cut.terminal_ends, -1, n_terminals + 1);
        GArray *before = g_array_new(FALSE, FALSE, sizeof(WendSymbol)), *rest = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
        GArray *during = g_array_new(FALSE, FALSE, sizeof(WendSymbol)), *after = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
        const PlanRule *body = &plan->rules[main_thread->rule];
        cut_after_last(&cut, body->symbols, body->n, before, rest);
        gboolean again = FALSE;
        for (guint i = 0; i < before->len; i++)
            again |= has(&cut, &g_array_index(before, WendSymbol, i), TRUE);
        cut_before_first(&cut, (const WendSymbol *)(gpointer)rest->data, rest->len, during, after);
        g_array_unref(rest);
        main_thread->rule = plan_add_body(plan, before);
        main_thread->during = plan_add_body(plan, during);
        main_thread->after = plan_add_body(plan, after);
        good = !again || limit(plan, error, "use handles that the main thread makes and frees more than once");
        g_free(cut.makes);
        g_free(cut.ends);
        g_free(cut.terminal_makes);
        g_free(cut.terminal_ends);
    } else {
        limit(plan, error, "use each other's handles");
    }
    g_hash_table_destroy(cut.used);
    return good;
}

gboolean plan_threads(Plan *plan, GError **error)
{
    PlanThread *all = (PlanThread *)(gpointer)plan->threads->data;
    for (guint i = 0; i < plan->threads->len;) {
        guint n = 1;
        while (i + n < plan->threads->len && all[i + n].class_index == all[i].class_index)
            n++;
        if (n > 1 && !plan->prefix)
            return limit(plan, error, "run in a program whose ranks differ before MPI_Init");
        if (n > 1 && !cut_class(plan, &all[i], &all[i + 1], n - 1, error))
            return FALSE;
        all[i].n_others = n - 1;
        i += n;
    }
    return TRUE;
}
