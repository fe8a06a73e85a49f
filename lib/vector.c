/* vector.c: slot values over ranks, as a constant, self + k, or pieces of these. */
#include "vector.h"

#include "rankset.h"

#include <string.h>

gboolean word_difference(gint64 value, gint64 self, gint64 *difference)
{
    return value >= WEND_SPECIAL_BASE && self >= WEND_SPECIAL_BASE && !__builtin_sub_overflow(value, self, difference);
}

gint64 word_sum(gint64 self, gint64 delta)
{
    gint64 sum;
    if (self < WEND_SPECIAL_BASE || __builtin_add_overflow(self, delta, &sum)) return WEND_ABSENT;
    return sum;
}

Vector vector_single(gint64 value, gint64 self)
{
    Vector v = {.constant = TRUE, .value = value};
    v.relative = word_difference(value, self, &v.delta);
    return v;
}

Vector vector_copy(const Vector *v)
{
    Vector copy = *v;
    copy.pieces = g_memdup2(v->pieces, v->n_pieces * sizeof(WendSlotPiece));
    return copy;
}

void vector_clear(Vector *v)
{
    g_free(v->pieces);
    memset(v, 0, sizeof *v);
}

static gboolean both_constant(const Vector *a, const Vector *b)
{
    return a->constant && b->constant && a->value == b->value;
}

static gboolean both_relative(const Vector *a, const Vector *b)
{
    return a->relative && b->relative && a->delta == b->delta;
}

gboolean vector_joins(const Vector *a, const Vector *b)
{
    return both_constant(a, b) || both_relative(a, b);
}

gboolean vector_join(Vector *a, const Vector *b)
{
    gboolean constant = both_constant(a, b), relative = both_relative(a, b);
    if (!constant && !relative) return FALSE;
    a->constant = constant;
    a->relative = relative;
    if (!constant) a->value = 0;
    if (!relative) a->delta = 0;
    return TRUE;
}

static gboolean piece_equal(const WendSlotPiece *a, const WendSlotPiece *b)
{
    return a->first == b->first && a->count == b->count && a->step == b->step && a->relative == b->relative && a->value == b->value;
}

gboolean vector_equal(const Vector *a, const Vector *b)
{
    if (a->constant != b->constant || a->relative != b->relative || a->value != b->value || a->delta != b->delta ||
        a->n_pieces != b->n_pieces)
        return FALSE;
    for (guint i = 0; i < a->n_pieces; i++)
        if (!piece_equal(&a->pieces[i], &b->pieces[i])) return FALSE;
    return TRUE;
}

/* The index of RANK in the ascending row, or n. */
static guint32 index_of(const guint32 *ranks, guint32 n, guint64 rank)
{
    if (n == 0 || rank < ranks[0] || rank > ranks[n - 1]) return n;
    if (ranks[n - 1] - ranks[0] == n - 1) return rank - ranks[0];
    guint32 low = 0, high = n;
    while (low < high) {
        guint32 middle = low + (high - low) / 2;
        if (ranks[middle] < rank) low = middle + 1; else high = middle;
    }
    return low < n && ranks[low] == rank ? low : n;
}

void vector_values(const Vector *v, const guint32 *ranks, const gint64 *selfs, guint32 n, gint64 *out)
{
    if (v->constant || v->relative) {
        for (guint32 i = 0; i < n; i++) out[i] = v->constant ? v->value : word_sum(selfs[i], v->delta);
        return;
    }
    for (guint32 i = 0; i < n; i++) out[i] = WEND_ABSENT;
    for (guint p = 0; p < v->n_pieces; p++) {
        const WendSlotPiece *piece = &v->pieces[p];
        for (guint32 k = 0; k < piece->count; k++) {
            guint32 i = index_of(ranks, n, piece->first + (guint64)k * piece->step);
            if (i < n) out[i] = piece->relative ? word_sum(selfs[i], piece->value) : piece->value;
        }
    }
}

/* -- fitting -- */

typedef struct {
    guint32 n;
    const guint32 *ranks;
    const gint64 *key[2];       /* 0: values, 1: values - self */
    const guint8 *relatable;    /* by index: the difference exists */
    guint32 *next[2];           /* next index with the same key, or n */
    guint8 *used;
} Fit;

static gboolean fit_same(const Fit *f, int mode, guint32 i, guint32 j)
{
    return f->key[mode][i] == f->key[mode][j] && (mode == 0 || f->relatable[j]);
}

static void fit_link(Fit *f, int mode)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_int64_hash, g_int64_equal);
    for (guint32 i = f->n; i-- > 0;) {
        f->next[mode][i] = f->n;
        if (mode == 1 && !f->relatable[i]) continue;
        gpointer found;
        if (g_hash_table_lookup_extended(seen, &f->key[mode][i], NULL, &found)) f->next[mode][i] = GPOINTER_TO_UINT(found);
        g_hash_table_replace(seen, (gpointer)&f->key[mode][i], GUINT_TO_POINTER(i));
    }
}

/* The longest run of equal keys from I on whose step is the distance to the next free equal one. */
static guint32 fit_run(Fit *f, int mode, guint32 i, guint32 *step)
{
    guint32 j = f->next[mode][i];
    while (j < f->n && f->used[j]) j = f->next[mode][j];
    f->next[mode][i] = j;
    if (j >= f->n) return 1;
    *step = f->ranks[j] - f->ranks[i];
    guint32 count = 2;
    for (guint64 rank = (guint64)f->ranks[j] + *step;; rank += *step, count++) {
        guint32 k = index_of(f->ranks, f->n, rank);
        if (k >= f->n || f->used[k] || !fit_same(f, mode, i, k)) break;
    }
    return count > 2 || *step == 1 ? count : 1;
}

static void fit_pieces(Fit *f, Vector *v)
{
    GArray *pieces = g_array_new(FALSE, TRUE, sizeof(WendSlotPiece));
    for (guint32 i = 0; i < f->n; i++) {
        if (f->used[i]) continue;
        guint32 step = 1, count = fit_run(f, 0, i, &step);
        int mode = 0;
        if (f->relatable[i]) {
            guint32 other_step = 1, other = fit_run(f, 1, i, &other_step);
            if (other > count) {
                mode = 1;
                count = other;
                step = other_step;
            }
        }
        if (count == 1) step = 1;
        for (guint32 k = 0; k < count; k++) f->used[index_of(f->ranks, f->n, f->ranks[i] + (guint64)k * step)] = 1;
        WendSlotPiece piece = {.first = f->ranks[i], .count = count, .step = step, .relative = mode == 1, .value = f->key[mode][i]};
        g_array_append_val(pieces, piece);
    }
    v->n_pieces = pieces->len;
    v->pieces = (WendSlotPiece *)g_array_free(pieces, FALSE);
}

Vector vector_fit(const guint32 *ranks, const gint64 *values, const gint64 *selfs, guint32 n)
{
    Vector v = {.constant = TRUE, .relative = TRUE, .value = values[0]};
    g_autofree gint64 *differences = g_new0(gint64, n);
    g_autofree guint8 *relatable = g_new(guint8, n);
    for (guint32 i = 0; i < n; i++) {
        relatable[i] = word_difference(values[i], selfs[i], &differences[i]);
        if (!relatable[i]) differences[i] = 0;
        if (values[i] != values[0]) v.constant = FALSE;
        if (!relatable[i] || differences[i] != differences[0]) v.relative = FALSE;
    }
    v.delta = v.relative ? differences[0] : 0;
    if (!v.constant) v.value = 0;
    if (v.constant || v.relative) return v;

    g_autofree guint32 *next_0 = g_new(guint32, n), *next_1 = g_new(guint32, n);
    g_autofree guint8 *used = g_new0(guint8, n);
    Fit f = {n, ranks, {values, differences}, relatable, {next_0, next_1}, used};
    fit_link(&f, 0);
    fit_link(&f, 1);
    fit_pieces(&f, &v);
    return v;
}

/* -- between merging processes -- */

void vector_encode(const Vector *v, WendBuf *out)
{
    wend_buf_unsigned(out, (v->constant ? 1 : 0) | (v->relative ? 2 : 0));
    if (v->constant) wend_buf_signed(out, v->value);
    if (v->relative) wend_buf_signed(out, v->delta);
    if (v->constant || v->relative) return;
    wend_buf_unsigned(out, v->n_pieces);
    for (guint i = 0; i < v->n_pieces; i++) {
        const WendSlotPiece *p = &v->pieces[i];
        wend_buf_unsigned(out, p->first);
        wend_buf_unsigned(out, (guint64)p->count << 1 | (p->relative ? 1 : 0));
        wend_buf_unsigned(out, p->step);
        wend_buf_signed(out, p->value);
    }
}

gboolean vector_decode(Vector *v, WendCursor *c)
{
    memset(v, 0, sizeof *v);
    guint64 form = wend_read_unsigned(c);
    v->constant = (form & 1) != 0;
    v->relative = (form & 2) != 0;
    if (v->constant) v->value = wend_read_signed(c);
    if (v->relative) v->delta = wend_read_signed(c);
    if (form > 3) c->failed = true;
    if (v->constant || v->relative || c->failed) return !c->failed;
    gsize n = wend_read_count(c, 4);
    if (c->failed) return FALSE;
    v->n_pieces = n;
    v->pieces = g_new0(WendSlotPiece, MAX(n, 1));
    for (guint i = 0; i < v->n_pieces; i++) {
        WendSlotPiece *p = &v->pieces[i];
        guint64 first = wend_read_unsigned(c), count = wend_read_unsigned(c), step = wend_read_unsigned(c);
        p->value = wend_read_signed(c);
        p->relative = (count & 1) != 0;
        count >>= 1;
        if (first >= RANKSET_MAX || count == 0 || count > RANKSET_MAX || step == 0 || step > RANKSET_MAX) c->failed = true;
        if (c->failed) return FALSE;
        p->first = first;
        p->count = count;
        p->step = step;
    }
    return TRUE;
}
