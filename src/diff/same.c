/* SPDX-License-Identifier: BSD-3-Clause */
/* same.c: see same.h. */
#include "config.h"

#include "same.h"

#include <string.h>
#include <xxhash.h>

#include "hashed.h"

typedef struct {
    const WendProgram *program;
    Counts *counts;
    Hash *rules, *terminals;
    gboolean *known;       /* by terminal: hashed for the current ranks */
    XXH128_hash_t *shapes; /* NULL: not hashed yet */
} Input;

struct Same {
    Input inputs[2];
    guint64 points[POINTS];
    GHashTable *second_shapes; /* of the second input: a hash -> a shape */
};

static void input_init(Input *input, const WendProgram *p)
{
    input->program = p;
    input->counts = counts_new(p);
    input->rules = g_new0(Hash, program_n_rules(p));
    input->terminals = g_new0(Hash, program_n_terminals(p));
    input->known = g_new0(gboolean, program_n_terminals(p));
}

static void input_clear(Input *input)
{
    counts_free(input->counts);
    g_free(input->rules);
    g_free(input->terminals);
    g_free(input->known);
    g_free(input->shapes);
}

Same *same_new(const WendProgram *a, const WendProgram *b)
{
    Same *s = g_new0(Same, 1);
    input_init(&s->inputs[0], a);
    input_init(&s->inputs[1], b);
    hash_points(s->points);
    return s;
}

void same_free(Same *s)
{
    if (!s)
        return;
    input_clear(&s->inputs[0]);
    input_clear(&s->inputs[1]);
    g_clear_pointer(&s->second_shapes, g_hash_table_unref);
    g_free(s);
}

/* -- terminals -- */

static void add_word(XXH3_state_t *state, gint64 word)
{
    XXH3_128bits_update(state, &word, sizeof word);
}

/* A constant is hashed by its name, because the recordings may number it differently. */
static void add_shape_word(XXH3_state_t *state, const WendProgram *p, gint64 word)
{
    const char *name = word_is_const(word) ? program_constant_name(p, word) : NULL;
    add_word(state, name != NULL ? 1 : 0);
    if (name != NULL)
        XXH3_128bits_update(state, name, strlen(name) + 1);
    else
        add_word(state, word);
}

/* Adds the values of a slot on all ranks; equal values count as one. */
static void add_slot(XXH3_state_t *state, const WendProgram *p, guint32 terminal, guint slot,
                     const guint *ranks, guint n)
{
    const WendSlot *expression = &program_terminal(p, terminal)->slots[slot];
    gint64 first = program_slot(p, terminal, slot, ranks[0]);
    gboolean varies = FALSE;
    for (guint i = 1; i < n && !varies && expression->form != WEND_SLOT_CONSTANT; i++)
        varies = program_slot(p, terminal, slot, ranks[i]) != first;
    add_word(state, varies);
    for (guint i = 0; i < (varies ? n : 1); i++)
        add_shape_word(state, p, i == 0 ? first : program_slot(p, terminal, slot, ranks[i]));
}

static void add_shape(XXH3_state_t *state, const WendProgram *p, guint number)
{
    const WendShape *shape = program_shape(p, number);
    XXH3_128bits_update(state, shape->function->name, strlen(shape->function->name) + 1);
    add_word(state, shape->n_words);
    /* word 0, the number of the function, differs between archives */
    for (guint i = 1; i < shape->n_words; i++)
        add_shape_word(state, p, shape->words[i]);
}

static void hash_terminal(const Same *s, Input *input, guint32 terminal, const guint *ranks,
                          guint n)
{
    const WendProgram *p = input->program;
    const WendTerminal *t = program_terminal(p, terminal);
    XXH3_state_t *state = XXH3_createState();
    XXH3_128bits_reset(state);
    add_shape(state, p, t->shape);
    for (guint i = 0; i < t->n_slots; i++)
        add_slot(state, p, terminal, i, ranks, n);
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    input->terminals[terminal] =
        (Hash){{hash_reduce(hash.low64), hash_reduce(hash.high64)}, {s->points[0], s->points[1]}};
}

/* -- sequences -- */

/* The hash of a rule whose symbols are hashed. */
static Hash hash_rule(const WendRule *rule, const Hash *rules, const Hash *terminals)
{
    Hash hash = hash_of_nothing;
    for (guint i = 0; i < rule->n; i++) {
        const WendSymbol *symbol = &rule->symbols[i];
        Hash part = hash_repeat((symbol->is_rule ? rules : terminals)[symbol->id], symbol->repeats);
        hash = hash_join(&hash, &part);
    }
    return hash;
}

/* Returns FALSE if a call failed. */
static gboolean hash_sequence(const Same *s, Input *input, guint start, const guint *ranks, guint n,
                              Hash *result)
{
    guint n_terminals, n_rules;
    const guint32 *terminals = counts_of_rule(input->counts, start, &n_terminals);
    for (guint i = 0; i < n_terminals; i++) {
        if (program_shape(input->program, program_terminal(input->program, terminals[i])->shape)
                ->failed)
            return FALSE;
        if (!input->known[terminals[i]])
            hash_terminal(s, input, terminals[i], ranks, n);
        input->known[terminals[i]] = TRUE;
    }
    const guint32 *rules = counts_rules(input->counts, &n_rules);
    for (guint i = 0; i < n_rules; i++)
        input->rules[rules[i]] =
            hash_rule(program_rule(input->program, rules[i]), input->rules, input->terminals);
    *result = input->rules[start];
    return TRUE;
}

static gboolean same_sequence(Same *s, const WendSequence *a, const WendSequence *b,
                              const guint *ranks, guint n)
{
    Hash hash_a, hash_b;
    if (a->kind != b->kind || a->id != b->id)
        return FALSE;
    if (program_rule(s->inputs[0].program, a->rule)->length
        != program_rule(s->inputs[1].program, b->rule)->length)
        return FALSE;
    return hash_sequence(s, &s->inputs[0], a->rule, ranks, n, &hash_a)
           && hash_sequence(s, &s->inputs[1], b->rule, ranks, n, &hash_b)
           && memcmp(&hash_a, &hash_b, sizeof hash_a) == 0;
}

void same_slots(const Same *s, guint input, guint32 terminal, const guint *ranks, guint n,
                guint64 hash[2])
{
    const WendProgram *p = s->inputs[input].program;
    XXH3_state_t *state = XXH3_createState();
    XXH3_128bits_reset(state);
    for (guint i = 0; i < program_terminal(p, terminal)->n_slots; i++)
        add_slot(state, p, terminal, i, ranks, n);
    XXH128_hash_t digest = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    hash[0] = digest.low64;
    hash[1] = digest.high64;
}

/* Slots depend on the ranks. */
static void forget_ranks(Same *s)
{
    for (guint i = 0; i < 2; i++)
        memset(s->inputs[i].known, 0, program_n_terminals(s->inputs[i].program) * sizeof(gboolean));
}

gboolean same_ranks(Same *s, guint class_a, guint class_b, const guint *ranks, guint n)
{
    const WendClass *a = program_class(s->inputs[0].program, class_a),
                    *b = program_class(s->inputs[1].program, class_b);
    if (a->n_sequences != b->n_sequences)
        return FALSE;
    forget_ranks(s);
    for (guint i = 0; i < a->n_sequences; i++)
        if (!same_sequence(s, &a->sequences[i], &b->sequences[i], ranks, n))
            return FALSE;
    return TRUE;
}

/* -- outcomes -- */

static guint hash_of_shape(gconstpointer hash)
{
    return (guint)((const XXH128_hash_t *)hash)->low64;
}

static gboolean equal_shapes(gconstpointer a, gconstpointer b)
{
    return XXH128_isEqual(*(const XXH128_hash_t *)a, *(const XXH128_hash_t *)b) != 0;
}

static void hash_shapes(Input *input)
{
    guint n = program_n_shapes(input->program);
    input->shapes = g_new(XXH128_hash_t, n + 1);
    for (guint i = 0; i < n; i++) {
        XXH3_state_t *state = XXH3_createState();
        XXH3_128bits_reset(state);
        add_shape(state, input->program, i);
        input->shapes[i] = XXH3_128bits_digest(state);
        XXH3_freeState(state);
    }
}

/* The shape of the second input that is SHAPE of the first. FALSE: there is none. */
static gboolean second_shape(Same *s, guint shape, guint *second)
{
    gpointer found;
    if (!s->second_shapes) {
        hash_shapes(&s->inputs[0]);
        hash_shapes(&s->inputs[1]);
        s->second_shapes = g_hash_table_new(hash_of_shape, equal_shapes);
        for (guint i = 0; i < program_n_shapes(s->inputs[1].program); i++)
            g_hash_table_insert(s->second_shapes, &s->inputs[1].shapes[i], GUINT_TO_POINTER(i));
    }
    gboolean known =
        g_hash_table_lookup_extended(s->second_shapes, &s->inputs[0].shapes[shape], NULL, &found);
    *second = known ? GPOINTER_TO_UINT(found) : 0;
    return known;
}

/* Words are equal if they have one meaning: the number of a constant has the same name in both
 * recordings. */
static gboolean same_words(const Same *s, const gint64 *a, const gint64 *b, guint n)
{
    for (guint i = 0; i < n; i++) {
        if (a[i] != b[i])
            return FALSE;
        if (!word_is_const(a[i]))
            continue;
        const char *name[2];
        for (guint k = 0; k < 2; k++)
            name[k] = program_constant_name(s->inputs[k].program, a[i]);
        if (g_strcmp0(name[0], name[1]) != 0)
            return FALSE;
    }
    return TRUE;
}

/* Compares the outcomes of a shape from word FROM on, run by run. */
static gboolean same_entries(const Same *s, guint rank, const guint sequence[2],
                             const guint shape[2], guint from)
{
    WendOutcomes *entries[2];
    const gint64 *words[2] = {NULL, NULL};
    guint64 left[2] = {0, 0};
    guint n[2] = {0, 0};
    gboolean more[2], same = TRUE;
    for (guint i = 0; i < 2; i++)
        entries[i] = program_outcomes(s->inputs[i].program, rank, sequence[i], shape[i]);
    do {
        for (guint i = 0; i < 2; i++)
            more[i] = left[i] > 0
                      || (entries[i] != NULL
                          && outcomes_next_run(entries[i], &left[i], &words[i], &n[i]));
        if (more[0] != more[1] || !more[0])
            break;
        guint64 both = MIN(left[0], left[1]);
        same = n[0] == n[1] && n[0] >= from
               && same_words(s, words[0] + from, words[1] + from, n[0] - from);
        left[0] -= both;
        left[1] -= both;
    } while (same);
    for (guint i = 0; i < 2; i++)
        if (entries[i] != NULL)
            outcomes_free(entries[i]);
    return same && more[0] == more[1];
}

/* The hash of the polls of a sequence, and how many come behind its last call. */
static Hash hash_polls(const Same *s, Input *input, guint rank, guint sequence, guint64 *after)
{
    WendPolls polls;
    Hash hash = hash_of_nothing;
    *after = 0;
    if (!program_poll_calls(input->program, rank, sequence, &polls))
        return hash;
    guint32 n_terminals = 0;
    for (guint r = 0; r < polls.n_rules; r++)
        for (guint i = 0; i < polls.rules[r].n; i++)
            if (!polls.rules[r].symbols[i].is_rule)
                n_terminals = MAX(n_terminals, polls.rules[r].symbols[i].id + 1);
    g_autofree Hash *terminals = g_new(Hash, n_terminals + 1);
    for (guint32 i = 0; i < n_terminals; i++) {
        hash_terminal(s, input, polls.terminals[i], &rank, 1);
        terminals[i] = input->terminals[polls.terminals[i]];
    }
    g_autofree Hash *rules = g_new(Hash, polls.n_rules + 1);
    for (guint r = 0; r < polls.n_rules; r++)
        rules[r] = hash_rule(&polls.rules[r], rules, terminals);
    *after = polls.after;
    return polls.n_rules > 0 ? rules[polls.n_rules - 1] : hash;
}

static gboolean same_polls(Same *s, guint rank, const guint sequence[2])
{
    guint64 after[2];
    Hash hashes[2];
    for (guint i = 0; i < 2; i++)
        hashes[i] = hash_polls(s, &s->inputs[i], rank, sequence[i], &after[i]);
    return after[0] == after[1] && memcmp(&hashes[0], &hashes[1], sizeof hashes[0]) == 0;
}

gboolean same_outcomes(Same *s, guint rank, const guint sequence[2], gboolean polls)
{
    const WendSequence *q[2];
    for (guint i = 0; i < 2; i++) {
        const WendProgram *p = s->inputs[i].program;
        q[i] = &program_class(p, program_class_of(p, rank))->sequences[sequence[i]];
    }
    forget_ranks(s);
    if (!same_sequence(s, q[0], q[1], &rank, 1) || (polls && !same_polls(s, rank, sequence)))
        return FALSE;
    guint n_terminals;
    const guint32 *terminals = counts_of_rule(s->inputs[0].counts, q[0]->rule, &n_terminals);
    g_autofree gboolean *compared = g_new0(gboolean, program_n_shapes(s->inputs[0].program));
    for (guint i = 0; i < n_terminals; i++) {
        guint shape[2] = {program_terminal(s->inputs[0].program, terminals[i])->shape};
        if (compared[shape[0]])
            continue;
        compared[shape[0]] = TRUE;
        if (!second_shape(s, shape[0], &shape[1])
            || !same_entries(s, rank, sequence, shape, polls ? 0 : 1))
            return FALSE;
    }
    return TRUE;
}
