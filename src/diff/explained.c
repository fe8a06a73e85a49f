/* SPDX-License-Identifier: BSD-3-Clause */
/* explained.c: see explained.h. Edits are found once for all ranks of the class: by the signatures
 * on the first rank, and by the slots on all ranks. A call that differs is then compared rank by
 * rank. */
#include "config.h"

#include "explained.h"

#include <string.h>

#include "call-text.h"
#include "explain.h"
#include "items.h"
#include "src/command/text.h"

enum {
    LONGEST_VALUE = 48,
    MOST_VALUES = 3,
    MEMORY_COST = 10,
    MOST_ROUGH = 1 << 24 /* signatures, over all ranks */
};

struct Explained {
    const RecordingPair *pair;
    guint sequence[2];
    const WendSequence *what;
    const guint *ranks;
    guint n;
    ComparisonKeyRank *ids[2];
    guint32 *keys[2]; /* by terminal */
    Hashed *hashed[2];
    WendDecoder *decoders[2];
    GArray *edits; /* Edit */
    GArray *rough; /* Edit: shorter ones, for calls without the memory and requests that they name;
                    * NULL: there are none */
    gboolean other_memory; /* with these edits, equal calls differ in memory or requests, */
    guint64 memory_at[2];  /* from this call on */
    gboolean exact;
    gboolean *differs; /* by rank */
};

/* -- keys -- */

static gboolean completes_by_choice(const WendFunction *f)
{
    return (f->flags & WEND_F_COMPLETES) != 0 && (f->flags & (WEND_F_ANY | WEND_F_POLL)) != 0;
}

static guint32 key_of(Explained *x, guint input, guint32 terminal)
{
    const WendCall *call = decoder_call(x->decoders[input], terminal, x->ranks[0]);
    struct {
        char tag[4];
        guint32 number;
        guint64 slots[2];
    } name = {"key", 0, {0, 0}};
    if (comparison_key_is_place(call))
        return 0;
    if (completes_by_choice(call->function)) { /* the requests depend on the run */
        g_autofree char *function = g_strconcat("choice ", call->function->name, NULL);
        x->exact = FALSE;
        return comparison_key_intern(x->pair->comparison_key, function, strlen(function));
    }
    x->exact = x->exact && !call->failed;
    name.number = comparison_key_terminal(x->ids[input], terminal);
    same_slots(x->pair->same, input, terminal, x->ranks, x->n, name.slots);
    return comparison_key_intern(x->pair->comparison_key, &name, sizeof name);
}

static void make_keys(Explained *x, guint input, guint rule)
{
    guint n;
    const guint32 *terminals = counts_of_rule(x->pair->counts[input], rule, &n);
    g_autofree guint32 *copy = g_memdup2(terminals, n * sizeof *copy);
    x->keys[input] = g_new0(guint32, program_n_terminals(x->pair->program[input]) + 1);
    for (guint i = 0; i < n; i++)
        x->keys[input][copy[i]] = key_of(x, input, copy[i]);
}

static gboolean is_similar(gpointer data, guint32 a, guint32 b)
{
    const Explained *x = data;
    const guint32 terminals[2] = {a, b};
    const char *names[2];
    for (guint input = 0; input < 2; input++) {
        const WendProgram *p = x->pair->program[input];
        names[input] =
            program_shape(p, program_terminal(p, terminals[input])->shape)->function->name;
    }
    return strcmp(names[0], names[1]) == 0;
}

/* -- calls with other arguments -- */

/* The arguments in which two calls differ: names and values. */
typedef struct {
    GString *names, *values;
    guint n;
} ArgumentsApart;

static gboolean same_words(const Explained *x, const WendArg *a, const WendArg *b, gboolean is_out)
{
    gint64 n[2] = {is_out ? a->n_out : a->n_in, is_out ? b->n_out : b->n_in};
    const gint64 *words[2] = {is_out ? a->out : a->in, is_out ? b->out : b->in};
    gsize n_words = call_text_words(a, is_out);
    gboolean equal = n_words == call_text_words(b, is_out);
    for (gsize i = 0; equal && i <= n_words; i++) { /* begins with the length */
        gint64 one = i == 0 ? n[0] : words[0][i - 1], other = i == 0 ? n[1] : words[1][i - 1];
        const char *names[2] = {NULL, NULL};
        if (word_is_const(one) && word_is_const(other)) {
            names[0] = program_constant_name(x->pair->program[0], one);
            names[1] = program_constant_name(x->pair->program[1], other);
        }
        equal =
            names[0] != NULL && names[1] != NULL ? strcmp(names[0], names[1]) == 0 : one == other;
    }
    return equal;
}

/* Adds argument I of both calls. */
static void add_apart(const Explained *x, ArgumentsApart *apart, const WendCall *const calls[2],
                      guint i)
{
    g_autoptr(GString) one = g_string_new(NULL);
    g_autoptr(GString) other = g_string_new(NULL);
    const char *comma = apart->n > 0 ? ", " : "";
    if (apart->n++ >= MOST_VALUES) {
        if (apart->n == MOST_VALUES + 1) {
            g_string_append(apart->names, " and others");
            g_string_append(apart->values, " and others");
        }
        return;
    }
    call_text_value(one, x->pair->program[0], calls[0], i);
    call_text_value(other, x->pair->program[1], calls[1], i);
    g_autofree char *name = text_foreign_new(calls[0]->args[i].param->name);
    g_string_append_printf(apart->names, "%s%s", comma, name);
    g_string_append_printf(apart->values, "%s%s", comma, name);
    if (one->len <= LONGEST_VALUE && other->len <= LONGEST_VALUE
        && strcmp(one->str, other->str) != 0)
        g_string_append_printf(apart->values, " %s and %s", one->str, other->str);
}

/* Whether the calls of an edit differ on RANK, with requests by their numbers. Adds the arguments
 * that differ to APART. */
static gboolean calls_differ(const Explained *x, const Edit *edit, guint rank,
                             ArgumentsApart *apart)
{
    const WendCall *calls[2];
    for (guint input = 0; input < 2; input++)
        calls[input] = decoder_call(x->decoders[input],
                                    hashed_terminal(x->hashed[input], edit->at[input]), rank);
    if (strcmp(calls[0]->function->name, calls[1]->function->name) != 0) {
        text_foreign(apart->names, calls[0]->function->name);
        g_string_append(apart->names, " and ");
        text_foreign(apart->names, calls[1]->function->name);
        g_string_append(apart->values, apart->names->str);
        return TRUE;
    }
    for (guint i = 0; i < calls[0]->n_args && i < calls[1]->n_args; i++) {
        const WendArg *a = &calls[0]->args[i], *b = &calls[1]->args[i];
        if (a->param->kind == WEND_KIND_SELF || !comparison_key_compares(a->param))
            continue;
        if (!same_words(x, a, b, FALSE) || !same_words(x, a, b, TRUE))
            add_apart(x, apart, calls, i);
    }
    if (apart->n > 0) {
        g_string_prepend(apart->names, ": ");
        g_string_prepend(apart->values, ": ");
    }
    g_autofree char *function = text_foreign_new(calls[0]->function->name);
    g_string_prepend(apart->names, function);
    g_string_prepend(apart->values, function);
    if (calls[0]->failed != calls[1]->failed)
        g_string_append_printf(apart->values, ": fails in %s",
                               x->pair->name[calls[0]->failed ? 0 : 1]);
    return apart->n > 0 || calls[0]->failed != calls[1]->failed;
}

static ArgumentsApart apart_new(void)
{
    return (ArgumentsApart){g_string_new(NULL), g_string_new(NULL), 0};
}

static void apart_clear(ArgumentsApart *apart)
{
    g_string_free(apart->names, TRUE);
    g_string_free(apart->values, TRUE);
}

/* -- edits as text -- */

static void put_times(GString *out, guint64 n)
{
    if (n == 1) {
        g_string_append(out, "once");
        return;
    }
    text_count(out, n);
    g_string_append(out, " times");
}

static void put_calls(GString *out, guint64 n)
{
    text_count(out, n);
    g_string_append(out, n == 1 ? " call" : " calls");
}

/* "call 12", "calls 12 to 464", "before call 12", "after the last call". */
static void put_where(const Explained *x, GString *out, const Edit *edit)
{
    const Hashed *h = x->hashed[0];
    if (edit->n[0] == 0 && edit->at[0] >= hashed_length(h)) {
        g_string_append(out, "after the last call");
        return;
    }
    g_string_append(out, edit->n[0] == 0 ? "before call " : edit->n[0] == 1 ? "call " : "calls ");
    text_decimal(out, (gint64)hashed_index(h, edit->at[0]));
    if (edit->n[0] > 1) {
        g_string_append(out, " to ");
        text_decimal(out, (gint64)hashed_index(h, edit->at[0] + edit->n[0] - 1));
    }
}

static void put_loop(GString *out, guint64 calls, const guint64 times[2])
{
    g_string_append(out, "a loop of ");
    put_calls(out, calls);
    g_string_append(out, ", ");
    put_times(out, times[0]);
    g_string_append(out, " and ");
    put_times(out, times[1]);
}

static void put_only(const Explained *x, GString *out, const Edit *edit)
{
    guint input = edit->n[0] == 0;
    const WendProgram *p = x->pair->program[input];
    if (edit->rounds[0] > 0) {
        guint64 calls = edit->period > 0 ? edit->period : edit->n[input];
        put_loop(out, calls, edit->rounds);
        g_string_append(out, " in all; here ");
        put_times(out, edit->n[input] / calls);
        g_string_append_printf(out, " more in %s", x->pair->name[input]);
        return;
    }
    g_string_append_printf(out, "only in %s: ", x->pair->name[input]);
    if (edit->n[input] == 1) {
        guint32 terminal = hashed_terminal(x->hashed[input], edit->at[input]);
        text_foreign(out, program_shape(p, program_terminal(p, terminal)->shape)->function->name);
    } else if (edit->period > 0) {
        g_string_append(out, "a loop of ");
        put_calls(out, edit->period);
        g_string_append(out, ", ");
        put_times(out, edit->times[input]);
    } else {
        put_calls(out, edit->n[input]);
    }
}

/* The text of an edit. CHANGED is the text for a call with other arguments. */
static char *text_of_edit(const Explained *x, const Edit *edit, const char *changed)
{
    GString *out = g_string_new(NULL);
    call_text_sequence(out, x->what);
    g_string_append(out, ", ");
    put_where(x, out, edit);
    g_string_append(out, ": ");
    switch (edit->kind) {
    case EDIT_LOOP:
        put_loop(out, edit->period, edit->times);
        break;
    case EDIT_CHANGED:
        g_string_append(out, changed);
        break;
    case EDIT_ONLY:
        put_only(x, out, edit);
        break;
    case EDIT_REPLACED:
        put_calls(out, edit->n[0]);
        g_string_append(out, " and ");
        put_calls(out, edit->n[1]);
        g_string_append(out, " that differ");
        break;
    }
    if (edit->iterations > 0) {
        g_string_append(out, ", in each of ");
        text_count(out, edit->iterations);
        g_string_append(out, " iterations of a loop of ");
        put_calls(out, edit->body);
    }
    return g_string_free(out, FALSE);
}

/* Adds the first two calls that differ, as RANK makes them. */
static void show_edit(const Explained *x, const Edit *edit, guint rank)
{
    g_autoptr(GString) lines = g_string_new(NULL);
    for (guint input = 0; input < 2; input++) {
        guint64 index = hashed_index(x->hashed[input], edit->apart[input]);
        items_put_call(lines, "<>"[input], x -> pair -> program[input], rank, x -> sequence[input],
                       index);
        if (!x->pair->put_site)
            continue;
        g_string_truncate(lines, lines->len - 1); /* the newline */
        x->pair->put_site(lines, x->pair->sites, input, rank, x->sequence[input], index);
        g_string_append_c(lines, '\n');
    }
    findings_show(x->pair->findings, lines->str);
}

static void add_edit(const Explained *x, const Edit *edit, const guint *ranks, guint n,
                     const char *changed, const char *kind)
{
    g_autofree char *text = text_of_edit(x, edit, changed);
    if (findings_add(x->pair->findings, ranks, n, text, kind))
        show_edit(x, edit, ranks[0]);
}

/* Ranks on which a call differs in the same arguments. */
typedef struct {
    GArray *ranks;
    char *values; /* equal values on all of them; NULL: they differ */
} Alike;

static void alike_free(gpointer data)
{
    Alike *a = data;
    g_array_unref(a->ranks);
    g_free(a->values);
    g_free(a);
}

/* Adds the edits of a changed call. If only the names of its requests differ, this follows from the
 * calls that made them. It is added only if there is no other difference (ANYWAY). */
static void add_changed(const Explained *x, const Edit *edit, gboolean anyway)
{
    g_autoptr(GHashTable) by_names =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, alike_free);
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    for (guint i = 0; i < x->n; i++) {
        ArgumentsApart apart = apart_new();
        if (calls_differ(x, edit, x->ranks[i], &apart) || (anyway && i == 0)) {
            Alike *alike = g_hash_table_lookup(by_names, apart.names->str);
            if (!alike) {
                char *names = g_strdup(apart.names->str);
                alike = g_new(Alike, 1);
                *alike =
                    (Alike){g_array_new(FALSE, FALSE, sizeof(guint)), g_strdup(apart.values->str)};
                g_hash_table_insert(by_names, names, alike);
                g_ptr_array_add(order, names);
            }
            if (alike->values != NULL && strcmp(alike->values, apart.values->str) != 0)
                g_clear_pointer(&alike->values, g_free);
            g_array_append_val(alike->ranks, x->ranks[i]);
        }
        apart_clear(&apart);
    }
    for (guint i = 0; i < order->len; i++) {
        const Alike *alike = g_hash_table_lookup(by_names, order->pdata[i]);
        g_autofree char *differ = g_strconcat(order->pdata[i],
                                              !strchr(order->pdata[i], ':')   ? ": the calls differ"
                                              : !strchr(order->pdata[i], ',') ? " differs"
                                                                              : " differ",
                                              NULL);
        add_edit(x, edit, (const guint *)(const void *)alike->ranks->data, alike->ranks->len,
                 alike->values != NULL ? alike->values : differ, order->pdata[i]);
    }
}

/* -- all of it -- */

static const Edit *edit_at(const Explained *x, guint i)
{
    return &g_array_index(x->edits, Edit, i);
}

/* Finds the ranks with a difference in the words of their calls. */
static void find_differing(Explained *x)
{
    for (guint e = 0; e < x->edits->len; e++) {
        const Edit *edit = edit_at(x, e);
        for (guint i = 0; i < x->n; i++) {
            if (x->differs[i])
                continue;
            ArgumentsApart apart = apart_new();
            x->differs[i] =
                edit->kind != EDIT_CHANGED || calls_differ(x, edit, x->ranks[i], &apart);
            apart_clear(&apart);
        }
    }
    if (x->edits->len > 0)
        x->differs[0] = TRUE; /* in requests, if in nothing else */
}

/* -- without memory -- */

/* The key of the words of a call on all ranks, without those that name memory or requests. */
static guint32 rough_key_of(ComparisonKeyRank *const *ids, guint n, ComparisonKey *comparison_key,
                            guint32 terminal)
{
    g_autofree guint32 *numbers = g_new(guint32, n + 1);
    numbers[0] = G_MAXUINT32; /* no other string begins with this */
    for (guint i = 0; i < n; i++)
        numbers[i + 1] = comparison_key_without_memory(ids[i], terminal);
    return comparison_key_intern(comparison_key, numbers, (n + 1) * sizeof *numbers);
}

static guint32 *make_rough_keys(const Explained *x, guint input)
{
    guint n = program_n_terminals(x->pair->program[input]);
    guint32 *keys = g_new0(guint32, n + 1);
    ComparisonKeyRank **ids = g_new(ComparisonKeyRank *, x->n);
    for (guint i = 0; i < x->n; i++)
        ids[i] = comparison_key_rank_new(x->pair->comparison_key, x->pair->program[input],
                                         x->ranks[i], x->pair->counts[input]);
    for (guint i = 0; i < n; i++)
        if (x->keys[input][i] != 0)
            keys[i] = rough_key_of(ids, x->n, x->pair->comparison_key, i);
    for (guint i = 0; i < x->n; i++)
        comparison_key_rank_free(ids[i]);
    g_free(ids);
    return keys;
}

/* Whether the edits are simple enough to follow equal calls from edit to edit. */
static gboolean is_flat(const GArray *edits)
{
    gboolean flat = edits->len > 0;
    for (guint i = 0; flat && i < edits->len; i++)
        flat = g_array_index(edits, Edit, i).kind != EDIT_REPLACED
               && g_array_index(edits, Edit, i).iterations == 0;
    return flat;
}

/* Finds the first calls that are equal except for memory, by the edits of ROUGH. Returns FALSE if
 * there are none. */
static gboolean find_memory(const Explained *x, const GArray *rough, guint64 at[2])
{
    at[0] = at[1] = 0;
    for (guint i = 0; i <= rough->len; i++) {
        const Edit *edit = i < rough->len ? &g_array_index(rough, Edit, i) : NULL;
        guint64 n = (edit != NULL ? edit->at[0] : hashed_length(x->hashed[0])) - at[0];
        if (edit != NULL && edit->kind == EDIT_LOOP)
            n += MIN(edit->n[0], edit->n[1]);
        guint64 equal = hashed_common(x->hashed[0], at[0], x->hashed[1], at[1], n);
        if (equal < n) {
            at[0] += equal;
            at[1] += equal;
            return TRUE;
        }
        for (guint input = 0; edit != NULL && input < 2; input++)
            at[input] = edit->at[input] + edit->n[input];
    }
    return FALSE;
}

/* Explains the difference without memory and requests, if that is shorter. A loop whose buffers
 * alternate has a period of several iterations. If it runs once more, all later calls use another
 * buffer. Then it is enough to say from which call on the buffers differ. */
static void explain_roughly(Explained *x, const guint64 points[POINTS], const guint rules[2])
{
    Hashed *hashed[2];
    guint32 *keys[2];
    if ((guint64)x->n
            * MAX(program_n_terminals(x->pair->program[0]),
                  program_n_terminals(x->pair->program[1]))
        > MOST_ROUGH)
        return;
    for (guint input = 0; input < 2; input++) {
        keys[input] = make_rough_keys(x, input);
        hashed[input] = hashed_new(x->pair->program[input], rules[input], keys[input], points);
    }
    GArray *rough = explain(hashed[0], hashed[1], is_similar, x);
    explain_rounds(rough, hashed);
    if (is_flat(rough)) {
        x->other_memory = find_memory(x, rough, x->memory_at);
        if (explain_cost(rough) + MEMORY_COST * x->other_memory < explain_cost(x->edits))
            x->rough = g_array_ref(rough);
    }
    g_array_unref(rough);
    for (guint input = 0; input < 2; input++) {
        hashed_free(hashed[input]);
        g_free(keys[input]);
    }
}

Explained *explained_new(const RecordingPair *pair, const guint class[2], const guint sequence[2],
                         const guint *ranks, guint n)
{
    Explained *x = g_new0(Explained, 1);
    *x = (Explained){.pair = pair,
                     .sequence = {sequence[0], sequence[1]},
                     .ranks = ranks,
                     .n = n,
                     .exact = TRUE,
                     .differs = g_new0(gboolean, n)};
    guint64 points[POINTS];
    guint rules[2];
    hash_points(points);
    for (guint input = 0; input < 2; input++) {
        const WendProgram *p = pair->program[input];
        const WendSequence *s = &program_class(p, class[input])->sequences[sequence[input]];
        if (input == 0)
            x->what = s;
        x->decoders[input] = decoder_new(p);
        x->ids[input] =
            comparison_key_rank_new(pair->comparison_key, p, ranks[0], pair->counts[input]);
        x->exact = x->exact && !comparison_key_has_common(x->ids[input]);
        rules[input] = s->rule;
        make_keys(x, input, s->rule);
        x->hashed[input] = hashed_new(p, s->rule, x->keys[input], points);
    }
    x->edits = explain(x->hashed[0], x->hashed[1], is_similar, x);
    explain_rounds(x->edits, x->hashed);
    find_differing(x);
    if (x->exact && (x->edits->len > 1 || (x->edits->len == 1 && edit_at(x, 0)->kind == EDIT_ONLY)))
        explain_roughly(x, points, rules);
    return x;
}

void explained_free(Explained *x)
{
    if (!x)
        return;
    for (guint input = 0; input < 2; input++) {
        hashed_free(x->hashed[input]);
        g_free(x->keys[input]);
        comparison_key_rank_free(x->ids[input]);
        decoder_free(x->decoders[input]);
    }
    g_array_unref(x->edits);
    if (x->rough != NULL)
        g_array_unref(x->rough);
    g_free(x->differs);
    g_free(x);
}

gboolean explained_is_exact(const Explained *x)
{
    return x->exact;
}

gboolean explained_differs(const Explained *x, guint i)
{
    return x->differs[i];
}

static void add_edits(const Explained *x, const GArray *edits)
{
    guint64 before = findings_count(x->pair->findings);
    for (guint i = 0; i < edits->len; i++) {
        const Edit *edit = &g_array_index(edits, Edit, i);
        if (edit->kind == EDIT_CHANGED)
            add_changed(x, edit, FALSE);
        else
            add_edit(x, edit, x->ranks, x->n, NULL, NULL);
    }
    gboolean told = findings_count(x->pair->findings) > before;
    for (guint i = 0; i < edits->len && !told; i++)
        if (g_array_index(edits, Edit, i).kind == EDIT_CHANGED)
            add_changed(x, &g_array_index(edits, Edit, i), TRUE);
}

static void add_memory(const Explained *x)
{
    Edit edit = {.kind = EDIT_CHANGED,
                 .at = {x->memory_at[0], x->memory_at[1]},
                 .n = {1, 1},
                 .apart = {x->memory_at[0], x->memory_at[1]}};
    add_edit(x, &edit, x->ranks, x->n,
             "from here on, calls differ only in the memory or requests that they name", NULL);
}

void explained_add(Explained *x)
{
    add_edits(x, x->rough != NULL ? x->rough : x->edits);
    if (x->rough != NULL && x->other_memory)
        add_memory(x);
}

gboolean explained_add_first(Explained *x, const FirstDifference *difference)
{
    for (guint i = 0; i < x->edits->len; i++) {
        const Edit *edit = edit_at(x, i);
        gboolean here = FALSE;
        for (guint input = 0; input < 2; input++)
            here =
                here
                || hashed_index(x->hashed[input], edit->apart[input]) == difference->index[input];
        if (!here)
            continue;
        if (edit->kind == EDIT_CHANGED)
            add_changed(x, edit, TRUE);
        else
            add_edit(x, edit, x->ranks, 1, NULL, NULL);
        return TRUE;
    }
    return FALSE;
}
