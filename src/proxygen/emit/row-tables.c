/* SPDX-License-Identifier: BSD-3-Clause */
/* row-tables.c: calls that differ only in numbers, each with a row of numbers. Such calls are
 * written twice. The first time finds the columns of the row: each number is then "$3$" in the
 * text, so that texts can be compared. The second time each number is "row[2]": the rows of all
 * calls are then known, and with them the columns to keep. */
#include "src/proxygen/emit/emit.h"

#include <string.h>

#include "lib/base/containers.h"

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
    AUTO(Map) places = map_of_bytes(memory_free);
    g_autoptr(GByteArray) key = g_byte_array_new();
    guint n = 0;
    for (guint i = 0; i < columns->len; i++) {
        Column *c = &g_array_index(columns, Column, i);
        c->place = -1;
        c->kept = FALSE;
        if (agree(values, n_numbers, c))
            continue;
        append_key(key, values, n_numbers, c);
        guint *place = map_entry(places, key->data, key->len, sizeof *place);
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

void row_tables_name(GArray *columns)
{
    enum { NAMED_MOST = 64 }; /* the text of a large row is for nobody */
    for (guint i = 0; i < columns->len; i++)
        g_array_index(columns, Column, i).name[0] = '\0';
    if (columns->len > NAMED_MOST)
        return;
    for (guint i = 0; i < columns->len; i++) {
        Column *c = &g_array_index(columns, Column, i);
        if (c->kept)
            give_name(columns, c, c->argument ? c->argument : "number");
    }
    for (guint i = 0; i < columns->len; i++) {
        Column *c = &g_array_index(columns, Column, i);
        const Column *kept = c->place >= 0 && !c->kept ? kept_at(columns, c->place) : NULL;
        if (kept)
            memcpy(c->name, kept->name, sizeof c->name);
    }
}

void row_tables_define(Statements *out, const GArray *columns)
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
        statements_add(out, "enum { %s };", list->str);
}

/* -- numbers of the row that is written -- */

/* "row[4 + rank]", with rank LOW as the first. */
static char *place_in_row(const ColumnWriter *w, const Column *c)
{
    gint offset = c->place - (gint)c->low;
    if (w->alone)
        return g_strdup(w->row);
    if (*c->name && c->by_rank && c->low > 0)
        return g_strdup_printf("%s[%s + rank - %u]", w->row, c->name, c->low);
    if (*c->name)
        return g_strdup_printf("%s[%s%s]", w->row, c->name, c->by_rank ? " + rank" : "");
    if (!c->by_rank)
        return g_strdup_printf("%s[%d]", w->row, c->place);
    if (offset == 0)
        return g_strdup_printf("%s[rank]", w->row);
    return g_strdup_printf(offset > 0 ? "%s[%d + rank]" : "%s[rank - %d]", w->row, ABS(offset));
}

/* The text of a column whose numbers begin at FIRST. NULL: all rows agree in it. */
static char *column_text(Emitter *e, Column c)
{
    ColumnWriter *w = e->columns;
    if (w->row) {
        const Column *known = find(w->columns, c.first);
        return known && known->place >= 0 ? place_in_row(w, known) : NULL;
    }
    c.argument = e->argument;
    g_array_append_val(w->columns, c);
    return c.by_rank ? g_strdup_printf("$%u,%u,%u$", c.first, c.low, c.width)
                     : g_strdup_printf("$%u$", c.first);
}

char *column_of_number(Emitter *e, gint64 value)
{
    const Column c = {.first = e->columns->numbers->len, .width = 1};
    g_array_append_val(e->columns->numbers, value);
    return column_text(e, c);
}

char *column_of_ranks(Emitter *e, RankList ranks, const gint64 *values)
{
    guint low = ranks.ranks[0];
    const Column c = {e->columns->numbers->len,
                      TRUE,
                      low,
                      ranks.ranks[ranks.n - 1] - low + 1,
                      NULL,
                      0,
                      FALSE,
                      ""};
    for (guint r = 0, i = 0; r < c.width; r++) {
        gboolean here = ranks.ranks[i] == low + r;
        gint64 value = here ? values[i] : 0;
        g_array_append_val(e->columns->numbers, value);
        i += here;
    }
    return column_text(e, c);
}

char *column_index(Emitter *e, gint64 place)
{
    char *column = e->columns ? column_of_number(e, place) : NULL;
    return column ? column : g_strdup_printf("%" G_GINT64_FORMAT, place);
}
