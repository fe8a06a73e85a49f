/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence-write.c: writes the parts with the outcomes and the polls of each sequence. The third of
 * these parts is in timing-write.c. */
#include <string.h>

#include "base/pairs.h"
#include "base/shortage.h"
#include "record/elastic.h"
#include "record/record.h"
#include "record/outcome-runs.h"
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
