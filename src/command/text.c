/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c: see text.h. */
#include "config.h"

#include "text.h"

#include <math.h>
#include <string.h>

#include "lib/base/error.h"
#include "lib/base/printable.h"
#include "lib/merge/totals.h"

/* Reads a number below 2^64 - 1 and moves *S behind it. */
static gboolean read_number(const char **s, guint64 *n)
{
    if (!g_ascii_isdigit(**s))
        return FALSE;
    *n = 0;
    for (; g_ascii_isdigit(**s); (*s)++) {
        guint digit = (guint)(**s - '0');
        if (*n > (G_MAXUINT64 - 1 - digit) / 10)
            return FALSE;
        *n = *n * 10 + digit;
    }
    return TRUE;
}

gboolean *text_ranks_parse(const char *text, guint n_ranks, Error **error)
{
    gboolean *chosen = g_new0(gboolean, n_ranks > 0 ? n_ranks : 1);
    const char *s = text;
    do {
        guint64 first, last, step = 1;
        if (!read_number(&s, &first))
            goto malformed;
        last = first;
        if (*s == '-') {
            s++;
            if (!read_number(&s, &last))
                goto malformed;
            if (*s == ':') {
                s++;
                if (!read_number(&s, &step) || step == 0)
                    goto malformed;
            }
        }
        if (last < first)
            goto malformed;
        if (last >= n_ranks) {
            error_set(error, WEND_ERROR_USAGE,
                      "there is no rank %" G_GUINT64_FORMAT ": the recording has ranks 0 to %u",
                      last, n_ranks - 1);
            g_free(chosen);
            return NULL;
        }
        for (guint64 rank = first; rank <= last; rank += step) {
            chosen[rank] = TRUE;
            if (last - rank < step)
                break;
        }
    } while (*s == ',' && *++s != '\0');
    if (*s == '\0' && s > text && s[-1] != ',')
        return chosen;
malformed:
    error_set(error, WEND_ERROR_USAGE, "'%s' is not a set of ranks such as 3 or 0,4-7 or 0-63:2",
              text);
    g_free(chosen);
    return NULL;
}

void text_ranks(GString *out, const guint *ranks, guint n)
{
    for (guint i = 0; i < n;) {
        guint end = i + 1; /* the first element after the run that begins at i */
        guint step = 0;
        if (end < n) {
            step = ranks[end] - ranks[i];
            while (end < n && ranks[end] - ranks[end - 1] == step)
                end++;
        }
        if (end - i == 2 && step > 1)
            end = i + 1; /* two ranks with a gap are not a run */
        if (i > 0)
            g_string_append(out, ", ");
        g_string_append_printf(out, "%u", ranks[i]);
        if (end - i > 1) {
            g_string_append_printf(out, "-%u", ranks[end - 1]);
            if (step > 1)
                g_string_append_printf(out, ":%u", step);
        }
        i = end;
    }
}

gboolean text_span_parse(const char *text, guint64 *first, guint64 *last, Error **error)
{
    const char *s = text;
    gboolean begins = read_number(&s, first);
    gboolean ends = begins;
    if (begins)
        *last = *first;
    else
        *first = 0;
    if (*s == '-') {
        s++;
        ends = read_number(&s, last);
        if (!ends)
            *last = G_MAXUINT64;
    }
    if (*s != '\0' || (!begins && !ends) || *last < *first) {
        error_set(error, WEND_ERROR_USAGE,
                  "'%s' is not a range of calls such as 100-200, 100- or -200", text);
        return FALSE;
    }
    return TRUE;
}

void text_decimal(GString *out, gint64 n)
{
    char digits[24], *p = digits + sizeof digits;
    guint64 rest = n < 0 ? 0 - (guint64)n : (guint64)n;
    do
        *--p = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (n < 0)
        *--p = '-';
    g_string_append_len(out, p, digits + sizeof digits - p);
}

void text_count(GString *out, guint64 n)
{
    char digits[32];
    int length = g_snprintf(digits, sizeof digits, "%" G_GUINT64_FORMAT, n);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            g_string_append_c(out, ',');
        g_string_append_c(out, digits[i]);
    }
}

void text_double(GString *out, const char *format, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(out, g_ascii_formatd(text, sizeof text, format, value));
}

/* Three significant digits. */
static void append_scaled(GString *out, double value, const char *unit)
{
    g_string_append_printf(out, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

void text_bytes(GString *out, guint64 n)
{
    static const char *const units[] = {"KB", "MB", "GB", "TB", "PB", "EB"};
    if (n < 10000) {
        text_count(out, n);
        g_string_append(out, " B");
        return;
    }
    double value = (double)n / 1000;
    guint unit = 0;
    for (; value >= 999.5 && unit + 1 < G_N_ELEMENTS(units); unit++)
        value /= 1000;
    append_scaled(out, value, units[unit]);
}

void text_seconds(GString *out, double s)
{
    double size = fabs(s);
    if (size >= 0.9995)
        append_scaled(out, s, "s");
    else if (size >= 0.9995e-3)
        append_scaled(out, s * 1e3, "ms");
    else if (size >= 0.9995e-6)
        append_scaled(out, s * 1e6, "us");
    else
        append_scaled(out, s * 1e9, "ns");
}

/* The unit for S seconds, and its length in seconds. */
static const char *unit_of(double s, double *unit)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    guint i = 0;
    while (i + 1 < G_N_ELEMENTS(units) && s < units[i].seconds * 0.9999)
        i++;
    *unit = units[i].seconds;
    return units[i].name;
}

void text_seconds_known(GString *out, double s, double error)
{
    double size = fabs(s), unit;
    int known = error > 0 ? (int)ceil(log10(error / 2) - 1e-9)
                          : -12; /* power of ten of the last known digit */
    int last = size > 0 ? MAX(known, (int)floor(log10(size) + 1e-9) - 2) : known;
    double step = pow(10, last), rounded = round(size / step) * step;
    if (rounded < step / 2) {
        const char *name = unit_of(step, &unit);
        g_string_append_printf(out, "<%.0f %s", MAX(step / unit, 1), name);
        return;
    }
    const char *name = unit_of(rounded, &unit);
    int decimals = (int)round(log10(unit / step));
    g_string_append_printf(out, "%s%.*f %s", s < 0 ? "-" : "", CLAMP(decimals, 0, 2),
                           rounded / unit, name);
}

void text_share(GString *out, double share, double error)
{
    double percent = 100 * share;
    if (percent < 0.05)
        g_string_append(out, share > 0 ? "<0.1 %" : "0 %");
    else
        g_string_append_printf(out, "%.*f %%", 100 * error / 2 <= 0.1 ? 1 : 0, percent);
}

/* Whether the output uses UTF-8. The environment does not change, so it is read once. */
static gboolean takes_utf8(void)
{
    static int known = -1;
    if (known < 0)
        known = printable_utf8();
    return known;
}

void text_foreign(GString *out, const char *s)
{
    text_foreign_bytes(out, s, strlen(s));
}

/* Most text is plain ASCII, and the same in every notation. */
static gboolean is_plain(const char *s, gsize n)
{
    gboolean plain = TRUE;
    for (gsize i = 0; i < n; i++)
        plain &= s[i] >= ' ' && s[i] <= '~' && s[i] != '\\' && s[i] != '"';
    return plain;
}

void text_foreign_bytes(GString *out, const char *s, gsize n)
{
    gsize start = out->len;
    if (is_plain(s, n)) {
        g_string_append_len(out, s, (gssize)n);
        return;
    }
    g_string_set_size(out, start + n); /* enough for most text */
    gsize length = printable_text(out->str + start, n + 1, s, n, takes_utf8());
    g_string_set_size(out, start + length);
    if (length > n)
        printable_text(out->str + start, length + 1, s, n, takes_utf8());
}

char *text_foreign_new(const char *s)
{
    GString *out = g_string_new(NULL);
    text_foreign(out, s);
    return g_string_free(out, FALSE);
}

void text_quoted(GString *out, const char *s, gsize n)
{
    g_string_append_c(out, '"');
    for (const char *end = s + n, *quote; s < end; s = quote) {
        quote = memchr(s, '"', (gsize)(end - s));
        quote = quote != NULL ? quote : end;
        text_foreign_bytes(out, s, (gsize)(quote - s));
        if (quote < end) {
            g_string_append(out, "\\\"");
            quote++;
        }
    }
    g_string_append_c(out, '"');
}

static gboolean is_utf8(const char *s, const char *end)
{
    for (WendCharacter c; s < end; s += c.bytes) {
        c = character_at(s, end);
        if (!c.valid)
            return FALSE;
    }
    return TRUE;
}

static void append_json_escape(GString *out, guint32 point)
{
    static const char letters[] = "\"\"\\\\\nn\rr\tt";
    for (const char *p = letters; *p != '\0'; p += 2) {
        if (point == (guchar)*p) {
            g_string_append_c(out, '\\');
            g_string_append_c(out, p[1]);
            return;
        }
    }
    if (point >= 0x10000) {
        g_string_append_printf(out, "\\u%04x", 0xD7C0 + (point >> 10));
        point = 0xDC00 | (point & 0x3FF);
    }
    g_string_append_printf(out, "\\u%04x", point);
}

void text_json_bytes(GString *out, const char *s, gsize n)
{
    const char *end = s + n;
    g_string_append_c(out, '"');
    if (is_plain(s, n)) {
        g_string_append_len(out, s, (gssize)n);
        s = end;
    }
    gboolean utf8 = is_utf8(s, end);
    for (WendCharacter c; s < end; s += c.bytes) {
        c = utf8 ? character_at(s, end) : (WendCharacter){(guchar)*s, 1, (guchar)*s < 0x80};
        if (c.point != '"' && c.point != '\\' && character_is_safe(c, takes_utf8()))
            g_string_append_len(out, s, c.bytes);
        else
            append_json_escape(out, c.point);
    }
    g_string_append_c(out, '"');
}

void text_json_string(GString *out, const char *s)
{
    text_json_bytes(out, s, strlen(s));
}

void text_json_key(GString *out, const char *key)
{
    gsize start = out->len, n = key ? strlen(key) : 0;
    char last = start > 0 ? out->str[start - 1] : '\n';
    gboolean more = last != '{' && last != '[' && last != '\n';
    g_string_set_size(out, start + more + (key ? n + 3 : 0));
    char *to = out->str + start;
    if (more)
        *to++ = ',';
    if (!key)
        return;
    *to++ = '"';
    memcpy(to, key, n);
    memcpy(to + n, "\":", 2);
}

void text_json_open(GString *out, const char *key, char bracket)
{
    text_json_key(out, key);
    g_string_append_c(out, bracket);
}

void text_json_text(GString *out, const char *key, const char *value)
{
    text_json_key(out, key);
    text_json_string(out, value);
}

void text_json_integer(GString *out, const char *key, gint64 n)
{
    text_json_key(out, key);
    text_decimal(out, n);
}

void text_json_count(GString *out, const char *key, guint64 n)
{
    text_json_key(out, key);
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, n);
}

void text_json_double(GString *out, const char *key, const char *format, double value)
{
    text_json_key(out, key);
    text_double(out, format, value);
}

void text_json_flag(GString *out, const char *key, gboolean set)
{
    text_json_key(out, key);
    g_string_append(out, set ? "true" : "false");
}

void text_rank(GString *out, guint rank, guint n_worlds, guint world, guint world_rank)
{
    g_string_append_printf(out, "rank %u", rank);
    if (n_worlds > 1)
        g_string_append_printf(out, " (rank %u of world %u)", world_rank, world);
}

void text_sequence(GString *out, gboolean callback, gint64 id)
{
    g_string_append(out, callback ? "callback " : "thread ");
    if (!callback || id >= 0)
        text_decimal(out, id);
    else
        g_string_append(out, "of the MPI library");
}

void text_totals(GString *out, guint64 mpi_calls, guint64 polls, guint64 frees)
{
    const WendTotals counts = {mpi_calls, polls, frees};
    g_autofree char *text = totals_text(&counts);
    g_string_append(out, text);
}

void text_csv_quote(GString *out, gsize start)
{
    if (!strpbrk(out->str + start, ",\"\r\n"))
        return;
    char *field = g_strdup(out->str + start);
    g_string_truncate(out, start);
    g_string_append_c(out, '"');
    for (const char *c = field; *c != '\0'; c++) {
        if (*c == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *c);
    }
    g_string_append_c(out, '"');
    g_free(field);
}
