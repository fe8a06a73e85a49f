/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence-write.c: the parts that go with the sequences: outcomes, polls; timing: timing-write.c. */
#include <string.h>

#include "base/pairs.h"
#include "base/shortage.h"
#include "record/elastic.h"
#include "record/functions.h"
#include "record/pieces.h"
#include "record/stream.h"
#include "write-private.h"

static gint ascending(gconstpointer a, gconstpointer b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return x < y ? -1 : x > y;
}

static gint descending(gconstpointer a, gconstpointer b)
{
    return ascending(b, a);
}

/* w->rules are those that START needs: users come after what they use, and so before it here. All
 * rules of all classes would be looked at for each sequence otherwise. */
static void find_rules(Writer *w, guint32 start)
{
    g_array_set_size(w->rules, 0);
    g_array_append_val(w->rules, start);
    w->rule_times[start] = 1;
    for (guint at = 0; at < w->rules->len; at++) {
        guint32 rule = g_array_index(w->rules, guint32, at);
        const Rule *body = &g_array_index(w->r->rules, Rule, rule);
        for (guint k = 0; k < body->n; k++) {
            guint32 id = body->symbols[k].id;
            if (!body->symbols[k].is_rule || w->rule_times[id]) continue;
            w->rule_times[id] = 1;
            g_array_append_val(w->rules, id);
        }
    }
    for (guint i = 0; i < w->rules->len; i++)
        w->rule_times[g_array_index(w->rules, guint32, i)] = 0;
    g_array_sort(w->rules, descending);
}

/* Adds how often each terminal and shape occurs in the sequence that w->rules are of, of N_RANKS
 * ranks that have these trip counts. */
static gboolean count_variant(Writer *w, const guint64 *trips, guint32 n_ranks, guint64 *total)
{
    guint64 length = 0;
    w->rule_times[g_array_index(w->rules, guint32, 0)] = n_ranks;
    for (guint i = 0; i < w->rules->len; i++) {
        guint32 rule = g_array_index(w->rules, guint32, i);
        const Rule *body = &g_array_index(w->r->rules, Rule, rule);
        guint64 used = w->rule_times[rule];
        w->rule_times[rule] = 0;
        for (guint k = 0; used && k < body->n; k++) {
            const WendSymbol *y = &body->symbols[k];
            guint64 exponent =
                y->exponent & RULE_TRIP ? trips[y->exponent - RULE_TRIP] : y->exponent;
            guint64 times, *sum = y->is_rule ? &w->rule_times[y->id] : &w->calls[y->id];
            gboolean first = *sum == 0;
            if (__builtin_mul_overflow(used, exponent, &times)
                || __builtin_add_overflow(*sum, times, sum))
                return FALSE;
            if (y->is_rule || times == 0) continue;
            if (first) g_array_append_vals(w->called, (const guint32[]){y->id}, 1);
            w->shape_calls[g_array_index(w->r->signatures, Signature, y->id).shape] += times;
            if (__builtin_add_overflow(length, times, &length) || length > G_MAXINT64 / 2)
                return FALSE;
        }
    }
    return !__builtin_add_overflow(*total, length, total);
}

gboolean writer_count_calls(Writer *w, const RecordedClass *k, const RecordedSequence *s,
                            const Variant *variant, guint64 *total)
{
    gboolean good = TRUE;
    for (guint i = 0; i < w->called->len; i++)
        w->calls[g_array_index(w->called, guint32, i)] = 0;
    g_array_set_size(w->called, 0);
    memset(w->shape_calls, 0, (w->r->shapes->len + 1) * sizeof(guint64));
    find_rules(w, s->rule);
    *total = 0;
    if (variant || !k->variants)
        good = count_variant(w, variant ? variant->trips : NULL,
                             variant ? variant->ranks.n : k->class->ranks.n, total);
    for (guint i = 0; good && !variant && k->variants && i < k->variants->n; i++) {
        const Variant *v = &k->variants->variants[i];
        good = count_variant(w, v->trips, v->ranks.n, total);
    }
    g_array_sort(w->called, ascending);
    return good;
}

static Pieces pieces_of(GBytes *stream)
{
    Pieces p;
    pieces_init_part(&p, g_bytes_get_data(stream, NULL), g_bytes_get_size(stream));
    return p;
}

/* An archive has no rises: RISES, there are some, and not all has been put. */
static gboolean put_pieces(Writer *w, GBytes *stream, gboolean *rises)
{
    Pieces p = pieces_of(stream);
    *rises = FALSE;
    while (!*rises && pieces_next(&p)) {
        wend_buf_unsigned(&w->out, p.repeats);
        if (!p.repeats) wend_buf_unsigned(&w->out, pieces_entries(&p));
        for (guint e = 0; e < pieces_entries(&p); e++) {
            guint n;
            const gint64 *words = pieces_entry(&p, e, &n);
            *rises |= pieces_count(&p, e) > 0;
            wend_buf_unsigned(&w->out, n);
            for (guint i = 0; i < n; i++) writer_word(w, words[i]);
        }
        if (!p.repeats) wend_buf_unsigned(&w->out, p.rules.n_rules);
        for (guint i = 0; i < p.rules.n_rules; i++) rule_encode(&p.rules.rules[i], RULES_PLAIN, &w->out);
    }
    gboolean good = !p.c.failed;
    pieces_clear(&p);
    return good;
}

/* What a stream is at first sight. */
typedef struct { guint width; /* of its first entry */ gboolean one_run, zeros; /* in it */ } Look;

static Look look_at(GBytes *stream)
{
    Pieces p = pieces_of(stream);
    Look l = {0, TRUE, TRUE};
    if (pieces_next(&p)) {
        const gint64 *words = pieces_entry(&p, 0, &l.width);
        for (guint i = 0; i < l.width; i++) l.zeros &= words[i] == 0;
        l.one_run = p.repeats && p.c.p == p.c.end && !pieces_count(&p, 0);
    }
    pieces_clear(&p);
    return l;
}

/* To go through a stream takes time for each run, and what repeats itself may be any number of them: so time stays linear in the bytes. */
enum { RUNS_PER_BYTE = 16 };

/* Entries of one width can be told word by word, as series. FALSE: they are not, or it would take too long. */
static gboolean put_columns(Writer *w, GBytes *stream, WendBuf *out)
{
    Pieces p = pieces_of(stream);
    guint64 left = RUNS_PER_BYTE * (guint64)g_bytes_get_size(stream), repeats;
    SeriesBuilder **columns = NULL;
    const gint64 *words, *steps;
    guint width = 0, n;
    gboolean good = TRUE;
    while (good && pieces_next_rise(&p, &repeats, &words, &n, &steps)) {
        if (!columns) {
            columns = g_new(SeriesBuilder *, n + 1);
            width = n;
            for (guint i = 0; i < n; i++) columns[i] = series_builder_new();
        }
        good = n == width && left-- > 0;
        for (guint i = 0; good && i < n; i++) series_builder_add(columns[i], (SeriesRun){words[i], steps ? steps[i] : 0, repeats});
    }
    wend_buf_unsigned(out, 1);
    wend_buf_unsigned(out, width);
    for (guint i = 0; i < width; i++) series_builder_encode(columns[i], out, w->constant_number);
    g_free(columns);
    pieces_clear(&p);
    return good && width > 0;
}

/* The same stream, recorded without rises. NULL: damaged, or longer than any. */
static GBytes *without_rises(GBytes *stream)
{
    Pieces p = pieces_of(stream);
    WendStream flat = {.flat = true};
    WendBuf out = WEND_BUF_INIT;
    guint64 repeats;
    const gint64 *words;
    guint n;
    gboolean good = TRUE;
    while (good && pieces_next_run(&p, &repeats, &words, &n)) {
        good = flat.entries + repeats <= elastic_calls_most;
        if (good && !wend_stream_add_run(&flat, words, n, repeats)) wend_shortage();
    }
    good = good && !p.c.failed;
    pieces_clear(&p);
    wend_stream_encode(&flat, &out);
    wend_stream_clear(&flat);
    WendCursor c = wend_cursor(out.data, out.len);
    wend_read_unsigned(&c); /* entries */
    WendCursor pieces = wend_read_block(&c);
    if (out.failed) wend_shortage();
    GBytes *bytes = good ? g_bytes_new(pieces.p, (gsize)(pieces.end - pieces.p)) : NULL;
    wend_buf_clear(&out);
    return bytes;
}

static gboolean put_content(Writer *w, GBytes *stream);

/* As columns, if that can be. */
static gboolean put_rises(Writer *w, GBytes *stream)
{
    WendBuf columns = WEND_BUF_INIT;
    gboolean by_columns = put_columns(w, stream, &columns);
    if (by_columns) wend_buf_bytes(&w->out, columns.data, columns.len);
    w->failed |= columns.failed;
    wend_buf_clear(&columns);
    if (by_columns) return TRUE;
    g_autoptr(GBytes) flat = without_rises(stream);
    return flat && put_content(w, flat);
}

static gboolean put_content(Writer *w, GBytes *stream)
{
    Look first = look_at(stream);
    if (first.one_run && first.zeros) {
        wend_buf_unsigned(&w->out, (guint64)first.width << 1);
        return TRUE;
    }
    WendBuf member_so_far = w->out, columns = WEND_BUF_INIT;
    w->out = (WendBuf)WEND_BUF_INIT;
    gboolean rises, good = put_pieces(w, stream, &rises);
    WendBuf pieces = w->out;
    w->out = member_so_far;
    if (rises) {
        wend_buf_clear(&pieces);
        return put_rises(w, stream);
    }
    /* At least these are two numbers and, for each word, what a series takes. */
    gboolean by_columns = good && !first.one_run && pieces.len > 2 + 2 * first.width && put_columns(w, stream, &columns);
    if (by_columns && columns.len < pieces.len) {
        wend_buf_bytes(&w->out, columns.data, columns.len);
    } else {
        wend_buf_unsigned(&w->out, (guint64)pieces.len << 1 | 1);
        wend_buf_bytes(&w->out, pieces.data, pieces.len);
    }
    w->failed |= pieces.failed || columns.failed;
    wend_buf_clear(&pieces);
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
    if (!writer_count_calls(w, k, s, NULL, &calls)) return FALSE;
    g_autofree guint32 *local = g_new0(guint32, w->r->shapes->len + 1); /* + 1 */
    for (guint o = 0; o < s->sequence->table.n_shapes; o++) local[s->main.shapes[o]] = o + 1;
    for (guint shape = 0; shape < w->r->shapes->len; shape++) {
        if (!w->shape_calls[shape]) continue;
        totals_add(&w->totals, function_of(w, shape), w->shape_calls[shape]);
        const GPtrArray *contents = s->sequence->outcomes[local[shape] - 1].items;
        wend_buf_unsigned(&w->out, contents->len);
        for (guint c = 0; c < contents->len; c++) {
            const Content *item = g_ptr_array_index(contents, c);
            if (contents->len > 1) rankset_encode_shortest(&item->ranks, &w->out);
            if (!put_content(w, item->bytes)) return FALSE;
        }
    }
    return TRUE;
}

gboolean write_outcomes(Writer *w)
{
    return writer_each_sequence(w, put_outcomes);
}

gboolean writer_if_told(Writer *w, SequenceFunction function, void (*end)(Writer *w))
{
    gsize before = w->out.len;
    w->told = FALSE;
    wend_buf_unsigned(&w->out, 1);
    if (!writer_each_sequence(w, function)) return FALSE;
    if (end) end(w);
    if (w->told || w->out.failed) return TRUE;
    w->out.len = before;
    wend_buf_unsigned(&w->out, 0);
    return TRUE;
}

/* The grammar's rules in an order in which each uses only rules before it; the last is the start. */
static gboolean put_poll_grammar(Writer *w, const Content *c, guint n_tables, const PollTable *const *owners)
{
    WendCursor in = wend_cursor(g_bytes_get_data(c->bytes, NULL), g_bytes_get_size(c->bytes));
    guint64 after = wend_read_unsigned(&in), length;
    guint32 lowest = rankset_lowest(&c->ranks);
    guint32 n_terminals = 0;
    for (guint t = 0; t < n_tables; t++)
        if (rankset_contains(&owners[t]->ranks, lowest)) n_terminals = owners[t]->table.n_terminals;
    RuleRow row;
    if (!rules_read(&row, &in, n_terminals, RULES_PLAIN)) return FALSE;
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
            if (rule->symbols[k].is_rule) rule->symbols[k].id = number[rule->symbols[k].id];
        rule_encode(rule, RULES_PLAIN, &w->out);
    }
    rules_clear(&row);
    return good;
}

static gboolean put_polls(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    (void)k;
    const GPtrArray *tables = s->sequence->poll_tables, *grammars = s->sequence->poll_grammars.items;
    wend_buf_unsigned(&w->out, tables->len);
    if (!tables->len) return TRUE;
    w->told = TRUE;
    for (guint t = 0; t < tables->len; t++) {
        const PollTable *p = g_ptr_array_index(tables, t);
        rankset_encode_shortest(&p->ranks, &w->out);
        wend_buf_unsigned(&w->out, p->table.n_terminals);
        for (guint x = 0; x < p->table.n_terminals; x++) wend_buf_unsigned(&w->out, w->r->numbers[s->polls[t].terminals[x]]);
    }
    wend_buf_unsigned(&w->out, grammars->len);
    for (guint g = 0; g < grammars->len; g++) {
        const Content *c = g_ptr_array_index(grammars, g);
        rankset_encode_shortest(&c->ranks, &w->out);
        if (!put_poll_grammar(w, c, tables->len, (const PollTable *const *)tables->pdata)) return FALSE;
    }
    return TRUE;
}

gboolean write_polls(Writer *w)
{
    return writer_if_told(w, put_polls, NULL);
}
