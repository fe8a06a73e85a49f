/* SPDX-License-Identifier: BSD-3-Clause */
/* decoder.c: fuzzes what wend show, dump and diff make of a program: an archive as members.h has
 * it. What reads it is archive.c's subject; here are the passes over the whole of it, so it may not
 * stand for more calls than a moment is enough for.
 *
 * With clang -fsanitize=fuzzer it is a fuzzer; with replay.c a program that runs the files it
 * is given. See tests/fuzz/local.mk. */
#include "exercise.h"
#include "src/decoder/show.h"
#include "src/diff/same.h"
#include "lib/analysis/summary.h"
#include "src/diff/items.h"
#include "src/read/wrap.h"

enum { CALLS = 20000, RANKS = 16 };

static void drain(Items *s)
{
    const char *name;
    for (guint i = 0; items_peek(s, 0).number != 0; i++) {
        Item item = items_peek(s, 0);
        if (i < 10)
            g_free(items_describe(s, &item, &name));
        items_drop(s, 1);
    }
}

/* Two ranks, side by side until their completions differ. */
static void compare(ComparisonKeyRank *a, ComparisonKeyRank *b, const WendProgram *p, guint rank_a,
                    guint rank_b, ItemsDetail detail)
{
    Items *x = items_new(a, p, rank_a, 0, detail), *y = items_new(b, p, rank_b, 0, detail);
    for (Item i, j; (i = items_peek(x, 0)).number != 0 && (j = items_peek(y, 0)).number != 0;) {
        const char *why;
        if (i.number == j.number) {
            items_drop(x, 1);
            items_drop(y, 1);
        } else if (!i.choice || !j.choice || !window_match(x, y, &i, &j, &why)) {
            break;
        }
    }
    drain(x);
    drain(y);
    items_free(x);
    items_free(y);
}

static void decode(const WendProgram *p)
{
    GString *text = g_string_new(NULL);
    WendRead *r = read_wrap(p);
    show_terminations(text, r, NULL, 16, FALSE);
    wend_read_free(r);
    g_string_free(text, TRUE);
    Same *same = same_new(p, p);
    for (guint i = 0; i < program_n_classes(p); i++) {
        const WendClass *k = program_class(p, i);
        same_ranks(same, i, 0, k->ranks, k->n_ranks);
    }
    same_free(same);
    Counts *counts = counts_new(p);
    ComparisonKey *identity = comparison_key_new(p, p);
    const WendClass *first = program_class(p, 0);
    for (guint i = 0; i < program_n_classes(p); i++) {
        const WendClass *k = program_class(p, i);
        if (k->n_sequences == 0 || first->n_sequences == 0)
            continue;
        ComparisonKeyRank *a = comparison_key_rank_new(identity, p, first->ranks[0], counts),
                          *b = comparison_key_rank_new(identity, p, k->ranks[k->n_ranks - 1],
                                                       counts);
        for (int detail = ITEMS_CALLS; detail <= ITEMS_POLLS; detail++)
            compare(a, b, p, first->ranks[0], k->ranks[k->n_ranks - 1], detail);
        comparison_key_rank_free(a);
        comparison_key_rank_free(b);
    }
    comparison_key_free(identity);
    counts_free(counts);
}

int LLVMFuzzerTestOneInput(const guint8 *data, size_t size)
{
    AUTO(Error) error = NULL;
    WendProgram *p = exercise_open(data, size, &error);
    if (!p || program_ranks(p) > RANKS || program_n_classes(p) == 0) {
        program_free(p);
        return 0;
    }
    Summary *s = summary_new(p);
    if (s->entries < CALLS)
        decode(p);
    summary_free(s);
    program_free(p);
    return 0;
}
