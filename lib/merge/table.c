/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c: call signature tables over rank sets. See class.h. */
#include <string.h>

#include "base/pairs.h"
#include "base/shortage.h"
#include "class.h"
#include "record/record.h"

static gboolean index_strided(Table *t, guint32 terminal, guint64 n_slots, WendCursor *c)
{
    guint64 count = wend_cursor_unsigned(c);
    if (c->failed || count == 0 || count > G_MAXINT32 || n_slots > (guint64)(c->end - c->p))
        return FALSE;
    if (!t->strided)
        t->strided = g_array_new(FALSE, FALSE, sizeof(Strided));
    const Strided one = {terminal, (guint32)count, g_new(gint64, n_slots + 1)};
    for (guint64 k = 0; k < n_slots; k++)
        one.steps[k] = wend_cursor_signed(c);
    g_array_append_val(t->strided, one);
    return TRUE;
}

/* Fills the members that follow from the structure's bytes, which have been checked. */
static gboolean index_structure(Table *t)
{
    WendCursor c =
        wend_cursor(g_bytes_get_data(t->structure, NULL), g_bytes_get_size(t->structure));
    t->n_shapes = wend_cursor_count(&c, 1);
    g_autofree guint8 *self_shape = g_new0(guint8, MAX(t->n_shapes, 1));
    for (guint i = 0; i < t->n_shapes; i++) {
        gsize n = wend_cursor_count(&c, 1);
        for (gsize k = 0; k < n; k++) {
            gint64 word = wend_cursor_signed(&c);
            if (k > 0)
                continue;
            if (word < 0 || (guint64)word / 2 >= wend_n_functions)
                return FALSE;
            self_shape[i] = (wend_functions[word / 2].flags & WEND_F_SELF) != 0;
        }
        if (n == 0 || c.failed)
            return FALSE;
    }
    t->n_terminals = wend_cursor_count(&c, 2);
    t->terminal_shape = g_new0(guint32, t->n_terminals + 1);
    t->first_slot = g_new0(guint, t->n_terminals + 1);
    t->has_self = g_new0(guint8, t->n_terminals + 1);
    for (guint i = 0; i < t->n_terminals; i++) {
        guint64 said = wend_cursor_unsigned(&c), shape = said >> 1,
                slots = wend_cursor_unsigned(&c);
        if (said & 1 && !index_strided(t, i, slots, &c))
            return FALSE;
        if (c.failed || shape >= t->n_shapes || slots > G_MAXINT32
            || t->first_slot[i] + slots > G_MAXINT32)
            return FALSE;
        t->terminal_shape[i] = shape;
        t->first_slot[i + 1] = t->first_slot[i] + slots;
        t->has_self[i] = self_shape[shape] && slots > 0;
    }
    return !c.failed && c.p == c.end;
}

static gboolean take_structure(Table *t, WendBuf *structure)
{
    t->structure = g_bytes_new(structure->data, structure->len);
    gboolean whole = !structure->failed && index_structure(t);
    wend_buf_clear(structure);
    return whole;
}

/* The number of bytes of the shapes in the structure. */
static gsize shapes_length(const Table *t)
{
    const guint8 *bytes = g_bytes_get_data(t->structure, NULL);
    WendCursor c = wend_cursor(bytes, g_bytes_get_size(t->structure));
    gsize n_shapes = wend_cursor_count(&c, 1);
    for (gsize i = 0; i < n_shapes; i++)
        for (gsize n = wend_cursor_count(&c, 1); n > 0; n--)
            wend_cursor_signed(&c);
    return (gsize)(c.p - bytes);
}

const Strided *table_strided(const Table *t, guint32 terminal)
{
    guint low = 0, high = t->strided ? t->strided->len : 0;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        const Strided *a = &g_array_index(t->strided, Strided, middle);
        if (a->terminal == terminal)
            return a;
        if (a->terminal < terminal)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Are all words of the terminals that a strided one stands for valid? */
static gboolean strided_in_range(const Table *t, const Strided *a)
{
    const RankVector *slots = &t->slots[t->first_slot[a->terminal]];
    for (guint k = 0; k < t->first_slot[a->terminal + 1] - t->first_slot[a->terminal]; k++) {
        gint64 away, last;
        if (!rank_vector_is_constant(&slots[k]))
            return FALSE;
        if (a->steps[k] == 0)
            continue;
        if (wend_word_is_special(slots[k].value)
            || __builtin_mul_overflow(a->steps[k], (gint64)(a->count - 1), &away)
            || __builtin_add_overflow(slots[k].value, away, &last) || wend_word_is_special(last))
            return FALSE;
    }
    return TRUE;
}

static gboolean all_in_range(const Table *t)
{
    for (guint i = 0; t->strided && i < t->strided->len; i++)
        if (!strided_in_range(t, &g_array_index(t->strided, Strided, i)))
            return FALSE;
    return TRUE;
}

gboolean table_from_part(Table *t, const PartTable *p, guint32 rank)
{
    WendBuf structure = WEND_BUF_INIT;
    memset(t, 0, sizeof *t);
    wend_buf_bytes(&structure, p->shapes.data, p->shapes.len);
    wend_buf_unsigned(&structure, p->terminals->len);
    for (guint i = 0; i < p->terminals->len; i++) {
        const PartTerminal *one = &g_array_index(p->terminals, PartTerminal, i);
        wend_buf_unsigned(&structure, (guint64)one->shape << 1 | (one->count > 0));
        wend_buf_unsigned(&structure, one->n);
        if (!one->count)
            continue;
        wend_buf_unsigned(&structure, one->count);
        for (guint k = 0; k < one->n; k++)
            wend_buf_signed(&structure, one->steps[k]);
    }
    if (!take_structure(t, &structure))
        return FALSE;
    t->slots = g_new0(RankVector, MAX(t->first_slot[t->n_terminals], 1));
    for (guint i = 0; i < t->n_terminals; i++) {
        const gint64 *words = g_array_index(p->terminals, PartTerminal, i).words;
        for (guint k = 0; k < t->first_slot[i + 1] - t->first_slot[i]; k++) {
            if (rank_vector_is_mark(words[k]))
                return FALSE;
            t->slots[t->first_slot[i] + k] =
                rank_vector_single(words[k], k == 0 || !t->has_self[i] ? (gint64)rank : words[0]);
        }
    }
    return all_in_range(t);
}

void table_to_part(const Table *t, PartTable *p)
{
    gsize n_shapes = shapes_length(t);
    *p = (PartTable){.n_shapes = t->n_shapes,
                     .shapes = WEND_BUF_INIT,
                     .terminals = g_array_new(FALSE, FALSE, sizeof(PartTerminal)),
                     .streams = g_array_new(FALSE, FALSE, sizeof(PartStream))};
    wend_buf_bytes(&p->shapes, g_bytes_get_data(t->structure, NULL), n_shapes);
    for (guint i = 0; i < t->n_terminals; i++) {
        const Strided *a = table_strided(t, i);
        guint n = t->first_slot[i + 1] - t->first_slot[i];
        gint64 *words = wend_arena_new(&p->arena, n * sizeof *words),
               *steps = a ? wend_arena_copy(&p->arena, a->steps, n * sizeof *steps) : NULL;
        if (!words || (a && !steps))
            wend_shortage();
        for (guint k = 0; k < n; k++)
            words[k] = t->slots[t->first_slot[i] + k].value;
        const PartTerminal one = {t->terminal_shape[i], n, words, a ? a->count : 0, steps};
        g_array_append_val(p->terminals, one);
    }
}

void table_encode(const Table *t, WendBuf *out)
{
    gsize n;
    const void *bytes = g_bytes_get_data(t->structure, &n);
    wend_buf_unsigned(out, n);
    wend_buf_bytes(out, bytes, n);
    for (guint s = 0; s < t->first_slot[t->n_terminals]; s++)
        rank_vector_encode(&t->slots[s], out);
}

gboolean table_decode(Table *t, WendCursor *c, guint32 ranks)
{
    memset(t, 0, sizeof *t);
    WendCursor block = wend_cursor_block(c);
    if (c->failed)
        return FALSE;
    t->structure = g_bytes_new(block.p, block.end - block.p);
    if (!index_structure(t))
        return FALSE;
    guint n = t->first_slot[t->n_terminals];
    if ((gsize)(c->end - c->p) < n)
        return FALSE;
    t->slots = g_new0(RankVector, MAX(n, 1));
    for (guint s = 0; s < n; s++)
        if (!rank_vector_decode(&t->slots[s], c, ranks))
            return FALSE;
    return !t->strided || (ranks == 1 && all_in_range(t));
}

void table_clear(Table *t)
{
    if (t->slots)
        for (guint s = 0; s < t->first_slot[t->n_terminals]; s++)
            rank_vector_clear(&t->slots[s]);
    for (guint i = 0; t->ranks && i < t->n_terminals; i++)
        rankset_clear(&t->ranks[i]);
    g_free(t->ranks);
    for (guint i = 0; t->strided && i < t->strided->len; i++)
        g_free(g_array_index(t->strided, Strided, i).steps);
    g_clear_pointer(&t->strided, g_array_unref);
    g_clear_pointer(&t->structure, g_bytes_unref);
    g_free(t->terminal_shape);
    g_free(t->first_slot);
    g_free(t->has_self);
    g_free(t->slots);
    memset(t, 0, sizeof *t);
}

gsize table_memory(const Table *t)
{
    guint n = t->first_slot[t->n_terminals];
    gsize all =
        sizeof *t + g_bytes_get_size(t->structure)
        + t->n_terminals * (sizeof *t->terminal_shape + sizeof *t->first_slot + sizeof *t->has_self)
        + n * sizeof *t->slots;
    for (guint s = 0; s < n; s++)
        if (rank_vector_is_deltas(&t->slots[s]))
            all += delta_sequence_memory(t->slots[s].deltas);
    for (guint i = 0; t->strided && i < t->strided->len; i++) {
        guint32 terminal = g_array_index(t->strided, Strided, i).terminal;
        all += sizeof(Strided)
               + (t->first_slot[terminal + 1] - t->first_slot[terminal]) * sizeof(gint64);
    }
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
                        const RankSet *ranks_b, guint n, gboolean has_self)
{
    /* slot 0 comes last: until then it has the values of self on a's ranks */
    RankVector united_first = {0};
    for (guint s = 0; s < n; s++) {
        gboolean by_world = s == 0 || !has_self;
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
    for (guint i = 0; i < a->n_terminals; i++) {
        guint first = a->first_slot[i];
        merge_slots(&a->slots[first], ranks_a, &b->slots[first], ranks_b,
                    a->first_slot[i + 1] - first, a->has_self[i]);
    }
}

/* -- refining -- */

GBytes *table_shapes_bytes(const Table *t)
{
    return g_bytes_new_from_bytes(t->structure, 0, shapes_length(t));
}

Table table_refined(const Table *t, const guint32 *of, guint n)
{
    Table refined = {0};
    WendBuf structure = WEND_BUF_INIT;
    wend_buf_bytes(&structure, g_bytes_get_data(t->structure, NULL), shapes_length(t));
    wend_buf_unsigned(&structure, n);
    for (guint i = 0; i < n; i++) {
        wend_buf_unsigned(&structure, (guint64)t->terminal_shape[of[i]] << 1);
        wend_buf_unsigned(&structure, t->first_slot[of[i] + 1] - t->first_slot[of[i]]);
    }
    if (!take_structure(&refined, &structure))
        wend_shortage();
    refined.slots = g_new0(RankVector, MAX(refined.first_slot[n], 1));
    for (guint i = 0; i < n; i++)
        for (guint s = refined.first_slot[i], from = t->first_slot[of[i]];
             s < refined.first_slot[i + 1]; s++)
            refined.slots[s] = rank_vector_copy(&t->slots[from++]);
    return refined;
}

/* -- aligning -- */

guint32 *table_shapes_in(const Table *in, const Table *t)
{
    g_autoptr(GHashTable) numbers =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    const Table *tables[] = {in, t};
    guint32 *found = g_new(guint32, t->n_shapes + 1);
    for (int k = 0; k < 2; k++) {
        ShapeRow *rows = table_shapes(tables[k]);
        for (guint i = 0; i < tables[k]->n_shapes; i++) {
            g_autoptr(GBytes) key = g_bytes_new(rows[i].words, rows[i].n * sizeof(gint64));
            if (k == 0) {
                g_hash_table_insert(numbers, g_steal_pointer(&key), GUINT_TO_POINTER(i + 1));
                continue;
            }
            guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, key));
            found[i] = number ? number - 1 : PAIR_NONE;
        }
        table_shapes_free(rows, tables[k]->n_shapes);
    }
    return found;
}

static void put_shape(WendBuf *out, const ShapeRow *row)
{
    wend_buf_unsigned(out, row->n);
    for (guint k = 0; k < row->n; k++)
        wend_buf_signed(out, row->words[k]);
}

/* The structure of the result. */
static void align_structure(const Table *a, const Table *b, const guint32 *const of[2], guint n,
                            WendBuf *structure)
{
    g_autofree guint32 *shape_of = table_shapes_in(a, b);
    const Table *tables[] = {a, b};
    ShapeRow *rows[] = {table_shapes(a), table_shapes(b)};
    guint32 n_shapes = a->n_shapes;
    for (guint i = 0; i < b->n_shapes; i++)
        n_shapes += shape_of[i] == PAIR_NONE;
    wend_buf_unsigned(structure, n_shapes);
    n_shapes = a->n_shapes;
    for (int k = 0; k < 2; k++)
        for (guint i = 0; i < tables[k]->n_shapes; i++) {
            if (k == 1 && shape_of[i] != PAIR_NONE)
                continue;
            put_shape(structure, &rows[k][i]);
            if (k == 1)
                shape_of[i] = n_shapes++;
        }
    for (int k = 0; k < 2; k++)
        table_shapes_free(rows[k], tables[k]->n_shapes);
    wend_buf_unsigned(structure, n);
    for (guint i = 0; i < n; i++) {
        gboolean of_b = of[0][i] == PAIR_NONE;
        const Table *t = tables[of_b];
        guint32 terminal = of[of_b][i];
        wend_buf_unsigned(
            structure,
            (guint64)(of_b ? shape_of[t->terminal_shape[terminal]] : t->terminal_shape[terminal])
                << 1);
        wend_buf_unsigned(structure, t->first_slot[terminal + 1] - t->first_slot[terminal]);
    }
}

Table table_aligned(const Table *a, const RankSet *ranks_a, const Table *b, const RankSet *ranks_b,
                    const guint32 *const of[2], guint n)
{
    Table aligned = {0};
    WendBuf structure = WEND_BUF_INIT;
    align_structure(a, b, of, n, &structure);
    if (!take_structure(&aligned, &structure))
        wend_shortage();
    aligned.slots = g_new0(RankVector, MAX(aligned.first_slot[n], 1));
    aligned.ranks = g_new0(RankSet, n + 1);
    const Table *tables[] = {a, b};
    const RankSet *all[] = {ranks_a, ranks_b};
    for (guint i = 0; i < n; i++) {
        RankVector *slots = &aligned.slots[aligned.first_slot[i]];
        guint n_slots = aligned.first_slot[i + 1] - aligned.first_slot[i];
        gboolean filled = FALSE;
        for (int k = 0; k < 2; k++) {
            if (of[k][i] == PAIR_NONE)
                continue;
            const RankSet *ranks = tables[k]->ranks ? &tables[k]->ranks[of[k][i]] : all[k];
            const RankVector *theirs = &tables[k]->slots[tables[k]->first_slot[of[k][i]]];
            for (guint s = 0; s < n_slots && !filled; s++)
                slots[s] = rank_vector_copy(&theirs[s]);
            if (filled)
                merge_slots(slots, &aligned.ranks[i], theirs, ranks, n_slots, aligned.has_self[i]);
            if (filled)
                rankset_unite(&aligned.ranks[i], ranks);
            else
                aligned.ranks[i] = rankset_copy(ranks);
            filled = TRUE;
        }
    }
    return aligned;
}

/* -- for the end of the merge -- */

ShapeRow *table_shapes(const Table *t)
{
    WendCursor c =
        wend_cursor(g_bytes_get_data(t->structure, NULL), g_bytes_get_size(t->structure));
    wend_cursor_unsigned(&c);
    ShapeRow *rows = g_new0(ShapeRow, MAX(t->n_shapes, 1));
    for (guint i = 0; i < t->n_shapes; i++) {
        rows[i].n = wend_cursor_unsigned(&c);
        rows[i].words = g_new(gint64, rows[i].n);
        for (guint k = 0; k < rows[i].n; k++)
            rows[i].words[k] = wend_cursor_signed(&c);
    }
    return rows;
}

void table_shapes_free(ShapeRow *rows, guint n)
{
    for (guint i = 0; i < n; i++)
        g_free(rows[i].words);
    g_free(rows);
}
