/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: strings, numbers in them, and errors. See glib.h. */
#include "glib.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/shortage.h"

char *g_strndup(const char *s, gsize n)
{
    gsize len = strnlen(s, n);
    char *copy = heap_new(len + 1);
    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *g_strdup(const char *s)
{
    return s ? g_strndup(s, strlen(s)) : NULL;
}

char *g_strconcat(const char *first, ...)
{
    GString *all = g_string_new(first);
    va_list args;
    va_start(args, first);
    for (const char *s; (s = va_arg(args, const char *));)
        g_string_append(all, s);
    va_end(args);
    return g_string_free(all, FALSE);
}

static char *print(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (n < 0)
        wend_shortage();
    char *text = heap_new((gsize)n + 1);
    vsnprintf(text, (gsize)n + 1, format, args);
    return text;
}

char *g_strdup_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = print(format, args);
    va_end(args);
    return text;
}

char *g_build_filename(const char *a, const char *b, gpointer end)
{
    gsize n = strlen(a);
    (void)end;
    while (n > 1 && a[n - 1] == '/')
        n--;
    while (n > 0 && *b == '/')
        b++;
    return g_strdup_printf("%.*s%s%s", (int)n, a, n > 0 && a[n - 1] != '/' ? "/" : "", b);
}

/* The length of PATH without slashes at its end. */
static gsize path_length(const char *path)
{
    gsize n = strlen(path);
    while (n > 1 && path[n - 1] == '/')
        n--;
    return n;
}

char *g_path_get_dirname(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return g_strdup(".");
    g_autofree char *before = g_strndup(path, (gsize)(slash - path));
    return *before ? g_strndup(before, path_length(before)) : g_strdup("/");
}

char *g_path_get_basename(const char *path)
{
    gsize n = path_length(path), first = n;
    while (first > 0 && path[first - 1] != '/')
        first--;
    return n == 0 ? g_strdup(".") : first == n ? g_strdup("/") : g_strndup(path + first, n - first);
}

char *g_strdelimit(char *s, const char *which, char by)
{
    for (char *p = s; *p; p++)
        if (strchr(which, *p))
            *p = by;
    return s;
}

static gboolean is_space(char c)
{
    return c && strchr(" \t\n\f\r", c);
}

char *g_strstrip(char *s)
{
    gsize n = strlen(s), first = 0;
    while (n > 0 && is_space(s[n - 1]))
        n--;
    s[n] = '\0';
    while (is_space(s[first]))
        first++;
    return memmove(s, s + first, strlen(s + first) + 1);
}

gboolean g_str_has_prefix(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

const char *g_strerror(int number)
{
    return strerror(number);
}

char **g_strsplit(const char *s, const char *by, gint most)
{
    (void)most; /* no caller limits the parts */
    GPtrArray *all = g_ptr_array_new();
    for (const char *p = s, *end; *s && p; p = end ? end + strlen(by) : NULL) {
        end = strstr(p, by);
        g_ptr_array_add(all, end ? g_strndup(p, (gsize)(end - p)) : g_strdup(p));
    }
    g_ptr_array_add(all, NULL);
    char **texts = (char **)g_ptr_array_steal(all, NULL);
    g_ptr_array_unref(all);
    return texts;
}

guint g_strv_length(char **all)
{
    guint n = 0;
    while (all[n])
        n++;
    return n;
}

void g_strfreev(char **all)
{
    for (guint i = 0; all && all[i]; i++)
        heap_free(all[i]);
    heap_free(all);
}

/* The number of bytes of the UTF-8 character at P; 0 if there is none (RFC 3629). */
static gsize character(const guchar *p)
{
    gsize n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;
    for (gsize i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    gboolean longer = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xf0 && p[1] < 0x90);
    gboolean surrogate = *p == 0xed && p[1] > 0x9f, beyond = *p == 0xf4 && p[1] > 0x8f;
    return longer || surrogate || beyond ? 0 : n;
}

char *g_utf8_make_valid(const char *s, gssize n)
{
    (void)n; /* always -1 */
    GString *valid = g_string_new("");
    for (const char *p = s; *p;) {
        gsize bytes = character((const guchar *)p);
        if (bytes)
            g_string_append_len(valid, p, (gssize)bytes);
        else
            g_string_append(valid, "\xef\xbf\xbd");
        p += bytes ? bytes : 1;
    }
    return g_string_free(valid, FALSE);
}

/* -- numbers -- */

double g_ascii_strtod(const char *s, char **end)
{
    /* newlocale allocates nothing for this locale */
    return strtod_l(s, end, newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

gint64 g_ascii_strtoll(const char *s, char **end, guint base)
{
    return strtoll(s, end, (int)base);
}

guint64 g_ascii_strtoull(const char *s, char **end, guint base)
{
    return strtoull(s, end, (int)base);
}

/* -- texts that grow -- */

GString *g_string_new(const char *s)
{
    GString *all = heap_new(sizeof *all);
    *all = (GString){heap_new(1), 0, 1};
    *all->str = '\0';
    return s ? g_string_append(all, s) : all;
}

char *g_string_free(GString *s, gboolean text)
{
    char *kept = text ? NULL : s->str;
    if (text)
        heap_free(s->str);
    heap_free(s);
    return kept;
}

GString *g_string_append_len(GString *s, const char *text, gssize n)
{
    gsize more = n < 0 ? strlen(text) : (gsize)n;
    if (s->len + more + 1 > s->room) {
        s->str = heap_resize(s->str, MAX(s->len + more + 1, 2 * s->room));
        s->room = heap_usable(s->str);
    }
    memcpy(s->str + s->len, text, more);
    s->len += more;
    s->str[s->len] = '\0';
    return s;
}

GString *g_string_append(GString *s, const char *text)
{
    return g_string_append_len(s, text, -1);
}

GString *g_string_append_c(GString *s, char c)
{
    return g_string_append_len(s, &c, 1);
}

void g_string_append_printf(GString *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = print(format, args);
    va_end(args);
    g_string_append(s, text);
}

/* -- errors -- */

void g_set_error(GError **at, GQuark domain, gint code, const char *format, ...)
{
    if (!at)
        return;
    va_list args;
    va_start(args, format);
    GError *e = heap_new(sizeof *e);
    *e = (GError){domain, code, print(format, args)};
    va_end(args);
    *at = e;
}

void g_propagate_error(GError **at, GError *e)
{
    if (at)
        *at = e;
    else
        g_error_free(e);
}

void g_error_free(GError *e)
{
    heap_free(e->message);
    heap_free(e);
}

/* -- a key file -- */

typedef struct {
    char *key, *value;
} TextLine;
typedef struct {
    char *name;
    GArray *lines;
} TextGroup;
struct GKeyFile {
    GArray *groups;
};

static void line_clear(gpointer p)
{
    TextLine *l = p;
    heap_free(l->key);
    heap_free(l->value);
}

static void group_clear(gpointer p)
{
    TextGroup *g = p;
    heap_free(g->name);
    g_array_unref(g->lines);
}

GKeyFile *g_key_file_new(void)
{
    GKeyFile *f = heap_new(sizeof *f);
    f->groups = g_array_new(FALSE, FALSE, sizeof(TextGroup));
    g_array_set_clear_func(f->groups, group_clear);
    return f;
}

void g_key_file_unref(GKeyFile *f)
{
    g_array_unref(f->groups);
    heap_free(f);
}

static GArray *lines_of(GKeyFile *f, const char *group)
{
    for (guint i = 0; i < f->groups->len; i++)
        if (strcmp(g_array_index(f->groups, TextGroup, i).name, group) == 0)
            return g_array_index(f->groups, TextGroup, i).lines;
    TextGroup g = {g_strdup(group), g_array_new(FALSE, FALSE, sizeof(TextLine))};
    g_array_set_clear_func(g.lines, line_clear);
    g_array_append_val(f->groups, g);
    return g.lines;
}

/* Takes VALUE. */
static void set_line(GKeyFile *f, const char *group, const char *key, char *value)
{
    GArray *lines = lines_of(f, group);
    for (guint i = 0; i < lines->len; i++) {
        TextLine *l = &g_array_index(lines, TextLine, i);
        if (strcmp(l->key, key) != 0)
            continue;
        heap_free(l->value);
        l->value = value;
        return;
    }
    TextLine l = {g_strdup(key), value};
    g_array_append_val(lines, l);
}

void g_key_file_set_value(GKeyFile *f, const char *group, const char *key, const char *value)
{
    set_line(f, group, key, g_strdup(value));
}

/* The escape for a character of a value, or NULL if it is written unchanged. */
static const char *escaped(char c, gboolean leading)
{
    switch (c) {
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\\':
        return "\\\\";
    case ' ':
        return leading ? "\\s" : NULL;
    case '\t':
        return leading ? "\\t" : NULL;
    default:
        return NULL;
    }
}

void g_key_file_set_string(GKeyFile *f, const char *group, const char *key, const char *value)
{
    GString *text = g_string_new("");
    gboolean leading = TRUE;
    for (const char *p = value; *p; p++) {
        const char *other = escaped(*p, leading);
        leading = leading && (*p == ' ' || *p == '\t');
        if (other)
            g_string_append(text, other);
        else
            g_string_append_c(text, *p);
    }
    set_line(f, group, key, g_string_free(text, FALSE));
}

void g_key_file_set_integer(GKeyFile *f, const char *group, const char *key, gint value)
{
    set_line(f, group, key, g_strdup_printf("%d", value));
}

void g_key_file_set_uint64(GKeyFile *f, const char *group, const char *key, guint64 value)
{
    set_line(f, group, key, g_strdup_printf("%llu", (unsigned long long)value));
}

void g_key_file_set_boolean(GKeyFile *f, const char *group, const char *key, gboolean value)
{
    set_line(f, group, key, g_strdup(value ? "true" : "false"));
}

char *g_key_file_to_data(GKeyFile *f, gsize *n, GError **error)
{
    GString *text = g_string_new("");
    (void)error;
    for (guint i = 0; i < f->groups->len; i++) {
        const TextGroup *g = &g_array_index(f->groups, TextGroup, i);
        g_string_append_printf(text, i ? "\n[%s]\n" : "[%s]\n", g->name);
        for (guint k = 0; k < g->lines->len; k++) {
            const TextLine *l = &g_array_index(g->lines, TextLine, k);
            g_string_append_printf(text, "%s=%s\n", l->key, l->value);
        }
    }
    if (n)
        *n = text->len;
    return g_string_free(text, FALSE);
}
