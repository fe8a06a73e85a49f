/* SPDX-License-Identifier: BSD-3-Clause */
/* row-loops.c: loops over tables. The calls of a loop may have other numbers in each iteration:
 * sizes, tags, or partners that a mesh or random data decides. Then each call has a terminal of its
 * own, and the recording has no loop. Here calls whose text is equal except for numbers become one
 * call. Their numbers become a table, and the repeated calls become loops:
 *
 *     for (int i = 0; i < 1000; i++) {
 *         row = rows_1[row_1++];
 *         MPI_Send(buf, row[0], MPI_INT, row[1], 0, MPI_COMM_WORLD);
 *     }
 *
 * This is done for the whole of a thread, if it takes less text.
 *
 * The calls of a thread are expanded, except for repeated rules. Each call is represented by its
 * text without numbers. A repeated rule is a text as a whole, if other rules have the same one.
 * Sequitur finds the loops of these texts. */
#include "src/proxygen/emit/emit.h"

#include <string.h>

#include "lib/base/containers.h"

/* Estimates, in characters. */
enum { RULE_TEXT = 60, RULE_CALL = 16, ROW_TEXT = 30, STREAM_TEXT = 120, NUMBER_TEXT = 6 };
/* The maximum number of calls that a thread is expanded to, the maximum length of a loop's body,
 * and the maximum depth of its rules. */
enum { MOST_TOKENS = 1 << 20, MOST_TEXT = 1 << 14, MOST_DEPTH = 64 };

/* The text of a call or of a repeated rule, and the number of its users. */
typedef struct {
    guint number;
    guint n_numbers;
    GArray *columns; /* of Column */
    gsize length;
    guint n_users;
} LoopText;
typedef struct {
    const LoopText *text; /* NULL: not examined */
    gint64 *numbers;
} LoopCallText;

typedef enum { AS_IT_WAS, PLACE, ROW } RowTokenKind;
/* A terminal of the grammar of texts. */
typedef struct {
    RowTokenKind kind;
    WendSymbol symbol;
    Site site; /* SITE, STREAM and TIMES are those of RowSymbol */
    RowTable *stream;
    guint64 times;
    guint places; /* occurrences in the grammar */
    guint rule;   /* the function that contains it; 0: it is written in place */
} RowToken;

typedef struct {
    guint thread, rule;
} Former;

struct RowLoops {
    GPtrArray *streams; /* of RowTable */
    GPtrArray *symbols; /* of arrays of RowSymbol */
    GArray *former;     /* the bodies before, for row_loops_undo */
    gdouble text;       /* characters of the bodies */
};

typedef struct {
    Emitter *e;
    Map *texts;           /* text -> LoopText */
    LoopCallText *calls;  /* by terminal */
    LoopCallText *bodies; /* by repeated rule */
    /* by rule: whether it has calls that differ from others in numbers only; -1: unknown so far */
    gint8 *varies;
    guint *users; /* by rule: number of threads that run it */
    /* for the current thread */
    Map *known;     /* bytes of a token -> number */
    GArray *tokens; /* of RowToken, by number */
    WendGrammar *grammar;
    GPtrArray *streams;
    guint64 n;           /* number of tokens appended */
    GHashTable *written; /* rules that were expanded -> NULL */
    GHashTable *in_rows; /* rules that became rows -> NULL */
    Map *in_tables;      /* bytes of a token's number and a symbol -> number */
} RowFinder;

static void row_table_free(gpointer stream)
{
    RowTable *s = stream;
    g_array_unref(s->columns);
    g_array_unref(s->values);
    g_array_unref(s->symbols);
    g_free(s);
}

static void text_free(gpointer text)
{
    if (((LoopText *)text)->columns)
        g_array_unref(((LoopText *)text)->columns);
    g_free(text);
}

/* -- texts -- */

/* The list for what is repeated TIMES times: that of a loop, or OUT itself. */
static Statements *repeated(Statements *out, char variable, guint64 times)
{
    return times > 1
               ? statements_block(out, "for (%s %c = 0; %c < %" G_GUINT64_FORMAT "; %c++)",
                                  c_text_count_type(times), variable, variable, times, variable)
               : out;
}

/* Appends the calls of a rule in place. Returns FALSE, and stops, if it has other constructs than
 * calls and loops, or more than *LEFT characters. */
static gboolean write_rule(Emitter *e, Statements *out, guint rule, guint depth, gsize *left)
{
    const PlanRule *r = &e->plan->rules[rule];
    gboolean good = !r->loop && !r->inlined && depth < MOST_DEPTH;
    for (guint i = 0; i < r->n && good; i++) {
        const WendSymbol *s = &r->symbols[i];
        if (plan_choice(e->plan, rule, i))
            return FALSE;
        Statements *inner = repeated(out, 'k', s->repeats);
        guint before = statements_count(inner);
        if (s->is_rule) {
            good = write_rule(e, inner, s->id, depth + 1, left);
            continue;
        }
        emit_terminal(e, inner, s->id);
        gsize length = statements_length(inner, before);
        good = length <= *left;
        *left -= length;
    }
    return good;
}

static gboolean write_symbol(Emitter *e, Statements *out, const WendSymbol *s, gsize most)
{
    if (s->is_rule)
        return write_rule(e, out, s->id, 0, &most);
    emit_terminal(e, out, s->id);
    return TRUE;
}

static void find_text(RowFinder *f, const WendSymbol *s)
{
    LoopCallText *c = s->is_rule ? &f->bodies[s->id] : &f->calls[s->id];
    Emitter *e = f->e;
    if (c->text)
        return;
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(gint64)),
                      columns = g_array_new(FALSE, FALSE, sizeof(Column));
    g_autoptr(Statements) list = statements_new(), locals = statements_new();
    g_autoptr(GString) body = g_string_new("");
    ColumnWriter writer = {.by_rank = TRUE, .columns = columns, .numbers = numbers};
    locals_begin(e);
    e->columns = &writer;
    gboolean good = write_symbol(e, list, s, MOST_TEXT);
    e->columns = NULL;
    statements_print(list, body, 1, NULL);
    good = good && (!s->is_rule || body->len <= MOST_TEXT);
    locals_end(e, locals);
    statements_print(locals, body, 1, NULL);
    g_string_set_size(e->definitions, 0);
    gsize length = body->len;
    if (!good) { /* no other one has this text */
        g_string_printf(body, "rule %u", s->id);
        g_array_set_size(numbers, 0);
    }
    LoopText *text = map_entry(f->texts, body->str, body->len, sizeof *text);
    if (text->n_users++ == 0)
        *text = (LoopText){map_size(f->texts), numbers->len, g_array_ref(columns), length, 1};
    *c = (LoopCallText){text, g_memdup2(numbers->data, MAX(numbers->len, 1) * sizeof(gint64))};
}

/* The text, if other calls differ from it in numbers only; else NULL. */
static const LoopCallText *row_of(const RowFinder *f, const WendSymbol *s)
{
    const LoopCallText *c = s->is_rule ? &f->bodies[s->id] : &f->calls[s->id];
    return c->text && c->text->n_users > 1 && c->text->n_numbers > 0 ? c : NULL;
}

static gboolean has_rows(RowFinder *f, guint rule);

/* Whether the rule has only symbols in order, one of which can become a row. The recursion is as
 * deep as the grammar. */
static gboolean varies(RowFinder *f, guint rule)
{
    if (f->varies[rule] >= 0)
        return f->varies[rule];
    const PlanRule *r = &f->e->plan->rules[rule];
    gboolean plain = !r->loop && !r->inlined;
    f->varies[rule] = FALSE; /* a rule is never below itself */
    for (guint i = 0; plain && i < r->n; i++)
        plain = !plan_choice(f->e->plan, rule, i);
    return f->varies[rule] = plain && has_rows(f, rule);
}

/* Whether a thread's body has something that can become a row. */
static gboolean has_rows(RowFinder *f, guint rule)
{
    const PlanRule *r = &f->e->plan->rules[rule];
    gboolean any = FALSE;
    for (guint i = 0; i < r->n && !any; i++) {
        const WendSymbol *s = &r->symbols[i];
        any = s->is_rule && s->repeats == 1 ? varies(f, s->id) : row_of(f, s) != NULL;
    }
    return any;
}

/* -- tokens -- */

static guint number_of(RowFinder *f, const RowToken *t, const LoopText *text)
{
    const guint64 key[] = {t->kind, text ? text->number : t->symbol.id, !text && t->symbol.is_rule,
                           t->times, t->kind == PLACE ? t->site.symbol + 1 : 0};
    bool new;
    guint number = map_number(f->known, key, sizeof key, &new);
    if (!new)
        return number;
    g_array_append_val(f->tokens, *t);
    if (text) {
        RowTable *s = g_array_index(f->tokens, RowToken, number).stream = g_new0(RowTable, 1);
        s->columns = g_array_copy(text->columns);
        s->n_numbers = text->n_numbers;
        s->values = g_array_new(FALSE, FALSE, sizeof(gint64));
        s->symbols = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
        g_ptr_array_add(f->streams, s);
    }
    return number;
}

/* Returns FALSE if there are too many tokens. */
static gboolean append(RowFinder *f, guint number, guint64 times)
{
    loop_rules_grammar_append(f->grammar, number, times);
    return ++f->n <= MOST_TOKENS;
}

static gboolean append_row(RowFinder *f, const WendSymbol *s, const LoopCallText *c)
{
    const RowToken t = {ROW, {s->is_rule, s->id, 1}, {G_MAXUINT, 0}, NULL, s->repeats, 0, 0};
    guint number = number_of(f, &t, c->text);
    RowTable *rows = g_array_index(f->tokens, RowToken, number).stream;
    g_array_append_vals(rows->values, c->numbers, c->text->n_numbers);
    const guint64 key[] = {number, s->is_rule, s->id};
    bool new;
    map_number(f->in_tables, key, sizeof key, &new);
    if (new)
        g_array_append_vals(rows->symbols, s, 1);
    if (s->is_rule)
        g_hash_table_add(f->in_rows, GUINT_TO_POINTER(s->id));
    return append(f, number, 1);
}

static gboolean write_out(RowFinder *f, guint rule)
{
    const Plan *plan = f->e->plan;
    const PlanRule *r = &plan->rules[rule];
    gboolean good = TRUE;
    g_hash_table_add(f->written, GUINT_TO_POINTER(rule));
    for (guint i = 0; i < r->n && good; i++) {
        const WendSymbol *s = &r->symbols[i];
        const LoopCallText *row = row_of(f, s);
        const RowToken place = {PLACE, *s, {rule, i}, NULL, 0, 0, 0},
                       as_it_was = {AS_IT_WAS, {s->is_rule, s->id, 1}, {G_MAXUINT, 0}, NULL, 0, 0,
                                    0};
        if (plan_choice(plan, rule, i)) /* in the thread's own body, which runs once */
            good = append(f, number_of(f, &place, NULL), 1);
        else if (s->is_rule && s->repeats == 1 && varies(f, s->id))
            good = write_out(f, s->id);
        else if (row && (!s->is_rule || s->repeats > 1))
            good = append_row(f, s, row);
        else
            good = append(f, number_of(f, &as_it_was, NULL), s->repeats);
    }
    return good;
}

/* -- size of the text -- */

/* The size of the text of a symbol. ROW: it is a row, whose numbers are in a table. */
static gsize text_of_symbol(const RowFinder *f, const WendSymbol *s, gboolean row)
{
    const LoopText *text = s->is_rule && !row ? NULL
                           : s->is_rule       ? f->bodies[s->id].text
                                              : f->calls[s->id].text;
    return (text ? text->length + (row ? ROW_TEXT : NUMBER_TEXT * text->n_numbers) : RULE_CALL)
           + (s->repeats > 1 ? ROW_TEXT : 0);
}

static gdouble text_before(const RowFinder *f)
{
    gdouble all = 0;
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, f->written);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const PlanRule *r = &f->e->plan->rules[GPOINTER_TO_UINT(key)];
        gsize own = RULE_TEXT;
        for (guint i = 0; i < r->n; i++)
            own += text_of_symbol(f, &r->symbols[i], FALSE);
        all += (gdouble)own / MAX(f->users[GPOINTER_TO_UINT(key)], 1);
    }
    g_hash_table_iter_init(&iter, f->in_rows);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const LoopText *text = f->bodies[GPOINTER_TO_UINT(key)].text;
        all += (gdouble)(RULE_TEXT + text->length + NUMBER_TEXT * text->n_numbers)
               / MAX(f->users[GPOINTER_TO_UINT(key)], 1);
    }
    return all;
}

static void count_places(const RowFinder *f, const RuleRow *grammar)
{
    for (guint i = 0; i < grammar->n_rules; i++)
        for (guint k = 0; k < grammar->rules[i].n; k++)
            if (!grammar->rules[i].symbols[k].is_rule)
                g_array_index(f->tokens, RowToken, grammar->rules[i].symbols[k].id).places++;
}

/* Whether the text of a rule in rows is a function, because it would be written several times. */
static gboolean is_function(const RowToken *t)
{
    return t->kind == ROW && t->symbol.is_rule && t->places > 1;
}

static gdouble text_after(const RowFinder *f, const RuleRow *grammar)
{
    gdouble all = (gdouble)RULE_TEXT * grammar->n_rules;
    for (guint i = 0; i < grammar->n_rules; i++)
        for (guint k = 0; k < grammar->rules[i].n; k++)
            all += grammar->rules[i].symbols[k].is_rule ? RULE_CALL : 0;
    for (guint i = 0; i < f->tokens->len; i++) {
        const RowToken *t = &g_array_index(f->tokens, RowToken, i);
        gdouble text = text_of_symbol(f, &t->symbol, t->kind == ROW);
        all +=
            is_function(t) ? RULE_TEXT + text + (gdouble)RULE_CALL * t->places : text * t->places;
    }
    for (guint i = 0; i < f->streams->len; i++) {
        const RowTable *s = f->streams->pdata[i];
        if (s->n_kept)
            all += STREAM_TEXT + (gdouble)NUMBER_TEXT * s->n_kept * (s->values->len / s->n_numbers);
    }
    return all;
}

/* -- bodies -- */

static guint add_body(Plan *plan, RowLoops *streams, const RowFinder *f, const Rule *rule,
                      guint first_rule, RankList ranks)
{
    GArray *symbols = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
    RowSymbol *row_symbols = g_new0(RowSymbol, rule->n + 1);
    g_ptr_array_add(streams->symbols, row_symbols);
    for (guint k = 0; k < rule->n; k++) {
        WendSymbol s = rule->symbols[k];
        row_symbols[k].site.rule = G_MAXUINT;
        if (s.is_rule) {
            s.id += first_rule - 1; /* rule 0 of a grammar is its start rule */
        } else {
            const RowToken *t = &g_array_index(f->tokens, RowToken, s.id);
            guint64 repeats = s.repeats;
            s = t->symbol;
            if (t->rule)
                s = (WendSymbol){TRUE, t->rule, 1};
            else
                row_symbols[k] = (RowSymbol){t->site, t->stream, t->times};
            s.repeats *= repeats;
        }
        g_array_append_val(symbols, s);
    }
    guint number = plan_add_body(plan, symbols);
    plan->rules[number].row_symbols = row_symbols;
    plan->rules[number].ranks = ranks;
    return number;
}

static void replace_body(RowFinder *f, RowLoops *streams, const RuleRow *grammar, guint thread)
{
    Plan *plan = f->e->plan;
    PlanThread *t = &g_array_index(plan->threads, PlanThread, thread);
    RankList ranks = plan->rules[t->rule].ranks;
    for (guint i = 0; i < f->tokens->len; i++) {
        RowToken *token = &g_array_index(f->tokens, RowToken, i);
        WendSymbol symbol = {FALSE, i, 1};
        const Rule alone = {1, &symbol};
        if (is_function(token))
            token->rule = add_body(plan, streams, f, &alone, 0, ranks);
    }
    guint first_rule = plan->n_rules;
    for (guint i = 1; i < grammar->n_rules; i++)
        add_body(plan, streams, f, &grammar->rules[i], first_rule, ranks);
    guint body = add_body(plan, streams, f, &grammar->rules[0], first_rule, ranks), old = t->rule;
    for (guint i = 0; i < plan->threads->len; i++) {
        PlanThread *one = &g_array_index(plan->threads, PlanThread, i);
        const Former former = {i, old};
        if (one->rule != old)
            continue;
        g_array_append_val(streams->former, former);
        one->rule = body;
    }
    for (guint i = 0; i < f->streams->len; i++) {
        RowTable *s = f->streams->pdata[i];
        g_ptr_array_add(streams->streams, s);
        s->number = streams->streams->len;
    }
    g_ptr_array_set_free_func(f->streams, NULL);
}

static void look_at_thread(RowFinder *f, RowLoops *streams, guint thread)
{
    guint rule = g_array_index(f->e->plan->threads, PlanThread, thread).rule;
    const PlanRule *r = &f->e->plan->rules[rule];
    if (r->loop || r->inlined || !has_rows(f, rule))
        return;
    f->known = map_of_bytes(NULL);
    f->tokens = g_array_new(FALSE, FALSE, sizeof(RowToken));
    f->grammar = grammar_new();
    f->streams = g_ptr_array_new_with_free_func(row_table_free);
    f->written = g_hash_table_new(NULL, NULL);
    f->in_rows = g_hash_table_new(NULL, NULL);
    f->in_tables = map_of_bytes(NULL);
    f->n = 0;
    if (write_out(f, rule) && f->streams->len > 0) {
        RuleRow grammar;
        for (guint i = 0; i < f->streams->len; i++) {
            RowTable *s = f->streams->pdata[i];
            s->n_kept = row_tables_keep(s->columns, s->values, s->n_numbers);
            row_tables_name(s->columns);
        }
        loop_rules_grammar(f->grammar, f->tokens->len, &grammar);
        count_places(f, &grammar);
        gdouble after = text_after(f, &grammar);
        /* a small gain is not worth it, because the recorded structure is easier to read */
        if (after * 4 < text_before(f) * 3) {
            replace_body(f, streams, &grammar, thread);
            streams->text += after;
        }
        rules_clear(&grammar);
    }
    g_hash_table_destroy(f->in_rows);
    map_unref(f->in_tables);
    g_hash_table_destroy(f->written);
    g_ptr_array_unref(f->streams);
    grammar_free(f->grammar);
    g_array_unref(f->tokens);
    map_unref(f->known);
}

/* -- all threads -- */

static void add_to_order(guint rule, gpointer data)
{
    Plan *plan = data;
    plan->rules[rule].used = TRUE;
    g_array_append_val(plan->order, rule);
}

/* Finds the rules below those of threads. The ranks that run them are unchanged, since terminals
 * that became rows of others keep theirs. */
static void find_order(Plan *plan)
{
    g_autofree guint *seen = g_new0(guint, plan->n_rules + 1);
    for (guint i = 0; i < plan->n_rules; i++)
        plan->rules[i].used = FALSE;
    g_array_set_size(plan->order, 0);
    for (guint t = 0; t < plan->threads->len; t++)
        plan_visit(plan, g_array_index(plan->threads, PlanThread, t).rule, seen, 1, add_to_order,
                   plan);
}

static void count_user(guint rule, gpointer users)
{
    ((guint *)users)[rule]++;
}

/* Counts the different bodies of threads that use each rule. */
static void count_users(RowFinder *f)
{
    const Plan *plan = f->e->plan;
    g_autofree guint *seen = g_new0(guint, plan->n_rules + 1);
    g_autoptr(GHashTable) bodies = g_hash_table_new(NULL, NULL);
    for (guint t = 0; t < plan->threads->len; t++) {
        guint rule = g_array_index(plan->threads, PlanThread, t).rule;
        if (g_hash_table_add(bodies, GUINT_TO_POINTER(rule + 1)))
            plan_visit(plan, rule, seen, t + 1, count_user, f->users);
    }
}

static void find_texts(RowFinder *f)
{
    const Plan *plan = f->e->plan;
    for (guint o = 0; o < plan->order->len; o++) {
        const PlanRule *r = &plan->rules[g_array_index(plan->order, guint, o)];
        for (guint i = 0; i < r->n; i++)
            if ((!r->symbols[i].is_rule || r->symbols[i].repeats > 1) && !r->loop
                && !plan_choice(plan, g_array_index(plan->order, guint, o), i))
                find_text(f, &r->symbols[i]);
    }
}

static void clear_texts(LoopCallText *texts, guint n)
{
    for (guint i = 0; i < n; i++)
        g_free(texts[i].numbers);
    g_free(texts);
}

gdouble row_loops_text(const RowLoops *s)
{
    return s->text;
}

RowLoops *row_loops_new(Emitter *e)
{
    Plan *plan = e->plan;
    if (plan_n_symbols(plan) > MOST_TOKENS)
        return NULL;
    guint n_terminals = program_n_terminals(plan->program), n_rules = plan->n_rules;
    RowLoops *s = g_new(RowLoops, 1);
    *s = (RowLoops){g_ptr_array_new_with_free_func(row_table_free),
                    g_ptr_array_new_with_free_func(g_free),
                    g_array_new(FALSE, FALSE, sizeof(Former)), 0};
    RowFinder f = {.e = e,
                   .texts = map_of_bytes(text_free),
                   .calls = g_new0(LoopCallText, n_terminals + 1),
                   .bodies = g_new0(LoopCallText, n_rules + 1),
                   .varies = g_malloc(plan->n_rules + 1),
                   .users = g_new0(guint, plan->n_rules + 1)};
    memset(f.varies, -1, plan->n_rules + 1);
    /* Tables that texts need are defined later, when the text is written to a file. */
    GHashTable *tables = e->tables;
    guint n_tables = e->n_tables;
    e->tables = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    find_texts(&f);
    g_hash_table_destroy(e->tables);
    e->tables = tables;
    e->n_tables = n_tables;
    count_users(&f);
    AlikeRules *alike = alike_new(plan);
    for (guint t = 0; t < plan->threads->len; t++) {
        guint rule = g_array_index(plan->threads, PlanThread, t).rule;
        /* unless another thread with this body has already got the new one */
        if (rule < n_rules && !alike_shared(alike, rule))
            look_at_thread(&f, s, t);
    }
    alike_free(alike);
    clear_texts(f.calls, n_terminals);
    clear_texts(f.bodies, n_rules);
    g_free(f.varies);
    g_free(f.users);
    map_unref(f.texts);
    if (s->former->len > 0)
        find_order(plan);
    return s;
}

void row_loops_undo(Emitter *e, RowLoops *s)
{
    if (s->former->len == 0)
        return;
    for (guint i = 0; i < s->former->len; i++) {
        const Former *f = &g_array_index(s->former, Former, i);
        g_array_index(e->plan->threads, PlanThread, f->thread).rule = f->rule;
    }
    g_array_set_size(s->former, 0);
    g_ptr_array_set_size(s->streams, 0);
    find_order(e->plan);
}

void row_loops_free(RowLoops *s)
{
    if (!s)
        return;
    g_ptr_array_unref(s->streams);
    g_ptr_array_unref(s->symbols);
    g_array_unref(s->former);
    g_free(s);
}

/* -- text -- */

static const char *type_of(const RowTable *s)
{
    for (guint i = 0; i < s->values->len; i++) {
        gint64 v = g_array_index(s->values, gint64, i);
        if (v > G_MAXINT32 || v < G_MININT32)
            return "long";
    }
    return "int";
}

static void write_row(const Plan *plan, GString *list, const RowTable *s, guint row)
{
    const char *before = s->n_kept > 1 ? "{" : "";
    for (guint i = 0; i < s->columns->len; i++) {
        const Column *c = &g_array_index(s->columns, Column, i);
        for (guint k = 0; k < c->width && c->kept; k++, before = ", ") {
            g_autofree char *text = emit_literal(
                plan, g_array_index(s->values, gint64, (gsize)row * s->n_numbers + c->first + k));
            g_string_append_printf(list, "%s%s", before, text);
        }
    }
    g_string_append(list, s->n_kept > 1 ? "}" : "");
}

void row_loops_emit(Emitter *e, const RowLoops *s, GString *declarations, GString *definitions)
{
    const char *local = e->threads ? "_Thread_local " : "";
    gboolean any = FALSE;
    for (guint i = 0; i < s->streams->len; i++) {
        const RowTable *one = s->streams->pdata[i];
        guint rows = one->values->len / one->n_numbers;
        if (one->n_kept == 0)
            continue;
        if (!any)
            c_text_comment(
                definitions, 0,
                "The numbers of calls that differ in nothing else, in the order in which "
                "they are made, and which is next.");
        any = TRUE;
        const char *type = type_of(one);
        g_autoptr(GString) list = g_string_new("");
        for (guint r = 0; r < rows; r++) {
            g_string_append(list, r ? ", " : "");
            write_row(e->plan, list, one, r);
        }
        g_autofree char *dimensions = one->n_kept > 1
                                          ? g_strdup_printf("[%u][%u]", rows, one->n_kept)
                                          : g_strdup_printf("[%u]", rows);
        c_text_line(definitions, 0, "%sconst %s rows_%u%s = {%s};", e->linkage, type, one->number,
                    dimensions, list->str);
        c_text_line(definitions, 0, "%s%sint row_%u;", e->linkage, local, one->number);
        if (!*e->linkage) {
            c_text_line(declarations, 0, "extern const %s rows_%u%s;", type, one->number,
                        dimensions);
            c_text_line(declarations, 0, "extern %sint row_%u;", local, one->number);
        }
    }
    if (any)
        g_string_append_c(definitions, '\n');
}

void row_loops_call(Emitter *e, Statements *out, const WendSymbol *symbol, const RowSymbol *s)
{
    const RowTable *stream = s->stream;
    g_autofree char *pointer = g_strdup_printf("const %s *", type_of(stream));
    const char *row = stream->n_kept == 0   ? ""
                      : stream->n_kept == 1 ? locals_variable(e, type_of(stream), "number", 0)
                                            : locals_variable(e, pointer, "row", 0);
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(gint64));
    ColumnWriter writer = {TRUE, stream->columns, numbers, row, stream->n_kept == 1};
    Statements *inner = repeated(out, 'i', symbol->repeats);
    if (stream->n_kept > 1 && inner == out) /* the names are those of this table */
        inner = statements_block(out, "%s", "");
    if (stream->n_kept > 1)
        row_tables_define(inner, stream->columns);
    if (stream->n_kept)
        statements_add(inner, "%s = rows_%u[row_%u++];", row, stream->number, stream->number);
    e->columns = &writer;
    /* it was short enough */
    write_symbol(e, repeated(inner, 'k', s->times), symbol, G_MAXSIZE);
    e->columns = NULL;
}
