/* SPDX-License-Identifier: BSD-3-Clause */
/* worlds.c: finds the worlds of a job in a recording's directory, and joins them to one program. */
#include "worlds.h"

#include <string.h>

#include "join.h"
#include "program-private.h"
#include "record/part.h"

/* -- names -- */

/* Compares names of worlds; numbers in names compare by their values. */
static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *worlds_list(const char *directory)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    GDir *dir = g_dir_open(directory, 0, NULL);
    const char *file;
    while (dir && (file = g_dir_read_name(dir))) {
        gsize prefix = strlen(WORLD_FILE_PREFIX), suffix = strlen(WORLD_FILE_SUFFIX),
              all = strlen(file);
        if (all <= prefix + suffix || !g_str_has_prefix(file, WORLD_FILE_PREFIX)
            || !g_str_has_suffix(file, WORLD_FILE_SUFFIX))
            continue;
        g_ptr_array_add(names, g_strndup(file + prefix, all - prefix - suffix));
    }
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(names, compare_names);
    return names;
}

/* -- joining -- */

/* The meta of the job: that of the first world, with the totals, the classes of errors and the
 * unrecorded functions of all worlds. */
static GKeyFile *join_meta(GPtrArray *worlds)
{
    GKeyFile *meta = g_key_file_new();
    const WendProgram *first = worlds->pdata[0];
    g_autofree char *text = g_key_file_to_data(first->meta, NULL, NULL);
    g_key_file_load_from_data(meta, text, -1, G_KEY_FILE_NONE, NULL);
    static const char *const totals[] = {"ranks", "calls", "polls", "frees"};
    for (guint k = 0; k < G_N_ELEMENTS(totals); k++) {
        guint64 sum = 0;
        for (guint i = 0; i < worlds->len; i++)
            sum += g_key_file_get_uint64(((WendProgram *)worlds->pdata[i])->meta, "recording",
                                         totals[k], NULL);
        g_key_file_set_uint64(meta, "recording", totals[k], sum);
    }
    guint64 left_out = 0;
    for (guint i = 0; i < worlds->len; i++)
        left_out +=
            g_key_file_get_uint64(((WendProgram *)worlds->pdata[i])->meta, "run", "left_out", NULL);
    if (left_out > 0)
        g_key_file_set_uint64(meta, "run", "left_out", left_out);
    static const char *const united[] = {"error", WEND_UNRECORDED_GROUP};
    for (guint i = 1; i < worlds->len; i++) {
        GKeyFile *other = ((WendProgram *)worlds->pdata[i])->meta;
        for (guint g = 0; g < G_N_ELEMENTS(united); g++) {
            g_auto(GStrv) keys = g_key_file_get_keys(other, united[g], NULL, NULL);
            for (guint k = 0; keys && keys[k]; k++) {
                g_autofree char *value = g_key_file_get_string(other, united[g], keys[k], NULL);
                if (value && !g_key_file_has_key(meta, united[g], keys[k], NULL))
                    g_key_file_set_string(meta, united[g], keys[k], value);
            }
        }
        if (!g_key_file_get_boolean(other, "recording", "complete", NULL))
            g_key_file_set_boolean(meta, "recording", "complete", FALSE);
    }
    return meta;
}

/* Joins WORLDS (WendProgram *) to one program. Takes WORLDS and NAMES. */
static WendProgram *join(GPtrArray *worlds, GPtrArray *names)
{
    WendProgram *all = join_programs(worlds, FALSE);
    all->n_worlds = worlds->len;
    all->worlds = program_new_block(all, worlds->len, sizeof(WendWorld));
    for (guint i = 0, first = 0; i < worlds->len; i++) {
        const WendProgram *p = worlds->pdata[i];
        all->worlds[i] =
            (WendWorld){.name = i ? names->pdata[i - 1] : "", .first = first, .ranks = p->ranks};
        first += p->ranks;
    }
    all->meta = join_meta(worlds);
    all->names = names;
    return all;
}

/* -- opening -- */

static WendProgram *open_file(const char *directory, const char *name, GPtrArray *more_constants,
                              Allowance *allowance, Error **error)
{
    g_autofree char *file = g_strconcat(WORLD_FILE_PREFIX, name, WORLD_FILE_SUFFIX, NULL),
                    *path = g_build_filename(directory, file, NULL);
    Container *b = container_open_within(path, allowance, error);
    return b ? program_from_container_with(b, more_constants, error) : NULL;
}

static WendProgram *open_all(const char *path, Allowance *allowance, Error **error)
{
    Container *b = container_open_within(path, allowance, error);
    WendProgram *first = b ? program_from_container(b, error) : NULL;
    if (!first || !g_file_test(path, G_FILE_TEST_IS_DIR))
        return first;
    GPtrArray *names = worlds_list(path),
              *worlds = g_ptr_array_new_with_free_func((GDestroyNotify)program_free);
    guint64 ranks = first->ranks;
    gboolean good = TRUE;
    g_ptr_array_add(worlds, first);
    for (guint i = 0; i < names->len && good; i++) {
        WendProgram *world =
            open_file(path, names->pdata[i], first->more_constants, allowance, error);
        if (world)
            g_ptr_array_add(worlds, world);
        good = world != NULL;
        if (good && (ranks += world->ranks) > RANKSET_MAX) {
            error_set(error, WEND_ERROR_INPUT, "%s: its worlds have too many ranks", path);
            good = FALSE;
        }
    }
    if (good && worlds->len > 1)
        return join(worlds, names);
    if (good)
        g_ptr_array_set_free_func(worlds, NULL);
    g_ptr_array_unref(worlds);
    g_ptr_array_unref(names);
    return good ? first : NULL;
}

static WendProgram *open_one(const char *path, guint number, Allowance *allowance, Error **error)
{
    g_autoptr(GPtrArray) names =
        g_file_test(path, G_FILE_TEST_IS_DIR) ? worlds_list(path) : g_ptr_array_new();
    if (number > names->len) {
        error_set(error, WEND_ERROR_USAGE, "%s has no world %u: they are 0 to %u", path, number,
                  names->len);
        return NULL;
    }
    if (number > 0)
        return open_file(path, names->pdata[number - 1], NULL, allowance, error);
    Container *b = container_open_within(path, allowance, error);
    return b ? program_from_container(b, error) : NULL;
}

WendProgram *program_open_within(const char *path, guint64 max_size, Error **error)
{
    g_return_val_if_fail(path, NULL);
    Allowance *allowance = allowance_new(max_size);
    WendProgram *p = open_all(path, allowance, error);
    allowance_unref(allowance);
    return p;
}

static gboolean has_more_worlds(const char *path)
{
    g_autoptr(GPtrArray) names =
        g_file_test(path, G_FILE_TEST_IS_DIR) ? worlds_list(path) : g_ptr_array_new();
    return names->len > 0;
}

WendProgram *program_open_rank(const char *path, guint rank, guint64 max_size, Error **error)
{
    g_return_val_if_fail(path, NULL);
    if (has_more_worlds(path))
        return program_open_within(path, max_size, error);
    Allowance *allowance = allowance_new(max_size);
    Container *b = container_open_within(path, allowance, error);
    WendProgram *p = b ? program_of_rank(b, rank, error) : NULL;
    allowance_unref(allowance);
    return p;
}

WendProgram *program_open(const char *path, Error **error)
{
    return program_open_within(path, 0, error);
}

WendProgram *program_open_world(const char *path, guint number, guint64 max_size, Error **error)
{
    g_return_val_if_fail(path, NULL);
    Allowance *allowance = allowance_new(max_size);
    WendProgram *p = open_one(path, number, allowance, error);
    allowance_unref(allowance);
    return p;
}
