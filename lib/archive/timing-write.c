/* SPDX-License-Identifier: BSD-3-Clause */
/* timing-write.c: writes the part "timing": the times of all sequences, as rows that they share. */
#include <string.h>

#include "base/pairs.h"
#include "merge/timing-rows.h"
#include "record/elastic.h"
#include "record/functions.h"
#include "write-private.h"

/* A row of times. EXPECTED: the number of calls of the terminals that have it, which a reader
 * expects as its count. */
typedef struct {
    TimingSum sum;
    guint64 expected;
} TimingRow;
typedef struct {
    GArray *rows;
    SharedRows shared;
} TimingRows;

/* The number of a row, as it is encoded, and how many ROW_LIKELY come before it. */
typedef struct {
    gint64 value;
    guint64 gap;
} RowNumber;

/* Rows of durations, or of intervals. All sequences are walked twice, because a terminal that
 * differs from a row with few calls may be like it once the row has all its calls.
 *
 * - The first walk finds rows, each from the calls so far (find_row).
 * - Rows of a function that turn out to be alike become one (settle_rows).
 * - In the second walk each terminal takes a row (take_row): the likely row if its times are like
 *   it, else the row with most calls that they are like, else the row that it had. */
typedef struct TimingTable {
    TimingRows found, encoded;
    /* guint32: the row found for each terminal, in the order of the first walk */
    GArray *had;
    guint asked;         /* how many terminals have asked again, in the second walk */
    guint32 *same_as;    /* by row found: the row that it is now part of */
    GArray **by_calls;   /* by function: rows found, most calls first */
    GArray *found_as;    /* guint32, by row encoded: the row found */
    guint32 *encoded_as; /* by row found: the row encoded + 1; 0: not encoded yet */
    /* RowNumber: those of all sequences that are not ROW_LIKELY. GAP: how many ROW_LIKELY there
     * are since the last of them. */
    GArray *numbers;
    guint64 gap;
} TimingTable;

static TimingRows row_table_new(guint n_terminals)
{
    TimingRows t = {.rows = g_array_new(FALSE, TRUE, sizeof(TimingRow))};
    shared_rows_init(&t.shared, (guint)wend_n_functions, n_terminals);
    return t;
}

static void row_table_clear(TimingRows *t)
{
    g_array_unref(t->rows);
    shared_rows_clear(&t->shared);
}

static TimingTable timing_table_new(guint n_terminals)
{
    return (TimingTable){.found = row_table_new(n_terminals),
                         .encoded = row_table_new(n_terminals),
                         .had = g_array_new(FALSE, FALSE, sizeof(guint32)),
                         .found_as = g_array_new(FALSE, FALSE, sizeof(guint32)),
                         .numbers = g_array_new(FALSE, FALSE, sizeof(RowNumber))};
}

static void timing_table_clear(TimingTable *t)
{
    row_table_clear(&t->found);
    row_table_clear(&t->encoded);
    g_array_unref(t->had);
    g_array_unref(t->found_as);
    g_array_unref(t->numbers);
    for (gsize f = 0; t->by_calls && f < wend_n_functions; f++)
        g_clear_pointer(&t->by_calls[f], g_array_unref);
    g_free(t->by_calls);
    g_free(t->same_as);
    g_free(t->encoded_as);
}

static TimingSum *sum_of(const TimingRows *t, guint32 row)
{
    return &g_array_index(t->rows, TimingRow, row).sum;
}

/* -- rows: at most WEND_TIMED_APART of them are compared, so that time stays linear -- */

/* In the first walk: the row for a terminal whose times sum up to SUM. It is the likely row or
 * another row of the function with times like these, else a new row. */
static guint32 find_row(TimingTable *t, guint function, guint32 terminal, const TimingSum *sum)
{
    TimingRows *f = &t->found;
    guint32 n = shared_rows_count(&f->shared, function),
            likely = shared_rows_likely(&f->shared, function, terminal), row = f->rows->len;
    if (likely && timing_alike(sum_of(f, likely - 1), sum))
        row = likely - 1;
    for (guint32 i = 1; row == f->rows->len && i <= MIN(n, WEND_TIMED_APART); i++) {
        guint32 other = shared_rows_at(&f->shared, function, n - i);
        if (timing_alike(sum_of(f, other), sum))
            row = other;
    }
    if (row == f->rows->len)
        g_array_set_size(f->rows, row + 1);
    shared_rows_encode(&f->shared, function, terminal, row);
    timing_add(sum_of(f, row), sum);
    g_array_append_val(t->had, row);
    return row;
}

static gint more_calls(gconstpointer a, gconstpointer b, gpointer table)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    guint64 of_x = sum_of(table, x)->count, of_y = sum_of(table, y)->count;
    return of_x != of_y ? (of_x < of_y) - (of_x > of_y) : (x > y) - (x < y);
}

/* Between the walks: merges the rows of each function that are alike. */
static void settle_rows(TimingTable *t)
{
    TimingRows *f = &t->found;
    t->same_as = g_new(guint32, f->rows->len + 1);
    t->encoded_as = g_new0(guint32, f->rows->len + 1);
    t->by_calls = g_new0(GArray *, wend_n_functions + 1);
    for (guint32 row = 0; row < f->rows->len; row++)
        t->same_as[row] = row;
    for (guint function = 0; function < wend_n_functions; function++) {
        guint32 n = shared_rows_count(&f->shared, function);
        if (n == 0)
            continue;
        GArray *rows = t->by_calls[function] = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (guint32 i = 0; i < n; i++) {
            guint32 row = shared_rows_at(&f->shared, function, i);
            for (guint k = rows->len;
                 t->same_as[row] == row && k > 0 && rows->len - k < WEND_TIMED_APART; k--) {
                guint32 before = g_array_index(rows, guint32, k - 1);
                if (!timing_alike(sum_of(f, before), sum_of(f, row)))
                    continue;
                timing_add(sum_of(f, before), sum_of(f, row));
                t->same_as[row] = before;
            }
            if (t->same_as[row] == row)
                g_array_append_val(rows, row);
        }
        g_array_sort_with_data(rows, more_calls, f);
    }
}

/* In the second walk: the encoded row of the next terminal; encoded.rows->len is a new row. */
static guint32 take_row(TimingTable *t, guint function, guint32 terminal, const TimingSum *sum)
{
    guint32 found = t->same_as[g_array_index(t->had, guint32, t->asked++)],
            likely = shared_rows_likely(&t->encoded.shared, function, terminal);
    const GArray *rows = t->by_calls[function];
    if (likely
        && timing_alike(sum_of(&t->found, g_array_index(t->found_as, guint32, likely - 1)), sum))
        return likely - 1;
    for (guint i = 0; i < MIN(rows->len, WEND_TIMED_APART); i++) {
        guint32 row = g_array_index(rows, guint32, i);
        if (!timing_alike(sum_of(&t->found, row), sum))
            continue;
        found = row;
        break;
    }
    if (!t->encoded_as[found]) {
        t->encoded_as[found] = t->encoded.rows->len + 1;
        g_array_append_val(t->found_as, found);
    }
    return t->encoded_as[found] - 1;
}

static void encode_row(TimingTable *t, guint function, guint32 terminal, guint32 row, guint32 count)
{
    gint64 value = shared_rows_encode(&t->encoded.shared, function, terminal, row);
    if (value != ROW_LIKELY) {
        RowNumber number = {value, t->gap};
        g_array_append_val(t->numbers, number);
        t->gap = 0;
    }
    /* Adds COUNT likely rows, or one less after a value: the further terminals of a strided one
     * have no row of their own yet, so the last row of the function is their likely one. */
    t->gap += count - (value != ROW_LIKELY);
}

/* -- the sequences -- */

static gboolean any_timed(const TimingSum *timing, guint n_timed)
{
    for (guint i = 0; i < 2 * n_timed; i++)
        if (timing[i].count)
            return TRUE;
    return FALSE;
}

/* The terminals of ranks whose times are kept together, ascending. COUNTS: the number of terminals
 * that each stands for. TIMED_AS: its row of TIMING. ROWS: its row, shared by terminals that are
 * timed as one (timing_rows). CALLS: its calls, over all these ranks. */
typedef struct {
    const TimingSum *timing;
    guint n_timed, n, n_rows;
    guint32 *terminals, *counts, *timed_as, *shapes, *rows;
    guint64 *calls;
} TimedTerminals;

/* w->called and w->calls have the terminals and their calls. */
static TimedTerminals timed_new(const Writer *w, const RecordedSequence *s, const guint32 *timed_as,
                                const TimingSum *timing, guint n_timed)
{
    guint n = w->called->len;
    TimedTerminals t = {timing,
                        n_timed,
                        n,
                        0,
                        g_memdup2(w->called->data, n * sizeof(guint32)),
                        g_new(guint32, n + 1),
                        g_new(guint32, n + 1),
                        g_new(guint32, n + 1),
                        g_new(guint32, n + 1),
                        g_new(guint64, n + 1)};
    for (guint i = 0; i < n; i++)
        w->local[t.terminals[i]] = 0;
    for (guint i = 0; i < s->sequence->table.n_terminals; i++)
        if (timed_as[i] != PAIR_NONE)
            w->local[s->main.terminals[i]] = i;
    for (guint i = 0; i < n; i++) {
        guint32 x = t.terminals[i];
        const Signature *of = &g_array_index(w->r->signatures, Signature, x);
        t.counts[i] = signature_count(of);
        t.shapes[i] = of->shape;
        t.rows[i] = t.timed_as[i] = timed_as[w->local[x]];
        t.calls[i] = w->calls[x];
    }
    t.n_rows = timing_rows(t.shapes, t.counts, t.rows, t.n);
    return t;
}

static void timed_clear(TimedTerminals *t)
{
    g_free(t->terminals);
    g_free(t->counts);
    g_free(t->timed_as);
    g_free(t->shapes);
    g_free(t->rows);
    g_free(t->calls);
}

/* Finds a row for each terminal of TIMED or, if ENCODED, in the second walk, encodes its row. */
static void number_rows(Writer *w, const TimedTerminals *timed, int interval, gboolean encoded)
{
    TimingTable *table = &w->times[interval];
    g_autofree TimingSum *sums = g_new0(TimingSum, timed->n_rows + 1);
    g_autofree guint8 *added = g_new0(guint8, timed->n_timed + 1);
    for (guint i = 0; i < timed->n; i++) {
        guint32 from = timed->timed_as[i];
        if (!added[from])
            timing_add(&sums[timed->rows[i]], &timed->timing[2 * from + interval]);
        added[from] = TRUE;
    }
    /* by row of TIMED: 1 + the row of the table */
    g_autofree guint32 *had = g_new0(guint32, timed->n_rows + 1);
    for (guint i = 0; i < timed->n; i++) {
        guint32 terminal = timed->terminals[i], *row = &had[timed->rows[i]];
        const TimingSum *sum = &sums[timed->rows[i]];
        guint function =
            (guint)(g_array_index(w->r->shapes, ShapeRow, timed->shapes[i]).words[0] / 2);
        if (!*row)
            *row = (encoded ? take_row(table, function, terminal, sum)
                            : find_row(table, function, terminal, sum))
                   + 1;
        else
            sum = NULL;
        if (!encoded)
            continue;
        if (*row > table->encoded.rows->len)
            g_array_set_size(table->encoded.rows, *row);
        if (sum)
            timing_add(sum_of(&table->encoded, *row - 1), sum);
        g_array_index(table->encoded.rows, TimingRow, *row - 1).expected += timed->calls[i];
        encode_row(table, function, terminal, *row - 1, timed->counts[i]);
    }
}

/* Handles a sequence of class K in the first or, if ENCODED, in the second walk. The times are
 * those of all ranks together or, in an aligned class, of each variant. */
static gboolean go_through(Writer *w, const RecordedClass *k, const RecordedSequence *s,
                           gboolean encoded)
{
    const Sequence *of = s->sequence;
    const GArray *aligned = of->aligned_times;
    guint n = aligned ? aligned->len : 1;
    gboolean timed = !aligned && any_timed(of->timing, of->n_timed), good = TRUE;
    for (guint v = 0; aligned && v < n; v++)
        timed |= any_timed(g_array_index(aligned, ClassTimes, v).timing,
                           g_array_index(aligned, ClassTimes, v).n_timed);
    if (encoded)
        delta_sequence_builder_add(w->timed, (DeltaSequenceRun){!timed    ? TIMING_NONE
                                                                : aligned ? TIMING_BY_VARIANT
                                                                          : TIMING_TOGETHER,
                                                                0, 1});
    if (!timed)
        return TRUE;
    w->encoded |= encoded;
    g_autofree TimedTerminals *all = g_new0(TimedTerminals, n);
    for (guint v = 0; good && v < n; v++) {
        guint64 total;
        const ClassTimes *t = aligned ? &g_array_index(aligned, ClassTimes, v) : NULL;
        good = writer_count_calls(w, k, s, t ? &k->variants->variants[v] : NULL, &total);
        if (good)
            all[v] = t ? timed_new(w, s, t->timed_as, t->timing, t->n_timed)
                       : timed_new(w, s, of->timed_as, of->timing, of->n_timed);
    }
    for (int interval = 0; good && interval < 2; interval++)
        for (guint v = 0; v < n; v++)
            number_rows(w, &all[v], interval, encoded);
    for (guint v = 0; v < n; v++)
        timed_clear(&all[v]);
    return good;
}

static gboolean find_rows(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    return go_through(w, k, s, FALSE);
}

static gboolean put_timing(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    return go_through(w, k, s, TRUE);
}

/* The columns of all rows: those of durations, then those of intervals. */
static void put_columns(Writer *w)
{
    typedef struct {
        WendTiming t;
        gint64 numbers[TIMING_NUMBERS];
        guint finer;
    } Row;
    guint n = 0;
    g_autofree Row *out =
        g_new0(Row, w->times[0].encoded.rows->len + w->times[1].encoded.rows->len + 1);
    DeltaSequenceBuilder *counts = delta_sequence_builder_new();
    for (int interval = 0; interval < 2; interval++) {
        const GArray *rows = w->times[interval].encoded.rows;
        for (guint i = 0; i < rows->len; i++, n++) {
            const TimingRow *row = &g_array_index(rows, TimingRow, i);
            out[n].t = timing_result(&row->sum);
            if (out[n].t.count)
                out[n].finer = timing_to_numbers(&out[n].t, out[n].numbers);
            delta_sequence_builder_add(
                counts, (DeltaSequenceRun){(gint64)(out[n].t.count - row->expected), 0, 1});
        }
    }
    delta_sequence_builder_encode(counts, &w->out, NULL);
    for (guint column = 0; column < TIMING_NUMBERS; column++) {
        DeltaSequenceBuilder *numbers = delta_sequence_builder_new();
        for (guint i = 0; i < n; i++)
            if (timing_encodes(out[i].t.count, column, out[i].finer))
                delta_sequence_builder_add(numbers,
                                           (DeltaSequenceRun){out[i].numbers[column], 0, 1});
        delta_sequence_builder_encode(numbers, &w->out, NULL);
    }
}

/* The row numbers of durations, then those of intervals. */
static void put_row_numbers(Writer *w)
{
    DeltaSequenceBuilder *gaps = delta_sequence_builder_new(),
                         *values = delta_sequence_builder_new();
    guint64 n = 0, gap = 0;
    for (int interval = 0; interval < 2; interval++) {
        const TimingTable *t = &w->times[interval];
        for (guint i = 0; i < t->numbers->len; i++, n++) {
            const RowNumber *number = &g_array_index(t->numbers, RowNumber, i);
            delta_sequence_builder_add(gaps, (DeltaSequenceRun){(gint64)(gap + number->gap), 0, 1});
            delta_sequence_builder_add(values, (DeltaSequenceRun){number->value, 0, 1});
            gap = 0;
        }
        gap += t->gap;
    }
    wend_buf_unsigned(&w->out, n);
    delta_sequence_builder_encode(gaps, &w->out, NULL);
    delta_sequence_builder_encode(values, &w->out, NULL);
}

static void put_all_rows(Writer *w)
{
    delta_sequence_builder_encode(g_steal_pointer(&w->timed), &w->out, NULL);
    put_row_numbers(w);
    put_columns(w);
}

gboolean write_timing(Writer *w)
{
    TimingTable times[2] = {timing_table_new(w->r->signatures->len),
                            timing_table_new(w->r->signatures->len)};
    w->times = times;
    w->timed = delta_sequence_builder_new();
    gboolean good = writer_each_sequence(w, find_rows);
    for (int interval = 0; interval < 2; interval++)
        settle_rows(&times[interval]);
    good = good && writer_if_encoded(w, put_timing, put_all_rows);
    w->times = NULL;
    delta_sequence_builder_free(g_steal_pointer(&w->timed));
    for (int interval = 0; interval < 2; interval++)
        timing_table_clear(&times[interval]);
    return good;
}

/* -- times of ranks -- */

/* Writes the part "times of ranks". */

static int by_value(const void *a, const void *b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return x < y ? -1 : x > y;
}

static guint32 median(const FunctionTimes *f)
{
    g_autofree guint32 *codes = g_new(guint32, f->times->len);
    for (guint i = 0; i < f->times->len; i++)
        codes[i] = g_array_index(f->times, RankTime, i).value;
    qsort(codes, f->times->len, sizeof *codes, by_value);
    return codes[f->times->len / 2];
}

static void add(DeltaSequenceBuilder *b, gint64 word)
{
    delta_sequence_builder_add(b, (DeltaSequenceRun){word, 0, 1});
}

/* The ranks of each function, and their codes as differences to the function's median. */
static void put_each(Writer *w, const RankTimes *t)
{
    DeltaSequenceBuilder *medians = delta_sequence_builder_new(),
                         *codes = delta_sequence_builder_new();
    g_autofree RankSet *sets = g_new(RankSet, t->functions->len);
    for (guint i = 0; i < t->functions->len; i++) {
        const FunctionTimes *f = &g_array_index(t->functions, FunctionTimes, i);
        g_autofree guint32 *ranks = g_new(guint32, f->times->len);
        gint64 middle = median(f);
        add(medians, middle);
        for (guint k = 0; k < f->times->len; k++) {
            const RankTime *one = &g_array_index(f->times, RankTime, k);
            ranks[k] = one->key;
            add(codes, (gint64)one->value - middle);
        }
        sets[i] = rankset_from_sorted(ranks, f->times->len);
    }
    ranksets_encode(sets, t->functions->len, &w->out);
    delta_sequence_builder_encode(medians, &w->out, NULL);
    delta_sequence_builder_encode(codes, &w->out, NULL);
    for (guint i = 0; i < t->functions->len; i++)
        rankset_clear(&sets[i]);
}

/* How many ranks have each code, and the extremes. */
static void put_distribution(Writer *w, const RankTimes *t)
{
    enum { LENGTH, CODE, RANKS, FASTEST, SLOWEST, COLUMNS };
    DeltaSequenceBuilder *columns[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        columns[c] = delta_sequence_builder_new();
    for (guint i = 0; i < t->functions->len; i++) {
        const FunctionTimes *f = &g_array_index(t->functions, FunctionTimes, i);
        guint32 last = 0;
        add(columns[LENGTH], f->times->len);
        add(columns[FASTEST], f->fastest);
        add(columns[SLOWEST], f->slowest);
        for (guint k = 0; k < f->times->len; k++) {
            const RankTime *one = &g_array_index(f->times, RankTime, k);
            add(columns[CODE], (gint64)one->key - last);
            add(columns[RANKS], one->value);
            last = one->key;
        }
    }
    for (int c = 0; c < COLUMNS; c++)
        delta_sequence_builder_encode(columns[c], &w->out, NULL);
}

void write_rank_times(Writer *w)
{
    const RankTimes *t = w->r->merge->rank_times;
    wend_buf_unsigned(&w->out, t->functions->len);
    if (t->functions->len == 0)
        return;
    DeltaSequenceBuilder *functions = delta_sequence_builder_new();
    for (guint i = 0; i < t->functions->len; i++)
        add(functions, w->function_number[g_array_index(t->functions, FunctionTimes, i).function]);
    delta_sequence_builder_encode(functions, &w->out, NULL);
    if (rank_times_each(t))
        put_each(w, t);
    else
        put_distribution(w, t);
}
