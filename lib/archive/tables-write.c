/* SPDX-License-Identifier: BSD-3-Clause */
/* tables-write.c: writes the slots that vary by rank as tables of the archive. */
#include "tables-write.h"

/* Distinct things, in the order in which they were added. Two things are equal if their bytes
 * are. */
typedef struct {
    Map *numbers;
    WendBuf bytes;
} Distinct;

static Distinct distinct_new(void)
{
    return (Distinct){map_of_bytes(NULL), WEND_BUF_INIT};
}

/* Returns the number of the thing with the bytes ONE. If *IS_NEW, distinct_encode must follow. */
static uint32_t distinct_add(Distinct *d, const WendBuf *one, bool *is_new)
{
    return map_number(d->numbers, one->data, one->len, is_new);
}

/* Appends the encoding of a new thing. */
static void distinct_encode(Distinct *d, const WendBuf *encoded)
{
    buf_bytes(&d->bytes, encoded->data, encoded->len);
}

static void distinct_write(Distinct *d, Writer *w)
{
    buf_unsigned(&w->out, map_size(d->numbers));
    buf_bytes(&w->out, d->bytes.data, d->bytes.len);
    buf_clear(&d->bytes);
    map_unref(d->numbers);
}

/* A table: OFFSET and N say where its bytes are in those of all tables. KEY is its rank set and
 * whether it is relative to self. It holds a reference to DELTAS. */
typedef struct {
    size_t offset, n;
    uint64_t key;
    DeltaSequence *deltas;
    uint32_t n_ranks;
    uint32_t column;
} EncodedTable;

/* ALL: all ranks. ENCODED: EncodedTable, by number. COLUMN: a number for the current slot of the
 * terminals of one batch; tables of other slots have others. */
struct SlotTables {
    Distinct sets, tables;
    RankSet all;
    Vector *encoded;
    uint32_t column;
};

static void clear_table(void *table)
{
    delta_sequence_unref(((EncodedTable *)table)->deltas);
}

SlotTables *slot_tables_new(uint32_t world)
{
    const DeltaSequenceRun ranks = {1, 1, world};
    SlotTables *t = NEW(SlotTables, 1);
    *t = (SlotTables){.sets = distinct_new(),
                      .tables = distinct_new(),
                      .all = {world, delta_sequence_new_run(ranks)},
                      .encoded = vector_new(sizeof(EncodedTable))};
    vector_set_clear(t->encoded, clear_table);
    return t;
}

void slot_tables_next_slot(SlotTables *t)
{
    t->column++;
}

static uint32_t set_number(SlotTables *tables, const RankSet *ranks)
{
    WendBuf set = WEND_BUF_INIT;
    bool is_new;
    rankset_encode_shortest(ranks, &set);
    uint32_t number = distinct_add(&tables->sets, &set, &is_new);
    if (is_new)
        distinct_encode(&tables->sets, &set);
    buf_clear(&set);
    return number;
}

/* Encodes V, the slot of RANKS, as a table to BYTES, which are empty, and describes it in the
 * result. */
static EncodedTable encode_table(Writer *w, SlotTables *t, const RankVector *v,
                                 const RankSet *ranks, WendBuf *bytes)
{
    EncodedTable table = {.offset = t->tables.bytes.len,
                          .key = (uint64_t)set_number(t, ranks) << TABLE_SET_BITS
                                 | (v->value == RANK_VECTOR_DELTAS_OF_SELF ? 1 : 0),
                          .deltas = v->deltas,
                          .n_ranks = ranks->n,
                          .column = t->column};
    buf_unsigned(bytes, table.key);
    delta_sequence_encode_shortest(v->deltas, bytes, w->constant_number);
    return table;
}

/* Completes slot K of S from its ranks to all ranks, if there is a pattern that does so.
 *
 * If ranks make different calls, a call to one neighbour in a torus becomes several terminals of
 * few ranks each. The complete table, the neighbours of all ranks, is the same for all these
 * terminals, and no rank set need be stored. */
static bool complete(const Writer *w, const SlotTables *t, const Signature *s, uint32_t k,
                     RankVector *whole)
{
    const ShapeRow *shape = &VECTOR_AT(w->r->shapes, ShapeRow, s->shape);
    bool has_self = (mpi_functions[shape->words[0] / 2].flags & WEND_F_SELF) != 0;
    const RankVectorOn part = {s->ranks, &s->slots[k], k > 0 && has_self ? &s->slots[0] : NULL};
    return s->ranks->n < t->all.n && rank_vector_complete(&part, t->all.n, whole);
}

uint32_t slot_tables_number(Writer *w, SlotTables *t, const Signature *s, uint32_t k, bool its_own)
{
    WendBuf bytes = WEND_BUF_INIT;
    RankVector whole = {0};
    bool is_new, completed = !its_own && complete(w, t, s, k, &whole);
    EncodedTable table = completed ? encode_table(w, t, &whole, &t->all, &bytes)
                                   : encode_table(w, t, &s->slots[k], s->ranks, &bytes);
    uint32_t number = distinct_add(&t->tables, &bytes, &is_new);
    if (is_new) {
        table.n = bytes.len;
        delta_sequence_ref(table.deltas);
        distinct_encode(&t->tables, &bytes);
        VECTOR_APPEND(t->encoded, table);
    }
    rank_vector_clear(&whole);
    buf_clear(&bytes);
    return number;
}

/* -- writing -- */

/* Writes N tables as one delta sequence if that takes less than LESS bytes, which they take
 * separately. Else it writes nothing. */
static void put_together(Writer *w, const EncodedTable *encoded, uint32_t n, size_t less)
{
    WendBuf out = WEND_BUF_INIT;
    DeltaSequenceBuilder *words = delta_sequence_builder_new();
    for (uint32_t i = 0; i < n; i++) {
        const DeltaSequence *deltas = encoded[i].deltas;
        for (uint64_t k = 0; k < delta_sequence_length(deltas);) {
            DeltaSequenceRun run = delta_sequence_run(deltas, k);
            delta_sequence_builder_add(words, run);
            k += run.count;
        }
    }
    buf_unsigned(&out, encoded->key | TABLE_TOGETHER);
    buf_unsigned(&out, n);
    delta_sequence_builder_encode(words, &out, w->constant_number);
    if (out.len < less
        && (uint64_t)n * encoded->n_ranks <= TABLES_WORDS_PER_BYTE * (uint64_t)out.len)
        buf_bytes(&w->out, out.data, out.len);
    buf_clear(&out);
}

/* The most words of tables that are tried together. Each takes 100 bytes of memory. */
enum { TOGETHER_AT_ONCE = 1 << 14 };

/* Successive small tables of one slot and rank set are encoded together if that is shorter. For few
 * values without a pattern, the head of a table would take as much as its values. */
void slot_tables_write(Writer *w, SlotTables *t)
{
    const EncodedTable *encoded = (const EncodedTable *)(void *)t->encoded->data;
    distinct_write(&t->sets, w);
    buf_unsigned(&w->out, t->encoded->len);
    for (uint32_t i = 0, end; i < t->encoded->len; i = end) {
        size_t bytes = encoded[i].n, before = w->out.len;
        end = i + 1;
        uint32_t most =
            encoded[i].n_ranks <= TABLES_TOGETHER ? TOGETHER_AT_ONCE / encoded[i].n_ranks : 1;
        for (; end < t->encoded->len && end - i < most && encoded[end].key == encoded[i].key
               && encoded[end].column == encoded[i].column;
             end++)
            bytes += encoded[end].n;
        if (end - i > 1)
            put_together(w, &encoded[i], end - i, bytes);
        if (w->out.len == before)
            buf_bytes(&w->out, t->tables.bytes.data + encoded[i].offset, bytes);
    }
    buf_clear(&t->tables.bytes);
    map_unref(t->tables.numbers);
    vector_unref(t->encoded);
    rankset_clear(&t->all);
    memory_free(t);
}
