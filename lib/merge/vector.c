/* SPDX-License-Identifier: BSD-3-Clause */
/* vector.c: slot values over ranks, as a constant, self + k, or a series of either. */
#include "vector.h"

#include <string.h>

#include "record/words.h"

gboolean word_difference(gint64 value, gint64 self, gint64 *difference)
{
    return !wend_is_special(value) && !wend_is_special(self) && !__builtin_sub_overflow(value, self, difference) &&
           !wend_is_special(*difference);
}

gint64 word_sum(gint64 self, gint64 delta)
{
    gint64 sum;
    if (wend_is_special(self) || __builtin_add_overflow(self, delta, &sum)) return WEND_ABSENT;
    return sum;
}

Vector vector_single(gint64 value, gint64 self)
{
    Vector v = {.value = value};
    if (!word_difference(value, self, &v.delta)) v.delta = VECTOR_NO_DELTA;
    return v;
}

Vector vector_series(Series *series, gboolean of_self)
{
    return (Vector){.value = of_self ? VECTOR_SERIES_OF_SELF : VECTOR_SERIES, .series = series};
}

Vector vector_copy(const Vector *v)
{
    if (vector_is_series(v)) series_ref(v->series);
    return *v;
}

void vector_clear(Vector *v)
{
    if (vector_is_series(v)) series_unref(v->series);
    memset(v, 0, sizeof *v);
}

static gboolean both_constant(const Vector *a, const Vector *b)
{
    return vector_is_constant(a) && a->value == b->value;
}

static gboolean both_relative(const Vector *a, const Vector *b)
{
    return vector_is_relative(a) && vector_is_relative(b) && a->delta == b->delta;
}

gboolean vector_joins(const Vector *a, const Vector *b)
{
    return both_constant(a, b) || both_relative(a, b);
}

gboolean vector_join(Vector *a, const Vector *b)
{
    gboolean constant = both_constant(a, b), relative = both_relative(a, b);
    if (!constant && !relative) return FALSE;
    if (!constant) a->value = VECTOR_RELATIVE;
    if (!relative) a->delta = VECTOR_NO_DELTA;
    return TRUE;
}

gboolean vector_equal(const Vector *a, const Vector *b)
{
    if (a->value != b->value) return FALSE;
    return vector_is_series(a) ? series_equal(a->series, b->series) : a->delta == b->delta;
}

gint64 vector_at(const Vector *v, guint64 index, gint64 self)
{
    if (vector_is_constant(v)) return v->value;
    if (vector_is_relative(v)) return word_sum(self, v->delta);
    gint64 word = series_at(v->series, index);
    return v->value == VECTOR_SERIES_OF_SELF && !wend_is_special(word) ? word_sum(self, word) : word;
}

/* -- two into one -- */

/* As many words as both have, and not more than COUNT: x + SIGN y, as far as both are ordinary; a special word of x stays. FALSE: y is special where x is not, or no number comes out. */
static gboolean combine(SeriesRun x, SeriesRun y, int sign, SeriesRun *out)
{
    gint64 last[2], end, step;
    guint64 count = MIN(x.count, y.count), more = count - 1;
    *out = (SeriesRun){x.value, x.step, count};
    if (wend_is_special(x.value)) return TRUE;
    if (wend_is_special(y.value)) return FALSE;
    const SeriesRun *both[] = {&x, &y};
    for (int i = 0; i < 2; i++) last[i] = (gint64)((guint64)both[i]->value + (guint64)both[i]->step * more);
    if (sign > 0 ? __builtin_add_overflow(x.value, y.value, &out->value) : __builtin_sub_overflow(x.value, y.value, &out->value)) return FALSE;
    if (sign > 0 ? __builtin_add_overflow(last[0], last[1], &end) : __builtin_sub_overflow(last[0], last[1], &end)) return FALSE;
    if (sign > 0 ? __builtin_add_overflow(x.step, y.step, &step) : __builtin_sub_overflow(x.step, y.step, &step)) return FALSE;
    out->step = more ? step : 0;
    return !wend_is_special(out->value) && !wend_is_special(end);
}

/* What V has from INDEX on: the words of its series, or of the constant that it is. Of self: to be added to self. */
static SeriesRun own_run(const Vector *v, guint32 index, guint32 count, gboolean *of_self)
{
    *of_self = v->value == VECTOR_RELATIVE || v->value == VECTOR_SERIES_OF_SELF;
    if (!vector_is_series(v)) return (SeriesRun){*of_self ? v->delta : v->value, 0, count};
    SeriesRun run = series_run(v->series, index);
    run.count = MIN(run.count, count);
    return run;
}

/* What self is from INDEX on, where the ranks go on as RANKS. */
static SeriesRun self_run(const VectorOn *on, guint32 index, RankRun ranks)
{
    SeriesRun world = {ranks.first, ranks.step, ranks.count}, self;
    gboolean of_world;
    if (!on->first) return world;
    SeriesRun own = own_run(on->first, index, ranks.count, &of_world);
    if (!of_world) return own;
    return combine(own, world, 1, &self) ? self : (SeriesRun){WEND_ABSENT, 0, own.count};
}

/* The next words of one side, as they are, and as differences to self (*RELATABLE FALSE: there are none). */
static void next_run(const VectorOn *on, guint32 index, RankRun ranks, SeriesRun *values, SeriesRun *differences, gboolean *relatable)
{
    gboolean of_self;
    SeriesRun self = self_run(on, index, ranks), own = own_run(on->values, index, (guint32)self.count, &of_self);
    if (of_self) {
        if (!combine(own, self, 1, values)) *values = (SeriesRun){WEND_ABSENT, 0, MIN(own.count, self.count)};
        *differences = own;
        differences->count = values->count;
        return;
    }
    *relatable &= combine(own, self, -1, differences);
    *values = own;
    values->count = differences->count = MIN(own.count, self.count);
}

Vector vector_unite(const VectorOn *a, const VectorOn *b)
{
    const VectorOn *sides[2] = {a, b};
    RankZip zip = {.sets = {a->ranks, b->ranks}};
    SeriesBuilder *plain = series_builder_new(), *relative = series_builder_new();
    RankRun ranks;
    int side;
    guint32 index;
    gboolean relatable = TRUE;
    while (rankset_zip(&zip, &side, &index, &ranks))
        while (ranks.count > 0) {
            SeriesRun values, differences;
            next_run(sides[side], index, ranks, &values, &differences, &relatable);
            series_builder_add(plain, values);
            if (relatable) series_builder_add(relative, differences);
            index += (guint32)values.count;
            ranks.first += (guint32)values.count * ranks.step;
            ranks.count -= (guint32)values.count;
        }
    Series *words = series_builder_end(plain), *to_self = series_builder_end(relative);
    gboolean of_self = relatable && series_size(to_self) < series_size(words);
    series_unref(of_self ? words : to_self);
    return vector_series(of_self ? to_self : words, of_self);
}

/* -- between merging processes -- */

enum { ENCODED_CONSTANT = 1, ENCODED_RELATIVE = 2, ENCODED_OF_SELF = 4 };

void vector_encode(const Vector *v, WendBuf *out)
{
    gboolean constant = vector_is_constant(v), relative = vector_is_relative(v);
    wend_buf_unsigned(out, (constant ? ENCODED_CONSTANT : 0) | (relative ? ENCODED_RELATIVE : 0) | (v->value == VECTOR_SERIES_OF_SELF ? ENCODED_OF_SELF : 0));
    if (constant) wend_buf_signed(out, v->value);
    if (relative) wend_buf_signed(out, v->delta);
    if (vector_is_series(v)) series_encode(v->series, out, NULL);
}

gboolean vector_decode(Vector *v, WendCursor *c, guint32 n)
{
    guint64 form = wend_read_unsigned(c);
    gboolean constant = (form & ENCODED_CONSTANT) != 0, relative = (form & ENCODED_RELATIVE) != 0;
    Vector plain = {.value = VECTOR_RELATIVE, .delta = VECTOR_NO_DELTA};
    memset(v, 0, sizeof *v);
    if (constant) plain.value = wend_read_signed(c);
    if (relative) plain.delta = wend_read_signed(c);
    if (form > ENCODED_OF_SELF || (constant && vector_is_mark(plain.value)) || (relative && wend_is_special(plain.delta))) c->failed = true;
    if (!c->failed && !constant && !relative) {
        Series *series = series_decode(c, n, NULL, 0);
        if (series) *v = vector_series(series, form == ENCODED_OF_SELF);
    } else if (!c->failed) *v = plain;
    return !c->failed;
}
