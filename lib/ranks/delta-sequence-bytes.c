/* SPDX-License-Identifier: BSD-3-Clause */
/* delta-sequence-bytes.c: delta sequences as bytes (docs/format.md). */
#include <string.h>

#include "base/allowance.h"
#include "base/lower-bound.h"
#include "base/coder.h"
#include "record/codec.h"
#include "delta-sequence-private.h"

enum { FORM_RUN, FORM_GRAMMAR, FORM_CODED, FORM_WORDS, FORM_GEOMETRIC, FORM_TURNED };

static void put_word(WendBuf *out, int64_t word, const uint32_t *constants)
{
    if (constants)
        codec_put_word(out, word, constants);
    else
        buf_signed(out, word);
}

static int64_t get_word(WendCursor *c, const int64_t *constants, uint32_t n_constants)
{
    return constants ? codec_word(c, constants, n_constants) : cursor_signed(c);
}

static int compare_words(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

/* The distinct words, ascending, so that special words come first. */
static Vector *distinct_words(const DeltaSequence *s)
{
    AUTOFREE int64_t *sorted = memory_copy(s->words, s->n * sizeof(int64_t));
    vector_sort_plain(sorted, s->n, sizeof(int64_t), compare_words);
    Vector *distinct = vector_new(sizeof(int64_t));
    for (uint64_t i = 0; i < s->n; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            VECTOR_APPEND(distinct, sorted[i]);
    return distinct;
}

static uint32_t place_of(const Vector *sorted, int64_t word)
{
    return LOWER_BOUND(i, sorted->len, VECTOR_AT(sorted, int64_t, i) < word);
}

static void put_named(WendBuf *out, const int64_t *words, uint32_t n, const uint32_t *constants)
{
    buf_unsigned(out, n);
    for (uint32_t i = 0; i < n; i++)
        put_word(out, words[i], constants);
}

/* Numbers for words. The first N_NAMED words of DISTINCT have their indices as numbers. Ordinary
 * words follow, numbered by the difference to the least of them. ORDINARY is 1 + the largest
 * difference, or 0 without ordinary words. */
typedef struct {
    const Vector *distinct;
    uint32_t n_named;
    uint64_t ordinary;
} ValueNumbering;

/* Numbers the words of DISTINCT, of which N_NAMED are named. false: the numbers exceed 64 bits. */
static bool numbering(const Vector *distinct, uint32_t n_named, ValueNumbering *as)
{
    const int64_t *words = distinct->data;
    *as = (ValueNumbering){distinct, n_named, 0};
    if (n_named == distinct->len)
        return true;
    uint64_t range = (uint64_t)words[distinct->len - 1] - (uint64_t)words[n_named];
    as->ordinary = range + 1;
    return range < UINT64_MAX - n_named;
}

static uint64_t number_of(const ValueNumbering *as, int64_t word)
{
    uint64_t ordinary =
        as->ordinary ? (uint64_t)word - (uint64_t)VECTOR_AT(as->distinct, int64_t, as->n_named) : 0;
    bool named = as->n_named && word <= VECTOR_AT(as->distinct, int64_t, as->n_named - 1);
    return named ? place_of(as->distinct, word) : as->n_named + ordinary;
}

static void put_coded(const DeltaSequence *s, const ValueNumbering *as, WendBuf *out,
                      const uint32_t *constants)
{
    const int64_t *words = (const int64_t *)(void *)as->distinct->data;
    AUTOFREE uint64_t *numbers = NEW(uint64_t, s->n);
    put_named(out, words, as->n_named, constants);
    buf_unsigned(out, as->ordinary);
    if (as->ordinary)
        buf_signed(out, words[as->n_named]);
    for (uint64_t i = 0; i < s->n; i++)
        numbers[i] = number_of(as, s->words[i]);
    coder_encode(numbers, s->n, as->n_named + as->ordinary - 1, out);
}

static void put_plain(const DeltaSequence *s, WendBuf *out, const uint32_t *constants)
{
    for (uint64_t i = 0; i < s->n; i++)
        put_word(out, s->words[i], constants);
}

/* The estimated bits that a byte of a grammar, or of words one by one, takes when the archive is
 * compressed. ALIKE_BYTE_BITS is for grammars that resemble those of other sequences; coded words
 * never resemble others. In sequences of up to SHORT_ROW words, words one by one may be shorter
 * than coded words, because a few large or repeated words decide. */
enum { BYTE_BITS = 6, ALIKE_BYTE_BITS = 5, SHORT_ROW = 64 };

/* Encodes the words of S coded or one by one. Returns an estimate of the bits when compressed. */
static uint64_t encode_words(const DeltaSequence *s, WendBuf *out, const uint32_t *constants)
{
    AUTO(Vector) distinct = distinct_words(s);
    WendBuf coded = WEND_BUF_INIT, named = WEND_BUF_INIT, plain = WEND_BUF_INIT;
    ValueNumbering as;
    bool may = numbering(distinct, place_of(distinct, WEND_SPECIAL_BASE), &as);
    if (may)
        put_coded(s, &as, &coded, constants);
    if (may && distinct->len <= s->n / 2) {
        numbering(distinct, distinct->len, &as);
        put_coded(s, &as, &named, constants);
        buf_shorten(&coded, 0, &named);
    }
    if (!may || s->n <= SHORT_ROW)
        put_plain(s, &plain, constants);
    uint64_t bits = 8 * (uint64_t)coded.len, plain_bits = BYTE_BITS * (uint64_t)plain.len;
    bool is_plain = !may || (plain.len && plain_bits <= bits);
    buf_unsigned(out, is_plain ? FORM_WORDS : FORM_CODED);
    buf_bytes(out, is_plain ? plain.data : coded.data, is_plain ? plain.len : coded.len);
    buf_clear(&coded);
    buf_clear(&plain);
    return is_plain ? plain_bits : bits;
}

static void encode_grammar(const Ruled *r, WendBuf *out, const uint32_t *constants)
{
    buf_unsigned(out, (uint64_t)r->n_differences << 1 | (r->n_specials ? 1 : 0));
    for (uint32_t i = 0; i < r->n_differences; i++)
        buf_signed(out, r->differences[i]);
    if (r->n_specials)
        put_named(out, r->specials, r->n_specials, constants);
    buf_unsigned(out, r->rules.n_rules);
    for (uint32_t i = 0; i < r->rules.n_rules; i++)
        rule_encode(&r->rules.rules[i], RULES_SHORT, out);
}

static void put_turned(const Turned *t, WendBuf *out)
{
    buf_unsigned(out, t->block);
    buf_unsigned(out, t->turn << 1 | (uint64_t)t->slope);
    buf_signed(out, t->base);
}

void delta_sequence_encode(const DeltaSequence *s, WendBuf *out, const uint32_t *constants)
{
    switch (s->form) {
    case OF_RUN:
        buf_unsigned(out, FORM_RUN);
        put_word(out, s->run.value, constants);
        if (s->n > 1)
            buf_signed(out, s->run.step);
        break;
    case OF_WORDS:
        encode_words(s, out, constants);
        break;
    case OF_RULES:
        buf_unsigned(out, FORM_GRAMMAR);
        encode_grammar(s->ruled, out, constants);
        break;
    case OF_TURNED:
        buf_unsigned(out, FORM_TURNED);
        put_turned(s->turned, out);
        break;
    }
}

static void put_geometric(WendBuf *out, const int64_t *words, uint64_t n, Geometric g,
                          const uint32_t *constants)
{
    uint64_t origin = geometric_origin(&g);
    buf_unsigned(out, FORM_GEOMETRIC);
    buf_unsigned(out, g.before << 1 | (g.falls ? 1 : 0));
    buf_unsigned(out, g.count);
    buf_signed(out, g.ratio);
    for (uint64_t i = 0; i < n; i++)
        if (i == origin || i < g.before || i >= g.before + g.count)
            put_word(out, words[i], constants);
}

/* WORDS_PER_SYMBOL: the words of a grammar are tried if there are at most so many for each symbol.
 * GEOMETRIC_LEAST: the least words of a geometric stretch. */
enum { WORDS_PER_SYMBOL = 16, GEOMETRIC_LEAST = 4 };

/* Replaces the encoding behind BEFORE in OUT by PATTERN, which has the same words, if that is
 * shorter. */
static void put_pattern(const DeltaSequence *pattern, WendBuf *out, size_t before)
{
    WendBuf told = WEND_BUF_INIT;
    delta_sequence_encode(pattern, &told, NULL); /* no constants, because it has no special words */
    buf_shorten(out, before, &told);
}

/* Replaces the encoding behind BEFORE in OUT by the words, or by a geometric stretch and the words
 * beside it, if that is shorter. BYTE_BITS: the bits of a byte of that encoding, if it is a
 * grammar; 0 if it has the words. */
static void put_words(int64_t *words, uint64_t n, uint32_t byte_bits, WendBuf *out, size_t before,
                      const uint32_t *constants)
{
    WendBuf told = WEND_BUF_INIT;
    if (byte_bits
        && encode_words(&(DeltaSequence){.n = n, .form = OF_WORDS, .words = words}, &told,
                        constants)
               < byte_bits * (uint64_t)(out->len - before)) {
        out->len = before;
        buf_bytes(out, told.data, told.len);
    }
    buf_clear(&told);
    Geometric g = geometric_find(words, n);
    /* each of the other words takes at least a byte */
    if (g.count < GEOMETRIC_LEAST || n - g.count >= out->len - before)
        return;
    put_geometric(&told, words, n, g, constants);
    buf_shorten(out, before, &told);
}

static void encode_shortest(const DeltaSequence *s, uint32_t byte_bits, WendBuf *out,
                            const uint32_t *constants)
{
    size_t before = out->len;
    Turned turned;
    delta_sequence_encode(s, out, constants);
    if (s->form == OF_WORDS || s->form == OF_RULES) {
        if (turned_find(s, &turned)) {
            put_pattern(&(DeltaSequence){.n = s->n, .form = OF_TURNED, .turned = &turned}, out,
                        before);
        } else if (s->form == OF_WORDS) {
            put_words(s->words, s->n, 0, out, before, constants);
        } else if (s->n <= WORDS_PER_SYMBOL * (uint64_t)s->ruled->n_symbols) {
            AUTOFREE int64_t *words = delta_sequence_words(s);
            put_words(words, s->n, byte_bits, out, before, constants);
        }
    }
}

void delta_sequence_encode_shortest(const DeltaSequence *s, WendBuf *out, const uint32_t *constants)
{
    encode_shortest(s, BYTE_BITS, out, constants);
}

/* Makes room for the words of S. false, and C fails, if the allowance has less. */
static bool make_words(DeltaSequence *s, WendCursor *c)
{
    int64_t *words = allowance_block(c->allowance, s->n, sizeof(int64_t));
    if (!words) {
        c->failed = true;
        return false;
    }
    s->words = words;
    s->form = OF_WORDS;
    return true;
}

static int64_t *get_named(WendCursor *c, uint32_t *n, const int64_t *constants,
                          uint32_t n_constants)
{
    *n = (uint32_t)cursor_count(c, 1);
    if (!allowance_take(c->allowance, *n, sizeof(int64_t))) {
        c->failed = true;
        *n = 0;
    }
    int64_t *words = NEW(int64_t, *n + 1);
    for (uint32_t i = 0; i < *n; i++) {
        words[i] = get_word(c, constants, n_constants);
    }
    return words;
}

static void decode_grammar(DeltaSequence *s, WendCursor *c, const int64_t *constants,
                           uint32_t n_constants)
{
    Ruled *r = delta_sequence_make_ruled(s);
    uint64_t said = cursor_unsigned(c), n_differences = said >> 1;
    if (n_differences > (uint64_t)(c->end - c->p)
        || !allowance_take(c->allowance, n_differences, sizeof(int64_t))) {
        c->failed = true;
        return;
    }
    r->n_differences = (uint32_t)n_differences;
    r->differences = NEW(int64_t, r->n_differences + 1);
    for (uint32_t i = 0; i < r->n_differences; i++)
        r->differences[i] = cursor_signed(c);
    if (said & 1)
        r->specials = get_named(c, &r->n_specials, constants, n_constants);
    for (uint32_t i = 0; i < r->n_specials; i++)
        if (!word_is_special(r->specials[i]))
            c->failed = true;
    uint32_t n_terminals = 2 * MAX(r->n_differences, r->n_specials);
    if (c->failed || !rules_read(&r->rules, c, n_terminals, RULES_SHORT)) {
        c->failed = true;
        return;
    }
    for (uint32_t i = 0; i < r->rules.n_rules; i++)
        for (uint32_t k = 0; k < r->rules.rules[i].n; k++) {
            const WendSymbol *y = &r->rules.rules[i].symbols[k];
            if (!y->is_rule && y->id >> 1 >= (y->id & 1 ? r->n_specials : r->n_differences))
                c->failed = true;
        }
    if (c->failed || !ruled_measure(r) || r->wraps || r->all[0].length != s->n)
        c->failed = true;
}

static void decode_coded(DeltaSequence *s, WendCursor *c, const int64_t *constants,
                         uint32_t n_constants)
{
    uint32_t n_named;
    AUTOFREE int64_t *named = get_named(c, &n_named, constants, n_constants);
    uint64_t ordinary = cursor_unsigned(c);
    int64_t least = ordinary ? cursor_signed(c) : 0;
    if (ordinary > UINT64_MAX - n_named || n_named + ordinary == 0 || word_is_special(least) ||
        /* as unsigned numbers, since LEAST may be negative */
        (ordinary && ordinary - 1 > (uint64_t)INT64_MAX - (uint64_t)least))
        c->failed = true;
    if (c->failed || !make_words(s, c))
        return;
    uint64_t *numbers = (uint64_t *)s->words;
    if (!coder_decode(numbers, s->n, n_named + ordinary - 1, c))
        return;
    for (uint64_t i = 0; i < s->n; i++)
        s->words[i] = numbers[i] < n_named
                          ? named[numbers[i]]
                          : delta_sequence_sum(least, (int64_t)(numbers[i] - n_named));
}

static void decode_turned(DeltaSequence *s, WendCursor *c)
{
    Turned t;
    t.block = cursor_unsigned(c);
    uint64_t turn = cursor_unsigned(c);
    t.turn = turn >> 1;
    t.slope = turn & 1;
    t.base = cursor_signed(c);
    if (c->failed || !turned_in_range(&t, s->n)) {
        c->failed = true;
        return;
    }
    s->turned = memory_copy(&t, sizeof t);
    s->form = OF_TURNED;
}

static void decode_geometric(DeltaSequence *s, WendCursor *c, const int64_t *constants,
                             uint32_t n_constants)
{
    Geometric g;
    g.before = cursor_unsigned(c);
    g.count = cursor_unsigned(c);
    g.ratio = cursor_signed(c);
    g.falls = g.before & 1;
    g.before >>= 1;
    if (c->failed || g.before >= s->n || g.count == 0 || g.count > MIN(s->n - g.before, 64)
        || s->n - g.count >= (uint64_t)(c->end - c->p)) {
        c->failed = true;
        return;
    }
    uint64_t origin = geometric_origin(&g);
    if (!make_words(s, c))
        return;
    for (uint64_t i = 0; i < s->n; i++)
        s->words[i] = i == origin || i < g.before || i >= g.before + g.count
                          ? get_word(c, constants, n_constants)
                          : 0;
    for (uint64_t k = 1; k < g.count && !c->failed; k++) {
        uint64_t to = g.falls ? origin - k : origin + k;
        c->failed = !geometric_next(s->words[g.falls ? to + 1 : to - 1], g.ratio, &s->words[to]);
    }
}

static bool whole_run(const DeltaSequence *s)
{
    if (s->run.step == 0)
        return true;
    /* the sum may need 65 bits */
    __extension__ __int128 last = s->run.value + (__int128)s->run.step * (s->n - 1);
    return !word_is_special(s->run.value) && last >= WEND_SPECIAL_BASE && last <= INT64_MAX;
}

void delta_sequence_builder_encode(DeltaSequenceBuilder *b, WendBuf *out, const uint32_t *constants)
{
    AUTO(DeltaSequence) s = delta_sequence_builder_end(b);
    if (s)
        delta_sequence_encode_shortest(s, out, constants);
}

void delta_sequence_builder_encode_alike(DeltaSequenceBuilder *b, WendBuf *out,
                                         const uint32_t *constants)
{
    AUTO(DeltaSequence) s = delta_sequence_builder_end(b);
    if (s)
        encode_shortest(s, ALIKE_BYTE_BITS, out, constants);
}

DeltaSequence *delta_sequence_decode(WendCursor *c, uint64_t n, const int64_t *constants,
                                     uint32_t n_constants)
{
    AUTO(DeltaSequence) s = delta_sequence_new_run((DeltaSequenceRun){0, 0, n});
    switch (cursor_unsigned(c)) {
    case FORM_RUN:
        s->run.value = get_word(c, constants, n_constants);
        if (n > 1)
            s->run.step = cursor_signed(c);
        if (!whole_run(s))
            c->failed = true;
        break;
    case FORM_GRAMMAR:
        decode_grammar(s, c, constants, n_constants);
        break;
    case FORM_CODED:
        decode_coded(s, c, constants, n_constants);
        break;
    case FORM_TURNED:
        decode_turned(s, c);
        break;
    case FORM_GEOMETRIC:
        decode_geometric(s, c, constants, n_constants);
        break;
    case FORM_WORDS:
        if (n > (uint64_t)(c->end - c->p)) {
            c->failed = true;
            break;
        }
        if (!make_words(s, c))
            break;
        for (uint64_t i = 0; i < n; i++)
            s->words[i] = get_word(c, constants, n_constants);
        break;
    default:
        c->failed = true;
    }
    return c->failed ? NULL : STEAL(s);
}
