/* SPDX-License-Identifier: BSD-3-Clause */
/* tokens.c: see tokens.h. */
#include "config.h"

#include "tokens.h"

#include <string.h>

enum { MAX_TOKENS = 1 << 20, MOST_DIVISORS = 1 << 16 };

static gboolean has_period(const Hashed *h, guint64 at, guint64 period, guint64 n)
{
    return hashed_common(h, at, h, at + period, n - period) == n - period;
}

guint64 tokens_primitive(const Hashed *h, guint64 at, guint64 period, guint64 n)
{
    guint64 rest = period;
    for (guint64 q = 2; rest > 1; q++) {
        if (q > MOST_DIVISORS || q * q > rest)
            q = rest; /* prime, or treated as a prime number */
        if (rest % q != 0)
            continue;
        while (rest % q == 0)
            rest /= q;
        while (period % q == 0 && has_period(h, at, period / q, n))
            period /= q;
    }
    return period;
}

static Token *last_of(GArray *tokens)
{
    return tokens->len > 0 ? &g_array_index(tokens, Token, tokens->len - 1) : NULL;
}

/* Adds the loop that repeats the PERIOD calls from AT on at least twice. Earlier calls may belong
 * to it. */
static guint64 add_loop(const Hashed *h, GArray *tokens, guint64 at, guint64 period, guint64 from,
                        guint64 to)
{
    period = tokens_primitive(h, at, period, period);
    guint64 start = at - hashed_common_end(h, at, h, at + period, at - from);
    guint64 end = at + period + hashed_common(h, at, h, at + period, to - at - period);
    const Token *last;
    while ((last = last_of(tokens)) != NULL && last->at >= start)
        g_array_set_size(tokens, tokens->len - 1);
    if (last != NULL)
        start = MAX(start, last->at + last->period * last->times);
    Token loop = {start, period, (end - start) / period, hashed_part(h, start, period), 0};
    g_array_append_val(tokens, loop);
    return start + loop.period * loop.times;
}

GArray *tokens_of(const Hashed *h, guint64 from, guint64 to)
{
    GArray *tokens = g_array_new(FALSE, FALSE, sizeof(Token));
    for (guint64 at = from; at < to;) {
        HashedSymbol s;
        HashedPlace place = hashed_place(h, at);
        gboolean loop = FALSE;
        while (!loop && hashed_next_symbol(h, &place, &s))
            loop = s.times >= 2 && s.length <= (to - at) / 2;
        if (loop) {
            at = add_loop(h, tokens, at, s.length, from, to);
            continue;
        }
        if (tokens->len == MAX_TOKENS) {
            g_array_unref(tokens);
            return NULL;
        }
        Token call = {at, 1, 1, hashed_call(h, s.id), s.id};
        g_array_append_val(tokens, call);
        at++;
    }
    return tokens;
}

static gboolean same_hash(const Hash *a, const Hash *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

guint64 tokens_count(const Hashed *h, guint64 from, guint64 to, guint64 n, const Hash *first,
                     const Hash *block)
{
    g_autoptr(GArray) tokens = tokens_of(h, from, to);
    guint64 count = 0, next = from; /* the end of the calls counted so far */
    for (guint i = 0; tokens != NULL && i < tokens->len; i++) {
        const Token *t = &g_array_index(tokens, Token, i);
        if (t->at < next)
            continue;
        if (t->period > n) {
            count += t->times * tokens_count(h, t->at, t->at + t->period, n, first, block);
        } else if (t->times > 1) {
            count += t->period == n && same_hash(&t->hash, block) ? t->times : 0;
        } else if (n <= to - t->at && same_hash(&t->hash, first)) {
            Hash here = hashed_part(h, t->at, n);
            if (!same_hash(&here, block))
                continue;
            count++;
            next = t->at + n;
        }
    }
    return count;
}
