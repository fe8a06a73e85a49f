/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence-write.c: writes the part "rules", and those with the outcomes and the polls of each
 * sequence. Another part with data of each sequence is in timing-write.c. */
#include <string.h>

#include "base/memory.h"
#include "base/containers.h"
#include "record/elastic.h"
#include "record/outcome-runs.h"
#include "record/record.h"
#include "write-private.h"

static OutcomeRuns outcome_runs_of(Bytes *stream)
{
    OutcomeRuns p;
    outcome_runs_init_part(&p, stream->data, stream->n);
    return p;
}

/* Writes a stream of outcomes as runs. Sets *ARITHMETIC if the stream has arithmetic runs, which
 * the archive does not have; then the output is incomplete. */
static bool put_runs(Writer *w, Bytes *stream, bool *arithmetic)
{
    OutcomeRuns p = outcome_runs_of(stream);
    *arithmetic = false;
    while (!*arithmetic && outcome_runs_next(&p)) {
        buf_unsigned(&w->out, p.repeats);
        if (!p.repeats)
            buf_unsigned(&w->out, outcome_runs_entries(&p));
        for (uint32_t e = 0; e < outcome_runs_entries(&p); e++) {
            uint32_t n;
            const int64_t *words = outcome_runs_entry(&p, e, &n);
            *arithmetic |= outcome_runs_count(&p, e) > 0;
            buf_unsigned(&w->out, n);
            for (uint32_t i = 0; i < n; i++)
                writer_word(w, words[i]);
        }
        if (!p.repeats)
            buf_unsigned(&w->out, p.rules.n_rules);
        for (uint32_t i = 0; i < p.rules.n_rules; i++)
            rule_encode(&p.rules.rules[i], RULES_PLAIN, &w->out);
    }
    bool good = !p.c.failed;
    outcome_runs_clear(&p);
    return good;
}

/* The first run of a stream. */
typedef struct {
    uint32_t width;      /* words of its entry */
    bool one_run, zeros; /* it is the only run; all words of its entry are 0 */
} StreamLook;

static StreamLook look_at(Bytes *stream)
{
    OutcomeRuns p = outcome_runs_of(stream);
    StreamLook l = {0, true, true};
    if (outcome_runs_next(&p)) {
        const int64_t *words = outcome_runs_entry(&p, 0, &l.width);
        for (uint32_t i = 0; i < l.width; i++)
            l.zeros &= words[i] == 0;
        l.one_run = p.repeats && p.c.p == p.c.end && !outcome_runs_count(&p, 0);
    }
    outcome_runs_clear(&p);
    return l;
}

/* Each run of a stream takes time, and repeated rules may stand for any number of runs. This limit
 * keeps the time linear in the bytes. */
enum { RUNS_PER_BYTE = 16 };

/* Writes entries of equal width as one delta sequence for each word. false: widths differ or are 0,
 * or it would take too long. */
static bool put_columns(Writer *w, Bytes *stream, WendBuf *out)
{
    OutcomeRuns p = outcome_runs_of(stream);
    uint64_t left = RUNS_PER_BYTE * (uint64_t)stream->n, repeats;
    DeltaSequenceBuilder **columns = NULL;
    const int64_t *words, *steps;
    uint32_t width = 0, n;
    bool good = true;
    while (good && outcome_runs_next_arithmetic(&p, &repeats, &words, &n, &steps)) {
        if (!columns) {
            columns = NEW(DeltaSequenceBuilder *, n + 1);
            width = n;
            for (uint32_t i = 0; i < n; i++)
                columns[i] = delta_sequence_builder_new();
        }
        good = n == width && left-- > 0;
        for (uint32_t i = 0; good && i < n; i++)
            delta_sequence_builder_add(columns[i],
                                       (DeltaSequenceRun){words[i], steps ? steps[i] : 0, repeats});
    }
    buf_unsigned(out, 1);
    buf_unsigned(out, width);
    for (uint32_t i = 0; i < width; i++)
        delta_sequence_builder_encode_alike(columns[i], out, w->constant_number);
    memory_free(columns);
    outcome_runs_clear(&p);
    return good && width > 0;
}

/* The same stream without arithmetic runs. NULL: it is damaged, or longer than a stream can be. */
static Bytes *without_arithmetic(Bytes *stream)
{
    OutcomeRuns p = outcome_runs_of(stream);
    WendStream flat = {.flat = true};
    WendBuf out = WEND_BUF_INIT;
    uint64_t repeats;
    const int64_t *words;
    uint32_t n;
    bool good = true;
    while (good && outcome_runs_next_run(&p, &repeats, &words, &n)) {
        good = flat.entries + repeats <= elastic_calls_most;
        if (good && !stream_add_run(&flat, words, n, repeats))
            memory_short();
    }
    good = good && !p.c.failed;
    outcome_runs_clear(&p);
    stream_encode(&flat, &out);
    stream_clear(&flat);
    WendCursor c = cursor_of(out.data, out.len);
    cursor_unsigned(&c); /* entries */
    WendCursor runs = cursor_block(&c);
    Bytes *bytes = good ? bytes_new(runs.p, (size_t)(runs.end - runs.p)) : NULL;
    buf_clear(&out);
    return bytes;
}

static bool put_content(Writer *w, Bytes *stream);

/* Writes a stream with arithmetic runs: as columns if possible, else without these runs. */
static bool put_arithmetic(Writer *w, Bytes *stream)
{
    WendBuf columns = WEND_BUF_INIT;
    bool by_columns = put_columns(w, stream, &columns);
    if (by_columns)
        buf_bytes(&w->out, columns.data, columns.len);
    buf_clear(&columns);
    if (by_columns)
        return true;
    AUTO(Bytes) flat = without_arithmetic(stream);
    return flat && put_content(w, flat);
}

static bool put_content(Writer *w, Bytes *stream)
{
    StreamLook first = look_at(stream);
    if (first.one_run && first.zeros) {
        buf_unsigned(&w->out, (uint64_t)first.width << 1);
        return true;
    }
    WendBuf member_so_far = w->out, columns = WEND_BUF_INIT;
    w->out = (WendBuf)WEND_BUF_INIT;
    bool arithmetic, good = put_runs(w, stream, &arithmetic);
    WendBuf runs = w->out;
    w->out = member_so_far;
    if (arithmetic) {
        buf_clear(&runs);
        return put_arithmetic(w, stream);
    }
    /* Columns take at least two numbers, and two bytes for each word. */
    bool by_columns = good && !first.one_run && runs.len > 2 + 2 * first.width
                      && put_columns(w, stream, &columns);
    if (by_columns && columns.len < runs.len) {
        buf_bytes(&w->out, columns.data, columns.len);
    } else {
        buf_unsigned(&w->out, (uint64_t)runs.len << 1 | 1);
        buf_bytes(&w->out, runs.data, runs.len);
    }
    buf_clear(&runs);
    buf_clear(&columns);
    return good;
}

static const WendFunction *function_of(const Writer *w, uint32_t shape)
{
    return &mpi_functions[VECTOR_AT(w->r->shapes, ShapeRow, shape).words[0] / 2];
}

static bool put_outcomes(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    uint64_t calls;
    if (!writer_count_calls(w, k, s, NULL, &calls))
        return false;
    AUTOFREE uint32_t *local = NEW0(uint32_t, w->r->shapes->len + 1); /* index + 1 */
    for (uint32_t o = 0; o < s->sequence->table.n_shapes; o++)
        local[s->main.shapes[o]] = o + 1;
    for (uint32_t shape = 0; shape < w->r->shapes->len; shape++) {
        if (!w->shape_calls[shape])
            continue;
        totals_add(&w->totals, function_of(w, shape), w->shape_calls[shape]);
        const Vector *contents = s->sequence->outcomes[local[shape] - 1].items;
        buf_unsigned(&w->out, contents->len);
        for (uint32_t c = 0; c < contents->len; c++) {
            const Content *item = VECTOR_POINTER(contents, c);
            if (contents->len > 1)
                rankset_encode_shortest(&item->ranks, &w->out);
            if (!put_content(w, item->bytes))
                return false;
        }
    }
    return true;
}

bool write_outcomes(Writer *w)
{
    return writer_each_sequence(w, put_outcomes);
}

/* Writes a grammar of polls. Rules are put in an order in which each uses only rules before it, and
 * the start rule is the last. */
static bool put_poll_grammar(Writer *w, const Content *c, uint32_t n_tables,
                             const PollTable *const *owners)
{
    WendCursor in = cursor_of(c->bytes->data, c->bytes->n);
    uint64_t after = cursor_unsigned(&in), length;
    uint32_t lowest = rankset_lowest(&c->ranks);
    uint32_t n_terminals = 0;
    for (uint32_t t = 0; t < n_tables; t++)
        if (rankset_contains(&owners[t]->ranks, lowest))
            n_terminals = owners[t]->table.n_terminals;
    RuleRow row;
    if (!rules_read(&row, &in, n_terminals, RULES_PLAIN))
        return false;
    uint32_t n = 0;
    AUTOFREE uint32_t *order = rules_bottom_up(&row, &n);
    AUTOFREE uint32_t *number = NEW0(uint32_t, row.n_rules);
    bool good = order && rules_length(&row, &length);
    if (good) {
        w->totals.polls += length * c->ranks.n;
        buf_unsigned(&w->out, after);
        buf_unsigned(&w->out, n);
    }
    for (uint32_t i = 0; good && i < n; i++) {
        Rule *rule = &row.rules[order[i]];
        number[order[i]] = i;
        for (uint32_t k = 0; k < rule->n; k++)
            if (rule->symbols[k].is_rule)
                rule->symbols[k].id = number[rule->symbols[k].id];
        rule_encode(rule, RULES_PLAIN, &w->out);
    }
    rules_clear(&row);
    return good;
}

static bool put_polls(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    (void)k;
    const Vector *tables = s->sequence->poll_tables, *grammars = s->sequence->poll_grammars.items;
    buf_unsigned(&w->out, tables->len);
    if (!tables->len)
        return true;
    w->encoded = true;
    for (uint32_t t = 0; t < tables->len; t++) {
        const PollTable *p = VECTOR_POINTER(tables, t);
        rankset_encode_shortest(&p->ranks, &w->out);
        buf_unsigned(&w->out, p->table.n_terminals);
        for (uint32_t x = 0; x < p->table.n_terminals; x++)
            buf_unsigned(&w->out, s->polls[t].terminals[x]);
    }
    buf_unsigned(&w->out, grammars->len);
    for (uint32_t g = 0; g < grammars->len; g++) {
        const Content *c = VECTOR_POINTER(grammars, g);
        rankset_encode_shortest(&c->ranks, &w->out);
        if (!put_poll_grammar(w, c, tables->len, (const PollTable *const *)tables->data))
            return false;
    }
    return true;
}

bool write_polls(Writer *w)
{
    return writer_if_encoded(w, put_polls, NULL);
}

/* -- rules -- */

/* Writes the part "rules" of the archive (docs/format.md). */

/* The kind of a symbol: 0 for a rule, else 1 + the shape of the terminal. */
static uint32_t kind_of(const Writer *w, const WendSymbol *s)
{
    return s->is_rule ? 0 : 1 + VECTOR_AT(w->r->signatures, Signature, s->id).shape;
}

/* Writes a repetition count. A trip count is written as 0 and its number. */
static void put_repeats(uint64_t repeats, WendBuf *out)
{
    if (repeats & RULE_TRIP)
        buf_unsigned(out, 0);
    buf_unsigned(out, repeats & ~RULE_TRIP);
}

/* Writes rule I of the recording symbol by symbol.
 *
 * - A rule is encoded as the number of rules between it and rule I.
 * - A terminal is encoded as its distance from *LAST + 1. *LAST is the last terminal that was
 *   encoded, in any rule.
 *
 * Successive calls have terminals with near numbers. So the distances are small, and two classes
 * with similar calls are encoded similarly. */
static void put_rule(const Rule *rule, uint32_t i, uint32_t *last, WendBuf *out)
{
    buf_unsigned(out, rule->n);
    for (uint32_t k = 0; k < rule->n; k++) {
        const WendSymbol *y = &rule->symbols[k];
        uint64_t number = y->is_rule ? i - 1 - y->id : buf_zigzag((int64_t)y->id - *last - 1);
        bool repeated = y->repeats != 1;
        if (!y->is_rule)
            *last = y->id;
        rule_encode_symbol(number, y->is_rule, repeated, out);
        if (repeated)
            put_repeats(y->repeats, out);
    }
    if (rule->n == 0)
        buf_unsigned(out, 0);
}

/* Encodes the numbers of the symbols of one kind. NEXT is the smallest number that has not
 * occurred. Each number is encoded as its distance below NEXT, so any number of successive new ones
 * are zeros. */
typedef struct {
    DeltaSequenceBuilder *encoded;
    uint32_t next;
} Numbers;

static void add_number(Numbers *n, uint32_t number)
{
    delta_sequence_builder_add(n->encoded, (DeltaSequenceRun){(int64_t)n->next - number, 0, 1});
    n->next = MAX(n->next, number + 1);
}

/* Writes a rule by the kinds of its symbols: the sequence of kinds, then the numbers of each kind,
 * then the repetition counts. NEXT has, for each kind, the number after all that earlier rules
 * have.
 *
 * This is shorter for long rules, which mostly have new terminals: calls of few shapes whose slots
 * differ in each call, with or without a pattern (1, 2, 3, …), or a loop with a varying trip
 * count. */
static void put_rule_by_kind(Writer *w, const Rule *rule, const uint32_t *next, WendBuf *out)
{
    AUTOFREE uint32_t *kind = NEW(uint32_t, rule->n), *ids = NEW(uint32_t, rule->n),
                      *places = NEW(uint32_t, rule->n);
    DeltaSequenceBuilder *kinds = delta_sequence_builder_new(),
                         *repeats = delta_sequence_builder_new();
    for (uint32_t k = 0; k < rule->n; k++) {
        kind[k] = kind_of(w, &rule->symbols[k]);
        ids[k] = rule->symbols[k].id;
        delta_sequence_builder_add(kinds, (DeltaSequenceRun){kind[k], 0, 1});
    }
    buf_unsigned(out, 0);
    buf_unsigned(out, rule->n);
    delta_sequence_builder_encode(kinds, out, NULL);
    vector_indices(places, rule->n);
    vector_sort_indices(places, kind, rule->n);
    for (uint32_t k = 0, n; k < rule->n; k += n) {
        Numbers numbers = {delta_sequence_builder_new(), next[kind[places[k]]]};
        for (n = 0; k + n < rule->n && kind[places[k + n]] == kind[places[k]]; n++)
            add_number(&numbers, ids[places[k + n]]);
        delta_sequence_builder_encode(numbers.encoded, out, NULL);
        vector_sort_indices(&places[k], ids, n);
    }
    for (uint32_t k = 0; k < rule->n; k++) {
        uint64_t count = rule->symbols[places[k]].repeats;
        int64_t encoded = count & RULE_TRIP ? -1 - (int64_t)(count - RULE_TRIP) : (int64_t)count;
        delta_sequence_builder_add(repeats, (DeltaSequenceRun){encoded, 0, 1});
    }
    delta_sequence_builder_encode(repeats, out, NULL);
}

/* The least bytes of a rule by kind that has two symbols or more: two numbers and three delta
 * sequences that are one run each. */
enum { BY_KIND_LEAST = 10 };

static void put_shortest_rule(Writer *w, const Rule *rule, uint32_t i, const uint32_t *next,
                              uint32_t *last)
{
    WendBuf plain = WEND_BUF_INIT, by_kind = WEND_BUF_INIT;
    put_rule(rule, i, last, &plain);
    bool may = plain.len > BY_KIND_LEAST;
    if (may)
        put_rule_by_kind(w, rule, next, &by_kind);
    writer_shorter(w, &plain, may ? &by_kind : NULL);
}

void write_rules(Writer *w)
{
    AUTOFREE uint32_t *next = NEW0(uint32_t, w->r->shapes->len + 1);
    uint32_t last = 0;
    for (uint32_t i = w->r->signatures->len; i-- > 0;)
        next[1 + VECTOR_AT(w->r->signatures, Signature, i).shape] = i;
    buf_unsigned(&w->out, w->r->rules->len);
    for (uint32_t i = 0; i < w->r->rules->len; i++) {
        const Rule *rule = &VECTOR_AT(w->r->rules, Rule, i);
        put_shortest_rule(w, rule, i, next, &last);
        for (uint32_t k = 0; k < rule->n; k++) {
            const WendSymbol *y = &rule->symbols[k];
            uint32_t *after = &next[kind_of(w, y)];
            *after = MAX(*after, y->id + 1);
        }
    }
}
