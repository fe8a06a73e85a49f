/* SPDX-License-Identifier: BSD-3-Clause */
/* target.c: see target.h. */
#include "target.h"

#include <string.h>

#include "config.h"
#include "lib/base/error.h"
#include "lib/record/functions.h"
#include "src/command/places.h"

#define SUFFIX ".target"
#define GROUP "library"

/* The files of all families, by family. If a family has files in several folders, the first one
 * counts. */
static GHashTable *target_files(void)
{
    /* libtool keeps the program in .libs */
    static const char *const uninstalled[] = {"../spec", "spec", NULL};
    char **places = places_of(WEND_PKGDATADIR, uninstalled);
    GHashTable *files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (char **place = places; *place; place++) {
        GDir *folder = g_dir_open(*place, 0, NULL);
        const char *name;
        while (folder && (name = g_dir_read_name(folder))) {
            if (!g_str_has_suffix(name, SUFFIX))
                continue;
            char *family = g_strndup(name, strlen(name) - strlen(SUFFIX));
            if (!g_hash_table_contains(files, family))
                g_hash_table_insert(files, g_strdup(family), g_build_filename(*place, name, NULL));
            g_free(family);
        }
        if (folder)
            g_dir_close(folder);
    }
    g_strfreev(places);
    return files;
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static gboolean is_mpi(const char *name)
{
    return wend_function_by_name(name) || wend_functions_constant_by_name(name) >= 0;
}

/* The names of NAMES that the library in FILE lacks, as a phrase. NULL if it lacks none, or on an
 * error. */
static char *lacking(const char *file, GHashTable *names, GError **error)
{
    g_autoptr(GKeyFile) target = g_key_file_new();
    g_autofree char *title = NULL;
    if (!g_key_file_load_from_file(target, file, G_KEY_FILE_NONE, error)
        || !(title = g_key_file_get_string(target, GROUP, "name", error)))
        return NULL;
    g_auto(GStrv) has = g_key_file_get_string_list(target, GROUP, "has", NULL, error);
    if (!has)
        return NULL;
    g_autoptr(GHashTable) set = g_hash_table_new(g_str_hash, g_str_equal);
    for (char **name = has; *name; name++)
        g_hash_table_add(set, *name);
    g_autoptr(GPtrArray) missing = g_ptr_array_new();
    GHashTableIter i;
    gpointer name;
    g_hash_table_iter_init(&i, names);
    while (g_hash_table_iter_next(&i, &name, NULL))
        if (is_mpi(name) && !g_hash_table_contains(set, name))
            g_ptr_array_add(missing, name);
    if (missing->len == 0)
        return NULL;
    g_ptr_array_sort(missing, by_name);
    GString *text = g_string_new(title);
    for (guint k = 0; k < missing->len; k++)
        g_string_append_printf(text, "%s%s",
                               k == 0                 ? " lacks "
                               : k + 1 < missing->len ? ", "
                                                      : " and ",
                               (char *)missing->pdata[k]);
    return g_string_free(text, FALSE);
}

char *target_lacks(const char *family, GHashTable *names, GError **error)
{
    g_autoptr(GHashTable) files = target_files();
    if (family) {
        const char *file = g_hash_table_lookup(files, family);
        if (file)
            return lacking(file, names, error);
        g_autofree char **known = (char **)g_hash_table_get_keys_as_array(files, NULL);
        g_autofree char *list = g_strjoinv(" ", known);
        g_set_error(error, WEND_ERROR, WEND_ERROR_USAGE,
                    "there is no MPI library %s in this installation: %s", family,
                    *list ? list : "none");
        return NULL;
    }
    g_autoptr(GList) all = g_list_sort(g_hash_table_get_values(files), (GCompareFunc)strcmp);
    char *text = NULL;
    for (const GList *l = all; l && !text; l = l->next)
        text = lacking(l->data, names, NULL);
    return text;
}
