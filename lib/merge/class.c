/* SPDX-License-Identifier: BSD-3-Clause */
/* class.c: a class of ranks: reads it from a part, encodes and decodes it, merges two. See
 * class.h. */
#include "class.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/pairs.h"
#include "base/shortage.h"
#include "derive.h"
#include "record/functions.h"
#include "refine.h"
#include "timing-rows.h"

static void poll_table_free(gpointer p)
{
    PollTable *t = p;
    table_clear(&t->table);
    rankset_clear(&t->ranks);
    g_free(t);
}

static void free_outcomes(Contents *outcomes, guint n_shapes)
{
    for (guint i = 0; outcomes && i < n_shapes; i++)
        contents_clear(&outcomes[i]);
    g_free(outcomes);
}

static void sequence_clear(Sequence *s)
{
    free_outcomes(s->outcomes, s->table.n_shapes);
    g_free(s->timed_as);
    g_free(s->timing);
    for (guint i = 0; s->aligned_times && i < s->aligned_times->len; i++) {
        ClassTimes *t = &g_array_index(s->aligned_times, ClassTimes, i);
        rankset_clear(&t->ranks);
        g_free(t->timed_as);
        g_free(t->timing);
    }
    g_clear_pointer(&s->aligned_times, g_array_unref);
    table_clear(&s->table);
    g_clear_pointer(&s->grammar, g_bytes_unref);
    g_clear_pointer(&s->poll_tables, g_ptr_array_unref);
    contents_clear(&s->poll_grammars);
}

void class_free(Class *k)
{
    if (!k)
        return;
    for (guint i = 0; i < k->n_sequences; i++)
        sequence_clear(&k->sequences[i]);
    g_free(k->sequences);
    rankset_clear(&k->ranks);
    g_clear_pointer(&k->key, g_bytes_unref);
    g_clear_pointer(&k->shapes_key, g_bytes_unref);
    g_free(k);
}

gsize class_memory(const Class *k)
{
    gsize all = sizeof *k + g_bytes_get_size(k->key);
    for (guint i = 0; i < k->n_sequences; i++) {
        const Sequence *s = &k->sequences[i];
        all += sizeof *s + table_memory(&s->table) + g_bytes_get_size(s->grammar)
               + s->table.n_terminals * sizeof *s->timed_as
               + 2 * (gsize)s->n_timed * sizeof *s->timing;
        for (guint o = 0; o < s->table.n_shapes; o++)
            all += contents_memory(&s->outcomes[o]);
        for (guint p = 0; p < s->poll_tables->len; p++)
            all += table_memory(&((const PollTable *)g_ptr_array_index(s->poll_tables, p))->table);
        all += contents_memory(&s->poll_grammars);
    }
    return all;
}

static void put_block(WendBuf *out, GBytes *block)
{
    gsize n;
    const void *bytes = g_bytes_get_data(block, &n);
    wend_buf_unsigned(out, n);
    wend_buf_bytes(out, bytes, n);
}

/* The bytes of B, which it clears. */
static GBytes *bytes_from(WendBuf *b)
{
    if (b->failed)
        wend_shortage();
    GBytes *bytes = g_bytes_new(b->data, b->len);
    wend_buf_clear(b);
    return bytes;
}

static void make_key(Class *k)
{
    WendBuf key = WEND_BUF_INIT;
    for (guint i = 0; i < k->n_sequences; i++) {
        const Sequence *s = &k->sequences[i];
        wend_buf_unsigned(&key, s->kind);
        wend_buf_signed(&key, s->id);
        put_block(&key, s->table.structure);
        put_block(&key, s->grammar);
    }
    g_clear_pointer(&k->key, g_bytes_unref);
    k->key = bytes_from(&key);
}

/* The key of shapes. It is the key itself if a sequence cannot be refined. */
static void make_shapes_key(Class *k)
{
    WendBuf key = WEND_BUF_INIT;
    for (guint i = 0; i < k->n_sequences; i++) {
        const Sequence *s = &k->sequences[i];
        g_autoptr(GBytes) shapes = table_shapes_bytes(&s->table);
        wend_buf_unsigned(&key, s->kind);
        wend_buf_signed(&key, s->id);
        put_block(&key, shapes);
        if (refine_key(s, &key))
            continue;
        wend_buf_clear(&key);
        k->shapes_key = g_bytes_ref(k->key);
        return;
    }
    k->shapes_key = bytes_from(&key);
}

static Class *class_new(gsize n_sequences)
{
    Class *k = g_new0(Class, 1);
    k->n_sequences = n_sequences;
    k->sequences = g_new0(Sequence, MAX(n_sequences, 1));
    for (guint i = 0; i < k->n_sequences; i++) {
        k->sequences[i].poll_tables = g_ptr_array_new_with_free_func(poll_table_free);
        contents_init(&k->sequences[i].poll_grammars);
    }
    return k;
}

static GBytes *read_bytes(WendCursor *c)
{
    WendCursor block = wend_cursor_block(c);
    return g_bytes_new(block.p, c->failed ? 0 : block.end - block.p);
}

/* -- a part -- */

static TimingSum part_timing(WendCursor *c)
{
    guint64 count = wend_cursor_unsigned(c);
    if (count == 0)
        return (TimingSum){0};
    double mean = timing_read_double(c), min = timing_read_double(c), max = timing_read_double(c),
           m2 = timing_read_double(c);
    return timing_from_moments(count, mean, min, max, m2);
}

/* Each terminal has a row of its own, except that all terminals of a shape share one if they are
 * more than WEND_TIMED_APART. */
static void time_apart(Sequence *s)
{
    guint n = s->table.n_terminals;
    g_autofree guint32 *counts = g_new(guint32, n + 1);
    s->timed_as = g_new(guint32, MAX(n, 1));
    for (guint32 i = 0; i < n; i++) {
        const Strided *a = table_strided(&s->table, i);
        counts[i] = a ? a->count : 1;
        s->timed_as[i] = i;
    }
    s->n_timed = timing_rows(s->table.terminal_shape, counts, s->timed_as, n);
    s->timing = g_new0(TimingSum, 2 * (gsize)s->n_timed + 1);
}

gboolean class_is_strided(const Class *k)
{
    for (guint i = 0; i < k->n_sequences; i++)
        if (k->sequences[i].table.strided)
            return TRUE;
    return FALSE;
}

static gboolean sequence_spread(Sequence *s, guint32 rank)
{
    PartTable t;
    Table table = {0};
    GBytes *grammar = g_bytes_ref(s->grammar);
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(guint32));
    table_to_part(&s->table, &t);
    gboolean good = elastic_unfold(&t, &grammar, FALSE, numbers, G_MAXUINT64, NULL)
                    && table_from_part(&table, &t, rank);
    part_table_clear(&t);
    if (!good) {
        table_clear(&table);
        g_bytes_unref(grammar);
        return FALSE;
    }
    /* A shape with a strided terminal has so many terminals that all share a row. */
    guint32 *timed_as = g_new(guint32, table.n_terminals + 1);
    g_autofree guint32 *of_shape = g_new0(guint32, table.n_shapes + 1);
    for (guint i = 0; i < s->table.n_terminals; i++)
        of_shape[s->table.terminal_shape[i]] = s->timed_as[i];
    for (guint i = 0; i < table.n_terminals; i++)
        timed_as[i] = of_shape[table.terminal_shape[i]];
    for (guint i = 0; i < s->table.n_terminals; i++) {
        guint32 number = g_array_index(numbers, guint32, i);
        if (number != PAIR_NONE)
            timed_as[number] = s->timed_as[i];
    }
    g_free(s->timed_as);
    s->timed_as = timed_as;
    table_clear(&s->table);
    s->table = table;
    g_bytes_unref(s->grammar);
    s->grammar = grammar;
    return TRUE;
}

gboolean class_spread(Class *k)
{
    gboolean good = TRUE;
    for (guint i = 0; good && i < k->n_sequences; i++)
        good = !k->sequences[i].table.strided
               || sequence_spread(&k->sequences[i], rankset_lowest(&k->ranks));
    make_key(k);
    return good;
}

/* A stream of equal entries is kept without its length, which is the number of calls. So it is the
 * same content on ranks with different numbers of calls. */
static GBytes *read_stream(WendCursor *c)
{
    WendCursor block = wend_cursor_block(c), run = block;
    if (c->failed)
        return g_bytes_new(NULL, 0);
    gboolean is_run = wend_cursor_unsigned(&run) > 0;
    const guint8 *entry = run.p;
    guint64 head = wend_cursor_unsigned(&run);
    for (guint64 n = head >> 1; n > 0 && !run.failed; n--)
        wend_cursor_signed(&run);
    if (!is_run || head & 1 || run.failed || run.p != run.end)
        return g_bytes_new(block.p, block.end - block.p);
    WendBuf once = WEND_BUF_INIT;
    wend_buf_unsigned(&once, 1);
    wend_buf_bytes(&once, entry, run.end - entry);
    return bytes_from(&once);
}

/* A stream of outcomes for each shape. */
static Contents *part_outcomes(WendCursor *c, guint n_shapes, const RankSet *ranks)
{
    Contents *outcomes = g_new0(Contents, MAX(n_shapes, 1));
    for (guint i = 0; i < n_shapes; i++) {
        wend_cursor_unsigned(c); /* entries, which follow from the grammar */
        g_autoptr(GBytes) stream = read_stream(c);
        contents_init(&outcomes[i]);
        contents_add(&outcomes[i], stream, ranks);
    }
    return outcomes;
}

/* Reads durations and intervals by terminal, or none. NULL: damaged. */
static GArray *part_times(WendCursor *c, guint n_terminals)
{
    gsize n = wend_cursor_count(c, 2);
    if (c->failed || (n != 0 && n != n_terminals))
        return NULL;
    GArray *times = g_array_sized_new(FALSE, FALSE, sizeof(TimingSum), 2 * (guint)n);
    for (gsize i = 0; i < 2 * n; i++) {
        TimingSum sum = part_timing(c);
        g_array_append_val(times, sum);
    }
    return times;
}

/* Adds the durations in TIMES, as part_times gives them, to the functions of the terminals. */
static void add_seconds(const PartTable *t, const GArray *times, double *seconds)
{
    if (times->len == 0)
        return;
    WendCursor c = wend_cursor(t->shapes.data, t->shapes.len);
    g_autofree guint64 *function_of = g_new(guint64, t->n_shapes + 1);
    wend_cursor_unsigned(&c);
    for (guint i = 0; i < t->n_shapes; i++) {
        guint64 n = wend_cursor_unsigned(&c);
        for (guint64 k = 0; k < n && !c.failed; k++) {
            gint64 word = wend_cursor_signed(&c);
            if (k == 0)
                function_of[i] = (guint64)word >> 1;
        }
    }
    for (guint i = 0; i < t->terminals->len && !c.failed; i++) {
        const TimingSum *sum = &g_array_index(times, TimingSum, 2 * i);
        guint64 function = function_of[g_array_index(t->terminals, PartTerminal, i).shape];
        if (sum->count > 0 && function < wend_n_functions
            && !(wend_functions[function].flags & WEND_F_PSEUDO))
            seconds[function] = MAX(seconds[function], 0) + ldexp((double)sum->sum, -60);
    }
}

static gboolean part_main(Sequence *s, WendCursor *c, guint32 rank, const RankSet *ranks,
                          guint64 room, double *seconds, GError **error)
{
    PartTable t;
    gboolean good = part_table_read(&t, c);
    Contents *outcomes = good ? part_outcomes(c, t.n_shapes, ranks) : NULL;
    g_autoptr(GArray) times = good ? part_times(c, t.terminals->len) : NULL;
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(guint32));
    s->grammar = read_bytes(c);
    if (times && !c->failed)
        add_seconds(&t, times, seconds);
    good = times && !c->failed && elastic_unfold(&t, &s->grammar, TRUE, numbers, room, error)
           && table_from_part(&s->table, &t, rank);
    if (good) {
        s->outcomes = outcomes;
        time_apart(s);
        for (guint i = 0; i < times->len; i++) {
            guint32 terminal = g_array_index(numbers, guint32, i / 2);
            if (terminal != PAIR_NONE)
                timing_add(&s->timing[2 * s->timed_as[terminal] + i % 2],
                           &g_array_index(times, TimingSum, i));
        }
    } else {
        free_outcomes(outcomes, t.n_shapes);
    }
    part_table_clear(&t);
    return good;
}

/* Reads a table of polls. Their outcomes and their own times are not kept. */
static gboolean part_polls(Table *polls, WendCursor *c, guint32 rank, const RankSet *ranks,
                           double *seconds)
{
    PartTable t;
    gboolean good =
        part_table_read(&t, c) && t.streams->len == 0 && table_from_part(polls, &t, rank);
    if (good) {
        free_outcomes(part_outcomes(c, t.n_shapes, ranks), t.n_shapes);
        g_autoptr(GArray) times = part_times(c, t.terminals->len);
        good = times != NULL;
        if (good && !c->failed)
            add_seconds(&t, times, seconds);
    }
    part_table_clear(&t);
    return good && !c->failed;
}

static gboolean part_sequence(Sequence *s, WendCursor *c, guint32 rank, const RankSet *ranks,
                              guint64 room, double *seconds, GError **error)
{
    s->kind = wend_cursor_unsigned(c);
    s->id = wend_cursor_signed(c);
    if (!part_main(s, c, rank, ranks, room, seconds, error))
        return FALSE;
    guint64 polls_after = wend_cursor_unsigned(c);

    PollTable *polls = g_new0(PollTable, 1);
    g_ptr_array_add(s->poll_tables, polls);
    polls->ranks = rankset_copy(ranks);
    if (!part_polls(&polls->table, c, rank, ranks, seconds))
        return FALSE;
    GBytes *grammar = read_bytes(c);
    if (polls->table.n_terminals == 0) {
        g_ptr_array_set_size(s->poll_tables, 0);
    } else {
        WendBuf b = WEND_BUF_INIT;
        gsize n;
        const void *bytes = g_bytes_get_data(grammar, &n);
        wend_buf_unsigned(&b, polls_after);
        wend_buf_bytes(&b, bytes, n);
        g_autoptr(GBytes) content = g_bytes_new(b.data, b.len);
        contents_add(&s->poll_grammars, content, ranks);
        wend_buf_clear(&b);
    }
    g_bytes_unref(grammar);
    return !c->failed && s->kind < WEND_SEQUENCE_KINDS;
}

/* Orders threads by number, then callbacks, then orders of threads. So the order in which a run
 * started them does not matter. */
static int by_kind_and_id(const void *a, const void *b)
{
    const Sequence *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

Class *class_from_part(WendCursor *c, guint32 rank, guint64 room, double *seconds, GError **error)
{
    gsize n = wend_cursor_count(c, 8);
    Class *k = class_new(n);
    k->ranks = rankset_single(rank);
    for (guint i = 0; i < k->n_sequences; i++)
        if (!part_sequence(&k->sequences[i], c, rank, &k->ranks, room, seconds, error)) {
            class_free(k);
            return NULL;
        }
    qsort(k->sequences, k->n_sequences, sizeof(Sequence), by_kind_and_id);
    make_key(k);
    make_shapes_key(k);
    return k;
}

/* -- between processes -- */

/* Writes for each terminal 0 if its row is new, else 1 + the row's number; then the rows. Rows are
 * numbered by first use. */
static void encode_timing(const Sequence *s, WendBuf *out)
{
    for (guint32 t = 0, n = 0; t < s->table.n_terminals; t++) {
        gboolean first = s->timed_as[t] == n;
        wend_buf_unsigned(out, first ? 0 : (guint64)s->timed_as[t] + 1);
        n += first;
    }
    for (guint t = 0; t < 2 * s->n_timed; t++)
        timing_encode(&s->timing[t], out);
}

static gboolean decode_timing(Sequence *s, WendCursor *c)
{
    s->timed_as = g_new(guint32, MAX(s->table.n_terminals, 1));
    for (guint32 t = 0; t < s->table.n_terminals; t++) {
        guint64 row = wend_cursor_unsigned(c);
        if (row > s->n_timed)
            return FALSE;
        s->timed_as[t] = row ? (guint32)(row - 1) : s->n_timed++;
    }
    s->timing = g_new0(TimingSum, 2 * (gsize)s->n_timed + 1);
    for (guint t = 0; t < 2 * s->n_timed; t++)
        s->timing[t] = timing_decode(c);
    return !c->failed;
}

void class_encode(const Class *k, WendBuf *out)
{
    rankset_encode(&k->ranks, out);
    wend_buf_unsigned(out, (guint64)k->n_sequences << 1 | (k->apart ? 1 : 0));
    for (guint i = 0; i < k->n_sequences; i++) {
        const Sequence *s = &k->sequences[i];
        wend_buf_unsigned(out, s->kind);
        wend_buf_signed(out, s->id);
        table_encode(&s->table, out);
        put_block(out, s->grammar);
        encode_timing(s, out);
        for (guint o = 0; o < s->table.n_shapes; o++)
            contents_encode(&s->outcomes[o], out);
        wend_buf_unsigned(out, s->poll_tables->len);
        for (guint p = 0; p < s->poll_tables->len; p++) {
            const PollTable *polls = g_ptr_array_index(s->poll_tables, p);
            rankset_encode(&polls->ranks, out);
            table_encode(&polls->table, out);
        }
        contents_encode(&s->poll_grammars, out);
    }
}

static gboolean decode_sequence(Sequence *s, WendCursor *c, guint32 ranks, guint32 world)
{
    s->kind = wend_cursor_unsigned(c);
    s->id = wend_cursor_signed(c);
    if (s->kind >= WEND_SEQUENCE_KINDS || !table_decode(&s->table, c, ranks))
        return FALSE;
    s->grammar = read_bytes(c);
    if (!decode_timing(s, c))
        return FALSE;
    s->outcomes = g_new0(Contents, MAX(s->table.n_shapes, 1));
    for (guint o = 0; o < s->table.n_shapes; o++)
        if (!contents_decode(&s->outcomes[o], c, world))
            return FALSE;
    gsize n = wend_cursor_count(c, 2);
    for (gsize p = 0; p < n; p++) {
        PollTable *polls = g_new0(PollTable, 1);
        g_ptr_array_add(s->poll_tables, polls);
        if (!rankset_decode(&polls->ranks, c, world)
            || !table_decode(&polls->table, c, polls->ranks.n))
            return FALSE;
    }
    contents_clear(&s->poll_grammars);
    return contents_decode(&s->poll_grammars, c, world);
}

Class *class_decode(WendCursor *c, guint32 world)
{
    RankSet ranks;
    if (!rankset_decode(&ranks, c, world))
        return NULL;
    guint64 n = wend_cursor_unsigned(c);
    if (c->failed || n >> 1 > (guint64)(c->end - c->p) / 8) {
        rankset_clear(&ranks);
        return NULL;
    }
    Class *k = class_new(n >> 1);
    k->apart = n & 1;
    k->ranks = ranks;
    for (guint i = 0; i < k->n_sequences; i++)
        if (!decode_sequence(&k->sequences[i], c, ranks.n, world)) {
            class_free(k);
            return NULL;
        }
    if (c->failed || k->ranks.n == 0) {
        class_free(k);
        return NULL;
    }
    make_key(k);
    make_shapes_key(k);
    return k;
}

/* -- two into one -- */

/* Terminals that share a row in one of two sequences share one in the result. This returns the
 * group of a row (union-find). */
static guint32 group_of(guint32 *group, guint32 t)
{
    while (group[t] != t)
        t = group[t] = group[group[t]];
    return t;
}

static void merge_timing(Sequence *a, const Sequence *b)
{
    guint n = a->table.n_terminals;
    const Sequence *sides[] = {a, b};
    g_autofree guint32 *group = g_new(guint32, n + 1), *row_of = g_new(guint32, n + 1);
    for (guint32 t = 0; t < n; t++)
        group[t] = t;
    for (int k = 0; k < 2; k++) {
        g_autofree guint32 *first = g_new0(guint32, sides[k]->n_timed + 1); /* + 1 */
        for (guint32 t = 0; t < n; t++) {
            guint32 *of_row = &first[sides[k]->timed_as[t]];
            if (!*of_row)
                *of_row = t + 1;
            guint32 x = group_of(group, *of_row - 1), y = group_of(group, t);
            group[MAX(x, y)] = MIN(x, y);
        }
    }
    guint32 *timed_as = g_new(guint32, n + 1), n_timed = 0;
    for (guint32 t = 0; t < n; t++) {
        guint32 lowest = group_of(group, t);
        if (lowest == t)
            row_of[t] = n_timed++;
        timed_as[t] = row_of[lowest];
    }
    TimingSum *timing = g_new0(TimingSum, 2 * (gsize)n_timed + 1);
    for (int k = 0; k < 2; k++) {
        g_autofree guint8 *done = g_new0(guint8, sides[k]->n_timed + 1);
        for (guint32 t = 0; t < n; t++) {
            guint32 from = sides[k]->timed_as[t];
            for (guint i = 0; i < 2 && !done[from]; i++)
                timing_add(&timing[2 * timed_as[t] + i], &sides[k]->timing[2 * from + i]);
            done[from] = TRUE;
        }
    }
    g_free(a->timed_as);
    g_free(a->timing);
    a->timed_as = timed_as;
    a->n_timed = n_timed;
    a->timing = timing;
}

static void merge_polls(Sequence *a, const Sequence *b)
{
    for (guint i = 0; i < b->poll_tables->len; i++) {
        const PollTable *theirs = g_ptr_array_index(b->poll_tables, i);
        PollTable *ours = NULL;
        for (guint j = 0; j < a->poll_tables->len && !ours; j++) {
            PollTable *t = g_ptr_array_index(a->poll_tables, j);
            if (g_bytes_equal(t->table.structure, theirs->table.structure))
                ours = t;
        }
        if (ours) {
            table_merge(&ours->table, &ours->ranks, &theirs->table, &theirs->ranks);
            rankset_unite(&ours->ranks, &theirs->ranks);
            continue;
        }
        WendBuf copy = WEND_BUF_INIT;
        table_encode(&theirs->table, &copy);
        WendCursor c = wend_cursor(copy.data, copy.len);
        ours = g_new0(PollTable, 1);
        ours->ranks = rankset_copy(&theirs->ranks);
        table_decode(&ours->table, &c, ours->ranks.n);
        wend_buf_clear(&copy);
        g_ptr_array_add(a->poll_tables, ours);
    }
    contents_merge(&a->poll_grammars, &b->poll_grammars);
}

static gboolean same_terminals(const Sequence *a, const Sequence *b)
{
    return g_bytes_equal(a->table.structure, b->table.structure)
           && g_bytes_equal(a->grammar, b->grammar);
}

/* In an archive the values of several slots that are equal are stored once, and values that follow
 * from others are not stored. A slot with few ranks counts only two bytes for each value, since
 * ranks that are merged later add only these. */
gsize class_cost(const Table *t, GBytes *grammar, guint32 all_ranks, const guint8 *known)
{
    enum { TERMINAL = 2, SEEN = 2, ONE = 3, EACH = 2 };
    /* hashes of the values of slots */
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    gsize cost = g_bytes_get_size(grammar);
    for (guint i = 0; i < t->n_terminals; i++) {
        if (known && known[i])
            continue;
        cost += TERMINAL;
        const RankVector *slots = &t->slots[t->first_slot[i]];
        guint n = t->first_slot[i + 1] - t->first_slot[i];
        guint32 ranks = t->ranks ? t->ranks[i].n : all_ranks;
        g_autofree Derived *derived = derive_slots(slots, n, ranks);
        for (guint k = 0; k < n; k++) {
            if (!rank_vector_is_deltas(&slots[k]) || (derived && derived[k].kind)) {
                cost += ONE;
                continue;
            }
            WendBuf row = WEND_BUF_INIT;
            rank_vector_encode(&slots[k], &row);
            gint64 hash = (gint64)XXH3_64bits(row.data, row.len);
            cost += g_hash_table_add(seen, g_memdup2(&hash, sizeof hash))
                        ? MIN(row.len, ONE - EACH + EACH * (gsize)ranks)
                        : SEEN;
            wend_buf_clear(&row);
        }
    }
    return cost;
}

/* A refined sequence of two classes: its terminals, and the table over the ranks of both. */
typedef struct {
    Refinement refinement;
    Table table;
} Refined;

static void refined_clear(Refined *r)
{
    refinement_clear(&r->refinement);
    table_clear(&r->table);
}

/* Refines the sequences that differ. FALSE: one cannot be refined, or it saves little. With random
 * values a class of both takes nearly as much as two, and ranks with equal values could not be
 * merged as such any more. */
static gboolean refine_all(const Class *a, const Class *b, Refined *refined)
{
    gsize first = 0, second = 0, one = 0;
    for (guint i = 0; i < a->n_sequences; i++) {
        const Sequence *s = &a->sequences[i], *t = &b->sequences[i];
        Refined *r = &refined[i];
        if (same_terminals(s, t))
            continue;
        if (!refine(&r->refinement, s, t))
            return FALSE;
        r->table = table_refined(&s->table, r->refinement.of[0], r->refinement.n);
        Table theirs = table_refined(&t->table, r->refinement.of[1], r->refinement.n);
        table_merge(&r->table, &a->ranks, &theirs, &b->ranks);
        table_clear(&theirs);
        first += class_cost(&s->table, s->grammar, a->ranks.n, NULL);
        second += class_cost(&t->table, t->grammar, b->ranks.n, NULL);
        one += class_cost(&r->table, r->refinement.grammar, a->ranks.n + b->ranks.n, NULL);
    }
    return one + MIN(first, second) / 4 <= first + second;
}

/* Replaces the rows of times by those of the new terminals: i was OF[i]. */
static void time_as(guint32 **timed_as, const guint32 *of, guint n)
{
    guint32 *timed = g_new(guint32, n + 1);
    for (guint i = 0; i < n; i++)
        timed[i] = of[i] == PAIR_NONE ? PAIR_NONE : (*timed_as)[of[i]];
    g_free(*timed_as);
    *timed_as = timed;
}

/* Merges outcomes, polls and times. Tables have been merged. */
static void merge_encoded(Sequence *s, const Sequence *t)
{
    merge_timing(s, t);
    for (guint o = 0; o < s->table.n_shapes; o++)
        contents_merge(&s->outcomes[o], &t->outcomes[o]);
    merge_polls(s, t);
}

void class_join(Class *a, Class *b)
{
    for (guint i = 0; i < a->n_sequences; i++) {
        table_merge(&a->sequences[i].table, &a->ranks, &b->sequences[i].table, &b->ranks);
        merge_encoded(&a->sequences[i], &b->sequences[i]);
    }
    rankset_unite(&a->ranks, &b->ranks);
}

/* The outcomes of A and B by shape of TABLE. Those of A are moved. */
static Contents *align_outcomes(Sequence *a, const Sequence *b, const Table *table)
{
    g_autofree guint32 *shape_of = table_shapes_in(table, &b->table);
    Contents *outcomes = g_new0(Contents, MAX(table->n_shapes, 1));
    for (guint o = 0; o < table->n_shapes; o++) {
        if (o < a->table.n_shapes)
            outcomes[o] = a->outcomes[o];
        else
            contents_init(&outcomes[o]);
    }
    for (guint o = 0; o < b->table.n_shapes; o++)
        contents_merge(&outcomes[shape_of[o]], &b->outcomes[o]);
    g_free(a->outcomes);
    return outcomes;
}

/* Moves the times of S to a new element of TIMES. */
static void keep_times(GArray *times, Sequence *s, const RankSet *ranks)
{
    const ClassTimes t = {rankset_copy(ranks), g_steal_pointer(&s->timed_as), s->n_timed,
                          g_steal_pointer(&s->timing)};
    g_array_append_val(times, t);
    s->n_timed = 0;
}

static void align_times(Sequence *a, const RankSet *ranks_a, Sequence *b, const RankSet *ranks_b,
                        const AlignedSequence *w)
{
    if (!a->aligned_times) {
        a->aligned_times = g_array_new(FALSE, FALSE, sizeof(ClassTimes));
        keep_times(a->aligned_times, a, ranks_a);
    }
    guint n = a->aligned_times->len;
    keep_times(a->aligned_times, b, ranks_b);
    for (guint i = 0; i <= n; i++)
        time_as(&g_array_index(a->aligned_times, ClassTimes, i).timed_as, w->of[i == n],
                w->table.n_terminals);
}

void class_align(Class *a, Class *b, AlignedSequence *aligned)
{
    for (guint i = 0; i < a->n_sequences; i++) {
        Sequence *s = &a->sequences[i], *t = &b->sequences[i];
        AlignedSequence *w = &aligned[i];
        align_times(s, &a->ranks, t, &b->ranks, w);
        s->outcomes = align_outcomes(s, t, &w->table);
        merge_polls(s, t);
        table_clear(&s->table);
        s->table = w->table;
        memset(&w->table, 0, sizeof w->table);
        g_bytes_unref(s->grammar);
        s->grammar = g_steal_pointer(&w->grammar);
    }
    rankset_unite(&a->ranks, &b->ranks);
}

gboolean class_merge(Class *a, Class *b)
{
    if (g_bytes_equal(a->key, b->key)) {
        class_join(a, b);
        return TRUE;
    }
    g_autofree Refined *refined = g_new0(Refined, a->n_sequences + 1);
    gboolean pays = refine_all(a, b, refined);
    for (guint i = 0; pays && i < a->n_sequences; i++) {
        Sequence *s = &a->sequences[i], *t = &b->sequences[i];
        Refined *r = &refined[i];
        if (r->refinement.grammar) {
            time_as(&s->timed_as, r->refinement.of[0], r->refinement.n);
            time_as(&t->timed_as, r->refinement.of[1], r->refinement.n);
            table_clear(&s->table);
            s->table = r->table;
            memset(&r->table, 0, sizeof r->table);
            g_bytes_unref(s->grammar);
            s->grammar = g_bytes_ref(r->refinement.grammar);
        } else {
            table_merge(&s->table, &a->ranks, &t->table, &b->ranks);
        }
        merge_encoded(s, t);
    }
    for (guint i = 0; i < a->n_sequences; i++)
        refined_clear(&refined[i]);
    if (!pays)
        return FALSE;
    rankset_unite(&a->ranks, &b->ranks);
    make_key(a);
    return TRUE;
}
