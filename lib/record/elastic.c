/* SPDX-License-Identifier: BSD-3-Clause */
/* elastic.c: see elastic.h. */
#include "elastic.h"

#include <string.h>

#include "base/error.h"
#include "base/pairs.h"
#include "base/shortage.h"
#include "grammar.h"
#include "intern.h"
#include "outcome-runs.h"
#include "words.h"

guint64 elastic_calls_most = G_GUINT64_CONSTANT(1) << 62;

static gpointer enough(gpointer p)
{
    if (!p)
        wend_shortage();
    return p;
}

/* -- reading the table of a part -- */

static void read_stream(PartTable *t, WendCursor *c)
{
    wend_cursor_unsigned(c); /* entries, which follow from the grammar */
    PartStream s = {t->terminals->len, wend_cursor_block(c)};
    PartTerminal terminal = {.shape = 0};
    g_array_append_val(t->streams, s);
    g_array_append_val(t->terminals, terminal);
}

static void read_slots(PartTable *t, WendCursor *c)
{
    PartTerminal terminal = {.n = (guint)wend_cursor_count(c, 1)};
    gint64 *words = enough(wend_arena_new(&t->arena, terminal.n * sizeof *words));
    for (guint k = 0; k < terminal.n; k++)
        words[k] = wend_cursor_signed(c);
    terminal.words = words;
    g_array_append_val(t->terminals, terminal);
}

gboolean part_table_read(PartTable *t, WendCursor *c)
{
    *t = (PartTable){.shapes = WEND_BUF_INIT,
                     .terminals = g_array_new(FALSE, FALSE, sizeof(PartTerminal)),
                     .streams = g_array_new(FALSE, FALSE, sizeof(PartStream))};
    t->n_shapes = (guint)wend_cursor_count(c, 1);
    wend_buf_unsigned(&t->shapes, t->n_shapes);
    for (guint i = 0; i < t->n_shapes && !c->failed; i++) {
        gsize n = wend_cursor_count(c, 1);
        wend_buf_unsigned(&t->shapes, n);
        for (gsize k = 0; k < n; k++)
            wend_buf_signed(&t->shapes, wend_cursor_signed(c));
    }
    gsize n_terminals = wend_cursor_count(c, 2);
    for (gsize i = 0; i < n_terminals && !c->failed; i++) {
        guint64 shape = wend_cursor_unsigned(c);
        if (shape & 1)
            read_stream(t, c);
        else
            read_slots(t, c);
        if (shape / 2 >= t->n_shapes)
            return FALSE;
        g_array_index(t->terminals, PartTerminal, i).shape = (guint32)(shape / 2);
    }
    return !c->failed && !t->shapes.failed;
}

void part_table_clear(PartTable *t)
{
    wend_arena_clear(&t->arena);
    wend_buf_clear(&t->shapes);
    g_clear_pointer(&t->terminals, g_array_unref);
    g_clear_pointer(&t->streams, g_array_unref);
}

/* -- a stream or a strided terminal, call by call -- */

typedef struct {
    OutcomeRuns runs;
    guint64 left; /* calls of the run at hand */
    const gint64 *differences;
    guint n;
    GArray *slots;               /* gint64: of the last call */
    const PartTerminal *strided; /* NULL: a stream */
    guint32 at;                  /* which of its terminals comes next */
} Values;

static Values values_of(const PartTerminal *strided, const WendCursor *stream)
{
    Values v = {.slots = g_array_new(FALSE, FALSE, sizeof(gint64)), .strided = strided};
    if (!strided)
        outcome_runs_init_part(&v.runs, stream->p, (gsize)(stream->end - stream->p));
    return v;
}

static void values_clear(gpointer p)
{
    Values *v = p;
    if (!v->strided)
        outcome_runs_clear(&v->runs);
    g_array_unref(v->slots);
}

static gint64 sum(gint64 a, gint64 b)
{
    return (gint64)((guint64)a + (guint64)b);
}

static void strided_next(Values *v)
{
    const PartTerminal *t = v->strided;
    if (v->at == t->count)
        v->at = 0;
    g_array_set_size(v->slots, t->n);
    for (guint k = 0; k < t->n; k++) {
        gint64 *slot = &g_array_index(v->slots, gint64, k);
        *slot = v->at ? sum(*slot, t->steps[k]) : t->words[k];
    }
    v->at++;
}

/* Puts the slots of the next call into V. Returns the number of next calls that have these
 * slots, at most MOST; 0 if the stream has ended or is damaged. */
static guint64 values_next(Values *v, guint64 most)
{
    if (v->strided) {
        strided_next(v);
        return 1;
    }
    if (v->left == 0 && !outcome_runs_next_run(&v->runs, &v->left, &v->differences, &v->n))
        return 0;
    gboolean same = v->slots->len == v->n;
    if (!same) {
        guint known = v->slots->len;
        g_array_set_size(v->slots, v->n);
        for (guint k = known; k < v->n; k++)
            g_array_index(v->slots, gint64, k) = 0;
    }
    for (guint k = 0; k < v->n; k++) {
        gint64 *slot = &g_array_index(v->slots, gint64, k);
        *slot = sum(*slot, v->differences[k]);
        same = same && v->differences[k] == 0;
    }
    guint64 calls = same ? MIN(v->left, most) : 1;
    v->left -= calls;
    return calls;
}

/* Have all values been read, without damage? A strided terminal ends at any whole pass. */
static gboolean values_at_end(Values *v)
{
    return v->strided ? v->at == 0 || v->at == v->strided->count
                      : values_next(v, 1) == 0 && !v->runs.c.failed;
}

/* -- the unfolding of a sequence -- */

typedef struct {
    WendSignature signature;
    guint32 number;
} KnownSignature;

/* The calls of an elastic shape, divided into rows whose slots go up in equal steps. A first pass
 * finds the number of calls of each row. A second turns rows into strided terminals. */
typedef struct {
    gboolean hopeless; /* most rows are short */
    /* guint32, by row; the last one is not complete while rows are found */
    GArray *lengths;
    guint64 calls;
    GArray *last, *steps; /* gint64: slots of the last call; their steps, from the second call on */
    guint row;            /* in the second pass: the current row, */
    guint32 at;           /* how many of its calls have been numbered, */
    guint32 number;       /* and its strided terminal */
} Rows;

/* Rows of fewer than ROW_LEAST calls do not become strided. No row of a shape does if its rows,
 * after the first ROWS_FEW, have fewer than ROWS_AVERAGE calls on average. */
enum { ROW_LEAST = 64, ROWS_AVERAGE = 32, ROWS_FEW = 32 };

typedef struct {
    PartTable *t;
    GArray *terminals; /* PartTerminal: the new ones */
    /* their number; a strided one counts as the terminals that it stands for */
    guint64 n_all;
    guint8 *is_elastic; /* by shape */
    gint64 *shapes;     /* their numbers, as words */
    GArray *values;     /* Values */
    guint32 *values_of; /* by former terminal: which; PAIR_NONE: it has slots */
    Rows *rows;         /* by shape; NULL: no terminal is to be strided */
    guint64 rows_bytes;
    guint hopeful;       /* elastic shapes that are not hopeless */
    GHashTable *strided; /* the words of a strided terminal (GBytes) -> its number + 1 */
    GArray *numbers;     /* guint32, by former terminal */
    WendIntern table;    /* of terminals of elastic shapes */
    WendArena records;
    WendGrammar *grammar;
    guint64 words; /* slots of the new terminals */
} Unfolding;

/* Bytes that the merge takes for a terminal and for each of its slots (class.h). Measured with
 * random values. */
enum { TERMINAL_BYTES = 40, SLOT_BYTES = 16 };

static guint64 memory(const Unfolding *u)
{
    return u->t->arena.bytes + u->records.bytes + wend_intern_memory(&u->table)
           + wend_grammar_memory(u->grammar)
           + u->terminals->len * (guint64)(sizeof(PartTerminal) + TERMINAL_BYTES)
           + u->words * SLOT_BYTES + u->rows_bytes;
}

static gboolean has_room(const Unfolding *u, guint64 room, GError **error)
{
    if (memory(u) <= room)
        return TRUE;
    g_set_error(error, WEND_ERROR, WEND_ERROR_SYSTEM,
                "merging takes more than the %" G_GUINT64_FORMAT " MB that are to spare",
                room >> 20);
    return FALSE;
}

/* Called for CALLS equal consecutive calls of a former terminal. Returns FALSE to end the walk. */
typedef gboolean (*CallFunction)(Unfolding *u, guint32 former, const gint64 *words, guint n,
                                 guint64 calls);

/* Calls F for all calls of the sequence. FALSE: damaged, ended by F, or *ERROR is set. */
static gboolean go_through(Unfolding *u, const RuleRow *row, CallFunction f, guint64 room,
                           GError **error)
{
    gboolean good = TRUE;
    g_array_set_size(u->values, 0);
    for (guint i = 0, stream = 0; i < u->t->terminals->len; i++) {
        const PartTerminal *terminal = &g_array_index(u->t->terminals, PartTerminal, i);
        if (u->values_of[i] == PAIR_NONE)
            continue;
        Values v = values_of(
            terminal->count ? terminal : NULL,
            terminal->count ? NULL : &g_array_index(u->t->streams, PartStream, stream++).runs);
        g_array_append_val(u->values, v);
    }
    Expansion x = rules_expand(row);
    while (good && x.run) {
        const PartTerminal *former = &g_array_index(u->t->terminals, PartTerminal, x.terminal);
        guint64 calls = x.run;
        if (u->values_of[x.terminal] == PAIR_NONE) {
            good = f(u, x.terminal, former->words, former->n, calls);
        } else {
            Values *v = &g_array_index(u->values, Values, u->values_of[x.terminal]);
            calls = values_next(v, x.run);
            good =
                calls > 0 && has_room(u, room, error)
                && f(u, x.terminal, (const gint64 *)(gpointer)v->slots->data, v->slots->len, calls);
        }
        expansion_advance(&x, calls);
    }
    expansion_clear(&x);
    for (guint i = 0; good && i < u->values->len; i++)
        good = values_at_end(&g_array_index(u->values, Values, i));
    return good;
}

/* -- runs of calls whose slots go up in equal steps; in names: rows -- */

/* Sets *STEP to the difference of two words. FALSE: they have none. */
static gboolean step_of(gint64 from, gint64 to, gint64 *step)
{
    if (from == to) {
        *step = 0;
        return TRUE;
    }
    return !wend_word_is_special(from) && !wend_word_is_special(to)
           && !__builtin_sub_overflow(to, from, step);
}

/* If a call with these slots continues the row, appends it and returns TRUE. */
static gboolean goes_on(Rows *r, const gint64 *words, guint n)
{
    guint32 *length = &g_array_index(r->lengths, guint32, r->lengths->len - 1);
    gboolean same = TRUE;
    if (n != r->last->len || *length == G_MAXINT32)
        return FALSE;
    for (guint k = 0; k < n; k++) {
        gint64 step, *expected = &g_array_index(r->steps, gint64, k);
        if (!step_of(g_array_index(r->last, gint64, k), words[k], &step)
            || (*length > 1 && step != *expected))
            return FALSE;
        *expected = step; /* a partial change does no harm: the caller ends the row */
        same &= step == 0;
    }
    if (same)
        return FALSE;
    ++*length;
    return TRUE;
}

static gboolean find_rows(Unfolding *u, guint32 former, const gint64 *words, guint n, guint64 calls)
{
    guint32 shape = g_array_index(u->t->terminals, PartTerminal, former).shape;
    Rows *r = &u->rows[shape];
    if (!u->is_elastic[shape] || r->hopeless)
        return TRUE;
    if (!r->lengths)
        *r = (Rows){.lengths = g_array_new(FALSE, FALSE, sizeof(guint32)),
                    .last = g_array_new(FALSE, FALSE, sizeof(gint64)),
                    .steps = g_array_new(FALSE, FALSE, sizeof(gint64))};
    r->calls += calls;
    if (calls > 1 || r->lengths->len == 0 || !goes_on(r, words, n)) {
        g_array_append_vals(r->lengths, (guint32[]){1}, 1);
        u->rows_bytes += 2 * sizeof(guint32); /* twice, as arrays grow by doubling */
        g_array_set_size(r->steps, n);
    }
    g_array_set_size(r->last, 0);
    g_array_append_vals(r->last, words, n);
    r->hopeless =
        calls > 1
        || ROWS_AVERAGE * ((guint64)r->lengths->len - MIN(r->lengths->len, ROWS_FEW)) > r->calls;
    u->hopeful -= r->hopeless;
    return u->hopeful > 0;
}

static void rows_free(Rows *rows, guint n_shapes)
{
    for (guint i = 0; rows && i < n_shapes; i++) {
        if (!rows[i].lengths)
            continue;
        g_array_unref(rows[i].lengths);
        g_array_unref(rows[i].last);
        g_array_unref(rows[i].steps);
    }
    g_free(rows);
}

/* -- terminals -- */

static guint32 add_terminal(Unfolding *u, PartTerminal one)
{
    g_array_append_val(u->terminals, one);
    u->words += one.n;
    u->n_all += one.count ? one.count : 1;
    return u->terminals->len - 1;
}

/* The terminal of a call of an elastic shape with the slots WORDS. They are copied for a new
 * terminal. */
static guint32 number_of(Unfolding *u, guint32 shape, const gint64 *words, guint n)
{
    guint64 hash;
    KnownSignature *known =
        (KnownSignature *)wend_intern_find(&u->table, &u->shapes[shape], 1, words, n, &hash);
    if (known)
        return known->number;
    known = enough(wend_arena_new(&u->records, sizeof *known));
    const gint64 *copy = enough(wend_arena_copy(&u->t->arena, words, n * sizeof *words));
    known->signature =
        (WendSignature){.shape = &u->shapes[shape], .n_shape = 1, .slots = copy, .n_slots = n};
    known->number = add_terminal(u, (PartTerminal){.shape = shape, .n = n, .words = copy});
    if (!wend_intern_add(&u->table, &known->signature, hash))
        enough(NULL);
    return known->number;
}

/* The strided terminal of COUNT calls. The first has the slots WORDS, the call before it LAST. */
static guint32 strided_number(Unfolding *u, guint32 shape, const gint64 *last, const gint64 *words,
                              guint n, guint32 count)
{
    WendBuf b = WEND_BUF_INIT;
    gint64 *steps = enough(wend_arena_new(&u->t->arena, n * sizeof *steps));
    wend_buf_unsigned(&b, shape);
    wend_buf_unsigned(&b, count);
    for (guint k = 0; k < n; k++) {
        steps[k] = (gint64)((guint64)words[k] - (guint64)last[k]);
        wend_buf_signed(&b, words[k]);
        wend_buf_signed(&b, steps[k]);
    }
    g_autoptr(GBytes) key = g_bytes_new(b.data, b.len);
    wend_buf_clear(&b);
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(u->strided, key));
    if (number)
        return number - 1;
    number = add_terminal(
        u, (PartTerminal){shape, n, enough(wend_arena_copy(&u->t->arena, words, n * sizeof *words)),
                          count, steps});
    g_hash_table_insert(u->strided, g_steal_pointer(&key), GUINT_TO_POINTER(number + 1));
    return number;
}

/* The terminal of the next call of an elastic shape in the second pass. Advances in the row. */
static guint32 number_in_row(Unfolding *u, guint32 shape, const gint64 *words, guint n)
{
    Rows *r = u->rows ? &u->rows[shape] : NULL;
    if (!r || r->hopeless || r->row == r->lengths->len)
        return number_of(u, shape, words, n);
    guint32 length = g_array_index(r->lengths, guint32, r->row), at = r->at++;
    if (r->at == length) {
        r->row++;
        r->at = 0;
    }
    if (length <= ROW_LEAST || at == 0)
        r->number = number_of(u, shape, words, n);
    else if (at == 1)
        r->number =
            strided_number(u, shape, (const gint64 *)(gpointer)r->last->data, words, n, length - 1);
    g_array_set_size(r->last, 0);
    g_array_append_vals(r->last, words, n);
    return r->number;
}

static gboolean number_calls(Unfolding *u, guint32 former, const gint64 *words, guint n,
                             guint64 calls)
{
    const PartTerminal *old = &g_array_index(u->t->terminals, PartTerminal, former);
    guint32 *own = &g_array_index(u->numbers, guint32, former), number;
    if (u->is_elastic[old->shape])
        number = number_in_row(u, old->shape, words, n);
    else
        number = *own != PAIR_NONE ? *own : add_terminal(u, *old);
    if (u->values_of[former] == PAIR_NONE && *own == PAIR_NONE)
        *own = number;
    if (!wend_grammar_append(u->grammar, number, calls))
        enough(NULL);
    return u->n_all < G_MAXINT32;
}

static void start(Unfolding *u, gboolean strided)
{
    guint n = u->t->terminals->len;
    for (guint i = 0, stream = 0, values = 0; i < n; i++) {
        const PartTerminal *one = &g_array_index(u->t->terminals, PartTerminal, i);
        gboolean is_stream = stream < u->t->streams->len
                             && g_array_index(u->t->streams, PartStream, stream).terminal == i;
        stream += is_stream;
        u->values_of[i] = is_stream || one->count ? values++ : PAIR_NONE;
        g_array_index(u->numbers, guint32, i) = PAIR_NONE;
        if (!is_stream && one->count == 0)
            continue;
        u->hopeful += !u->is_elastic[one->shape];
        u->is_elastic[one->shape] = 1;
    }
    if (strided)
        u->rows = g_new0(Rows, u->t->n_shapes + 1);
}

gboolean elastic_unfold(PartTable *t, GBytes **grammar, gboolean strided, GArray *numbers,
                        guint64 room, GError **error)
{
    guint n = t->terminals->len;
    gboolean any = t->streams->len > 0;
    g_array_set_size(numbers, n);
    for (guint32 i = 0; i < n; i++) {
        g_array_index(numbers, guint32, i) = i;
        any |= g_array_index(t->terminals, PartTerminal, i).count > 0;
    }
    if (!any)
        return TRUE;
    RuleRow row;
    guint64 length;
    if (!rules_from(&row, *grammar, n))
        return FALSE;
    g_autofree guint8 *is_elastic = g_new0(guint8, t->n_shapes + 1);
    g_autofree gint64 *shapes = g_new(gint64, t->n_shapes + 1);
    g_autofree guint32 *values_of = g_new(guint32, n + 1);
    Unfolding u = {.t = t,
                   .terminals = g_array_new(FALSE, FALSE, sizeof(PartTerminal)),
                   .is_elastic = is_elastic,
                   .shapes = shapes,
                   .values = g_array_new(FALSE, FALSE, sizeof(Values)),
                   .values_of = values_of,
                   .strided = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
                                                    (GDestroyNotify)g_bytes_unref, NULL),
                   .numbers = numbers,
                   .grammar = enough(wend_grammar_new())};
    g_array_set_clear_func(u.values, values_clear);
    for (guint i = 0; i < t->n_shapes; i++)
        shapes[i] = i;
    start(&u, strided);
    gboolean good = rules_length(&row, &length) && length <= elastic_calls_most;
    /* The first pass may fail: the second finds the same damage, and rows are optional. */
    if (good && strided)
        go_through(&u, &row, find_rows, room, NULL);
    good = good && go_through(&u, &row, number_calls, room, error);
    if (good) {
        WendBuf bytes = WEND_BUF_INIT;
        wend_grammar_end(u.grammar, &bytes);
        if (bytes.failed)
            enough(NULL);
        g_bytes_unref(*grammar);
        *grammar = g_bytes_new(bytes.data, bytes.len);
        wend_buf_clear(&bytes);
        g_array_unref(t->terminals);
        t->terminals = g_array_ref(u.terminals);
    } else {
        wend_grammar_free(u.grammar);
    }
    g_array_unref(u.terminals);
    g_array_unref(u.values);
    g_hash_table_unref(u.strided);
    rows_free(u.rows, t->n_shapes);
    wend_intern_clear(&u.table);
    wend_arena_clear(&u.records);
    rules_clear(&row);
    return good;
}
