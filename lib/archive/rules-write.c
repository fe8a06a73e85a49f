/* SPDX-License-Identifier: BSD-3-Clause */
/* rules-write.c: writes the part "rules" of the archive (docs/format.md). */
#include "base/order.h"
#include "write-private.h"

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
