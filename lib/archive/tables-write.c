/* SPDX-License-Identifier: BSD-3-Clause */
/* tables-write.c: values of slots by rank, as tables of the archive. */
#include "tables-write.h"

/* Things that go once each, by what they are as bytes. */
typedef struct {
    GHashTable *numbers;
    WendBuf bytes;
} Distinct;

static Distinct distinct_new(void)
{
    return (Distinct){
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL),
        WEND_BUF_INIT};
}

/* Its number; *IS_NEW: nothing tells it yet. */
static guint distinct_add(Distinct *d, const WendBuf *one, gboolean *is_new)
{
    GBytes *bytes = g_bytes_new(one->data, one->len);
    gpointer number;
    d->bytes.failed |= one->failed;
    *is_new = !g_hash_table_lookup_extended(d->numbers, bytes, NULL, &number);
    if (*is_new) {
        number = GUINT_TO_POINTER(g_hash_table_size(d->numbers));
        g_hash_table_insert(d->numbers, bytes, number);
    } else {
        g_bytes_unref(bytes);
    }
    return GPOINTER_TO_UINT(number);
}

/* Tells the next new one. */
static void distinct_encode(Distinct *d, const WendBuf *encoded)
{
    wend_buf_bytes(&d->bytes, encoded->data, encoded->len);
    d->bytes.failed |= encoded->failed;
}

static void distinct_write(Distinct *d, Writer *w)
{
    wend_buf_unsigned(&w->out, g_hash_table_size(d->numbers));
    wend_buf_bytes(&w->out, d->bytes.data, d->bytes.len);
    w->failed |= d->bytes.failed;
    wend_buf_clear(&d->bytes);
    g_hash_table_destroy(d->numbers);
}

/* A table of values: where its bytes are in those of all tables, and what they are of. It holds a
 * reference to DELTAS. */
typedef struct {
    gsize offset, n;
    guint64 key;
    DeltaSequence *deltas;
    guint32 n_ranks;
    guint column;
} EncodedTable;

/* ALL: ranks 0 to the last. ENCODED: EncodedTable, by number. COLUMN: of one slot of the terminals
 * of a shape. */
struct SlotTables {
    Distinct sets, tables;
    RankSet all;
    GArray *encoded;
    guint column;
};

static void clear_table(gpointer table)
{
    deltas_unref(((EncodedTable *)table)->deltas);
}

SlotTables *slot_tables_new(guint32 world)
{
    const DeltaSequenceRun ranks = {1, 1, world};
    SlotTables *t = g_new(SlotTables, 1);
    *t = (SlotTables){.sets = distinct_new(),
                      .tables = distinct_new(),
                      .all = {world, deltas_new_run(ranks)},
                      .encoded = g_array_new(FALSE, FALSE, sizeof(EncodedTable))};
    g_array_set_clear_func(t->encoded, clear_table);
    return t;
}

void slot_tables_next_slot(SlotTables *t)
{
    t->column++;
}

static guint set_number(SlotTables *tables, const RankSet *ranks)
{
    WendBuf set = WEND_BUF_INIT;
    gboolean is_new;
    rankset_encode_shortest(ranks, &set);
    guint number = distinct_add(&tables->sets, &set, &is_new);
    if (is_new)
        distinct_encode(&tables->sets, &set);
    wend_buf_clear(&set);
    return number;
}

/* V, of the slots of RANKS, as a table: to BYTES, which are empty, and to the result. */
static EncodedTable encode_table(Writer *w, SlotTables *t, const RankVector *v,
                                 const RankSet *ranks, WendBuf *bytes)
{
    EncodedTable table = {.offset = t->tables.bytes.len,
                          .key = (guint64)set_number(t, ranks) << TABLE_SET_BITS
                                 | (v->value == RANK_VECTOR_DELTAS_OF_SELF ? 1 : 0),
                          .deltas = v->deltas,
                          .n_ranks = ranks->n,
                          .column = t->column};
    wend_buf_unsigned(bytes, table.key);
    deltas_encode_shortest(v->deltas, bytes, w->constant_number);
    return table;
}

/* In a class of ranks that do not all make the same calls, and in classes that make them likewise,
 * a call to one neighbour in a torus is several terminals of some ranks each. The neighbours of all
 * ranks are one table for all of them, and no set of ranks is to be told. */
static gboolean complete(const Writer *w, const SlotTables *t, const Signature *s, guint k,
                         RankVector *whole)
{
    const ShapeRow *shape = &g_array_index(w->r->shapes, ShapeRow, s->shape);
    gboolean has_self = (wend_functions[shape->words[0] / 2].flags & WEND_F_SELF) != 0;
    const RankVectorOn part = {s->ranks, &s->slots[k], k > 0 && has_self ? &s->slots[0] : NULL};
    return s->ranks->n < t->all.n && rank_vector_complete(&part, t->all.n, whole);
}

guint slot_tables_number(Writer *w, SlotTables *t, const Signature *s, guint k, gboolean its_own)
{
    WendBuf bytes = WEND_BUF_INIT;
    RankVector whole = {0};
    gboolean is_new, completed = !its_own && complete(w, t, s, k, &whole);
    EncodedTable table = completed ? encode_table(w, t, &whole, &t->all, &bytes)
                                   : encode_table(w, t, &s->slots[k], s->ranks, &bytes);
    guint number = distinct_add(&t->tables, &bytes, &is_new);
    if (is_new) {
        table.n = bytes.len;
        deltas_ref(table.deltas);
        distinct_encode(&t->tables, &bytes);
        g_array_append_val(t->encoded, table);
    }
    rank_vector_clear(&whole);
    wend_buf_clear(&bytes);
    return number;
}

/* -- writing -- */

/* N tables as one delta sequence; nothing if that would be no less than the LESS bytes that they
 * take apart. */
static void put_together(Writer *w, const EncodedTable *encoded, guint n, gsize less)
{
    WendBuf out = WEND_BUF_INIT;
    DeltaSequenceBuilder *words = deltas_builder_new();
    for (guint i = 0; i < n; i++) {
        const DeltaSequence *deltas = encoded[i].deltas;
        for (guint64 k = 0; k < deltas_length(deltas);) {
            DeltaSequenceRun run = deltas_run(deltas, k);
            deltas_builder_add(words, run);
            k += run.count;
        }
    }
    wend_buf_unsigned(&out, encoded->key | TABLE_TOGETHER);
    wend_buf_unsigned(&out, n);
    deltas_builder_encode(words, &out, w->constant_number);
    if (out.len < less && (guint64)n * encoded->n_ranks <= TABLES_WORDS_PER_BYTE * (guint64)out.len)
        wend_buf_bytes(&w->out, out.data, out.len);
    w->failed |= out.failed;
    wend_buf_clear(&out);
}

/* Words of a delta sequence that is made only to see what it takes: it needs 100 bytes for each. */
enum { TOGETHER_AT_ONCE = 1 << 14 };

/* Values by chance of few ranks: what stands before a row, and what its coder has to learn, would
 * take as much as the row. */
void slot_tables_write(Writer *w, SlotTables *t)
{
    const EncodedTable *encoded = (const EncodedTable *)(gpointer)t->encoded->data;
    distinct_write(&t->sets, w);
    wend_buf_unsigned(&w->out, t->encoded->len);
    for (guint i = 0, end; i < t->encoded->len; i = end) {
        gsize bytes = encoded[i].n, before = w->out.len;
        end = i + 1;
        guint most =
            encoded[i].n_ranks <= TABLES_TOGETHER ? TOGETHER_AT_ONCE / encoded[i].n_ranks : 1;
        for (; end < t->encoded->len && end - i < most && encoded[end].key == encoded[i].key
               && encoded[end].column == encoded[i].column;
             end++)
            bytes += encoded[end].n;
        if (end - i > 1)
            put_together(w, &encoded[i], end - i, bytes);
        if (w->out.len == before)
            wend_buf_bytes(&w->out, t->tables.bytes.data + encoded[i].offset, bytes);
    }
    w->failed |= t->tables.bytes.failed;
    wend_buf_clear(&t->tables.bytes);
    g_hash_table_destroy(t->tables.numbers);
    g_array_unref(t->encoded);
    rankset_clear(&t->all);
    g_free(t);
}
