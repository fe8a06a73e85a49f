/* SPDX-License-Identifier: BSD-3-Clause */
/* diff.c: wend diff: compares two recordings, and explains where they part (docs/comparing.md,
 * "Equality of two recordings"). */
#include "config.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "diff.h"
#include "call-text.h"
#include "comparison-key.h"
#include "explained.h"
#include "findings.h"
#include "items.h"
#include "lib/analysis/count.h"
#include "lib/read/program.h"
#include "same.h"
#include "site-differences.h"
#include "src/command/command.h"
#include "src/command/reading.h"
#include "src/command/text.h"
#include "stat.h"

/* -- expected differences -- */

/* The text of differences that are expected of a proxy. */

/* PINNED is the table of comparison_key_pinned: WendFunction -> PinnedCalls. */
static guint64 expected_calls(GHashTable *pinned)
{
    GHashTableIter iter;
    gpointer calls;
    guint64 n = 0;
    g_hash_table_iter_init(&iter, pinned);
    while (g_hash_table_iter_next(&iter, NULL, &calls))
        n += ((const PinnedCalls *)calls)->calls + ((const PinnedCalls *)calls)->split;
    return n;
}

static void append_line(GString *out, guint64 calls, const char *name, const char *what)
{
    if (calls == 0)
        return;
    g_string_append(out, "  ");
    text_count(out, calls);
    g_string_append_printf(out, calls == 1 ? " call of %s: %s\n" : " calls of %s: %s\n", name,
                           what);
}

static gint compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(((const WendFunction *)a)->name, ((const WendFunction *)b)->name);
}

/* a line for each function and kind of change, indented */
static void expected_append(GString *out, GHashTable *pinned)
{
    GList *functions = g_list_sort(g_hash_table_get_keys(pinned), compare_names);
    for (const GList *l = functions; l != NULL; l = l->next) {
        const PinnedCalls *calls = g_hash_table_lookup(pinned, l->data);
        const WendFunction *f = l->data;
        gboolean graph = f->id == WEND_FN_MPI_Dist_graph_create;
        append_line(out, calls->calls, f->name,
                    graph ? "MPI_Dist_graph_create_adjacent with the order of neighbours that the "
                            "library gave"
                          : "the source that came instead of MPI_ANY_SOURCE");
        append_line(out, calls->split, f->name,
                    "the sources that came instead of MPI_ANY_SOURCE, each with its own request");
    }
    g_list_free(functions);
}

#define COMMAND "diff"

typedef struct {
    const WendProgram *program[2];
    const char *name[2];
    gboolean outcomes, no_polls, quiet, stat, sites;
    guint64 max; /* number of differences to print */
    GString *out;
    RecordingPair pair;
    /* differences that are expected of a proxy do not count: comparison_key_pin */
    gboolean pinned;
    guint64 expected;      /* number of calls that differ in this way */
    GString *expectations; /* the text about them */
    gboolean sizes;        /* the numbers of ranks differ: nothing else was compared */
    gboolean *differs;     /* by rank */
} Diff;

static gboolean enough(const Diff *d)
{
    return findings_full(d->pair.findings);
}

/* Whether differences are explained by the grammars. Grammars have no calls as a proxy makes
 * them. */
static gboolean explains(const Diff *d)
{
    return !d->quiet && !d->pinned;
}

static void flush(Diff *d)
{
    command_write(d->out->str, d->out->len);
    g_string_truncate(d->out, 0);
}

/* -- items -- */

static gint find_sequence(const WendClass *class, const WendSequence *wanted)
{
    for (guint i = 0; i < class->n_sequences; i++)
        if (class->sequences[i].kind == wanted->kind && class->sequences[i].id == wanted->id)
            return (gint)i;
    return -1;
}

/* A call in a sequence of one of the recordings. */
typedef struct {
    SiteDifferences *sites;
    guint input, rank, sequence;
} Place;

static void print_input(GString *out, Items *items, const Item *item, const Place *where,
                        const char **name)
{
    *name = "";
    g_string_append_printf(out, "  %c ", "<>"[where->input]);
    if (item->number == 0) {
        g_string_append(out, "(the end)\n");
        return;
    }
    char *text = items_describe(items, item, name);
    text_decimal(out, (gint64)item->index);
    g_string_append_printf(out, "  %s", text != NULL ? text : "");
    site_differences_put(out, where->sites, where->input, where->rank, where->sequence,
                         item->index);
    g_string_append_c(out, '\n');
    g_free(text);
}

/* Two items that differ. */
typedef struct {
    Item at[2];
    const char *why;
} Apart;

/* Adds the difference. Returns TRUE if the calls are of one function, so that the comparison may go
 * on after them. */
static gboolean report(Diff *d, guint rank, const WendSequence *sequence, Items *items[2],
                       const Apart *apart)
{
    const char *names[2];
    g_autoptr(GString) what = g_string_new(NULL);
    g_autoptr(GString) lines = g_string_new(NULL);
    call_text_sequence(what, sequence);
    if (apart->at[0].number != 0)
        g_string_append_printf(what, ", call %" G_GUINT64_FORMAT, apart->at[0].index);
    else
        g_string_append(what, ", after the last call");
    g_string_append_printf(what, ": %s", apart->why);
    for (guint input = 0; input < 2; input++) {
        const WendClass *class =
            program_class(d->program[input], program_class_of(d->program[input], rank));
        Place where = {d->pair.sites, input, rank, (guint)find_sequence(class, sequence)};
        print_input(lines, items[input], &apart->at[input], &where, &names[input]);
    }
    g_autofree char *kind = g_strconcat(names[0], " ", names[1], NULL);
    d->differs[rank] = TRUE;
    if (findings_add(d->pair.findings, &rank, 1, what->str, kind))
        findings_show(d->pair.findings, lines->str);
    return apart->at[0].number != 0 && apart->at[1].number != 0 && strcmp(names[0], names[1]) == 0;
}

static const char *kind_of_difference(const Item *a, const Item *b)
{
    if (a->number == 0 || b->number == 0)
        return "one sequence is longer";
    if (a->choice != b->choice)
        return "a completion in one recording only";
    return "the calls differ";
}

/* The number of equal completions that both begin with, or 0 if the completions differ. */
static gsize common_completions(Items *a, Items *b)
{
    for (gsize n = 0;; n++) {
        Item x = items_peek(a, n), y = items_peek(b, n);
        if (!x.choice && !y.choice)
            return n;
        if (x.choice != y.choice || x.number != y.number)
            return 0;
    }
}

/* Drops all equal items. Returns FALSE at the end of both, else TRUE with the next items in
 * APART. */
static gboolean find_apart(Items *a, Items *b, Apart *apart)
{
    for (;;) {
        Item x = items_peek(a, 0), y = items_peek(b, 0);
        gsize n = 1;
        *apart = (Apart){{x, y}, NULL};
        if (x.choice && y.choice) {
            n = common_completions(a, b);
            if (n == 0 && !window_match(a, b, &apart->at[0], &apart->at[1], &apart->why))
                return TRUE;
        } else if (x.number != y.number || x.choice != y.choice) {
            apart->why = kind_of_difference(&x, &y);
            return TRUE;
        } else if (x.number == 0) {
            return FALSE;
        }
        items_drop(a, n);
        items_drop(b, n);
    }
}

/* A sequence of one rank in both recordings, as items. */
typedef struct {
    ComparisonKeyRank *ids[2];
    Items *items[2];
} Both;

static Both both_new(Diff *d, guint rank, const guint sequence[2], ItemsDetail detail)
{
    Both both;
    for (guint input = 0; input < 2; input++)
        both.ids[input] = comparison_key_rank_new(d->pair.comparison_key, d->program[input], rank,
                                                  d->pair.counts[input]);
    if (d->pinned)
        comparison_key_pin(both.ids[0], d->pair.counts[0], both.ids[1], d->pair.counts[1]);
    for (guint input = 0; input < 2; input++)
        both.items[input] =
            items_new(both.ids[input], d->program[input], rank, sequence[input], detail);
    return both;
}

static void both_clear(Both *both)
{
    for (guint input = 0; input < 2; input++) {
        items_free(both->items[input]);
        comparison_key_rank_free(both->ids[input]);
    }
}

/* -- sequences -- */

/* Ranks of one class in both recordings. */
typedef struct {
    guint class[2];
    GArray *ranks;
} RankBlock;

static const guint *ranks_of(const RankBlock *block)
{
    return (const guint *)(const void *)block->ranks->data;
}

/* Compares rank NUMBER of a block by the rules. The explanation of its class gives the reason, if
 * it has one. */
static void compare_rank(Diff *d, const RankBlock *block, guint number, const guint sequence[2])
{
    guint rank = ranks_of(block)[number];
    const WendSequence *s = &program_class(d->program[0], block->class[0])->sequences[sequence[0]];
    Both both = both_new(d, rank, sequence, ITEMS_CALLS);
    Apart apart;
    if (find_apart(both.items[0], both.items[1], &apart)) {
        FirstDifference difference = {{G_MAXUINT64, G_MAXUINT64}};
        d->differs[rank] = TRUE;
        for (guint input = 0; input < 2; input++)
            difference.index[input] =
                apart.at[input].number != 0
                    ? apart.at[input].index
                    : program_rule(d->program[input],
                                   program_class(d->program[input], block->class[input])
                                       ->sequences[sequence[input]]
                                       .rule)
                          ->length;
        Explained *x =
            explains(d) ? explained_new(&d->pair, block->class, sequence, &rank, 1) : NULL;
        if (!x || !explained_add_first(x, &difference))
            report(d, rank, s, both.items, &apart);
        explained_free(x);
    }
    both_clear(&both);
}

static gboolean rank_parts(Diff *d, guint rank, const guint sequence[2])
{
    Apart apart;
    Both both = both_new(d, rank, sequence, ITEMS_CALLS);
    gboolean parts = find_apart(both.items[0], both.items[1], &apart);
    both_clear(&both);
    return parts;
}

/* Explains all ranks of a block at once, if the grammars determine the comparison. The first rank
 * is also compared by the rules, which decide. */
static gboolean explain_block(Diff *d, const RankBlock *block, const guint sequence[2])
{
    Explained *x =
        explained_new(&d->pair, block->class, sequence, ranks_of(block), block->ranks->len);
    gboolean exact = explained_is_exact(x)
                     && explained_differs(x, 0) == rank_parts(d, ranks_of(block)[0], sequence);
    for (guint i = 0; exact && i < block->ranks->len; i++)
        d->differs[ranks_of(block)[i]] |= explained_differs(x, i);
    if (exact)
        explained_add(x);
    explained_free(x);
    return exact;
}

static void report_missing(Diff *d, const RankBlock *block, const WendSequence *sequence,
                           guint where)
{
    g_autoptr(GString) what = g_string_new(NULL);
    call_text_sequence(what, sequence);
    g_string_append_printf(what, ": only in %s", d->name[where]);
    findings_add(d->pair.findings, ranks_of(block), block->ranks->len, what->str, NULL);
    for (guint i = 0; i < block->ranks->len; i++)
        d->differs[ranks_of(block)[i]] = TRUE;
}

static void compare_block(Diff *d, const RankBlock *block)
{
    const WendClass *class[2];
    for (guint i = 0; i < 2; i++)
        class[i] = program_class(d->program[i], block->class[i]);
    for (guint i = 0; i < class[0] -> n_sequences && !enough(d); i++) {
        gint other = find_sequence(class[1], &class[0] -> sequences[i]);
        if (other < 0) {
            report_missing(d, block, &class[0] -> sequences[i], 0);
            continue;
        }
        const guint sequence[2] = {i, (guint)other};
        if (explains(d) && explain_block(d, block, sequence))
            continue;
        for (guint r = 0; r < block->ranks->len && !enough(d); r++)
            compare_rank(d, block, r, sequence);
    }
    for (guint i = 0; i < class[1] -> n_sequences && !enough(d); i++)
        if (find_sequence(class[0], &class[1] -> sequences[i]) < 0)
            report_missing(d, block, &class[1] -> sequences[i], 1);
}

/* Compares the outcomes of a rank whose calls are equal. */
static void compare_outcomes(Diff *d, guint rank)
{
    const WendClass *class[2];
    for (guint i = 0; i < 2; i++)
        class[i] = program_class(d->program[i], program_class_of(d->program[i], rank));
    for (guint i = 0; i < class[0] -> n_sequences && !enough(d); i++) {
        const guint sequence[2] = {i, (guint)find_sequence(class[1], &class[0] -> sequences[i])};
        if (same_outcomes(d->pair.same, rank, sequence, !d->no_polls))
            continue;
        Both both = both_new(d, rank, sequence, d->no_polls ? ITEMS_OUTCOMES : ITEMS_POLLS);
        Apart apart;
        while (!enough(d) && find_apart(both.items[0], both.items[1], &apart)
               && report(d, rank, &class[0] -> sequences[i], both.items, &apart)) {
            items_drop(both.items[0], 1);
            items_drop(both.items[1], 1);
        }
        both_clear(&both);
    }
}

/* Compares the sites of a rank whose calls are equal. */
static void compare_sites(Diff *d, guint rank)
{
    const WendClass *class[2];
    for (guint i = 0; i < 2; i++)
        class[i] = program_class(d->program[i], program_class_of(d->program[i], rank));
    for (guint i = 0; i < class[0] -> n_sequences && !enough(d); i++) {
        const guint sequence[2] = {i, (guint)find_sequence(class[1], &class[0] -> sequences[i])};
        SiteDifference found;
        if (!site_differences_find(d->pair.sites, rank, sequence, &found))
            continue;
        g_autoptr(GString) what = g_string_new(NULL);
        call_text_sequence(what, &class[0] -> sequences[i]);
        g_string_append_printf(what, ", call %" G_GUINT64_FORMAT ": %s from another place",
                               found.index, found.function);
        g_autofree char *lines =
            g_strdup_printf("  < from %s\n  > from %s\n", found.sites[0], found.sites[1]);
        d->differs[rank] = TRUE;
        if (findings_add(d->pair.findings, &rank, 1, what->str, lines))
            findings_show(d->pair.findings, lines);
        g_free(found.sites[0]);
        g_free(found.sites[1]);
    }
}

/* -- ranks -- */

static void block_free(gpointer block)
{
    g_array_unref(((RankBlock *)block)->ranks);
    g_free(block);
}

static GPtrArray *find_blocks(const Diff *d)
{
    GPtrArray *blocks = g_ptr_array_new_with_free_func(block_free);
    GHashTable *index = g_hash_table_new_full(map_word_hash, g_int64_equal, g_free, NULL);
    for (guint rank = 0; rank < program_ranks(d->program[0]); rank++) {
        guint a = program_class_of(d->program[0], rank), b = program_class_of(d->program[1], rank);
        gint64 key = (gint64)((guint64)a << 32 | b);
        RankBlock *block = g_hash_table_lookup(index, &key);
        if (a == G_MAXUINT || b == G_MAXUINT)
            continue; /* see compare_presence */
        if (!block) {
            block = g_new(RankBlock, 1);
            *block = (RankBlock){{a, b}, g_array_new(FALSE, FALSE, sizeof(guint))};
            g_ptr_array_add(blocks, block);
            g_hash_table_insert(index, g_memdup2(&key, sizeof key), block);
        }
        g_array_append_val(block->ranks, rank);
    }
    g_hash_table_unref(index);
    return blocks;
}

/* Whether both recordings have the rank. A recording of a run that ended early may lack some
 * ranks. */
static gboolean compare_presence(Diff *d, guint rank)
{
    gboolean there[2];
    for (guint i = 0; i < 2; i++)
        there[i] = program_class_of(d->program[i], rank) != G_MAXUINT;
    if (there[0] != there[1]) {
        g_autofree char *what = g_strdup_printf("only in %s", d->name[there[0] ? 0 : 1]);
        findings_add(d->pair.findings, &rank, 1, what, NULL);
    }
    return there[0] && there[1];
}

/* Keeps in BLOCK only the ranks whose calls are not equal by the grammars alone. */
static void drop_same(Diff *d, RankBlock *block)
{
    guint kept = 0, n = block->ranks->len;
    guint *ranks = (guint *)(void *)block->ranks->data;
    if (!same_ranks(d->pair.same, block->class[0], block -> class[1], ranks, n))
        for (guint r = 0; r < n; r++)
            if (n == 1
                || !same_ranks(d->pair.same, block->class[0], block -> class[1], &ranks[r], 1))
                ranks[kept++] = ranks[r];
    g_array_set_size(block->ranks, kept);
}

static void compare_ranks(Diff *d)
{
    guint n = program_ranks(d->program[0]);
    d->differs = g_new0(gboolean, n + 1);
    for (guint rank = 0; rank < n; rank++)
        d->differs[rank] = !compare_presence(d, rank);
    GPtrArray *blocks = find_blocks(d);
    for (guint i = 0; i < blocks->len && !enough(d); i++) {
        command_progress("comparing", i, blocks->len);
        drop_same(d, blocks->pdata[i]);
        if (((RankBlock *)blocks->pdata[i])->ranks->len > 0)
            compare_block(d, blocks->pdata[i]);
    }
    g_ptr_array_unref(blocks);
    for (guint rank = 0; d->outcomes && rank < n && !enough(d); rank++) {
        command_progress("comparing", rank, n);
        if (!d->differs[rank])
            compare_outcomes(d, rank);
    }
    for (guint rank = 0; d->sites && !d->pinned && rank < n && !enough(d); rank++) {
        command_progress("comparing sites", rank, n);
        if (!d->differs[rank])
            compare_sites(d, rank);
    }
    g_clear_pointer(&d->differs, g_free);
}

/* Whether the recordings have equally many worlds, and equally many ranks in each. */
static gboolean compare_sizes(Diff *d)
{
    guint worlds[2] = {program_n_worlds(d->program[0]), program_n_worlds(d->program[1])};
    if (worlds[0] != worlds[1]) {
        if (!d->quiet)
            g_string_append_printf(d->out, "%s has %u worlds, %s has %u\n", d->name[0], worlds[0],
                                   d->name[1], worlds[1]);
        flush(d);
        return FALSE;
    }
    for (guint i = 0; i < worlds[0]; i++) {
        guint n[2] = {program_world(d->program[0], i)->ranks,
                      program_world(d->program[1], i)->ranks};
        if (n[0] == n[1])
            continue;
        if (!d->quiet) {
            if (worlds[0] > 1)
                g_string_append_printf(d->out, "world %u: ", i);
            g_string_append_printf(d->out, "%s has %u ranks, %s has %u\n", d->name[0], n[0],
                                   d->name[1], n[1]);
        }
        flush(d);
        return FALSE;
    }
    return TRUE;
}

static void compare_calls(Diff *d)
{
    d->pair.comparison_key = comparison_key_new(d->program[0], d->program[1]);
    compare_ranks(d);
    if (d->pinned) {
        d->expected = expected_calls(comparison_key_pinned(d->pair.comparison_key));
        expected_append(d->expectations, comparison_key_pinned(d->pair.comparison_key));
    }
    comparison_key_free(d->pair.comparison_key);
}

/* Separates differences that are expected of a proxy from all others, if there are any. */
static void compare_as_proxy(Diff *d)
{
    Findings *plain = d->pair.findings, *rest = findings_new(d->program[0], d->max);
    d->pair.findings = rest;
    d->pinned = TRUE;
    compare_calls(d);
    d->pinned = FALSE;
    d->pair.findings = d->expected > 0 ? rest : plain;
    findings_free(d->expected > 0 ? plain : rest);
}

/* Returns FALSE if the recordings differ. */
static gboolean compare(Diff *d)
{
    d->sizes = !compare_sizes(d);
    if (d->sizes)
        return FALSE;
    compare_calls(d);
    gboolean equal = findings_count(d->pair.findings) == 0;
    if (!equal && !d->quiet && !d->outcomes)
        compare_as_proxy(d);
    return equal;
}

/* Opens the sites of recordings PATHS, if they are to be compared and both have them. A line says
 * what is missing. Returns an exit status. */
static int open_sites(Diff *d, char **paths, SiteMatching *matching, gboolean tolerant)
{
    const char *message;
    int status = d->sites ? -site_differences_open(d->pair.sites, matching, &message) : 0;
    if (status != WEND_EXIT_OK)
        command_say(COMMAND, "%s", message);
    for (guint input = 0; input < 2 && d->sites && status == WEND_EXIT_OK; input++) {
        d->sites = site_differences_has_sites(d->pair.sites, input);
        if (!d->sites)
            command_say(COMMAND, "%s: the recording has no call sites: they are not compared",
                        paths[input]);
        else if (tolerant && !site_differences_has_stacks(d->pair.sites, input))
            command_say(COMMAND, SITE_MATCHING_NO_STACKS, paths[input]);
    }
    return status;
}

static void conclude(Diff *d, gboolean equal)
{
    guint64 found = findings_count(d->pair.findings) + d->sizes;
    if (d->quiet)
        return;
    findings_print(d->pair.findings, d->out);
    if (equal) {
        gboolean polls_too = d->outcomes && !d->no_polls;
        g_string_append(d->out, polls_too     ? "equal, outcomes and polls too"
                                : d->outcomes ? "equal, outcomes too"
                                              : "equal");
        g_string_append(d->out, d->sites ? ", from the same places: " : ": ");
        guint n = program_ranks(d->program[0]), worlds = program_n_worlds(d->program[0]);
        if (worlds > 1)
            g_string_append_printf(d->out, "%u worlds, ", worlds);
        text_count(d->out, n);
        g_string_append(d->out, n == 1 ? " rank, " : " ranks, ");
        WendTotals totals[2] = {counts_totals(d->pair.counts[0]), counts_totals(d->pair.counts[1])};
        guint64 polls[2] = {totals[0].polls, totals[1].polls};
        totals[0].polls = 0;
        g_autofree char *text = totals_text(&totals[0]);
        g_string_append(d->out, text);
        if (polls_too && polls[0] > 0) {
            g_string_append(d->out, ", ");
            text_count(d->out, polls[0]);
            g_string_append(d->out, polls[0] == 1 ? " unsuccessful poll" : " unsuccessful polls");
        } else if (polls[0] > 0 || polls[1] > 0) {
            g_string_append(d->out, "; not compared: ");
            text_count(d->out, polls[0]);
            g_string_append(d->out, " and ");
            text_count(d->out, polls[1]);
            g_string_append(d->out, " unsuccessful polls");
        }
        g_string_append_c(d->out, '\n');
    } else if (d->expected > 0 && found == 0) {
        g_string_append(d->out, "differ, only as expected of a proxy:\n");
        g_string_append(d->out, d->expectations->str);
    } else if (enough(d)) {
        g_string_append_printf(d->out,
                               "differ: stopped after %" G_GUINT64_FORMAT " difference%s (--max)\n",
                               found, found == 1 ? "" : "s");
    } else {
        g_string_append_printf(d->out, "differ: %" G_GUINT64_FORMAT " difference%s\n", found,
                               found == 1 ? "" : "s");
    }
    if (d->expected > 0 && found > 0) {
        g_string_append(d->out, "besides, as expected of a proxy:\n");
        g_string_append(d->out, d->expectations->str);
    }
    if (d->stat)
        stat_print(d->out, d->program, d->name);
    flush(d);
}

int diff_main(int argc, char **argv)
{
    Diff d = {.max = 10};
    gint64 max = 10;
    gint world = -1, tolerance = 0;
    g_auto(GStrv) ignored = NULL;
    SiteMatching *matching = NULL;
    const GOptionEntry entries[] = {
        {"outcomes", 'o', 0, G_OPTION_ARG_NONE, &d.outcomes,
         "Compare statuses, flags, the order of completions and unsuccessful polls, too", NULL},
        {"no-polls", 0, 0, G_OPTION_ARG_NONE, &d.no_polls,
         "Leave unsuccessful polls out of --outcomes", NULL},
        {"sites", 'S', 0, G_OPTION_ARG_NONE, &d.sites,
         "Compare from where in the program the calls come, too", NULL},
        SITE_MATCHING_OPTIONS("With --sites", tolerance, ignored),
        {"max", 'm', 0, G_OPTION_ARG_INT64, &max, "Stop after this many differences (10; 0: never)",
         "N"},
        {"world", 'w', 0, G_OPTION_ARG_INT, &world, "Compare only world N of several, from 0", "N"},
        {"stat", 0, 0, G_OPTION_ARG_NONE, &d.stat,
         "Add a table of MPI calls, bytes and times by function", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &d.quiet,
         "Print nothing; only the exit status tells the result", NULL},
        READING_OPTION,
        G_OPTION_ENTRY_NULL};
    int status;
    Error *error = NULL;
    WendProgram *programs[2] = {NULL, NULL};
    char *names[2] = {NULL, NULL};

    if (!command_options(
            COMMAND, "RECORDING RECORDING", "Compare two recordings and explain their differences.",
            "Exit status: 0 equal; 1 different; 2 wrong usage; 3 bad input; 4 the system refused.",
            entries, &argc, &argv, &status))
        return status;
    if (argc != 3)
        return command_usage(COMMAND, "two recordings are needed");
    if (max < 0)
        return command_usage(COMMAND, "--max needs a number from 0 on");
    if (!site_matching_options(COMMAND, d.sites ? NULL : "--sites", tolerance, ignored, &status))
        return status;
    d.max = d.quiet ? 1 : max == 0 ? G_MAXUINT64 : (guint64)max;
    for (guint i = 0; i < 2; i++) {
        programs[i] = reading_open(argv[1 + i], world, &error);
        if (!programs[i]) {
            status = command_fail(COMMAND, error);
            goto end;
        }
        d.program[i] = programs[i];
        d.name[i] = names[i] = text_foreign_new(argv[1 + i]);
        d.pair.counts[i] = counts_new(programs[i]);
    }
    d.out = g_string_new(NULL);
    memcpy(d.pair.program, d.program, sizeof d.program);
    memcpy(d.pair.name, d.name, sizeof d.name);
    d.pair.same = same_new(programs[0], programs[1]);
    d.pair.findings = findings_new(programs[0], d.max);
    d.expectations = g_string_new(NULL);
    gboolean equal = FALSE;
    d.pair.sites = site_differences_new(d.program);
    d.pair.put_site = site_differences_put;
    if (tolerance > 0 || ignored != NULL)
        matching = site_matching_new((guint)tolerance, ignored);
    status = open_sites(&d, argv + 1, matching, tolerance > 0);
    if (status == WEND_EXIT_OK) {
        equal = compare(&d);
        conclude(&d, equal);
    }
    site_differences_free(d.pair.sites);
    site_matching_free(matching);
    findings_free(d.pair.findings);
    same_free(d.pair.same);
    g_string_free(d.out, TRUE);
    g_string_free(d.expectations, TRUE);
    if (status == WEND_EXIT_OK)
        status = command_finish(COMMAND, equal ? WEND_EXIT_OK : WEND_EXIT_DIFFERS);
end:
    for (guint i = 0; i < 2; i++) {
        g_free(names[i]);
        counts_free(d.pair.counts[i]);
        if (programs[i] != NULL)
            program_free(programs[i]);
    }
    return status;
}
