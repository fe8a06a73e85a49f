/* SPDX-License-Identifier: BSD-3-Clause */
/* hosts.c: see hosts.h. */
#include "hosts.h"

#include <string.h>

#include "ranks/rankset.h"
#include "record/codec.h"

enum { DIGITS_MAX = 9 };

/* Names of the form BEFORE number AFTER. WIDTH is the number of digits if there are leading zeros,
 * else 0. Without numbers the name is BEFORE. */
typedef struct {
    char *before, *after;
    guint width;
    RankSet numbers;
} HostGroup;

struct Hosts {
    GArray *groups; /* sorted */
};

static void group_clear(gpointer p)
{
    HostGroup *g = p;
    g_free(g->before);
    g_free(g->after);
    rankset_clear(&g->numbers);
}

Hosts *hosts_new(void)
{
    Hosts *h = g_new(Hosts, 1);
    h->groups = g_array_new(FALSE, FALSE, sizeof(HostGroup));
    g_array_set_clear_func(h->groups, group_clear);
    return h;
}

void hosts_free(Hosts *h)
{
    if (!h)
        return;
    g_array_unref(h->groups);
    g_free(h);
}

static gint compare(const HostGroup *a, const HostGroup *b)
{
    gint order = strcmp(a->before, b->before);
    if (order == 0)
        order = strcmp(a->after, b->after);
    if (order == 0)
        order = (a->numbers.n > 0) - (b->numbers.n > 0);
    return order ? order : (gint)a->width - (gint)b->width;
}

/* Adds ONE, and takes its memory. */
static void add_group(Hosts *h, HostGroup *one)
{
    guint low = 0, high = h->groups->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (compare(&g_array_index(h->groups, HostGroup, middle), one) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    HostGroup *known = low < h->groups->len ? &g_array_index(h->groups, HostGroup, low) : NULL;
    if (!known || compare(known, one) != 0) {
        g_array_insert_val(h->groups, low, *one);
        return;
    }
    rankset_include(&known->numbers, &one->numbers);
    group_clear(one);
}

/* Finds the last number in the part of the name before the first dot. */
static HostGroup split(const char *name)
{
    gsize end = strcspn(name, "."), begin;
    gboolean plain = strpbrk(name, "[],;/") == NULL;
    while (end > 0 && !g_ascii_isdigit(name[end - 1]))
        end--;
    for (begin = end; begin > 0 && g_ascii_isdigit(name[begin - 1]);)
        begin--;
    if (!plain || begin == end || end - begin > DIGITS_MAX)
        return (HostGroup){.before = g_strdup(name), .after = g_strdup("")};
    g_autofree char *digits = g_strndup(name + begin, end - begin);
    return (HostGroup){g_strndup(name, begin), g_strdup(name + end),
                       digits[0] == '0' && digits[1] ? (guint)(end - begin) : 0,
                       rankset_single((guint32)g_ascii_strtoull(digits, NULL, 10))};
}

void hosts_add(Hosts *h, const char *name)
{
    HostGroup one = split(name);
    add_group(h, &one);
}

void hosts_include(Hosts *h, const Hosts *other)
{
    for (guint i = 0; i < other->groups->len; i++) {
        const HostGroup *g = &g_array_index(other->groups, HostGroup, i);
        HostGroup copy = {g_strdup(g->before), g_strdup(g->after), g->width,
                          rankset_copy(&g->numbers)};
        add_group(h, &copy);
    }
}

/* -- as bytes and as text -- */

void hosts_encode(const Hosts *h, WendBuf *out)
{
    wend_buf_unsigned(out, h->groups->len);
    for (guint i = 0; i < h->groups->len; i++) {
        const HostGroup *g = &g_array_index(h->groups, HostGroup, i);
        wend_buf_string(out, g->before);
        wend_buf_string(out, g->after);
        wend_buf_unsigned(out, (guint64)g->width << 1 | (g->numbers.n > 0));
        if (g->numbers.n > 0)
            rankset_encode(&g->numbers, out);
    }
}

Hosts *hosts_decode(WendCursor *c)
{
    Hosts *h = hosts_new();
    gsize n = wend_cursor_count(c, 3);
    for (gsize i = 0; i < n && !c->failed; i++) {
        HostGroup g = {.before = codec_string(c), .after = codec_string(c)};
        guint64 form = wend_cursor_unsigned(c);
        g.width = (guint)(form >> 1);
        if (form >> 1 > DIGITS_MAX
            || ((form & 1) && !rankset_decode(&g.numbers, c, G_MAXUINT32 - 1)))
            c->failed = true;
        add_group(h, &g);
    }
    if (!c->failed)
        return h;
    hosts_free(h);
    return NULL;
}

static void add_numbers(GString *s, const HostGroup *g)
{
    for (guint32 i = 0; i < g->numbers.n;) {
        RankRun run = rankset_stretch(&g->numbers, i);
        g_string_append_printf(s, "%s%0*u", i ? "," : "", (int)g->width, run.first);
        if (run.count > 1)
            g_string_append_printf(s, "-%0*u", (int)g->width,
                                   run.first + (run.count - 1) * run.step);
        if (run.count > 1 && run.step > 1)
            g_string_append_printf(s, "/%u", run.step);
        i += run.count;
    }
}

char *hosts_text(const Hosts *h)
{
    GString *s = g_string_new("");
    for (guint i = 0; i < h->groups->len; i++) {
        const HostGroup *g = &g_array_index(h->groups, HostGroup, i);
        g_autofree char *before = g_strdelimit(g_strdup(g->before), ";", '_');
        g_string_append_printf(s, "%s%s", i ? ";" : "", before);
        if (g->numbers.n > 1)
            g_string_append_c(s, '[');
        add_numbers(s, g);
        if (g->numbers.n > 1)
            g_string_append_c(s, ']');
        g_string_append(s, g->after);
    }
    return g_string_free(s, s->len == 0);
}

static guint64 count_range(const char *range)
{
    char *end;
    guint64 first = g_ascii_strtoull(range, &end, 10), last = first, step = 1;
    if (*end == '-')
        last = g_ascii_strtoull(end + 1, &end, 10);
    if (*end == '/')
        step = g_ascii_strtoull(end + 1, &end, 10);
    return last < first || step == 0 ? 1 : (last - first) / step + 1;
}

guint64 hosts_count(const char *text)
{
    g_auto(GStrv) names = g_strsplit(text, ";", -1);
    guint64 n = 0;
    for (guint i = 0; names[i]; i++) {
        const char *open = strchr(names[i], '['), *close = open ? strchr(open, ']') : NULL;
        if (*names[i] == '\0')
            continue;
        if (!close) {
            n++;
            continue;
        }
        g_autofree char *inner = g_strndup(open + 1, (gsize)(close - open - 1));
        g_auto(GStrv) ranges = g_strsplit(inner, ",", -1);
        for (guint k = 0; ranges[k]; k++)
            n += count_range(ranges[k]);
    }
    return n;
}
