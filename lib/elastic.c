/* elastic.c: see elastic.h. */
#include "elastic.h"

#include <string.h>

#include "grammar.h"
#include "intern.h"
#include "pairs.h"
#include "pieces.h"

guint64 elastic_calls_most = G_GUINT64_CONSTANT(1) << 62;

static gpointer enough(gpointer p)
{
    if (!p) g_error("out of memory while merging");
    return p;
}

/* -- as it is in a part -- */

static void read_stream(PartTable *t, WendCursor *c)
{
    wend_read_unsigned(c); /* entries: the grammar says as much */
    PartStream s = {t->terminals->len, wend_read_block(c)};
    PartTerminal terminal = {.shape = 0};
    g_array_append_val(t->streams, s);
    g_array_append_val(t->terminals, terminal);
}

static void read_slots(PartTable *t, WendCursor *c)
{
    PartTerminal terminal = {.n = (guint)wend_read_count(c, 1)};
    gint64 *words = enough(wend_arena_new(&t->arena, terminal.n * sizeof *words));
    for (guint k = 0; k < terminal.n; k++) words[k] = wend_read_signed(c);
    terminal.words = words;
    g_array_append_val(t->terminals, terminal);
}

gboolean part_table_read(PartTable *t, WendCursor *c)
{
    *t = (PartTable){.shapes = WEND_BUF_INIT, .terminals = g_array_new(FALSE, FALSE, sizeof(PartTerminal)), .streams = g_array_new(FALSE, FALSE, sizeof(PartStream))};
    t->n_shapes = (guint)wend_read_count(c, 1);
    wend_buf_unsigned(&t->shapes, t->n_shapes);
    for (guint i = 0; i < t->n_shapes && !c->failed; i++) {
        gsize n = wend_read_count(c, 1);
        wend_buf_unsigned(&t->shapes, n);
        for (gsize k = 0; k < n; k++) wend_buf_signed(&t->shapes, wend_read_signed(c));
    }
    gsize n_terminals = wend_read_count(c, 2);
    for (gsize i = 0; i < n_terminals && !c->failed; i++) {
        guint64 shape = wend_read_unsigned(c);
        if (shape & 1) read_stream(t, c); else read_slots(t, c);
        if (shape / 2 >= t->n_shapes) return FALSE;
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

/* -- a stream, call by call -- */

typedef struct {
    Pieces pieces;
    guint64 left;              /* calls of the run at hand */
    const gint64 *differences;
    guint n;
    GArray *slots;             /* gint64: of the last call */
} Values;

static void values_clear(gpointer p)
{
    Values *v = p;
    pieces_clear(&v->pieces);
    g_array_unref(v->slots);
}

/* The next call's slots are in V, and those of as many more as are equal to it; returns how many these are, MOST at most. 0: the stream has ended, or is damaged. */
static guint64 values_next(Values *v, guint64 most)
{
    if (v->left == 0 && !pieces_next_run(&v->pieces, &v->left, &v->differences, &v->n)) return 0;
    gboolean same = v->slots->len == v->n;
    if (!same) {
        guint known = v->slots->len;
        g_array_set_size(v->slots, v->n);
        for (guint k = known; k < v->n; k++) g_array_index(v->slots, gint64, k) = 0;
    }
    for (guint k = 0; k < v->n; k++) {
        gint64 *slot = &g_array_index(v->slots, gint64, k);
        *slot = (gint64)((guint64)*slot + (guint64)v->differences[k]);
        same = same && v->differences[k] == 0;
    }
    guint64 calls = same ? MIN(v->left, most) : 1;
    v->left -= calls;
    return calls;
}

/* -- all -- */

typedef struct { WendSignature signature; guint32 number; } Known;

typedef struct {
    PartTable *t;
    GArray *terminals;         /* PartTerminal: the new ones */
    guint8 *is_elastic;        /* by shape */
    gint64 *shapes;            /* their numbers, as words */
    GArray *streams;           /* Values */
    guint32 *stream_of;        /* by former terminal: the number of its stream, PAIR_NONE: it has slots */
    WendIntern table;          /* of terminals of elastic shapes */
    WendArena records;
    WendGrammar *grammar;
    guint64 words;             /* slots of the new terminals */
} Unfolding;

/* What the merge makes of a terminal and of each of its slots (class.h), measured with values by chance. */
enum { TERMINAL_BYTES = 40, SLOT_BYTES = 16 };

static guint64 memory(const Unfolding *u)
{
    return u->t->arena.bytes + u->records.bytes + wend_intern_memory(&u->table) + wend_grammar_memory(u->grammar) + u->terminals->len * (guint64)(sizeof(PartTerminal) + TERMINAL_BYTES) + u->words * SLOT_BYTES;
}

static guint32 add_terminal(Unfolding *u, guint32 shape, const gint64 *words, guint n)
{
    PartTerminal one = {shape, n, words};
    g_array_append_val(u->terminals, one);
    u->words += n;
    return u->terminals->len - 1;
}

/* That of a call of an elastic shape, whose slots are WORDS; they are copied if it is new. */
static guint32 number_of(Unfolding *u, guint32 shape, const gint64 *words, guint n)
{
    guint64 hash;
    Known *known = (Known *)wend_intern_find(&u->table, &u->shapes[shape], 1, words, n, &hash);
    if (known) return known->number;
    known = enough(wend_arena_new(&u->records, sizeof *known));
    const gint64 *copy = enough(wend_arena_copy(&u->t->arena, words, n * sizeof *words));
    known->signature = (WendSignature){.shape = &u->shapes[shape], .n_shape = 1, .slots = copy, .n_slots = n};
    known->number = add_terminal(u, shape, copy, n);
    if (!wend_intern_add(&u->table, &known->signature, hash)) enough(NULL);
    return known->number;
}

static void append(Unfolding *u, guint32 number, guint64 times)
{
    if (!wend_grammar_append(u->grammar, number, times)) enough(NULL);
}

static gboolean has_room(const Unfolding *u, guint64 room, GError **error)
{
    if (memory(u) <= room) return TRUE;
    g_set_error(error, WEND_ERROR, WEND_ERROR_SYSTEM, "merging takes more than the %" G_GUINT64_FORMAT " MB that are to spare", room >> 20);
    return FALSE;
}

static gboolean unfold(Unfolding *u, const RuleRow *row, GArray *numbers, guint64 room, GError **error)
{
    gboolean good = TRUE;
    Expansion x = rules_expand(row);
    while (good && x.run) {
        const PartTerminal *old = &g_array_index(u->t->terminals, PartTerminal, x.terminal);
        guint64 calls = x.run;
        if (u->stream_of[x.terminal] == PAIR_NONE) {
            guint32 *number = &g_array_index(numbers, guint32, x.terminal);
            if (*number == PAIR_NONE) *number = u->is_elastic[old->shape] ? number_of(u, old->shape, old->words, old->n) : add_terminal(u, old->shape, old->words, old->n);
            append(u, *number, calls);
        } else {
            Values *v = &g_array_index(u->streams, Values, u->stream_of[x.terminal]);
            calls = values_next(v, x.run);
            good = calls > 0 && u->terminals->len < G_MAXINT32 && has_room(u, room, error);
            if (good) append(u, number_of(u, old->shape, (const gint64 *)(gpointer)v->slots->data, v->slots->len), calls);
        }
        expansion_advance(&x, calls);
    }
    expansion_clear(&x);
    for (guint i = 0; good && i < u->streams->len; i++) good = values_next(&g_array_index(u->streams, Values, i), 1) == 0 && !g_array_index(u->streams, Values, i).pieces.c.failed;
    return good;
}

gboolean elastic_unfold(PartTable *t, GBytes **grammar, GArray *numbers, guint64 room, GError **error)
{
    guint n = t->terminals->len;
    g_array_set_size(numbers, n);
    for (guint32 i = 0; i < n; i++) g_array_index(numbers, guint32, i) = i;
    if (t->streams->len == 0) return TRUE;
    RuleRow row;
    guint64 length;
    if (!rules_from(&row, *grammar, n)) return FALSE;
    g_autofree guint8 *is_elastic = g_new0(guint8, t->n_shapes + 1);
    g_autofree gint64 *shapes = g_new(gint64, t->n_shapes + 1);
    g_autofree guint32 *stream_of = g_new(guint32, n + 1);
    Unfolding u = {.t = t, .terminals = g_array_new(FALSE, FALSE, sizeof(PartTerminal)), .is_elastic = is_elastic, .shapes = shapes, .streams = g_array_new(FALSE, FALSE, sizeof(Values)), .stream_of = stream_of,
                   .grammar = enough(wend_grammar_new())};
    g_array_set_clear_func(u.streams, values_clear);
    for (guint i = 0; i < t->n_shapes; i++) shapes[i] = i;
    for (guint i = 0; i < n; i++) stream_of[i] = g_array_index(numbers, guint32, i) = PAIR_NONE;
    for (guint i = 0; i < t->streams->len; i++) {
        const PartStream *s = &g_array_index(t->streams, PartStream, i);
        Values v = {.slots = g_array_new(FALSE, FALSE, sizeof(gint64))};
        pieces_init(&v.pieces, s->pieces.p, (gsize)(s->pieces.end - s->pieces.p), NULL, 0);
        g_array_append_val(u.streams, v);
        stream_of[s->terminal] = i;
        is_elastic[g_array_index(t->terminals, PartTerminal, s->terminal).shape] = 1;
    }
    gboolean good = rules_length(&row, &length) && length <= elastic_calls_most && unfold(&u, &row, numbers, room, error);
    if (good) {
        WendBuf bytes = WEND_BUF_INIT;
        wend_grammar_end(u.grammar, &bytes);
        if (bytes.failed) enough(NULL);
        g_bytes_unref(*grammar);
        *grammar = g_bytes_new(bytes.data, bytes.len);
        wend_buf_clear(&bytes);
        g_array_unref(t->terminals);
        t->terminals = g_array_ref(u.terminals);
    } else {
        wend_grammar_free(u.grammar);
    }
    g_array_unref(u.terminals);
    g_array_unref(u.streams);
    wend_intern_clear(&u.table);
    wend_arena_clear(&u.records);
    rules_clear(&row);
    return good;
}
