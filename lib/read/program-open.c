/* SPDX-License-Identifier: BSD-3-Clause */
/* program-open.c: makes a program from an archive, and frees it. */
#include "program-private.h"
#include "shards.h"

/* Reads the only member into P and returns P. Frees P and returns NULL if the member is damaged. */
static WendProgram *read_alone(WendProgram *p, GError **error)
{
    if (program_read(p, "program", error))
        return p;
    wend_program_free(p);
    return NULL;
}

/* RANK: the rank that is asked for, or ALL_RANKS. */
static WendProgram *open_container(Container *b, GPtrArray *more_constants, gint64 rank,
                                   GError **error)
{
    WendProgram *p = program_new(more_constants);
    p->container = b;
    if (program_read_meta(p, error))
        p = shards_are(p) ? shards_read(p, rank, error) : read_alone(p, error);
    else
        g_clear_pointer(&p, wend_program_free);
    if (!p)
        return NULL;
    p->n_worlds = 1;
    p->worlds = program_new_block(p, 1, sizeof(WendWorld));
    p->worlds[0] = (WendWorld){.name = "", .ranks = p->ranks};
    return p;
}

WendProgram *program_from_container_with(Container *b, GPtrArray *more_constants, GError **error)
{
    return open_container(b, more_constants, ALL_RANKS, error);
}

WendProgram *program_from_container(Container *b, GError **error)
{
    return open_container(b, NULL, ALL_RANKS, error);
}

WendProgram *program_of_rank(Container *b, guint rank, GError **error)
{
    return open_container(b, NULL, rank, error);
}

static void slot_table_clear(WendSlotTable *t)
{
    rankset_clear(&t->ranks);
    delta_sequence_unref(t->deltas);
}

void wend_program_free(WendProgram *p)
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
