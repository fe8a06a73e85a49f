/* sequence-write.c: the parts that go with the sequences: outcomes, polls, timing. */
#include <string.h>

#include "elastic.h"
#include "functions.h"
#include "pairs.h"
#include "pieces.h"
#include "stream.h"
#include "timing-rows.h"
#include "write-private.h"

/* Adds how often each terminal and shape occurs in the sequence of N_RANKS ranks that have these trip counts. RULE_TIMES: scratch. */
static gboolean count_variant(Writer *w, const RecordedSequence *s, const guint64 *trips, guint32 n_ranks, guint64 *rule_times, guint64 *total)
{
    guint64 length = 0;
    memset(rule_times, 0, (s->rule + 1) * sizeof *rule_times);
    rule_times[s->rule] = n_ranks;
    for (guint rule = s->rule + 1; rule-- > 0;) { /* users come after what they use */
        const Rule *body = &g_array_index(w->r->rules, Rule, rule);
        if (!rule_times[rule]) continue;
        for (guint k = 0; k < body->n; k++) {
            const WendSymbol *y = &body->symbols[k];
            guint64 exponent = y->exponent & RULE_TRIP ? trips[y->exponent - RULE_TRIP] : y->exponent, times, *sum = y->is_rule ? &rule_times[y->id] : &w->calls[y->id];
            if (__builtin_mul_overflow(rule_times[rule], exponent, &times) || __builtin_add_overflow(*sum, times, sum)) return FALSE;
            if (y->is_rule) continue;
            w->shape_calls[g_array_index(w->r->signatures, Signature, y->id).shape] += times;
            if (__builtin_add_overflow(length, times, &length) || length > G_MAXINT64 / 2) return FALSE;
        }
    }
    return !__builtin_add_overflow(*total, length, total);
}

/* How often each terminal and shape occurs in a sequence, over all ranks, or all of one variant (NULL: all): what follows is in the order of those that occur. */
static gboolean count_calls(Writer *w, const RecordedClass *k, const RecordedSequence *s, const Variant *variant, guint64 *total)
{
    memset(w->calls, 0, (w->r->signatures->len + 1) * sizeof(guint64));
    memset(w->shape_calls, 0, (w->r->shapes->len + 1) * sizeof(guint64));
    g_autofree guint64 *rule_times = g_new(guint64, s->rule + 1);
    *total = 0;
    if (variant) return count_variant(w, s, variant->trips, variant->ranks.n, rule_times, total);
    if (!k->variants) return count_variant(w, s, NULL, k->class->ranks.n, rule_times, total);
    for (guint i = 0; i < k->variants->n; i++)
        if (!count_variant(w, s, k->variants->variants[i].trips, k->variants->variants[i].ranks.n, rule_times, total)) return FALSE;
    return TRUE;
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
        if (good && !wend_stream_add_run(&flat, words, n, repeats)) g_error("out of memory while merging");
    }
    good = good && !p.c.failed;
    pieces_clear(&p);
    wend_stream_encode(&flat, &out);
    wend_stream_clear(&flat);
    WendCursor c = wend_cursor(out.data, out.len);
    wend_read_unsigned(&c); /* entries */
    WendCursor pieces = wend_read_block(&c);
    if (out.failed) g_error("out of memory while merging");
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

static gboolean put_outcomes(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    guint64 calls;
    if (!count_calls(w, k, s, NULL, &calls)) return FALSE;
    w->total_calls += calls;
    g_autofree guint32 *local = g_new0(guint32, w->r->shapes->len + 1); /* + 1 */
    for (guint o = 0; o < s->sequence->table.n_shapes; o++) local[s->main.shapes[o]] = o + 1;
    for (guint shape = 0; shape < w->r->shapes->len; shape++) {
        if (!w->shape_calls[shape]) continue;
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

/* 1 and a part, or 0 where no sequence had something to tell (w->told). END, if not NULL, adds what comes behind all sequences. */
static gboolean write_if_told(Writer *w, SequenceFunction function, void (*end)(Writer *w))
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
        w->total_polls += length * c->ranks.n;
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
    return write_if_told(w, put_polls, NULL);
}

/* -- timing -- */

/* A row of times, and how many calls it should be of. */
typedef struct { TimingSum sum; guint64 expected; } TimingRow;

/* Rows of durations, or of intervals. */
typedef struct TimingTable { GArray *rows; SharedRows shared; SeriesBuilder *numbers; } TimingTable;

static TimingRow *row_at(const TimingTable *t, guint32 row)
{
    return &g_array_index(t->rows, TimingRow, row);
}

/* Which row of all the calls of a terminal have whose times sum up to SUM: one of their function that they cannot be told apart from, best the likely one, or a new one. As no more than the last
 * WEND_TIMED_APART are looked at, time stays linear. */
static guint32 share_row(const TimingTable *t, guint function, guint32 terminal, const TimingSum *sum)
{
    guint32 n = shared_rows_count(&t->shared, function), likely = shared_rows_likely(&t->shared, function, terminal);
    if (likely && timing_alike(&row_at(t, likely - 1)->sum, sum)) return likely - 1;
    for (guint32 i = 1; i <= MIN(n, WEND_TIMED_APART); i++) {
        guint32 row = shared_rows_at(&t->shared, function, n - i);
        if (timing_alike(&row_at(t, row)->sum, sum)) return row;
    }
    return t->shared.n;
}

static gboolean any_timed(const TimingSum *timing, guint n_timed)
{
    for (guint i = 0; i < 2 * n_timed; i++)
        if (timing[i].count) return TRUE;
    return FALSE;
}

/* What ranks have that have times together, by terminal that they call, ascending. COUNTS: how many it stands for. TIMED_AS: its row of TIMING; ROWS: those that are taken together have one. CALLS: of all of them. */
typedef struct { const TimingSum *timing; guint n_timed, n, n_rows; guint32 *terminals, *counts, *timed_as, *shapes, *rows; guint64 *calls; } Timed;

/* w->calls has how often they call what. */
static Timed timed_new(const Writer *w, const RecordedSequence *s, const guint32 *timed_as, const TimingSum *timing, guint n_timed)
{
    guint called = 0;
    for (guint x = 0; x < w->r->signatures->len; x++) called += w->calls[x] > 0;
    Timed t = {timing, n_timed, 0, 0, g_new(guint32, called + 1), g_new(guint32, called + 1), g_new(guint32, called + 1), g_new(guint32, called + 1), g_new(guint32, called + 1), g_new(guint64, called + 1)};
    g_autofree guint32 *local = g_new0(guint32, w->r->signatures->len + 1);
    for (guint i = 0; i < s->sequence->table.n_terminals; i++)
        if (timed_as[i] != PAIR_NONE) local[s->main.terminals[i]] = i;
    for (guint x = 0; x < w->r->signatures->len; x++) {
        if (!w->calls[x]) continue;
        const Signature *of = &g_array_index(w->r->signatures, Signature, x);
        t.terminals[t.n] = x;
        t.counts[t.n] = signature_count(of);
        t.shapes[t.n] = of->shape;
        t.timed_as[t.n] = timed_as[local[x]];
        t.calls[t.n] = w->calls[x];
        t.rows[t.n] = t.timed_as[t.n];
        t.n++;
    }
    t.n_rows = timing_rows(t.shapes, t.counts, t.rows, t.n);
    return t;
}

static void timed_clear(Timed *t)
{
    g_free(t->terminals);
    g_free(t->counts);
    g_free(t->timed_as);
    g_free(t->shapes);
    g_free(t->rows);
    g_free(t->calls);
}

static void number_rows(Writer *w, const Timed *timed, int interval)
{
    TimingTable *table = &w->times[interval];
    g_autofree TimingSum *sums = g_new0(TimingSum, timed->n_rows + 1);
    g_autofree guint8 *added = g_new0(guint8, timed->n_timed + 1);
    for (guint i = 0; i < timed->n; i++) {
        guint32 from = timed->timed_as[i];
        if (!added[from]) timing_add(&sums[timed->rows[i]], &timed->timing[2 * from + interval]);
        added[from] = TRUE;
    }
    g_autofree guint32 *had = g_new0(guint32, timed->n_rows + 1); /* the table's row + 1 of calls that are timed as one */
    for (guint i = 0; i < timed->n; i++) {
        guint32 terminal = timed->terminals[i], *row = &had[timed->rows[i]];
        guint function = (guint)(g_array_index(w->r->shapes, ShapeRow, timed->shapes[i]).words[0] / 2);
        if (!*row) {
            *row = share_row(table, function, terminal, &sums[timed->rows[i]]) + 1;
            if (*row > table->rows->len) g_array_set_size(table->rows, *row);
            timing_add(&row_at(table, *row - 1)->sum, &sums[timed->rows[i]]);
        }
        row_at(table, *row - 1)->expected += timed->calls[i];
        series_builder_add(table->numbers, (SeriesRun){shared_rows_tell(&table->shared, function, terminal, *row - 1), 0, 1});
        series_builder_add(table->numbers, (SeriesRun){ROW_LIKELY, 0, timed->counts[i] - 1}); /* those of an affine terminal have not been told before, and the function just had that row */
    }
}

/* Those of a class all together, or by variant if it is a woven one. */
static gboolean put_timing(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    const Sequence *of = s->sequence;
    const GArray *woven = of->woven_times;
    guint n = woven ? woven->len : 1;
    gboolean timed = !woven && any_timed(of->timing, of->n_timed), good = TRUE;
    for (guint v = 0; woven && v < n; v++) timed |= any_timed(g_array_index(woven, ClassTimes, v).timing, g_array_index(woven, ClassTimes, v).n_timed);
    series_builder_add(w->timed, (SeriesRun){!timed ? TIMING_NONE : woven ? TIMING_BY_VARIANT : TIMING_TOGETHER, 0, 1});
    if (!timed) return TRUE;
    w->told = TRUE;
    g_autofree Timed *all = g_new0(Timed, n);
    for (guint v = 0; good && v < n; v++) {
        guint64 total;
        const ClassTimes *t = woven ? &g_array_index(woven, ClassTimes, v) : NULL;
        good = count_calls(w, k, s, t ? &k->variants->variants[v] : NULL, &total);
        if (good) all[v] = t ? timed_new(w, s, t->timed_as, t->timing, t->n_timed) : timed_new(w, s, of->timed_as, of->timing, of->n_timed);
    }
    for (int interval = 0; good && interval < 2; interval++)
        for (guint v = 0; v < n; v++) number_rows(w, &all[v], interval);
    for (guint v = 0; v < n; v++) timed_clear(&all[v]);
    return good;
}

static void put_rows(Writer *w, const GArray *rows)
{
    typedef struct { WendTiming t; gint64 numbers[TIMING_NUMBERS]; guint finer; } Row;
    g_autofree Row *out = g_new0(Row, rows->len + 1);
    SeriesBuilder *counts = series_builder_new();
    for (guint i = 0; i < rows->len; i++) {
        const TimingRow *row = &g_array_index(rows, TimingRow, i);
        out[i].t = timing_result(&row->sum);
        if (out[i].t.count) out[i].finer = timing_to_numbers(&out[i].t, out[i].numbers);
        series_builder_add(counts, (SeriesRun){(gint64)(out[i].t.count - row->expected), 0, 1});
    }
    series_builder_encode(counts, &w->out, NULL);
    for (guint column = 0; column < TIMING_NUMBERS; column++) {
        SeriesBuilder *numbers = series_builder_new();
        for (guint i = 0; i < rows->len; i++)
            if (timing_tells(out[i].t.count, column, out[i].finer)) series_builder_add(numbers, (SeriesRun){out[i].numbers[column], 0, 1});
        series_builder_encode(numbers, &w->out, NULL);
    }
}

static void put_all_rows(Writer *w)
{
    series_builder_encode(g_steal_pointer(&w->timed), &w->out, NULL);
    for (int interval = 0; interval < 2; interval++) series_builder_encode(g_steal_pointer(&w->times[interval].numbers), &w->out, NULL);
    for (int interval = 0; interval < 2; interval++) put_rows(w, w->times[interval].rows);
}

gboolean write_timing(Writer *w)
{
    TimingTable times[2];
    for (int interval = 0; interval < 2; interval++) {
        times[interval].rows = g_array_new(FALSE, TRUE, sizeof(TimingRow));
        times[interval].numbers = series_builder_new();
        shared_rows_init(&times[interval].shared, (guint)wend_n_functions, w->r->signatures->len);
    }
    w->times = times;
    w->timed = series_builder_new();
    gboolean good = write_if_told(w, put_timing, put_all_rows);
    w->times = NULL;
    series_builder_free(g_steal_pointer(&w->timed));
    for (int interval = 0; interval < 2; interval++) {
        g_array_unref(times[interval].rows);
        series_builder_free(times[interval].numbers);
        shared_rows_clear(&times[interval].shared);
    }
    return good;
}
