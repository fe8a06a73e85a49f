/* SPDX-License-Identifier: BSD-3-Clause */
/* timing-write.c: writes the part "timing": the times of all sequences, as rows that they share. */
#include <string.h>

#include "base/containers.h"
#include "merge/timing-rows.h"
#include "record/elastic.h"
#include "record/functions.h"
#include "write-private.h"

/* A terminal of a sequence: the row found for it, and its calls. */
typedef struct {
    uint32_t function, terminal, row;
    uint64_t calls;
} RowUse;

/* Rows of durations, or of intervals. A terminal that differs from a row with few calls may be like
 * it once the row has all its calls. So rows are found first, each from the calls so far
 * (find_row). Then rows of a function that turned out to be alike become one (settle_rows), and
 * those that remain are numbered (number_rows). */
typedef struct TimingTable {
    Vector *found;     /* TimingSum, by row found */
    SharedRows shared; /* the rows found, by function */
    Vector *uses;      /* RowUse */
} TimingTable;

static TimingTable timing_table_new(uint32_t n_terminals)
{
    TimingTable t = {.found = vector_new(sizeof(TimingSum)), .uses = vector_new(sizeof(RowUse))};
    shared_rows_init(&t.shared, (uint32_t)mpi_n_functions, n_terminals);
    return t;
}

static void timing_table_clear(TimingTable *t)
{
    vector_unref(t->found);
    vector_unref(t->uses);
    shared_rows_clear(&t->shared);
}

static TimingSum *sum_of(const TimingTable *t, uint32_t row)
{
    return &VECTOR_AT(t->found, TimingSum, row);
}

/* -- rows: at most WEND_TIMED_APART of them are compared, so that time stays linear -- */

/* The row for a terminal whose times sum up to SUM. It is the likely row or another row of the
 * function with times like these, else a new row. */
static uint32_t find_row(TimingTable *t, uint32_t function, uint32_t terminal, const TimingSum *sum)
{
    uint32_t n = shared_rows_count(&t->shared, function),
             likely = shared_rows_likely(&t->shared, function, terminal), row = t->found->len;
    if (likely && timing_alike(sum_of(t, likely - 1), sum))
        row = likely - 1;
    for (uint32_t i = 1; row == t->found->len && i <= MIN(n, WEND_TIMED_APART); i++) {
        uint32_t other = shared_rows_at(&t->shared, function, n - i);
        if (timing_alike(sum_of(t, other), sum))
            row = other;
    }
    if (row == t->found->len)
        vector_resize(t->found, row + 1);
    shared_rows_encode(&t->shared, function, terminal, row);
    timing_add(sum_of(t, row), sum);
    return row;
}

/* Merges the rows of each function that are alike. Returns, by row found, the row that it is now
 * part of. */
static uint32_t *settle_rows(TimingTable *t)
{
    uint32_t *same_as = NEW(uint32_t, t->found->len + 1);
    vector_indices(same_as, t->found->len);
    for (uint32_t function = 0; function < mpi_n_functions; function++) {
        AUTO(Vector) apart = vector_new(sizeof(uint32_t));
        for (uint32_t i = 0; i < shared_rows_count(&t->shared, function); i++) {
            uint32_t row = shared_rows_at(&t->shared, function, i);
            for (uint32_t k = apart->len;
                 same_as[row] == row && k > 0 && apart->len - k < WEND_TIMED_APART; k--) {
                uint32_t before = VECTOR_AT(apart, uint32_t, k - 1);
                if (!timing_alike(sum_of(t, before), sum_of(t, row)))
                    continue;
                timing_add(sum_of(t, before), sum_of(t, row));
                same_as[row] = before;
            }
            if (same_as[row] == row)
                VECTOR_APPEND(apart, row);
        }
    }
    return same_as;
}

/* A row of the archive. EXPECTED: the number of calls of the terminals that have it, which a reader
 * expects as its count. */
typedef struct {
    TimingSum sum;
    uint64_t expected;
} TimingRow;

/* The codes of rows (shared_rows_encode) that are not ROW_LIKELY, how many they are, and how many
 * ROW_LIKELY come before each of them. GAP: how many there are since the last of them. */
typedef struct {
    DeltaSequenceBuilder *gaps, *values;
    uint64_t n, gap;
} RowCodes;

static void add(DeltaSequenceBuilder *b, int64_t word)
{
    delta_sequence_builder_add(b, (DeltaSequenceRun){word, 0, 1});
}

/* Numbers the rows that remain, in the order of their first use. Returns them (TimingRow), and adds
 * the code of each terminal's row to CODES. */
static Vector *number_rows(TimingTable *t, uint32_t n_terminals, RowCodes *codes)
{
    AUTOFREE uint32_t *same_as = settle_rows(t);
    AUTOFREE uint32_t *numbers = NEW0(uint32_t, t->found->len + 1); /* by row found: + 1, or 0 */
    Vector *rows = vector_new(sizeof(TimingRow));
    SharedRows shared;
    shared_rows_init(&shared, (uint32_t)mpi_n_functions, n_terminals);
    for (uint32_t i = 0; i < t->uses->len; i++) {
        const RowUse *use = &VECTOR_AT(t->uses, RowUse, i);
        uint32_t found = same_as[use->row];
        if (!numbers[found]) {
            TimingRow new = {*sum_of(t, found), 0};
            VECTOR_APPEND(rows, new);
            numbers[found] = rows->len;
        }
        uint32_t row = numbers[found] - 1;
        VECTOR_AT(rows, TimingRow, row).expected += use->calls;
        int64_t code = shared_rows_encode(&shared, use->function, use->terminal, row);
        if (code == ROW_LIKELY) {
            codes->gap++;
            continue;
        }
        add(codes->gaps, (int64_t)codes->gap);
        add(codes->values, code);
        codes->n++;
        codes->gap = 0;
    }
    shared_rows_clear(&shared);
    return rows;
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

/* Finds a row for each terminal of TIMED. */
static void find_rows(Writer *w, const TimedTerminals *timed, int interval)
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
        uint32_t terminal = timed->terminals[i], row = timed->rows[i];
        uint32_t function =
            (uint32_t)(VECTOR_AT(w->r->shapes, ShapeRow, timed->shapes[i]).words[0] / 2);
        if (!had[row])
            had[row] = find_row(table, function, terminal, &sums[row]) + 1;
        RowUse use = {function, terminal, had[row] - 1, timed->calls[i]};
        VECTOR_APPEND(table->uses, use);
    }
}

/* Finds the rows of a sequence of class K. The times are those of all ranks together or, in an
 * aligned class, of each variant. */
static bool find_timing(Writer *w, const RecordedClass *k, const RecordedSequence *s)
{
    const Sequence *of = s->sequence;
    const Vector *aligned = of->aligned_times;
    uint32_t n = aligned ? aligned->len : 1;
    bool timed = !aligned && any_timed(of->timing, of->n_timed), good = true;
    for (uint32_t v = 0; aligned && v < n; v++)
        timed |= any_timed(VECTOR_AT(aligned, ClassTimes, v).timing,
                           VECTOR_AT(aligned, ClassTimes, v).n_timed);
    add(w->timed, !timed ? TIMING_NONE : aligned ? TIMING_BY_VARIANT : TIMING_TOGETHER);
    w->encoded |= timed;
    for (uint32_t v = 0; timed && good && v < n; v++) {
        uint64_t total;
        const ClassTimes *t = aligned ? &VECTOR_AT(aligned, ClassTimes, v) : NULL;
        good = writer_count_calls(w, k, s, t ? &k->variants->variants[v] : NULL, &total);
        if (!good)
            break;
        TimedTerminals one = t ? timed_new(w, s, t->timed_as, t->timing, t->n_timed)
                               : timed_new(w, s, of->timed_as, of->timing, of->n_timed);
        for (int interval = 0; interval < 2; interval++)
            find_rows(w, &one, interval);
        timed_clear(&one);
    }
    return good;
}

/* The columns of all rows (TimingRow): those of durations, then those of intervals. */
static void put_columns(Writer *w, Vector *const all[2])
{
    typedef struct {
        WendTiming t;
        int64_t numbers[TIMING_NUMBERS];
        uint32_t finer;
    } Row;
    uint32_t n = 0;
    AUTOFREE Row *out = NEW0(Row, all[0]->len + all[1]->len + 1);
    DeltaSequenceBuilder *counts = delta_sequence_builder_new();
    for (int interval = 0; interval < 2; interval++) {
        const Vector *rows = all[interval];
        for (uint32_t i = 0; i < rows->len; i++, n++) {
            const TimingRow *row = &VECTOR_AT(rows, TimingRow, i);
            out[n].t = timing_result(&row->sum);
            if (out[n].t.count)
                out[n].finer = timing_to_numbers(&out[n].t, out[n].numbers);
            add(counts, (int64_t)(out[n].t.count - row->expected));
        }
    }
    delta_sequence_builder_encode(counts, &w->out, NULL);
    for (uint32_t column = 0; column < TIMING_NUMBERS; column++) {
        DeltaSequenceBuilder *numbers = delta_sequence_builder_new();
        for (uint32_t i = 0; i < n; i++)
            if (timing_encodes(out[i].t.count, column, out[i].finer))
                add(numbers, out[i].numbers[column]);
        delta_sequence_builder_encode(numbers, &w->out, NULL);
    }
}

static void put_all_rows(Writer *w)
{
    delta_sequence_builder_encode(STEAL(w->timed), &w->out, NULL);
    RowCodes codes = {delta_sequence_builder_new(), delta_sequence_builder_new(), 0, 0};
    Vector *rows[2];
    for (int interval = 0; interval < 2; interval++)
        rows[interval] = number_rows(&w->times[interval], w->r->signatures->len, &codes);
    buf_unsigned(&w->out, codes.n);
    delta_sequence_builder_encode(codes.gaps, &w->out, NULL);
    delta_sequence_builder_encode(codes.values, &w->out, NULL);
    put_columns(w, rows);
    for (int interval = 0; interval < 2; interval++)
        vector_unref(rows[interval]);
}

bool write_timing(Writer *w)
{
    TimingTable times[2] = {timing_table_new(w->r->signatures->len),
                            timing_table_new(w->r->signatures->len)};
    w->times = times;
    w->timed = delta_sequence_builder_new();
    bool good = writer_if_encoded(w, find_timing, put_all_rows);
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
