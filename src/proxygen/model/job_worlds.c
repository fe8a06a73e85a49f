/* SPDX-License-Identifier: BSD-3-Clause */
/* job_worlds.c: see job_worlds.h. */
#include "job_worlds.h"

#include "lib/read/world-starts.h"

/* In the order of names, the K-th start of a rank belongs to its K-th call; the threads of a rank
 * come one after the other. */
static gint compare_starts(gconstpointer a, gconstpointer b)
{
    const WorldStart *s = a, *t = b;
    return s->rank != t->rank ? (s->rank > t->rank ? 1 : -1)
                              : (s->world > t->world) - (s->world < t->world);
}

GArray *job_worlds_starts(const WendProgram *p)
{
    GArray *starts = g_array_new(FALSE, FALSE, sizeof(WorldStart));
    g_autofree WendWorldStarter *starters = wend_world_starters(p);
    gboolean linked = TRUE;
    for (guint i = 1; i < wend_program_n_worlds(p) && linked; i++) {
        const WorldStart start = {starters[i].rank, i};
        linked = start.rank != G_MAXUINT;
        g_array_append_val(starts, start);
    }
    if (!linked)
        g_array_set_size(starts, 0);
    g_array_sort(starts, compare_starts);
    return starts;
}

static const char *const commands[] = {"command", "array_of_commands"};

gboolean job_worlds_is_start(const CallPattern *c)
{
    gboolean root = FALSE;
    for (guint i = 0; c->function->makes == WEND_MAKES_SPAWN && i < G_N_ELEMENTS(commands); i++) {
        const Arg *arg = call_pattern_arg_named(c, commands[i]);
        root |= arg && arg->n_in != WEND_ABSENT;
    }
    return root;
}

/* The number of calls of a rank that have started processes. */
static guint count_starts(const WendProgram *p, guint rank)
{
    const WendClass *class = wend_program_class(p, wend_program_class_of(p, rank));
    guint n = 0;
    for (guint s = 0; s < class->n_sequences; s++) {
        WendWalk *walk = wend_walk_new(p, rank, s, WEND_WALK_MAIN);
        const WendCall *call;
        while ((call = wend_walk_next(walk)) != NULL)
            n += wend_world_start_is(call);
        wend_walk_free(walk);
    }
    return n;
}

/* Whether the world of each such call is in the recording. */
static gboolean is_whole(const WendProgram *p)
{
    g_autoptr(GArray) starts = job_worlds_starts(p);
    gboolean whole = starts->len + 1 == wend_program_n_worlds(p);
    for (guint rank = 0, i = 0; rank < wend_program_ranks(p) && whole; rank++) {
        guint n = 0;
        for (; i < starts->len && g_array_index(starts, WorldStart, i).rank == rank; i++)
            n++;
        whole = n == count_starts(p, rank);
    }
    return whole;
}

WendProgram *job_worlds_open(const char *path, guint64 max_size, GError **error)
{
    WendProgram *p = wend_program_open_within(path, max_size, error);
    if (!p || wend_program_n_worlds(p) == 1 || is_whole(p))
        return p;
    wend_program_free(p);
    return wend_program_open_world(path, 0, max_size, error);
}

gboolean job_worlds_several(const Plan *plan)
{
    return wend_program_n_worlds(plan->program) > 1;
}

const WendWorld *job_worlds_of(const Plan *plan, guint rank)
{
    return wend_program_world(plan->program, wend_program_world_of(plan->program, rank));
}
