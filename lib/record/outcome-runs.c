/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome-runs.c: see outcome-runs.h. */
#include "outcome-runs.h"

#include <string.h>

#include "codec.h"
#include "words.h"

void outcome_runs_init(OutcomeRuns *p, const void *bytes, size_t n, const int64_t *constants,
                       uint32_t n_constants)
{
    *p =
        (OutcomeRuns){.c = cursor_of(bytes, n), .constants = constants, .n_constants = n_constants};
    p->words = vector_with_room(sizeof(int64_t), 8);
    p->first = vector_with_room(sizeof(size_t), 2);
    p->counts = vector_with_room(sizeof(uint64_t), 2);
    p->reached = vector_with_room(sizeof(int64_t), 8);
}

void outcome_runs_init_part(OutcomeRuns *p, const void *bytes, size_t n)
{
    outcome_runs_init(p, bytes, n, NULL, 0);
    p->in_part = true;
}

static void end_piece(OutcomeRuns *p)
{
    if (p->repeats)
        return; /* the frequent case */
    expansion_clear(&p->expansion);
    rules_clear(&p->rules);
}

void outcome_runs_clear(OutcomeRuns *p)
{
    end_piece(p);
    CLEAR(p->words, vector_unref);
    CLEAR(p->first, vector_unref);
    CLEAR(p->counts, vector_unref);
    CLEAR(p->reached, vector_unref);
}

/* Is an arithmetic run of COUNT entries from WORDS on valid? No word with a step may overflow or be
 * special. */
static bool is_arithmetic(const int64_t *words, const int64_t *steps, size_t width, uint64_t count)
{
    if (count < 2 || count > INT64_MAX)
        return false;
    for (size_t i = 0; i < width; i++) {
        int64_t away, last;
        if (steps[i] == 0)
            continue;
        if (word_is_special(words[i]) || word_is_special(steps[i])
            || __builtin_mul_overflow(steps[i], (int64_t)(count - 1), &away)
            || __builtin_add_overflow(words[i], away, &last) || word_is_special(last))
            return false;
    }
    return true;
}

/* Reads the count and the steps of an arithmetic run with WIDTH words. Returns the count. */
static uint64_t read_arithmetic(OutcomeRuns *p, size_t at, size_t width)
{
    uint64_t count = cursor_unsigned(&p->c);
    if (width > (size_t)(p->c.end - p->c.p))
        p->c.failed = true;
    if (p->c.failed)
        return 0;
    vector_resize(p->words, (uint32_t)(at + 2 * width));
    int64_t *words = (int64_t *)(void *)p->words->data + at;
    for (size_t i = 0; i < width; i++)
        words[width + i] = cursor_signed(&p->c);
    if (!is_arithmetic(words, words + width, width, count))
        p->c.failed = true;
    return count;
}

static void read_entries(OutcomeRuns *p, size_t n)
{
    size_t at = 0;
    vector_resize(p->words, 0);
    vector_resize(p->first, 0);
    vector_resize(p->counts, 0);
    VECTOR_APPEND(p->first, at);
    while (n-- > 0 && !p->c.failed) {
        uint64_t head = cursor_unsigned(&p->c), width = p->in_part ? head >> 1 : head;
        if (width > (size_t)(p->c.end - p->c.p) || 2 * width > INT32_MAX - at)
            p->c.failed = true;
        if (p->c.failed)
            return;
        vector_resize(p->words, (uint32_t)(at + width));
        int64_t *words = (int64_t *)(void *)p->words->data + at;
        for (size_t i = 0; i < width; i++)
            words[i] = p->constants ? codec_word(&p->c, p->constants, p->n_constants)
                                    : cursor_signed(&p->c);
        uint64_t count = p->in_part && head & 1 ? read_arithmetic(p, at, width) : 0;
        at += count ? 2 * width : width;
        VECTOR_APPEND(p->counts, count);
        VECTOR_APPEND(p->first, at);
    }
}

static bool has_empty_rule(const RuleRow *row)
{
    for (uint32_t i = 0; i < row->n_rules; i++)
        if (row->rules[i].n == 0)
            return true;
    return false;
}

bool outcome_runs_next(OutcomeRuns *p)
{
    end_piece(p);
    if (p->c.p == p->c.end)
        return false;
    p->length = p->repeats = cursor_unsigned(&p->c);
    read_entries(p, p->repeats ? 1 : cursor_count(&p->c, 1));
    /* empty rules with large counts would take time and give nothing */
    if (!p->repeats
        && (p->c.failed || outcome_runs_entries(p) == 0
            || !rules_read(&p->rules, &p->c, outcome_runs_entries(p), RULES_PLAIN)
            || has_empty_rule(&p->rules) || !rules_length(&p->rules, &p->length)))
        p->c.failed = true;
    return !p->c.failed;
}

/* The next run of equal entries or arithmetic runs. */
static bool next_run(OutcomeRuns *p, uint64_t *repeats, uint32_t *entry)
{
    if (p->expansion.run)
        expansion_advance(&p->expansion, p->expansion.run);
    if (!p->expansion.run) {
        if (!outcome_runs_next(p))
            return false;
        if (!p->repeats)
            p->expansion = rules_expand(&p->rules);
    }
    *repeats = p->repeats ? p->repeats : p->expansion.run;
    *entry = p->repeats ? 0 : p->expansion.terminal;
    return true;
}

bool outcome_runs_next_arithmetic(OutcomeRuns *p, uint64_t *repeats, const int64_t **words,
                                  uint32_t *n, const int64_t **steps)
{
    uint32_t entry;
    if (p->again > 1) { /* the same arithmetic run */
        p->again--;
        entry = p->repeats ? 0 : p->expansion.terminal;
    } else {
        if (!next_run(p, repeats, &entry))
            return false;
        if (outcome_runs_count(p, entry))
            p->again = *repeats;
    }
    *words = outcome_runs_entry(p, entry, n);
    *steps = NULL;
    uint64_t count = outcome_runs_count(p, entry);
    if (!count)
        return true;
    *repeats = count;
    *steps = *words + *n;
    return true;
}

/* The next entry of an arithmetic run. */
bool outcome_runs_next_run(OutcomeRuns *p, uint64_t *repeats, const int64_t **words, uint32_t *n)
{
    const int64_t *steps;
    if (p->left == 0) {
        if (!outcome_runs_next_arithmetic(p, repeats, words, n, &steps))
            return false;
        if (!steps)
            return true;
        p->left = *repeats;
        vector_resize(p->reached, 0);
        vector_append_all(p->reached, *words, *n);
    } else {
        const int64_t *steps = outcome_runs_entry(p, p->repeats ? 0 : p->expansion.terminal, n);
        for (uint32_t i = 0; i < *n; i++)
            VECTOR_AT(p->reached, int64_t, i) += steps[*n + i];
    }
    p->left--;
    *repeats = 1;
    *words = (const int64_t *)(void *)p->reached->data;
    return true;
}

uint64_t outcome_runs_count(const OutcomeRuns *p, uint32_t entry)
{
    return VECTOR_AT(p->counts, uint64_t, entry);
}

uint32_t outcome_runs_entries(const OutcomeRuns *p)
{
    return p->first->len - 1;
}

const int64_t *outcome_runs_entry(const OutcomeRuns *p, uint32_t entry, uint32_t *n)
{
    size_t first = VECTOR_AT(p->first, size_t, entry);
    *n = (uint32_t)(VECTOR_AT(p->first, size_t, entry + 1) - first)
         / (outcome_runs_count(p, entry) ? 2 : 1);
    return (const int64_t *)(void *)p->words->data + first;
}
