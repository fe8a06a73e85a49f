/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: call signature tables over rank sets. See class.h. */
#include <string.h>

#include "base/memory.h"
#include "base/containers.h"
#include "record/record.h"
#include "class.h"

/* Fills the members that follow from the structure's bytes, which have been checked. */
static bool index_structure(Table *t)
{
    WendCursor c = cursor_of(t->structure->data, t->structure->n);
    t->n_shapes = cursor_count(&c, 1);
    AUTOFREE uint8_t *self_shape = NEW0(uint8_t, MAX(t->n_shapes, 1));
    for (uint32_t i = 0; i < t->n_shapes; i++) {
        size_t n = cursor_count(&c, 1);
        for (size_t k = 0; k < n; k++) {
            int64_t word = cursor_signed(&c);
            if (k > 0)
                continue;
            if (word < 0 || (uint64_t)word / 2 >= mpi_n_functions)
                return false;
            self_shape[i] = (mpi_functions[word / 2].flags & WEND_F_SELF) != 0;
        }
        if (n == 0 || c.failed)
            return false;
    }
    t->n_terminals = cursor_count(&c, 2);
    t->terminal_shape = NEW0(uint32_t, t->n_terminals + 1);
    t->first_slot = NEW0(uint32_t, t->n_terminals + 1);
    t->has_self = NEW0(uint8_t, t->n_terminals + 1);
    for (uint32_t i = 0; i < t->n_terminals; i++) {
        uint64_t shape = cursor_unsigned(&c), slots = cursor_unsigned(&c);
        if (c.failed || shape >= t->n_shapes || slots > INT32_MAX
            || t->first_slot[i] + slots > INT32_MAX)
            return false;
        t->terminal_shape[i] = shape;
        t->first_slot[i + 1] = t->first_slot[i] + slots;
        t->has_self[i] = self_shape[shape] && slots > 0;
    }
    return !c.failed && c.p == c.end;
}

static bool take_structure(Table *t, WendBuf *structure)
{
    t->structure = bytes_new(structure->data, structure->len);
    bool whole = index_structure(t);
    buf_clear(structure);
    return whole;
}

/* The number of bytes of the shapes in the structure. */
static size_t shapes_length(const Table *t)
{
    const uint8_t *bytes = t->structure->data;
    WendCursor c = cursor_of(bytes, t->structure->n);
    size_t n_shapes = cursor_count(&c, 1);
    for (size_t i = 0; i < n_shapes; i++)
        for (size_t n = cursor_count(&c, 1); n > 0; n--)
            cursor_signed(&c);
    return (size_t)(c.p - bytes);
}

bool table_from_part(Table *t, const PartTable *p, uint32_t rank)
{
    WendBuf structure = WEND_BUF_INIT;
    memset(t, 0, sizeof *t);
    buf_bytes(&structure, p->shapes.data, p->shapes.len);
    buf_unsigned(&structure, p->terminals->len);
    for (uint32_t i = 0; i < p->terminals->len; i++) {
        const PartTerminal *one = &VECTOR_AT(p->terminals, PartTerminal, i);
        buf_unsigned(&structure, one->shape);
        buf_unsigned(&structure, one->n);
    }
    if (!take_structure(t, &structure))
        return false;
    t->slots = NEW0(RankVector, MAX(t->first_slot[t->n_terminals], 1));
    for (uint32_t i = 0; i < t->n_terminals; i++) {
        const int64_t *words = VECTOR_AT(p->terminals, PartTerminal, i).words;
        for (uint32_t k = 0; k < t->first_slot[i + 1] - t->first_slot[i]; k++) {
            if (rank_vector_is_mark(words[k]))
                return false;
            t->slots[t->first_slot[i] + k] =
                rank_vector_single(words[k], k == 0 || !t->has_self[i] ? (int64_t)rank : words[0]);
        }
    }
    return true;
}

void table_encode(const Table *t, WendBuf *out)
{
    buf_counted(out, t->structure->data, t->structure->n);
    for (uint32_t s = 0; s < t->first_slot[t->n_terminals]; s++)
        rank_vector_encode(&t->slots[s], out);
}

bool table_decode(Table *t, WendCursor *c, uint32_t ranks)
{
    memset(t, 0, sizeof *t);
    WendCursor block = cursor_block(c);
    if (c->failed)
        return false;
    t->structure = bytes_new(block.p, block.end - block.p);
    if (!index_structure(t))
        return false;
    uint32_t n = t->first_slot[t->n_terminals];
    if ((size_t)(c->end - c->p) < n)
        return false;
    t->slots = NEW0(RankVector, MAX(n, 1));
    for (uint32_t s = 0; s < n; s++)
        if (!rank_vector_decode(&t->slots[s], c, ranks))
            return false;
    return true;
}

void table_clear(Table *t)
{
    if (t->slots)
        for (uint32_t s = 0; s < t->first_slot[t->n_terminals]; s++)
            rank_vector_clear(&t->slots[s]);
    for (uint32_t i = 0; t->ranks && i < t->n_terminals; i++)
        rankset_clear(&t->ranks[i]);
    memory_free(t->ranks);
    CLEAR(t->structure, bytes_unref);
    memory_free(t->terminal_shape);
    memory_free(t->first_slot);
    memory_free(t->has_self);
    memory_free(t->slots);
    memset(t, 0, sizeof *t);
}

size_t table_memory(const Table *t)
{
    uint32_t n = t->first_slot[t->n_terminals];
    size_t all =
        sizeof *t + t->structure->n
        + t->n_terminals * (sizeof *t->terminal_shape + sizeof *t->first_slot + sizeof *t->has_self)
        + n * sizeof *t->slots;
    for (uint32_t s = 0; s < n; s++)
        if (rank_vector_is_deltas(&t->slots[s]))
            all += delta_sequence_memory(t->slots[s].deltas);
    return all;
}

/* -- merging -- */

static RankVector united(const RankVectorOn *a, const RankVectorOn *b)
{
    RankVector v = rank_vector_copy(a->values);
    if (rank_vector_join(&v, b->values))
        return v;
    rank_vector_clear(&v);
    return rank_vector_unite(a, b);
}

/* Merges the N slots of a terminal of B into A. */
static void merge_slots(RankVector *a, const RankSet *ranks_a, const RankVector *b,
                        const RankSet *ranks_b, uint32_t n, bool has_self)
{
    /* slot 0 comes last: until then it has the values of self on a's ranks */
    RankVector united_first = {0};
    for (uint32_t s = 0; s < n; s++) {
        bool by_world = s == 0 || !has_self;
        RankVectorOn x = {ranks_a, &a[s], by_world ? NULL : a},
                     y = {ranks_b, &b[s], by_world ? NULL : b};
        RankVector v = united(&x, &y);
        if (s == 0) {
            united_first = v;
            continue;
        }
        rank_vector_clear(&a[s]);
        a[s] = v;
    }
    if (n == 0)
        return;
    rank_vector_clear(a);
    *a = united_first;
}

void table_merge(Table *a, const RankSet *ranks_a, const Table *b, const RankSet *ranks_b)
{
    for (uint32_t i = 0; i < a->n_terminals; i++) {
        uint32_t first = a->first_slot[i];
        merge_slots(&a->slots[first], ranks_a, &b->slots[first], ranks_b,
                    a->first_slot[i + 1] - first, a->has_self[i]);
    }
}

/* -- refining -- */

Bytes *table_shapes_bytes(const Table *t)
{
    return bytes_part(t->structure, 0, shapes_length(t));
}

Table table_refined(const Table *t, const uint32_t *of, uint32_t n)
{
    Table refined = {0};
    WendBuf structure = WEND_BUF_INIT;
    buf_bytes(&structure, t->structure->data, shapes_length(t));
    buf_unsigned(&structure, n);
    for (uint32_t i = 0; i < n; i++) {
        buf_unsigned(&structure, t->terminal_shape[of[i]]);
        buf_unsigned(&structure, t->first_slot[of[i] + 1] - t->first_slot[of[i]]);
    }
    if (!take_structure(&refined, &structure))
        memory_short();
    refined.slots = NEW0(RankVector, MAX(refined.first_slot[n], 1));
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t s = refined.first_slot[i], from = t->first_slot[of[i]];
             s < refined.first_slot[i + 1]; s++)
            refined.slots[s] = rank_vector_copy(&t->slots[from++]);
    return refined;
}

/* -- aligning -- */

uint32_t *table_shapes_in(const Table *in, const Table *t)
{
    AUTO(Map) numbers = map_of_bytes(NULL);
    const Table *tables[] = {in, t};
    uint32_t *found = NEW(uint32_t, t->n_shapes + 1);
    for (int k = 0; k < 2; k++) {
        ShapeRow *rows = table_shapes(tables[k]);
        for (uint32_t i = 0; i < tables[k]->n_shapes; i++) {
            AUTO(Bytes) key = bytes_new(rows[i].words, rows[i].n * sizeof(int64_t));
            if (k == 0) {
                map_put(numbers, STEAL(key), OF_NUMBER(i + 1));
                continue;
            }
            uint32_t number = NUMBER_OF(map_get(numbers, key));
            found[i] = number ? number - 1 : PAIR_NONE;
        }
        table_shapes_free(rows, tables[k]->n_shapes);
    }
    return found;
}

static void put_shape(WendBuf *out, const ShapeRow *row)
{
    buf_unsigned(out, row->n);
    for (uint32_t k = 0; k < row->n; k++)
        buf_signed(out, row->words[k]);
}

/* The structure of the result. */
static void align_structure(const Table *a, const Table *b, const uint32_t *const of[2], uint32_t n,
                            WendBuf *structure)
{
    AUTOFREE uint32_t *shape_of = table_shapes_in(a, b);
    const Table *tables[] = {a, b};
    ShapeRow *rows[] = {table_shapes(a), table_shapes(b)};
    uint32_t n_shapes = a->n_shapes;
    for (uint32_t i = 0; i < b->n_shapes; i++)
        n_shapes += shape_of[i] == PAIR_NONE;
    buf_unsigned(structure, n_shapes);
    n_shapes = a->n_shapes;
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < tables[k]->n_shapes; i++) {
            if (k == 1 && shape_of[i] != PAIR_NONE)
                continue;
            put_shape(structure, &rows[k][i]);
            if (k == 1)
                shape_of[i] = n_shapes++;
        }
    for (int k = 0; k < 2; k++)
        table_shapes_free(rows[k], tables[k]->n_shapes);
    buf_unsigned(structure, n);
    for (uint32_t i = 0; i < n; i++) {
        bool of_b = of[0][i] == PAIR_NONE;
        const Table *t = tables[of_b];
        uint32_t terminal = of[of_b][i];
        buf_unsigned(structure,
                     of_b ? shape_of[t->terminal_shape[terminal]] : t->terminal_shape[terminal]);
        buf_unsigned(structure, t->first_slot[terminal + 1] - t->first_slot[terminal]);
    }
}

Table table_aligned(const Table *a, const RankSet *ranks_a, const Table *b, const RankSet *ranks_b,
                    const uint32_t *const of[2], uint32_t n)
{
    Table aligned = {0};
    WendBuf structure = WEND_BUF_INIT;
    align_structure(a, b, of, n, &structure);
    if (!take_structure(&aligned, &structure))
        memory_short();
    aligned.slots = NEW0(RankVector, MAX(aligned.first_slot[n], 1));
    aligned.ranks = NEW0(RankSet, n + 1);
    const Table *tables[] = {a, b};
    const RankSet *all[] = {ranks_a, ranks_b};
    for (uint32_t i = 0; i < n; i++) {
        RankVector *slots = &aligned.slots[aligned.first_slot[i]];
        uint32_t n_slots = aligned.first_slot[i + 1] - aligned.first_slot[i];
        bool filled = false;
        for (int k = 0; k < 2; k++) {
            if (of[k][i] == PAIR_NONE)
                continue;
            const RankSet *ranks = tables[k]->ranks ? &tables[k]->ranks[of[k][i]] : all[k];
            const RankVector *theirs = &tables[k]->slots[tables[k]->first_slot[of[k][i]]];
            for (uint32_t s = 0; s < n_slots && !filled; s++)
                slots[s] = rank_vector_copy(&theirs[s]);
            if (filled)
                merge_slots(slots, &aligned.ranks[i], theirs, ranks, n_slots, aligned.has_self[i]);
            if (filled)
                rankset_unite(&aligned.ranks[i], ranks);
            else
                aligned.ranks[i] = rankset_copy(ranks);
            filled = true;
        }
    }
    return aligned;
}

/* -- for the end of the merge -- */

ShapeRow *table_shapes(const Table *t)
{
    WendCursor c = cursor_of(t->structure->data, t->structure->n);
    cursor_unsigned(&c);
    ShapeRow *rows = NEW0(ShapeRow, MAX(t->n_shapes, 1));
    for (uint32_t i = 0; i < t->n_shapes; i++) {
        rows[i].n = cursor_unsigned(&c);
        rows[i].words = NEW(int64_t, rows[i].n);
        for (uint32_t k = 0; k < rows[i].n; k++)
            rows[i].words[k] = cursor_signed(&c);
    }
    return rows;
}

void table_shapes_free(ShapeRow *rows, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        memory_free(rows[i].words);
    memory_free(rows);
}
