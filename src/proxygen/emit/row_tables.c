/* SPDX-License-Identifier: BSD-3-Clause */
/* row_tables.c: see row_tables.h. */
#include "row_tables.h"

#include <stdlib.h>
#include <string.h>

#include "emitter.h"
#include "lib/base/byte-table.h"

char *column_mark(guint first)
{
    return g_strdup_printf("%c%u%c", COLUMN_MARK, first, COLUMN_END);
}

char *column_mark_by_rank(guint first, guint low, guint width)
{
    return g_strdup_printf("%c%u,%u,%u%c", COLUMN_MARK, first, low, width, COLUMN_END);
}

/* The column of the mark at P. *END becomes its second mark. */
static Column read_mark(const char *p, char **end)
{
    Column c = {.first = (guint)strtoul(p + 1, end, 10), .width = 1};
    if (**end == ',') {
        c.by_rank = TRUE;
        c.low = (guint)strtoul(*end + 1, end, 10);
        c.width = (guint)strtoul(*end + 1, end, 10);
    }
    return c;
}

static gint compare(gconstpointer a, gconstpointer b)
{
    const Column *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static const Column *find(const GArray *columns, guint first)
{
    const Column key = {.first = first};
    guint at;
    return g_array_binary_search((GArray *)columns, &key, compare, &at)
               ? &g_array_index(columns, Column, at)
               : NULL;
}

GArray *row_tables_find(const char *text)
{
    GArray *columns = g_array_new(FALSE, FALSE, sizeof(Column));
    for (const char *p = text; (p = strchr(p, COLUMN_MARK)) != NULL;) {
        char *end;
        const Column c = read_mark(p, &end);
        g_array_append_val(columns, c);
        p = end;
    }
    g_array_sort(columns, compare);
    guint n = 0;
    for (guint i = 0; i < columns->len; i++)
        if (i == 0
            || g_array_index(columns, Column, i).first
                   != g_array_index(columns, Column, n - 1).first)
            g_array_index(columns, Column, n++) = g_array_index(columns, Column, i);
    g_array_set_size(columns, n);
    return columns;
}

gboolean row_tables_agree(const GArray *columns, guint first)
{
    const Column *c = find(columns, first);
    return c && c->place < 0;
}

static gsize bytes_of(const Column *c)
{
    return c->width * sizeof(gint64);
}

static const gint64 *numbers_of(const GArray *values, guint n_numbers, gsize row, const Column *c)
{
    return &g_array_index(values, gint64, row * n_numbers + c->first);
}

static gboolean agree(const GArray *values, guint n_numbers, const Column *c)
{
    for (gsize i = 1; i < values->len / n_numbers; i++)
        if (memcmp(numbers_of(values, n_numbers, i, c), numbers_of(values, n_numbers, 0, c),
                   bytes_of(c))
            != 0)
            return FALSE;
    return TRUE;
}

/* Appends all numbers of a column, and its other properties, as a key. */
static void append_key(GByteArray *key, const GArray *values, guint n_numbers, const Column *c)
{
    const guint kind[] = {c->by_rank, c->low, c->width};
    g_byte_array_set_size(key, 0);
    g_byte_array_append(key, (const guint8 *)kind, sizeof kind);
    for (gsize i = 0; i < values->len / n_numbers; i++)
        g_byte_array_append(key, (const guint8 *)numbers_of(values, n_numbers, i, c), bytes_of(c));
}

guint row_tables_keep(GArray *columns, const GArray *values, guint n_numbers)
{
    /* columns that are kept -> guint: index + 1 */
    g_autoptr(GHashTable) places = wend_byte_table_entries_new(g_free);
    g_autoptr(GByteArray) key = g_byte_array_new();
    guint n = 0;
    for (guint i = 0; i < columns->len; i++) {
        Column *c = &g_array_index(columns, Column, i);
        c->place = -1;
        c->kept = FALSE;
        if (agree(values, n_numbers, c))
            continue;
        append_key(key, values, n_numbers, c);
        guint *place = wend_byte_table_entry(places, key->data, key->len, sizeof *place);
        if (*place == 0) {
            c->kept = TRUE;
            *place = n + 1;
            n += c->width;
        }
        c->place = (gint)*place - 1;
    }
    return n;
}

/* -- names -- */

static gboolean is_named(const GArray *columns, const char *name)
{
    for (guint i = 0; i < columns->len; i++)
        if (strcmp(g_array_index(columns, Column, i).name, name) == 0)
            return TRUE;
    return FALSE;
}

static void give_name(GArray *columns, Column *c, const char *argument)
{
    g_autofree char *base = g_ascii_strup(argument, COLUMN_NAME - 8);
    g_autofree char *name = g_strdup(base);
    for (guint i = 2; is_named(columns, name); i++) {
        g_free(name);
        name = g_strdup_printf("%s_%u", base, i);
    }
    g_strlcpy(c->name, name, sizeof c->name);
}

static const Column *kept_at(const GArray *columns, gint place)
{
    for (guint i = 0; i < columns->len; i++) {
        const Column *c = &g_array_index(columns, Column, i);
        if (c->kept && c->place == place)
            return c;
    }
    return NULL;
}

void row_tables_name(GArray *columns, const GPtrArray *names)
{
    enum { NAMED_MOST = 64 }; /* the text of a large row is for nobody */
    for (guint i = 0; i < columns->len; i++)
        g_array_index(columns, Column, i).name[0] = '\0';
    if (columns->len > NAMED_MOST)
        return;
    for (guint i = 0; i < columns->len; i++) {
        Column *c = &g_array_index(columns, Column, i);
        const char *argument = c->first < names->len ? names->pdata[c->first] : NULL;
        if (c->kept)
            give_name(columns, c, argument ? argument : "number");
    }
    for (guint i = 0; i < columns->len; i++) {
        Column *c = &g_array_index(columns, Column, i);
        const Column *kept = c->place >= 0 && !c->kept ? kept_at(columns, c->place) : NULL;
        if (kept)
            memcpy(c->name, kept->name, sizeof c->name);
    }
}

void row_tables_define(GString *out, int indent, const GArray *columns)
{
    g_autoptr(GString) list = g_string_new("");
    gint next = 0;
    for (guint i = 0; i < columns->len; i++) {
        const Column *c = &g_array_index(columns, Column, i);
        if (!c->kept || !*c->name)
            continue;
        g_string_append_printf(list, list->len ? ", %s" : "%s", c->name);
        if (c->place != next)
            g_string_append_printf(list, " = %d", c->place);
        next = c->place + 1;
    }
    if (list->len > 0)
        c_text_line(out, indent, "enum { %s };", list->str);
}

/* "at + 0" and "at + -8" become "at" and "at - 8". */
static void append_constant(GString *out, const Plan *plan, gint64 value)
{
    static const char plus[] = " + ";
    gboolean added = out->len >= strlen(plus)
                     && memcmp(out->str + out->len - strlen(plus), plus, strlen(plus)) == 0;
    if (added && value == 0) {
        g_string_truncate(out, out->len - strlen(plus));
        return;
    }
    if (added && value < 0 && value > -G_MAXINT32) {
        out->str[out->len - 2] = '-';
        value = -value;
    }
    g_autofree char *text = literal(plan, value);
    g_string_append(out, text);
}

/* "[4 + rank]", with rank LOW as the first. */
static void append_place(GString *out, const Column *c)
{
    gint offset = c->place - (gint)c->low;
    if (*c->name && c->by_rank)
        g_string_append_printf(out, c->low > 0 ? "[%s + rank - %u]" : "[%s + rank]", c->name,
                               c->low);
    else if (*c->name)
        g_string_append_printf(out, "[%s]", c->name);
    else if (!c->by_rank)
        g_string_append_printf(out, "[%d]", c->place);
    else if (offset == 0)
        g_string_append(out, "[rank]");
    else
        g_string_append_printf(out, offset > 0 ? "[%d + rank]" : "[rank - %d]", ABS(offset));
}

void row_tables_append(GString *out, const Plan *plan, const char *text, const GArray *columns,
                       const GArray *values, const char *row, gboolean alone)
{
    for (const char *p = text; *p; p++) {
        if (*p != COLUMN_MARK) {
            g_string_append_c(out, *p);
            continue;
        }
        char *end;
        const Column mark = read_mark(p, &end), *c = find(columns, mark.first);
        if (c->place < 0) {
            append_constant(out, plan, g_array_index(values, gint64, c->first));
        } else {
            g_string_append(out, row);
            if (!alone)
                append_place(out, c);
        }
        p = end; /* the second mark */
    }
}

/* -- numbers of the row that is written -- */

static void note_argument(const Emitter *e)
{
    GPtrArray *names = e->columns->names;
    guint n = e->columns->numbers->len;
    if (!names)
        return;
    g_ptr_array_set_size(names, (gint)n + 1);
    names->pdata[n] = (gpointer)e->argument;
}

char *column_of_number(Emitter *e, gint64 value)
{
    note_argument(e);
    g_array_append_val(e->columns->numbers, value);
    return column_mark(e->columns->numbers->len - 1);
}

char *column_of_ranks(Emitter *e, RankList ranks, const gint64 *values)
{
    guint first = e->columns->numbers->len, low = ranks.ranks[0],
          width = ranks.ranks[ranks.n - 1] - low + 1;
    note_argument(e);
    for (guint r = 0, i = 0; r < width; r++) {
        gboolean here = ranks.ranks[i] == low + r;
        gint64 value = here ? values[i] : 0;
        g_array_append_val(e->columns->numbers, value);
        i += here;
    }
    return e->columns->known && row_tables_agree(e->columns->known, first)
               ? NULL
               : column_mark_by_rank(first, low, width);
}

char *column_index(Emitter *e, gint64 place)
{
    return e->columns ? column_of_number(e, place) : g_strdup_printf("%" G_GINT64_FORMAT, place);
}
