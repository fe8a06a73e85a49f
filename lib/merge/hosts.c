/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c: see hosts.h. */
#include "hosts.h"

#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "base/lower-bound.h"
#include "ranks/rankset.h"
#include "record/codec.h"
#include "base/identifier.h"

enum { DIGITS_MAX = 9 };

/* Names of the form BEFORE number AFTER. WIDTH is the number of digits if there are leading zeros,
 * else 0. Without numbers the name is BEFORE. */
typedef struct {
    char *before, *after;
    uint32_t width;
    RankSet numbers;
} HostGroup;

struct Hosts {
    Vector *groups; /* sorted */
};

static void group_clear(void *p)
{
    HostGroup *g = p;
    memory_free(g->before);
    memory_free(g->after);
    rankset_clear(&g->numbers);
}

Hosts *hosts_new(void)
{
    Hosts *h = NEW(Hosts, 1);
    h->groups = vector_new(sizeof(HostGroup));
    vector_set_clear(h->groups, group_clear);
    return h;
}

void hosts_free(Hosts *h)
{
    if (!h)
        return;
    vector_unref(h->groups);
    memory_free(h);
}

static int compare(const HostGroup *a, const HostGroup *b)
{
    int order = strcmp(a->before, b->before);
    if (order == 0)
        order = strcmp(a->after, b->after);
    if (order == 0)
        order = (a->numbers.n > 0) - (b->numbers.n > 0);
    return order ? order : (int)a->width - (int)b->width;
}

/* Adds ONE, and takes its memory. */
static void add_group(Hosts *h, HostGroup *one)
{
    uint32_t low =
        LOWER_BOUND(i, h->groups->len, compare(&VECTOR_AT(h->groups, HostGroup, i), one) < 0);
    HostGroup *known = low < h->groups->len ? &VECTOR_AT(h->groups, HostGroup, low) : NULL;
    if (!known || compare(known, one) != 0) {
        VECTOR_INSERT(h->groups, low, *one);
        return;
    }
    rankset_include(&known->numbers, &one->numbers);
    group_clear(one);
}

/* Finds the last number in the part of the name before the first dot. */
static HostGroup split(const char *name)
{
    size_t end = strcspn(name, "."), begin;
    bool plain = !strpbrk(name, "[],;/");
    while (end > 0 && !identifier_digit(name[end - 1]))
        end--;
    for (begin = end; begin > 0 && identifier_digit(name[begin - 1]);)
        begin--;
    if (!plain || begin == end || end - begin > DIGITS_MAX)
        return (HostGroup){.before = string_copy(name), .after = string_copy("")};
    AUTOFREE char *digits = string_part(name + begin, end - begin);
    return (HostGroup){string_part(name, begin), string_copy(name + end),
                       digits[0] == '0' && digits[1] ? (uint32_t)(end - begin) : 0,
                       rankset_single((uint32_t)strtoull(digits, NULL, 10))};
}

void hosts_add(Hosts *h, const char *name)
{
    HostGroup one = split(name);
    add_group(h, &one);
}

void hosts_include(Hosts *h, const Hosts *other)
{
    for (uint32_t i = 0; i < other->groups->len; i++) {
        const HostGroup *g = &VECTOR_AT(other->groups, HostGroup, i);
        HostGroup copy = {string_copy(g->before), string_copy(g->after), g->width,
                          rankset_copy(&g->numbers)};
        add_group(h, &copy);
    }
}

/* -- as bytes and as text -- */

void hosts_encode(const Hosts *h, WendBuf *out)
{
    buf_unsigned(out, h->groups->len);
    for (uint32_t i = 0; i < h->groups->len; i++) {
        const HostGroup *g = &VECTOR_AT(h->groups, HostGroup, i);
        buf_string(out, g->before);
        buf_string(out, g->after);
        buf_unsigned(out, (uint64_t)g->width << 1 | (g->numbers.n > 0));
        if (g->numbers.n > 0)
            rankset_encode(&g->numbers, out);
    }
}

Hosts *hosts_decode(WendCursor *c)
{
    Hosts *h = hosts_new();
    size_t n = cursor_count(c, 3);
    for (size_t i = 0; i < n && !c->failed; i++) {
        HostGroup g = {.before = codec_string(c), .after = codec_string(c)};
        uint64_t form = cursor_unsigned(c);
        g.width = (uint32_t)(form >> 1);
        if (form >> 1 > DIGITS_MAX
            || ((form & 1) && !rankset_decode(&g.numbers, c, UINT32_MAX - 1)))
            c->failed = true;
        add_group(h, &g);
    }
    if (!c->failed)
        return h;
    hosts_free(h);
    return NULL;
}

static void add_numbers(WendBuf *s, const HostGroup *g)
{
    for (uint32_t i = 0; i < g->numbers.n;) {
        RankRun run = rankset_stretch(&g->numbers, i);
        string_add(s, "%s%0*u", i ? "," : "", (int)g->width, run.first);
        if (run.count > 1)
            string_add(s, "-%0*u", (int)g->width, run.first + (run.count - 1) * run.step);
        if (run.count > 1 && run.step > 1)
            string_add(s, "/%u", run.step);
        i += run.count;
    }
}

char *hosts_text(const Hosts *h)
{
    WendBuf s = WEND_BUF_INIT;
    for (uint32_t i = 0; i < h->groups->len; i++) {
        const HostGroup *g = &VECTOR_AT(h->groups, HostGroup, i);
        AUTOFREE char *before = string_replace(string_copy(g->before), ";", '_');
        string_add(&s, "%s%s", i ? ";" : "", before);
        string_add(&s, g->numbers.n > 1 ? "[" : "");
        add_numbers(&s, g);
        string_add(&s, "%s%s", g->numbers.n > 1 ? "]" : "", g->after);
    }
    return s.len > 0 ? string_take(&s) : NULL;
}

static uint64_t count_range(const char *range)
{
    char *end;
    uint64_t first = strtoull(range, &end, 10), last = first, step = 1;
    if (*end == '-')
        last = strtoull(end + 1, &end, 10);
    if (*end == '/')
        step = strtoull(end + 1, &end, 10);
    return last < first || step == 0 ? 1 : (last - first) / step + 1;
}

uint64_t hosts_count(const char *text)
{
    AUTO(Vector) names = string_split(text, ';');
    uint64_t n = 0;
    for (uint32_t i = 0; i < names->len; i++) {
        const char *name = VECTOR_POINTER(names, i);
        const char *open = strchr(name, '['), *close = open ? strchr(open, ']') : NULL;
        if (*name == '\0')
            continue;
        if (!close) {
            n++;
            continue;
        }
        AUTOFREE char *inner = string_part(open + 1, (size_t)(close - open - 1));
        AUTO(Vector) ranges = string_split(inner, ',');
        for (uint32_t k = 0; k < ranges->len; k++)
            n += count_range(VECTOR_POINTER(ranges, k));
    }
    return n;
}
