/* SPDX-License-Identifier: BSD-3-Clause */
/* read-facts.c: facts of the run, worlds, ranks, sequences, classes. */
#include "config.h"

#include <string.h>

#include "lib/read/terminations.h"
#include "read-private.h"

typedef struct {
    const char *group, *key, *value;
} MetaEntry;

/* -- facts -- */

static GKeyFile *meta_of(const WendRead *r, guint world)
{
    return world < program_n_worlds(r->program) ? program_world_meta(r->program, world)
                                                : program_meta(r->program);
}

/* The text of a key. NULL if it is missing or empty. */
static const char *text_of(WendRead *r, GKeyFile *meta, const char *group, const char *key)
{
    g_autofree char *value = g_key_file_get_string(meta, group, key, NULL);
    return value != NULL && *value != '\0' ? g_string_chunk_insert(r->texts, value) : NULL;
}

static double number_of(GKeyFile *meta, const char *group, const char *key)
{
    g_autofree char *value = g_key_file_get_string(meta, group, key, NULL);
    return value != NULL && *value != '\0' ? g_ascii_strtod(value, NULL) : -1;
}

static WendReadFacts *make_facts(WendRead *r, guint world)
{
    const WendProgram *p = r->program;
    GKeyFile *meta = meta_of(r, world);
    gboolean job = world >= program_n_worlds(p);
    WendReadFacts *f = g_new0(WendReadFacts, 1);
    f->program = text_of(r, meta, "run", "program");
    f->arguments = text_of(r, meta, "run", "arguments");
    f->mpi_library = text_of(r, meta, "mpi", "library");
    f->mpi_version = text_of(r, meta, "mpi", "version");
    f->thread_level = text_of(r, meta, "mpi", "thread");
    f->hosts = text_of(r, meta, "run", "hosts");
    f->job = text_of(r, meta, "run", "job");
    f->n_hosts = program_n_hosts(p);
    const char *start = text_of(r, meta, "run", "start");
    f->start = start != NULL ? g_ascii_strtoll(start, NULL, 10) : -1;
    f->elapsed = number_of(meta, "run", "elapsed");
    f->clock_resolution = CLAMP(number_of(meta, "clock", "resolution"), -1, 1);
    f->clock_error = CLAMP(number_of(meta, "clock", "error"), -1, G_MAXUINT32);
    if (g_key_file_has_key(meta, "clock", "uncompared", NULL))
        f->clock_error = -1;
    f->complete = g_key_file_get_boolean(meta, "recording", "complete", NULL);
    f->n_worlds = job ? program_n_worlds(p) : 1;
    f->n_ranks = job ? program_ranks(p) : program_world(p, world)->ranks;
    f->n_classes = program_n_classes(p);
    f->n_rules = program_n_rules(p);
    f->n_signatures = program_n_terminals(p);
    f->n_shapes = program_n_shapes(p);
    f->archive_bytes = program_archive_size(p);
    f->member_bytes = program_member_bytes(p);
    return f;
}

/* The index of WORLD in arrays by world; the job is last. */
static guint place_of(const WendRead *r, guint32 world)
{
    return world == WEND_READ_JOB ? program_n_worlds(r->program) : world;
}

static int check_world(WendRead *r, const void *result, guint32 world)
{
    int status = read_check(r, result);
    if (status < 0 || world == WEND_READ_JOB)
        return status;
    return read_check_index(r, result, "world", world, program_n_worlds(r->program));
}

/* An array with room for one element of each world and of the job. */
static GPtrArray *rows_new(WendRead *r, GDestroyNotify free_row)
{
    GPtrArray *rows = g_ptr_array_new_with_free_func(free_row);
    g_ptr_array_set_size(rows, (gint)program_n_worlds(r->program) + 1);
    if (!r->texts)
        r->texts = g_string_chunk_new(1024);
    return rows;
}

int wend_read_facts(WendRead *r, uint32_t world, const WendReadFacts **facts)
{
    int status = check_world(r, facts, world);
    if (status < 0)
        return status;
    if (!r->facts)
        r->facts = rows_new(r, g_free);
    gpointer *row = &r->facts->pdata[place_of(r, world)];
    if (!*row)
        *row = make_facts(r, place_of(r, world));
    *facts = *row;
    return WEND_READ_OK;
}

/* -- all entries -- */

static void free_metas(gpointer row)
{
    if (row != NULL)
        g_array_unref(row);
}

static GArray *make_meta(WendRead *r, guint world)
{
    GArray *entries = g_array_new(FALSE, FALSE, sizeof(MetaEntry));
    GKeyFile *file = meta_of(r, world);
    g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
    for (char **group = groups; *group != NULL; group++) {
        g_auto(GStrv) keys = g_key_file_get_keys(file, *group, NULL, NULL);
        MetaEntry entry = {g_string_chunk_insert(r->texts, *group), NULL, NULL};
        if (!keys || !*keys)
            g_array_append_val(entries, entry);
        for (char **key = keys; key != NULL && *key != NULL; key++) {
            g_autofree char *value = g_key_file_get_string(file, *group, *key, NULL);
            entry.key = g_string_chunk_insert(r->texts, *key);
            entry.value = g_string_chunk_insert(r->texts, value != NULL ? value : "");
            g_array_append_val(entries, entry);
        }
    }
    return entries;
}

int wend_read_meta(WendRead *r, uint32_t world, uint32_t index, const char **group,
                   const char **key, const char **value)
{
    int status = check_world(r, group, world);
    if (status == WEND_READ_OK)
        status = read_check(r, key);
    if (status == WEND_READ_OK)
        status = read_check(r, value);
    if (status < 0)
        return status;
    if (!r->metas)
        r->metas = rows_new(r, free_metas);
    gpointer *row = &r->metas->pdata[place_of(r, world)];
    if (!*row)
        *row = make_meta(r, place_of(r, world));
    const GArray *entries = *row;
    if (index >= entries->len)
        return read_fail(r, WEND_READ_ERROR_NONE, "there are no more facts than %u", entries->len);
    const MetaEntry *entry = &g_array_index(entries, MetaEntry, index);
    *group = entry->group;
    *key = entry->key;
    *value = entry->value;
    return WEND_READ_OK;
}

/* -- worlds, ranks, sequences, classes -- */

int wend_read_world(WendRead *r, uint32_t world, const WendReadWorld **w)
{
    int status = check_world(r, w, world);
    if (status < 0)
        return status;
    if (world == WEND_READ_JOB)
        return read_fail(r, WEND_READ_ERROR_USAGE, "the job is no world");
    const WendWorld *inside = program_world(r->program, world);
    r->world = (WendReadWorld){inside->name, inside->first, inside->ranks};
    *w = &r->world;
    return WEND_READ_OK;
}

static const WendClass *class_of(const WendRead *r, guint rank)
{
    guint index = program_class_of(r->program, rank);
    return index < program_n_classes(r->program) ? program_class(r->program, index) : NULL;
}

int wend_read_rank(WendRead *r, uint32_t rank, const WendReadRank **info)
{
    int status = read_check(r, info);
    if (status == WEND_READ_OK)
        status = read_check_index(r, info, "rank", rank, program_ranks(r->program));
    if (status < 0)
        return status;
    if (!r->ends) {
        r->end_names = g_ptr_array_new_with_free_func(g_free);
        r->ends = terminations_of(r->program, r->end_names);
    }
    guint world = program_world_of(r->program, rank);
    const WendClass *class = class_of(r, rank);
    gboolean recorded = class != NULL && class->n_sequences > 0;
    r->rank = (WendReadRank){.world = world,
                             .world_rank = rank - program_world(r->program, world)->first,
                             .class_index =
                                 recorded ? program_class_of(r->program, rank) : WEND_READ_NO_INDEX,
                             .n_sequences = recorded ? class->n_sequences : 0,
                             .termination = r->ends[rank]};
    *info = &r->rank;
    return WEND_READ_OK;
}

int wend_read_sequence(WendRead *r, uint32_t rank, uint32_t index, const WendReadSequence **s)
{
    int status = read_check(r, s);
    if (status == WEND_READ_OK)
        status = read_check_index(r, s, "rank", rank, program_ranks(r->program));
    if (status < 0)
        return status;
    const WendClass *class = class_of(r, rank);
    status = read_check_index(r, s, "sequence", index, class != NULL ? class->n_sequences : 0);
    if (status < 0)
        return status;
    const WendSequence *inside = &class->sequences[index];
    r->sequence = (WendReadSequence){.callback = inside->kind == WEND_SEQUENCE_CALLBACK,
                                     .id = inside->id,
                                     .rule = inside->rule,
                                     .n_calls = program_rule(r->program, inside->rule)->length,
                                     .n_polls = program_polls(r->program, rank, index)};
    *s = &r->sequence;
    return WEND_READ_OK;
}

int wend_read_class(WendRead *r, uint32_t index, const WendReadClass **c)
{
    int status = read_check(r, c);
    if (status == WEND_READ_OK)
        status = read_check_index(r, c, "class", index, program_n_classes(r->program));
    if (status < 0)
        return status;
    const WendClass *class = program_class(r->program, index);
    read_summary(r);
    r->class =
        (WendReadClass){class->n_ranks, class->ranks, class->n_sequences, r->class_calls[index]};
    *c = &r->class;
    return WEND_READ_OK;
}

const char *wend_read_error_name(WendRead *r, int64_t return_code)
{
    if (return_code == 0)
        return "MPI_SUCCESS";
    if (!r || !r->program)
        return NULL;
    if (!r->texts)
        r->texts = g_string_chunk_new(1024);
    g_autofree char *key = g_strdup_printf("%" G_GINT64_FORMAT, return_code);
    g_autofree char *name = g_key_file_get_string(program_meta(r->program), "error", key, NULL);
    return name != NULL && *name != '\0' ? g_string_chunk_insert_const(r->texts, name) : NULL;
}

void read_facts_clear(WendRead *r)
{
    g_clear_pointer(&r->facts, g_ptr_array_unref);
    g_clear_pointer(&r->metas, g_ptr_array_unref);
    g_clear_pointer(&r->texts, g_string_chunk_free);
    g_clear_pointer(&r->ends, g_free);
    g_clear_pointer(&r->end_names, g_ptr_array_unref);
}
