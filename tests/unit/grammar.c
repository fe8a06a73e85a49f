/* SPDX-License-Identifier: BSD-3-Clause */
/* grammar.c: the grammar gives back exactly what was appended, keeps Sequitur's properties, is
 * canonical, and stays small in loops.
 *
 * All through the encoded bytes, with a reader of its own. Random inputs are seeded: a failure
 * repeats. */
#include "../../lib/record/grammar.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    gboolean is_rule;
    guint32 id;
    guint64 exp;
} Symbol;
/* starts: of each rule in symbols, and the end */
typedef struct {
    GArray *symbols;
    GArray *starts;
} Decoded;

static Decoded decode(const WendBuf *b)
{
    Decoded d = {g_array_new(FALSE, FALSE, sizeof(Symbol)),
                 g_array_new(FALSE, FALSE, sizeof(guint32))};
    WendCursor c = cursor_of(b->data, b->len);
    guint64 rules = cursor_unsigned(&c);
    for (guint64 r = 0; r < rules; r++) {
        guint64 n = cursor_unsigned(&c);
        g_array_append_val(d.starts, d.symbols->len);
        for (guint64 i = 0; i < n; i++) {
            guint64 id = cursor_unsigned(&c);
            Symbol s = {id & 1, (guint32)(id >> 1), cursor_unsigned(&c)};
            g_assert_true(!s.is_rule || s.id < rules);
            g_array_append_val(d.symbols, s);
        }
    }
    g_array_append_val(d.starts, d.symbols->len);
    g_assert_false(c.failed);
    g_assert_true(c.p == c.end);
    return d;
}

static void decoded_clear(Decoded *d)
{
    g_array_unref(d->symbols);
    g_array_unref(d->starts);
}

#define SYMBOL(d, i) g_array_index((d)->symbols, Symbol, i)
#define START(d, r) g_array_index((d)->starts, guint32, r)

static void expand(const Decoded *d, guint32 rule, GArray *out)
{
    for (guint32 i = START(d, rule); i < START(d, rule + 1); i++) {
        const Symbol *s = &SYMBOL(d, i);
        for (guint64 e = 0; e < s->exp; e++)
            if (s->is_rule)
                expand(d, s->id, out);
            else
                g_array_append_val(out, s->id);
    }
}

static guint digram_hash(gconstpointer p)
{
    const Symbol *s = p;
    return s[0].id * 31 + s[1].id * 1000003 + (guint)s[0].exp * 17 + (guint)s[1].exp * 7919
           + s[0].is_rule * 3 + s[1].is_rule * 5;
}

static gboolean symbol_equal(const Symbol *a, const Symbol *b)
{
    return a->is_rule == b->is_rule && a->id == b->id && a->exp == b->exp;
}

static gboolean digram_equal(gconstpointer p, gconstpointer q)
{
    const Symbol *a = p, *b = q;
    return symbol_equal(&a[0], &b[0]) && symbol_equal(&a[1], &b[1]);
}

/* Rules are numbered as a reading from the start meets them first. */
static void check_numbering(const Decoded *d, guint32 rule, gboolean *met, guint *seen)
{
    for (guint32 i = START(d, rule); i < START(d, rule + 1); i++) {
        const Symbol *s = &SYMBOL(d, i);
        if (!s->is_rule || met[s->id])
            continue;
        met[s->id] = TRUE;
        g_assert_cmpuint(s->id, ==, ++*seen);
        check_numbering(d, s->id, met, seen);
    }
}

/* The properties that grammar.h promises. */
static void check_properties(const Decoded *d)
{
    guint rules = d->starts->len - 1;
    guint *uses = g_new0(guint, rules), seen = 0;
    gboolean *powers = g_new0(gboolean, rules);
    GHashTable *digrams = g_hash_table_new(digram_hash, digram_equal);
    for (guint r = 0; r < rules; r++) {
        if (r > 0)
            g_assert_cmpuint(START(d, r + 1) - START(d, r), >=, 2);
        for (guint i = START(d, r); i < START(d, r + 1); i++) {
            const Symbol *s = &SYMBOL(d, i);
            g_assert_cmpuint(s->exp, >=, 1);
            if (s->is_rule) {
                g_assert_cmpuint(s->id, >, 0);
                uses[s->id]++;
                powers[s->id] |= s->exp > 1;
            }
            if (i + 1 == START(d, r + 1))
                continue;
            g_assert_false(s[0].is_rule == s[1].is_rule && s[0].id == s[1].id);
            g_assert_true(g_hash_table_add(digrams, (gpointer)s));
        }
    }
    for (guint r = 1; r < rules; r++)
        g_assert_true(uses[r] >= 2 || (uses[r] == 1 && powers[r]));
    gboolean *met = g_new0(gboolean, rules);
    check_numbering(d, 0, met, &seen);
    g_assert_cmpuint(seen + 1, ==, rules);
    g_hash_table_unref(digrams);
    g_free(met);
    g_free(uses);
    g_free(powers);
}

static guint n_symbols(const WendBuf *b)
{
    Decoded d = decode(b);
    guint n = d.symbols->len;
    decoded_clear(&d);
    return n;
}

static void check_grammar(WendGrammar *g, const GArray *input)
{
    WendBuf b = WEND_BUF_INIT;
    grammar_encode(g, NULL, &b);
    g_assert_false(b.failed);
    Decoded d = decode(&b);
    GArray *out = g_array_new(FALSE, FALSE, sizeof(guint32));
    expand(&d, 0, out);
    g_assert_cmpuint(out->len, ==, input->len);
    g_assert_cmpuint(grammar_length(g), ==, input->len);
    g_assert_true(input->len == 0
                  || memcmp(out->data, input->data, input->len * sizeof(guint32)) == 0);
    check_properties(&d);
    g_array_unref(out);
    decoded_clear(&d);
    buf_clear(&b);
}

static WendBuf encode(WendGrammar *g)
{
    WendBuf b = WEND_BUF_INIT;
    grammar_encode(g, NULL, &b);
    return b;
}

static void assert_equal(const WendBuf *a, const WendBuf *b)
{
    g_assert_cmpmem(a->data, a->len, b->data, b->len);
}

/* Appends one by one; again in groups, with encodings in between; both must give the same bytes.
 * Returns them. */
static WendBuf check_input(const GArray *input, GRand *rand)
{
    WendGrammar *g = grammar_new();
    for (guint i = 0; i < input->len; i++)
        g_assert_true(grammar_append(g, g_array_index(input, guint32, i), 1));
    check_grammar(g, input);
    WendBuf first = encode(g), again = encode(g);
    assert_equal(&first, &again);
    buf_clear(&again);
    grammar_free(g);

    g = grammar_new();
    for (guint i = 0; i < input->len;) {
        guint32 t = g_array_index(input, guint32, i);
        guint n = 1, most = g_rand_int_range(rand, 1, 10);
        while (n < most && i + n < input->len && g_array_index(input, guint32, i + n) == t)
            n++;
        g_assert_true(grammar_append(g, t, n));
        i += n;
        if (g_rand_int_range(rand, 0, 200) == 0) {
            GArray *part = g_array_sized_new(FALSE, FALSE, sizeof(guint32), i);
            g_array_append_vals(part, input->data, i);
            check_grammar(g, part);
            g_array_unref(part);
        }
    }
    again = encode(g);
    assert_equal(&first, &again);
    buf_clear(&again);
    grammar_free(g);
    return first;
}

static void add(GArray *a, guint32 v)
{
    g_array_append_val(a, v);
}

static void test_random(void)
{
    GRand *rand = g_rand_new_with_seed(1997);
    static const guint alphabets[] = {1, 2, 2, 2, 3, 3, 4, 5, 8, 20, 100, 1000};
    for (guint round = 0; round < 600; round++) {
        guint alphabet = alphabets[round % G_N_ELEMENTS(alphabets)],
              n = g_rand_int_range(rand, 0, round % 50 ? 400 : 5000);
        GArray *input = g_array_new(FALSE, FALSE, sizeof(guint32));
        for (guint i = 0; i < n; i++)
            add(input, g_rand_int_range(rand, 0, alphabet));
        WendBuf b = check_input(input, rand);
        buf_clear(&b);
        g_array_unref(input);
    }
    g_rand_free(rand);
}

/* A random program: loops with trip counts that are fixed, vary or stop halfway, in loops. */
static void run_program(GArray *out, GRand *rand, GRand *structure, guint depth, guint limit)
{
    guint statements = g_rand_int_range(structure, 1, 5);
    for (guint i = 0; i < statements && out->len < limit; i++) {
        guint kind = g_rand_int_range(structure, 0, depth > 0 ? 5 : 1);
        guint32 seed = g_rand_int(structure);
        guint fixed = g_rand_int_range(structure, 1, 12),
              terminal = g_rand_int_range(structure, 0, 6);
        if (kind == 0) {
            add(out, terminal);
            continue;
        }
        guint trips = kind <= 2 ? fixed : (guint)g_rand_int_range(rand, 0, 9);
        for (guint t = 0; t < trips && out->len < limit; t++) {
            GRand *same = g_rand_new_with_seed(seed);
            run_program(out, rand, same, depth - 1, limit);
            g_rand_free(same);
            if (kind == 4 && g_rand_int_range(rand, 0, 4) == 0) {
                add(out, 6);
                break;
            }
        }
    }
}

static void test_programs(void)
{
    GRand *rand = g_rand_new_with_seed(4711);
    for (guint round = 0; round < 500; round++) {
        GArray *input = g_array_new(FALSE, FALSE, sizeof(guint32));
        guint32 seed = g_rand_int(rand);
        for (guint i = 0; i < 20 && input->len < 3000; i++) {
            GRand *structure = g_rand_new_with_seed(seed);
            run_program(input, rand, structure, 4, 3000);
            g_rand_free(structure);
        }
        WendBuf b = check_input(input, rand);
        buf_clear(&b);
        g_array_unref(input);
    }
    g_rand_free(rand);
}

/* All strings of a small alphabet, up to a length: nothing small is left out. */
static void test_all_short(void)
{
    GRand *rand = g_rand_new_with_seed(1);
    for (guint alphabet = 2; alphabet <= 3; alphabet++) {
        guint length = alphabet == 2 ? 14 : 9, count = 1;
        for (guint i = 0; i < length; i++)
            count *= alphabet;
        for (guint code = 0; code < count; code++) {
            GArray *input = g_array_new(FALSE, FALSE, sizeof(guint32));
            for (guint i = 0, c = code; i < length; i++, c /= alphabet)
                add(input, c % alphabet);
            WendBuf b = check_input(input, rand);
            buf_clear(&b);
            g_array_unref(input);
        }
    }
    g_rand_free(rand);
}

static void test_fibonacci(void)
{
    GArray *a = g_array_new(FALSE, FALSE, sizeof(guint32)),
           *b = g_array_new(FALSE, FALSE, sizeof(guint32));
    add(a, 0);
    add(b, 1);
    GRand *rand = g_rand_new_with_seed(2);
    while (b->len < 20000) {
        GArray *sum = g_array_new(FALSE, FALSE, sizeof(guint32));
        g_array_append_vals(sum, b->data, b->len);
        g_array_append_vals(sum, a->data, a->len);
        g_array_unref(a);
        a = b;
        b = sum;
    }
    WendBuf bytes = check_input(b, rand);
    g_assert_cmpuint(n_symbols(&bytes), <, 120); /* logarithmic */
    buf_clear(&bytes);
    g_array_unref(a);
    g_array_unref(b);
    g_rand_free(rand);
}

static void test_shapes_of_loops(void)
{
    /* a^n is one symbol; (ab)^n c two rules at most; and so with any n. */
    for (guint64 n = 2; n < 1000000; n = n * 3 + 1) {
        WendGrammar *g = grammar_new();
        for (guint64 i = 0; i < n; i++)
            g_assert_true(grammar_append(g, 7, 1));
        WendBuf b = encode(g);
        Decoded d = decode(&b);
        g_assert_cmpuint(d.symbols->len, ==, 1);
        g_assert_cmpuint(SYMBOL(&d, 0).id, ==, 7);
        g_assert_cmpuint(SYMBOL(&d, 0).exp, ==, n);
        decoded_clear(&d);
        buf_clear(&b);
        grammar_free(g);

        g = grammar_new();
        for (guint64 i = 0; i < n; i++) {
            grammar_append(g, 0, 1);
            grammar_append(g, 1, 5);
            grammar_append(g, 2, 1);
        }
        grammar_append(g, 3, 1);
        b = encode(g);
        d = decode(&b);
        g_assert_cmpuint(d.symbols->len, ==, 5); /* S: R^n 3; R: 0 1^5 2 */
        g_assert_cmpuint(SYMBOL(&d, 0).exp, ==, n);
        decoded_clear(&d);
        buf_clear(&b);
        grammar_free(g);
    }
}

/* Loops in loops of any length hold no more memory at 1,000,000 symbols than at 10,000. */
static void test_memory(void)
{
    for (guint inner = 1; inner <= 1000; inner *= 10) {
        WendGrammar *g = grammar_new();
        size_t early = 0;
        for (guint i = 0; i < 1000000 / inner || i < 200; i++) {
            for (guint k = 0; k < inner; k++)
                grammar_append(g, k % 7 == 3 ? 500 : k % 250, 1);
            grammar_append(g, 1000, 3);
            if (i == 100)
                early = grammar_memory(g);
        }
        g_assert_cmpuint(grammar_memory(g), ==, early);
        grammar_free(g);
    }
}

static void test_great_repeats(void)
{
    WendGrammar *g = grammar_new();
    const guint64 many = G_GUINT64_CONSTANT(1) << 62;
    for (guint i = 0; i < 3; i++)
        g_assert_true(grammar_append(g, 1, many));
    g_assert_false(grammar_append(g, 1, many)); /* more than 64 bits can count */
    g_assert_true(grammar_append(g, 0x7fffffff, 1));
    g_assert_true(grammar_append(g, 2, 0));
    g_assert_cmpuint(grammar_length(g), ==, 3 * many + 1);
    WendBuf b = encode(g);
    Decoded d = decode(&b);
    g_assert_cmpuint(d.symbols->len, ==, 2);
    g_assert_cmpuint(SYMBOL(&d, 0).exp, ==, 3 * many);
    g_assert_cmpuint(SYMBOL(&d, 1).id, ==, 0x7fffffff);
    decoded_clear(&d);
    buf_clear(&b);
    grammar_free(g);
}

static guint blocks;
static void *counted(void *p, size_t old, size_t n) /* a WendResize */
{
    if (n == 0) {
        blocks -= p != NULL;
        g_free(p);
        return NULL;
    }
    blocks += !p;
    void *q = g_malloc(n); /* never where it was, and not zero */
    memset(q, 0xee, n);
    if (p)
        memcpy(q, p, MIN(old, n));
    g_free(p);
    return q;
}

/* What is written with a tail is what would be written had it been appended; with other memory too,
 * all of which comes back. The grammar stays. */
static void test_tail(void)
{
    GRand *rand = g_rand_new_with_seed(21);
    for (guint round = 0; round < 2000; round++) {
        WendGrammar *g = round % 2 ? grammar_new() : grammar_new_deferring(),
                    *whole = grammar_new();
        guint n = g_rand_int_range(rand, 0, round % 8 ? 60 : 300),
              loop = g_rand_int_range(rand, 1, 5);
        for (guint i = 0; i < n; i++) {
            guint32 terminal =
                g_rand_int_range(rand, 0, 6) ? i % loop : (guint32)g_rand_int_range(rand, 0, 3);
            grammar_append(g, terminal, 1);
            grammar_append(whole, terminal, 1);
        }
        guint64 times[3];
        WendTail tail = {5, g_rand_int_range(rand, 0, 4), times};
        for (guint i = 0; i < tail.n; i++) {
            times[i] = g_rand_int_range(rand, 1, 4);
            grammar_append(whole, 5 + i, times[i]);
        }
        WendBuf before = encode(g), expected = encode(whole), own = {.resize = counted};
        grammar_encode(g, &tail, &own);
        assert_equal(&own, &expected);
        WendBuf after = encode(g);
        assert_equal(&before, &after);
        g_assert_cmpuint(grammar_length(g), ==, n);
        buf_clear(&own);
        g_assert_cmpuint(blocks, ==, 0);
        buf_clear(&before);
        buf_clear(&after);
        buf_clear(&expected);
        grammar_free(g);
        grammar_free(whole);
    }
    g_rand_free(rand);
}

static void test_empty(void)
{
    WendGrammar *g = grammar_new();
    WendBuf b = encode(g);
    g_assert_cmpmem(b.data, b.len, "\1", 2); /* one rule of no symbols */
    buf_clear(&b);
    grammar_free(g);
    grammar_free(NULL);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/grammar/empty", test_empty);
    g_test_add_func("/grammar/all-short", test_all_short);
    g_test_add_func("/grammar/random", test_random);
    g_test_add_func("/grammar/programs", test_programs);
    g_test_add_func("/grammar/fibonacci", test_fibonacci);
    g_test_add_func("/grammar/loops", test_shapes_of_loops);
    g_test_add_func("/grammar/memory", test_memory);
    g_test_add_func("/grammar/tail", test_tail);
    g_test_add_func("/grammar/great-repeats", test_great_repeats);
    return g_test_run();
}
