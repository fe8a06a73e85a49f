/* series-bytes.c: rows of words as bytes (docs/format.md). */
#include <string.h>

#include "allowance.h"
#include "codec.h"
#include "series-private.h"

enum { FORM_RUN, FORM_GRAMMAR, FORM_PACKED, FORM_CHOSEN, FORM_WORDS, FORM_RICE, FORM_GEOMETRIC, FORM_TURNED };

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
        put_bits(&bits, wend_is_special(word) ? range + 1 + place_of(distinct, word) : (guint64)word - (guint64)least, width);
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
    for (guint i = 0; i < r->rules.n_rules; i++) rule_encode(&r->rules.rules[i], RULES_SHORT, out);
}

static void put_turned(const Turned *t, WendBuf *out)
{
    wend_buf_unsigned(out, t->block);
    wend_buf_unsigned(out, t->turn << 1 | (guint64)t->slope);
    wend_buf_signed(out, t->base);
}

void series_encode(const Series *s, WendBuf *out, const guint32 *constants)
{
    switch (s->form) {
    case OF_RUN:
        wend_buf_unsigned(out, FORM_RUN);
        put_word(out, s->run.value, constants);
        if (s->n > 1) wend_buf_signed(out, s->run.step);
        break;
    case OF_WORDS: encode_words(s, out, constants); break;
    case OF_RULES:
        wend_buf_unsigned(out, FORM_GRAMMAR);
        encode_grammar(s->ruled, out, constants);
        break;
    case OF_TURNED:
        wend_buf_unsigned(out, FORM_TURNED);
        put_turned(s->turned, out);
        break;
    }
}

static void put_geometric(WendBuf *out, const gint64 *words, guint64 n, Geometric g, const guint32 *constants)
{
    guint64 origin = geometric_origin(&g);
    wend_buf_unsigned(out, FORM_GEOMETRIC);
    wend_buf_unsigned(out, g.before << 1 | (g.falls ? 1 : 0));
    wend_buf_unsigned(out, g.count);
    wend_buf_signed(out, g.ratio);
    for (guint64 i = 0; i < n; i++)
        if (i == origin || i < g.before || i >= g.before + g.count) put_word(out, words[i], constants);
}

/* Words are looked at that are at most so many times a grammar's symbols. A stretch has so many words at least. */
enum { WORDS_PER_SYMBOL = 16, GEOMETRIC_LEAST = 4 };

/* The same words as PATTERN has them, in place of what is behind BEFORE, if that is shorter. */
static void put_pattern(const Series *pattern, WendBuf *out, gsize before)
{
    WendBuf told = WEND_BUF_INIT;
    series_encode(pattern, &told, NULL); /* which has no special word */
    wend_buf_shorten(out, before, &told);
}

/* Likewise, word by word or as a stretch and the words beside it. */
static void put_words(gint64 *words, guint64 n, gboolean ruled, WendBuf *out, gsize before, const guint32 *constants)
{
    WendBuf told = WEND_BUF_INIT;
    if (ruled && encode_words(&(Series){.n = n, .form = OF_WORDS, .words = words}, &told, constants) < BYTE_BITS * (guint64)(out->len - before)) {
        out->len = before;
        wend_buf_bytes(out, told.data, told.len);
    }
    out->failed |= told.failed;
    wend_buf_clear(&told);
    Geometric g = geometric_find(words, n);
    if (g.count < GEOMETRIC_LEAST || n - g.count >= out->len - before) return; /* each of the others takes a byte */
    put_geometric(&told, words, n, g, constants);
    wend_buf_shorten(out, before, &told);
}

void series_encode_shortest(const Series *s, WendBuf *out, const guint32 *constants)
{
    gsize before = out->len;
    Turned turned;
    series_encode(s, out, constants);
    if (s->form == OF_WORDS || s->form == OF_RULES) {
        if (turned_find(s, &turned)) {
            put_pattern(&(Series){.n = s->n, .form = OF_TURNED, .turned = &turned}, out, before);
        } else if (s->form == OF_WORDS) {
            put_words(s->words, s->n, FALSE, out, before, constants);
        } else if (s->n <= WORDS_PER_SYMBOL * (guint64)s->ruled->n_symbols) {
            g_autofree gint64 *words = series_words(s);
            put_words(words, s->n, TRUE, out, before, constants);
        }
    }
}

/* A row that an archive claims gets room for its words. FALSE: more than it may take, and C
 * fails. */
static gboolean make_words(Series *s, WendCursor *c)
{
    gint64 *words = allowance_block(c->allowance, s->n, sizeof(gint64));
    if (!words) {
        c->failed = true;
        return FALSE;
    }
    s->words = words;
    s->form = OF_WORDS;
    return TRUE;
}

static gint64 *get_specials(WendCursor *c, guint *n, const gint64 *constants, guint n_constants)
{
    *n = (guint)wend_read_count(c, 1);
    if (!allowance_take(c->allowance, *n, sizeof(gint64))) {
        c->failed = true;
        *n = 0;
    }
    gint64 *words = g_new(gint64, *n + 1);
    for (guint i = 0; i < *n; i++) {
        words[i] = get_word(c, constants, n_constants);
        if (!wend_is_special(words[i])) c->failed = true;
    }
    return words;
}

static void decode_grammar(Series *s, WendCursor *c, const gint64 *constants, guint n_constants)
{
    Ruled *r = series_make_ruled(s);
    guint64 said = wend_read_unsigned(c), n_differences = said >> 1;
    if (n_differences > (guint64)(c->end - c->p) ||
        !allowance_take(c->allowance, n_differences, sizeof(gint64))) {
        c->failed = true;
        return;
    }
    r->n_differences = (guint)n_differences;
    r->differences = g_new(gint64, r->n_differences + 1);
    for (guint i = 0; i < r->n_differences; i++) r->differences[i] = wend_read_signed(c);
    if (said & 1) r->specials = get_specials(c, &r->n_specials, constants, n_constants);
    guint32 n_terminals = 2 * MAX(r->n_differences, r->n_specials);
    if (c->failed || !rules_read(&r->rules, c, n_terminals, RULES_SHORT)) {
        c->failed = true;
        return;
    }
    for (guint i = 0; i < r->rules.n_rules; i++)
        for (guint k = 0; k < r->rules.rules[i].n; k++) {
            const WendSymbol *y = &r->rules.rules[i].symbols[k];
            if (!y->is_rule && y->id >> 1 >= (y->id & 1 ? r->n_specials : r->n_differences)) c->failed = true;
        }
    if (c->failed || !ruled_measure(r) || r->wraps || r->all[0].length != s->n) c->failed = true;
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
    if (!make_words(s, c)) return;
    for (guint64 i = 0, bit = 0; i < s->n; i++) {
        guint64 code = 0;
        for (guint k = 0; k < width; k++, bit++) code |= (guint64)(bytes[bit / 8] >> bit % 8 & 1) << k;
        if (code > range + n_specials) c->failed = true;
        else s->words[i] = code > range ? specials[code - range - 1] : series_sum(least, (gint64)code);
    }
}

static void decode_rice(Series *s, WendCursor *c)
{
    gint64 least = wend_read_signed(c);
    guint64 remainder = wend_read_unsigned(c), bit = 0, bits = 8 * (guint64)(c->end - c->p);
    if (c->failed || remainder > 63 || wend_is_special(least) || s->n > bits / (1 + remainder)) {
        c->failed = true;
        return;
    }
#define BIT(i) (c->p[(i) / 8] >> (i) % 8 & 1)
    if (!make_words(s, c)) return;
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
        s->words[i] = series_sum(least, (gint64)distance);
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
    for (guint i = n_specials; i < n_specials + n_ordinary; i++) words[i] = i == n_specials ? wend_read_signed(c) : series_sum(words[i - 1], (gint64)wend_read_unsigned(c));
    const guint8 *places = wend_read_bytes(c, s->n);
    if (!places) return;
    if (!make_words(s, c)) return;
    for (guint64 i = 0; i < s->n; i++)
        if (places[i] >= n_specials + n_ordinary) c->failed = true; else s->words[i] = words[places[i]];
}

static void decode_turned(Series *s, WendCursor *c)
{
    Turned t;
    t.block = wend_read_unsigned(c);
    guint64 turn = wend_read_unsigned(c);
    t.turn = turn >> 1;
    t.slope = turn & 1;
    t.base = wend_read_signed(c);
    if (c->failed || !turned_in_range(&t, s->n)) {
        c->failed = true;
        return;
    }
    s->turned = g_memdup2(&t, sizeof t);
    s->form = OF_TURNED;
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
    guint64 origin = geometric_origin(&g);
    if (!make_words(s, c)) return;
    for (guint64 i = 0; i < s->n; i++)
        s->words[i] = i == origin || i < g.before || i >= g.before + g.count ? get_word(c, constants, n_constants) : 0;
    for (guint64 k = 1; k < g.count && !c->failed; k++) {
        guint64 to = g.falls ? origin - k : origin + k;
        c->failed = !geometric_next(s->words[g.falls ? to + 1 : to - 1], g.ratio, &s->words[to]);
    }
}

static gboolean whole_run(const Series *s)
{
    if (s->run.step == 0) return TRUE;
    __extension__ __int128 last = s->run.value + (__int128)s->run.step * (s->n - 1); /* what it spans may need 65 bits */
    return !wend_is_special(s->run.value) && last >= WEND_SPECIAL_BASE && last <= G_MAXINT64;
}

void series_builder_encode(SeriesBuilder *b, WendBuf *out, const guint32 *constants)
{
    g_autoptr(Series) s = series_builder_end(b);
    if (s) series_encode_shortest(s, out, constants);
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
    case FORM_GRAMMAR: decode_grammar(s, c, constants, n_constants); break;
    case FORM_PACKED: decode_packed(s, c, constants, n_constants); break;
    case FORM_CHOSEN: decode_chosen(s, c, constants, n_constants); break;
    case FORM_RICE: decode_rice(s, c); break;
    case FORM_TURNED: decode_turned(s, c); break;
    case FORM_GEOMETRIC: decode_geometric(s, c, constants, n_constants); break;
    case FORM_WORDS:
        if (n > (guint64)(c->end - c->p)) {
            c->failed = true;
            break;
        }
        if (!make_words(s, c)) break;
        for (guint64 i = 0; i < n; i++) s->words[i] = get_word(c, constants, n_constants);
        break;
    default: c->failed = true;
    }
    return c->failed ? NULL : g_steal_pointer(&s);
}
