/* SPDX-License-Identifier: BSD-3-Clause */
/* same.c: see same.h. */
#include "config.h"

#include "same.h"

#include <string.h>
#include <xxhash.h>

#include "polynomial.h"

typedef struct {
    const WendProgram *program;
    Counts *counts;
    Hash *rules, *terminals;
    gboolean *known; /* by terminal: hashed for the current ranks */
} SameSide;

struct Same {
    SameSide sides[2];
    guint64 points[POINTS];
};

static void side_init(SameSide *side, const WendProgram *p)
{
    side->program = p;
    side->counts = counts_new(p);
    side->rules = g_new0(Hash, wend_program_n_rules(p));
    side->terminals = g_new0(Hash, wend_program_n_terminals(p));
    side->known = g_new0(gboolean, wend_program_n_terminals(p));
}

static void side_clear(SameSide *side)
{
    counts_free(side->counts);
    g_free(side->rules);
    g_free(side->terminals);
    g_free(side->known);
}

Same *same_new(const WendProgram *a, const WendProgram *b)
{
    Same *s = g_new0(Same, 1);
    side_init(&s->sides[0], a);
    side_init(&s->sides[1], b);
    hash_points(s->points);
    return s;
}

void same_free(Same *s)
{
    if (s == NULL)
        return;
    side_clear(&s->sides[0]);
    side_clear(&s->sides[1]);
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
    const char *name = wend_word_is_const(word) ? wend_program_constant_name(p, word) : NULL;
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
    const WendSlot *expression = &wend_program_terminal(p, terminal)->slots[slot];
    gint64 first = wend_program_slot(p, terminal, slot, ranks[0]);
    gboolean varies = FALSE;
    for (guint i = 1; i < n && !varies && expression->form != WEND_SLOT_CONSTANT; i++)
        varies = wend_program_slot(p, terminal, slot, ranks[i]) != first;
    add_word(state, varies);
    for (guint i = 0; i < (varies ? n : 1); i++)
        add_shape_word(state, p, i == 0 ? first : wend_program_slot(p, terminal, slot, ranks[i]));
}

static void hash_terminal(const Same *s, SameSide *side, guint32 terminal, const guint *ranks,
                          guint n)
{
    const WendProgram *p = side->program;
    const WendTerminal *t = wend_program_terminal(p, terminal);
    const WendShape *shape = wend_program_shape(p, t->shape);
    XXH3_state_t *state = XXH3_createState();
    XXH3_128bits_reset(state);
    XXH3_128bits_update(state, shape->function->name, strlen(shape->function->name) + 1);
    add_word(state, shape->n_words);
    /* word 0, the number of the function, differs between archives */
    for (guint i = 1; i < shape->n_words; i++)
        add_shape_word(state, p, shape->words[i]);
    for (guint i = 0; i < t->n_slots; i++)
        add_slot(state, p, terminal, i, ranks, n);
    XXH128_hash_t hash = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    side->terminals[terminal] =
        (Hash){{hash_reduce(hash.low64), hash_reduce(hash.high64)}, {s->points[0], s->points[1]}};
}

/* -- sequences -- */

/* Returns FALSE if a call failed. */
static gboolean hash_sequence(const Same *s, SameSide *side, guint start, const guint *ranks,
                              guint n, Hash *result)
{
    guint n_terminals, n_rules;
    const guint32 *terminals = counts_of_rule(side->counts, start, &n_terminals);
    for (guint i = 0; i < n_terminals; i++) {
        if (wend_program_shape(side->program,
                               wend_program_terminal(side->program, terminals[i])->shape)
                ->failed)
            return FALSE;
        if (!side->known[terminals[i]])
            hash_terminal(s, side, terminals[i], ranks, n);
        side->known[terminals[i]] = TRUE;
    }
    const guint32 *rules = counts_rules(side->counts, &n_rules);
    for (guint i = 0; i < n_rules; i++) {
        const WendRule *rule = wend_program_rule(side->program, rules[i]);
        Hash hash = hash_of_nothing;
        for (guint j = 0; j < rule->n; j++) {
            const WendSymbol *symbol = &rule->symbols[j];
            Hash part = hash_repeat((symbol->is_rule ? side->rules : side->terminals)[symbol->id],
                                    symbol->repeats);
            hash = hash_join(&hash, &part);
        }
        side->rules[rules[i]] = hash;
    }
    *result = side->rules[start];
    return TRUE;
}

static gboolean same_sequence(Same *s, const WendSequence *a, const WendSequence *b,
                              const guint *ranks, guint n)
{
    Hash hash_a, hash_b;
    if (a->kind != b->kind || a->id != b->id)
        return FALSE;
    if (wend_program_rule(s->sides[0].program, a->rule)->length
        != wend_program_rule(s->sides[1].program, b->rule)->length)
        return FALSE;
    return hash_sequence(s, &s->sides[0], a->rule, ranks, n, &hash_a)
           && hash_sequence(s, &s->sides[1], b->rule, ranks, n, &hash_b)
           && memcmp(&hash_a, &hash_b, sizeof hash_a) == 0;
}

void same_slots(const Same *s, guint side, guint32 terminal, const guint *ranks, guint n,
                guint64 hash[2])
{
    const WendProgram *p = s->sides[side].program;
    XXH3_state_t *state = XXH3_createState();
    XXH3_128bits_reset(state);
    for (guint i = 0; i < wend_program_terminal(p, terminal)->n_slots; i++)
        add_slot(state, p, terminal, i, ranks, n);
    XXH128_hash_t digest = XXH3_128bits_digest(state);
    XXH3_freeState(state);
    hash[0] = digest.low64;
    hash[1] = digest.high64;
}

gboolean same_ranks(Same *s, guint class_a, guint class_b, const guint *ranks, guint n)
{
    const WendClass *a = wend_program_class(s->sides[0].program, class_a),
                    *b = wend_program_class(s->sides[1].program, class_b);
    if (a->n_sequences != b->n_sequences)
        return FALSE;
    for (guint i = 0; i < 2; i++) /* slots depend on the ranks */
        memset(s->sides[i].known, 0,
               wend_program_n_terminals(s->sides[i].program) * sizeof(gboolean));
    for (guint i = 0; i < a->n_sequences; i++)
        if (!same_sequence(s, &a->sequences[i], &b->sequences[i], ranks, n))
            return FALSE;
    return TRUE;
}
