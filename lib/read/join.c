/* SPDX-License-Identifier: BSD-3-Clause */
/* join.c: see join.h. */
#include "join.h"

#include <string.h>

#include "ranks/rank-vector.h"

/* The numbers in the joined program of the first rank, shape, … of one part. */
typedef struct {
    guint ranks, shapes, terminals, rules, classes;
} Base;

/* Moves a slot to the ranks of the whole. BY_WORLD_RANK: its value is relative to the rank in the
 * world, which changes. */
static void move_slot(WendSlot *s, gboolean by_world_rank, const Base *base)
{
    if (s->form != WEND_SLOT_CONSTANT && by_world_rank)
        s->value = rank_vector_word_sum(s->value, -(gint64)base->ranks);
    s->first_rank += base->ranks;
}

static const WendSymbol *move_symbols(WendProgram *all, const WendRule *r, guint rules,
                                      guint terminals)
{
    WendSymbol *symbols = program_new_block(all, r->n, sizeof(WendSymbol));
    for (guint i = 0; i < r->n; i++) {
        symbols[i] = r->symbols[i];
        symbols[i].id += symbols[i].is_rule ? rules : terminals;
    }
    return symbols;
}

static void join_terminals(WendProgram *all, const WendProgram *p, const Base *base)
{
    for (guint i = 0; i < p->n_terminals; i++) {
        WendTerminal *t = &all->terminals[base->terminals + i];
        *t = p->terminals[i];
        gboolean has_self = (p->shapes[t->shape].function->flags & WEND_F_SELF) != 0;
        t->shape += base->shapes;
        WendSlot *slots = program_new_block(all, t->n_slots, sizeof(WendSlot));
        for (guint k = 0; k < t->n_slots; k++) {
            slots[k] = t->slots[k];
            move_slot(&slots[k], k == 0 || !has_self, base);
        }
        t->slots = slots;
    }
}

static void join_sequence(WendProgram *all, SequenceData *to, const SequenceData *from,
                          const Base *base)
{
    *to = *from;
    to->borrowed = FALSE;
    to->shapes = program_new_block(all, from->n_shapes, sizeof(ShapeOutcomes));
    for (guint i = 0; i < from->n_shapes; i++) {
        ShapeOutcomes *o = &to->shapes[i];
        *o = from->shapes[i];
        o->shape += base->shapes;
        o->by_index = NULL;
        o->contents = program_new_block(all, o->n_contents, sizeof(OutcomeContent));
        for (guint c = 0; c < o->n_contents; c++) {
            o->contents[c] = from->shapes[i].contents[c];
            o->contents[c].columns = NULL;
            if (from->shapes[i].contents[c].columns) {
                o->contents[c].columns =
                    program_new_block(all, o->contents[c].width, sizeof(DeltaSequence *));
                for (guint k = 0; k < o->contents[c].width; k++)
                    o->contents[c].columns[k] =
                        delta_sequence_ref(from->shapes[i].contents[c].columns[k]);
            }
            o->contents[c].ranks = rankset_moved(&o->contents[c].ranks, base->ranks);
        }
    }
    to->terminals = program_new_block(all, from->n_terminals, sizeof(guint32));
    for (guint i = 0; i < from->n_terminals; i++)
        to->terminals[i] = from->terminals[i] + base->terminals;
    to->poll_tables = program_new_block(all, from->n_poll_tables, sizeof(PollTerminals));
    for (guint i = 0; i < from->n_poll_tables; i++) {
        PollTerminals *t = &to->poll_tables[i];
        *t = from->poll_tables[i];
        t->ranks = rankset_moved(&t->ranks, base->ranks);
        t->terminals = program_new_block(all, t->n, sizeof(guint32));
        for (guint k = 0; k < t->n; k++)
            t->terminals[k] = from->poll_tables[i].terminals[k] + base->terminals;
    }
    to->poll_grammars = program_new_block(all, from->n_poll_grammars, sizeof(PollGrammar));
    for (guint i = 0; i < from->n_poll_grammars; i++) {
        PollGrammar *g = &to->poll_grammars[i];
        *g = from->poll_grammars[i];
        /* Symbols are not moved, because they are numbers in the poll table. */
        g->ranks = rankset_moved(&g->ranks, base->ranks);
    }
}

static void join_classes(WendProgram *all, const WendProgram *p, const Base *base)
{
    for (guint i = 0; i < p->n_classes; i++) {
        const WendClass *from = &p->classes[i];
        WendClass *to = &all->classes[base->classes + i];
        guint *ranks = program_new_block(all, from->n_ranks, sizeof(guint));
        guint n = program_class_all_sequences(from);
        WendSequence *sequences = program_new_block(all, n, sizeof(WendSequence));
        SequenceData *data = program_new_block(all, n, sizeof(SequenceData));
        for (guint r = 0; r < from->n_ranks; r++)
            all->class_of[ranks[r] = from->ranks[r] + base->ranks] = base->classes + i;
        for (guint q = 0; q < n; q++) {
            sequences[q] = from->sequences[q];
            sequences[q].rule += base->rules;
            join_sequence(all, &data[q], &p->class_data[i].sequences[q], base);
        }
        *to = (WendClass){from->n_ranks, ranks, from->n_sequences, sequences, from->n_orders};
        all->class_data[base->classes + i].sequences = data;
    }
}

static void join_datatypes(WendProgram *all, const WendProgram *p)
{
    GHashTableIter iter;
    gpointer word, facts;
    g_hash_table_iter_init(&iter, p->datatypes);
    while (g_hash_table_iter_next(&iter, &word, &facts))
        g_hash_table_insert(all->datatypes, word, facts);
}

static void join_program(WendProgram *all, const WendProgram *p, const Base *base)
{
    if (p->n_shapes)
        memcpy(all->shapes + base->shapes, p->shapes, p->n_shapes * sizeof(WendShape));
    join_terminals(all, p, base);
    for (guint r = 0; r < p->n_rules; r++) {
        all->rules[base->rules + r] = p->rules[r];
        all->rules[base->rules + r].symbols =
            move_symbols(all, &p->rules[r], base->rules, base->terminals);
    }
    join_classes(all, p, base);
    join_datatypes(all, p);
}

WendProgram *join_programs(GPtrArray *parts, gboolean one_world)
{
    const WendProgram *first = parts->pdata[0];
    WendProgram *all = program_new(first->more_constants);
    Base base = {0};
    all->ranks = one_world ? first->ranks : 0;
    for (guint i = 0; i < parts->len; i++) {
        const WendProgram *p = parts->pdata[i];
        all->ranks += one_world ? 0 : p->ranks;
        all->n_shapes += p->n_shapes;
        all->n_terminals += p->n_terminals;
        all->n_rules += p->n_rules;
        all->n_classes += p->n_classes;
    }
    all->shapes = program_new_block(all, all->n_shapes, sizeof(WendShape));
    all->terminals = program_new_block(all, all->n_terminals, sizeof(WendTerminal));
    all->rules = program_new_block(all, all->n_rules, sizeof(WendRule));
    all->classes = program_new_block(all, all->n_classes, sizeof(WendClass));
    all->class_data = program_new_block(all, all->n_classes, sizeof(ClassData));
    all->class_of = program_new_block(all, all->ranks, sizeof(guint));
    memset(all->class_of, 0xff, all->ranks * sizeof(guint));
    for (guint i = 0; i < parts->len; i++) {
        const WendProgram *p = parts->pdata[i];
        join_program(all, p, &base);
        base = (Base){base.ranks + (one_world ? 0 : p->ranks), base.shapes + p->n_shapes,
                      base.terminals + p->n_terminals, base.rules + p->n_rules,
                      base.classes + p->n_classes};
    }
    if (one_world)
        all->rank_times = first->rank_times; /* "program" has them, and the shards do not */
    all->parts = parts;
    return all;
}
