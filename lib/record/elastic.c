/* SPDX-License-Identifier: BSD-3-Clause */
/* elastic.c: see elastic.h. */
#include "elastic.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/containers.h"
#include "grammar.h"
#include "intern.h"
#include "outcome-runs.h"
#include "words.h"

uint64_t elastic_calls_most = UINT64_C(1) << 62;

static void *enough(void *p)
{
    if (!p)
        memory_short();
    return p;
}

/* -- reading the table of a part -- */

static void read_stream(PartTable *t, WendCursor *c)
{
    cursor_unsigned(c); /* entries, which follow from the grammar */
    PartStream s = {t->terminals->len, cursor_block(c)};
    PartTerminal terminal = {.shape = 0};
    VECTOR_APPEND(t->streams, s);
    VECTOR_APPEND(t->terminals, terminal);
}

static void read_slots(PartTable *t, WendCursor *c)
{
    PartTerminal terminal = {.n = (uint32_t)cursor_count(c, 1)};
    int64_t *words = enough(arena_new(&t->arena, terminal.n * sizeof *words));
    for (uint32_t k = 0; k < terminal.n; k++)
        words[k] = cursor_signed(c);
    terminal.words = words;
    VECTOR_APPEND(t->terminals, terminal);
}

bool part_table_read(PartTable *t, WendCursor *c)
{
    *t = (PartTable){.shapes = WEND_BUF_INIT,
                     .terminals = vector_new(sizeof(PartTerminal)),
                     .streams = vector_new(sizeof(PartStream))};
    t->n_shapes = (uint32_t)cursor_count(c, 1);
    buf_unsigned(&t->shapes, t->n_shapes);
    for (uint32_t i = 0; i < t->n_shapes && !c->failed; i++) {
        size_t n = cursor_count(c, 1);
        buf_unsigned(&t->shapes, n);
        for (size_t k = 0; k < n; k++)
            buf_signed(&t->shapes, cursor_signed(c));
    }
    size_t n_terminals = cursor_count(c, 2);
    for (size_t i = 0; i < n_terminals && !c->failed; i++) {
        uint64_t shape = cursor_unsigned(c);
        if (shape & 1)
            read_stream(t, c);
        else
            read_slots(t, c);
        if (shape / 2 >= t->n_shapes)
            return false;
        VECTOR_AT(t->terminals, PartTerminal, i).shape = (uint32_t)(shape / 2);
    }
    return !c->failed && !t->shapes.failed;
}

void part_table_clear(PartTable *t)
{
    arena_clear(&t->arena);
    buf_clear(&t->shapes);
    CLEAR(t->terminals, vector_unref);
    CLEAR(t->streams, vector_unref);
}

/* -- a stream or a strided terminal, call by call -- */

typedef struct {
    OutcomeRuns runs;
    uint64_t left; /* calls of the run at hand */
    const int64_t *differences;
    uint32_t n;
    Vector *slots;               /* int64_t: of the last call */
    const PartTerminal *strided; /* NULL: a stream */
    uint32_t at;                 /* which of its terminals comes next */
} Values;

static Values values_of(const PartTerminal *strided, const WendCursor *stream)
{
    Values v = {.slots = vector_new(sizeof(int64_t)), .strided = strided};
    if (!strided)
        outcome_runs_init_part(&v.runs, stream->p, (size_t)(stream->end - stream->p));
    return v;
}

static void values_clear(void *p)
{
    Values *v = p;
    if (!v->strided)
        outcome_runs_clear(&v->runs);
    vector_unref(v->slots);
}

static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static void strided_next(Values *v)
{
    const PartTerminal *t = v->strided;
    if (v->at == t->count)
        v->at = 0;
    vector_resize(v->slots, t->n);
    for (uint32_t k = 0; k < t->n; k++) {
        int64_t *slot = &VECTOR_AT(v->slots, int64_t, k);
        *slot = v->at ? sum(*slot, t->steps[k]) : t->words[k];
    }
    v->at++;
}

/* Puts the slots of the next call into V. Returns the number of next calls that have these
 * slots, at most MOST; 0 if the stream has ended or is damaged. */
static uint64_t values_next(Values *v, uint64_t most)
{
    if (v->strided) {
        strided_next(v);
        return 1;
    }
    if (v->left == 0 && !outcome_runs_next_run(&v->runs, &v->left, &v->differences, &v->n))
        return 0;
    bool same = v->slots->len == v->n;
    if (!same) {
        uint32_t known = v->slots->len;
        vector_resize(v->slots, v->n);
        for (uint32_t k = known; k < v->n; k++)
            VECTOR_AT(v->slots, int64_t, k) = 0;
    }
    for (uint32_t k = 0; k < v->n; k++) {
        int64_t *slot = &VECTOR_AT(v->slots, int64_t, k);
        *slot = sum(*slot, v->differences[k]);
        same = same && v->differences[k] == 0;
    }
    uint64_t calls = same ? MIN(v->left, most) : 1;
    v->left -= calls;
    return calls;
}

/* Have all values been read, without damage? A strided terminal ends at any whole pass. */
static bool values_at_end(Values *v)
{
    return v->strided ? v->at == 0 || v->at == v->strided->count
                      : values_next(v, 1) == 0 && !v->runs.c.failed;
}

/* -- the unfolding of a sequence -- */

typedef struct {
    WendSignature signature;
    uint32_t number;
} KnownSignature;

/* The calls of an elastic shape, divided into rows whose slots go up in equal steps. A first pass
 * finds the number of calls of each row. A second turns rows into strided terminals. */
typedef struct {
    bool hopeless; /* most rows are short */
    /* uint32_t, by row; the last one is not complete while rows are found */
    Vector *lengths;
    uint64_t calls;
    Vector *last,
        *steps;      /* int64_t: slots of the last call; their steps, from the second call on */
    uint32_t row;    /* in the second pass: the current row, */
    uint32_t at;     /* how many of its calls have been numbered, */
    uint32_t number; /* and its strided terminal */
} Rows;

/* Rows of fewer than ROW_LEAST calls do not become strided. No row of a shape does if its rows,
 * after the first ROWS_FEW, have fewer than ROWS_AVERAGE calls on average. */
enum { ROW_LEAST = 64, ROWS_AVERAGE = 32, ROWS_FEW = 32 };

typedef struct {
    PartTable *t;
    Vector *terminals; /* PartTerminal: the new ones */
    /* their number; a strided one counts as the terminals that it stands for */
    uint64_t n_all;
    uint8_t *is_elastic; /* by shape */
    int64_t *shapes;     /* their numbers, as words */
    Vector *values;      /* Values */
    uint32_t *values_of; /* by former terminal: which; PAIR_NONE: it has slots */
    Rows *rows;          /* by shape; NULL: no terminal is to be strided */
    uint64_t rows_bytes;
    uint32_t hopeful; /* elastic shapes that are not hopeless */
    Map *strided;     /* the words of a strided terminal (Bytes) -> its number + 1 */
    Vector *numbers;  /* uint32_t, by former terminal */
    WendIntern table; /* of terminals of elastic shapes */
    WendArena records;
    WendGrammar *grammar;
    uint64_t words; /* slots of the new terminals */
} Unfolding;

/* Bytes that the merge takes for a terminal and for each of its slots (class.h). Measured with
 * random values. */
enum { TERMINAL_BYTES = 40, SLOT_BYTES = 16 };

static uint64_t memory(const Unfolding *u)
{
    return u->t->arena.bytes + u->records.bytes + intern_memory(&u->table)
           + grammar_memory(u->grammar)
           + u->terminals->len * (uint64_t)(sizeof(PartTerminal) + TERMINAL_BYTES)
           + u->words * SLOT_BYTES + u->rows_bytes;
}

static bool has_room(const Unfolding *u, uint64_t room, Error **error)
{
    if (memory(u) <= room)
        return true;
    error_set(error, WEND_ERROR_SYSTEM,
              "merging takes more than the %" PRIu64 " MB that are to spare", room >> 20);
    return false;
}

/* Called for CALLS equal consecutive calls of a former terminal. Returns false to end the walk. */
typedef bool (*CallFunction)(Unfolding *u, uint32_t former, const int64_t *words, uint32_t n,
                             uint64_t calls);

/* Calls F for all calls of the sequence. false: damaged, ended by F, or *ERROR is set. */
static bool go_through(Unfolding *u, const RuleRow *row, CallFunction f, uint64_t room,
                       Error **error)
{
    bool good = true;
    vector_resize(u->values, 0);
    for (uint32_t i = 0, stream = 0; i < u->t->terminals->len; i++) {
        const PartTerminal *terminal = &VECTOR_AT(u->t->terminals, PartTerminal, i);
        if (u->values_of[i] == PAIR_NONE)
            continue;
        Values v = values_of(
            terminal->count ? terminal : NULL,
            terminal->count ? NULL : &VECTOR_AT(u->t->streams, PartStream, stream++).runs);
        VECTOR_APPEND(u->values, v);
    }
    Expansion x = rules_expand(row);
    while (good && x.run) {
        const PartTerminal *former = &VECTOR_AT(u->t->terminals, PartTerminal, x.terminal);
        uint64_t calls = x.run;
        if (u->values_of[x.terminal] == PAIR_NONE) {
            good = f(u, x.terminal, former->words, former->n, calls);
        } else {
            Values *v = &VECTOR_AT(u->values, Values, u->values_of[x.terminal]);
            calls = values_next(v, x.run);
            good =
                calls > 0 && has_room(u, room, error)
                && f(u, x.terminal, (const int64_t *)(void *)v->slots->data, v->slots->len, calls);
        }
        expansion_advance(&x, calls);
    }
    expansion_clear(&x);
    for (uint32_t i = 0; good && i < u->values->len; i++)
        good = values_at_end(&VECTOR_AT(u->values, Values, i));
    return good;
}

/* -- runs of calls whose slots go up in equal steps; in names: rows -- */

/* Sets *STEP to the difference of two words. false: they have none. */
static bool step_of(int64_t from, int64_t to, int64_t *step)
{
    if (from == to) {
        *step = 0;
        return true;
    }
    return !word_is_special(from) && !word_is_special(to)
           && !__builtin_sub_overflow(to, from, step);
}

/* If a call with these slots continues the row, appends it and returns true. */
static bool goes_on(Rows *r, const int64_t *words, uint32_t n)
{
    uint32_t *length = &VECTOR_AT(r->lengths, uint32_t, r->lengths->len - 1);
    bool same = true;
    if (n != r->last->len || *length == INT32_MAX)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        int64_t step, *expected = &VECTOR_AT(r->steps, int64_t, k);
        if (!step_of(VECTOR_AT(r->last, int64_t, k), words[k], &step)
            || (*length > 1 && step != *expected))
            return false;
        *expected = step; /* a partial change does no harm: the caller ends the row */
        same &= step == 0;
    }
    if (same)
        return false;
    ++*length;
    return true;
}

static bool find_rows(Unfolding *u, uint32_t former, const int64_t *words, uint32_t n,
                      uint64_t calls)
{
    uint32_t shape = VECTOR_AT(u->t->terminals, PartTerminal, former).shape;
    Rows *r = &u->rows[shape];
    if (!u->is_elastic[shape] || r->hopeless)
        return true;
    if (!r->lengths)
        *r = (Rows){.lengths = vector_new(sizeof(uint32_t)),
                    .last = vector_new(sizeof(int64_t)),
                    .steps = vector_new(sizeof(int64_t))};
    r->calls += calls;
    if (calls > 1 || r->lengths->len == 0 || !goes_on(r, words, n)) {
        vector_append_all(r->lengths, (uint32_t[]){1}, 1);
        u->rows_bytes += 2 * sizeof(uint32_t); /* twice, as arrays grow by doubling */
        vector_resize(r->steps, n);
    }
    vector_resize(r->last, 0);
    vector_append_all(r->last, words, n);
    r->hopeless =
        calls > 1
        || ROWS_AVERAGE * ((uint64_t)r->lengths->len - MIN(r->lengths->len, ROWS_FEW)) > r->calls;
    u->hopeful -= r->hopeless;
    return u->hopeful > 0;
}

static void rows_free(Rows *rows, uint32_t n_shapes)
{
    for (uint32_t i = 0; rows && i < n_shapes; i++) {
        if (!rows[i].lengths)
            continue;
        vector_unref(rows[i].lengths);
        vector_unref(rows[i].last);
        vector_unref(rows[i].steps);
    }
    memory_free(rows);
}

/* -- terminals -- */

static uint32_t add_terminal(Unfolding *u, PartTerminal one)
{
    VECTOR_APPEND(u->terminals, one);
    u->words += one.n;
    u->n_all += one.count ? one.count : 1;
    return u->terminals->len - 1;
}

/* The terminal of a call of an elastic shape with the slots WORDS. They are copied for a new
 * terminal. */
static uint32_t number_of(Unfolding *u, uint32_t shape, const int64_t *words, uint32_t n)
{
    uint64_t hash;
    KnownSignature *known =
        (KnownSignature *)intern_find(&u->table, &u->shapes[shape], 1, words, n, &hash);
    if (known)
        return known->number;
    known = enough(arena_new(&u->records, sizeof *known));
    const int64_t *copy = enough(arena_copy(&u->t->arena, words, n * sizeof *words));
    known->signature =
        (WendSignature){.shape = &u->shapes[shape], .n_shape = 1, .slots = copy, .n_slots = n};
    known->number = add_terminal(u, (PartTerminal){.shape = shape, .n = n, .words = copy});
    if (!intern_add(&u->table, &known->signature, hash))
        enough(NULL);
    return known->number;
}

/* The strided terminal of COUNT calls. The first has the slots WORDS, the call before it LAST. */
static uint32_t strided_number(Unfolding *u, uint32_t shape, const int64_t *last,
                               const int64_t *words, uint32_t n, uint32_t count)
{
    WendBuf b = WEND_BUF_INIT;
    int64_t *steps = enough(arena_new(&u->t->arena, n * sizeof *steps));
    buf_unsigned(&b, shape);
    buf_unsigned(&b, count);
    for (uint32_t k = 0; k < n; k++) {
        steps[k] = (int64_t)((uint64_t)words[k] - (uint64_t)last[k]);
        buf_signed(&b, words[k]);
        buf_signed(&b, steps[k]);
    }
    AUTO(Bytes) key = bytes_new(b.data, b.len);
    buf_clear(&b);
    uint32_t number = NUMBER_OF(map_get(u->strided, key));
    if (number)
        return number - 1;
    number = add_terminal(
        u, (PartTerminal){shape, n, enough(arena_copy(&u->t->arena, words, n * sizeof *words)),
                          count, steps});
    map_put(u->strided, STEAL(key), OF_NUMBER(number + 1));
    return number;
}

/* The terminal of the next call of an elastic shape in the second pass. Advances in the row. */
static uint32_t number_in_row(Unfolding *u, uint32_t shape, const int64_t *words, uint32_t n)
{
    Rows *r = u->rows ? &u->rows[shape] : NULL;
    if (!r || r->hopeless || r->row == r->lengths->len)
        return number_of(u, shape, words, n);
    uint32_t length = VECTOR_AT(r->lengths, uint32_t, r->row), at = r->at++;
    if (r->at == length) {
        r->row++;
        r->at = 0;
    }
    if (length <= ROW_LEAST || at == 0)
        r->number = number_of(u, shape, words, n);
    else if (at == 1)
        r->number =
            strided_number(u, shape, (const int64_t *)(void *)r->last->data, words, n, length - 1);
    vector_resize(r->last, 0);
    vector_append_all(r->last, words, n);
    return r->number;
}

static bool number_calls(Unfolding *u, uint32_t former, const int64_t *words, uint32_t n,
                         uint64_t calls)
{
    const PartTerminal *old = &VECTOR_AT(u->t->terminals, PartTerminal, former);
    uint32_t *own = &VECTOR_AT(u->numbers, uint32_t, former), number;
    if (u->is_elastic[old->shape])
        number = number_in_row(u, old->shape, words, n);
    else
        number = *own != PAIR_NONE ? *own : add_terminal(u, *old);
    if (u->values_of[former] == PAIR_NONE && *own == PAIR_NONE)
        *own = number;
    if (!grammar_append(u->grammar, number, calls))
        enough(NULL);
    return u->n_all < INT32_MAX;
}

static void start(Unfolding *u, bool strided)
{
    uint32_t n = u->t->terminals->len;
    for (uint32_t i = 0, stream = 0, values = 0; i < n; i++) {
        const PartTerminal *one = &VECTOR_AT(u->t->terminals, PartTerminal, i);
        bool is_stream = stream < u->t->streams->len
                         && VECTOR_AT(u->t->streams, PartStream, stream).terminal == i;
        stream += is_stream;
        u->values_of[i] = is_stream || one->count ? values++ : PAIR_NONE;
        VECTOR_AT(u->numbers, uint32_t, i) = PAIR_NONE;
        if (!is_stream && one->count == 0)
            continue;
        u->hopeful += !u->is_elastic[one->shape];
        u->is_elastic[one->shape] = 1;
    }
    if (strided)
        u->rows = NEW0(Rows, u->t->n_shapes + 1);
}

bool elastic_unfold(PartTable *t, Bytes **grammar, bool strided, Vector *numbers, uint64_t room,
                    Error **error)
{
    uint32_t n = t->terminals->len;
    bool any = t->streams->len > 0;
    vector_resize(numbers, n);
    for (uint32_t i = 0; i < n; i++) {
        VECTOR_AT(numbers, uint32_t, i) = i;
        any |= VECTOR_AT(t->terminals, PartTerminal, i).count > 0;
    }
    if (!any)
        return true;
    RuleRow row;
    uint64_t length;
    if (!rules_from(&row, *grammar, n))
        return false;
    AUTOFREE uint8_t *is_elastic = NEW0(uint8_t, t->n_shapes + 1);
    AUTOFREE int64_t *shapes = NEW(int64_t, t->n_shapes + 1);
    AUTOFREE uint32_t *values_of = NEW(uint32_t, n + 1);
    Unfolding u = {.t = t,
                   .terminals = vector_new(sizeof(PartTerminal)),
                   .is_elastic = is_elastic,
                   .shapes = shapes,
                   .values = vector_new(sizeof(Values)),
                   .values_of = values_of,
                   .strided = map_of_bytes(NULL),
                   .numbers = numbers,
                   .grammar = enough(grammar_new())};
    vector_set_clear(u.values, values_clear);
    for (uint32_t i = 0; i < t->n_shapes; i++)
        shapes[i] = i;
    start(&u, strided);
    bool good = rules_length(&row, &length) && length <= elastic_calls_most;
    /* The first pass may fail: the second finds the same damage, and rows are optional. */
    if (good && strided)
        go_through(&u, &row, find_rows, room, NULL);
    good = good && go_through(&u, &row, number_calls, room, error);
    if (good) {
        WendBuf bytes = WEND_BUF_INIT;
        grammar_end(u.grammar, &bytes);
        bytes_unref(*grammar);
        *grammar = bytes_new(bytes.data, bytes.len);
        buf_clear(&bytes);
        vector_unref(t->terminals);
        t->terminals = vector_ref(u.terminals);
    } else {
        grammar_free(u.grammar);
    }
    vector_unref(u.terminals);
    vector_unref(u.values);
    map_unref(u.strided);
    rows_free(u.rows, t->n_shapes);
    intern_clear(&u.table);
    arena_clear(&u.records);
    rules_clear(&row);
    return good;
}
