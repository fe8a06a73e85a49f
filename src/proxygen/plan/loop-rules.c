/* SPDX-License-Identifier: BSD-3-Clause */
/* loop-rules.c: rules of loops and of their bodies, and rules of ranks whose calls became loops. */
#include "src/proxygen/plan/loops.h"

#include "lib/base/base.h"
#include "lib/base/containers.h"

/* Bodies up to this length are written in the loop itself. */
enum { INLINE_BODY = 8 };

struct LoopRules {
    Plan *plan;
    WendGrammar *grammar;
    GArray *symbols; /* of WendSymbol, by terminal of the grammar */
    Map *symbol_numbers;
    Map *by_content; /* contents of bodies and loops, as bytes -> rule */
};

LoopRules *loop_rules_new(Plan *plan)
{
    LoopRules *r = g_new(LoopRules, 1);
    *r = (LoopRules){plan, grammar_new(), g_array_new(FALSE, FALSE, sizeof(WendSymbol)),
                     map_of_bytes(NULL), map_of_bytes(NULL)};
    return r;
}

void loop_rules_free(LoopRules *r)
{
    grammar_free(r->grammar);
    g_array_unref(r->symbols);
    map_unref(r->symbol_numbers);
    map_unref(r->by_content);
    g_free(r);
}

void loop_rules_append(LoopRules *r, WendSymbol symbol)
{
    gint64 key = (gint64)symbol.is_rule << 32 | symbol.id;
    bool new;
    guint number = map_number(r->symbol_numbers, &key, sizeof key, &new);
    guint64 times = symbol.repeats;
    symbol.repeats = 1;
    if (new)
        g_array_append_val(r->symbols, symbol);
    loop_rules_grammar_append(r->grammar, number, times);
}

static WendSymbol end_of(guint rank)
{
    return (WendSymbol){TRUE, G_MAXUINT32 - rank, 1}; /* no rule has that number */
}

void loop_rules_end_rank(LoopRules *r, guint rank)
{
    loop_rules_append(r, end_of(rank));
}

static void add_symbol(GArray *symbols, WendSymbol symbol)
{
    WendSymbol *last = symbols->len ? &g_array_index(symbols, WendSymbol, symbols->len - 1) : NULL;
    if (last && last->is_rule == symbol.is_rule && last->id == symbol.id)
        last->repeats += symbol.repeats;
    else
        g_array_append_val(symbols, symbol);
}

guint loop_rules_body(LoopRules *r, const guint *terminals, guint n)
{
    if (n == 0)
        return NO_BODY;
    void *known;
    if (map_find_bytes(r->by_content, terminals, n * sizeof(guint), &known))
        return NUMBER_OF(known);
    GArray *symbols = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
    for (guint i = 0; i < n; i++)
        add_symbol(symbols, (WendSymbol){FALSE, terminals[i], 1});
    guint rule = plan_add_body(r->plan, symbols);
    r->plan->rules[rule].inlined = r->plan->rules[rule].n <= INLINE_BODY;
    map_put_bytes(r->by_content, terminals, n * sizeof(guint), OF_NUMBER(rule));
    return rule;
}

void loop_rules_free_loop(Loop *loop)
{
    if (!loop)
        return;
    for (guint e = 0; e < loop->n; e++)
        g_array_unref(loop->runs[e]);
    for (guint j = 0; j < loop->joints->len; j++)
        g_free(g_array_index(loop->joints, LoopJoint, j).entries);
    g_array_unref(loop->joints);
    g_free(loop->runs);
    g_free(loop->times);
    g_free(loop);
}

/* The current run of an entry, and the number of its completions that are left. */
typedef struct {
    guint run;
    guint64 left;
} Progress;

static const LoopRun *present_run(const Loop *loop, const Progress *progress, guint entry)
{
    const GArray *runs = loop->runs[entry];
    guint run = progress[entry].run;
    return run < runs->len ? &g_array_index(runs, LoopRun, run) : NULL;
}

static void go_ahead(const Loop *loop, Progress *progress, guint entry, guint64 times)
{
    progress[entry].left -= times;
    if (progress[entry].left > 0)
        return;
    progress[entry].run++;
    const LoopRun *next = present_run(loop, progress, entry);
    progress[entry].left = next ? next->times : 0;
}

/* How many times the calls of the joint can be made now. */
static guint64 joint_times(const Loop *loop, const Progress *progress, const LoopJoint *joint,
                           guint number)
{
    guint64 times = G_MAXUINT64;
    for (guint i = 0; i < joint->n && times > 0; i++) {
        const LoopRun *run = present_run(loop, progress, joint->entries[i]);
        times = run && run->joint == number ? MIN(times, progress[joint->entries[i]].left) : 0;
    }
    return times;
}

void loop_rules_steps(const Loop *loop, LoopStep step, gpointer data)
{
    g_autofree Progress *progress = g_new0(Progress, loop->n);
    /* Entries to process. The last one is next. */
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint e = loop->n; e-- > 0;) {
        const LoopRun *run = present_run(loop, progress, e);
        progress[e].left = run ? run->times : 0;
        g_array_append_val(open, e);
    }
    while (open->len > 0) {
        guint entry = g_array_index(open, guint, open->len - 1);
        const LoopRun *run = present_run(loop, progress, entry);
        const LoopJoint *joint = NULL;
        guint64 times = run ? run->times : 0;
        if (run && run->joint) {
            joint = &g_array_index(loop->joints, LoopJoint, run->joint - 1);
            times = joint_times(loop, progress, joint, run->joint);
        }
        if (times == 0) {
            g_array_set_size(open, open->len - 1);
            continue; /* it has ended, or waits for another entry of a joint */
        }
        step(joint ? joint->entries : &entry, joint ? joint->n : 1, run->body, times, data);
        if (!joint)
            go_ahead(loop, progress, entry, times);
        for (guint i = 0; joint && i < joint->n; i++) {
            go_ahead(loop, progress, joint->entries[i], times);
            if (joint->entries[i] != entry)
                g_array_append_val(open, joint->entries[i]);
        }
    }
}

static void add_step(const guint *entries, guint n, guint body, guint64 times, gpointer symbols)
{
    (void)entries;
    (void)n;
    if (body != NO_BODY)
        add_symbol(symbols, (WendSymbol){TRUE, body, times});
}

guint loop_rules_loop(LoopRules *r, Loop *loop)
{
    g_autoptr(GArray) key = g_array_new(FALSE, FALSE, sizeof(guint64));
    guint64 head[] = {G_MAXUINT64, loop->terminal, loop->hides};
    g_array_append_vals(key, head, G_N_ELEMENTS(head));
    for (guint e = 0; e < loop->n; e++) {
        guint64 n = loop->runs[e]->len;
        g_array_append_val(key, n);
        for (guint i = 0; i < n; i++) {
            const LoopRun *run = &g_array_index(loop->runs[e], LoopRun, i);
            guint64 words[] = {run->body, run->joint, run->times};
            g_array_append_vals(key, words, G_N_ELEMENTS(words));
        }
    }
    void *known;
    if (map_find_bytes(r->by_content, key->data, key->len * sizeof(guint64), &known)) {
        loop_rules_free_loop(loop);
        return NUMBER_OF(known);
    }
    GArray *symbols = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
    add_symbol(symbols, (WendSymbol){FALSE, loop->terminal, (guint64)loop->total});
    loop_rules_steps(loop, add_step, symbols);
    guint rule = plan_add_body(r->plan, symbols);
    r->plan->rules[rule].loop = loop;
    r->plan->has_loops = TRUE;
    map_put_bytes(r->by_content, key->data, key->len * sizeof(guint64), OF_NUMBER(rule));
    return rule;
}

static WendSymbol plan_symbol(const LoopRules *r, WendSymbol symbol, guint first_rule)
{
    /* rule 0 of a grammar is its start rule */
    WendSymbol result = {TRUE, first_rule + symbol.id - 1, symbol.repeats};
    if (!symbol.is_rule) {
        result = g_array_index(r->symbols, WendSymbol, symbol.id);
        result.repeats = symbol.repeats;
    }
    return result;
}

static GArray *plan_symbols(const LoopRules *r, const Rule *rule, guint first, guint end,
                            guint first_rule)
{
    GArray *symbols = g_array_new(FALSE, FALSE, sizeof(WendSymbol));
    for (guint i = first; i < end; i++) {
        WendSymbol symbol = plan_symbol(r, rule->symbols[i], first_rule);
        g_array_append_val(symbols, symbol);
    }
    return symbols;
}

static void replace_threads(LoopRules *r, const GArray *rows, const RuleRow *grammar)
{
    Plan *plan = r->plan;
    guint first_rule = plan->n_rules;
    for (guint i = 1; i < grammar->n_rules; i++)
        plan_add_body(plan,
                      plan_symbols(r, &grammar->rules[i], 0, grammar->rules[i].n, first_rule));
    GArray *threads = g_array_new(FALSE, FALSE, sizeof(PlanThread));
    const Rule *start = &grammar->rules[0];
    guint at = 0, row = 0;
    for (guint t = 0; t < plan->threads->len; t++) {
        const PlanThread *old = &g_array_index(plan->threads, PlanThread, t);
        if (row == rows->len || g_array_index(rows, LoopRow, row).thread != t) {
            g_array_append_val(threads, *old);
            continue;
        }
        AUTO(Map) known = map_of_bytes(NULL); /* row -> index in RANKS */
        g_autoptr(GPtrArray) ranks = g_ptr_array_new();
        guint before = threads->len;
        for (; row < rows->len && g_array_index(rows, LoopRow, row).thread == t; row++) {
            guint end = at, rank = g_array_index(rows, LoopRow, row).rank;
            for (WendSymbol s; s = plan_symbol(r, start->symbols[end], first_rule),
                               !(s.is_rule && s.id == end_of(rank).id);
                 end++)
                ;
            bool new;
            guint number =
                map_number(known, &start->symbols[at], (end - at) * sizeof *start->symbols, &new);
            if (new) {
                PlanThread thread = *old;
                thread.rule = plan_add_body(plan, plan_symbols(r, start, at, end, first_rule));
                g_array_append_val(threads, thread);
                g_ptr_array_add(ranks, g_array_new(FALSE, FALSE, sizeof(guint)));
            }
            g_array_append_val((GArray *)ranks->pdata[number], rank);
            at = end + 1;
        }
        for (guint i = 0; i < ranks->len; i++) {
            GArray *of = ranks->pdata[i];
            guint n = of->len;
            g_ptr_array_add(plan->owned, of->data);
            g_array_index(threads, PlanThread, before + i).ranks =
                (RankList){n, (const guint *)(void *)g_array_free(of, FALSE)};
        }
    }
    g_array_free(plan->threads, TRUE);
    plan->threads = threads;
}

void loop_rules_grammar_append(WendGrammar *grammar, guint terminal, guint64 times)
{
    if (!grammar || !grammar_append(grammar, terminal, times))
        memory_short();
}

void loop_rules_grammar(const WendGrammar *grammar, guint n_terminals, RuleRow *rules)
{
    WendBuf encoded = WEND_BUF_INIT;
    grammar_encode(grammar, NULL, &encoded);
    WendCursor cursor = cursor_of(encoded.data, encoded.len);
    if (encoded.failed || !rules_read(rules, &cursor, n_terminals, RULES_PLAIN))
        memory_short();
    buf_clear(&encoded);
}

void loop_rules_replace(LoopRules *r, const GArray *rows)
{
    RuleRow grammar;
    loop_rules_grammar(r->grammar, r->symbols->len, &grammar);
    replace_threads(r, rows, &grammar);
    rules_clear(&grammar);
}
