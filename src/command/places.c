/* SPDX-License-Identifier: BSD-3-Clause */
/* places.c: see places.h. */
#include "config.h"

#include "places.h"

static char *own_folder(void)
{
    char *exe = g_file_read_link("/proc/self/exe", NULL);
    char *folder = exe ? g_path_get_dirname(exe) : NULL;
    g_free(exe);
    return folder;
}

/* FOLDER as seen from BINDIR: ../lib. NULL if they have no folder in common. */
static char *relative(const char *folder)
{
    const char *bin = WEND_BINDIR;
    size_t common = 0;
    for (size_t i = 0; bin[i] == folder[i]; i++) {
        if (bin[i] == '/')
            common = i;
        if (bin[i] == '\0')
            return NULL;
    }
    if (common == 0)
        return NULL;
    GString *path = g_string_new(NULL);
    for (const char *p = bin + common; *p; p++)
        if (*p == '/')
            g_string_append(path, "../");
    g_string_append(path, folder + common + 1);
    return g_string_free(path, FALSE);
}

char **places_of(const char *folder, const char *const *uninstalled)
{
    GPtrArray *places = g_ptr_array_new();
    char *own = own_folder(), *moved = relative(folder);
    for (; own && *uninstalled; uninstalled++)
        g_ptr_array_add(places, g_build_filename(own, *uninstalled, NULL));
    if (own && moved)
        g_ptr_array_add(places, g_build_filename(own, moved, NULL));
    g_ptr_array_add(places, g_strdup(folder));
    g_ptr_array_add(places, NULL);
    g_free(own);
    g_free(moved);
    return (char **)g_ptr_array_free(places, FALSE);
}
