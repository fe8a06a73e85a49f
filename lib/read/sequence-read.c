/* SPDX-License-Identifier: BSD-3-Clause */
/* sequence-read.c: reads the parts with data of each sequence: outcomes, polls, timing. */
#include <string.h>

#include "record/codec.h"
#include "program-private.h"
#include "merge/timing.h"
#include "merge/timing-rows.h"

/* -- the terminals and shapes of a sequence, and their calls -- */

/* The terminals and shapes of the current sequence, counted while a part is read. The counts are
 * kept only if the part has data for the sequence. In a hostile file, a few bytes stand for many
 * sequences of many terminals. */
typedef struct {
    const WendProgram *p;
    guint64 *rule_times;          /* by rule, its uses; 0 between sequences */
    guint64 *calls, *shape_calls; /* by terminal, by shape; 0 unless in the arrays below */
    GArray *terminals, *shapes;   /* guint, ascending */
    GArray *rules;                /* scratch */
    struct Times *times;          /* of the part "timing" */
    const DeltaSequence *timed;   /* by sequence: TIMING_NONE … */
    struct RowNumbers *numbers;   /* the rows of all sequences */
    guint64 at_timed, n_numbers;
    guint interval; /* 0: these are rows of durations; 1: of intervals */
} Counter;

/* Sets c->rules to START and the rules that it uses, directly or not. */
static void reachable(Counter *c, guint start)
{
    g_array_set_size(c->rules, 0);
    g_array_append_val(c->rules, start);
    c->rule_times[start] = 1;
    for (guint at = 0; at < c->rules->len; at++) {
        const WendRule *r = &c->p->rules[g_array_index(c->rules, guint, at)];
        for (guint k = 0; k < r->n; k++) {
            guint id = r->symbols[k].id;
            if (!r->symbols[k].is_rule || c->rule_times[id])
                continue;
            c->rule_times[id] = 1;
            g_array_append_val(c->rules, id);
        }
    }
}

static gint descending(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x > y ? -1 : x < y;
}

static gint ascending(gconstpointer a, gconstpointer b)
{
    return -descending(a, b);
}

static void count_sequence(Counter *c, guint start)
{
    const WendProgram *p = c->p;
    for (guint i = 0; i < c->terminals->len; i++)
        c->calls[g_array_index(c->terminals, guint, i)] = 0;
    for (guint i = 0; i < c->shapes->len; i++)
        c->shape_calls[g_array_index(c->shapes, guint, i)] = 0;
    g_array_set_size(c->terminals, 0);
    g_array_set_size(c->shapes, 0);
    reachable(c, start);
    g_array_sort(c->rules, descending);
    for (guint i = 0; i < c->rules->len; i++)
        c->rule_times[g_array_index(c->rules, guint, i)] = 0;
    c->rule_times[start] = 1;
    for (guint i = 0; i < c->rules->len; i++) {
        guint rule = g_array_index(c->rules, guint, i);
        const WendRule *r = &p->rules[rule];
        guint64 times = c->rule_times[rule];
        c->rule_times[rule] = 0;
        for (guint k = 0; k < r->n; k++) {
            const WendSymbol *y = &r->symbols[k];
            /* No overflow: there are at most as many calls as the length of the start rule. */
            if (y->is_rule) {
                c->rule_times[y->id] += times * y->repeats;
                continue;
            }
            guint terminal = y->id, shape = p->terminals[y->id].shape;
            if (!c->calls[terminal])
                g_array_append_val(c->terminals, terminal);
            if (!c->shape_calls[shape])
                g_array_append_val(c->shapes, shape);
            c->calls[terminal] += times * y->repeats;
            c->shape_calls[shape] += times * y->repeats;
        }
    }
    g_array_sort(c->terminals, ascending);
    g_array_sort(c->shapes, ascending);
}

/* -- outcomes -- */

/* Reads entries of equal width, word by word. */
static gboolean read_outcome_columns(Member *m, const ShapeOutcomes *o, OutcomeContent *content)
{
    gsize width = cursor_count(&m->c, 2);
    if (m->c.failed || width > G_MAXINT32)
        return member_bad(m, "truncated");
    content->columns = member_block(m, width, sizeof(DeltaSequence *));
    if (!content->columns)
        return FALSE;
    content->width = (guint)width;
    for (gsize i = 0; i < width; i++) {
        content->columns[i] =
            delta_sequence_decode(&m->c, o->entries, m->p->constants, m->p->n_constants);
        if (!content->columns[i])
            return member_bad(m, "a stream of outcomes is damaged");
    }
    return TRUE;
}

/* Keeps the only entry of a run, which each call has. */
static gboolean keep_same(Member *m, OutcomeContent *content, const OutcomeRuns *run)
{
    const gint64 *words = outcome_runs_entry(run, 0, &content->width);
    content->same = member_block(m, content->width, sizeof(gint64));
    if (content->same && content->width)
        memcpy(content->same, words, content->width * sizeof(gint64));
    return content->same != NULL;
}

static gboolean read_content(Member *m, const ShapeOutcomes *o, OutcomeContent *content)
{
    guint64 head = cursor_unsigned(&m->c);
    if (m->c.failed)
        return member_bad(m, "truncated");
    const WendFunction *f = m->p->shapes[o->shape].function;
    if (!(head & 1)) {
        /* An entry of zeros has two words, and at most four for each parameter: arrays would begin
         * with a length that is not 0. */
        if (head >> 1 > 2 + 4 * (guint64)f->n_params)
            return member_bad(m, "an outcome is wider than its function");
        content->width = head >> 1;
        content->same = member_block(m, content->width, sizeof(gint64));
        return content->same != NULL;
    }
    if (head == 1)
        return read_outcome_columns(m, o, content);
    content->n = head >> 1;
    content->constants = m->p->constants;
    content->n_constants = m->p->n_constants;
    content->runs = cursor_bytes(&m->c, content->n);
    if (m->c.failed)
        return member_bad(m, "truncated");
    OutcomeRuns p;
    outcome_runs_init(&p, content->runs, content->n, content->constants, content->n_constants);
    p.c.allowance = m->c.allowance;
    guint64 entries = 0;
    gboolean good = TRUE;
    while (good && outcome_runs_next(&p)) {
        good = !__builtin_add_overflow(entries, p.length, &entries);
        if (good && entries == p.length && p.repeats && p.c.p == p.c.end)
            good = keep_same(m, content, &p);
    }
    good = good && !p.c.failed;
    outcome_runs_clear(&p);
    if (!good)
        return member_bad(m, "a stream of outcomes makes no sense");
    return content->same || entries == o->entries
           || member_bad(m, "a stream of outcomes is not as long as its calls are many");
}

/* A sequence of a class of the archive, whose variants are the N classes from FIRST on. Data that
 * the archive has once belong to the first class, and the others borrow them. */
typedef struct {
    WendProgram *p;
    guint first, n, sequence;
} VariantClasses;

static SequenceData *data_of(const VariantClasses *f, guint variant)
{
    return &f->p->class_data[f->first + variant].sequences[f->sequence];
}
static const WendClass *class_of(const VariantClasses *f, guint variant)
{
    return &f->p->classes[f->first + variant];
}
static guint rule_of(const VariantClasses *f, guint variant)
{
    return class_of(f, variant)->sequences[f->sequence].rule;
}

/* A shape in the variants of a class; NULL for a variant without it. */
typedef struct {
    const VariantClasses *f;
    ShapeOutcomes **of;
} ShapeVariants;

static guint64 entries_of(const ShapeVariants *s, guint variant)
{
    return s->of[variant] ? s->of[variant]->entries : 0;
}

/* Whether each rank of CONTENT (all ranks with the shape, if it has no rank set) makes as many
 * calls with the shape as the content has ENTRIES. Content with equal entries fits any number of
 * calls. */
static gboolean fits(const ShapeVariants *s, const OutcomeContent *content, guint64 entries)
{
    const VariantClasses *f = s->f;
    if (f->n == 1 || content->same)
        return TRUE;
    gboolean good = TRUE;
    if (content->ranks.n == 0) {
        for (guint v = 0; v < f->n; v++)
            good &= !s->of[v] || entries_of(s, v) == entries;
        return good;
    }
    g_autofree guint32 *ranks = rankset_expand(&content->ranks);
    for (guint32 r = 0; good && r < content->ranks.n; r++) {
        guint variant = f->p->class_of[ranks[r]] - f->first;
        good = variant < f->n && entries_of(s, variant) == entries;
    }
    return good;
}

static gboolean read_shape_outcomes(Member *m, const ShapeVariants *s)
{
    const VariantClasses *f = s->f;
    guint first = 0;
    while (!s->of[first])
        first++;
    ShapeOutcomes *o = s->of[first];
    gsize n = cursor_count(&m->c, 1);
    if (m->c.failed || n == 0)
        return member_bad(m, "a shape has no outcomes");
    o->contents = member_block(m, n, sizeof(OutcomeContent));
    if (!o->contents)
        return FALSE;
    for (gsize i = 0; i < n; i++) {
        OutcomeContent *content = &o->contents[i];
        guint variant = first;
        o->n_contents = i + 1;
        if (n > 1 && !rankset_decode(&content->ranks, &m->c, m->p->ranks))
            return member_bad(m, "outcomes of a rank that is not there");
        if (n > 1 && f->n > 1)
            variant = f->p->class_of[rankset_lowest(&content->ranks)] - f->first;
        if (variant >= f->n)
            return member_bad(m, "outcomes of a rank of another class");
        ShapeOutcomes of_rank = {.shape = o->shape, .entries = entries_of(s, variant)};
        if (!read_content(m, &of_rank, content))
            return FALSE;
        if (!fits(s, content, of_rank.entries))
            return member_bad(m, "outcomes of ranks that have other trip counts");
    }
    for (guint v = first + 1; v < f->n; v++) {
        ShapeOutcomes *theirs = s->of[v];
        if (!theirs)
            continue;
        theirs->borrowed = TRUE;
        theirs->n_contents = o->n_contents;
        theirs->contents = o->contents;
    }
    return TRUE;
}

/* -- polls -- */

static gboolean read_poll_table(Member *m, PollTerminals *t)
{
    if (!rankset_decode(&t->ranks, &m->c, m->p->ranks))
        return member_bad(m, "polls of a rank that is not there");
    gsize n = cursor_count(&m->c, 1);
    t->terminals = member_block(m, n, sizeof(guint32));
    if (!t->terminals)
        return FALSE;
    t->n = n;
    for (gsize i = 0; i < n; i++) {
        guint64 terminal = cursor_unsigned(&m->c);
        if (m->c.failed || terminal >= m->p->n_terminals)
            return member_bad(m, "a poll is of a terminal that is not there");
        t->terminals[i] = terminal;
    }
    return TRUE;
}

static gboolean read_poll_grammar(Member *m, const SequenceData *s, PollGrammar *g)
{
    if (!rankset_decode(&g->ranks, &m->c, m->p->ranks) || g->ranks.n == 0)
        return member_bad(m, "polls of a rank that is not there");
    const PollTerminals *t = NULL;
    for (guint i = 0; i < s->n_poll_tables && !t; i++)
        if (rankset_contains(&s->poll_tables[i].ranks, rankset_lowest(&g->ranks)))
            t = &s->poll_tables[i];
    if (!t)
        return member_bad(m, "a rank has polls but no terminals for them");
    g->after = cursor_unsigned(&m->c);
    gsize n = cursor_count(&m->c, 1);
    if (m->c.failed || n == 0)
        return member_bad(m, "a grammar of polls is empty");
    g->rules = member_block(m, n, sizeof(WendRule));
    if (!g->rules)
        return FALSE;
    g->n_rules = n;
    for (gsize i = 0; i < n; i++) {
        gsize n_symbols = cursor_count(&m->c, 2);
        WendSymbol *symbols = member_block(m, n_symbols, sizeof(WendSymbol));
        if (!symbols)
            return FALSE;
        g->rules[i] = (WendRule){.n = n_symbols, .symbols = symbols};
        for (gsize k = 0; k < n_symbols; k++) {
            guint64 id = cursor_unsigned(&m->c), repeats = cursor_unsigned(&m->c), all;
            gboolean is_rule = id & 1;
            id >>= 1;
            if (m->c.failed || id >= (is_rule ? i : t->n) || repeats == 0)
                return member_bad(m, "a rule of polls uses one that is not there");
            symbols[k] = (WendSymbol){is_rule, id, repeats};
            if (__builtin_mul_overflow(is_rule ? g->rules[id].length : 1, repeats, &all)
                || __builtin_add_overflow(g->rules[i].length, all, &g->rules[i].length)
                || g->rules[i].length > G_MAXINT64 / 2)
                return member_bad(m, "a rule of polls stands for more than can be counted");
        }
    }
    g->length = g->rules[n - 1].length;
    return TRUE;
}

static gboolean read_polls(Member *m, SequenceData *s)
{
    gsize n = cursor_count(&m->c, 2);
    if (m->c.failed)
        return member_bad(m, "truncated");
    if (n == 0)
        return TRUE;
    s->poll_tables = member_block(m, n, sizeof(PollTerminals));
    if (!s->poll_tables)
        return FALSE;
    for (gsize i = 0; i < n; i++) {
        s->n_poll_tables = i + 1;
        if (!read_poll_table(m, &s->poll_tables[i]))
            return FALSE;
    }
    n = cursor_count(&m->c, 4);
    s->poll_grammars = member_block(m, n, sizeof(PollGrammar));
    if (!s->poll_grammars)
        return FALSE;
    for (gsize i = 0; i < n; i++) {
        s->n_poll_grammars = i + 1;
        if (!read_poll_grammar(m, s, &s->poll_grammars[i]))
            return FALSE;
    }
    return !m->c.failed || member_bad(m, "truncated");
}

/* -- timing -- */

typedef struct Times {
    SharedRows shared[2]; /* rows as the sequences refer to them; 0: durations; 1: intervals */
    GArray *rows;         /* WendTiming: the rows of durations, then those of intervals */
    GPtrArray *sequences; /* SequenceData: the sequences with times */
} Times;

static void times_init(Times *t, const WendProgram *p)
{
    for (int i = 0; i < 2; i++)
        shared_rows_init(&t->shared[i], MAX(p->n_functions, p->n_shapes), p->n_terminals);
    t->rows = g_array_new(FALSE, TRUE, sizeof(WendTiming));
    t->sequences = g_ptr_array_new();
}

/* Gives the rows to the sequences, and frees the rest of T. */
static void times_finish(Times *t, WendProgram *p)
{
    WendTiming *rows = program_new_block(p, t->rows->len, sizeof(WendTiming));
    if (t->rows->len)
        memcpy(rows, t->rows->data, t->rows->len * sizeof(WendTiming));
    for (int i = 0; i < 2; i++) {
        for (guint q = 0; q < t->sequences->len; q++)
            ((SequenceData *)g_ptr_array_index(t->sequences, q))->times[i] = rows;
        rows += t->rows->len ? t->shared[i].n : 0;
        shared_rows_clear(&t->shared[i]);
    }
    g_array_unref(t->rows);
    g_ptr_array_unref(t->sequences);
}

/* A row takes a few bits, or less if its numbers have a pattern. ROW_MEMORY: the memory of a row
 * while it is read. */
enum {
    ROWS_PER_BYTE = 64,
    ROW_MEMORY = 2 * sizeof(WendTiming) + (TIMING_NUMBERS + 3) * sizeof(gint64)
};

/* Reads N signed numbers, which are a delta sequence if N > 0. */
static gboolean read_column(Member *m, guint64 n, gint64 *numbers)
{
    AUTO(DeltaSequence) column = n > 0 ? delta_sequence_decode(&m->c, n, NULL, 0) : NULL;
    for (guint64 i = 0; column && i < n; i++)
        numbers[i] = delta_sequence_at(column, i);
    return !m->c.failed;
}

/* The difference between the count of a row and its calls is stored once for all its calls: MORE.
 * The first calls take it. Counts wrap in a hostile file only. ROWS, MORE: of the rows of
 * durations, or of those of intervals. */
static void share_counts(const Times *times, guint interval, WendTiming *rows, gint64 *more)
{
    for (guint q = 0; q < times->sequences->len; q++) {
        const SequenceData *s = g_ptr_array_index(times->sequences, q);
        for (guint i = 0; i < s->n_terminals; i++) {
            TimingCount *t = &s->timed[2 * i + interval];
            gint64 *change = &more[t->row];
            rows[t->row].count += t->count;
            gint64 now = *change < 0 ? -(gint64)MIN(t->count, 0 - (guint64)*change) : *change;
            t->count += (guint64)now;
            *change -= now;
        }
    }
}

/* Reads the rows of all sequences. */
static gboolean read_rows(Member *m, Times *times)
{
    gsize durations = times->shared[0].n, n = durations + times->shared[1].n;
    if (m->c.failed || n / ROWS_PER_BYTE > (gsize)(m->c.end - m->start))
        return member_bad(m, "truncated");
    if (!member_admits(m, n, ROW_MEMORY))
        return FALSE;
    g_array_set_size(times->rows, (guint)n);
    WendTiming *rows = (WendTiming *)(gpointer)times->rows->data;
    g_autofree gint64 *more = g_new0(gint64, n + 1), *column = g_new0(gint64, n + 1),
                      *numbers = g_new0(gint64, (n + 1) * TIMING_NUMBERS);
    if (!read_column(m, n, more))
        return member_bad(m, "truncated");
    for (gsize i = 0; i < n; i++)
        rows[i].count = (guint64)more[i];
    share_counts(times, 0, rows, more);
    share_counts(times, 1, rows + durations, more + durations);
    g_autofree guint8 *finer = g_new0(guint8, n + 1);
    for (guint k = 0; k < TIMING_NUMBERS; k++) {
        gsize have = 0;
        for (gsize i = 0; i < n; i++) {
            if (k == TIMING_FINER && rows[i].count)
                finer[i] = (guint8)timing_finer(&rows[i], &numbers[i * TIMING_NUMBERS]);
            have += timing_encodes(rows[i].count, k, finer[i]);
        }
        if (!read_column(m, have, column))
            return member_bad(m, "truncated");
        for (gsize i = n; i-- > 0;)
            if (timing_encodes(rows[i].count, k, finer[i]))
                numbers[i * TIMING_NUMBERS + k] = column[--have];
    }
    for (gsize i = 0; i < n; i++)
        if (rows[i].count)
            timing_from_numbers(&rows[i], &numbers[i * TIMING_NUMBERS]);
    return TRUE;
}

static void say_row(const VariantClasses *f, guint terminal, guint interval, guint32 row)
{
    for (guint v = 0; v < f->n; v++)
        data_of(f, v)->timed[2 * terminal + interval].row = row;
}

/* Terminals of one function share rows. */
static guint group_of(const WendProgram *p, guint32 terminal)
{
    guint shape = p->terminals[terminal].shape;
    return (guint)(p->shapes[shape].function - p->functions);
}

/* The number of row numbers of a sequence: those of all variants or, if not BY_VARIANT, those that
 * all variants share. */
static guint64 count_row_numbers(const VariantClasses *f, gboolean by_variant)
{
    guint64 all = 0;
    for (guint v = 0; v < (by_variant ? f->n : 1); v++)
        all += data_of(f, v)->n_terminals;
    return all;
}

/* A sequence of row numbers. VALUES has the N numbers that are not ROW_LIKELY, and GAPS the number
 * of ROW_LIKELY before each of them. */
typedef struct RowNumbers {
    const DeltaSequence *gaps, *values;
    guint64 at, n;
    gint64 likely; /* how many ROW_LIKELY are left before the next value */
} RowNumbers;

/* The next row number. -1: the sequence is damaged. */
static gint64 next_row_number(RowNumbers *r)
{
    if (r->at == r->n || r->likely-- > 0)
        return ROW_LIKELY;
    gint64 value = delta_sequence_at(r->values, r->at);
    if (++r->at < r->n)
        r->likely = delta_sequence_at(r->gaps, r->at);
    return r->likely < 0 && r->at < r->n ? -1 : value;
}

/* Sets the rows of a sequence from the next row numbers. */
static gboolean take_row_numbers(Member *m, const VariantClasses *f, SharedRows *shared,
                                 guint interval, gboolean by_variant, RowNumbers *numbers)
{
    guint n_lists = by_variant ? f->n : 1;
    for (guint v = 0; v < n_lists; v++) {
        const SequenceData *s = data_of(f, v);
        for (guint i = 0; i < s->n_terminals; i++) {
            gint64 number = next_row_number(numbers);
            guint group = group_of(m->p, s->terminals[i]);
            guint32 row;
            if (!shared_rows_read(shared, group, s->terminals[i], number, &row))
                return member_bad(m, "a row of times is not there");
            if (by_variant)
                s->timed[2 * i + interval].row = row;
            else
                say_row(f, i, interval, row);
        }
    }
    return TRUE;
}

/* The terminals that at least one of N_VARIANTS variants from FIRST on calls, ascending. NULL: they
 * take too much memory. */
static guint32 *all_terminals(Member *m, const VariantClasses *f, guint first, guint n_variants,
                              Counter *c, guint *n)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(guint));
    for (guint v = first; v < first + n_variants; v++) {
        count_sequence(c, rule_of(f, v));
        g_array_append_vals(all, c->terminals->data, c->terminals->len);
        if (v == first)
            continue;
        g_array_sort(all, ascending);
        guint different = 0;
        for (guint i = 0; i < all->len; i++)
            if (i == 0 || g_array_index(all, guint, i) != g_array_index(all, guint, i - 1))
                g_array_index(all, guint, different++) = g_array_index(all, guint, i);
        g_array_set_size(all, different);
    }
    guint32 *terminals = member_block(m, all->len, sizeof(guint32));
    for (guint i = 0; terminals && i < all->len; i++)
        terminals[i] = g_array_index(all, guint, i);
    *n = all->len;
    return terminals;
}

static gboolean timing_of(Member *m, const VariantClasses *f, Counter *c)
{
    guint64 form = (guint64)delta_sequence_at(c->timed, c->at_timed++);
    if (form > TIMING_BY_VARIANT)
        return member_bad(m, "makes no sense");
    if (form == TIMING_NONE)
        return TRUE;
    gboolean by_variant = form == TIMING_BY_VARIANT;
    for (guint v = 0; v < f->n; v++) {
        SequenceData *s = data_of(f, v);
        if (v == 0 || by_variant) {
            s->terminals = all_terminals(m, f, v, by_variant ? 1 : f->n, c, &s->n_terminals);
            if (!s->terminals)
                return FALSE;
        } else {
            s->terminals = data_of(f, 0)->terminals;
            s->n_terminals = data_of(f, 0)->n_terminals;
        }
        if ((guint64)f->n * s->n_terminals > program_most((gsize)(m->c.end - m->c.p)))
            return member_bad(m, "has more times than it can hold");
        count_sequence(c, rule_of(f, v));
        s->timed = member_block(m, 2 * (guint64)s->n_terminals, sizeof(TimingCount));
        if (!s->timed)
            return FALSE;
        for (guint i = 0; i < 2 * s->n_terminals; i++)
            s->timed[i].count = c->calls[s->terminals[i / 2]] * class_of(f, v)->n_ranks;
        g_ptr_array_add(c->times->sequences, s);
    }
    return TRUE; /* read_all_numbers reads the rows once all sequences are known */
}

/* -- all -- */

typedef gboolean (*Reader)(Member *m, const VariantClasses *f, Counter *c);

static gboolean outcomes_of(Member *m, const VariantClasses *f, Counter *c)
{
    for (guint v = 0; v < f->n; v++) {
        SequenceData *s = data_of(f, v);
        count_sequence(c, rule_of(f, v));
        s->length = m->p->rules[rule_of(f, v)].length;
        if ((gsize)(m->c.end - m->c.p) < 2 * (gsize)c->shapes->len
            || (guint64)f->n * c->shapes->len > program_most((gsize)(m->c.end - m->c.p)))
            return member_bad(m, "truncated");
        s->shapes = member_block(m, c->shapes->len, sizeof(ShapeOutcomes));
        if (!s->shapes)
            return FALSE;
        s->n_shapes = c->shapes->len;
        for (guint i = 0; i < s->n_shapes; i++) {
            guint shape = g_array_index(c->shapes, guint, i);
            s->shapes[i] = (ShapeOutcomes){.shape = shape, .entries = c->shape_calls[shape]};
        }
    }
    /* for each shape that a variant has, ascending */
    g_autofree guint *at = g_new0(guint, f->n);
    g_autofree ShapeOutcomes **of = g_new(ShapeOutcomes *, f->n);
    while (TRUE) {
        guint32 shape = G_MAXUINT32;
        for (guint v = 0; v < f->n; v++)
            if (at[v] < data_of(f, v)->n_shapes)
                shape = MIN(shape, data_of(f, v)->shapes[at[v]].shape);
        if (shape == G_MAXUINT32)
            return TRUE;
        for (guint v = 0; v < f->n; v++) {
            SequenceData *s = data_of(f, v);
            of[v] =
                at[v] < s->n_shapes && s->shapes[at[v]].shape == shape ? &s->shapes[at[v]++] : NULL;
        }
        if (!read_shape_outcomes(m, &(ShapeVariants){f, of}))
            return FALSE;
    }
}

static gboolean polls_of(Member *m, const VariantClasses *f, Counter *c)
{
    (void)c;
    const SequenceData *first = data_of(f, 0);
    if (!read_polls(m, data_of(f, 0)))
        return FALSE;
    for (guint v = 1; v < f->n; v++) {
        SequenceData *s = data_of(f, v);
        s->borrowed = TRUE;
        s->n_poll_tables = first->n_poll_tables;
        s->poll_tables = first->poll_tables;
        s->n_poll_grammars = first->n_poll_grammars;
        s->poll_grammars = first->poll_grammars;
    }
    return TRUE;
}

/* Calls READ on each sequence, in the order of the classes. */
static gboolean each_sequence(Member *m, Reader read, Counter *c)
{
    WendProgram *p = m->p;
    for (guint i = 0; i < p->n_classes; i++) {
        VariantClasses f = {p, i, p->class_data[i].n_variants, 0};
        for (; f.n > 0 && f.sequence < program_class_all_sequences(&p->classes[i]); f.sequence++)
            if (!read(m, &f, c))
                return FALSE;
    }
    return TRUE;
}

static gboolean count_numbers_of(Member *m, const VariantClasses *f, Counter *c)
{
    (void)m;
    gint64 form = delta_sequence_at(c->timed, c->at_timed++);
    if (form != TIMING_NONE)
        c->n_numbers += count_row_numbers(f, form == TIMING_BY_VARIANT);
    return TRUE;
}

static gboolean numbers_of(Member *m, const VariantClasses *f, Counter *c)
{
    gint64 form = delta_sequence_at(c->timed, c->at_timed++);
    return form == TIMING_NONE
           || take_row_numbers(m, f, &c->times->shared[c->interval], c->interval,
                               form == TIMING_BY_VARIANT, c->numbers);
}

/* Reads the row numbers of all sequences: those of durations, then those of intervals. */
static gboolean read_all_numbers(Member *m, Counter *c)
{
    c->at_timed = 0;
    each_sequence(m, count_numbers_of, c);
    if (c->n_numbers == 0)
        return TRUE;
    guint64 n = cursor_unsigned(&m->c);
    if (m->c.failed || n / 2 > c->n_numbers)
        return member_bad(m, "has more rows of times than calls");
    AUTO(DeltaSequence) gaps = n ? delta_sequence_decode(&m->c, n, NULL, 0) : NULL;
    AUTO(DeltaSequence) values = n ? delta_sequence_decode(&m->c, n, NULL, 0) : NULL;
    if (m->c.failed)
        return member_bad(m, "truncated");
    RowNumbers numbers = {.gaps = gaps, .values = values, .n = n};
    if (n)
        numbers.likely = delta_sequence_at(gaps, 0);
    c->numbers = &numbers;
    gboolean good = numbers.likely >= 0;
    for (c->interval = 0; good && c->interval < 2; c->interval++) {
        c->at_timed = 0;
        good = each_sequence(m, numbers_of, c);
    }
    if (!good)
        return member_bad(m, "a row of times is not there");
    return numbers.at == n || member_bad(m, "has more rows of times than calls");
}

static gboolean read_timing(Member *m, Counter *c)
{
    const WendProgram *p = m->p;
    guint64 n = 0;
    if (!member_part(m, "timing"))
        return FALSE;
    for (guint i = 0; i < p->n_classes; i++)
        n += p->class_data[i].n_variants ? program_class_all_sequences(&p->classes[i]) : 0;
    AUTO(DeltaSequence) timed = n ? delta_sequence_decode(&m->c, n, NULL, 0) : NULL;
    if (n && !timed)
        return member_bad(m, "truncated");
    c->timed = timed;
    return each_sequence(m, timing_of, c) && read_all_numbers(m, c) && read_rows(m, c->times);
}

gboolean read_sequences(Member *m)
{
    WendProgram *p = m->p;
    Times times;
    times_init(&times, p);
    Counter c = {.p = p,
                 .rule_times = g_new0(guint64, p->n_rules + 1),
                 .calls = g_new0(guint64, p->n_terminals + 1),
                 .shape_calls = g_new0(guint64, p->n_shapes + 1),
                 .terminals = g_array_sized_new(FALSE, FALSE, sizeof(guint), 16),
                 .shapes = g_array_sized_new(FALSE, FALSE, sizeof(guint), 16),
                 .rules = g_array_sized_new(FALSE, FALSE, sizeof(guint), 16),
                 .times = &times};
    gboolean good =
        member_part(m, "outcomes") && each_sequence(m, outcomes_of, &c)
        && (!member_has_part(m) || (member_part(m, "polls") && each_sequence(m, polls_of, &c)))
        && (!member_has_part(m) || read_timing(m, &c));
    times_finish(&times, p);
    g_free(c.rule_times);
    g_free(c.calls);
    g_free(c.shape_calls);
    g_array_unref(c.terminals);
    g_array_unref(c.shapes);
    g_array_unref(c.rules);
    return good;
}

static void clear_content(OutcomeContent *content)
{
    rankset_clear(&content->ranks);
    for (guint i = 0; content->columns && i < content->width; i++)
        delta_sequence_unref(content->columns[i]);
}

void program_clear_sequences(WendProgram *p)
{
    for (guint i = 0; i < p->n_classes; i++) {
        ClassData *d = &p->class_data[i];
        g_clear_pointer(&d->request_makers, g_hash_table_unref);
        g_clear_pointer(&d->datatype_makers, g_hash_table_unref);
        for (guint q = 0; q < program_class_all_sequences(&p->classes[i]); q++) {
            SequenceData *s = &d->sequences[q];
            for (guint o = 0; o < s->n_shapes; o++) {
                for (guint c = 0; c < s->shapes[o].n_contents && !s->shapes[o].borrowed; c++)
                    clear_content(&s->shapes[o].contents[c]);
                g_free(s->shapes[o].by_index);
            }
            if (s->borrowed)
                continue;
            for (guint t = 0; t < s->n_poll_tables; t++)
                rankset_clear(&s->poll_tables[t].ranks);
            for (guint g = 0; g < s->n_poll_grammars; g++)
                rankset_clear(&s->poll_grammars[g].ranks);
        }
    }
}
