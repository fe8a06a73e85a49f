/* series-patterns.c: rows that an archive tells by what they are. */
#include <string.h>

#include "series-private.h"

/* -- turned blocks -- */

/* Word i goes up by TURN, or down by the rest of the block. */
SeriesRun turned_run(const Turned *t, guint64 index, guint64 n)
{
    guint64 in_block = index % t->block, wraps = t->block - t->turn, end = in_block < wraps ? wraps : t->block;
    gint64 away = in_block < wraps ? (gint64)t->turn : -(gint64)wraps;
    return (SeriesRun){series_sum(series_sum(t->base, away), series_multiple(t->slope, index)), t->slope, MIN(end - in_block, n - index)};
}

gboolean turned_in_range(const Turned *t, guint64 n)
{
    if (t->block > n || t->turn == 0 || t->turn >= t->block || (t->slope & 1) != t->slope) return FALSE;
    __extension__ __int128 least = (__int128)t->base - (__int128)t->block, most = (__int128)t->base + (__int128)t->block + (__int128)n;
    return least >= WEND_SPECIAL_BASE && most <= G_MAXINT64;
}

/* The words less SLOPE × i, from *AT on: goes on to the first that is not as the one there, which is returned. */
static gint64 level_at(const Series *s, gint64 slope, guint64 *at)
{
    gint64 level = series_difference(series_at(s, *at), series_multiple(slope, *at));
    while (*at < s->n) {
        SeriesRun run = series_run(s, *at);
        if (series_difference(run.value, series_multiple(slope, *at)) != level) break;
        *at += run.count > 1 && run.step == slope ? run.count : 1;
    }
    return level;
}

static gboolean turned_by(const Series *s, gint64 slope, Turned *t)
{
    guint64 wraps = 0, end;
    gint64 high = level_at(s, slope, &wraps), away;
    if (wraps == s->n) return FALSE;
    end = wraps;
    gint64 low = level_at(s, slope, &end);
    if (wend_is_special(high) || wend_is_special(low) || __builtin_sub_overflow(high, low, &away) || away <= 0 || (guint64)away != end || end == wraps) return FALSE;
    guint64 turn = end - wraps;
    *t = (Turned){series_difference(high, (gint64)turn), slope, end, turn};
    const Series candidate = {.n = s->n, .form = OF_TURNED, .turned = t};
    return turned_in_range(t, s->n) && series_equal(s, &candidate);
}

gboolean turned_find(const Series *s, Turned *t)
{
    return turned_by(s, 1, t) || turned_by(s, 0, t);
}

/* -- digits -- */

SeriesRun digits_run(const Digits *d, guint64 index)
{
    SeriesRun run = {d->base, d->digits[0].step, d->digits[0].count - index % d->digits[0].count};
    for (guint i = 0; i < d->n; index /= d->digits[i++].count) run.value = series_sum(run.value, series_multiple(d->digits[i].step, index % d->digits[i].count));
    return run;
}

gboolean digits_ascend(const Digits *d, gint64 most)
{
    gint64 last = d->base; /* words are known to be in range */
    for (guint i = 0; i < d->n; i++) {
        if (d->digits[i].step <= last - d->base) return FALSE;
        last += d->digits[i].step * (gint64)(d->digits[i].count - 1);
    }
    return d->base > 0 && last <= most;
}

gboolean digits_locate(const Digits *d, gint64 value, guint64 *index)
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

/* There are as many numbers as words, and no word is special or above the largest. */
gboolean digits_in_range(const Digits *d, guint64 n)
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

Digits *digits_new(gint64 base, const GArray *digits)
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
    Digit d = {2, series_difference(series_at(s, width), first)};
    if (width == 1) {
        SeriesRun run = series_run(s, 1);
        d.count = run.count > 1 && run.step == d.step ? 1 + run.count : 2;
    }
    while (d.count < s->n / width && series_at(s, d.count * width) == series_sum(first, series_multiple(d.step, d.count))) d.count++;
    return d;
}

Digits *digits_find(const Series *s)
{
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Digit));
    for (guint64 width = 1; width < s->n;) {
        if (s->n % width || s->n / width < 2) return NULL;
        Digit digit = digit_of(s, width);
        g_array_append_val(all, digit);
        width *= digit.count;
    }
    Digits *d = digits_new(series_at(s, 0), all);
    const Series candidate = {.n = s->n, .form = OF_DIGITS, .digits = d};
    if (!digits_in_range(d, s->n) || !series_equal(s, &candidate)) g_clear_pointer(&d, g_free);
    return d;
}

/* -- geometric stretches -- */

gboolean geometric_next(gint64 word, gint64 ratio, gint64 *product)
{
    return !wend_is_special(word) && !__builtin_mul_overflow(word, ratio, product) && !wend_is_special(*product);
}

/* What WHOLE is of PART, if that is more than a sign. */
static gboolean ratio_of(gint64 whole, gint64 part, gint64 *ratio)
{
    if (part == 0 || wend_is_special(part) || wend_is_special(whole) || whole % part) return FALSE;
    *ratio = whole / part; /* the least word is special: -1 overflows nothing */
    return *ratio < -1 || *ratio > 1;
}

Geometric geometric_find(const gint64 *words, guint64 n)
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
            if (!geometric_next(one, g.ratio, &product) || other != product) break;
        }
        g.count = end - i;
        if (g.count > best.count) best = g;
        end--; /* the last one may begin another */
    }
    return best;
}
