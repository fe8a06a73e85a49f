/* SPDX-License-Identifier: BSD-3-Clause */
/* class.c: a class of ranks: reads it from a part, encodes and decodes it, merges two. See
 * class.h. */
#include "class.h"

#include <math.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory.h"
#include "base/containers.h"
#include "record/functions.h"
#include "derive.h"
#include "refine.h"
#include "timing-rows.h"

static void poll_table_free(void *p)
{
    PollTable *t = p;
    table_clear(&t->table);
    rankset_clear(&t->ranks);
    memory_free(t);
}

static void free_outcomes(Contents *outcomes, uint32_t n_shapes)
{
    for (uint32_t i = 0; outcomes && i < n_shapes; i++)
        contents_clear(&outcomes[i]);
    memory_free(outcomes);
}

static void sequence_clear(Sequence *s)
{
    free_outcomes(s->outcomes, s->table.n_shapes);
    memory_free(s->timed_as);
    memory_free(s->timing);
    for (uint32_t i = 0; s->aligned_times && i < s->aligned_times->len; i++) {
        ClassTimes *t = &VECTOR_AT(s->aligned_times, ClassTimes, i);
        rankset_clear(&t->ranks);
        memory_free(t->timed_as);
        memory_free(t->timing);
    }
    CLEAR(s->aligned_times, vector_unref);
    table_clear(&s->table);
    CLEAR(s->grammar, bytes_unref);
    CLEAR(s->poll_tables, vector_unref);
    contents_clear(&s->poll_grammars);
}

void class_free(Class *k)
{
    if (!k)
        return;
    for (uint32_t i = 0; i < k->n_sequences; i++)
        sequence_clear(&k->sequences[i]);
    memory_free(k->sequences);
    rankset_clear(&k->ranks);
    CLEAR(k->key, bytes_unref);
    CLEAR(k->shapes_key, bytes_unref);
    memory_free(k);
}

size_t class_memory(const Class *k)
{
    size_t all = sizeof *k + k->key->n;
    for (uint32_t i = 0; i < k->n_sequences; i++) {
        const Sequence *s = &k->sequences[i];
        all += sizeof *s + table_memory(&s->table) + s->grammar->n
               + s->table.n_terminals * sizeof *s->timed_as
               + 2 * (size_t)s->n_timed * sizeof *s->timing;
        for (uint32_t o = 0; o < s->table.n_shapes; o++)
            all += contents_memory(&s->outcomes[o]);
        for (uint32_t p = 0; p < s->poll_tables->len; p++)
            all += table_memory(&((const PollTable *)VECTOR_POINTER(s->poll_tables, p))->table);
        all += contents_memory(&s->poll_grammars);
    }
    return all;
}

static void put_block(WendBuf *out, Bytes *block)
{
    buf_counted(out, block->data, block->n);
}

/* The bytes of B, which it clears. */
static Bytes *bytes_from(WendBuf *b)
{
    Bytes *bytes = bytes_new(b->data, b->len);
    buf_clear(b);
    return bytes;
}

static void make_key(Class *k)
{
    WendBuf key = WEND_BUF_INIT;
    for (uint32_t i = 0; i < k->n_sequences; i++) {
        const Sequence *s = &k->sequences[i];
        buf_unsigned(&key, s->kind);
        buf_signed(&key, s->id);
        put_block(&key, s->table.structure);
        put_block(&key, s->grammar);
    }
    CLEAR(k->key, bytes_unref);
    k->key = bytes_from(&key);
}

/* The key of shapes. It is the key itself if a sequence cannot be refined. */
static void make_shapes_key(Class *k)
{
    WendBuf key = WEND_BUF_INIT;
    for (uint32_t i = 0; i < k->n_sequences; i++) {
        const Sequence *s = &k->sequences[i];
        AUTO(Bytes) shapes = table_shapes_bytes(&s->table);
        buf_unsigned(&key, s->kind);
        buf_signed(&key, s->id);
        put_block(&key, shapes);
        if (refine_key(s, &key))
            continue;
        buf_clear(&key);
        k->shapes_key = bytes_ref(k->key);
        return;
    }
    k->shapes_key = bytes_from(&key);
}

static Class *class_new(size_t n_sequences)
{
    Class *k = NEW0(Class, 1);
    k->n_sequences = n_sequences;
    k->sequences = NEW0(Sequence, MAX(n_sequences, 1));
    for (uint32_t i = 0; i < k->n_sequences; i++) {
        k->sequences[i].poll_tables = vector_of_pointers(poll_table_free);
        contents_init(&k->sequences[i].poll_grammars);
    }
    return k;
}

static Bytes *read_bytes(WendCursor *c)
{
    WendCursor block = cursor_block(c);
    return bytes_new(block.p, c->failed ? 0 : block.end - block.p);
}

/* -- a part -- */

static TimingSum part_timing(WendCursor *c)
{
    uint64_t count = cursor_unsigned(c);
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
    uint32_t n = s->table.n_terminals;
    s->timed_as = NEW(uint32_t, MAX(n, 1));
    vector_indices(s->timed_as, n);
    s->n_timed = timing_rows(s->table.terminal_shape, s->timed_as, n);
    s->timing = NEW0(TimingSum, 2 * (size_t)s->n_timed + 1);
}

/* A stream of equal entries is kept without its length, which is the number of calls. So it is the
 * same content on ranks with different numbers of calls. */
static Bytes *read_stream(WendCursor *c)
{
    WendCursor block = cursor_block(c), run = block;
    if (c->failed)
        return bytes_new(NULL, 0);
    bool is_run = cursor_unsigned(&run) > 0;
    const uint8_t *entry = run.p;
    uint64_t head = cursor_unsigned(&run);
    for (uint64_t n = head >> 1; n > 0 && !run.failed; n--)
        cursor_signed(&run);
    if (!is_run || head & 1 || run.failed || run.p != run.end)
        return bytes_new(block.p, block.end - block.p);
    WendBuf once = WEND_BUF_INIT;
    buf_unsigned(&once, 1);
    buf_bytes(&once, entry, run.end - entry);
    return bytes_from(&once);
}

/* A stream of outcomes for each shape. */
static Contents *part_outcomes(WendCursor *c, uint32_t n_shapes, const RankSet *ranks)
{
    Contents *outcomes = NEW0(Contents, MAX(n_shapes, 1));
    for (uint32_t i = 0; i < n_shapes; i++) {
        cursor_unsigned(c); /* entries, which follow from the grammar */
        AUTO(Bytes) stream = read_stream(c);
        contents_init(&outcomes[i]);
        contents_add(&outcomes[i], stream, ranks);
    }
    return outcomes;
}

/* Reads durations and intervals by terminal, or none. NULL: damaged. */
static Vector *part_times(WendCursor *c, uint32_t n_terminals)
{
    size_t n = cursor_count(c, 2);
    if (c->failed || (n != 0 && n != n_terminals))
        return NULL;
    Vector *times = vector_with_room(sizeof(TimingSum), 2 * (uint32_t)n);
    for (size_t i = 0; i < 2 * n; i++) {
        TimingSum sum = part_timing(c);
        VECTOR_APPEND(times, sum);
    }
    return times;
}

/* Adds the durations in TIMES, as part_times gives them, to the functions of the terminals. */
static void add_seconds(const PartTable *t, const Vector *times, double *seconds)
{
    if (times->len == 0)
        return;
    WendCursor c = cursor_of(t->shapes.data, t->shapes.len);
    AUTOFREE uint64_t *function_of = NEW(uint64_t, t->n_shapes + 1);
    cursor_unsigned(&c);
    for (uint32_t i = 0; i < t->n_shapes; i++) {
        uint64_t n = cursor_unsigned(&c);
        for (uint64_t k = 0; k < n && !c.failed; k++) {
            int64_t word = cursor_signed(&c);
            if (k == 0)
                function_of[i] = (uint64_t)word >> 1;
        }
    }
    for (uint32_t i = 0; i < t->terminals->len && !c.failed; i++) {
        const TimingSum *sum = &VECTOR_AT(times, TimingSum, 2 * i);
        uint64_t function = function_of[VECTOR_AT(t->terminals, PartTerminal, i).shape];
        if (sum->count > 0 && function < mpi_n_functions
            && !(mpi_functions[function].flags & WEND_F_PSEUDO))
            seconds[function] = MAX(seconds[function], 0) + ldexp((double)sum->sum, -60);
    }
}

static bool part_main(Sequence *s, WendCursor *c, uint32_t rank, const RankSet *ranks,
                      uint64_t room, double *seconds, Error **error)
{
    PartTable t;
    bool good = part_table_read(&t, c);
    Contents *outcomes = good ? part_outcomes(c, t.n_shapes, ranks) : NULL;
    AUTO(Vector) times = good ? part_times(c, t.terminals->len) : NULL;
    AUTO(Vector) numbers = vector_new(sizeof(uint32_t));
    s->grammar = read_bytes(c);
    if (times && !c->failed)
        add_seconds(&t, times, seconds);
    good = times && !c->failed && elastic_unfold(&t, &s->grammar, numbers, room, error)
           && table_from_part(&s->table, &t, rank);
    if (good) {
        s->outcomes = outcomes;
        time_apart(s);
        for (uint32_t i = 0; i < times->len; i++) {
            uint32_t terminal = VECTOR_AT(numbers, uint32_t, i / 2);
            if (terminal != PAIR_NONE)
                timing_add(&s->timing[2 * s->timed_as[terminal] + i % 2],
                           &VECTOR_AT(times, TimingSum, i));
        }
    } else {
        free_outcomes(outcomes, t.n_shapes);
    }
    part_table_clear(&t);
    return good;
}

/* Reads a table of polls. Their outcomes and their own times are not kept. */
static bool part_polls(Table *polls, WendCursor *c, uint32_t rank, const RankSet *ranks,
                       double *seconds)
{
    PartTable t;
    bool good = part_table_read(&t, c) && t.streams->len == 0 && table_from_part(polls, &t, rank);
    if (good) {
        free_outcomes(part_outcomes(c, t.n_shapes, ranks), t.n_shapes);
        AUTO(Vector) times = part_times(c, t.terminals->len);
        good = times != NULL;
        if (good && !c->failed)
            add_seconds(&t, times, seconds);
    }
    part_table_clear(&t);
    return good && !c->failed;
}

static bool sequence_of_part(Sequence *s, WendCursor *c, uint32_t rank, const RankSet *ranks,
                             uint64_t room, double *seconds, Error **error)
{
    s->kind = cursor_unsigned(c);
    s->id = cursor_signed(c);
    if (!part_main(s, c, rank, ranks, room, seconds, error))
        return false;
    uint64_t polls_after = cursor_unsigned(c);

    PollTable *polls = NEW0(PollTable, 1);
    vector_add(s->poll_tables, polls);
    polls->ranks = rankset_copy(ranks);
    if (!part_polls(&polls->table, c, rank, ranks, seconds))
        return false;
    Bytes *grammar = read_bytes(c);
    if (polls->table.n_terminals == 0) {
        vector_resize(s->poll_tables, 0);
    } else {
        WendBuf b = WEND_BUF_INIT;
        buf_unsigned(&b, polls_after);
        buf_bytes(&b, grammar->data, grammar->n);
        AUTO(Bytes) content = bytes_new(b.data, b.len);
        contents_add(&s->poll_grammars, content, ranks);
        buf_clear(&b);
    }
    bytes_unref(grammar);
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

Class *class_from_part(WendCursor *c, uint32_t rank, uint64_t room, double *seconds, Error **error)
{
    size_t n = cursor_count(c, 8);
    Class *k = class_new(n);
    k->ranks = rankset_single(rank);
    for (uint32_t i = 0; i < k->n_sequences; i++)
        if (!sequence_of_part(&k->sequences[i], c, rank, &k->ranks, room, seconds, error)) {
            class_free(k);
            return NULL;
        }
    vector_sort_plain(k->sequences, k->n_sequences, sizeof(Sequence), by_kind_and_id);
    make_key(k);
    make_shapes_key(k);
    return k;
}

/* -- between processes -- */

/* Writes for each terminal 0 if its row is new, else 1 + the row's number; then the rows. Rows are
 * numbered by first use. */
static void encode_timing(const Sequence *s, WendBuf *out)
{
    for (uint32_t t = 0, n = 0; t < s->table.n_terminals; t++) {
        bool first = s->timed_as[t] == n;
        buf_unsigned(out, first ? 0 : (uint64_t)s->timed_as[t] + 1);
        n += first;
    }
    for (uint32_t t = 0; t < 2 * s->n_timed; t++)
        timing_encode(&s->timing[t], out);
}

static bool decode_timing(Sequence *s, WendCursor *c)
{
    s->timed_as = NEW(uint32_t, MAX(s->table.n_terminals, 1));
    for (uint32_t t = 0; t < s->table.n_terminals; t++) {
        uint64_t row = cursor_unsigned(c);
        if (row > s->n_timed)
            return false;
        s->timed_as[t] = row ? (uint32_t)(row - 1) : s->n_timed++;
    }
    s->timing = NEW0(TimingSum, 2 * (size_t)s->n_timed + 1);
    for (uint32_t t = 0; t < 2 * s->n_timed; t++)
        s->timing[t] = timing_decode(c);
    return !c->failed;
}

void class_encode(const Class *k, WendBuf *out)
{
    rankset_encode(&k->ranks, out);
    buf_unsigned(out, (uint64_t)k->n_sequences << 1 | (k->apart ? 1 : 0));
    for (uint32_t i = 0; i < k->n_sequences; i++) {
        const Sequence *s = &k->sequences[i];
        buf_unsigned(out, s->kind);
        buf_signed(out, s->id);
        table_encode(&s->table, out);
        put_block(out, s->grammar);
        encode_timing(s, out);
        for (uint32_t o = 0; o < s->table.n_shapes; o++)
            contents_encode(&s->outcomes[o], out);
        buf_unsigned(out, s->poll_tables->len);
        for (uint32_t p = 0; p < s->poll_tables->len; p++) {
            const PollTable *polls = VECTOR_POINTER(s->poll_tables, p);
            rankset_encode(&polls->ranks, out);
            table_encode(&polls->table, out);
        }
        contents_encode(&s->poll_grammars, out);
    }
}

static bool decode_sequence(Sequence *s, WendCursor *c, uint32_t ranks, uint32_t world)
{
    s->kind = cursor_unsigned(c);
    s->id = cursor_signed(c);
    if (s->kind >= WEND_SEQUENCE_KINDS || !table_decode(&s->table, c, ranks))
        return false;
    s->grammar = read_bytes(c);
    if (!decode_timing(s, c))
        return false;
    s->outcomes = NEW0(Contents, MAX(s->table.n_shapes, 1));
    for (uint32_t o = 0; o < s->table.n_shapes; o++)
        if (!contents_decode(&s->outcomes[o], c, world))
            return false;
    size_t n = cursor_count(c, 2);
    for (size_t p = 0; p < n; p++) {
        PollTable *polls = NEW0(PollTable, 1);
        vector_add(s->poll_tables, polls);
        if (!rankset_decode(&polls->ranks, c, world)
            || !table_decode(&polls->table, c, polls->ranks.n))
            return false;
    }
    contents_clear(&s->poll_grammars);
    return contents_decode(&s->poll_grammars, c, world);
}

Class *class_decode(WendCursor *c, uint32_t world)
{
    RankSet ranks;
    if (!rankset_decode(&ranks, c, world))
        return NULL;
    uint64_t n = cursor_unsigned(c);
    if (c->failed || n >> 1 > (uint64_t)(c->end - c->p) / 8) {
        rankset_clear(&ranks);
        return NULL;
    }
    Class *k = class_new(n >> 1);
    k->apart = n & 1;
    k->ranks = ranks;
    for (uint32_t i = 0; i < k->n_sequences; i++)
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
static uint32_t group_of(uint32_t *group, uint32_t t)
{
    while (group[t] != t)
        t = group[t] = group[group[t]];
    return t;
}

static void merge_timing(Sequence *a, const Sequence *b)
{
    uint32_t n = a->table.n_terminals;
    const Sequence *sides[] = {a, b};
    AUTOFREE uint32_t *group = NEW(uint32_t, n + 1), *row_of = NEW(uint32_t, n + 1);
    for (uint32_t t = 0; t < n; t++)
        group[t] = t;
    for (int k = 0; k < 2; k++) {
        AUTOFREE uint32_t *first = NEW0(uint32_t, sides[k]->n_timed + 1); /* + 1 */
        for (uint32_t t = 0; t < n; t++) {
            uint32_t *of_row = &first[sides[k]->timed_as[t]];
            if (!*of_row)
                *of_row = t + 1;
            uint32_t x = group_of(group, *of_row - 1), y = group_of(group, t);
            group[MAX(x, y)] = MIN(x, y);
        }
    }
    uint32_t *timed_as = NEW(uint32_t, n + 1), n_timed = 0;
    for (uint32_t t = 0; t < n; t++) {
        uint32_t lowest = group_of(group, t);
        if (lowest == t)
            row_of[t] = n_timed++;
        timed_as[t] = row_of[lowest];
    }
    TimingSum *timing = NEW0(TimingSum, 2 * (size_t)n_timed + 1);
    for (int k = 0; k < 2; k++) {
        AUTOFREE uint8_t *done = NEW0(uint8_t, sides[k]->n_timed + 1);
        for (uint32_t t = 0; t < n; t++) {
            uint32_t from = sides[k]->timed_as[t];
            for (uint32_t i = 0; i < 2 && !done[from]; i++)
                timing_add(&timing[2 * timed_as[t] + i], &sides[k]->timing[2 * from + i]);
            done[from] = true;
        }
    }
    memory_free(a->timed_as);
    memory_free(a->timing);
    a->timed_as = timed_as;
    a->n_timed = n_timed;
    a->timing = timing;
}

static void merge_polls(Sequence *a, const Sequence *b)
{
    for (uint32_t i = 0; i < b->poll_tables->len; i++) {
        const PollTable *theirs = VECTOR_POINTER(b->poll_tables, i);
        PollTable *ours = NULL;
        for (uint32_t j = 0; j < a->poll_tables->len && !ours; j++) {
            PollTable *t = VECTOR_POINTER(a->poll_tables, j);
            if (bytes_equal(t->table.structure, theirs->table.structure))
                ours = t;
        }
        if (ours) {
            table_merge(&ours->table, &ours->ranks, &theirs->table, &theirs->ranks);
            rankset_unite(&ours->ranks, &theirs->ranks);
            continue;
        }
        WendBuf copy = WEND_BUF_INIT;
        table_encode(&theirs->table, &copy);
        WendCursor c = cursor_of(copy.data, copy.len);
        ours = NEW0(PollTable, 1);
        ours->ranks = rankset_copy(&theirs->ranks);
        table_decode(&ours->table, &c, ours->ranks.n);
        buf_clear(&copy);
        vector_add(a->poll_tables, ours);
    }
    contents_merge(&a->poll_grammars, &b->poll_grammars);
}

static bool same_terminals(const Sequence *a, const Sequence *b)
{
    return bytes_equal(a->table.structure, b->table.structure)
           && bytes_equal(a->grammar, b->grammar);
}

/* In an archive the values of several slots that are equal are stored once, and values that follow
 * from others are not stored. A slot with few ranks counts only two bytes for each value, since
 * ranks that are merged later add only these. */
size_t class_cost(const Table *t, Bytes *grammar, uint32_t all_ranks, const uint8_t *known)
{
    enum { TERMINAL = 2, SEEN = 2, ONE = 3, EACH = 2 };
    /* hashes of the values of slots */
    AUTO(Map) seen = map_new(map_word_hash, map_word_equal, memory_free, NULL);
    size_t cost = grammar->n;
    for (uint32_t i = 0; i < t->n_terminals; i++) {
        if (known && known[i])
            continue;
        cost += TERMINAL;
        const RankVector *slots = &t->slots[t->first_slot[i]];
        uint32_t n = t->first_slot[i + 1] - t->first_slot[i];
        uint32_t ranks = t->ranks ? t->ranks[i].n : all_ranks;
        AUTOFREE Derived *derived = derive_slots(slots, n, ranks);
        for (uint32_t k = 0; k < n; k++) {
            if (!rank_vector_is_deltas(&slots[k]) || (derived && derived[k].kind)) {
                cost += ONE;
                continue;
            }
            WendBuf row = WEND_BUF_INIT;
            rank_vector_encode(&slots[k], &row);
            int64_t hash = (int64_t)XXH3_64bits(row.data, row.len);
            cost += map_put_word(seen, hash, NULL) ? MIN(row.len, ONE - EACH + EACH * (size_t)ranks)
                                                   : SEEN;
            buf_clear(&row);
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

/* Refines the sequences that differ. false: one cannot be refined, or it saves little. With random
 * values a class of both takes nearly as much as two, and ranks with equal values could not be
 * merged as such any more. */
static bool refine_all(const Class *a, const Class *b, Refined *refined)
{
    size_t first = 0, second = 0, one = 0;
    for (uint32_t i = 0; i < a->n_sequences; i++) {
        const Sequence *s = &a->sequences[i], *t = &b->sequences[i];
        Refined *r = &refined[i];
        if (same_terminals(s, t))
            continue;
        if (!refine(&r->refinement, s, t))
            return false;
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
static void time_as(uint32_t **timed_as, const uint32_t *of, uint32_t n)
{
    uint32_t *timed = NEW(uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        timed[i] = of[i] == PAIR_NONE ? PAIR_NONE : (*timed_as)[of[i]];
    memory_free(*timed_as);
    *timed_as = timed;
}

/* Merges outcomes, polls and times. Tables have been merged. */
static void merge_encoded(Sequence *s, const Sequence *t)
{
    merge_timing(s, t);
    for (uint32_t o = 0; o < s->table.n_shapes; o++)
        contents_merge(&s->outcomes[o], &t->outcomes[o]);
    merge_polls(s, t);
}

void class_join(Class *a, Class *b)
{
    for (uint32_t i = 0; i < a->n_sequences; i++) {
        table_merge(&a->sequences[i].table, &a->ranks, &b->sequences[i].table, &b->ranks);
        merge_encoded(&a->sequences[i], &b->sequences[i]);
    }
    rankset_unite(&a->ranks, &b->ranks);
}

/* The outcomes of A and B by shape of TABLE. Those of A are moved. */
static Contents *align_outcomes(Sequence *a, const Sequence *b, const Table *table)
{
    AUTOFREE uint32_t *shape_of = table_shapes_in(table, &b->table);
    Contents *outcomes = NEW0(Contents, MAX(table->n_shapes, 1));
    for (uint32_t o = 0; o < table->n_shapes; o++) {
        if (o < a->table.n_shapes)
            outcomes[o] = a->outcomes[o];
        else
            contents_init(&outcomes[o]);
    }
    for (uint32_t o = 0; o < b->table.n_shapes; o++)
        contents_merge(&outcomes[shape_of[o]], &b->outcomes[o]);
    memory_free(a->outcomes);
    return outcomes;
}

/* Moves the times of S to a new element of TIMES. */
static void keep_times(Vector *times, Sequence *s, const RankSet *ranks)
{
    const ClassTimes t = {rankset_copy(ranks), STEAL(s->timed_as), s->n_timed, STEAL(s->timing)};
    VECTOR_APPEND(times, t);
    s->n_timed = 0;
}

static void align_times(Sequence *a, const RankSet *ranks_a, Sequence *b, const RankSet *ranks_b,
                        const AlignedSequence *w)
{
    if (!a->aligned_times) {
        a->aligned_times = vector_new(sizeof(ClassTimes));
        keep_times(a->aligned_times, a, ranks_a);
    }
    uint32_t n = a->aligned_times->len;
    keep_times(a->aligned_times, b, ranks_b);
    for (uint32_t i = 0; i <= n; i++)
        time_as(&VECTOR_AT(a->aligned_times, ClassTimes, i).timed_as, w->of[i == n],
                w->table.n_terminals);
}

void class_align(Class *a, Class *b, AlignedSequence *aligned)
{
    for (uint32_t i = 0; i < a->n_sequences; i++) {
        Sequence *s = &a->sequences[i], *t = &b->sequences[i];
        AlignedSequence *w = &aligned[i];
        align_times(s, &a->ranks, t, &b->ranks, w);
        s->outcomes = align_outcomes(s, t, &w->table);
        merge_polls(s, t);
        table_clear(&s->table);
        s->table = w->table;
        memset(&w->table, 0, sizeof w->table);
        bytes_unref(s->grammar);
        s->grammar = STEAL(w->grammar);
    }
    rankset_unite(&a->ranks, &b->ranks);
}

bool class_merge(Class *a, Class *b)
{
    if (bytes_equal(a->key, b->key)) {
        class_join(a, b);
        return true;
    }
    AUTOFREE Refined *refined = NEW0(Refined, a->n_sequences + 1);
    bool pays = refine_all(a, b, refined);
    for (uint32_t i = 0; pays && i < a->n_sequences; i++) {
        Sequence *s = &a->sequences[i], *t = &b->sequences[i];
        Refined *r = &refined[i];
        if (r->refinement.grammar) {
            time_as(&s->timed_as, r->refinement.of[0], r->refinement.n);
            time_as(&t->timed_as, r->refinement.of[1], r->refinement.n);
            table_clear(&s->table);
            s->table = r->table;
            memset(&r->table, 0, sizeof r->table);
            bytes_unref(s->grammar);
            s->grammar = bytes_ref(r->refinement.grammar);
        } else {
            table_merge(&s->table, &a->ranks, &t->table, &b->ranks);
        }
        merge_encoded(s, t);
    }
    for (uint32_t i = 0; i < a->n_sequences; i++)
        refined_clear(&refined[i]);
    if (!pays)
        return false;
    rankset_unite(&a->ranks, &b->ranks);
    make_key(a);
    return true;
}
