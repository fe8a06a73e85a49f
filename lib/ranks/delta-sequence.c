/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence.c: makes and reads delta sequences. See delta-sequence.h. */
#include <string.h>

#include "base/shortage.h"
#include "record/grammar.h"
#include "delta-sequence-private.h"

DeltaSequence *delta_sequence_ref(DeltaSequence *s)
{
    return s ? g_rc_box_acquire(s) : NULL;
}

static void deltas_clear(gpointer p)
{
    DeltaSequence *s = p;
    if (s->form == OF_WORDS)
        g_free(s->words);
    if (s->form == OF_TURNED)
        g_free(s->turned);
    if (s->form != OF_RULES)
        return;
    Ruled *r = s->ruled;
    g_free(r->differences);
    g_free(r->specials);
    rules_clear(&r->rules);
    g_free(r->before);
    g_free(r->all);
    g_free(r->first);
    g_free(r);
}

void delta_sequence_unref(DeltaSequence *s)
{
    if (s)
        g_rc_box_release_full(s, deltas_clear);
}

DeltaSequence *delta_sequence_new_run(DeltaSequenceRun run)
{
    DeltaSequence *s = g_rc_box_new0(DeltaSequence);
    s->n = run.count;
    s->run.value = run.value;
    s->run.step = run.count == 1 ? 0 : run.step;
    return s;
}

/* See delta-sequence-private.h. */
Ruled *delta_sequence_make_ruled(DeltaSequence *s)
{
    s->ruled = g_new0(Ruled, 1);
    s->form = OF_RULES;
    return s->ruled;
}

/* -- reading -- */

guint64 delta_sequence_length(const DeltaSequence *s)
{
    return s->n;
}

gsize delta_sequence_size(const DeltaSequence *s)
{
    return s->form == OF_WORDS ? s->n : s->form == OF_RULES ? s->ruled->n_symbols : 1;
}

gsize delta_sequence_memory(const DeltaSequence *s)
{
    enum { BLOCK = 16 }; /* bytes that malloc and the count of references add */
    gsize all = sizeof *s + 2 * BLOCK;
    if (s->form == OF_WORDS)
        all += s->n * sizeof *s->words + BLOCK;
    if (s->form == OF_TURNED)
        all += sizeof *s->turned + BLOCK;
    if (s->form != OF_RULES)
        return all;
    const Ruled *r = s->ruled;
    return all + sizeof *r + 7 * BLOCK + ((gsize)r->n_differences + r->n_specials) * sizeof(gint64)
           + r->n_symbols * (sizeof(WendSymbol) + sizeof *r->before)
           + r->rules.n_rules * (sizeof(Rule) + BLOCK + sizeof *r->all + sizeof *r->first);
}

/* See delta-sequence-private.h. */
gboolean ruled_measure(Ruled *r)
{
    const RuleRow *row = &r->rules;
    guint n;
    g_autofree guint32 *order = rules_bottom_up(row, &n);
    if (!order)
        return FALSE;
    r->first = g_new(gsize, row->n_rules);
    r->n_symbols = 0;
    for (guint i = 0; i < row->n_rules; i++) {
        r->first[i] = r->n_symbols;
        r->n_symbols += row->rules[i].n;
    }
    r->before = g_new(Extent, r->n_symbols + 1);
    r->all = g_new0(Extent, row->n_rules);
    for (guint i = 0; i < n; i++) {
        const Rule *rule = &row->rules[order[i]];
        Extent so_far = {0, 0};
        if (rule->n == 0)
            return FALSE;
        for (guint k = 0; k < rule->n; k++) {
            const WendSymbol *y = &rule->symbols[k];
            r->before[r->first[order[i]] + k] = so_far;
            Extent one = y->is_rule ? r->all[y->id]
                                    : (Extent){1, y->id & 1 ? 0 : r->differences[y->id >> 1]};
            guint64 more;
            if (__builtin_mul_overflow(one.length, y->repeats, &more)
                || __builtin_add_overflow(so_far.length, more, &so_far.length)
                || so_far.length > G_MAXINT64 / 2)
                return FALSE;
            gint64 sum;
            /* the count is below 2^62, as the length is */
            r->wraps |= __builtin_mul_overflow(one.sum, (gint64)y->repeats, &sum);
            r->wraps |= __builtin_add_overflow(so_far.sum, sum, &so_far.sum);
        }
        r->all[order[i]] = so_far;
    }
    return TRUE;
}

/* Goes into the expansion of the last of RULE's symbols that begins at or before INDEX. */
static guint symbol_of(const Ruled *r, guint32 rule, guint64 index)
{
    const Extent *before = r->before + r->first[rule];
    guint low = 0, high = r->rules.rules[rule].n;
    while (high - low > 1) {
        guint middle = low + (high - low) / 2;
        if (before[middle].length <= index)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static DeltaSequenceRun ruled_run(const Ruled *r, guint64 index)
{
    gint64 last = 0; /* the last ordinary word */
    for (guint32 rule = 0;;) {
        guint k = symbol_of(r, rule, index);
        const WendSymbol *y = &r->rules.rules[rule].symbols[k];
        const Extent *before = &r->before[r->first[rule] + k];
        index -= before->length;
        last = delta_sequence_sum(last, before->sum);
        if (!y->is_rule) {
            if (y->id & 1)
                return (DeltaSequenceRun){r->specials[y->id >> 1], 0, y->repeats - index};
            gint64 step = r->differences[y->id >> 1];
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

DeltaSequenceRun delta_sequence_run(const DeltaSequence *s, guint64 index)
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

gint64 delta_sequence_at(const DeltaSequence *s, guint64 index)
{
    return delta_sequence_run(s, index).value;
}

DeltaSequence *delta_sequence_part(const DeltaSequence *s, guint64 first, guint64 n)
{
    DeltaSequenceBuilder *b = delta_sequence_builder_new();
    for (guint64 i = 0; i < n;) {
        DeltaSequenceRun run = delta_sequence_run(s, first + i);
        run.count = MIN(run.count, n - i);
        delta_sequence_builder_add(b, run);
        i += run.count;
    }
    return delta_sequence_builder_end(b);
}

gboolean delta_sequence_equal(const DeltaSequence *a, const DeltaSequence *b)
{
    if (a == b)
        return TRUE;
    /* an archive may have another form than the builder would give it */
    if (a->n != b->n || (a->form == b->form && delta_sequence_size(a) != delta_sequence_size(b)))
        return FALSE;
    for (guint64 i = 0; i < a->n;) {
        DeltaSequenceRun x = delta_sequence_run(a, i), y = delta_sequence_run(b, i);
        guint64 both = MIN(x.count, y.count);
        if (x.value != y.value || (both > 1 && x.step != y.step))
            return FALSE;
        i += both;
    }
    return TRUE;
}

gboolean delta_sequence_specials(const DeltaSequence *s, DeltaSequenceWord f, gpointer data)
{
    const gint64 *words = s->form == OF_WORDS   ? s->words
                          : s->form == OF_RULES ? s->ruled->specials
                                                : &s->run.value;
    guint64 n = s->form == OF_WORDS   ? s->n
                : s->form == OF_RULES ? s->ruled->n_specials
                                      : s->form == OF_RUN;
    for (guint64 i = 0; i < n; i++)
        if (wend_word_is_special(words[i]) && !f(data, words[i]))
            return FALSE;
    return TRUE;
}

static gboolean find_in_run(DeltaSequenceRun run, gint64 value, guint64 *index)
{
    gint64 away = delta_sequence_difference(value, run.value);
    if (away < 0 || (run.step == 0 && away > 0) || (run.step && away % run.step))
        return FALSE;
    *index = run.step ? (guint64)(away / run.step) : 0;
    return *index < run.count;
}

static gboolean find_in_words(const gint64 *words, guint64 n, gint64 value, guint64 *index)
{
    guint64 low = 0, high = n;
    while (low < high) {
        guint64 middle = low + (high - low) / 2;
        if (words[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    *index = low;
    return low < n && words[low] == value;
}

static gboolean find_in_ruled(const Ruled *r, gint64 value, guint64 *index)
{
    gint64 last = 0;
    guint64 at = 0;
    if (value > r->all[0].sum)
        return FALSE;
    for (guint32 rule = 0;;) {
        const Extent *before = r->before + r->first[rule];
        /* the last symbol before which the sum is below value */
        guint low = 0, high = r->rules.rules[rule].n;
        while (high - low > 1) {
            guint middle = low + (high - low) / 2;
            if (last + before[middle].sum < value)
                low = middle;
            else
                high = middle;
        }
        const WendSymbol *y = &r->rules.rules[rule].symbols[low];
        last += before[low].sum;
        at += before[low].length;
        if (value <= last)
            return FALSE;
        if (!y->is_rule) {
            gint64 step = r->differences[y->id >> 1];
            gboolean found =
                step > 0
                && find_in_run((DeltaSequenceRun){last + step, step, y->repeats}, value, index);
            *index += at;
            return found;
        }
        const Extent *one = &r->all[y->id];
        if (one->sum <= 0)
            return FALSE;
        guint64 passed = MIN((guint64)(value - last - 1) / (guint64)one->sum, y->repeats - 1);
        last += delta_sequence_multiple(one->sum, passed);
        at += passed * one->length;
        rule = y->id;
    }
}

gboolean delta_sequence_find(const DeltaSequence *s, gint64 value, guint64 *index)
{
    switch (s->form) {
    case OF_WORDS:
        return find_in_words(s->words, s->n, value, index);
    case OF_RULES:
        return find_in_ruled(s->ruled, value, index);
    case OF_TURNED:
        return FALSE; /* it does not ascend */
    default:
        return find_in_run(delta_sequence_run(s, 0), value, index);
    }
}

static gboolean words_ascend(const gint64 *words, guint64 n, gint64 most)
{
    for (guint64 i = 0; i < n; i++)
        if (words[i] <= (i ? words[i - 1] : 0))
            return FALSE;
    return words[n - 1] <= most;
}

static gboolean ruled_ascend(const Ruled *r, gint64 most)
{
    for (guint i = 0; i < r->n_differences; i++)
        if (r->differences[i] <= 0)
            return FALSE;
    return r->n_specials == 0 && r->all[0].sum <= most;
}

gboolean delta_sequence_ascends(const DeltaSequence *s, gint64 most)
{
    gint64 away;
    switch (s->form) {
    case OF_WORDS:
        return words_ascend(s->words, s->n, most);
    case OF_RULES:
        return ruled_ascend(s->ruled, most);
    case OF_TURNED:
        return FALSE; /* it both goes up and down */
    default:
        return s->run.value > 0 && s->run.value <= most
               && s->n - 1 <= (guint64)(most - s->run.value)
               && (s->n == 1
                   || (s->run.step > 0
                       && !__builtin_mul_overflow(s->run.step, (gint64)(s->n - 1), &away)
                       && away <= most - s->run.value));
    }
}

/* -- making one -- */

struct DeltaSequenceBuilder {
    DeltaSequenceRun run; /* all so far, while that is one run */
    guint64 n;
    gint64 last;            /* the last ordinary word, or 0 */
    gboolean wraps;         /* some difference is beyond 64 bits */
    WendGrammar *grammar;   /* once it is not */
    GHashTable *numbers[2]; /* difference, special word -> its number + 1 */
    GArray *known[2];       /* gint64, by number: difference, special word */
};

DeltaSequenceBuilder *delta_sequence_builder_new(void)
{
    return g_new0(DeltaSequenceBuilder, 1);
}

static void put(DeltaSequenceBuilder *b, gboolean special, gint64 value, guint64 count)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(b->numbers[special], &value));
    if (!number) {
        g_array_append_val(b->known[special], value);
        number = b->known[special]->len;
        g_hash_table_insert(b->numbers[special], g_memdup2(&value, sizeof value),
                            GUINT_TO_POINTER(number));
    }
    if (!wend_grammar_append(b->grammar, 2 * (number - 1) + (special ? 1 : 0), count))
        wend_shortage();
}

static void put_run(DeltaSequenceBuilder *b, DeltaSequenceRun run)
{
    if (wend_word_is_special(run.value)) {
        put(b, TRUE, run.value, run.count);
        return;
    }
    gint64 difference;
    b->wraps |= __builtin_sub_overflow(run.value, b->last, &difference);
    put(b, FALSE, difference, 1);
    if (run.count > 1)
        put(b, FALSE, run.step, run.count - 1);
    b->last = delta_sequence_sum(run.value, delta_sequence_multiple(run.step, run.count - 1));
}

/* Does RUN continue the only run so far? */
static gboolean goes_on(DeltaSequenceBuilder *b, DeltaSequenceRun run)
{
    if (wend_word_is_special(run.value) || wend_word_is_special(b->run.value))
        return run.value == b->run.value;
    gint64 step;
    if (__builtin_sub_overflow(run.value,
                               delta_sequence_sum(b->run.value, delta_sequence_multiple(
                                                                    b->run.step, b->run.count - 1)),
                               &step))
        return FALSE;
    if ((b->run.count > 1 && step != b->run.step) || (run.count > 1 && step != run.step))
        return FALSE;
    b->run.step = step;
    return TRUE;
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
        b->grammar = wend_grammar_new();
        if (!b->grammar)
            wend_shortage();
        for (int special = 0; special < 2; special++) {
            b->numbers[special] = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
            b->known[special] = g_array_new(FALSE, FALSE, sizeof(gint64));
        }
        put_run(b, b->run);
    }
    put_run(b, run);
}

gint64 *delta_sequence_words(const DeltaSequence *s)
{
    gint64 *words = g_new(gint64, s->n);
    for (guint64 i = 0; i < s->n;) {
        DeltaSequenceRun run = delta_sequence_run(s, i);
        for (guint64 k = 0; k < run.count; k++)
            words[i++] = delta_sequence_sum(run.value, delta_sequence_multiple(run.step, k));
    }
    return words;
}

/* Replaces the grammar by a list of words. For a grammar with hardly fewer symbols than there are
 * words, and for sums that wrap, which do not allow to skip a part. */
static void flatten(DeltaSequence *s)
{
    gint64 *words = delta_sequence_words(s);
    deltas_clear(s);
    s->form = OF_WORDS;
    s->words = words;
}

static void free_numbers(DeltaSequenceBuilder *b)
{
    for (int special = 0; special < 2; special++) {
        g_clear_pointer(&b->numbers[special], g_hash_table_destroy);
        if (b->known[special])
            g_array_free(b->known[special], TRUE);
    }
    g_free(b);
}

void delta_sequence_builder_free(DeltaSequenceBuilder *b)
{
    if (!b)
        return;
    if (b->grammar)
        wend_grammar_free(b->grammar);
    free_numbers(b);
}

DeltaSequence *delta_sequence_builder_end(DeltaSequenceBuilder *b)
{
    DeltaSequence *s = NULL;
    if (b->n)
        s = delta_sequence_new_run(b->run);
    if (b->grammar) {
        WendBuf bytes = WEND_BUF_INIT;
        wend_grammar_end(b->grammar, &bytes);
        WendCursor c = wend_cursor(bytes.data, bytes.len);
        Ruled *r = delta_sequence_make_ruled(s);
        s->n = b->n;
        r->n_differences = b->known[0]->len;
        r->n_specials = b->known[1]->len;
        if (bytes.failed
            || !rules_read(&r->rules, &c, 2 * MAX(r->n_differences, r->n_specials), RULES_PLAIN))
            wend_shortage();
        r->differences = (gint64 *)(gpointer)g_array_free(g_steal_pointer(&b->known[0]), FALSE);
        r->specials = (gint64 *)(gpointer)g_array_free(g_steal_pointer(&b->known[1]), FALSE);
        ruled_measure(r);
        if (b->wraps || r->wraps || r->n_symbols > s->n / 2)
            flatten(s);
        wend_buf_clear(&bytes);
    }
    free_numbers(b);
    return s;
}
