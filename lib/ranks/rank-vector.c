/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-vector.c: see rank-vector.h. */
#include "rank-vector.h"

#include <string.h>

#include "record/words.h"

bool rank_vector_word_difference(int64_t value, int64_t self, int64_t *difference)
{
    return !word_is_special(value) && !word_is_special(self)
           && !__builtin_sub_overflow(value, self, difference) && !word_is_special(*difference);
}

int64_t rank_vector_word_sum(int64_t self, int64_t delta)
{
    int64_t sum;
    if (word_is_special(self) || __builtin_add_overflow(self, delta, &sum))
        return WEND_ABSENT;
    return sum;
}

RankVector rank_vector_single(int64_t value, int64_t self)
{
    RankVector v = {.value = value};
    if (!rank_vector_word_difference(value, self, &v.delta))
        v.delta = RANK_VECTOR_NO_DELTA;
    return v;
}

RankVector rank_vector_deltas(DeltaSequence *deltas, bool of_self)
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

static bool both_constant(const RankVector *a, const RankVector *b)
{
    return rank_vector_is_constant(a) && a->value == b->value;
}

static bool both_relative(const RankVector *a, const RankVector *b)
{
    return rank_vector_is_relative(a) && rank_vector_is_relative(b) && a->delta == b->delta;
}

bool rank_vector_joins(const RankVector *a, const RankVector *b)
{
    return both_constant(a, b) || both_relative(a, b);
}

bool rank_vector_join(RankVector *a, const RankVector *b)
{
    bool constant = both_constant(a, b), relative = both_relative(a, b);
    if (!constant && !relative)
        return false;
    if (!constant)
        a->value = RANK_VECTOR_RELATIVE;
    if (!relative)
        a->delta = RANK_VECTOR_NO_DELTA;
    return true;
}

bool rank_vector_equal(const RankVector *a, const RankVector *b)
{
    if (a->value != b->value)
        return false;
    return rank_vector_is_deltas(a) ? delta_sequence_equal(a->deltas, b->deltas)
                                    : a->delta == b->delta;
}

int64_t rank_vector_at(const RankVector *v, uint64_t index, int64_t self)
{
    if (rank_vector_is_constant(v))
        return v->value;
    if (rank_vector_is_relative(v))
        return rank_vector_word_sum(self, v->delta);
    int64_t word = delta_sequence_at(v->deltas, index);
    return v->value == RANK_VECTOR_DELTAS_OF_SELF && !word_is_special(word)
               ? rank_vector_word_sum(self, word)
               : word;
}

/* -- two into one -- */

/* Sets *OUT to the words X + SIGN × Y, as many as both have. A special word of X is kept. false: Y
 * is special and X is not, or the result is no ordinary number. */
static bool combine(DeltaSequenceRun x, DeltaSequenceRun y, int sign, DeltaSequenceRun *out)
{
    int64_t last[2], end, step;
    uint64_t count = MIN(x.count, y.count), more = count - 1;
    *out = (DeltaSequenceRun){x.value, x.step, count};
    if (word_is_special(x.value))
        return true;
    if (word_is_special(y.value))
        return false;
    const DeltaSequenceRun *both[] = {&x, &y};
    for (int i = 0; i < 2; i++)
        last[i] = (int64_t)((uint64_t)both[i]->value + (uint64_t)both[i]->step * more);
    if (sign > 0 ? __builtin_add_overflow(x.value, y.value, &out->value)
                 : __builtin_sub_overflow(x.value, y.value, &out->value))
        return false;
    if (sign > 0 ? __builtin_add_overflow(last[0], last[1], &end)
                 : __builtin_sub_overflow(last[0], last[1], &end))
        return false;
    if (sign > 0 ? __builtin_add_overflow(x.step, y.step, &step)
                 : __builtin_sub_overflow(x.step, y.step, &step))
        return false;
    out->step = more ? step : 0;
    return !word_is_special(out->value) && !word_is_special(end);
}

/* The words of V from INDEX on, at most COUNT. *OF_SELF: they are added to self. */
static DeltaSequenceRun own_run(const RankVector *v, uint32_t index, uint32_t count, bool *of_self)
{
    *of_self = v->value == RANK_VECTOR_RELATIVE || v->value == RANK_VECTOR_DELTAS_OF_SELF;
    if (!rank_vector_is_deltas(v))
        return (DeltaSequenceRun){*of_self ? v->delta : v->value, 0, count};
    DeltaSequenceRun run = delta_sequence_run(v->deltas, index);
    run.count = MIN(run.count, count);
    return run;
}

/* The values of self from INDEX on, for RANKS. */
static DeltaSequenceRun self_run(const RankVectorOn *on, uint32_t index, RankRun ranks)
{
    DeltaSequenceRun world = {ranks.first, ranks.step, ranks.count}, self;
    bool of_world;
    if (!on->first)
        return world;
    DeltaSequenceRun own = own_run(on->first, index, ranks.count, &of_world);
    if (!of_world)
        return own;
    return combine(own, world, 1, &self) ? self : (DeltaSequenceRun){WEND_ABSENT, 0, own.count};
}

/* The next words of one side, as values and as differences to self. Sets *RELATABLE to false if
 * there are no such differences. */
static void next_run(const RankVectorOn *on, uint32_t index, RankRun ranks,
                     DeltaSequenceRun *values, DeltaSequenceRun *differences, bool *relatable)
{
    bool of_self;
    DeltaSequenceRun self = self_run(on, index, ranks),
                     own = own_run(on->values, index, (uint32_t)self.count, &of_self);
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
    uint32_t index;
    bool relatable = true;
    while (rankset_zip(&zip, &side, &index, &ranks))
        while (ranks.count > 0) {
            DeltaSequenceRun values, differences;
            next_run(sides[side], index, ranks, &values, &differences, &relatable);
            delta_sequence_builder_add(plain, values);
            if (relatable)
                delta_sequence_builder_add(relative, differences);
            index += (uint32_t)values.count;
            ranks.first += (uint32_t)values.count * ranks.step;
            ranks.count -= (uint32_t)values.count;
        }
    DeltaSequence *words = delta_sequence_builder_end(plain),
                  *to_self = delta_sequence_builder_end(relative);
    bool of_self = relatable && delta_sequence_size(to_self) < delta_sequence_size(words);
    delta_sequence_unref(of_self ? words : to_self);
    return rank_vector_deltas(of_self ? to_self : words, of_self);
}

bool rank_vector_complete(const RankVectorOn *part, uint32_t world, RankVector *whole)
{
    bool of_self = part->values->value == RANK_VECTOR_DELTAS_OF_SELF;
    bool self_is_rank =
        !part->first || (rank_vector_is_relative(part->first) && part->first->delta == 0);
    bool slope = !of_self || self_is_rank;
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
    bool constant = rank_vector_is_constant(v), relative = rank_vector_is_relative(v);
    buf_unsigned(out, (constant ? ENCODED_CONSTANT : 0) | (relative ? ENCODED_RELATIVE : 0)
                          | (v->value == RANK_VECTOR_DELTAS_OF_SELF ? ENCODED_OF_SELF : 0));
    if (constant)
        buf_signed(out, v->value);
    if (relative)
        buf_signed(out, v->delta);
    if (rank_vector_is_deltas(v))
        delta_sequence_encode(v->deltas, out, NULL);
}

bool rank_vector_decode(RankVector *v, WendCursor *c, uint32_t n)
{
    uint64_t form = cursor_unsigned(c);
    bool constant = (form & ENCODED_CONSTANT) != 0, relative = (form & ENCODED_RELATIVE) != 0;
    RankVector plain = {.value = RANK_VECTOR_RELATIVE, .delta = RANK_VECTOR_NO_DELTA};
    memset(v, 0, sizeof *v);
    if (constant)
        plain.value = cursor_signed(c);
    if (relative)
        plain.delta = cursor_signed(c);
    if (form > ENCODED_OF_SELF || (constant && rank_vector_is_mark(plain.value))
        || (relative && word_is_special(plain.delta)))
        c->failed = true;
    if (!c->failed && !constant && !relative) {
        DeltaSequence *deltas = delta_sequence_decode(c, n, NULL, 0);
        if (deltas)
            *v = rank_vector_deltas(deltas, form == ENCODED_OF_SELF);
    } else if (!c->failed)
        *v = plain;
    return !c->failed;
}
