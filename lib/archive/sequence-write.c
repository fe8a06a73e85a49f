/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence-write.c: writes the part "rules", and those with the outcomes and the polls of each
 * sequence. Another part with data of each sequence is in timing-write.c. */
#include <string.h>

#include "base/order.h"
#include "base/pairs.h"
#include "base/shortage.h"
#include "record/elastic.h"
#include "record/outcome-runs.h"
#include "record/record.h"
#include "write-private.h"

static OutcomeRuns outcome_runs_of(GBytes *stream)
{
    OutcomeRuns p;
    outcome_runs_init_part(&p, g_bytes_get_data(stream, NULL), g_bytes_get_size(stream));
    return p;
}

/* Writes a stream of outcomes as runs. Sets *ARITHMETIC if the stream has arithmetic runs, which
 * the archive does not have; then the output is incomplete. */
static gboolean put_runs(Writer *w, GBytes *stream, gboolean *arithmetic)
{
    OutcomeRuns p = outcome_runs_of(stream);
    *arithmetic = FALSE;
    while (!*arithmetic && outcome_runs_next(&p)) {
        wend_buf_unsigned(&w->out, p.repeats);
        if (!p.repeats)
            wend_buf_unsigned(&w->out, outcome_runs_entries(&p));
        for (guint e = 0; e < outcome_runs_entries(&p); e++) {
            guint n;
            const gint64 *words = outcome_runs_entry(&p, e, &n);
            *arithmetic |= outcome_runs_count(&p, e) > 0;
            wend_buf_unsigned(&w->out, n);
            for (guint i = 0; i < n; i++)
                writer_word(w, words[i]);
        }
        if (!p.repeats)
            wend_buf_unsigned(&w->out, p.rules.n_rules);
        for (guint i = 0; i < p.rules.n_rules; i++)
            rule_encode(&p.rules.rules[i], RULES_PLAIN, &w->out);
    }
    gboolean good = !p.c.failed;
    outcome_runs_clear(&p);
    return good;
}

/* The first run of a stream. */
typedef struct {
    guint width;             /* words of its entry */
    gboolean one_run, zeros; /* it is the only run; all words of its entry are 0 */
} StreamLook;

static StreamLook look_at(GBytes *stream)
{
    OutcomeRuns p = outcome_runs_of(stream);
    StreamLook l = {0, TRUE, TRUE};
    if (outcome_runs_next(&p)) {
        const gint64 *words = outcome_runs_entry(&p, 0, &l.width);
        for (guint i = 0; i < l.width; i++)
            l.zeros &= words[i] == 0;
        l.one_run = p.repeats && p.c.p == p.c.end && !outcome_runs_count(&p, 0);
    }
    outcome_runs_clear(&p);
    return l;
}

/* Each run of a stream takes time, and repeated rules may stand for any number of runs. This limit
 * keeps the time linear in the bytes. */
enum { RUNS_PER_BYTE = 16 };

/* Writes entries of equal width as one delta sequence for each word. FALSE: widths differ or are 0,
 * or it would take too long. */
static gboolean put_columns(Writer *w, GBytes *stream, WendBuf *out)
{
    OutcomeRuns p = outcome_runs_of(stream);
    guint64 left = RUNS_PER_BYTE * (guint64)g_bytes_get_size(stream), repeats;
    DeltaSequenceBuilder **columns = NULL;
    const gint64 *words, *steps;
    guint width = 0, n;
    gboolean good = TRUE;
    while (good && outcome_runs_next_arithmetic(&p, &repeats, &words, &n, &steps)) {
        if (!columns) {
            columns = g_new(DeltaSequenceBuilder *, n + 1);
            width = n;
            for (guint i = 0; i < n; i++)
                columns[i] = delta_sequence_builder_new();
        }
        good = n == width && left-- > 0;
        for (guint i = 0; good && i < n; i++)
            delta_sequence_builder_add(columns[i],
                                       (DeltaSequenceRun){words[i], steps ? steps[i] : 0, repeats});
    }
    wend_buf_unsigned(out, 1);
    wend_buf_unsigned(out, width);
    for (guint i = 0; i < width; i++)
        delta_sequence_builder_encode_alike(columns[i], out, w->constant_number);
    g_free(columns);
    outcome_runs_clear(&p);
    return good && width > 0;
}

/* The same stream without arithmetic runs. NULL: it is damaged, or longer than a stream can be. */
static GBytes *without_arithmetic(GBytes *stream)
{
    OutcomeRuns p = outcome_runs_of(stream);
    WendStream flat = {.flat = true};
    WendBuf out = WEND_BUF_INIT;
    guint64 repeats;
    const gint64 *words;
    guint n;
    gboolean good = TRUE;
    while (good && outcome_runs_next_run(&p, &repeats, &words, &n)) {
        good = flat.entries + repeats <= elastic_calls_most;
        if (good && !wend_stream_add_run(&flat, words, n, repeats))
            wend_shortage();
    }
    good = good && !p.c.failed;
    outcome_runs_clear(&p);
    wend_stream_encode(&flat, &out);
    wend_stream_clear(&flat);
    WendCursor c = wend_cursor(out.data, out.len);
    wend_cursor_unsigned(&c); /* entries */
    WendCursor runs = wend_cursor_block(&c);
    if (out.failed)
        wend_shortage();
    GBytes *bytes = good ? g_bytes_new(runs.p, (gsize)(runs.end - runs.p)) : NULL;
    wend_buf_clear(&out);
    return bytes;
}

static gboolean put_content(Writer *w, GBytes *stream);

/* Writes a stream with arithmetic runs: as columns if possible, else without these runs. */
static gboolean put_arithmetic(Writer *w, GBytes *stream)
{
    WendBuf columns = WEND_BUF_INIT;
    gboolean by_columns = put_columns(w, stream, &columns);
    if (by_columns)
        wend_buf_bytes(&w->out, columns.data, columns.len);
    w->failed |= columns.failed;
    wend_buf_clear(&columns);
    if (by_columns)
        return TRUE;
    g_autoptr(GBytes) flat = without_arithmetic(stream);
    return flat && put_content(w, flat);
}

static gboolean put_content(Writer *w, GBytes *stream)
{
    StreamLook first = look_at(stream);
    if (first.one_run && first.zeros) {
        wend_buf_unsigned(&w->out, (guint64)first.width << 1);
        return TRUE;
    }
    WendBuf member_so_far = w->out, columns = WEND_BUF_INIT;
    w->out = (WendBuf)WEND_BUF_INIT;
    gboolean arithmetic, good = put_runs(w, stream, &arithmetic);
    WendBuf runs = w->out;
    w->out = member_so_far;
    if (arithmetic) {
        wend_buf_clear(&runs);
        return put_arithmetic(w, stream);
    }
    /* Columns take at least two numbers, and two bytes for each word. */
    gboolean by_columns = good && !first.one_run && runs.len > 2 + 2 * first.width
                          && put_columns(w, stream, &columns);
    if (by_columns && columns.len < runs.len) {
        wend_buf_bytes(&w->out, columns.data, columns.len);
    } else {
        wend_buf_unsigned(&w->out, (guint64)runs.len << 1 | 1);
        wend_buf_bytes(&w->out, runs.data, runs.len);
    }
    w->failed |= runs.failed || columns.failed;
    wend_buf_clear(&runs);
    wend_buf_clear(&columns);
    return good;
}

static const WendFunction *function_of(const Writer *w, guint shape)
{
    return &wend_functions[g_array_index(w->r->shapes, ShapeRow, shape).words[0] / 2];
}

static gboolean put_outcomes(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    guint64 calls;
    if (!writer_count_calls(w, k, s, NULL, &calls))
        return FALSE;
    g_autofree guint32 *local = g_new0(guint32, w->r->shapes->len + 1); /* index + 1 */
    for (guint o = 0; o < s->sequence->table.n_shapes; o++)
        local[s->main.shapes[o]] = o + 1;
    for (guint shape = 0; shape < w->r->shapes->len; shape++) {
        if (!w->shape_calls[shape])
            continue;
        totals_add(&w->totals, function_of(w, shape), w->shape_calls[shape]);
        const GPtrArray *contents = s->sequence->outcomes[local[shape] - 1].items;
        wend_buf_unsigned(&w->out, contents->len);
        for (guint c = 0; c < contents->len; c++) {
            const Content *item = g_ptr_array_index(contents, c);
            if (contents->len > 1)
                rankset_encode_shortest(&item->ranks, &w->out);
            if (!put_content(w, item->bytes))
                return FALSE;
        }
    }
    return TRUE;
}

gboolean write_outcomes(Writer *w)
{
    return writer_each_sequence(w, put_outcomes);
}

/* Writes a grammar of polls. Rules are put in an order in which each uses only rules before it, and
 * the start rule is the last. */
static gboolean put_poll_grammar(Writer *w, const Content *c, guint n_tables,
                                 const PollTable *const *owners)
{
    WendCursor in = wend_cursor(g_bytes_get_data(c->bytes, NULL), g_bytes_get_size(c->bytes));
    guint64 after = wend_cursor_unsigned(&in), length;
    guint32 lowest = rankset_lowest(&c->ranks);
    guint32 n_terminals = 0;
    for (guint t = 0; t < n_tables; t++)
        if (rankset_contains(&owners[t]->ranks, lowest))
            n_terminals = owners[t]->table.n_terminals;
    RuleRow row;
    if (!rules_read(&row, &in, n_terminals, RULES_PLAIN))
        return FALSE;
    guint n = 0;
    g_autofree guint32 *order = rules_bottom_up(&row, &n);
    g_autofree guint32 *number = g_new0(guint32, row.n_rules);
    gboolean good = order && rules_length(&row, &length);
    if (good) {
        w->totals.polls += length * c->ranks.n;
        wend_buf_unsigned(&w->out, after);
        wend_buf_unsigned(&w->out, n);
    }
    for (guint i = 0; good && i < n; i++) {
        Rule *rule = &row.rules[order[i]];
        number[order[i]] = i;
        for (guint k = 0; k < rule->n; k++)
            if (rule->symbols[k].is_rule)
                rule->symbols[k].id = number[rule->symbols[k].id];
        rule_encode(rule, RULES_PLAIN, &w->out);
    }
    rules_clear(&row);
    return good;
}

static gboolean put_polls(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    (void)k;
    const GPtrArray *tables = s->sequence->poll_tables,
                    *grammars = s->sequence->poll_grammars.items;
    wend_buf_unsigned(&w->out, tables->len);
    if (!tables->len)
        return TRUE;
    w->encoded = TRUE;
    for (guint t = 0; t < tables->len; t++) {
        const PollTable *p = g_ptr_array_index(tables, t);
        rankset_encode_shortest(&p->ranks, &w->out);
        wend_buf_unsigned(&w->out, p->table.n_terminals);
        for (guint x = 0; x < p->table.n_terminals; x++)
            wend_buf_unsigned(&w->out, w->r->numbers[s->polls[t].terminals[x]]);
    }
    wend_buf_unsigned(&w->out, grammars->len);
    for (guint g = 0; g < grammars->len; g++) {
        const Content *c = g_ptr_array_index(grammars, g);
        rankset_encode_shortest(&c->ranks, &w->out);
        if (!put_poll_grammar(w, c, tables->len, (const PollTable *const *)tables->pdata))
            return FALSE;
    }
    return TRUE;
}

gboolean write_polls(Writer *w)
{
    return writer_if_encoded(w, put_polls, NULL);
}

/* -- rules -- */

/* Writes the part "rules" of the archive (docs/format.md). */

/* The kind of a symbol: 0 for a rule, else 1 + the shape of the terminal. */
static guint kind_of(const Writer *w, const WendSymbol *s)
{
    return s->is_rule ? 0 : 1 + g_array_index(w->r->signatures, Signature, s->id).shape;
}

/* The number of a symbol in the archive; of a strided terminal, that of its first terminal. */
static guint32 number_in_archive(const Writer *w, const WendSymbol *s)
{
    return s->is_rule ? s->id : w->r->numbers[s->id];
}

/* Writes a repetition count. A trip count is written as 0 and its number. */
static void put_repeats(guint64 repeats, WendBuf *out)
{
    if (repeats & RULE_TRIP)
        wend_buf_unsigned(out, 0);
    wend_buf_unsigned(out, repeats & ~RULE_TRIP);
}

/* Writes rule I of the recording symbol by symbol.
 *
 * - A rule is encoded as the number of rules between it and rule I.
 * - A terminal is encoded as its distance from *LAST + 1. *LAST is the last terminal that was
 *   encoded, in any rule.
 *
 * Successive calls have terminals with near numbers. So the distances are small, and two classes
 * with similar calls are encoded similarly. */
static void put_rule(const Writer *w, const Rule *rule, guint i, guint32 *last, WendBuf *out)
{
    wend_buf_unsigned(out, rule->n);
    for (guint k = 0; k < rule->n; k++) {
        const WendSymbol *y = &rule->symbols[k];
        guint32 id = number_in_archive(w, y);
        guint64 number = y->is_rule ? i - 1 - id : wend_buf_zigzag((gint64)id - *last - 1);
        gboolean repeated = y->repeats != 1;
        if (!y->is_rule)
            *last = id;
        rule_encode_symbol(number, y->is_rule, repeated, out);
        if (repeated)
            put_repeats(y->repeats, out);
    }
    if (rule->n == 0)
        wend_buf_unsigned(out, 0);
}

/* Encodes the numbers of the symbols of one kind. NEXT is the smallest number that has not
 * occurred. Each number is encoded as its distance below NEXT, so any number of successive new ones
 * are zeros. */
typedef struct {
    DeltaSequenceBuilder *encoded;
    guint32 next;
} Numbers;

/* Adds RUN successive numbers from FIRST on. */
static void add_numbers(Numbers *n, guint32 first, guint32 run)
{
    while (run > 0) {
        guint32 known = first < n->next ? MIN(run, n->next - first) : 0,
                news = first == n->next ? run : 1;
        guint32 count = known ? known : news;
        delta_sequence_builder_add(
            n->encoded, (DeltaSequenceRun){(gint64)n->next - first, known ? -1 : 0, count});
        if (!known)
            n->next = first + count;
        first += count;
        run -= count;
    }
}

/* Writes a rule by the kinds of its symbols: the sequence of kinds, then the numbers of each kind,
 * then the repetition counts. NEXT has, for each kind, the number after all that earlier rules
 * have.
 *
 * This is shorter for long rules, which mostly have new terminals: calls of few shapes whose slots
 * differ in each call, with or without a pattern (1, 2, 3, …), or a loop with a varying trip
 * count. */
static void put_rule_by_kind(Writer *w, const Rule *rule, const guint32 *next, WendBuf *out)
{
    g_autofree guint32 *kind = g_new(guint32, rule->n), *ids = g_new(guint32, rule->n),
                       *places = g_new(guint32, rule->n);
    DeltaSequenceBuilder *kinds = delta_sequence_builder_new(),
                         *repeats = delta_sequence_builder_new();
    for (guint k = 0; k < rule->n; k++) {
        kind[k] = kind_of(w, &rule->symbols[k]);
        ids[k] = number_in_archive(w, &rule->symbols[k]);
        delta_sequence_builder_add(kinds, (DeltaSequenceRun){kind[k], 0, 1});
    }
    wend_buf_unsigned(out, 0);
    wend_buf_unsigned(out, rule->n);
    delta_sequence_builder_encode(kinds, out, NULL);
    order_begin(places, rule->n);
    order_by_keys(places, kind, rule->n);
    for (guint k = 0, n; k < rule->n; k += n) {
        Numbers numbers = {delta_sequence_builder_new(), next[kind[places[k]]]};
        for (n = 0; k + n < rule->n && kind[places[k + n]] == kind[places[k]]; n++)
            add_numbers(&numbers, ids[places[k + n]], 1);
        delta_sequence_builder_encode(numbers.encoded, out, NULL);
        order_by_keys(&places[k], ids, n);
    }
    for (guint k = 0; k < rule->n; k++) {
        guint64 count = rule->symbols[places[k]].repeats;
        gint64 encoded = count & RULE_TRIP ? -1 - (gint64)(count - RULE_TRIP) : (gint64)count;
        delta_sequence_builder_add(repeats, (DeltaSequenceRun){encoded, 0, 1});
    }
    delta_sequence_builder_encode(repeats, out, NULL);
}

/* The least bytes of a rule by kind that has two symbols or more: two numbers and three delta
 * sequences that are one run each. */
enum { BY_KIND_LEAST = 10 };

static void put_shortest_rule(Writer *w, const Rule *rule, guint i, const guint32 *next,
                              guint32 *last)
{
    WendBuf plain = WEND_BUF_INIT, by_kind = WEND_BUF_INIT;
    put_rule(w, rule, i, last, &plain);
    gboolean may = plain.len > BY_KIND_LEAST;
    if (may)
        put_rule_by_kind(w, rule, next, &by_kind);
    writer_shorter(w, &plain, may ? &by_kind : NULL);
}

/* A symbol of an unrolled rule, and its repetition counts (1 each for a strided terminal). */
typedef struct {
    guint kind;
    const WendSymbol *symbol;
    DeltaSequenceBuilder *repeats;
} Going;

static gint compare_going(gconstpointer a, gconstpointer b)
{
    const Going *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->symbol->id < y->symbol->id ? -1 : x->symbol->id > y->symbol->id;
}

static void add_deltas(DeltaSequenceBuilder *b, DeltaSequenceBuilder *ended)
{
    g_autoptr(DeltaSequence) s = delta_sequence_builder_end(ended);
    for (guint64 i = 0; s && i < delta_sequence_length(s);) {
        DeltaSequenceRun run = delta_sequence_run(s, i);
        delta_sequence_builder_add(b, run);
        i += run.count;
    }
}

/* Writes an unrolled rule as put_rule_by_kind does, but without an array of its symbols, of which
 * there are as many as calls. It is encoded while it is walked. SUMMARY has each of its symbols
 * once. */
static void put_unrolled(Writer *w, const UnrolledRule *unrolled, const Rule *summary,
                         const guint32 *next, guint32 *last)
{
    const Unrolling *u = unrolled->sequence->unrolling;
    g_autofree Going *all = g_new0(Going, summary->n + 1);
    /* NUMBERS: kind -> Numbers. PLACES: 2 id + is_rule -> index in ALL. */
    g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL),
                          places = g_hash_table_new(NULL, NULL);
    for (guint k = 0; k < summary->n; k++)
        all[k] = (Going){kind_of(w, &summary->symbols[k]), &summary->symbols[k], NULL};
    qsort(all, summary->n, sizeof *all, compare_going);
    for (guint k = 0; k < summary->n; k++) {
        const WendSymbol *y = all[k].symbol;
        gpointer kind = GUINT_TO_POINTER(all[k].kind);
        all[k].repeats = delta_sequence_builder_new();
        g_hash_table_insert(places, GSIZE_TO_POINTER((gsize)y->id << 1 | (y->is_rule ? 1 : 0)),
                            GUINT_TO_POINTER(k));
        const Numbers none = {
            k > 0 && all[k].kind == all[k - 1].kind ? NULL : delta_sequence_builder_new(),
            next[all[k].kind]};
        if (none.encoded)
            g_hash_table_insert(numbers, kind, g_memdup2(&none, sizeof none));
    }
    DeltaSequenceBuilder *kinds = delta_sequence_builder_new(),
                         *repeats = delta_sequence_builder_new();
    guint64 n = 0;
    UnrolledSymbol s;
    UnrolledWalk walk = unrolled_walk(u, unrolled->rule);
    while (unrolled_walk_next(&walk, &s)) {
        gboolean strided = !s.symbol.is_rule && u->counts[s.symbol.id];
        s.symbol.id = s.symbol.is_rule ? u->number[s.symbol.id]
                                       : unrolled->sequence->main.terminals[s.symbol.id];
        Going *of = &all[GPOINTER_TO_UINT(g_hash_table_lookup(
            places, GSIZE_TO_POINTER((gsize)s.symbol.id << 1 | (s.symbol.is_rule ? 1 : 0))))];
        guint32 first = number_in_archive(w, &s.symbol) + s.first;
        delta_sequence_builder_add(kinds, (DeltaSequenceRun){of->kind, 0, s.run});
        add_numbers(g_hash_table_lookup(numbers, GUINT_TO_POINTER(of->kind)), first, s.run);
        delta_sequence_builder_add(
            of->repeats, (DeltaSequenceRun){strided ? 1 : (gint64)s.symbol.repeats, 0, s.run});
        if (!s.symbol.is_rule)
            *last = first + s.run - 1;
        n += s.run;
    }
    unrolled_walk_clear(&walk);
    wend_buf_unsigned(&w->out, 0);
    wend_buf_unsigned(&w->out, n);
    delta_sequence_builder_encode(kinds, &w->out, NULL);
    for (guint k = 0; k < summary->n; k++) {
        if (k == 0 || all[k].kind != all[k - 1].kind) {
            const Numbers *of_kind = g_hash_table_lookup(numbers, GUINT_TO_POINTER(all[k].kind));
            delta_sequence_builder_encode(of_kind->encoded, &w->out, NULL);
        }
        add_deltas(repeats, all[k].repeats);
    }
    delta_sequence_builder_encode(repeats, &w->out, NULL);
}

void write_rules(Writer *w)
{
    g_autofree guint32 *next = g_new0(guint32, w->r->shapes->len + 1);
    guint32 last = 0;
    for (guint i = w->r->signatures->len; i-- > 0;)
        next[1 + g_array_index(w->r->signatures, Signature, i).shape] = w->r->numbers[i];
    wend_buf_unsigned(&w->out, w->r->rules->len);
    for (guint i = 0; i < w->r->rules->len; i++) {
        const Rule *rule = &g_array_index(w->r->rules, Rule, i);
        const UnrolledRule *unrolled = g_hash_table_lookup(w->r->unrolled, GUINT_TO_POINTER(i));
        if (unrolled)
            put_unrolled(w, unrolled, rule, next, &last);
        else
            put_shortest_rule(w, rule, i, next, &last);
        for (guint k = 0; k < rule->n; k++) {
            const WendSymbol *y = &rule->symbols[k];
            guint32 *after = &next[kind_of(w, y)];
            *after = MAX(*after, number_in_archive(w, y)
                                     + (y->is_rule ? 1
                                                   : signature_count(&g_array_index(
                                                       w->r->signatures, Signature, y->id))));
        }
    }
}
