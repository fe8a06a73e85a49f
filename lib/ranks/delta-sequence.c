/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence.c: makes and reads delta sequences. See delta-sequence.h. */
#include <string.h>

#include "base/memory.h"
#include "base/lower-bound.h"
#include "record/grammar.h"
#include "delta-sequence-private.h"

DeltaSequence *delta_sequence_ref(DeltaSequence *s)
{
    if (s)
        s->references++;
    return s;
}

static void deltas_clear(DeltaSequence *s)
{
    if (s->form == OF_WORDS)
        memory_free(s->words);
    if (s->form == OF_TURNED)
        memory_free(s->turned);
    if (s->form != OF_RULES)
        return;
    Ruled *r = s->ruled;
    memory_free(r->differences);
    memory_free(r->specials);
    rules_clear(&r->rules);
    memory_free(r->before);
    memory_free(r->all);
    memory_free(r->first);
    memory_free(r);
}

void delta_sequence_unref(DeltaSequence *s)
{
    if (!s || --s->references > 0)
        return;
    deltas_clear(s);
    memory_free(s);
}

DeltaSequence *delta_sequence_new_run(DeltaSequenceRun run)
{
    DeltaSequence *s = NEW0(DeltaSequence, 1);
    s->references = 1;
    s->n = run.count;
    s->run.value = run.value;
    s->run.step = run.count == 1 ? 0 : run.step;
    return s;
}

/* See delta-sequence-private.h. */
Ruled *delta_sequence_make_ruled(DeltaSequence *s)
{
    s->ruled = NEW0(Ruled, 1);
    s->form = OF_RULES;
    return s->ruled;
}

/* -- reading -- */

uint64_t delta_sequence_length(const DeltaSequence *s)
{
    return s->n;
}

size_t delta_sequence_size(const DeltaSequence *s)
{
    return s->form == OF_WORDS ? s->n : s->form == OF_RULES ? s->ruled->n_symbols : 1;
}

size_t delta_sequence_memory(const DeltaSequence *s)
{
    enum { BLOCK = 16 }; /* bytes that malloc adds */
    size_t all = sizeof *s + 2 * BLOCK;
    if (s->form == OF_WORDS)
        all += s->n * sizeof *s->words + BLOCK;
    if (s->form == OF_TURNED)
        all += sizeof *s->turned + BLOCK;
    if (s->form != OF_RULES)
        return all;
    const Ruled *r = s->ruled;
    return all + sizeof *r + 7 * BLOCK
           + ((size_t)r->n_differences + r->n_specials) * sizeof(int64_t)
           + r->n_symbols * (sizeof(WendSymbol) + sizeof *r->before)
           + r->rules.n_rules * (sizeof(Rule) + BLOCK + sizeof *r->all + sizeof *r->first);
}

/* See delta-sequence-private.h. */
bool ruled_measure(Ruled *r)
{
    const RuleRow *row = &r->rules;
    uint32_t n;
    AUTOFREE uint32_t *order = rules_bottom_up(row, &n);
    if (!order)
        return false;
    r->first = NEW(size_t, row->n_rules);
    r->n_symbols = 0;
    for (uint32_t i = 0; i < row->n_rules; i++) {
        r->first[i] = r->n_symbols;
        r->n_symbols += row->rules[i].n;
    }
    r->before = NEW(Extent, r->n_symbols + 1);
    r->all = NEW0(Extent, row->n_rules);
    for (uint32_t i = 0; i < n; i++) {
        const Rule *rule = &row->rules[order[i]];
        Extent so_far = {0, 0};
        if (rule->n == 0)
            return false;
        for (uint32_t k = 0; k < rule->n; k++) {
            const WendSymbol *y = &rule->symbols[k];
            r->before[r->first[order[i]] + k] = so_far;
            Extent one = y->is_rule ? r->all[y->id]
                                    : (Extent){1, y->id & 1 ? 0 : r->differences[y->id >> 1]};
            uint64_t more;
            if (__builtin_mul_overflow(one.length, y->repeats, &more)
                || __builtin_add_overflow(so_far.length, more, &so_far.length)
                || so_far.length > INT64_MAX / 2)
                return false;
            int64_t sum;
            /* the count is below 2^62, as the length is */
            r->wraps |= __builtin_mul_overflow(one.sum, (int64_t)y->repeats, &sum);
            r->wraps |= __builtin_add_overflow(so_far.sum, sum, &so_far.sum);
        }
        r->all[order[i]] = so_far;
    }
    return true;
}

/* Goes into the expansion of the last of RULE's symbols that begins at or before INDEX. */
static uint32_t symbol_of(const Ruled *r, uint32_t rule, uint64_t index)
{
    const Extent *before = r->before + r->first[rule];
    return LAST_WHERE(i, r->rules.rules[rule].n, before[i].length <= index);
}

static DeltaSequenceRun ruled_run(const Ruled *r, uint64_t index)
{
    int64_t last = 0; /* the last ordinary word */
    for (uint32_t rule = 0;;) {
        uint32_t k = symbol_of(r, rule, index);
        const WendSymbol *y = &r->rules.rules[rule].symbols[k];
        const Extent *before = &r->before[r->first[rule] + k];
        index -= before->length;
        last = delta_sequence_sum(last, before->sum);
        if (!y->is_rule) {
            if (y->id & 1)
                return (DeltaSequenceRun){r->specials[y->id >> 1], 0, y->repeats - index};
            int64_t step = r->differences[y->id >> 1];
            return (DeltaSequenceRun){
                delta_sequence_sum(last, delta_sequence_multiple(step, index + 1)), step,
                y->repeats - index};
        }
        const Extent *one = &r->all[y->id];
        last = delta_sequence_sum(last, delta_sequence_multiple(one->sum, index / one->length));
        index %= one->length;
        rule = y->id;
    }
}

DeltaSequenceRun delta_sequence_run(const DeltaSequence *s, uint64_t index)
{
    switch (s->form) {
    case OF_WORDS:
        return (DeltaSequenceRun){s->words[index], 0, 1};
    case OF_RULES:
        return ruled_run(s->ruled, index);
    case OF_TURNED:
        return turned_run(s->turned, index, s->n);
    default:
        return (DeltaSequenceRun){
            delta_sequence_sum(s->run.value, delta_sequence_multiple(s->run.step, index)),
            s->run.step, s->n - index};
    }
}

int64_t delta_sequence_at(const DeltaSequence *s, uint64_t index)
{
    return delta_sequence_run(s, index).value;
}

DeltaSequence *delta_sequence_part(const DeltaSequence *s, uint64_t first, uint64_t n)
{
    DeltaSequenceBuilder *b = delta_sequence_builder_new();
    for (uint64_t i = 0; i < n;) {
        DeltaSequenceRun run = delta_sequence_run(s, first + i);
        run.count = MIN(run.count, n - i);
        delta_sequence_builder_add(b, run);
        i += run.count;
    }
    return delta_sequence_builder_end(b);
}

bool delta_sequence_equal(const DeltaSequence *a, const DeltaSequence *b)
{
    if (a == b)
        return true;
    /* an archive may have another form than the builder would give it */
    if (a->n != b->n || (a->form == b->form && delta_sequence_size(a) != delta_sequence_size(b)))
        return false;
    for (uint64_t i = 0; i < a->n;) {
        DeltaSequenceRun x = delta_sequence_run(a, i), y = delta_sequence_run(b, i);
        uint64_t both = MIN(x.count, y.count);
        if (x.value != y.value || (both > 1 && x.step != y.step))
            return false;
        i += both;
    }
    return true;
}

bool delta_sequence_specials(const DeltaSequence *s, DeltaSequenceWord f, void *data)
{
    const int64_t *words = s->form == OF_WORDS   ? s->words
                           : s->form == OF_RULES ? s->ruled->specials
                                                 : &s->run.value;
    uint64_t n = s->form == OF_WORDS   ? s->n
                 : s->form == OF_RULES ? s->ruled->n_specials
                                       : s->form == OF_RUN;
    for (uint64_t i = 0; i < n; i++)
        if (word_is_special(words[i]) && !f(data, words[i]))
            return false;
    return true;
}

static bool find_in_run(DeltaSequenceRun run, int64_t value, uint64_t *index)
{
    int64_t away = delta_sequence_difference(value, run.value);
    if (away < 0 || (run.step == 0 && away > 0) || (run.step && away % run.step))
        return false;
    *index = run.step ? (uint64_t)(away / run.step) : 0;
    return *index < run.count;
}

static bool find_in_words(const int64_t *words, uint64_t n, int64_t value, uint64_t *index)
{
    uint64_t low = LOWER_BOUND(i, n, words[i] < value);
    *index = low;
    return low < n && words[low] == value;
}

static bool find_in_ruled(const Ruled *r, int64_t value, uint64_t *index)
{
    int64_t last = 0;
    uint64_t at = 0;
    if (value > r->all[0].sum)
        return false;
    for (uint32_t rule = 0;;) {
        const Extent *before = r->before + r->first[rule];
        /* the last symbol before which the sum is below value */
        uint32_t low = LAST_WHERE(i, r->rules.rules[rule].n, last + before[i].sum < value);
        const WendSymbol *y = &r->rules.rules[rule].symbols[low];
        last += before[low].sum;
        at += before[low].length;
        if (value <= last)
            return false;
        if (!y->is_rule) {
            int64_t step = r->differences[y->id >> 1];
            bool found =
                step > 0
                && find_in_run((DeltaSequenceRun){last + step, step, y->repeats}, value, index);
            *index += at;
            return found;
        }
        const Extent *one = &r->all[y->id];
        if (one->sum <= 0)
            return false;
        uint64_t passed = MIN((uint64_t)(value - last - 1) / (uint64_t)one->sum, y->repeats - 1);
        last += delta_sequence_multiple(one->sum, passed);
        at += passed * one->length;
        rule = y->id;
    }
}

bool delta_sequence_find(const DeltaSequence *s, int64_t value, uint64_t *index)
{
    switch (s->form) {
    case OF_WORDS:
        return find_in_words(s->words, s->n, value, index);
    case OF_RULES:
        return find_in_ruled(s->ruled, value, index);
    case OF_TURNED:
        return false; /* it does not ascend */
    default:
        return find_in_run(delta_sequence_run(s, 0), value, index);
    }
}

static bool words_ascend(const int64_t *words, uint64_t n, int64_t most)
{
    for (uint64_t i = 0; i < n; i++)
        if (words[i] <= (i ? words[i - 1] : 0))
            return false;
    return words[n - 1] <= most;
}

static bool ruled_ascend(const Ruled *r, int64_t most)
{
    for (uint32_t i = 0; i < r->n_differences; i++)
        if (r->differences[i] <= 0)
            return false;
    return r->n_specials == 0 && r->all[0].sum <= most;
}

bool delta_sequence_ascends(const DeltaSequence *s, int64_t most)
{
    int64_t away;
    switch (s->form) {
    case OF_WORDS:
        return words_ascend(s->words, s->n, most);
    case OF_RULES:
        return ruled_ascend(s->ruled, most);
    case OF_TURNED:
        return false; /* it both goes up and down */
    default:
        return s->run.value > 0 && s->run.value <= most
               && s->n - 1 <= (uint64_t)(most - s->run.value)
               && (s->n == 1
                   || (s->run.step > 0
                       && !__builtin_mul_overflow(s->run.step, (int64_t)(s->n - 1), &away)
                       && away <= most - s->run.value));
    }
}

/* -- making one -- */

struct DeltaSequenceBuilder {
    DeltaSequenceRun run; /* all so far, while that is one run */
    uint64_t n;
    int64_t last;         /* the last ordinary word, or 0 */
    bool wraps;           /* some difference is beyond 64 bits */
    WendGrammar *grammar; /* once it is not */
    Map *numbers[2];      /* difference, special word -> its number + 1 */
    Vector *known[2];     /* int64_t, by number: difference, special word */
};

DeltaSequenceBuilder *delta_sequence_builder_new(void)
{
    return NEW0(DeltaSequenceBuilder, 1);
}

static void put(DeltaSequenceBuilder *b, bool special, int64_t value, uint64_t count)
{
    uint32_t number = NUMBER_OF(map_get(b->numbers[special], &value));
    if (!number) {
        VECTOR_APPEND(b->known[special], value);
        number = b->known[special]->len;
        map_put_word(b->numbers[special], value, OF_NUMBER(number));
    }
    if (!grammar_append(b->grammar, 2 * (number - 1) + (special ? 1 : 0), count))
        memory_short();
}

static void put_run(DeltaSequenceBuilder *b, DeltaSequenceRun run)
{
    if (word_is_special(run.value)) {
        put(b, true, run.value, run.count);
        return;
    }
    int64_t difference;
    b->wraps |= __builtin_sub_overflow(run.value, b->last, &difference);
    put(b, false, difference, 1);
    if (run.count > 1)
        put(b, false, run.step, run.count - 1);
    b->last = delta_sequence_sum(run.value, delta_sequence_multiple(run.step, run.count - 1));
}

/* Does RUN continue the only run so far? */
static bool goes_on(DeltaSequenceBuilder *b, DeltaSequenceRun run)
{
    if (word_is_special(run.value) || word_is_special(b->run.value))
        return run.value == b->run.value;
    int64_t step;
    if (__builtin_sub_overflow(run.value,
                               delta_sequence_sum(b->run.value, delta_sequence_multiple(
                                                                    b->run.step, b->run.count - 1)),
                               &step))
        return false;
    if ((b->run.count > 1 && step != b->run.step) || (run.count > 1 && step != run.step))
        return false;
    b->run.step = step;
    return true;
}

void delta_sequence_builder_add(DeltaSequenceBuilder *b, DeltaSequenceRun run)
{
    if (run.count == 0)
        return;
    if (run.count == 1)
        run.step = 0;
    b->n += run.count;
    if (b->n == run.count) {
        b->run = run;
        return;
    }
    if (!b->grammar && goes_on(b, run)) {
        b->run.count += run.count;
        return;
    }
    if (!b->grammar) {
        b->grammar = grammar_new();
        if (!b->grammar)
            memory_short();
        for (int special = 0; special < 2; special++) {
            b->numbers[special] = map_new(map_word_hash, map_word_equal, memory_free, NULL);
            b->known[special] = vector_new(sizeof(int64_t));
        }
        put_run(b, b->run);
    }
    put_run(b, run);
}

int64_t *delta_sequence_words(const DeltaSequence *s)
{
    int64_t *words = NEW(int64_t, s->n);
    for (uint64_t i = 0; i < s->n;) {
        DeltaSequenceRun run = delta_sequence_run(s, i);
        for (uint64_t k = 0; k < run.count; k++)
            words[i++] = delta_sequence_sum(run.value, delta_sequence_multiple(run.step, k));
    }
    return words;
}

/* Replaces the grammar by a list of words. For a grammar with hardly fewer symbols than there are
 * words, and for sums that wrap, which do not allow to skip a part. */
static void flatten(DeltaSequence *s)
{
    int64_t *words = delta_sequence_words(s);
    deltas_clear(s);
    s->form = OF_WORDS;
    s->words = words;
}

static void free_numbers(DeltaSequenceBuilder *b)
{
    for (int special = 0; special < 2; special++) {
        CLEAR(b->numbers[special], map_unref);
        if (b->known[special])
            vector_unref(b->known[special]);
    }
    memory_free(b);
}

void delta_sequence_builder_free(DeltaSequenceBuilder *b)
{
    if (!b)
        return;
    if (b->grammar)
        grammar_free(b->grammar);
    free_numbers(b);
}

DeltaSequence *delta_sequence_builder_end(DeltaSequenceBuilder *b)
{
    DeltaSequence *s = NULL;
    if (b->n)
        s = delta_sequence_new_run(b->run);
    if (b->grammar) {
        WendBuf bytes = WEND_BUF_INIT;
        grammar_end(b->grammar, &bytes);
        WendCursor c = cursor_of(bytes.data, bytes.len);
        Ruled *r = delta_sequence_make_ruled(s);
        s->n = b->n;
        r->n_differences = b->known[0]->len;
        r->n_specials = b->known[1]->len;
        if (!rules_read(&r->rules, &c, 2 * MAX(r->n_differences, r->n_specials), RULES_PLAIN))
            memory_short();
        r->differences = vector_steal(STEAL(b->known[0]));
        r->specials = vector_steal(STEAL(b->known[1]));
        ruled_measure(r);
        if (b->wraps || r->wraps || r->n_symbols > s->n / 2)
            flatten(s);
        buf_clear(&bytes);
    }
    free_numbers(b);
    return s;
}
