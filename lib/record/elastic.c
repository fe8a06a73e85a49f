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

/* -- a stream, call by call -- */

typedef struct {
    OutcomeRuns runs;
    uint64_t left; /* calls of the run at hand */
    const int64_t *differences;
    uint32_t n;
    Vector *slots; /* int64_t: of the last call */
} Values;

static void values_clear(void *p)
{
    Values *v = p;
    outcome_runs_clear(&v->runs);
    vector_unref(v->slots);
}

static int64_t sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Puts the slots of the next call into V. Returns the number of next calls that have these
 * slots, at most MOST; 0 if the stream has ended or is damaged. */
static uint64_t values_next(Values *v, uint64_t most)
{
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

/* Have all values been read, without damage? */
static bool values_at_end(Values *v)
{
    return values_next(v, 1) == 0 && !v->runs.c.failed;
}

/* -- the unfolding of a sequence -- */

typedef struct {
    WendSignature signature;
    uint32_t number;
} KnownSignature;

typedef struct {
    PartTable *t;
    Vector *terminals;   /* PartTerminal: the new ones */
    uint8_t *is_elastic; /* by shape */
    int64_t *shapes;     /* their numbers, as words */
    Vector *values;      /* Values */
    uint32_t *values_of; /* by former terminal: which; PAIR_NONE: it has slots */
    Vector *numbers;     /* uint32_t, by former terminal */
    WendIntern table;    /* of terminals of elastic shapes */
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
           + u->words * SLOT_BYTES;
}

static bool has_room(const Unfolding *u, uint64_t room, Error **error)
{
    if (memory(u) <= room)
        return true;
    error_set(error, WEND_ERROR_SYSTEM,
              "merging takes more than the %" PRIu64 " MB that are to spare", room >> 20);
    return false;
}

/* -- terminals -- */

static uint32_t add_terminal(Unfolding *u, PartTerminal one)
{
    VECTOR_APPEND(u->terminals, one);
    u->words += one.n;
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

/* Appends CALLS equal consecutive calls of a former terminal. */
static void append_calls(Unfolding *u, uint32_t former, const int64_t *words, uint32_t n,
                         uint64_t calls)
{
    const PartTerminal *old = &VECTOR_AT(u->t->terminals, PartTerminal, former);
    uint32_t *own = &VECTOR_AT(u->numbers, uint32_t, former), number;
    if (u->is_elastic[old->shape])
        number = number_of(u, old->shape, words, n);
    else
        number = *own != PAIR_NONE ? *own : add_terminal(u, *old);
    if (u->values_of[former] == PAIR_NONE)
        *own = number;
    if (!grammar_append(u->grammar, number, calls))
        enough(NULL);
}

/* Appends all calls of the sequence. false: damaged, or *ERROR is set. */
static bool append_all_calls(Unfolding *u, const RuleRow *row, uint64_t room, Error **error)
{
    bool good = true;
    Expansion x = rules_expand(row);
    while (good && x.run) {
        const PartTerminal *former = &VECTOR_AT(u->t->terminals, PartTerminal, x.terminal);
        uint64_t calls = x.run;
        if (u->values_of[x.terminal] == PAIR_NONE) {
            append_calls(u, x.terminal, former->words, former->n, calls);
        } else {
            Values *v = &VECTOR_AT(u->values, Values, u->values_of[x.terminal]);
            calls = values_next(v, x.run);
            good = calls > 0 && has_room(u, room, error);
            if (good)
                append_calls(u, x.terminal, (const int64_t *)(void *)v->slots->data, v->slots->len,
                             calls);
        }
        good = good && u->terminals->len < INT32_MAX;
        expansion_advance(&x, calls);
    }
    expansion_clear(&x);
    for (uint32_t i = 0; good && i < u->values->len; i++)
        good = values_at_end(&VECTOR_AT(u->values, Values, i));
    return good;
}

static void start(Unfolding *u)
{
    for (uint32_t i = 0; i < u->t->terminals->len; i++) {
        u->values_of[i] = PAIR_NONE;
        VECTOR_AT(u->numbers, uint32_t, i) = PAIR_NONE;
    }
    for (uint32_t i = 0; i < u->t->streams->len; i++) {
        const PartStream *stream = &VECTOR_AT(u->t->streams, PartStream, i);
        Values v = {.slots = vector_new(sizeof(int64_t))};
        outcome_runs_init_part(&v.runs, stream->runs.p,
                               (size_t)(stream->runs.end - stream->runs.p));
        VECTOR_APPEND(u->values, v);
        u->values_of[stream->terminal] = i;
        u->is_elastic[VECTOR_AT(u->t->terminals, PartTerminal, stream->terminal).shape] = 1;
    }
}

bool elastic_unfold(PartTable *t, Bytes **grammar, Vector *numbers, uint64_t room, Error **error)
{
    uint32_t n = t->terminals->len;
    vector_resize(numbers, n);
    for (uint32_t i = 0; i < n; i++)
        VECTOR_AT(numbers, uint32_t, i) = i;
    if (t->streams->len == 0)
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
                   .numbers = numbers,
                   .grammar = enough(grammar_new())};
    vector_set_clear(u.values, values_clear);
    for (uint32_t i = 0; i < t->n_shapes; i++)
        shapes[i] = i;
    start(&u);
    bool good = rules_length(&row, &length) && length <= elastic_calls_most
                && append_all_calls(&u, &row, room, error);
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
    intern_clear(&u.table);
    arena_clear(&u.records);
    rules_clear(&row);
    return good;
}
