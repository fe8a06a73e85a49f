/* SPDX-License-Identifier: BSD-3-Clause */
/* outcome-difference.c: goes through the words of an outcome, parameter by parameter.
 * lib/record/layout.c does so where there is GLib, and decodes them. */
#include "divergence.h"

#include "lib/record/functions.h"
#include "lib/record/words.h"

/* The words of a status (docs/recording.md, "Calls as words"). */
static const char *const status_fields[] = {"source", "tag", "size", "error"};
enum { STATUS_WORDS = sizeof status_fields / sizeof *status_fields };

typedef struct {
    const CallOutcome *of;
    size_t at; /* how far it has come */
} Place;

static int64_t next(Place *p)
{
    return p->at < p->of->n ? p->of->words[p->at++] : 0;
}

static void pass(Place *p, uint64_t n)
{
    size_t left = p->of->n - p->at;
    p->at += n < left ? (size_t)n : left;
}

static uint64_t next_length(Place *p)
{
    int64_t n = next(p);
    return n > 0 ? (uint64_t)n : 0;
}

static void pass_string(Place *p)
{
    uint64_t n = next_length(p);
    pass(p, n / 8 + (n % 8 > 0));
}

static void pass_strings(Place *p, bool of_strings)
{
    for (uint64_t n = next_length(p); n > 0 && p->at < p->of->n; n--) {
        if (of_strings)
            pass_strings(p, false);
        else
            pass_string(p);
    }
}

static void pass_element(Place *p, WendKind kind)
{
    if (kind == WEND_KIND_STATUS) {
        pass(p, STATUS_WORDS);
        return;
    }
    int64_t first = next(p);
    if ((kind == WEND_KIND_ADDRESS || kind == WEND_KIND_ATTR) && word_segment_has_second(first))
        pass(p, 1);
}

static void pass_parameter(Place *p, const WendParam *of)
{
    switch (of->kind) {
    case WEND_KIND_STRING:
        pass_string(p);
        return;
    case WEND_KIND_STRINGS:
    case WEND_KIND_STRINGS2:
        pass_strings(p, of->kind == WEND_KIND_STRINGS2);
        return;
    default:
        for (uint64_t n = of->array ? next_length(p) : 1; n > 0; n--) {
            pass_element(p, of->kind);
            if (p->at == p->of->n)
                return;
        }
    }
}

/* The first word that differs between two places, counted from the first of each. The number of
 * words that both have: there is none. */
static size_t first_different(const Place *a, size_t to_a, const Place *b, size_t to_b)
{
    size_t i = 0;
    while (a->at + i < to_a && b->at + i < to_b
           && a->of->words[a->at + i] == b->of->words[b->at + i])
        i++;
    return i;
}

DifferentResult outcome_difference(int function, const CallOutcome *recorded,
                                   const CallOutcome *made)
{
    DifferentResult none = {0};
    if (function < 0 || (size_t)function >= mpi_n_functions)
        return none;
    const WendFunction *f = &mpi_functions[function];
    Place a = {recorded, 0}, b = {made, 0};
    for (int i = 0; i < f->n_params; i++) {
        const WendParam *of = &f->params[i];
        const Place from_a = a, from_b = b;
        if (!param_is_outcome(of))
            continue;
        pass_parameter(&a, of);
        pass_parameter(&b, of);
        size_t at = first_different(&from_a, a.at, &from_b, b.at), n = a.at - from_a.at;
        if (at == n && n == b.at - from_b.at)
            continue;
        DifferentResult d = {.name = of->name, .file = of->kind == WEND_KIND_FOUND};
        if (of->kind == WEND_KIND_STATUS && !of->array && at < STATUS_WORDS)
            d.field = status_fields[at];
        if ((d.file || kind_is_number(of->kind)) && !of->array && n == 1 && b.at - from_b.at == 1) {
            d.numbers = true;
            d.recorded = recorded->words[from_a.at];
            d.made = made->words[from_b.at];
        }
        return d;
    }
    return none;
}
