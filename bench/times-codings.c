/* SPDX-License-Identifier: BSD-3-Clause */
/* times-codings.c: see times-codings.h. */
#include "config.h"

#include "times-codings.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#include "../lib/base/coder.h"
#include "../lib/record/grammar.h"
#include "../lib/record/rules.h"

#ifdef HAVE_ZFP
#include <zfp.h>
#endif

double times_tick = 1e-9;

typedef enum { DURATION, INTERVAL } Which;

static gint64 *value_of(WendTimedCall *call, Which which)
{
    return which == DURATION ? &call->duration : &call->interval;
}

static gint64 value_at(const WendTimedCall *calls, gsize i, Which which)
{
    return which == DURATION ? calls[i].duration : calls[i].interval;
}

/* -- exponential bins: bin 0 has 0, bin 1 + i the times from (1 + e)^i on -- */

static guint bin_of(gint64 ticks, guint percent)
{
    return ticks <= 0 ? 0 : 1 + (guint)floor(log((double)ticks) / log1p(percent / 100.0) + 1e-9);
}

/* The middle of a bin. */
static gint64 middle_of(guint bin, guint percent)
{
    double base = 1 + percent / 100.0;
    return bin == 0 ? 0 : (gint64)floor(pow(base, bin - 1) * (1 + base) / 2 + 0.5);
}

typedef struct {
    guint percent;
    gboolean begun[2]; /* the table of bins is written */
    guint bins[2][256], n_bins[2];
    gint64 before[2];
} State;

static void init(void *learned, unsigned percent)
{
    memset(learned, 0, sizeof(State));
    ((State *)learned)->percent = percent;
}

/* -- cfg -- */

static void cfg_encode_one(State *s, const WendTimedCall *calls, gsize n, Which which, WendBuf *out)
{
    WendGrammar *g = grammar_new();
    for (gsize i = 0; i < n; i++)
        grammar_append(g, bin_of(value_at(calls, i, which), s->percent), 1);
    grammar_end(g, out);
}

static void cfg_encode(void *learned, const WendTimedCall *calls, gsize n, WendBuf *durations,
                       WendBuf *intervals)
{
    cfg_encode_one(learned, calls, n, DURATION, durations);
    cfg_encode_one(learned, calls, n, INTERVAL, intervals);
}

static gboolean cfg_decode_one(State *s, WendTimedCall *calls, gsize n, Which which, WendCursor *c)
{
    RuleRow row = {0};
    guint64 length;
    gsize i = 0;
    gboolean good =
        rules_read(&row, c, 1 << 20, RULES_PLAIN) && rules_length(&row, &length) && length == n;
    if (good) {
        Expansion e = rules_expand(&row);
        for (; e.run > 0; expansion_advance(&e, 1))
            *value_of(&calls[i++], which) = middle_of(e.terminal, s->percent);
        expansion_clear(&e);
    }
    rules_clear(&row);
    return good;
}

static bool cfg_decode(void *learned, WendTimedCall *calls, gsize n, WendCursor *durations,
                       WendCursor *intervals)
{
    return cfg_decode_one(learned, calls, n, DURATION, durations)
           && cfg_decode_one(learned, calls, n, INTERVAL, intervals);
}

const WendDurationCoding times_cfg = {"cfg", true, sizeof(State), init, cfg_encode, cfg_decode};

/* -- hist -- */

typedef struct {
    WendBuf *out;
    WendCursor *in;
    guint8 byte;
    guint n; /* bits of it */
} Bits;

static void put_bits(Bits *b, guint64 bits, guint n)
{
    while (n-- > 0) {
        b->byte = (guint8)(b->byte << 1 | (bits >> n & 1));
        if (++b->n == 8) {
            buf_bytes(b->out, &b->byte, 1);
            b->n = 0;
        }
    }
}

static guint64 get_bits(Bits *b, guint n)
{
    guint64 bits = 0;
    while (n-- > 0) {
        if (b->n == 0) {
            const guint8 *byte = cursor_bytes(b->in, 1);
            b->byte = byte ? *byte : 0;
            b->n = 8;
        }
        bits = bits << 1 | (b->byte >> --b->n & 1);
    }
    return bits;
}

/* Chooses the most frequent bins of the first samples. */
static void hist_begin(State *s, const WendTimedCall *calls, gsize n, Which which, guint most)
{
    enum { SAMPLES = 100 };
    guint bins[SAMPLES], counts[SAMPLES], different = 0;
    for (gsize i = 0; i < MIN(n, SAMPLES); i++) {
        guint bin = bin_of(value_at(calls, i, which), s->percent), k = 0;
        while (k < different && bins[k] != bin)
            k++;
        if (k == different) {
            bins[different] = bin;
            counts[different++] = 0;
        }
        counts[k]++;
    }
    while (s->n_bins[which] < MIN(most, different)) {
        guint best = 0;
        for (guint k = 1; k < different; k++)
            if (counts[k] > counts[best])
                best = k;
        counts[best] = 0;
        s->bins[which][s->n_bins[which]++] = bins[best];
    }
}

static void hist_encode_one(State *s, const WendTimedCall *calls, gsize n, Which which, guint k,
                            WendBuf *out)
{
    if (!s->begun[which]) {
        s->begun[which] = TRUE;
        hist_begin(s, calls, n, which, 1u << k);
        buf_unsigned(out, s->n_bins[which]);
        for (guint i = 0; i < s->n_bins[which]; i++)
            buf_unsigned(out, s->bins[which][i]);
    }
    Bits b = {.out = out};
    for (gsize i = 0; i < n; i++) {
        gint64 value = value_at(calls, i, which);
        guint bin = bin_of(value, s->percent), at = 0;
        while (at < s->n_bins[which] && s->bins[which][at] != bin)
            at++;
        put_bits(&b, at == s->n_bins[which], 1);
        if (at < s->n_bins[which])
            put_bits(&b, at, k);
        else
            put_bits(&b, (guint64)value, 64);
    }
    while (b.n > 0)
        put_bits(&b, 0, 1);
}

static gboolean hist_decode_one(State *s, WendTimedCall *calls, gsize n, Which which, guint k,
                                WendCursor *c)
{
    if (!s->begun[which]) {
        s->begun[which] = TRUE;
        s->n_bins[which] = (guint)cursor_count(c, 1);
        if (s->n_bins[which] > 1u << k)
            return FALSE;
        for (guint i = 0; i < s->n_bins[which]; i++)
            s->bins[which][i] = (guint)cursor_unsigned(c);
    }
    Bits b = {.in = c};
    for (gsize i = 0; i < n && !c->failed; i++) {
        guint64 at = get_bits(&b, 1) ? 1u << k : get_bits(&b, k);
        if (at < s->n_bins[which])
            *value_of(&calls[i], which) = middle_of(s->bins[which][at], s->percent);
        else
            *value_of(&calls[i], which) = (gint64)get_bits(&b, 64);
    }
    return !c->failed;
}

#define HIST(k)                                                                      \
    static void hist##k##_encode(void *learned, const WendTimedCall *calls, gsize n, \
                                 WendBuf *durations, WendBuf *intervals)             \
    {                                                                                \
        hist_encode_one(learned, calls, n, DURATION, k, durations);                  \
        hist_encode_one(learned, calls, n, INTERVAL, k, intervals);                  \
    }                                                                                \
    static bool hist##k##_decode(void *learned, WendTimedCall *calls, gsize n,       \
                                 WendCursor *durations, WendCursor *intervals)       \
    {                                                                                \
        return hist_decode_one(learned, calls, n, DURATION, k, durations)            \
               && hist_decode_one(learned, calls, n, INTERVAL, k, intervals);        \
    }                                                                                \
    const WendDurationCoding times_hist##k = {                                       \
        "hist, K = " #k, true, sizeof(State), init, hist##k##_encode, hist##k##_decode}
HIST(3);
HIST(8);

/* -- sz -- */

static double step_of(const State *s)
{
    return 2 * log1p(s->percent / 100.0) * (1 - 1e-6);
}

/* The quantized logarithm, so that the difference is one of whole steps. 0 ticks are apart. */
static gint64 quantize(const State *s, gint64 ticks)
{
    return ticks <= 0 ? 0 : 1 + (gint64)floor(log((double)ticks) / step_of(s) + 0.5);
}

static void sz_encode_one(State *s, const WendTimedCall *calls, gsize n, Which which, WendBuf *out)
{
    g_autofree guint64 *numbers = g_new(guint64, n + 1);
    for (gsize i = 0; i < n; i++) {
        gint64 q = quantize(s, value_at(calls, i, which));
        numbers[i] = buf_zigzag(q - s->before[which]);
        s->before[which] = q;
    }
    coder_encode(numbers, n, 1 << 16, out);
}

static gboolean sz_decode_one(State *s, WendTimedCall *calls, gsize n, Which which, WendCursor *c)
{
    g_autofree guint64 *numbers = g_new(guint64, n + 1);
    if (!coder_decode(numbers, n, 1 << 16, c))
        return FALSE;
    for (gsize i = 0; i < n; i++) {
        gint64 q = s->before[which] += buf_unzigzag(numbers[i]);
        *value_of(&calls[i], which) =
            q <= 0 ? 0 : (gint64)floor(exp((double)(q - 1) * step_of(s)) + 0.5);
    }
    return TRUE;
}

static void sz_encode(void *learned, const WendTimedCall *calls, gsize n, WendBuf *durations,
                      WendBuf *intervals)
{
    sz_encode_one(learned, calls, n, DURATION, durations);
    sz_encode_one(learned, calls, n, INTERVAL, intervals);
}

static bool sz_decode(void *learned, WendTimedCall *calls, gsize n, WendCursor *durations,
                      WendCursor *intervals)
{
    return sz_decode_one(learned, calls, n, DURATION, durations)
           && sz_decode_one(learned, calls, n, INTERVAL, intervals);
}

const WendDurationCoding times_sz = {"sz", true, sizeof(State), init, sz_encode, sz_decode};

/* -- zfp -- */

#ifdef HAVE_ZFP
static zfp_stream *zfp_new(void *data, gsize size, double error)
{
    zfp_stream *z = zfp_stream_open(NULL);
    zfp_stream_set_accuracy(z, error);
    zfp_stream_set_bit_stream(z, stream_open(data, size));
    zfp_stream_rewind(z);
    return z;
}

static void zfp_end(zfp_stream *z)
{
    stream_close(zfp_stream_bit_stream(z));
    zfp_stream_close(z);
}

static void zfp_encode_one(const WendTimedCall *calls, gsize n, Which which, double error,
                           WendBuf *out)
{
    g_autofree double *seconds = g_new(double, n + 1);
    for (gsize i = 0; i < n; i++)
        seconds[i] = (double)value_at(calls, i, which) * times_tick;
    zfp_field *field = zfp_field_1d(seconds, zfp_type_double, n);
    gsize room = 16 * n + 1024;
    g_autofree guint8 *bytes = g_malloc(room);
    zfp_stream *z = zfp_new(bytes, room, error);
    buf_bytes(out, bytes, zfp_compress(z, field));
    zfp_end(z);
    zfp_field_free(field);
}

static gboolean zfp_decode_one(WendTimedCall *calls, gsize n, Which which, double error,
                               WendCursor *c)
{
    /* zfp reads whole words, and behind the end of damaged data */
    gsize left = (gsize)(c->end - c->p), room = left + 16 * n + 1024;
    g_autofree double *seconds = g_new(double, n + 1);
    g_autofree guint8 *bytes = g_malloc0(room);
    memcpy(bytes, cursor_bytes(c, left), left);
    zfp_field *field = zfp_field_1d(seconds, zfp_type_double, n);
    zfp_stream *z = zfp_new(bytes, room, error);
    gboolean good = zfp_decompress(z, field) != 0;
    for (gsize i = 0; good && i < n; i++)
        *value_of(&calls[i], which) = (gint64)floor(seconds[i] / times_tick + 0.5);
    zfp_end(z);
    zfp_field_free(field);
    return good;
}

#define ZFP(kind, name, error, interval_error)                                          \
    static void zfp_##kind##_encode(void *learned, const WendTimedCall *calls, gsize n, \
                                    WendBuf *durations, WendBuf *intervals)             \
    {                                                                                   \
        (void)learned;                                                                  \
        zfp_encode_one(calls, n, DURATION, error, durations);                           \
        zfp_encode_one(calls, n, INTERVAL, interval_error, intervals);                  \
    }                                                                                   \
    static bool zfp_##kind##_decode(void *learned, WendTimedCall *calls, gsize n,       \
                                    WendCursor *durations, WendCursor *intervals)       \
    {                                                                                   \
        (void)learned;                                                                  \
        return zfp_decode_one(calls, n, DURATION, error, durations)                     \
               && zfp_decode_one(calls, n, INTERVAL, interval_error, intervals);        \
    }                                                                                   \
    const WendDurationCoding times_zfp_##kind = {                                       \
        name, true, sizeof(State), init, zfp_##kind##_encode, zfp_##kind##_decode}
ZFP(tight, "zfp, 10 us/10 us", 1e-5, 1e-5);
ZFP(loose, "zfp, 1 ms/10 ms", 1e-3, 1e-2);
#endif

/* -- clustered -- */

static int by_place(gconstpointer a, gconstpointer b, gpointer calls)
{
    gsize i = *(const gsize *)a, k = *(const gsize *)b;
    guint32 x = ((const WendTimedCall *)calls)[i].place,
            y = ((const WendTimedCall *)calls)[k].place;
    return x != y ? (x > y) - (x < y) : (i > k) - (i < k);
}

/* The calls in the order of their clusters. */
static gsize *clustered(const WendTimedCall *calls, gsize n)
{
    gsize *order = g_new(gsize, n + 1);
    for (gsize i = 0; i < n; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)n, sizeof *order, by_place, (gpointer)calls);
    return order;
}

void times_encode_clustered(const WendDurationCoding *coding, void *learned,
                            const WendTimedCall *calls, gsize n, WendBuf *durations,
                            WendBuf *intervals)
{
    g_autofree gsize *order = clustered(calls, n);
    g_autofree WendTimedCall *sorted = g_new(WendTimedCall, n + 1);
    for (gsize i = 0; i < n; i++)
        sorted[i] = calls[order[i]];
    coding->encode(learned, sorted, n, durations, intervals);
}

bool times_decode_clustered(const WendDurationCoding *coding, void *learned, WendTimedCall *calls,
                            gsize n, WendCursor *durations, WendCursor *intervals)
{
    g_autofree gsize *order = clustered(calls, n);
    g_autofree WendTimedCall *sorted = g_new(WendTimedCall, n + 1);
    for (gsize i = 0; i < n; i++)
        sorted[i] = calls[order[i]];
    bool good = coding->decode(learned, sorted, n, durations, intervals);
    for (gsize i = 0; i < n; i++)
        calls[order[i]] = sorted[i];
    return good;
}
