/* SPDX-License-Identifier: BSD-3-Clause */
/* terminations.c: see terminations.h. */
#include "terminations.h"

#include "record/checkpoint-file.h"

/* Sets HOW to NAME for each rank of SET ("3;5-7"). HOW has an entry for each of the N ranks of a
 * world. */
static void mark(const char **how, guint n, const char *set, const char *name)
{
    g_auto(GStrv) runs = g_strsplit(set, ";", -1);
    for (char **run = runs; *run; run++) {
        char *end;
        guint64 first = g_ascii_strtoull(*run, &end, 10),
                last = *end == '-' ? g_ascii_strtoull(end + 1, NULL, 10) : first;
        for (guint64 r = first; r <= last && r < n; r++)
            how[r] = name;
    }
}

const char **terminations_of(const WendProgram *p, GPtrArray *names)
{
    const char **how = g_new0(const char *, program_ranks(p) + 1);
    for (guint i = 0; i < program_n_worlds(p); i++) {
        const WendWorld *w = program_world(p, i);
        GKeyFile *meta = program_world_meta(p, i);
        g_auto(GStrv) keys = g_key_file_get_keys(meta, WEND_ENDED_GROUP, NULL, NULL);
        for (char **key = keys; key && *key; key++) {
            g_autofree char *set = g_key_file_get_string(meta, WEND_ENDED_GROUP, *key, NULL);
            g_ptr_array_add(names, g_strdup(*key));
            mark(how + w->first, w->ranks, set ? set : "",
                 g_ptr_array_index(names, names->len - 1));
        }
        g_autofree char *missing = g_key_file_get_string(meta, "recording", "missing", NULL);
        mark(how + w->first, w->ranks, missing ? missing : "", WEND_ENDED_NOTHING);
    }
    return how;
}

gboolean terminations_any_early(const WendProgram *p)
{
    for (guint i = 0; i < program_n_worlds(p); i++) {
        GKeyFile *meta = program_world_meta(p, i);
        if (g_key_file_has_group(meta, WEND_ENDED_GROUP)
            || g_key_file_has_key(meta, "recording", "missing", NULL))
            return TRUE;
    }
    return FALSE;
}
