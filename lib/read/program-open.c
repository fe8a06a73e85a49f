/* SPDX-License-Identifier: BSD-3-Clause */
/* program-open.c: makes a program from an archive, and frees it. */
#include "join.h"
#include "program-private.h"
#include "record/codec.h"

/* -- shards -- */

/* Reads an archive of a world whose ranks are in several members (docs/format.md, "Shards"). */

/* Whether the meta of P names shards. */
static gboolean shards_are(const WendProgram *p)
{
    return g_key_file_has_key(p->meta, "recording", SHARDS_KEY, NULL);
}

static gboolean refuse(const WendProgram *p, Error **error, const char *what)
{
    error_set(error, WEND_ERROR_INPUT, "%s: its shards: %s", container_name(p->container), what);
    return FALSE;
}

/* The first ranks of the shards, ascending; the caller frees them. NULL: the list is damaged. */
static gint *first_ranks(const WendProgram *p, gsize *n, Error **error)
{
    g_autofree gint *ranks = g_key_file_get_integer_list(p->meta, "recording", SHARDS_KEY, n, NULL);
    gboolean good = ranks != NULL && *n > 0 && *n < RANKSET_MAX;
    for (gsize i = 0; good && i < *n; i++)
        good = ranks[i] > (i ? ranks[i - 1] : -1) && (guint)ranks[i] < RANKSET_MAX;
    if (good)
        return g_steal_pointer(&ranks);
    refuse(p, error, "their first ranks are no ascending numbers");
    return NULL;
}

static guint lowest_rank(const WendProgram *p)
{
    guint lowest = G_MAXUINT;
    for (guint i = 0; i < p->n_classes; i++)
        if (p->classes[i].n_ranks > 0)
            lowest = MIN(lowest, p->classes[i].ranks[0]);
    return lowest;
}

/* Reads the shard whose first rank is RANK. FIRST is the program of the member "program". NULL: the
 * shard is damaged. */
static WendProgram *read_shard(const WendProgram *first, gint rank, Error **error)
{
    g_autofree char *member = g_strdup_printf(SHARD_MEMBER "%d", rank);
    WendProgram *p = program_new(first->more_constants);
    p->container = first->container;
    p->meta = g_key_file_ref(first->meta);
    p->is_partial = TRUE;
    p->ranks = first->ranks;
    p->class_of = first->class_of;
    gboolean good = program_read(p, member, error);
    if (good && lowest_rank(p) != (guint)rank) {
        g_autofree char *what = g_strdup_printf("rank %d is not the first of %s", rank, member);
        good = refuse(first, error, what);
    }
    p->container = NULL; /* it belongs to FIRST */
    if (!good)
        g_clear_pointer(&p, program_free);
    return p;
}

static gboolean add_shard(GPtrArray *parts, const WendProgram *p, gint first, Error **error)
{
    WendProgram *shard = read_shard(p, first, error);
    if (shard)
        g_ptr_array_add(parts, shard);
    return shard != NULL;
}

/* Adds shards to PARTS, down from the last one that begins at RANK or before it, until RANK has a
 * class. A shard has no rank below its first one. */
static gboolean add_shard_of(GPtrArray *parts, const WendProgram *p, guint rank, const gint *ranks,
                             gsize n, Error **error)
{
    gboolean good = TRUE;
    for (gsize i = n; good && i-- > 0 && rank < p->ranks && p->class_of[rank] == G_MAXUINT;)
        good = (guint)ranks[i] > rank || add_shard(parts, p, ranks[i], error);
    return good;
}

/* Reads "program" into P, which is in PARTS, and adds the shards to PARTS, or those for RANK. */
static gboolean read_members(GPtrArray *parts, WendProgram *p, gint64 rank, Error **error)
{
    gsize n = 0;
    g_autofree gint *ranks = first_ranks(p, &n, error);
    p->is_partial = TRUE;
    gboolean good = ranks && program_read(p, "program", error);
    if (good && rank != ALL_RANKS)
        return add_shard_of(parts, p, (guint)rank, ranks, n, error);
    for (gsize i = 0; good && i < n; i++)
        good = add_shard(parts, p, ranks[i], error);
    return good;
}

/* Reads "program" and the shards, and joins them to one program, which it returns. P has a
 * container and its meta and nothing else. Takes P, also on failure. Returns NULL and sets the
 * error if
 *
 * - the list of shards or a member is damaged,
 * - a rank is in two members, or
 * - a rank is in none although the recording is complete.
 *
 * If RANK is not ALL_RANKS it reads "program" and the shard with that rank alone. Then the ranks of
 * other shards have a class without calls. */
static WendProgram *shards_read(WendProgram *p, gint64 rank, Error **error)
{
    GPtrArray *parts = g_ptr_array_new_with_free_func((GDestroyNotify)program_free);
    g_ptr_array_add(parts, p);
    if (!read_members(parts, p, rank, error)) {
        g_ptr_array_unref(parts);
        return NULL;
    }
    WendProgram *all = join_programs(parts, TRUE);
    all->meta = g_key_file_ref(p->meta);
    Allowance *allowance = container_allowance(p->container);
    if (program_complete(all, rank == ALL_RANKS, allowance))
        return all;
    if (!allowance_error(allowance, container_name(p->container), error))
        refuse(p, error, "a rank is in none of them");
    program_free(all);
    return NULL;
}

/* Reads the only member into P and returns P. Frees P and returns NULL if the member is damaged. */
static WendProgram *read_alone(WendProgram *p, Error **error)
{
    if (program_read(p, "program", error))
        return p;
    program_free(p);
    return NULL;
}

/* RANK: the rank that is asked for, or ALL_RANKS. */
static WendProgram *open_container(Container *b, GPtrArray *more_constants, gint64 rank,
                                   Error **error)
{
    WendProgram *p = program_new(more_constants);
    p->container = b;
    if (program_read_meta(p, error))
        p = shards_are(p) ? shards_read(p, rank, error) : read_alone(p, error);
    else
        g_clear_pointer(&p, program_free);
    if (!p)
        return NULL;
    p->n_worlds = 1;
    p->worlds = program_new_block(p, 1, sizeof(WendWorld));
    p->worlds[0] = (WendWorld){.name = "", .ranks = p->ranks};
    return p;
}

WendProgram *program_from_container_with(Container *b, GPtrArray *more_constants, Error **error)
{
    return open_container(b, more_constants, ALL_RANKS, error);
}

WendProgram *program_from_container(Container *b, Error **error)
{
    return open_container(b, NULL, ALL_RANKS, error);
}

WendProgram *program_of_rank(Container *b, guint rank, Error **error)
{
    return open_container(b, NULL, rank, error);
}

static void slot_table_clear(WendSlotTable *t)
{
    rankset_clear(&t->ranks);
    delta_sequence_unref(t->deltas);
}

void program_free(WendProgram *p)
{
    if (!p)
        return;
    program_clear_sequences(p);
    for (guint i = 0; i < p->n_tables; i++)
        slot_table_clear(&p->tables[i]);
    for (guint i = 0; i < p->derived_tables->len; i++)
        slot_table_clear(p->derived_tables->pdata[i]);
    g_ptr_array_unref(p->derived_tables);
    comm_numbers_free(p->comms);
    g_clear_pointer(&p->meta, g_key_file_unref);
    g_hash_table_unref(p->datatypes);
    g_ptr_array_unref(p->more_constants);
    g_ptr_array_unref(p->blocks);
    g_ptr_array_unref(p->members);
    if (p->container)
        container_free(p->container);
    if (p->parts)
        g_ptr_array_unref(p->parts);
    if (p->names)
        g_ptr_array_unref(p->names);
    g_free(p);
}
