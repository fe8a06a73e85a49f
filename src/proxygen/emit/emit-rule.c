/* SPDX-License-Identifier: BSD-3-Clause */
/* emit-rule.c: writes rules of the grammar as functions, and repetition counts as loops. */
#include <string.h>

#include "src/proxygen/emit/emit.h"

/* The length of a function that readers and optimizers handle well. Longer rules have several
 * parts. */
enum { PART_SYMBOLS = 1000 };

char *emit_rule_name(Emitter *e, guint rule)
{
    PlanRule *r = &e->plan->rules[alike_leader(e->alike, rule)];
    if (!r->name)
        r->name = ++e->n_names;
    return g_strdup_printf("rule_%u", r->name);
}

void emit_rule_call(Emitter *e, Statements *out, guint rule)
{
    g_free(emit_rule_name(e, rule)); /* it has a number */
    statements_add_rule(out, e->plan->rules[alike_leader(e->alike, rule)].name);
}

gboolean emit_rule_is_code(const Emitter *e, guint rule)
{
    return e->plan->rules[rule].loop || e->plan->rules[rule].inlined;
}

static void emit_symbol(Emitter *e, Statements *out, const WendSymbol *symbol)
{
    if (symbol->is_rule) {
        emit_rule_call(e, out, symbol->id);
        return;
    }
    guint before = statements_count(out);
    emit_terminal(e, out, symbol->id);
    if (!e->columns) /* the text of a row is that of many calls */
        statements_note_call(out, before, symbol->id);
}

/* The repetition count of a symbol as an expression, and the type that holds it. */
static char *trip_count(Emitter *e, guint rule, guint symbol, guint64 repeats, const char **type)
{
    g_autofree gint64 *trips = alike_trips(e->alike, rule, symbol);
    *type = c_text_count_type(repeats);
    if (!trips)
        return g_strdup_printf("%" G_GUINT64_FORMAT, repeats);
    RankList ranks = alike_ranks(e->alike, rule);
    for (guint i = 0; i < ranks.n; i++)
        if (trips[i] > G_MAXINT32)
            *type = "long";
    return expression_operand_by_rank(e, ranks, trips, *type, "trips");
}

void emit_symbols(Emitter *e, Statements *out, guint rule, const WendSymbol *symbols, guint first,
                  guint n)
{
    for (guint i = first; i < first + n; i++) {
        const WendSymbol *symbol = &symbols[i];
        const RowSymbol *row_symbols = e->plan->rules[rule].row_symbols;
        const Choice *choice = plan_choice(e->plan, rule, i);
        if (choice) {
            emit_choice(e, out, choice, symbol->id, symbol->repeats);
        } else if (row_symbols && row_symbols[i].stream) {
            row_loops_call(e, out, symbol, &row_symbols[i]);
        } else if (symbol->repeats == 1) {
            emit_symbol(e, out, symbol);
        } else {
            const char *type;
            Statements *body = statements_new();
            emit_symbol(e, body, symbol);
            g_autofree char *count = trip_count(e, rule, i, symbol->repeats, &type);
            statements_under(out, body, "for (%s i = 0; i < %s; i++)", type, count);
        }
    }
}

char *emit_ranks_text(const Plan *plan, RankList set)
{
    if (set.n == plan->n_ranks)
        return g_strdup("all ranks");
    GString *s = g_string_new(set.n == 1 ? "rank " : "ranks ");
    guint pieces = 0;
    for (guint i = 0; i < set.n;) {
        guint k = i;
        while (k + 1 < set.n && set.ranks[k + 1] == set.ranks[k] + 1)
            k++;
        if (pieces++ == 8) {
            g_string_append_printf(s, ", … (%u in all)", set.n);
            break;
        }
        g_string_append_printf(s, "%s%u", i ? ", " : "", set.ranks[i]);
        if (k > i)
            g_string_append_printf(s, "%s%u", k > i + 1 ? "-" : ", ", set.ranks[k]);
        i = k + 1;
    }
    return g_string_free(s, FALSE);
}

static void emit_function(Emitter *e, GString *out, const char *name, guint rule, guint first,
                          guint n)
{
    Statements *all = statements_new(), *body = statements_new();
    locals_begin(e);
    if (e->plan->rules[rule].loop)
        emit_loop(e, body, rule);
    else
        emit_symbols(e, body, rule, e->plan->rules[rule].symbols, first, n);
    locals_end(e, all);
    statements_move(all, body);
    g_string_append(out, e->definitions->str);
    if (e->definitions->len)
        g_string_append_c(out, '\n');
    g_string_set_size(e->definitions, 0);
    statements_print_function(out, all, e->lines, "%svoid %s(void)", e->linkage, name);
}

guint emit_rule_parts(const Emitter *e, guint rule)
{
    guint n = e->plan->rules[rule].loop ? 1 : e->plan->rules[rule].n;
    return n <= PART_SYMBOLS + PART_SYMBOLS / 2 ? 1 : (n + PART_SYMBOLS - 1) / PART_SYMBOLS + 1;
}

void emit_rule_part(Emitter *e, GString *out, guint rule, guint part)
{
    const PlanRule *r = &e->plan->rules[rule];
    g_autofree char *name = emit_rule_name(e, rule),
                    *ranks =
                        emit_ranks_text(e->plan, e->alike ? alike_ranks(e->alike, rule) : r->ranks);
    guint parts = emit_rule_parts(e, rule);
    if (parts == 1) {
        g_autoptr(GString) function = g_string_new("");
        emit_function(e, function, name, rule, 0, r->n);
        g_string_append_printf(out, "/* Run by %s. */\n", ranks);
        g_string_append(out, function->str);
    } else if (part + 1 < parts) {
        g_autofree char *part_name = g_strdup_printf("%s_part_%u", name, part + 1);
        emit_function(e, out, part_name, rule, part * PART_SYMBOLS,
                      MIN(PART_SYMBOLS, r->n - part * PART_SYMBOLS));
    } else {
        Statements *body = statements_new();
        for (guint p = 0; p + 1 < parts; p++)
            statements_add(body, "%s_part_%u();", name, p + 1);
        g_string_append_printf(out, "/* Run by %s. */\n", ranks);
        statements_print_function(out, body, NULL, "%svoid %s(void)", e->linkage, name);
    }
}
