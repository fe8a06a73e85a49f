/* SPDX-License-Identifier: BSD-3-Clause */
/* timing-write.c: writes the part "timing": the times of all sequences, as rows that they share. */
#include <string.h>

#include "base/containers.h"
#include "merge/timing-rows.h"
#include "record/elastic.h"
#include "record/functions.h"
#include "write-private.h"

/* A row of times. EXPECTED: the number of calls of the terminals that have it, which a reader
 * expects as its count. */
typedef struct {
    TimingSum sum;
    uint64_t expected;
} TimingRow;
typedef struct {
    Vector *rows;
    SharedRows shared;
} TimingRows;

/* The number of a row, as it is encoded, and how many ROW_LIKELY come before it. */
typedef struct {
    int64_t value;
    uint64_t gap;
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
    /* uint32_t: the row found for each terminal, in the order of the first walk */
    Vector *had;
    uint32_t asked;       /* how many terminals have asked again, in the second walk */
    uint32_t *same_as;    /* by row found: the row that it is now part of */
    Vector **by_calls;    /* by function: rows found, most calls first */
    Vector *found_as;     /* uint32_t, by row encoded: the row found */
    uint32_t *encoded_as; /* by row found: the row encoded + 1; 0: not encoded yet */
    /* RowNumber: those of all sequences that are not ROW_LIKELY. GAP: how many ROW_LIKELY there
     * are since the last of them. */
    Vector *numbers;
    uint64_t gap;
} TimingTable;

static TimingRows row_table_new(uint32_t n_terminals)
{
    TimingRows t = {.rows = vector_new(sizeof(TimingRow))};
    shared_rows_init(&t.shared, (uint32_t)mpi_n_functions, n_terminals);
    return t;
}

static void row_table_clear(TimingRows *t)
{
    vector_unref(t->rows);
    shared_rows_clear(&t->shared);
}

static TimingTable timing_table_new(uint32_t n_terminals)
{
    return (TimingTable){.found = row_table_new(n_terminals),
                         .encoded = row_table_new(n_terminals),
                         .had = vector_new(sizeof(uint32_t)),
                         .found_as = vector_new(sizeof(uint32_t)),
                         .numbers = vector_new(sizeof(RowNumber))};
}

static void timing_table_clear(TimingTable *t)
{
    row_table_clear(&t->found);
    row_table_clear(&t->encoded);
    vector_unref(t->had);
    vector_unref(t->found_as);
    vector_unref(t->numbers);
    for (size_t f = 0; t->by_calls && f < mpi_n_functions; f++)
        CLEAR(t->by_calls[f], vector_unref);
    memory_free(t->by_calls);
    memory_free(t->same_as);
    memory_free(t->encoded_as);
}

static TimingSum *sum_of(const TimingRows *t, uint32_t row)
{
    return &VECTOR_AT(t->rows, TimingRow, row).sum;
}

/* -- rows: at most WEND_TIMED_APART of them are compared, so that time stays linear -- */

/* In the first walk: the row for a terminal whose times sum up to SUM. It is the likely row or
 * another row of the function with times like these, else a new row. */
static uint32_t find_row(TimingTable *t, uint32_t function, uint32_t terminal, const TimingSum *sum)
{
    TimingRows *f = &t->found;
    uint32_t n = shared_rows_count(&f->shared, function),
             likely = shared_rows_likely(&f->shared, function, terminal), row = f->rows->len;
    if (likely && timing_alike(sum_of(f, likely - 1), sum))
        row = likely - 1;
    for (uint32_t i = 1; row == f->rows->len && i <= MIN(n, WEND_TIMED_APART); i++) {
        uint32_t other = shared_rows_at(&f->shared, function, n - i);
        if (timing_alike(sum_of(f, other), sum))
            row = other;
    }
    if (row == f->rows->len)
        vector_resize(f->rows, row + 1);
    shared_rows_encode(&f->shared, function, terminal, row);
    timing_add(sum_of(f, row), sum);
    VECTOR_APPEND(t->had, row);
    return row;
}

static int more_calls(const void *a, const void *b, void *table)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    uint64_t of_x = sum_of(table, x)->count, of_y = sum_of(table, y)->count;
    return of_x != of_y ? (of_x < of_y) - (of_x > of_y) : (x > y) - (x < y);
}

/* Between the walks: merges the rows of each function that are alike. */
static void settle_rows(TimingTable *t)
{
    TimingRows *f = &t->found;
    t->same_as = NEW(uint32_t, f->rows->len + 1);
    t->encoded_as = NEW0(uint32_t, f->rows->len + 1);
    t->by_calls = NEW0(Vector *, mpi_n_functions + 1);
    for (uint32_t row = 0; row < f->rows->len; row++)
        t->same_as[row] = row;
    for (uint32_t function = 0; function < mpi_n_functions; function++) {
        uint32_t n = shared_rows_count(&f->shared, function);
        if (n == 0)
            continue;
        Vector *rows = t->by_calls[function] = vector_new(sizeof(uint32_t));
        for (uint32_t i = 0; i < n; i++) {
            uint32_t row = shared_rows_at(&f->shared, function, i);
            for (uint32_t k = rows->len;
                 t->same_as[row] == row && k > 0 && rows->len - k < WEND_TIMED_APART; k--) {
                uint32_t before = VECTOR_AT(rows, uint32_t, k - 1);
                if (!timing_alike(sum_of(f, before), sum_of(f, row)))
                    continue;
                timing_add(sum_of(f, before), sum_of(f, row));
                t->same_as[row] = before;
            }
            if (t->same_as[row] == row)
                VECTOR_APPEND(rows, row);
        }
        vector_sort_by(rows, more_calls, f);
    }
}

/* In the second walk: the encoded row of the next terminal; encoded.rows->len is a new row. */
static uint32_t take_row(TimingTable *t, uint32_t function, uint32_t terminal, const TimingSum *sum)
{
    uint32_t found = t->same_as[VECTOR_AT(t->had, uint32_t, t->asked++)],
             likely = shared_rows_likely(&t->encoded.shared, function, terminal);
    const Vector *rows = t->by_calls[function];
    if (likely
        && timing_alike(sum_of(&t->found, VECTOR_AT(t->found_as, uint32_t, likely - 1)), sum))
        return likely - 1;
    for (uint32_t i = 0; i < MIN(rows->len, WEND_TIMED_APART); i++) {
        uint32_t row = VECTOR_AT(rows, uint32_t, i);
        if (!timing_alike(sum_of(&t->found, row), sum))
            continue;
        found = row;
        break;
    }
    if (!t->encoded_as[found]) {
        t->encoded_as[found] = t->encoded.rows->len + 1;
        VECTOR_APPEND(t->found_as, found);
    }
    return t->encoded_as[found] - 1;
}

static void encode_row(TimingTable *t, uint32_t function, uint32_t terminal, uint32_t row)
{
    int64_t value = shared_rows_encode(&t->encoded.shared, function, terminal, row);
    if (value == ROW_LIKELY) {
        t->gap++;
        return;
    }
    RowNumber number = {value, t->gap};
    VECTOR_APPEND(t->numbers, number);
    t->gap = 0;
}

/* -- the sequences -- */

static bool any_timed(const TimingSum *timing, uint32_t n_timed)
{
    for (uint32_t i = 0; i < 2 * n_timed; i++)
        if (timing[i].count)
            return true;
    return false;
}

/* The terminals of ranks whose times are kept together, ascending. TIMED_AS: its row of TIMING.
 * ROWS: its row, shared by terminals that are timed as one (timing_rows). CALLS: its calls, over
 * all these ranks. */
typedef struct {
    const TimingSum *timing;
    uint32_t n_timed, n, n_rows;
    uint32_t *terminals, *timed_as, *shapes, *rows;
    uint64_t *calls;
} TimedTerminals;

/* w->called and w->calls have the terminals and their calls. */
static TimedTerminals timed_new(const Writer *w, const RecordedSequence *s,
                                const uint32_t *timed_as, const TimingSum *timing, uint32_t n_timed)
{
    uint32_t n = w->called->len;
    TimedTerminals t = {timing,
                        n_timed,
                        n,
                        0,
                        memory_copy(w->called->data, n * sizeof(uint32_t)),
                        NEW(uint32_t, n + 1),
                        NEW(uint32_t, n + 1),
                        NEW(uint32_t, n + 1),
                        NEW(uint64_t, n + 1)};
    for (uint32_t i = 0; i < n; i++)
        w->local[t.terminals[i]] = 0;
    for (uint32_t i = 0; i < s->sequence->table.n_terminals; i++)
        if (timed_as[i] != PAIR_NONE)
            w->local[s->main.terminals[i]] = i;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = t.terminals[i];
        t.shapes[i] = VECTOR_AT(w->r->signatures, Signature, x).shape;
        t.rows[i] = t.timed_as[i] = timed_as[w->local[x]];
        t.calls[i] = w->calls[x];
    }
    t.n_rows = timing_rows(t.shapes, t.rows, t.n);
    return t;
}

static void timed_clear(TimedTerminals *t)
{
    memory_free(t->terminals);
    memory_free(t->timed_as);
    memory_free(t->shapes);
    memory_free(t->rows);
    memory_free(t->calls);
}

/* Finds a row for each terminal of TIMED or, if ENCODED, in the second walk, encodes its row. */
static void number_rows(Writer *w, const TimedTerminals *timed, int interval, bool encoded)
{
    TimingTable *table = &w->times[interval];
    AUTOFREE TimingSum *sums = NEW0(TimingSum, timed->n_rows + 1);
    AUTOFREE uint8_t *added = NEW0(uint8_t, timed->n_timed + 1);
    for (uint32_t i = 0; i < timed->n; i++) {
        uint32_t from = timed->timed_as[i];
        if (!added[from])
            timing_add(&sums[timed->rows[i]], &timed->timing[2 * from + interval]);
        added[from] = true;
    }
    /* by row of TIMED: 1 + the row of the table */
    AUTOFREE uint32_t *had = NEW0(uint32_t, timed->n_rows + 1);
    for (uint32_t i = 0; i < timed->n; i++) {
        uint32_t terminal = timed->terminals[i], *row = &had[timed->rows[i]];
        const TimingSum *sum = &sums[timed->rows[i]];
        uint32_t function =
            (uint32_t)(VECTOR_AT(w->r->shapes, ShapeRow, timed->shapes[i]).words[0] / 2);
        if (!*row)
            *row = (encoded ? take_row(table, function, terminal, sum)
                            : find_row(table, function, terminal, sum))
                   + 1;
        else
            sum = NULL;
        if (!encoded)
            continue;
        if (*row > table->encoded.rows->len)
            vector_resize(table->encoded.rows, *row);
        if (sum)
            timing_add(sum_of(&table->encoded, *row - 1), sum);
        VECTOR_AT(table->encoded.rows, TimingRow, *row - 1).expected += timed->calls[i];
        encode_row(table, function, terminal, *row - 1);
    }
}

/* Handles a sequence of class K in the first or, if ENCODED, in the second walk. The times are
 * those of all ranks together or, in an aligned class, of each variant. */
static bool go_through(Writer *w, const RecordedClass *k, const RecordedSequence *s, bool encoded)
{
    const Sequence *of = s->sequence;
    const Vector *aligned = of->aligned_times;
    uint32_t n = aligned ? aligned->len : 1;
    bool timed = !aligned && any_timed(of->timing, of->n_timed), good = true;
    for (uint32_t v = 0; aligned && v < n; v++)
        timed |= any_timed(VECTOR_AT(aligned, ClassTimes, v).timing,
                           VECTOR_AT(aligned, ClassTimes, v).n_timed);
    if (encoded)
        delta_sequence_builder_add(w->timed, (DeltaSequenceRun){!timed    ? TIMING_NONE
                                                                : aligned ? TIMING_BY_VARIANT
                                                                          : TIMING_TOGETHER,
                                                                0, 1});
    if (!timed)
        return true;
    w->encoded |= encoded;
    AUTOFREE TimedTerminals *all = NEW0(TimedTerminals, n);
    for (uint32_t v = 0; good && v < n; v++) {
        uint64_t total;
        const ClassTimes *t = aligned ? &VECTOR_AT(aligned, ClassTimes, v) : NULL;
        good = writer_count_calls(w, k, s, t ? &k->variants->variants[v] : NULL, &total);
        if (good)
            all[v] = t ? timed_new(w, s, t->timed_as, t->timing, t->n_timed)
                       : timed_new(w, s, of->timed_as, of->timing, of->n_timed);
    }
    for (int interval = 0; good && interval < 2; interval++)
        for (uint32_t v = 0; v < n; v++)
            number_rows(w, &all[v], interval, encoded);
    for (uint32_t v = 0; v < n; v++)
        timed_clear(&all[v]);
    return good;
}

static bool find_rows(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    return go_through(w, k, s, false);
}

static bool put_timing(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    return go_through(w, k, s, true);
}

/* The columns of all rows: those of durations, then those of intervals. */
static void put_columns(Writer *w)
{
    typedef struct {
        WendTiming t;
        int64_t numbers[TIMING_NUMBERS];
        uint32_t finer;
    } Row;
    uint32_t n = 0;
    AUTOFREE Row *out =
        NEW0(Row, w->times[0].encoded.rows->len + w->times[1].encoded.rows->len + 1);
    DeltaSequenceBuilder *counts = delta_sequence_builder_new();
    for (int interval = 0; interval < 2; interval++) {
        const Vector *rows = w->times[interval].encoded.rows;
        for (uint32_t i = 0; i < rows->len; i++, n++) {
            const TimingRow *row = &VECTOR_AT(rows, TimingRow, i);
            out[n].t = timing_result(&row->sum);
            if (out[n].t.count)
                out[n].finer = timing_to_numbers(&out[n].t, out[n].numbers);
            delta_sequence_builder_add(
                counts, (DeltaSequenceRun){(int64_t)(out[n].t.count - row->expected), 0, 1});
        }
    }
    delta_sequence_builder_encode(counts, &w->out, NULL);
    for (uint32_t column = 0; column < TIMING_NUMBERS; column++) {
        DeltaSequenceBuilder *numbers = delta_sequence_builder_new();
        for (uint32_t i = 0; i < n; i++)
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
    uint64_t n = 0, gap = 0;
    for (int interval = 0; interval < 2; interval++) {
        const TimingTable *t = &w->times[interval];
        for (uint32_t i = 0; i < t->numbers->len; i++, n++) {
            const RowNumber *number = &VECTOR_AT(t->numbers, RowNumber, i);
            delta_sequence_builder_add(gaps,
                                       (DeltaSequenceRun){(int64_t)(gap + number->gap), 0, 1});
            delta_sequence_builder_add(values, (DeltaSequenceRun){number->value, 0, 1});
            gap = 0;
        }
        gap += t->gap;
    }
    buf_unsigned(&w->out, n);
    delta_sequence_builder_encode(gaps, &w->out, NULL);
    delta_sequence_builder_encode(values, &w->out, NULL);
}

static void put_all_rows(Writer *w)
{
    delta_sequence_builder_encode(STEAL(w->timed), &w->out, NULL);
    put_row_numbers(w);
    put_columns(w);
}

bool write_timing(Writer *w)
{
    TimingTable times[2] = {timing_table_new(w->r->signatures->len),
                            timing_table_new(w->r->signatures->len)};
    w->times = times;
    w->timed = delta_sequence_builder_new();
    bool good = writer_each_sequence(w, find_rows);
    for (int interval = 0; interval < 2; interval++)
        settle_rows(&times[interval]);
    good = good && writer_if_encoded(w, put_timing, put_all_rows);
    w->times = NULL;
    delta_sequence_builder_free(STEAL(w->timed));
    for (int interval = 0; interval < 2; interval++)
        timing_table_clear(&times[interval]);
    return good;
}

/* -- times of ranks -- */

/* Writes the part "times of ranks". */

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t median(const FunctionTimes *f)
{
    AUTOFREE uint32_t *codes = NEW(uint32_t, f->times->len);
    for (uint32_t i = 0; i < f->times->len; i++)
        codes[i] = VECTOR_AT(f->times, RankTime, i).value;
    vector_sort_plain(codes, f->times->len, sizeof *codes, by_value);
    return codes[f->times->len / 2];
}

static void add(DeltaSequenceBuilder *b, int64_t word)
{
    delta_sequence_builder_add(b, (DeltaSequenceRun){word, 0, 1});
}

/* The ranks of each function, and their codes as differences to the function's median. */
static void put_each(Writer *w, const RankTimes *t)
{
    DeltaSequenceBuilder *medians = delta_sequence_builder_new(),
                         *codes = delta_sequence_builder_new();
    AUTOFREE RankSet *sets = NEW(RankSet, t->functions->len);
    for (uint32_t i = 0; i < t->functions->len; i++) {
        const FunctionTimes *f = &VECTOR_AT(t->functions, FunctionTimes, i);
        AUTOFREE uint32_t *ranks = NEW(uint32_t, f->times->len);
        int64_t middle = median(f);
        add(medians, middle);
        for (uint32_t k = 0; k < f->times->len; k++) {
            const RankTime *one = &VECTOR_AT(f->times, RankTime, k);
            ranks[k] = one->key;
            add(codes, (int64_t)one->value - middle);
        }
        sets[i] = rankset_from_sorted(ranks, f->times->len);
    }
    ranksets_encode(sets, t->functions->len, &w->out);
    delta_sequence_builder_encode(medians, &w->out, NULL);
    delta_sequence_builder_encode(codes, &w->out, NULL);
    for (uint32_t i = 0; i < t->functions->len; i++)
        rankset_clear(&sets[i]);
}

/* How many ranks have each code, and the extremes. */
static void put_distribution(Writer *w, const RankTimes *t)
{
    enum { LENGTH, CODE, RANKS, FASTEST, SLOWEST, COLUMNS };
    DeltaSequenceBuilder *columns[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        columns[c] = delta_sequence_builder_new();
    for (uint32_t i = 0; i < t->functions->len; i++) {
        const FunctionTimes *f = &VECTOR_AT(t->functions, FunctionTimes, i);
        uint32_t last = 0;
        add(columns[LENGTH], f->times->len);
        add(columns[FASTEST], f->fastest);
        add(columns[SLOWEST], f->slowest);
        for (uint32_t k = 0; k < f->times->len; k++) {
            const RankTime *one = &VECTOR_AT(f->times, RankTime, k);
            add(columns[CODE], (int64_t)one->key - last);
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
    buf_unsigned(&w->out, t->functions->len);
    if (t->functions->len == 0)
        return;
    DeltaSequenceBuilder *functions = delta_sequence_builder_new();
    for (uint32_t i = 0; i < t->functions->len; i++)
        add(functions, w->function_number[VECTOR_AT(t->functions, FunctionTimes, i).function]);
    delta_sequence_builder_encode(functions, &w->out, NULL);
    if (rank_times_each(t))
        put_each(w, t);
    else
        put_distribution(w, t);
}
