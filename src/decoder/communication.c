/* SPDX-License-Identifier: BSD-3-Clause */
/* communication.c: see show.h. wend-show(1) documents the columns of the CSV. */
#include "config.h"

#include "show.h"

#include <math.h>
#include <string.h>

#include "src/command/text.h"

static const char *const kinds[WEND_READ_N_TRANSFER_KINDS] = {
    "point-to-point", "collective", "one-sided", "file write", "file read"};

static void put_number(GString *out, guint64 n)
{
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, n);
}

static void put_amount_csv(GString *out, const WendReadAmount *a)
{
    g_string_append_c(out, ',');
    put_number(out, a->operations);
    g_string_append_c(out, ',');
    put_number(out, a->bytes);
}

/* -- the matrix -- */

static void put_end_csv(GString *out, gint64 rank)
{
    if (rank != WEND_READ_UNKNOWN)
        text_decimal(out, rank);
}

static int matrix_csv(GString *out, WendRead *r)
{
    static const unsigned of_kind[] = {WEND_READ_POINT_TO_POINT, WEND_READ_ONE_SIDED};
    static const char *const names[] = {"point-to-point", "one-sided"};
    g_string_append(out, "kind,source,destination,operations,bytes,unsized\n");
    for (guint k = 0; k < G_N_ELEMENTS(of_kind); k++) {
        const WendReadPair *pairs;
        uint64_t n;
        int status = wend_read_matrix(r, of_kind[k], &pairs, &n);
        if (status < 0)
            return status;
        for (guint64 i = 0; i < n; i++) {
            g_string_append_printf(out, "%s,", names[k]);
            put_end_csv(out, pairs[i].source);
            g_string_append_c(out, ',');
            put_end_csv(out, pairs[i].destination);
            put_amount_csv(out, &pairs[i].amount);
            g_string_append_c(out, ',');
            put_number(out, pairs[i].amount.unsized);
            g_string_append_c(out, '\n');
        }
    }
    return WEND_READ_OK;
}

/* A map with cells of STEP ranks by STEP ranks. */
typedef struct {
    guint n, step; /* cells in a row */
    guint64 *bytes;
    guint64 most; /* most bytes in a cell */
    WendReadAmount all, unknown;
} HeatMap;

static void add_amount(WendReadAmount *to, const WendReadAmount *from)
{
    to->operations += from->operations;
    to->bytes = to->bytes > G_MAXUINT64 - from->bytes ? G_MAXUINT64 : to->bytes + from->bytes;
    to->unsized += from->unsized;
}

static void add_pair(HeatMap *map, const WendReadPair *pair)
{
    add_amount(&map->all, &pair->amount);
    if (pair->source == WEND_READ_UNKNOWN || pair->destination == WEND_READ_UNKNOWN) {
        add_amount(&map->unknown, &pair->amount);
        return;
    }
    guint64 row = (guint64)pair->source / map->step,
            column = (guint64)pair->destination / map->step;
    guint64 at = row * map->n + column;
    WendReadAmount cell = {.bytes = map->bytes[at]};
    add_amount(&cell, &pair->amount);
    map->bytes[at] = MAX(cell.bytes, 1); /* a pair that sends only empty messages is visible */
    map->most = MAX(map->most, cell.bytes);
}

/* From the lightest, for ranks without messages, to the darkest. */
static const char shades[] = " .:-=+*#%@";
enum { SHADES = sizeof shades - 1, LABEL = 8 };

/* The scale is logarithmic: each shade is the same factor darker than the one before. */
static char shade(const HeatMap *map, guint64 bytes)
{
    if (bytes == 0)
        return shades[0];
    double part = map->most > 1 ? log((double)bytes) / log((double)map->most) : 1;
    return shades[1 + (guint)MIN(part * (SHADES - 1), SHADES - 2)];
}

static void put_map(GString *out, const HeatMap *map, guint n_ranks)
{
    g_string_append_printf(out, "%*s from rank (rows) to rank (columns 0 to %u", LABEL, "",
                           n_ranks - 1);
    if (map->step > 1)
        g_string_append_printf(out, ", %u ranks a cell", map->step);
    g_string_append(out, ")\n");
    for (guint row = 0; row < map->n; row++) {
        g_string_append_printf(out, "%*u |", LABEL - 1, row * map->step);
        for (guint column = 0; column < map->n; column++)
            g_string_append_c(out, shade(map, map->bytes[(guint64)row * map->n + column]));
        g_string_append(out, "|\n");
    }
    g_string_append_printf(out, "%*s '%c' nothing, '%c' least, '%c' most (", LABEL, "", shades[0],
                           shades[1], shades[SHADES - 1]);
    text_bytes(out, map->most);
    g_string_append(out, "), by the logarithm of the bytes\n");
}

static void put_amount(GString *out, const char *what, const WendReadAmount *a, const char *behind)
{
    text_bytes(out, a->bytes);
    g_string_append(out, " in ");
    text_count(out, a->operations);
    g_string_append_printf(out, " %s%s%s", what, a->operations == 1 ? "" : "s", behind);
    if (a->unsized > 0) {
        g_string_append(out, ", without ");
        text_count(out, a->unsized);
        g_string_append(out, " whose size is not known");
    }
    g_string_append_c(out, '\n');
}

static int matrix_table(GString *out, WendRead *r, guint width)
{
    const WendReadFacts *facts;
    const WendReadPair *pairs;
    uint64_t n;
    int status = wend_read_facts(r, WEND_READ_JOB, &facts);
    if (status == WEND_READ_OK)
        status = wend_read_matrix(r, WEND_READ_POINT_TO_POINT, &pairs, &n);
    if (status < 0)
        return status;
    guint most = width > LABEL + 10 ? width - LABEL - 2 : 8;
    HeatMap map = {.step = (facts->n_ranks + most - 1) / most};
    map.step = MAX(map.step, 1);
    map.n = (facts->n_ranks + map.step - 1) / map.step;
    map.bytes = g_new0(guint64, (gsize)map.n * map.n + 1);
    for (guint64 i = 0; i < n; i++)
        add_pair(&map, &pairs[i]);
    put_amount(out, "send", &map.all, " from one rank to another or to itself");
    if (map.unknown.operations > 0) {
        g_string_append(out, "of these ");
        put_amount(out, "send", &map.unknown, " to ranks that are not known");
    }
    put_map(out, &map, facts->n_ranks);
    g_free(map.bytes);
    return WEND_READ_OK;
}

/* -- sizes -- */

static guint64 smallest(guint i)
{
    return i == 0 ? 0 : G_GUINT64_CONSTANT(1) << (i - 1);
}
static guint64 largest(guint i)
{
    return i == 0 ? 0 : smallest(i) + (smallest(i) - 1);
}

static void sizes_of_kind_csv(GString *out, const char *kind, const WendReadSizes *s)
{
    for (guint i = 0; i < WEND_READ_N_SIZES; i++) {
        if (s->sizes[i].operations == 0)
            continue;
        g_string_append_printf(out, "%s,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT, kind,
                               smallest(i), largest(i));
        put_amount_csv(out, &s->sizes[i]);
        g_string_append_c(out, '\n');
    }
    if (s->unsized > 0)
        g_string_append_printf(out, "%s,,,%" G_GUINT64_FORMAT ",\n", kind, s->unsized);
}

static void sizes_of_kind_table(GString *out, const char *kind, const WendReadSizes *s)
{
    enum { BAR = 30 };
    GString *cell = g_string_new(NULL);
    guint64 most = s->unsized;
    for (guint i = 0; i < WEND_READ_N_SIZES; i++)
        most = MAX(most, s->sizes[i].operations);
    if (most > 0)
        g_string_append_printf(out, "%s\n%27s %15s %12s\n", kind, "size in bytes", "operations",
                               "bytes");
    for (guint i = 0; i < WEND_READ_N_SIZES; i++) {
        if (s->sizes[i].operations == 0)
            continue;
        text_count(cell, smallest(i));
        if (largest(i) > smallest(i)) {
            g_string_append(cell, " - ");
            text_count(cell, largest(i));
        }
        g_string_append_printf(out, "%27s ", cell->str);
        g_string_truncate(cell, 0);
        text_count(cell, s->sizes[i].operations);
        g_string_append_printf(out, "%15s ", cell->str);
        g_string_truncate(cell, 0);
        text_bytes(cell, s->sizes[i].bytes);
        g_string_append_printf(out, "%12s  ", cell->str);
        g_string_truncate(cell, 0);
        guint bar = (guint)ceil(BAR * ((double)s->sizes[i].operations / (double)most));
        for (guint k = 0; k < bar; k++)
            g_string_append_c(out, '#');
        g_string_append_c(out, '\n');
    }
    if (s->unsized > 0) {
        text_count(cell, s->unsized);
        g_string_append_printf(out, "%27s %15s\n", "not known", cell->str);
    }
    g_string_free(cell, TRUE);
}

static int sizes_show(GString *out, WendRead *r, gboolean csv)
{
    if (csv)
        g_string_append(out, "kind,smallest,largest,operations,bytes\n");
    for (guint k = 0; k < WEND_READ_N_TRANSFER_KINDS; k++) {
        const WendReadSizes *sizes;
        int status = wend_read_sizes(r, 1u << k, &sizes);
        if (status < 0)
            return status;
        (csv ? sizes_of_kind_csv : sizes_of_kind_table)(out, kinds[k], sizes);
    }
    return WEND_READ_OK;
}

/* -- communicators -- */

/* The members in the order of their ranks: "0-3, 7, 5"; "?" is unknown. */
static void put_members(GString *out, const gint64 *members, guint n)
{
    for (guint i = 0; i < n;) {
        guint end = i + 1;
        if (i > 0)
            g_string_append(out, ", ");
        if (members[i] == WEND_READ_UNKNOWN) {
            g_string_append_c(out, '?');
        } else {
            while (end < n && members[end] == members[end - 1] + 1)
                end++;
            text_decimal(out, members[i]);
            if (end - i > 1) {
                g_string_append_c(out, '-');
                text_decimal(out, members[end - 1]);
            }
        }
        i = end;
    }
}

static void put_comm_csv(GString *out, const char *name, const WendReadCommunicator *c)
{
    g_string_append_printf(out, "%s,", name);
    if (c->function != NULL)
        text_foreign(out, c->function);
    g_string_append_printf(out, ",%u,", c->n_members);
    if (c->remote != NULL)
        g_string_append_printf(out, "%u", c->n_remote);
    g_string_append(out, ",\"");
    put_members(out, c->members, c->n_members);
    g_string_append(out, "\",\"");
    put_members(out, c->remote, c->n_remote);
    g_string_append(out, "\"\n");
}

static void put_comm_table(GString *out, const char *name, const WendReadCommunicator *c)
{
    g_string_append_printf(out, "%-14s  ", name);
    GString *function = g_string_new(NULL);
    if (c->function != NULL)
        text_foreign(function, c->function);
    g_string_append_printf(out, "%-24s %6u: ", function->str, c->n_members);
    g_string_free(function, TRUE);
    put_members(out, c->members, c->n_members);
    if (c->remote != NULL) {
        g_string_append_printf(out, "  with %u: ", c->n_remote);
        put_members(out, c->remote, c->n_remote);
    }
    g_string_append_c(out, '\n');
}

typedef void (*PutComm)(GString *, const char *, const WendReadCommunicator *);

/* MPI_COMM_WORLD of each world. */
static int put_worlds(GString *out, WendRead *r, guint n, PutComm put)
{
    for (guint i = 0; i < n; i++) {
        const WendReadWorld *world;
        int status = wend_read_world(r, i, &world);
        if (status < 0)
            return status;
        gint64 *members = g_new(gint64, world->n_ranks + 1);
        for (guint k = 0; k < world->n_ranks; k++)
            members[k] = (gint64)world->first_rank + k;
        const WendReadCommunicator c = {.n_members = world->n_ranks, .members = members};
        put(out, "MPI_COMM_WORLD", &c);
        g_free(members);
    }
    return WEND_READ_OK;
}

static int comms_show(GString *out, WendRead *r, gboolean csv)
{
    const WendReadFacts *facts;
    PutComm put = csv ? put_comm_csv : put_comm_table;
    uint32_t n = 0;
    if (csv)
        g_string_append(out, "communicator,function,size,remote_size,members,remote\n");
    else
        g_string_append_printf(out, "%-14s  %-24s %6s  %s\n", "communicator", "made by", "size",
                               "members, by their ranks in it");
    int status = wend_read_facts(r, WEND_READ_JOB, &facts);
    if (status == WEND_READ_OK)
        status = put_worlds(out, r, facts->n_worlds, put);
    if (status == WEND_READ_OK)
        status = wend_read_n_communicators(r, &n);
    for (guint i = 1; status == WEND_READ_OK && i <= n; i++) {
        const WendReadCommunicator *c;
        char name[32];
        g_snprintf(name, sizeof name, "comm#%u", i);
        status = wend_read_communicator(r, i, &c);
        if (status == WEND_READ_OK)
            put(out, name, c);
    }
    return status;
}

int communication_show(GString *out, WendRead *r, CommunicationTable table, gboolean csv,
                       guint width)
{
    switch (table) {
    case COMMUNICATION_MATRIX:
        return csv ? matrix_csv(out, r) : matrix_table(out, r, width);
    case COMMUNICATION_SIZES:
        return sizes_show(out, r, csv);
    case COMMUNICATION_COMMS:
        return comms_show(out, r, csv);
    default:
        return WEND_READ_OK;
    }
}
