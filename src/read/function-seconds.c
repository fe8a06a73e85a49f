/* SPDX-License-Identifier: BSD-3-Clause */
/* function-seconds.c: see function-seconds.h. */
#include "config.h"

#include "function-seconds.h"

#include <stdlib.h>

struct FunctionSeconds {
    const WendProgram *p;
    GPtrArray *worlds; /* by world: GHashTable of a function's name -> WendRankTimes */
};

static GHashTable *times_of_world(const WendProgram *p, guint world)
{
    GHashTable *times = g_hash_table_new(g_str_hash, g_str_equal);
    guint n;
    const WendRankTimes *of = wend_program_rank_times(p, world, &n);
    for (guint i = 0; i < n; i++)
        g_hash_table_insert(times, (gpointer)of[i].function->name, (gpointer)&of[i]);
    return times;
}

FunctionSeconds *function_seconds_new(const WendProgram *p)
{
    FunctionSeconds *s = g_new0(FunctionSeconds, 1);
    s->p = p;
    s->worlds = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
    for (guint i = 0; i < wend_program_n_worlds(p); i++)
        g_ptr_array_add(s->worlds, times_of_world(p, i));
    return s;
}

void function_seconds_free(FunctionSeconds *s)
{
    g_ptr_array_unref(s->worlds);
    g_free(s);
}

static int compare_ranks(const void *a, const void *b)
{
    guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
    return (x > y) - (x < y);
}

double function_seconds_of(const FunctionSeconds *s, guint rank, const WendFunction *function)
{
    guint world = wend_program_world_of(s->p, rank);
    const WendRankTimes *times = g_hash_table_lookup(s->worlds->pdata[world], function->name);
    if (times == NULL || times->ranks == NULL)
        return -1;
    guint32 wanted = rank - wend_program_world(s->p, world)->first;
    const guint32 *found = bsearch(&wanted, times->ranks, times->n, sizeof wanted, compare_ranks);
    return found != NULL ? times->seconds[found - times->ranks] : -1;
}
