/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c: gives the data of a program. */
#include "program-private.h"
#include "merge/hosts.h"
#include "base/lower-bound.h"
#include "ranks/rank-vector.h"
#include "record/codec.h"

#include <string.h>

void *program_new_block(WendProgram *p, gsize n, gsize size)
{
    void *block = g_malloc0_n(n + 1, size);
    g_ptr_array_add(p->blocks, block);
    return block;
}

gint64 program_constant_word(const char *name)
{
    int index = functions_constant_by_name(name);
    return index < 0 ? WEND_UNKNOWN : WEND_CONST(index);
}

WendProgram *program_new(GPtrArray *more_constants)
{
    WendProgram *p = g_new0(WendProgram, 1);
    p->members = g_ptr_array_new_with_free_func((GDestroyNotify)bytes_unref);
    p->blocks = g_ptr_array_new_with_free_func(g_free);
    p->derived_tables = g_ptr_array_new();
    p->more_constants =
        more_constants ? g_ptr_array_ref(more_constants) : g_ptr_array_new_with_free_func(g_free);
    p->datatypes = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, NULL);
    p->any_source = program_constant_word("MPI_ANY_SOURCE");
    p->any_tag = program_constant_word("MPI_ANY_TAG");
    p->request_null = program_constant_word("MPI_REQUEST_NULL");
    p->proc_null = program_constant_word("MPI_PROC_NULL");
    p->undefined = program_constant_word("MPI_UNDEFINED");
    p->comm_world = program_constant_word("MPI_COMM_WORLD");
    return p;
}

GKeyFile *program_meta(const WendProgram *p)
{
    return p->meta;
}
guint program_ranks(const WendProgram *p)
{
    return p->ranks;
}

guint64 program_n_hosts(const WendProgram *p)
{
    g_autofree char *hosts = g_key_file_get_string(p->meta, "run", "hosts", NULL);
    return hosts ? hosts_count(hosts) : 0;
}

Container *program_container(const WendProgram *p, guint *rank)
{
    while (!p->container && p->parts) {
        guint world = p->n_worlds > 1 ? program_world_of(p, *rank) : 0;
        *rank -= p->n_worlds > 1 ? program_world(p, world)->first : 0;
        p = p->parts->pdata[world];
    }
    return p->container;
}

guint64 program_archive_size(const WendProgram *p)
{
    guint64 bytes = p->container ? container_file_bytes(p->container) : 0;
    for (guint i = 0; p->parts && i < p->parts->len; i++)
        bytes += program_archive_size(p->parts->pdata[i]);
    return bytes;
}

guint64 program_member_bytes(const WendProgram *p)
{
    guint64 bytes = p->container ? container_member_bytes(p->container) : 0;
    for (guint i = 0; p->parts && i < p->parts->len; i++)
        bytes += program_member_bytes(p->parts->pdata[i]);
    return bytes;
}

/* -- worlds -- */

guint program_n_worlds(const WendProgram *p)
{
    return p->n_worlds;
}

const WendWorld *program_world(const WendProgram *p, guint i)
{
    g_return_val_if_fail(i < p->n_worlds, NULL);
    return &p->worlds[i];
}

guint program_world_of(const WendProgram *p, guint rank)
{
    return LAST_WHERE(i, p->n_worlds, p->worlds[i].first <= rank);
}

GKeyFile *program_world_meta(const WendProgram *p, guint i)
{
    g_return_val_if_fail(i < p->n_worlds, NULL);
    return p->parts ? ((WendProgram *)p->parts->pdata[i])->meta : p->meta;
}

/* -- rules, shapes, terminals, classes -- */

guint program_n_rules(const WendProgram *p)
{
    return p->n_rules;
}
guint program_n_shapes(const WendProgram *p)
{
    return p->n_shapes;
}
guint program_n_terminals(const WendProgram *p)
{
    return p->n_terminals;
}
guint program_n_classes(const WendProgram *p)
{
    return p->n_classes;
}

const WendRule *program_rule(const WendProgram *p, guint rule)
{
    g_return_val_if_fail(rule < p->n_rules, NULL);
    return &p->rules[rule];
}

const WendShape *program_shape(const WendProgram *p, guint shape)
{
    g_return_val_if_fail(shape < p->n_shapes, NULL);
    return &p->shapes[shape];
}

const WendTerminal *program_terminal(const WendProgram *p, guint terminal)
{
    g_return_val_if_fail(terminal < p->n_terminals, NULL);
    return &p->terminals[terminal];
}

const WendClass *program_class(const WendProgram *p, guint i)
{
    g_return_val_if_fail(i < p->n_classes, NULL);
    return &p->classes[i];
}

guint program_class_of(const WendProgram *p, guint rank)
{
    g_return_val_if_fail(rank < p->ranks, G_MAXUINT);
    return p->class_of[rank];
}

/* -- slots -- */

static gint64 table_value(const WendSlot *s, guint rank, gint64 self)
{
    const WendSlotTable *t = s->table;
    guint32 index;
    if (rank < s->first_rank || !rankset_find(&t->ranks, rank - s->first_rank, &index))
        return WEND_ABSENT;
    gint64 word = delta_sequence_at(t->deltas, index);
    return t->of_self && !word_is_special(word)
               ? rank_vector_word_sum(self, rank_vector_word_sum(word, s->value))
               : word;
}

static gint64 slot_value(const WendSlot *s, guint rank, gint64 self)
{
    switch (s->form) {
    case WEND_SLOT_CONSTANT:
        return s->value;
    case WEND_SLOT_SELF:
        return rank_vector_word_sum(self, s->value);
    default:
        return table_value(s, rank, self);
    }
}

gint64 program_slot(const WendProgram *p, guint terminal, guint slot, guint rank)
{
    g_return_val_if_fail(terminal < p->n_terminals && slot < p->terminals[terminal].n_slots,
                         WEND_ABSENT);
    const WendTerminal *t = &p->terminals[terminal];
    gint64 self = rank;
    if (slot > 0 && (p->shapes[t->shape].function->flags & WEND_F_SELF))
        self = slot_value(&t->slots[0], rank, rank);
    return slot_value(&t->slots[slot], rank, self);
}

/* -- timing -- */

const WendRankTimes *program_rank_times(const WendProgram *p, guint world, guint *n)
{
    const WendProgram *of = p->n_worlds > 1 ? p->parts->pdata[world] : p;
    *n = of->rank_times.n;
    return of->rank_times.of;
}

void program_timing(const WendProgram *p, guint class_index, guint sequence, guint terminal,
                    WendTiming *duration, WendTiming *interval)
{
    if (duration)
        *duration = (WendTiming){0};
    if (interval)
        *interval = (WendTiming){0};
    g_return_if_fail(class_index < p->n_classes && sequence < p->classes[class_index].n_sequences);
    const SequenceData *s = &p->class_data[class_index].sequences[sequence];
    guint low = LOWER_BOUND(i, s->n_terminals, s->terminals[i] < terminal);
    if (!s->timed || low == s->n_terminals || s->terminals[low] != terminal)
        return;
    WendTiming *out[] = {duration, interval};
    for (guint i = 0; i < G_N_ELEMENTS(out); i++) {
        const TimingCount *t = &s->timed[2 * low + i];
        if (!out[i])
            continue;
        *out[i] = s->times[i][t->row];
        out[i]->count = t->count;
    }
}

/* -- outcomes -- */

guint32 program_class_index_of(const WendClass *k, guint rank)
{
    guint low = LOWER_BOUND(i, k->n_ranks, k->ranks[i] < rank);
    return low < k->n_ranks && k->ranks[low] == rank ? low : k->n_ranks;
}

enum { MANY_CONTENTS = 8 };

static void index_contents(const WendClass *k, ShapeOutcomes *o)
{
    o->by_index = g_new(guint32, k->n_ranks);
    for (guint i = 0; i < k->n_ranks; i++)
        o->by_index[i] = o->n_contents;
    for (guint c = 0; c < o->n_contents; c++) {
        g_autofree guint32 *ranks = rankset_expand(&o->contents[c].ranks);
        for (guint32 i = 0; i < o->contents[c].ranks.n; i++) {
            guint32 at = program_class_index_of(k, ranks[i]);
            if (at < k->n_ranks)
                o->by_index[at] = c;
        }
    }
}

const OutcomeContent *outcome_content(const WendProgram *p, guint rank, guint sequence,
                                      guint32 shape, guint64 *entries)
{
    guint class = program_class_of(p, rank);
    if (class >= p->n_classes || sequence >= program_class_all_sequences(&p->classes[class]))
        return NULL;
    const SequenceData *s = &p->class_data[class].sequences[sequence];
    guint low = LOWER_BOUND(i, s->n_shapes, s->shapes[i].shape < shape);
    if (low == s->n_shapes || s->shapes[low].shape != shape)
        return NULL;
    ShapeOutcomes *o = &s->shapes[low];
    *entries = o->entries;
    if (o->n_contents == 1 && o->contents[0].ranks.n == 0)
        return &o->contents[0];
    if (o->n_contents > MANY_CONTENTS) {
        const WendClass *k = &p->classes[class];
        if (!o->by_index)
            index_contents(k, o);
        guint32 c = o->by_index[program_class_index_of(k, rank)];
        return c < o->n_contents ? &o->contents[c] : NULL;
    }
    for (guint c = 0; c < o->n_contents; c++)
        if (rankset_contains(&o->contents[c].ranks, rank))
            return &o->contents[c];
    return NULL;
}

/* -- reading outcomes -- */

void outcome_reader_init(OutcomeReader *r, const OutcomeContent *content, guint64 entries)
{
    *r = (OutcomeReader){.content = content, .entries = content ? entries : 0};
    r->words = g_array_sized_new(FALSE, TRUE, sizeof(gint64), 8);
    if (!content)
        return;
    if (content->columns)
        r->now = g_new0(DeltaSequenceRun, content->width + 1);
    else if (!content->same)
        outcome_runs_init(&r->runs, content->runs, content->n, content->constants,
                          content->n_constants);
}

void outcome_reader_clear(OutcomeReader *r)
{
    g_free(r->now);
    g_array_unref(r->words);
    outcome_runs_clear(&r->runs);
}

static guint64 next_of_columns(OutcomeReader *r)
{
    guint64 repeats = r->entries - r->at;
    for (guint i = 0; i < r->content->width; i++) {
        DeltaSequenceRun *now = &r->now[i];
        if (now->count == 0)
            *now = delta_sequence_run(r->content->columns[i], r->at);
        g_array_index(r->words, gint64, i) = now->value;
        repeats = MIN(repeats, now->step ? 1 : now->count);
    }
    for (guint i = 0; i < r->content->width; i++) {
        /* if the step is not 0, repeats is 1 */
        r->now[i].value = (gint64)((guint64)r->now[i].value + (guint64)r->now[i].step);
        r->now[i].count -= repeats;
    }
    return repeats;
}

guint64 outcome_reader_next(OutcomeReader *r)
{
    const OutcomeContent *content = r->content;
    guint64 repeats = r->entries - r->at;
    if (repeats == 0)
        return 0;
    if (content->columns) {
        g_array_set_size(r->words, content->width);
        repeats = next_of_columns(r);
    } else if (content->same) {
        g_array_set_size(r->words, 0);
        g_array_append_vals(r->words, content->same, content->width);
    } else {
        const gint64 *words;
        guint n;
        /* cannot happen: the entries were counted when the program was opened */
        if (!outcome_runs_next_run(&r->runs, &repeats, &words, &n))
            return 0;
        g_array_set_size(r->words, 0);
        g_array_append_vals(r->words, words, n);
    }
    r->at += repeats;
    return repeats;
}

struct WendOutcomes {
    OutcomeReader reader;
};

WendOutcomes *program_outcomes(const WendProgram *p, guint rank, guint sequence, guint shape)
{
    WendOutcomes *o = g_new0(WendOutcomes, 1);
    guint64 entries = 0;
    const OutcomeContent *content = outcome_content(p, rank, sequence, shape, &entries);
    outcome_reader_init(&o->reader, content, entries);
    return o;
}

gboolean outcomes_next_run(WendOutcomes *o, guint64 *repeats, const gint64 **words, guint *n)
{
    *repeats = outcome_reader_next(&o->reader);
    *n = o->reader.words->len;
    *words = (const gint64 *)(gpointer)o->reader.words->data;
    return *repeats > 0;
}

void outcomes_free(WendOutcomes *o)
{
    if (!o)
        return;
    outcome_reader_clear(&o->reader);
    g_free(o);
}

gboolean program_poll_calls(const WendProgram *p, guint rank, guint sequence, WendPolls *polls)
{
    g_return_val_if_fail(rank < p->ranks, FALSE);
    guint class = p->class_of[rank];
    g_return_val_if_fail(sequence < p->classes[class].n_sequences, FALSE);
    const SequenceData *s = &p->class_data[class].sequences[sequence];
    const PollGrammar *grammar = NULL;
    const PollTerminals *table = NULL;
    for (guint i = 0; i < s->n_poll_grammars && !grammar; i++)
        if (rankset_contains(&s->poll_grammars[i].ranks, rank))
            grammar = &s->poll_grammars[i];
    for (guint i = 0; i < s->n_poll_tables && !table; i++)
        if (rankset_contains(&s->poll_tables[i].ranks, rank))
            table = &s->poll_tables[i];
    if (!grammar || !table)
        return FALSE;
    *polls = (WendPolls){grammar->n_rules, grammar->rules, table->terminals, grammar->after};
    return TRUE;
}

guint64 program_polls(const WendProgram *p, guint rank, guint sequence)
{
    guint class = program_class_of(p, rank);
    if (class >= p->n_classes || sequence >= p->classes[class].n_sequences)
        return 0;
    const SequenceData *s = &p->class_data[class].sequences[sequence];
    for (guint g = 0; g < s->n_poll_grammars; g++)
        if (rankset_contains(&s->poll_grammars[g].ranks, rank))
            return s->poll_grammars[g].length;
    return 0;
}

guint32 *program_rule_terminals(const WendProgram *p, guint rule, guint *n)
{
    g_autofree guint8 *rules = g_new0(guint8, p->n_rules + 1),
                      *terminals = g_new0(guint8, p->n_terminals + 1);
    rules[rule] = 1;
    for (guint r = rule + 1; r-- > 0;) { /* rules use only rules before them */
        for (guint k = 0; rules[r] && k < p->rules[r].n; k++) {
            const WendSymbol *s = &p->rules[r].symbols[k];
            if (s->is_rule)
                rules[s->id] = 1;
            else
                terminals[s->id] = 1;
        }
    }
    GArray *out = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 t = 0; t < p->n_terminals; t++)
        if (terminals[t])
            g_array_append_val(out, t);
    *n = out->len;
    return (guint32 *)g_array_free(out, FALSE);
}

/* -- constants -- */

gboolean program_datatype(const WendProgram *p, gint64 constant, gint64 facts[5])
{
    const gint64 *found = g_hash_table_lookup(p->datatypes, &constant);
    if (found)
        memcpy(facts, found, 5 * sizeof(gint64));
    return found != NULL;
}

const char *program_constant_name(const WendProgram *p, gint64 word)
{
    if (!word_is_const(word))
        return NULL;
    guint index = word_const_index(word);
    if (index < mpi_n_constants)
        return mpi_constants[index];
    index -= mpi_n_constants;
    return p && index < p->more_constants->len ? g_ptr_array_index(p->more_constants, index) : NULL;
}

char *arg_string(const WendArg *arg, gboolean out)
{
    gint64 n = out ? arg->n_out : arg->n_in;
    const gint64 *words = out ? arg->out : arg->in;
    if (arg->param->kind != WEND_KIND_STRING || n < 0)
        return NULL;
    char *text = g_malloc(n + 1);
    for (gint64 i = 0; i < n; i++)
        text[i] = (guint64)words[i / 8] >> (8 * (i % 8)) & 0xff;
    text[n] = '\0';
    return text;
}
