/* SPDX-License-Identifier: BSD-3-Clause */
/* world-starts.c: see world-starts.h. */
#include "world-starts.h"

#include <string.h>

static const WendWorldStarter nobody = {G_MAXUINT, 0, 0};

/* Reads a number without sign or space, and moves *AT behind it. FALSE: there is none. */
static gboolean take_number(const char **at, guint64 *number)
{
    char *end;
    if (!g_ascii_isdigit(**at))
        return FALSE;
    *number = g_ascii_strtoull(*at, &end, 10);
    *at = end;
    return *number < G_MAXUINT32;
}

/* Reads "RANK.N" or "RANKtTHREAD.N". FALSE: TEXT is not of this form. */
static gboolean read_start(const char *text, guint64 *rank, guint64 *thread, guint64 *number)
{
    *thread = 0;
    if (!take_number(&text, rank))
        return FALSE;
    if (*text == 't') {
        text++;
        if (!take_number(&text, thread))
            return FALSE;
    }
    if (*text++ != '.')
        return FALSE;
    return take_number(&text, number) && *number > 0 && *text == '\0';
}

static WendWorldStarter starter_of(const WendProgram *p, GHashTable *worlds, guint world)
{
    const char *name = program_world(p, world)->name, *last = strrchr(name, '-');
    g_autofree char *before = g_strndup(name, last ? (gsize)(last - name) : 0);
    gpointer found;
    guint64 rank, thread, number;
    if (!read_start(last ? last + 1 : name, &rank, &thread, &number)
        || !g_hash_table_lookup_extended(worlds, before, NULL, &found)
        || GPOINTER_TO_UINT(found) >= world)
        return nobody;
    const WendWorld *by = program_world(p, GPOINTER_TO_UINT(found));
    return rank < by->ranks
               ? (WendWorldStarter){by->first + (guint)rank, (gint64)thread, number - 1}
               : nobody;
}

WendWorldStarter *world_starters(const WendProgram *p)
{
    guint n = program_n_worlds(p);
    WendWorldStarter *starters = g_new(WendWorldStarter, n);
    g_autoptr(GHashTable) worlds = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < n; i++)
        g_hash_table_insert(worlds, (gpointer)program_world(p, i)->name, GUINT_TO_POINTER(i));
    starters[0] = nobody;
    for (guint i = 1; i < n; i++)
        starters[i] = starter_of(p, worlds, i);
    return starters;
}

gboolean world_start_is(const WendCall *call)
{
    static const char *const commands[] = {"command", "array_of_commands"};
    if (call->failed || call->function->makes != WEND_MAKES_SPAWN)
        return FALSE;
    for (guint i = 0; i < G_N_ELEMENTS(commands); i++) {
        const WendArg *arg = call_arg(call, commands[i]);
        if (arg && arg->n_in != WEND_ABSENT)
            return TRUE;
    }
    return FALSE;
}
