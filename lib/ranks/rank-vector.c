/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-vector.c: see rank-vector.h. */
#include "rank-vector.h"

#include <string.h>

#include "record/words.h"

gboolean rank_vector_word_difference(gint64 value, gint64 self, gint64 *difference)
{
    return !wend_word_is_special(value) && !wend_word_is_special(self)
           && !__builtin_sub_overflow(value, self, difference)
           && !wend_word_is_special(*difference);
}

gint64 rank_vector_word_sum(gint64 self, gint64 delta)
{
    gint64 sum;
    if (wend_word_is_special(self) || __builtin_add_overflow(self, delta, &sum))
        return WEND_ABSENT;
    return sum;
}

RankVector rank_vector_single(gint64 value, gint64 self)
{
    RankVector v = {.value = value};
    if (!rank_vector_word_difference(value, self, &v.delta))
        v.delta = RANK_VECTOR_NO_DELTA;
    return v;
}

RankVector rank_vector_deltas(DeltaSequence *deltas, gboolean of_self)
{
    return (RankVector){.value = of_self ? RANK_VECTOR_DELTAS_OF_SELF : RANK_VECTOR_DELTAS,
                        .deltas = deltas};
}

RankVector rank_vector_copy(const RankVector *v)
{
    if (rank_vector_is_deltas(v))
        delta_sequence_ref(v->deltas);
    return *v;
}

void rank_vector_clear(RankVector *v)
{
    if (rank_vector_is_deltas(v))
        delta_sequence_unref(v->deltas);
    memset(v, 0, sizeof *v);
}

static gboolean both_constant(const RankVector *a, const RankVector *b)
{
    return rank_vector_is_constant(a) && a->value == b->value;
}

static gboolean both_relative(const RankVector *a, const RankVector *b)
{
    return rank_vector_is_relative(a) && rank_vector_is_relative(b) && a->delta == b->delta;
}

gboolean rank_vector_joins(const RankVector *a, const RankVector *b)
{
    return both_constant(a, b) || both_relative(a, b);
}

gboolean rank_vector_join(RankVector *a, const RankVector *b)
{
    gboolean constant = both_constant(a, b), relative = both_relative(a, b);
    if (!constant && !relative)
        return FALSE;
    if (!constant)
        a->value = RANK_VECTOR_RELATIVE;
    if (!relative)
        a->delta = RANK_VECTOR_NO_DELTA;
    return TRUE;
}

gboolean rank_vector_equal(const RankVector *a, const RankVector *b)
{
    if (a->value != b->value)
        return FALSE;
    return rank_vector_is_deltas(a) ? delta_sequence_equal(a->deltas, b->deltas)
                                    : a->delta == b->delta;
}

gint64 rank_vector_at(const RankVector *v, guint64 index, gint64 self)
{
    if (rank_vector_is_constant(v))
        return v->value;
    if (rank_vector_is_relative(v))
        return rank_vector_word_sum(self, v->delta);
    gint64 word = delta_sequence_at(v->deltas, index);
    return v->value == RANK_VECTOR_DELTAS_OF_SELF && !wend_word_is_special(word)
               ? rank_vector_word_sum(self, word)
               : word;
}

/* -- two into one -- */

/* Sets *OUT to the words X + SIGN × Y, as many as both have. A special word of X is kept. FALSE: Y
 * is special and X is not, or the result is no ordinary number. */
static gboolean combine(DeltaSequenceRun x, DeltaSequenceRun y, int sign, DeltaSequenceRun *out)
{
    gint64 last[2], end, step;
    guint64 count = MIN(x.count, y.count), more = count - 1;
    *out = (DeltaSequenceRun){x.value, x.step, count};
    if (wend_word_is_special(x.value))
        return TRUE;
    if (wend_word_is_special(y.value))
        return FALSE;
    const DeltaSequenceRun *both[] = {&x, &y};
    for (int i = 0; i < 2; i++)
        last[i] = (gint64)((guint64)both[i]->value + (guint64)both[i]->step * more);
    if (sign > 0 ? __builtin_add_overflow(x.value, y.value, &out->value)
                 : __builtin_sub_overflow(x.value, y.value, &out->value))
        return FALSE;
    if (sign > 0 ? __builtin_add_overflow(last[0], last[1], &end)
                 : __builtin_sub_overflow(last[0], last[1], &end))
        return FALSE;
    if (sign > 0 ? __builtin_add_overflow(x.step, y.step, &step)
                 : __builtin_sub_overflow(x.step, y.step, &step))
        return FALSE;
    out->step = more ? step : 0;
    return !wend_word_is_special(out->value) && !wend_word_is_special(end);
}

/* The words of V from INDEX on, at most COUNT. *OF_SELF: they are added to self. */
static DeltaSequenceRun own_run(const RankVector *v, guint32 index, guint32 count,
                                gboolean *of_self)
{
    *of_self = v->value == RANK_VECTOR_RELATIVE || v->value == RANK_VECTOR_DELTAS_OF_SELF;
    if (!rank_vector_is_deltas(v))
        return (DeltaSequenceRun){*of_self ? v->delta : v->value, 0, count};
    DeltaSequenceRun run = delta_sequence_run(v->deltas, index);
    run.count = MIN(run.count, count);
    return run;
}

/* The values of self from INDEX on, for RANKS. */
static DeltaSequenceRun self_run(const RankVectorOn *on, guint32 index, RankRun ranks)
{
    DeltaSequenceRun world = {ranks.first, ranks.step, ranks.count}, self;
    gboolean of_world;
    if (!on->first)
        return world;
    DeltaSequenceRun own = own_run(on->first, index, ranks.count, &of_world);
    if (!of_world)
        return own;
    return combine(own, world, 1, &self) ? self : (DeltaSequenceRun){WEND_ABSENT, 0, own.count};
}

/* The next words of one side, as values and as differences to self. Sets *RELATABLE to FALSE if
 * there are no such differences. */
static void next_run(const RankVectorOn *on, guint32 index, RankRun ranks, DeltaSequenceRun *values,
                     DeltaSequenceRun *differences, gboolean *relatable)
{
    gboolean of_self;
    DeltaSequenceRun self = self_run(on, index, ranks),
                     own = own_run(on->values, index, (guint32)self.count, &of_self);
    if (of_self) {
        if (!combine(own, self, 1, values))
            *values = (DeltaSequenceRun){WEND_ABSENT, 0, MIN(own.count, self.count)};
        *differences = own;
        differences->count = values->count;
        return;
    }
    *relatable &= combine(own, self, -1, differences);
    *values = own;
    values->count = differences->count = MIN(own.count, self.count);
}

RankVector rank_vector_unite(const RankVectorOn *a, const RankVectorOn *b)
{
    const RankVectorOn *sides[2] = {a, b};
    RankZip zip = {.sets = {a->ranks, b->ranks}};
    DeltaSequenceBuilder *plain = delta_sequence_builder_new(),
                         *relative = delta_sequence_builder_new();
    RankRun ranks;
    int side;
    guint32 index;
    gboolean relatable = TRUE;
    while (rankset_zip(&zip, &side, &index, &ranks))
        while (ranks.count > 0) {
            DeltaSequenceRun values, differences;
            next_run(sides[side], index, ranks, &values, &differences, &relatable);
            delta_sequence_builder_add(plain, values);
            if (relatable)
                delta_sequence_builder_add(relative, differences);
            index += (guint32)values.count;
            ranks.first += (guint32)values.count * ranks.step;
            ranks.count -= (guint32)values.count;
        }
    DeltaSequence *words = delta_sequence_builder_end(plain),
                  *to_self = delta_sequence_builder_end(relative);
    gboolean of_self = relatable && delta_sequence_size(to_self) < delta_sequence_size(words);
    delta_sequence_unref(of_self ? words : to_self);
    return rank_vector_deltas(of_self ? to_self : words, of_self);
}

gboolean rank_vector_complete(const RankVectorOn *part, guint32 world, RankVector *whole)
{
    gboolean of_self = part->values->value == RANK_VECTOR_DELTAS_OF_SELF;
    gboolean self_is_rank =
        !part->first || (rank_vector_is_relative(part->first) && part->first->delta == 0);
    gboolean slope = !of_self || self_is_rank;
    DeltaSequence *all = delta_sequence_complete_torus(part->values->deltas, part->ranks->numbers,
                                                       of_self, slope, world);
    if (all)
        *whole = rank_vector_deltas(all, !slope);
    return all != NULL;
}

/* -- between merging processes -- */

enum { ENCODED_CONSTANT = 1, ENCODED_RELATIVE = 2, ENCODED_OF_SELF = 4 };

void rank_vector_encode(const RankVector *v, WendBuf *out)
{
    gboolean constant = rank_vector_is_constant(v), relative = rank_vector_is_relative(v);
    wend_buf_unsigned(out, (constant ? ENCODED_CONSTANT : 0) | (relative ? ENCODED_RELATIVE : 0)
                               | (v->value == RANK_VECTOR_DELTAS_OF_SELF ? ENCODED_OF_SELF : 0));
    if (constant)
        wend_buf_signed(out, v->value);
    if (relative)
        wend_buf_signed(out, v->delta);
    if (rank_vector_is_deltas(v))
        delta_sequence_encode(v->deltas, out, NULL);
}

gboolean rank_vector_decode(RankVector *v, WendCursor *c, guint32 n)
{
    guint64 form = wend_cursor_unsigned(c);
    gboolean constant = (form & ENCODED_CONSTANT) != 0, relative = (form & ENCODED_RELATIVE) != 0;
    RankVector plain = {.value = RANK_VECTOR_RELATIVE, .delta = RANK_VECTOR_NO_DELTA};
    memset(v, 0, sizeof *v);
    if (constant)
        plain.value = wend_cursor_signed(c);
    if (relative)
        plain.delta = wend_cursor_signed(c);
    if (form > ENCODED_OF_SELF || (constant && rank_vector_is_mark(plain.value))
        || (relative && wend_word_is_special(plain.delta)))
        c->failed = true;
    if (!c->failed && !constant && !relative) {
        DeltaSequence *deltas = delta_sequence_decode(c, n, NULL, 0);
        if (deltas)
            *v = rank_vector_deltas(deltas, form == ENCODED_OF_SELF);
    } else if (!c->failed)
        *v = plain;
    return !c->failed;
}
