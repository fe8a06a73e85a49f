/* series.c: rows of words as differences under a grammar. */
#include <string.h>

#include "codec.h"
#include "grammar.h"
#include "rules.h"
#include "series.h"

/* A terminal of the grammar is 2 i for difference i, 2 i + 1 for special word i. */
typedef struct { guint64 length; gint64 sum; } Extent;  /* words of an expansion, and what its differences come to */

typedef struct {
    guint n_differences, n_specials;
    gint64 *differences, *specials;
    RuleRow rules;
    Extent *before;           /* symbol by symbol, rule after rule: the extent of what stands before it in its rule */
    Extent *all;              /* by rule */
    gsize *first;             /* by rule: its first symbol's place in "before" */
    gsize n_symbols;
    gboolean wraps;           /* some sum of differences is beyond 64 bits */
} Ruled;

/* base + step (i ^ bits) for i = from, from + 1, …; bits > 0, step > 0. */
typedef struct { gint64 base, step; guint64 bits, from; } Flipped;

/* base + the sum of step × digit, over the digits of the word's number in mixed radix, the lowest first: a box in a grid of some dimensions. Counts are at least 2. */
typedef struct { guint64 count; gint64 step; } Digit;
typedef struct { gint64 base; guint n; Digit digits[]; } Digits;

/* Where values are by chance there is one for each slot of each call: it is kept small. */
struct Series {
    guint64 n;
    enum { OF_RUN, OF_WORDS, OF_RULES, OF_FLIPPED, OF_DIGITS } form; /* the last two are only of archives */
    union {
        struct { gint64 value, step; } run;
        gint64 *words;        /* as they are */
        Ruled *ruled;
        Flipped *flipped;
        Digits *digits;
    };
};

static gboolean is_special(gint64 word) { return word < WEND_SPECIAL_BASE; }
static gint64 add(gint64 a, gint64 b) { return (gint64)((guint64)a + (guint64)b); }
static gint64 subtract(gint64 a, gint64 b) { return (gint64)((guint64)a - (guint64)b); }
static gint64 times(gint64 a, guint64 n) { return (gint64)((guint64)a * n); }

Series *series_ref(Series *s)
{
    return s ? g_rc_box_acquire(s) : NULL;
}

static void series_clear(gpointer p)
{
    Series *s = p;
    if (s->form == OF_WORDS) g_free(s->words);
    if (s->form == OF_FLIPPED) g_free(s->flipped);
    if (s->form == OF_DIGITS) g_free(s->digits);
    if (s->form != OF_RULES) return;
    Ruled *r = s->ruled;
    g_free(r->differences);
    g_free(r->specials);
    rules_clear(&r->rules);
    g_free(r->before);
    g_free(r->all);
    g_free(r->first);
    g_free(r);
}

void series_unref(Series *s)
{
    if (s) g_rc_box_release_full(s, series_clear);
}

Series *series_new_run(SeriesRun run)
{
    Series *s = g_rc_box_new0(Series);
    s->n = run.count;
    s->run.value = run.value;
    s->run.step = run.count == 1 ? 0 : run.step;
    return s;
}

/* A new one becomes one of the other forms, whose words or rules are still to be filled in. */
static gint64 *make_words(Series *s)
{
    s->words = g_new(gint64, s->n);
    s->form = OF_WORDS;
    return s->words;
}

static Ruled *make_ruled(Series *s)
{
    s->ruled = g_new0(Ruled, 1);
    s->form = OF_RULES;
    return s->ruled;
}

/* -- reading -- */

guint64 series_length(const Series *s) { return s->n; }

gsize series_size(const Series *s)
{
    return s->form == OF_WORDS ? s->n : s->form == OF_RULES ? s->ruled->n_symbols : 1;
}

gsize series_memory(const Series *s)
{
    enum { BLOCK = 16 }; /* what malloc adds, and GLib for a count of references */
    gsize all = sizeof *s + 2 * BLOCK;
    if (s->form == OF_WORDS) all += s->n * sizeof *s->words + BLOCK;
    if (s->form == OF_FLIPPED) all += sizeof *s->flipped + BLOCK;
    if (s->form == OF_DIGITS) all += sizeof *s->digits + s->digits->n * sizeof(Digit) + BLOCK;
    if (s->form != OF_RULES) return all;
    const Ruled *r = s->ruled;
    return all + sizeof *r + 7 * BLOCK + ((gsize)r->n_differences + r->n_specials) * sizeof(gint64) + r->n_symbols * (sizeof(WendSymbol) + sizeof *r->before) +
           r->rules.n_rules * (sizeof(Rule) + BLOCK + sizeof *r->all + sizeof *r->first);
}

/* What each rule and what stands before each symbol comes to. FALSE: a rule uses itself or is empty, or they are more than 2^62 words. */
static gboolean measure(Ruled *r)
{
    const RuleRow *row = &r->rules;
    guint n;
    g_autofree guint32 *order = rules_bottom_up(row, &n);
    if (!order) return FALSE;
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
        if (rule->n == 0) return FALSE;
        for (guint k = 0; k < rule->n; k++) {
            const WendSymbol *y = &rule->symbols[k];
            r->before[r->first[order[i]] + k] = so_far;
            Extent one = y->is_rule ? r->all[y->id] : (Extent){1, y->id & 1 ? 0 : r->differences[y->id >> 1]};
            guint64 more;
            if (__builtin_mul_overflow(one.length, y->exponent, &more) || __builtin_add_overflow(so_far.length, more, &so_far.length) || so_far.length > G_MAXINT64 / 2)
                return FALSE;
            gint64 sum;
            r->wraps |= __builtin_mul_overflow(one.sum, (gint64)y->exponent, &sum); /* the exponent is below 2^62, as the length is */
            r->wraps |= __builtin_add_overflow(so_far.sum, sum, &so_far.sum);
        }
        r->all[order[i]] = so_far;
    }
    return TRUE;
}

/* Into the expansion of one of RULE's symbols, the last that begins at or before INDEX. */
static guint symbol_of(const Ruled *r, guint32 rule, guint64 index)
{
    const Extent *before = r->before + r->first[rule];
    guint low = 0, high = r->rules.rules[rule].n;
    while (high - low > 1) {
        guint middle = low + (high - low) / 2;
        if (before[middle].length <= index) low = middle; else high = middle;
    }
    return low;
}

/* The lowest bit that is flipped says how many words go up together. */
static SeriesRun flipped_run(const Flipped *f, guint64 index, guint64 n)
{
    guint64 i = f->from + index, stretch = f->bits & -f->bits, left = stretch - i % stretch;
    return (SeriesRun){add(f->base, times(f->step, i ^ f->bits)), f->step, MIN(left, n - index)};
}

static SeriesRun digits_run(const Digits *d, guint64 index)
{
    SeriesRun run = {d->base, d->digits[0].step, d->digits[0].count - index % d->digits[0].count};
    for (guint i = 0; i < d->n; index /= d->digits[i++].count) run.value = add(run.value, times(d->digits[i].step, index % d->digits[i].count));
    return run;
}

SeriesRun series_run(const Series *s, guint64 index)
{
    if (s->form == OF_DIGITS) return digits_run(s->digits, index);
    if (s->form == OF_FLIPPED) return flipped_run(s->flipped, index, s->n);
    if (s->form == OF_WORDS) return (SeriesRun){s->words[index], 0, 1};
    if (s->form == OF_RUN) return (SeriesRun){add(s->run.value, times(s->run.step, index)), s->run.step, s->n - index};
    const Ruled *r = s->ruled;
    gint64 last = 0; /* the ordinary word before */
    for (guint32 rule = 0;;) {
        guint k = symbol_of(r, rule, index);
        const WendSymbol *y = &r->rules.rules[rule].symbols[k];
        const Extent *before = &r->before[r->first[rule] + k];
        index -= before->length;
        last = add(last, before->sum);
        if (!y->is_rule) {
            if (y->id & 1) return (SeriesRun){r->specials[y->id >> 1], 0, y->exponent - index};
            gint64 step = r->differences[y->id >> 1];
            return (SeriesRun){add(last, times(step, index + 1)), step, y->exponent - index};
        }
        const Extent *one = &r->all[y->id];
        last = add(last, times(one->sum, index / one->length));
        index %= one->length;
        rule = y->id;
    }
}

gint64 series_at(const Series *s, guint64 index)
{
    return series_run(s, index).value;
}

Series *series_part(const Series *s, guint64 first, guint64 n)
{
    SeriesBuilder *b = series_builder_new();
    for (guint64 i = 0; i < n;) {
        SeriesRun run = series_run(s, first + i);
        run.count = MIN(run.count, n - i);
        series_builder_add(b, run);
        i += run.count;
    }
    return series_builder_end(b);
}

gboolean series_equal(const Series *a, const Series *b)
{
    if (a == b) return TRUE;
    if (a->n != b->n || (a->form == b->form && series_size(a) != series_size(b))) return FALSE; /* an archive may have another form than the builder would give it */
    for (guint64 i = 0; i < a->n;) {
        SeriesRun x = series_run(a, i), y = series_run(b, i);
        guint64 both = MIN(x.count, y.count);
        if (x.value != y.value || (both > 1 && x.step != y.step)) return FALSE;
        i += both;
    }
    return TRUE;
}

gboolean series_specials(const Series *s, SeriesWord f, gpointer data)
{
    const gint64 *words = s->form == OF_WORDS ? s->words : s->form == OF_RULES ? s->ruled->specials : &s->run.value;
    guint64 n = s->form == OF_WORDS ? s->n : s->form == OF_RULES ? s->ruled->n_specials : s->form == OF_RUN;
    for (guint64 i = 0; i < n; i++)
        if (is_special(words[i]) && !f(data, words[i])) return FALSE;
    return TRUE;
}

static gboolean find_in_run(SeriesRun run, gint64 value, guint64 *index)
{
    gint64 away = subtract(value, run.value);
    if (away < 0 || (run.step == 0 && away > 0) || (run.step && away % run.step)) return FALSE;
    *index = run.step ? (guint64)(away / run.step) : 0;
    return *index < run.count;
}

/* Steps ascend, as in series_ascends. */
static gboolean find_by_digits(const Digits *d, gint64 value, guint64 *index)
{
    if (value < d->base) return FALSE;
    guint64 left = (guint64)value - (guint64)d->base;
    *index = 0;
    for (guint i = d->n; i-- > 0;) {
        guint64 digit = MIN(left / (guint64)d->digits[i].step, d->digits[i].count - 1);
        left -= digit * (guint64)d->digits[i].step;
        *index = *index * d->digits[i].count + digit;
    }
    return left == 0;
}

static gboolean digits_ascend(const Digits *d, gint64 most)
{
    gint64 last = d->base; /* words are known to be in range */
    for (guint i = 0; i < d->n; i++) {
        if (d->digits[i].step <= last - d->base) return FALSE;
        last += d->digits[i].step * (gint64)(d->digits[i].count - 1);
    }
    return d->base > 0 && last <= most;
}

gboolean series_find(const Series *s, gint64 value, guint64 *index)
{
    if (s->form == OF_DIGITS) return find_by_digits(s->digits, value, index);
    if (s->form == OF_WORDS) {
        guint64 low = 0, high = s->n;
        while (low < high) {
            guint64 middle = low + (high - low) / 2;
            if (s->words[middle] < value) low = middle + 1; else high = middle;
        }
        *index = low;
        return low < s->n && s->words[low] == value;
    }
    if (s->form == OF_RUN) return find_in_run(series_run(s, 0), value, index);
    const Ruled *r = s->ruled;
    gint64 last = 0;
    guint64 at = 0;
    if (value > r->all[0].sum) return FALSE;
    for (guint32 rule = 0;;) {
        const Extent *before = r->before + r->first[rule];
        guint low = 0, high = r->rules.rules[rule].n; /* the last symbol before which the sum is below value */
        while (high - low > 1) {
            guint middle = low + (high - low) / 2;
            if (last + before[middle].sum < value) low = middle; else high = middle;
        }
        const WendSymbol *y = &r->rules.rules[rule].symbols[low];
        last += before[low].sum;
        at += before[low].length;
        if (value <= last) return FALSE;
        if (!y->is_rule) {
            gint64 step = r->differences[y->id >> 1];
            gboolean found = step > 0 && find_in_run((SeriesRun){last + step, step, y->exponent}, value, index);
            *index += at;
            return found;
        }
        const Extent *one = &r->all[y->id];
        if (one->sum <= 0) return FALSE;
        guint64 passed = MIN((guint64)(value - last - 1) / (guint64)one->sum, y->exponent - 1);
        last += times(one->sum, passed);
        at += passed * one->length;
        rule = y->id;
    }
}

gboolean series_ascends(const Series *s, gint64 most)
{
    if (s->form == OF_WORDS) {
        for (guint64 i = 0; i < s->n; i++)
            if (s->words[i] <= (i ? s->words[i - 1] : 0)) return FALSE;
        return s->words[s->n - 1] <= most;
    }
    if (s->form == OF_DIGITS) return digits_ascend(s->digits, most);
    if (s->form == OF_FLIPPED) return FALSE; /* a bit that is flipped goes up here and down there */
    if (s->form == OF_RUN) {
        gint64 away;
        return s->run.value > 0 && s->run.value <= most && s->n - 1 <= (guint64)(most - s->run.value) &&
               (s->n == 1 || (s->run.step > 0 && !__builtin_mul_overflow(s->run.step, (gint64)(s->n - 1), &away) && away <= most - s->run.value));
    }
    const Ruled *r = s->ruled;
    for (guint i = 0; i < r->n_differences; i++)
        if (r->differences[i] <= 0) return FALSE;
    return r->n_specials == 0 && r->all[0].sum <= most;
}

/* -- making one -- */

struct SeriesBuilder {
    SeriesRun run;            /* all so far, while that is one run */
    guint64 n;
    gint64 last;              /* the last ordinary word, or 0 */
    gboolean wraps;           /* some difference is beyond 64 bits */
    WendGrammar *grammar;     /* once it is not */
    GHashTable *numbers[2];   /* difference, special word -> its number + 1 */
    GArray *known[2];         /* gint64 */
};

SeriesBuilder *series_builder_new(void)
{
    return g_new0(SeriesBuilder, 1);
}

static void put(SeriesBuilder *b, gboolean special, gint64 value, guint64 count)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(b->numbers[special], &value));
    if (!number) {
        g_array_append_val(b->known[special], value);
        number = b->known[special]->len;
        g_hash_table_insert(b->numbers[special], g_memdup2(&value, sizeof value), GUINT_TO_POINTER(number));
    }
    if (!wend_grammar_append(b->grammar, 2 * (number - 1) + (special ? 1 : 0), count)) g_error("out of memory while merging");
}

static void put_run(SeriesBuilder *b, SeriesRun run)
{
    if (is_special(run.value)) {
        put(b, TRUE, run.value, run.count);
        return;
    }
    gint64 difference;
    b->wraps |= __builtin_sub_overflow(run.value, b->last, &difference);
    put(b, FALSE, difference, 1);
    if (run.count > 1) put(b, FALSE, run.step, run.count - 1);
    b->last = add(run.value, times(run.step, run.count - 1));
}

/* Does RUN go on where the only run so far ends? */
static gboolean goes_on(SeriesBuilder *b, SeriesRun run)
{
    if (is_special(run.value) || is_special(b->run.value)) return run.value == b->run.value;
    gint64 step;
    if (__builtin_sub_overflow(run.value, add(b->run.value, times(b->run.step, b->run.count - 1)), &step)) return FALSE;
    if ((b->run.count > 1 && step != b->run.step) || (run.count > 1 && step != run.step)) return FALSE;
    b->run.step = step;
    return TRUE;
}

void series_builder_add(SeriesBuilder *b, SeriesRun run)
{
    if (run.count == 0) return;
    if (run.count == 1) run.step = 0;
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
        if (!b->grammar) g_error("out of memory while merging");
        for (int special = 0; special < 2; special++) {
            b->numbers[special] = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
            b->known[special] = g_array_new(FALSE, FALSE, sizeof(gint64));
        }
        put_run(b, b->run);
    }
    put_run(b, run);
}

static gint64 *words_of(const Series *s)
{
    gint64 *words = g_new(gint64, s->n);
    for (guint64 i = 0; i < s->n;) {
        SeriesRun run = series_run(s, i);
        for (guint64 k = 0; k < run.count; k++) words[i++] = add(run.value, times(run.step, k));
    }
    return words;
}

/* A grammar that has hardly fewer symbols than there are words only costs; and sums that wrap do not tell what lies between. */
static void flatten(Series *s)
{
    gint64 *words = words_of(s);
    series_clear(s);
    s->form = OF_WORDS;
    s->words = words;
}

static void free_numbers(SeriesBuilder *b)
{
    for (int special = 0; special < 2; special++) {
        g_clear_pointer(&b->numbers[special], g_hash_table_destroy);
        if (b->known[special]) g_array_free(b->known[special], TRUE);
    }
    g_free(b);
}

void series_builder_free(SeriesBuilder *b)
{
    if (!b) return;
    if (b->grammar) wend_grammar_free(b->grammar);
    free_numbers(b);
}

Series *series_builder_end(SeriesBuilder *b)
{
    Series *s = NULL;
    if (b->n) s = series_new_run(b->run);
    if (b->grammar) {
        WendBuf bytes = WEND_BUF_INIT;
        wend_grammar_end(b->grammar, &bytes);
        WendCursor c = wend_cursor(bytes.data, bytes.len);
        Ruled *r = make_ruled(s);
        s->n = b->n;
        r->n_differences = b->known[0]->len;
        r->n_specials = b->known[1]->len;
        if (bytes.failed || !rules_read(&r->rules, &c, 2 * MAX(r->n_differences, r->n_specials))) g_error("out of memory while merging");
        r->differences = (gint64 *)(gpointer)g_array_free(g_steal_pointer(&b->known[0]), FALSE);
        r->specials = (gint64 *)(gpointer)g_array_free(g_steal_pointer(&b->known[1]), FALSE);
        measure(r);
        if (b->wraps || r->wraps || r->n_symbols > s->n / 2) flatten(s);
        wend_buf_clear(&bytes);
    }
    free_numbers(b);
    return s;
}

/* -- as bytes -- */

enum { FORM_RUN, FORM_GRAMMAR, FORM_PACKED, FORM_CHOSEN, FORM_WORDS, FORM_RICE, FORM_FLIPPED, FORM_GEOMETRIC, FORM_SHORT_GRAMMAR, FORM_DIGITS };

static void put_word(WendBuf *out, gint64 word, const guint32 *constants)
{
    if (constants) codec_put_word(out, word, constants); else wend_buf_signed(out, word);
}

static gint64 get_word(WendCursor *c, const gint64 *constants, guint n_constants)
{
    return constants ? codec_word(c, constants, n_constants) : wend_read_signed(c);
}

static gint compare_words(gconstpointer a, gconstpointer b)
{
    gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
    return x < y ? -1 : x > y;
}

/* Ascending: special words come first. */
static GArray *distinct_words(const Series *s)
{
    g_autofree gint64 *sorted = g_memdup2(s->words, s->n * sizeof(gint64));
    qsort(sorted, s->n, sizeof(gint64), compare_words);
    GArray *distinct = g_array_new(FALSE, FALSE, sizeof(gint64));
    for (guint64 i = 0; i < s->n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1]) g_array_append_val(distinct, sorted[i]);
    return distinct;
}

static guint place_of(const GArray *sorted, gint64 word)
{
    guint low = 0, high = sorted->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(sorted, gint64, middle) < word) low = middle + 1; else high = middle;
    }
    return low;
}

static guint bits_for(guint64 largest)
{
    return largest ? 64 - (guint)__builtin_clzll(largest) : 1;
}

static void put_specials(WendBuf *out, const gint64 *words, guint n, const guint32 *constants)
{
    wend_buf_unsigned(out, n);
    for (guint i = 0; i < n; i++) put_word(out, words[i], constants);
}

/* Bits, lowest first. */
typedef struct { WendBuf *out; guint8 byte; guint filled; } BitWriter;

static void put_bits(BitWriter *w, guint64 bits, guint n)
{
    for (guint i = 0; i < n; i++) {
        w->byte |= (guint8)((bits >> i & 1) << w->filled);
        if (++w->filled < 8) continue;
        wend_buf_bytes(w->out, &w->byte, 1);
        w->byte = w->filled = 0;
    }
}

static void end_bits(BitWriter *w)
{
    if (w->filled) wend_buf_bytes(w->out, &w->byte, 1);
}

/* Each word in WIDTH bits, lowest first: its distance from the least ordinary one, or behind these its place among the special ones. */
static void put_packed(const Series *s, WendBuf *out, const GArray *distinct, guint n_specials, guint64 range, const guint32 *constants)
{
    const gint64 *words = (const gint64 *)(gpointer)distinct->data;
    gint64 least = n_specials < distinct->len ? words[n_specials] : 0;
    guint width = bits_for(range + n_specials);
    wend_buf_signed(out, least);
    wend_buf_unsigned(out, range);
    put_specials(out, words, n_specials, constants);
    BitWriter bits = {.out = out};
    for (guint64 i = 0; i < s->n; i++) {
        gint64 word = s->words[i];
        put_bits(&bits, is_special(word) ? range + 1 + place_of(distinct, word) : (guint64)word - (guint64)least, width);
    }
    end_bits(&bits);
}

/* Golomb codes whose parameter is a power of two (Rice and Plaunt, "Adaptive Variable-Length Coding for Efficient Compression of Spacecraft Television Data", 1971), for words of which
 * most are small and a few are not: the distance from the least one as a quotient in ones, a zero, and a remainder of so many bits. */
static guint64 rice_bits(const Series *s, gint64 least, guint remainder)
{
    guint64 all = 0, quotient;
    for (guint64 i = 0; i < s->n; i++) {
        quotient = ((guint64)s->words[i] - (guint64)least) >> remainder;
        if (__builtin_add_overflow(all, quotient, &all) || __builtin_add_overflow(all, 1 + remainder, &all)) return G_MAXUINT64;
    }
    return all;
}

/* The remainder's bits with which they take least; BITS: what that is. */
static guint best_remainder(const Series *s, gint64 least, guint most, guint64 *bits)
{
    guint best = most;
    *bits = G_MAXUINT64;
    for (guint remainder = most; remainder-- > 0;) { /* the cost falls, and then rises */
        guint64 now = rice_bits(s, least, remainder);
        if (now >= *bits) break;
        *bits = now;
        best = remainder;
    }
    return best;
}

static void put_rice(const Series *s, WendBuf *out, gint64 least, guint remainder)
{
    wend_buf_signed(out, least);
    wend_buf_unsigned(out, remainder);
    BitWriter bits = {.out = out};
    for (guint64 i = 0; i < s->n; i++) {
        guint64 distance = (guint64)s->words[i] - (guint64)least;
        for (guint64 quotient = distance >> remainder; quotient > 0; quotient--) put_bits(&bits, 1, 1);
        put_bits(&bits, 0, 1);
        put_bits(&bits, distance, remainder);
    }
    end_bits(&bits);
}

static void put_chosen(const Series *s, WendBuf *out, const GArray *distinct, guint n_specials, const guint32 *constants)
{
    const gint64 *words = (const gint64 *)(gpointer)distinct->data;
    put_specials(out, words, n_specials, constants);
    wend_buf_unsigned(out, distinct->len - n_specials);
    for (guint i = n_specials; i < distinct->len; i++)
        if (i == n_specials) wend_buf_signed(out, words[i]); else wend_buf_unsigned(out, (guint64)words[i] - (guint64)words[i - 1]);
    for (guint64 i = 0; i < s->n; i++) {
        guint8 place = (guint8)place_of(distinct, s->words[i]);
        wend_buf_bytes(out, &place, 1);
    }
}

/* A byte of a grammar, or of words one by one, takes so many bits when it is compressed. In short rows a few words that are larger than the others, or come again elsewhere, weigh more than all others do. */
enum { BYTE_BITS = 7, SHORT_ROW = 64 };

/* Returns how many bits it takes once it is compressed, more or less. */
static guint64 encode_words(const Series *s, WendBuf *out, const guint32 *constants)
{
    g_autoptr(GArray) distinct = distinct_words(s);
    const gint64 *words = (const gint64 *)(gpointer)distinct->data;
    guint n_specials = place_of(distinct, WEND_SPECIAL_BASE);
    guint64 range = n_specials < distinct->len ? (guint64)words[distinct->len - 1] - (guint64)words[n_specials] : 0;
    gboolean wide = range > G_MAXUINT64 - distinct->len; /* no numbers left for the special words */
    /* Bytes of few kinds come out of compression at their entropy, for which the bits that tell them apart stand. */
    guint64 chosen = distinct->len <= 256 ? (guint64)distinct->len * 16 + s->n * bits_for(distinct->len - 1) : G_MAXUINT64, packed = s->n * bits_for(range + n_specials), rice = G_MAXUINT64;
    guint remainder = n_specials || wide ? 0 : best_remainder(s, words[0], bits_for(range), &rice);
    if (wide) packed = G_MAXUINT64;
    guint64 least = MIN(rice, MIN(chosen, packed));
    if (least == G_MAXUINT64 || s->n <= SHORT_ROW) {
        gsize before = out->len;
        wend_buf_unsigned(out, FORM_WORDS);
        for (guint64 i = 0; i < s->n; i++) put_word(out, s->words[i], constants);
        guint64 bits = (least == G_MAXUINT64 ? 8 : BYTE_BITS) * (guint64)(out->len - before);
        if (bits <= least) return bits;
        out->len = before;
    }
    if (packed == least) {
        wend_buf_unsigned(out, FORM_PACKED);
        put_packed(s, out, distinct, n_specials, range, constants);
    } else if (chosen == least) {
        wend_buf_unsigned(out, FORM_CHOSEN);
        put_chosen(s, out, distinct, n_specials, constants);
    } else {
        wend_buf_unsigned(out, FORM_RICE);
        put_rice(s, out, words[0], remainder);
    }
    return least;
}

static void encode_grammar(const Ruled *r, WendBuf *out, const guint32 *constants)
{
    wend_buf_unsigned(out, (guint64)r->n_differences << 1 | (r->n_specials ? 1 : 0));
    for (guint i = 0; i < r->n_differences; i++) wend_buf_signed(out, r->differences[i]);
    if (r->n_specials) put_specials(out, r->specials, r->n_specials, constants);
    wend_buf_unsigned(out, r->rules.n_rules);
    for (guint i = 0; i < r->rules.n_rules; i++) rule_encode_short(&r->rules.rules[i], out);
}

void series_encode(const Series *s, WendBuf *out, const guint32 *constants)
{
    if (s->form == OF_WORDS) {
        encode_words(s, out, constants);
    } else if (s->form == OF_RULES) {
        wend_buf_unsigned(out, FORM_SHORT_GRAMMAR);
        encode_grammar(s->ruled, out, constants);
    } else {
        wend_buf_unsigned(out, FORM_RUN);
        put_word(out, s->run.value, constants);
        if (s->n > 1) wend_buf_signed(out, s->run.step);
    }
}

/* -- rows that an archive tells by what they are -- */

/* Of the N numbers from FROM on, the first that has not bit B and with it is one of them, too: *LOW. FALSE: there is none. */
static gboolean apart_by_bit(guint64 from, guint64 n, guint b, guint64 *low)
{
    guint64 bit = (guint64)1 << b;
    *low = from & bit ? (from | (bit - 1)) + 1 : from;
    return bit < n && *low - from < n - bit;
}

/* Whatever bits there are, what F says is not above the largest word, nor special. */
static gboolean flipped_in_range(const Flipped *f, guint64 n)
{
    guint64 last = f->from + (n - 1);
    if (n == 0 || f->bits == 0 || f->step <= 0 || last < f->from || last > G_MAXINT64 || f->bits > G_MAXINT64 || is_special(f->base)) return FALSE;
    guint64 largest = G_MAXUINT64 >> (64 - bits_for(last | f->bits));
    __extension__ __int128 most = f->base + (__int128)f->step * largest;
    return most <= G_MAXINT64;
}

/* Partners in a butterfly: rank ^ bits, or what goes with it. FALSE: it is none, or a bit that is flipped shows only together with others (some rows that do not begin at a multiple of a power of two). */
static gboolean find_flipped(const Series *s, guint64 from, Flipped *f)
{
    *f = (Flipped){.from = from};
    guint64 low;
    for (guint b = 0; b < 63 && (guint64)1 << b < s->n; b++) {
        if (!apart_by_bit(from, s->n, b, &low)) continue;
        guint64 bit = (guint64)1 << b;
        gint64 one = series_at(s, low - from), other = series_at(s, low - from + bit), difference = subtract(other, one);
        if (is_special(one) || is_special(other) || difference == G_MININT64) return FALSE;
        guint64 size = (guint64)(difference < 0 ? -difference : difference);
        if (f->step == 0) f->step = (gint64)(size >> b);
        if (size == 0 || size != (guint64)f->step << b || size >> b != (guint64)f->step) return FALSE;
        if (difference < 0) f->bits |= bit;
    }
    f->base = subtract(series_at(s, 0), times(f->step, from ^ f->bits));
    if (!flipped_in_range(f, s->n)) return FALSE;
    for (guint64 i = 0; i < s->n;) {
        SeriesRun x = series_run(s, i), y = flipped_run(f, i, s->n);
        guint64 both = MIN(x.count, y.count);
        if (x.value != y.value || (both > 1 && x.step != y.step)) return FALSE;
        i += both;
    }
    return TRUE;
}

/* There are as many numbers as words, and no word is special or above the largest. */
static gboolean digits_in_range(const Digits *d, guint64 n)
{
    __extension__ __int128 least = d->base, most = d->base;
    guint64 numbers = 1;
    for (guint i = 0; i < d->n; i++) {
        if (d->digits[i].count < 2 || d->digits[i].count > n || __builtin_mul_overflow(numbers, d->digits[i].count, &numbers)) return FALSE;
        __extension__ __int128 whole = (__int128)d->digits[i].step * (d->digits[i].count - 1);
        if (whole < 0) least += whole; else most += whole;
    }
    return d->n > 0 && numbers == n && least >= WEND_SPECIAL_BASE && most <= G_MAXINT64;
}

static Digits *digits_new(gint64 base, const GArray *digits)
{
    Digits *d = g_malloc(sizeof *d + digits->len * sizeof(Digit));
    d->base = base;
    d->n = digits->len;
    memcpy(d->digits, digits->data, digits->len * sizeof(Digit));
    return d;
}

/* Words from 0 on, WIDTH apart: how many go up in the same steps. */
static Digit digit_of(const Series *s, guint64 width)
{
    gint64 first = series_at(s, 0);
    Digit d = {2, subtract(series_at(s, width), first)};
    if (width == 1) {
        SeriesRun run = series_run(s, 1);
        d.count = run.count > 1 && run.step == d.step ? 1 + run.count : 2;
    }
    while (d.count < s->n / width && series_at(s, d.count * width) == add(first, times(d.step, d.count))) d.count++;
    return d;
}

/* Rows, columns and boxes of a grid, its transpose, corners. NULL: it is none, or a stretch of words goes on by chance where the next one begins. */
static Digits *find_digits(const Series *s)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Digit));
    for (guint64 width = 1; width < s->n;) {
        if (s->n % width || s->n / width < 2) return NULL;
        Digit digit = digit_of(s, width);
        g_array_append_val(all, digit);
        width *= digit.count;
    }
    Digits *d = digits_new(series_at(s, 0), all);
    gboolean good = digits_in_range(d, s->n);
    for (guint64 i = 0; good && i < s->n;) {
        SeriesRun x = series_run(s, i), y = digits_run(d, i);
        guint64 both = MIN(x.count, y.count);
        good = x.value == y.value && (both == 1 || x.step == y.step);
        i += both;
    }
    if (!good) g_clear_pointer(&d, g_free);
    return d;
}

/* COUNT words from BEFORE on, each RATIO times the one before it or, if they fall, the one behind it; few others. */
typedef struct { guint64 before, count; gint64 ratio; gboolean falls; } Geometric;

static gboolean is_ordinary_product(gint64 word, gint64 ratio, gint64 *product)
{
    return !is_special(word) && !__builtin_mul_overflow(word, ratio, product) && !is_special(*product);
}

/* What WHOLE is of PART, if that is more than a sign. */
static gboolean ratio_of(gint64 whole, gint64 part, gint64 *ratio)
{
    if (part == 0 || is_special(part) || is_special(whole) || whole % part) return FALSE;
    *ratio = whole / part; /* the least word is special: -1 overflows nothing */
    return *ratio < -1 || *ratio > 1;
}

/* The longest such stretch: partners and sizes of a tree, and how many ranks are on each of its levels. */
static Geometric find_geometric(const gint64 *words, guint64 n)
{
    Geometric best = {0};
    for (guint64 i = 0, end; i + 1 < n; i = end) {
        Geometric g = {.before = i};
        gint64 product;
        end = i + 1;
        g.falls = !ratio_of(words[end], words[i], &g.ratio);
        if (g.falls && !ratio_of(words[i], words[end], &g.ratio)) continue;
        for (; end < n; end++) {
            gint64 one = words[g.falls ? end : end - 1], other = words[g.falls ? end - 1 : end];
            if (!is_ordinary_product(one, g.ratio, &product) || other != product) break;
        }
        g.count = end - i;
        if (g.count > best.count) best = g;
        end--; /* the last one may begin another */
    }
    return best;
}

static void put_geometric(WendBuf *out, const gint64 *words, guint64 n, Geometric g, const guint32 *constants)
{
    guint64 origin = g.falls ? g.before + g.count - 1 : g.before;
    wend_buf_unsigned(out, FORM_GEOMETRIC);
    wend_buf_unsigned(out, g.before << 1 | (g.falls ? 1 : 0));
    wend_buf_unsigned(out, g.count);
    wend_buf_signed(out, g.ratio);
    for (guint64 i = 0; i < n; i++)
        if (i == origin || i < g.before || i >= g.before + g.count) put_word(out, words[i], constants);
}

/* Words are looked at that are at most so many times a grammar's symbols. A stretch has so many words at least. */
enum { WORDS_PER_SYMBOL = 16, GEOMETRIC_LEAST = 4 };

/* In place of what is behind BEFORE, if it is shorter. */
static void put_if_shorter(WendBuf *out, gsize before, WendBuf *other)
{
    if (other->len < out->len - before) {
        out->len = before;
        wend_buf_bytes(out, other->data, other->len);
    }
    out->failed |= other->failed;
    wend_buf_clear(other);
}

void series_encode_shortest(const Series *s, WendBuf *out, const guint32 *constants, guint64 from)
{
    gsize before = out->len;
    Flipped flipped;
    series_encode(s, out, constants);
    if (s->form == OF_RUN) return;
    if (find_flipped(s, from, &flipped)) {
        WendBuf told = WEND_BUF_INIT;
        wend_buf_unsigned(&told, FORM_FLIPPED);
        wend_buf_unsigned(&told, flipped.bits);
        wend_buf_unsigned(&told, flipped.from);
        wend_buf_signed(&told, flipped.base);
        wend_buf_unsigned(&told, (guint64)flipped.step);
        put_if_shorter(out, before, &told);
        return;
    }
    g_autofree Digits *digits = find_digits(s);
    if (digits) {
        WendBuf told = WEND_BUF_INIT;
        wend_buf_unsigned(&told, FORM_DIGITS);
        wend_buf_signed(&told, digits->base);
        wend_buf_unsigned(&told, digits->n);
        for (guint i = 0; i < digits->n; i++) {
            wend_buf_unsigned(&told, digits->digits[i].count);
            wend_buf_signed(&told, digits->digits[i].step);
        }
        put_if_shorter(out, before, &told);
        return;
    }
    gboolean ruled = s->form == OF_RULES;
    if (ruled && s->n > WORDS_PER_SYMBOL * (guint64)s->ruled->n_symbols) return;
    Series flat = {.n = s->n, .form = OF_WORDS, .words = ruled ? words_of(s) : s->words};
    if (ruled) {
        WendBuf words = WEND_BUF_INIT;
        if (encode_words(&flat, &words, constants) < BYTE_BITS * (guint64)(out->len - before)) {
            out->len = before;
            wend_buf_bytes(out, words.data, words.len);
        }
        out->failed |= words.failed;
        wend_buf_clear(&words);
    }
    Geometric g = find_geometric(flat.words, s->n);
    if (g.count >= GEOMETRIC_LEAST && s->n - g.count < out->len - before) { /* each of the others takes a byte */
        WendBuf told = WEND_BUF_INIT;
        put_geometric(&told, flat.words, s->n, g, constants);
        put_if_shorter(out, before, &told);
    }
    if (ruled) g_free(flat.words);
}

static gint64 *get_specials(WendCursor *c, guint *n, const gint64 *constants, guint n_constants)
{
    *n = (guint)wend_read_count(c, 1);
    gint64 *words = g_new(gint64, *n + 1);
    for (guint i = 0; i < *n; i++) {
        words[i] = get_word(c, constants, n_constants);
        if (!is_special(words[i])) c->failed = true;
    }
    return words;
}

static void decode_grammar(Series *s, WendCursor *c, const gint64 *constants, guint n_constants, gboolean in_short)
{
    Ruled *r = make_ruled(s);
    guint64 said = wend_read_unsigned(c), n_differences = in_short ? said >> 1 : said;
    if (n_differences > (guint64)(c->end - c->p)) {
        c->failed = true;
        return;
    }
    r->n_differences = (guint)n_differences;
    r->differences = g_new(gint64, r->n_differences + 1);
    for (guint i = 0; i < r->n_differences; i++) r->differences[i] = wend_read_signed(c);
    if (!in_short || said & 1) r->specials = get_specials(c, &r->n_specials, constants, n_constants);
    guint32 n_terminals = 2 * MAX(r->n_differences, r->n_specials);
    if (c->failed || !(in_short ? rules_read_short(&r->rules, c, n_terminals) : rules_read(&r->rules, c, n_terminals))) {
        c->failed = true;
        return;
    }
    for (guint i = 0; i < r->rules.n_rules; i++)
        for (guint k = 0; k < r->rules.rules[i].n; k++) {
            const WendSymbol *y = &r->rules.rules[i].symbols[k];
            if (!y->is_rule && y->id >> 1 >= (y->id & 1 ? r->n_specials : r->n_differences)) c->failed = true;
        }
    if (c->failed || !measure(r) || r->wraps || r->all[0].length != s->n) c->failed = true;
}

static void decode_packed(Series *s, WendCursor *c, const gint64 *constants, guint n_constants)
{
    gint64 least = wend_read_signed(c);
    guint64 range = wend_read_unsigned(c);
    guint n_specials;
    g_autofree gint64 *specials = get_specials(c, &n_specials, constants, n_constants);
    if (range > G_MAXUINT64 - n_specials) c->failed = true;
    guint width = bits_for(range + n_specials);
    const guint8 *bytes = c->failed || s->n > G_MAXSIZE / 64 ? NULL : wend_read_bytes(c, (s->n * width + 7) / 8);
    if (!bytes) {
        c->failed = true;
        return;
    }
    make_words(s);
    for (guint64 i = 0, bit = 0; i < s->n; i++) {
        guint64 code = 0;
        for (guint k = 0; k < width; k++, bit++) code |= (guint64)(bytes[bit / 8] >> bit % 8 & 1) << k;
        if (code > range + n_specials) c->failed = true;
        else s->words[i] = code > range ? specials[code - range - 1] : add(least, (gint64)code);
    }
}

static void decode_rice(Series *s, WendCursor *c)
{
    gint64 least = wend_read_signed(c);
    guint64 remainder = wend_read_unsigned(c), bit = 0, bits = 8 * (guint64)(c->end - c->p);
    if (c->failed || remainder > 63 || is_special(least) || s->n > bits / (1 + remainder)) {
        c->failed = true;
        return;
    }
#define BIT(i) (c->p[(i) / 8] >> (i) % 8 & 1)
    make_words(s);
    for (guint64 i = 0; i < s->n; i++) {
        guint64 distance = 0, quotient = 0;
        for (; bit < bits && BIT(bit); bit++) quotient++;
        if (bits - bit < 1 + remainder || quotient > G_MAXUINT64 >> remainder) {
            c->failed = true;
            return;
        }
        bit++;
        for (guint k = 0; k < remainder; k++, bit++) distance |= (guint64)BIT(bit) << k;
        distance |= quotient << remainder;
        s->words[i] = add(least, (gint64)distance);
        if (distance > (guint64)G_MAXINT64 - (guint64)least) c->failed = true; /* as unsigned: what is between them, though LEAST be negative */
    }
#undef BIT
    wend_read_bytes(c, (gsize)((bit + 7) / 8));
}

static void decode_chosen(Series *s, WendCursor *c, const gint64 *constants, guint n_constants)
{
    gint64 words[256];
    guint n_specials;
    g_autofree gint64 *specials = get_specials(c, &n_specials, constants, n_constants);
    gsize n_ordinary = wend_read_count(c, 1);
    if (c->failed || n_specials > 256 || n_ordinary > 256 - n_specials) {
        c->failed = true;
        return;
    }
    memcpy(words, specials, n_specials * sizeof *words);
    for (guint i = n_specials; i < n_specials + n_ordinary; i++) words[i] = i == n_specials ? wend_read_signed(c) : add(words[i - 1], (gint64)wend_read_unsigned(c));
    const guint8 *places = wend_read_bytes(c, s->n);
    if (!places) return;
    make_words(s);
    for (guint64 i = 0; i < s->n; i++)
        if (places[i] >= n_specials + n_ordinary) c->failed = true; else s->words[i] = words[places[i]];
}

static void decode_flipped(Series *s, WendCursor *c)
{
    Flipped f;
    f.bits = wend_read_unsigned(c);
    f.from = wend_read_unsigned(c);
    f.base = wend_read_signed(c);
    guint64 step = wend_read_unsigned(c);
    f.step = step > G_MAXINT64 ? 0 : (gint64)step;
    if (c->failed || !flipped_in_range(&f, s->n)) {
        c->failed = true;
        return;
    }
    s->flipped = g_memdup2(&f, sizeof f);
    s->form = OF_FLIPPED;
}

static void decode_digits(Series *s, WendCursor *c)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Digit));
    gint64 base = wend_read_signed(c);
    for (gsize left = wend_read_count(c, 2); left > 0 && !c->failed; left--) {
        Digit digit;
        digit.count = wend_read_unsigned(c);
        digit.step = wend_read_signed(c);
        g_array_append_val(all, digit);
    }
    if (all->len == 0) c->failed = true;
    if (c->failed) return;
    s->digits = digits_new(base, all);
    s->form = OF_DIGITS;
    c->failed = !digits_in_range(s->digits, s->n);
}

static void decode_geometric(Series *s, WendCursor *c, const gint64 *constants, guint n_constants)
{
    Geometric g;
    g.before = wend_read_unsigned(c);
    g.count = wend_read_unsigned(c);
    g.ratio = wend_read_signed(c);
    g.falls = g.before & 1;
    g.before >>= 1;
    if (c->failed || g.before >= s->n || g.count == 0 || g.count > MIN(s->n - g.before, 64) || s->n - g.count >= (guint64)(c->end - c->p)) {
        c->failed = true;
        return;
    }
    guint64 origin = g.falls ? g.before + g.count - 1 : g.before;
    make_words(s);
    for (guint64 i = 0; i < s->n; i++)
        s->words[i] = i == origin || i < g.before || i >= g.before + g.count ? get_word(c, constants, n_constants) : 0;
    for (guint64 k = 1; k < g.count && !c->failed; k++) {
        guint64 to = g.falls ? origin - k : origin + k;
        c->failed = !is_ordinary_product(s->words[g.falls ? to + 1 : to - 1], g.ratio, &s->words[to]);
    }
}

static gboolean whole_run(const Series *s)
{
    if (s->run.step == 0) return TRUE;
    __extension__ __int128 last = s->run.value + (__int128)s->run.step * (s->n - 1); /* what it spans may need 65 bits */
    return !is_special(s->run.value) && last >= WEND_SPECIAL_BASE && last <= G_MAXINT64;
}

void series_builder_encode(SeriesBuilder *b, WendBuf *out, const guint32 *constants)
{
    g_autoptr(Series) s = series_builder_end(b);
    if (s) series_encode_shortest(s, out, constants, 0);
}

Series *series_decode(WendCursor *c, guint64 n, const gint64 *constants, guint n_constants)
{
    g_autoptr(Series) s = series_new_run((SeriesRun){0, 0, n});
    switch (wend_read_unsigned(c)) {
    case FORM_RUN:
        s->run.value = get_word(c, constants, n_constants);
        if (n > 1) s->run.step = wend_read_signed(c);
        if (!whole_run(s)) c->failed = true;
        break;
    case FORM_GRAMMAR: decode_grammar(s, c, constants, n_constants, FALSE); break;
    case FORM_SHORT_GRAMMAR: decode_grammar(s, c, constants, n_constants, TRUE); break;
    case FORM_PACKED: decode_packed(s, c, constants, n_constants); break;
    case FORM_CHOSEN: decode_chosen(s, c, constants, n_constants); break;
    case FORM_RICE: decode_rice(s, c); break;
    case FORM_FLIPPED: decode_flipped(s, c); break;
    case FORM_DIGITS: decode_digits(s, c); break;
    case FORM_GEOMETRIC: decode_geometric(s, c, constants, n_constants); break;
    case FORM_WORDS:
        if (n > (guint64)(c->end - c->p)) {
            c->failed = true;
            break;
        }
        make_words(s);
        for (guint64 i = 0; i < n; i++) s->words[i] = get_word(c, constants, n_constants);
        break;
    default: c->failed = true;
    }
    return c->failed ? NULL : g_steal_pointer(&s);
}
