/* SPDX-License-Identifier: BSD-3-Clause */
/* emit-tables.c: programs that are too large for code. Rules become lists of numbers, which a small
 * loop of the proxy goes through.
 *
 * A compiler takes much more time and memory for a statement than for a number. So calls that
 * differ only in numbers become one function, with a table of the numbers of each call (call_3(v),
 * where v[0], v[1], ... are its numbers). A rule becomes a list of calls and rules. Numbers are
 * counts, tags and the like, and indices: of handles, blocks and strings in the proxy's arrays.
 * Larger constructs, such as a loop over Waitsome, become code of this kind, too. */
#include <string.h>

#include "src/proxygen/emit/emit.h"

/* In tables a symbol takes about 8 bytes of text and 2.4 us of gcc 12 (838,495 symbols: 6.9 MB, 2.0
 * s). As code it takes some 90 bytes, and 1 MB of code takes 1.5 s without optimization. The limit
 * is an estimate of where code begins to take seconds. Below it code is better, because people can
 * read it. */
enum { CODE_SYMBOLS = 20000, SYMBOL_TEXT = 8 };
/* The size of a file; the numbers in one table. */
enum { SECTION_BYTES = 1 << 19, TABLE_NUMBERS = 1 << 16 };

/* What a function of the proxy does: the call of a terminal, a symbol that is more than a call, or
 * the call of a rule that is code (SYMBOL G_MAXUINT). */
typedef struct {
    gboolean is_terminal;
    guint id; /* of the terminal, or of the rule */
    guint symbol;
} TableCode;

/* Calls that one function makes. */
typedef struct {
    guint number;
    TableCode code;  /* of the first call */
    GArray *columns; /* of Column */
    guint n_numbers; /* of a row as it was written */
    guint first;     /* number of the first call */
    GArray *values;  /* of gint64: n_numbers for each call */
    guint n_calls;
} TableGroup;

/* One call of a group. */
typedef struct {
    TableGroup *group;
    guint index;
} TableMade;

/* The contents of one file, if there are several. */
typedef struct {
    GString *definitions;
    GHashTable *tables; /* like e->tables; NULL: it shares these */
    GPtrArray *groups;
    gsize bytes;
} Section;

typedef struct Tables {
    gboolean *listed;   /* by rule: whether it is a list */
    guint *list_number; /* by rule */
    GHashTable *groups; /* columns, locals and body -> TableGroup */
    GPtrArray *group_order;
    GPtrArray *sections;
    TableMade *terminals; /* by terminal; without a group: none so far */
    GHashTable *places;   /* Site -> TableMade of the code at that site */
    gboolean *nothing;    /* by terminal: whether the call is left out */
} Tables;

gboolean emit_tables_wanted(const Plan *plan)
{
    return plan_n_symbols(plan) > CODE_SYMBOLS;
}

gdouble emit_tables_text(const Plan *plan)
{
    return (gdouble)SYMBOL_TEXT * plan_n_symbols(plan);
}

gboolean emit_tables_hold(const Emitter *e, guint rule)
{
    return e->lists && e->lists->listed[rule];
}

/* -- calls -- */

static void section_free(gpointer section)
{
    g_string_free(((Section *)section)->definitions, TRUE);
    g_ptr_array_unref(((Section *)section)->groups);
    g_clear_pointer(&((Section *)section)->tables, g_hash_table_destroy);
    g_free(section);
}

static void group_free(gpointer group)
{
    g_array_unref(((TableGroup *)group)->values);
    g_array_unref(((TableGroup *)group)->columns);
    g_free(group);
}

static Section *current_section(Emitter *e)
{
    Tables *t = e->lists;
    Section *last = t->sections->len ? t->sections->pdata[t->sections->len - 1] : NULL;
    if (last && last->bytes + last->definitions->len < SECTION_BYTES)
        return last;
    Section *made = g_new0(Section, 1);
    made->definitions = g_string_new("");
    made->groups = g_ptr_array_new();
    g_ptr_array_add(t->sections, made);
    if (!*e->linkage) /* each file has tables of its own */
        made->tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return made;
}

/* The statements of CODE, in a file. Its variables are those of e->locals. */
static Statements *write_code(Emitter *e, const Section *section, const TableCode *code,
                              ColumnWriter *writer)
{
    Statements *list = statements_new();
    GHashTable *tables = e->tables;
    if (section->tables)
        e->tables = section->tables;
    locals_begin(e);
    e->columns = writer;
    if (code->is_terminal)
        emit_terminal(e, list, code->id);
    else if (code->symbol == G_MAXUINT)
        emit_rule_call(e, list, code->id);
    else
        emit_symbols(e, list, code->id, e->plan->rules[code->id].symbols, code->symbol, 1);
    e->columns = NULL;
    e->tables = tables;
    return list;
}

/* The group of the code whose text is TEXT. */
static TableGroup *group_of_text(Tables *t, Section *section, const char *text,
                                 const TableCode *code, const ColumnWriter *writer)
{
    g_autofree char *key = g_strdup_printf("%u\n%s", writer->numbers->len, text);
    TableGroup *group = g_hash_table_lookup(t->groups, key);
    if (group)
        return group;
    group = g_new0(TableGroup, 1);
    group->number = t->group_order->len + 1;
    group->code = *code;
    group->columns = g_array_ref(writer->columns);
    group->n_numbers = writer->numbers->len;
    group->values = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_hash_table_insert(t->groups, g_steal_pointer(&key), group);
    g_ptr_array_add(t->group_order, group);
    g_ptr_array_add(section->groups, group);
    section->bytes += strlen(text) + 64;
    return group;
}

/* A call of CODE. *NOTHING: it does nothing. */
static TableMade make_call(Emitter *e, TableCode code, gboolean *nothing)
{
    Section *section = current_section(e);
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(gint64)),
                      columns = g_array_new(FALSE, FALSE, sizeof(Column));
    ColumnWriter writer = {.columns = columns, .numbers = numbers};
    g_autoptr(Statements) list = write_code(e, section, &code, &writer), locals = statements_new();
    g_autoptr(GString) text = g_string_new("");
    locals_end(e, locals);
    statements_print(locals, text, 1, NULL);
    statements_print(list, text, 1, NULL);
    g_string_append(section->definitions, e->definitions->str);
    g_string_set_size(e->definitions, 0);
    TableGroup *group = group_of_text(e->lists, section, text->str, &code, &writer);
    if (group->n_numbers > 0 || group->n_calls == 0)
        group->n_calls++;
    g_array_append_vals(group->values, numbers->data, numbers->len);
    *nothing = statements_do_nothing(list);
    return (TableMade){group, group->n_calls - 1};
}

static void add_terminal(Emitter *e, guint terminal)
{
    Tables *t = e->lists;
    if (!t->terminals[terminal].group)
        t->terminals[terminal] =
            make_call(e, (TableCode){TRUE, terminal, 0}, &t->nothing[terminal]);
}

/* Adds the code of one site, or with SYMBOL G_MAXUINT a rule that is code. */
static void add_place(Emitter *e, guint rule, guint symbol)
{
    TableMade *made = g_new(TableMade, 1);
    Site *site = g_new(Site, 1);
    gboolean nothing;
    *site = (Site){rule, symbol};
    *made = make_call(e, (TableCode){FALSE, rule, symbol}, &nothing);
    g_hash_table_insert(e->lists->places, site, made);
}

/* The number of lists of a long rule, which come before the list of these lists. */
static guint parts_of(const PlanRule *rule)
{
    return rule->n <= TABLE_NUMBERS ? 0 : (rule->n + TABLE_NUMBERS - 1) / TABLE_NUMBERS;
}

void emit_tables_begin(Emitter *e)
{
    Plan *plan = e->plan;
    Tables *t = e->lists = g_new0(Tables, 1);
    guint n_terminals = program_n_terminals(plan->program), lists = 0;
    t->listed = g_new0(gboolean, plan->n_rules + 1);
    t->list_number = g_new0(guint, plan->n_rules + 1);
    t->groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    t->group_order = g_ptr_array_new_with_free_func(group_free);
    t->sections = g_ptr_array_new_with_free_func(section_free);
    t->terminals = g_new0(TableMade, n_terminals + 1);
    t->nothing = g_new0(gboolean, n_terminals + 1);
    e->strings = g_ptr_array_new_with_free_func(g_free);
    e->string_indices = g_hash_table_new(g_str_hash, g_str_equal);
    t->places = g_hash_table_new_full(site_hash, site_equal, g_free, g_free);
    for (guint i = 0; i < plan->order->len; i++) {
        guint rule = g_array_index(plan->order, guint, i);
        t->listed[rule] = !emit_rule_is_code(e, rule);
        if (!t->listed[rule])
            continue;
        lists += parts_of(&plan->rules[rule]);
        t->list_number[rule] = lists++;
    }
    for (guint i = 0; i < plan->order->len; i++) {
        guint rule = g_array_index(plan->order, guint, i);
        const PlanRule *r = &plan->rules[rule];
        for (guint k = 0; t->listed[rule] && k < r->n; k++) {
            Site site = {r->symbols[k].id, G_MAXUINT};
            if (plan_choice(plan, rule, k))
                add_place(e, rule, k);
            else if (!r->symbols[k].is_rule)
                add_terminal(e, r->symbols[k].id);
            else if (!t->listed[r->symbols[k].id] && !g_hash_table_contains(t->places, &site))
                add_place(e, r->symbols[k].id, G_MAXUINT);
        }
    }
    guint calls = 0;
    for (guint i = 0; i < t->group_order->len; i++) {
        TableGroup *group = t->group_order->pdata[i];
        group->first = calls;
        calls += group->n_calls;
    }
}

/* -- text -- */

/* Writes the table of strings in DECLARATIONS, or as a file of its own. */
static void emit_strings(Emitter *e, GString *declarations, GPtrArray *sections)
{
    const GPtrArray *strings = e->strings;
    if (strings->len == 0)
        return;
    GString *out = *e->linkage ? declarations : g_string_new("");
    g_string_append_printf(out, "%sconst char *const strings[%u] = {\n    ", e->linkage,
                           strings->len);
    gsize line = 4;
    for (guint i = 0; i < strings->len; i++)
        c_text_constant(out, &line, strings->pdata[i]);
    g_string_append(out, "\n};\n");
    if (*e->linkage)
        return;
    g_string_append_printf(declarations, "extern const char *const strings[%u];\n", strings->len);
    g_ptr_array_add(sections, out);
}

/* Appends the function of a group, whose columns have their places. */
static void emit_function(Emitter *e, GString *out, const Section *section, const TableGroup *group)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(gint64));
    ColumnWriter writer = {.columns = group->columns, .numbers = numbers, .row = "v"};
    gboolean any = FALSE;
    for (guint i = 0; i < group->columns->len; i++)
        any |= g_array_index(group->columns, Column, i).kept;
    Statements *all = statements_new(), *body = write_code(e, section, &group->code, &writer);
    locals_end(e, all);
    row_tables_define(all, group->columns);
    statements_move(all, body);
    if (!any)
        statements_add(all, "(void)v;");
    g_string_append(out, e->definitions->str);
    g_string_set_size(e->definitions, 0);
    statements_print_function(out, all, NULL, "%svoid call_%u(const long *v)", e->linkage,
                              group->number);
}

/* Appends the function of a group, its numbers, and its part of the list of calls. */
static void emit_group(Emitter *e, GString *out, const Section *section, const TableGroup *group,
                       GString *externs, GString *rows, guint *n_rows)
{
    const GArray *columns = group->columns;
    guint kept = row_tables_keep(group->columns, group->values, group->n_numbers),
          at_once = kept ? MAX(1, TABLE_NUMBERS / kept) : group->n_calls;
    row_tables_name(group->columns);
    emit_function(e, out, section, group);
    if (!*e->linkage)
        g_string_append_printf(externs, "void call_%u(const long *v);\n", group->number);
    for (guint first = 0; first < group->n_calls; first += at_once) {
        guint n = MIN(at_once, group->n_calls - first), part = first / at_once;
        g_autofree char *name = kept == 0 ? g_strdup("NULL")
                                : part    ? g_strdup_printf("values_%u_%u", group->number, part + 1)
                                          : g_strdup_printf("values_%u", group->number);
        g_string_append_printf(rows, "    {call_%u, %s, %u, %u},\n", group->number, name,
                               group->first + first, kept);
        (*n_rows)++;
        if (kept == 0)
            continue;
        g_string_append_printf(out, "%sconst long %s[%u] = {\n    ", e->linkage, name, n * kept);
        if (!*e->linkage)
            g_string_append_printf(externs, "extern const long %s[%u];\n", name, n * kept);
        gsize line = 4;
        for (guint i = first; i < first + n; i++)
            for (guint k = 0; k < columns->len; k++) {
                const Column *c = &g_array_index(columns, Column, k);
                g_autofree char *value =
                    c->kept ? emit_literal(e->plan, g_array_index(group->values, gint64,
                                                                  i * group->n_numbers + c->first))
                            : NULL;
                if (value)
                    c_text_constant(out, &line, value);
            }
        g_string_append(out, "\n};\n\n");
    }
}

static gint64 number_of_call(const TableMade *made)
{
    return (gint64)made->group->first + made->index;
}

/* Writes the digits of NUMBER before END, and returns their beginning. A large list has ten million
 * numbers, and printf took most of the time. */
static char *decimal(gint64 number, char *end)
{
    guint64 left = number < 0 ? -(guint64)number : (guint64)number;
    do
        *--end = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        *--end = '-';
    return end;
}

static void append_step(GString *out, gsize *line, gint64 what, guint64 times, guint *n)
{
    char text[48], *end = &text[sizeof text - 1];
    *end = '\0';
    c_text_constant(out, line, decimal(what * 2 + (times > 1), end));
    (*n)++;
    if (times > 1) {
        g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT "%s", times,
                   times > G_MAXINT32 ? "L" : "");
        c_text_constant(out, line, text);
        (*n)++;
    }
}

/* Appends the steps for symbols of one rule. Returns their number. */
static guint append_steps(Emitter *e, GString *out, gsize *line, guint rule, guint first,
                          guint last)
{
    const Tables *t = e->lists;
    const PlanRule *r = &e->plan->rules[rule];
    guint n = 0;
    for (guint k = first; k < last; k++) {
        const WendSymbol *s = &r->symbols[k];
        Site place = {rule, k}, code = {s->id, G_MAXUINT};
        const TableMade *made = g_hash_table_lookup(t->places, &place);
        if (made)
            append_step(out, line, number_of_call(made), 1, &n);
        else if (s->is_rule && t->listed[s->id])
            append_step(out, line, -1 - (gint64)t->list_number[s->id], s->repeats, &n);
        else if (s->is_rule)
            append_step(out, line, number_of_call(g_hash_table_lookup(t->places, &code)),
                        s->repeats, &n);
        else if (!t->nothing[s->id])
            append_step(out, line, number_of_call(&t->terminals[s->id]), s->repeats, &n);
    }
    return n;
}

/* The lists of rules, divided into files. */
typedef struct {
    Emitter *e;
    GPtrArray *sections;
    GString *externs, *rows;
    GString *out; /* the file that is written; NULL: none */
    gsize line;
    guint part, steps, lists;
} Lists;

static void end_lists(Lists *l)
{
    if (!l->out)
        return;
    g_string_append(l->out, l->steps ? "\n};\n\n" : "0\n};\n\n");
    if (!*l->e->linkage)
        g_string_append_printf(l->externs, "extern const Step steps_%u[];\n", l->part);
    g_ptr_array_add(l->sections, g_steal_pointer(&l->out));
}

static void begin_list(Lists *l)
{
    if (l->out && l->out->len > SECTION_BYTES)
        end_lists(l);
    if (l->out)
        return;
    l->out = g_string_new("");
    g_string_append_printf(l->out, "%sconst Step steps_%u[] = {\n    ", l->e->linkage, ++l->part);
    l->line = 4;
    l->steps = 0;
}

static void end_list(Lists *l, guint n)
{
    g_string_append_printf(l->rows, "    {steps_%u + %u, %u},\n", l->part, l->steps, n);
    l->steps += n;
    l->lists++;
}

static void add_list(Lists *l, guint rule)
{
    const PlanRule *r = &l->e->plan->rules[rule];
    guint parts = parts_of(r), first = l->lists, n = 0;
    for (guint p = 0; p < parts; p++) {
        begin_list(l);
        end_list(l, append_steps(l->e, l->out, &l->line, rule, p * TABLE_NUMBERS,
                                 MIN(r->n, (p + 1) * TABLE_NUMBERS)));
    }
    begin_list(l);
    for (guint p = 0; p < parts; p++)
        append_step(l->out, &l->line, -1 - (gint64)(first + p), 1, &n);
    end_list(l, parts ? n : append_steps(l->e, l->out, &l->line, rule, 0, r->n));
}

static const char *const run_comment =
    "/* Makes the calls of a rule. Each step is a call by its number, or a rule (-1 - its number), "
    "doubled; an odd one is followed by how often. */\n";
static const char *const run_text =
    "void run(int rule)\n"
    "{\n"
    "    const Step *step = lists[rule].steps, *end = step + lists[rule].n;\n"
    "    while (step < end) {\n"
    "        int many = *step & 1, what = (int)((*step - many) / 2);\n"
    "        Step times = many ? step[1] : 1;\n"
    "        step += 1 + many;\n"
    "        if (what < 0) {\n"
    "            for (Step i = 0; i < times; i++)\n"
    "                run(-1 - what);\n"
    "            continue;\n"
    "        }\n"
    "        int low = 0, high = sizeof calls / sizeof *calls; /* the last row that begins at this "
    "call or before */\n"
    "        while (high - low > 1) {\n"
    "            int middle = low + (high - low) / 2;\n"
    "            if (calls[middle].first <= what)\n"
    "                low = middle;\n"
    "            else\n"
    "                high = middle;\n"
    "        }\n"
    "        const Calls *row = &calls[low];\n"
    "        const long *v = row->values ? row->values + (size_t)(what - row->first) * "
    "(size_t)row->columns : NULL;\n"
    "        for (Step i = 0; i < times; i++)\n"
    "            row->make(v);\n"
    "    }\n"
    "}\n\n";

static gboolean has_long_steps(const Plan *plan)
{
    for (guint i = 0; i < plan->order->len; i++) {
        const PlanRule *r = &plan->rules[g_array_index(plan->order, guint, i)];
        for (guint k = 0; k < r->n; k++)
            if (r->symbols[k].repeats > G_MAXINT32)
                return TRUE;
    }
    return FALSE;
}

void emit_tables_emit(Emitter *e, GString *declarations, GPtrArray *sections)
{
    Plan *plan = e->plan;
    const Tables *t = e->lists;
    g_autoptr(GString) externs = g_string_new(""), rows = g_string_new(""),
                       lists = g_string_new(""), wrappers = g_string_new("");
    guint n_rows = 0;
    emit_strings(e, declarations, sections);
    for (guint i = 0; i < t->sections->len; i++) {
        const Section *section = t->sections->pdata[i];
        GString *out = g_string_new(section->definitions->str);
        g_string_append(out, section->definitions->len ? "\n" : "");
        for (guint k = 0; k < section->groups->len; k++)
            emit_group(e, out, section, section->groups->pdata[k], externs, rows, &n_rows);
        g_ptr_array_add(sections, out);
    }
    g_string_append_printf(declarations, "typedef %s Step;\n%svoid run(int rule);\n",
                           has_long_steps(plan) ? "long" : "int", e->linkage);
    Lists l = {.e = e, .sections = sections, .externs = externs, .rows = lists};
    for (guint i = 0; i < plan->order->len; i++) {
        guint rule = g_array_index(plan->order, guint, i);
        if (!t->listed[rule])
            continue;
        add_list(&l, rule);
        if (plan->rules[rule].name) { /* code calls it by name */
            g_string_append_printf(declarations, "%svoid rule_%u(void);\n", e->linkage,
                                   plan->rules[rule].name);
            g_string_append_printf(wrappers, "%svoid rule_%u(void)\n{\n    run(%u);\n}\n\n",
                                   e->linkage, plan->rules[rule].name, t->list_number[rule]);
        }
    }
    end_lists(&l);
    GString *end = g_string_new(externs->str);
    c_text_comment(
        end, 0,
        "Calls that differ in numbers only: the function that makes them, their numbers, "
        "the number of the first, and how many numbers each has.");
    g_string_append_printf(end,
                           "typedef struct {\n    void (*make)(const long *v);\n    const long "
                           "*values;\n    int first, columns;\n} Calls;\n\n"
                           "static const Calls calls[%u] = {\n%s};\n\n",
                           n_rows, rows->str);
    g_string_append_printf(
        end, "static const struct {\n    const Step *steps;\n    int n;\n} lists[%u] = {\n%s};\n\n",
        l.lists, lists->str);
    g_string_append_printf(end, "%s%s%s%s", run_comment, e->linkage, run_text, wrappers->str);
    g_ptr_array_add(sections, end);
}

void emit_tables_free(Emitter *e)
{
    Tables *t = e->lists;
    if (!t)
        return;
    g_hash_table_destroy(t->groups);
    g_hash_table_destroy(t->places);
    g_ptr_array_unref(t->group_order);
    g_ptr_array_unref(t->sections);
    g_free(t->listed);
    g_free(t->list_number);
    g_free(t->terminals);
    g_free(t->nothing);
    g_hash_table_destroy(e->string_indices);
    g_clear_pointer(&e->strings, g_ptr_array_unref);
    g_clear_pointer(&e->lists, g_free);
}
