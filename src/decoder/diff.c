/* diff.c: wend diff: whether two recordings are equal, and where they part. docs/design.md, "Equality of two recordings". */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "count.h"
#include "identity.h"
#include "items.h"
#include "program.h"
#include "same.h"
#include "src/wend/command.h"
#include "text.h"
#include "window.h"

#define COMMAND "diff"

typedef struct {
    const WendProgram *program[2];
    const char *name[2];
    gboolean outcomes, quiet;
    guint64 max;               /* differences to print */
    guint64 found;
    GString *out;
    Same *same;
    Counts *counts[2];
} Diff;

static gboolean enough(const Diff *d)
{
    return d->found >= d->max;
}

/* -- differences -- */

/* Counts a difference; TRUE: it is to be printed. */
static gboolean differ(Diff *d)
{
    d->found++;
    return !d->quiet;
}

static void flush(Diff *d)
{
    wend_command_write(d->out->str, d->out->len);
    g_string_truncate(d->out, 0);
}

static void print_side(Diff *d, Items *items, const Item *item, char mark, const char **name)
{
    *name = "";
    g_string_append_printf(d->out, "  %c ", mark);
    if (item->number == 0) {
        g_string_append(d->out, "(the end)\n");
        return;
    }
    char *text = items_describe(items, item, name);
    text_decimal(d->out, (gint64)item->index);
    g_string_append_printf(d->out, "  %s\n", text != NULL ? text : "");
    g_free(text);
}

/* Prints two items; TRUE: they are calls of one function, so that comparing may go on behind them. */
static gboolean report(Diff *d, guint rank, const WendSequence *sequence, Items *a, Items *b, const Item *at_a, const Item *at_b, const char *why)
{
    const char *name_a, *name_b;
    if (!differ(d))
        return FALSE;
    text_rank(d->out, d->program[0], rank);
    g_string_append(d->out, ", ");
    text_sequence(d->out, sequence);
    if (at_a->number != 0)
        g_string_append_printf(d->out, ", call %" G_GUINT64_FORMAT, at_a->index);
    else
        g_string_append(d->out, ", behind the last call");
    g_string_append_printf(d->out, ": %s\n", why);
    print_side(d, a, at_a, '<', &name_a);
    print_side(d, b, at_b, '>', &name_b);
    flush(d);
    return at_a->number != 0 && at_b->number != 0 && strcmp(name_a, name_b) == 0;
}

static const char *kind_of_difference(const Item *a, const Item *b)
{
    if (a->number == 0 || b->number == 0)
        return "one sequence is longer";
    if (a->choice != b->choice)
        return "a completion on one side only";
    return "the calls differ";
}

/* -- sequences -- */

/* How many completions in a row both begin with, or 0 if the rows differ. */
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

static void compare_items(Diff *d, guint rank, const WendSequence *sequence, Items *a, Items *b)
{
    while (!enough(d)) {
        Item x = items_peek(a, 0), y = items_peek(b, 0);
        const char *why;
        gsize n = 1;
        if (x.choice && y.choice) {
            n = common_completions(a, b);
            if (n == 0 && !window_match(a, b, &x, &y, &why)) {
                report(d, rank, sequence, a, b, &x, &y, why);
                return;
            }
        } else if (x.number != y.number || x.choice != y.choice) {
            if (!report(d, rank, sequence, a, b, &x, &y, kind_of_difference(&x, &y)) || x.choice || y.choice)
                return;
        } else if (x.number == 0) {
            return;
        }
        items_drop(a, n);
        items_drop(b, n);
    }
}

static gint find_sequence(const WendClass *class, const WendSequence *wanted)
{
    for (guint i = 0; i < class->n_sequences; i++)
        if (class->sequences[i].kind == wanted->kind && class->sequences[i].id == wanted->id)
            return (gint)i;
    return -1;
}

static void report_missing(Diff *d, guint rank, const WendSequence *sequence, guint where)
{
    if (enough(d) || !differ(d))
        return;
    text_rank(d->out, d->program[0], rank);
    g_string_append(d->out, ", ");
    text_sequence(d->out, sequence);
    g_string_append_printf(d->out, ": only in %s\n", d->name[where]);
    flush(d);
}

static void compare_rank(Diff *d, Identity *identity, guint rank)
{
    const WendClass *class[2];
    IdentityRank *ids[2];
    for (guint i = 0; i < 2; i++) {
        class[i] = wend_program_class(d->program[i], wend_program_class_of(d->program[i], rank));
        ids[i] = identity_rank_new(identity, d->program[i], rank, d->counts[i]);
    }
    for (guint i = 0; i < class[0]->n_sequences && !enough(d); i++) {
        const WendSequence *sequence = &class[0]->sequences[i];
        gint other = find_sequence(class[1], sequence);
        if (other < 0) {
            report_missing(d, rank, sequence, 0);
            continue;
        }
        Items *a = items_new(ids[0], d->program[0], rank, i, d->outcomes);
        Items *b = items_new(ids[1], d->program[1], rank, (guint)other, d->outcomes);
        compare_items(d, rank, sequence, a, b);
        items_free(a);
        items_free(b);
    }
    for (guint i = 0; i < class[1]->n_sequences; i++)
        if (find_sequence(class[0], &class[1]->sequences[i]) < 0)
            report_missing(d, rank, &class[1]->sequences[i], 1);
    identity_rank_free(ids[0]);
    identity_rank_free(ids[1]);
}

/* -- ranks -- */

/* Ranks of one class in both recordings. */
typedef struct { guint class[2]; GArray *ranks; } Block;

static void block_free(gpointer block)
{
    g_array_unref(((Block *)block)->ranks);
    g_free(block);
}

static GPtrArray *find_blocks(const Diff *d)
{
    GPtrArray *blocks = g_ptr_array_new_with_free_func(block_free);
    GHashTable *index = g_hash_table_new_full(wend_program_word_hash, g_int64_equal, g_free, NULL);
    for (guint rank = 0; rank < wend_program_ranks(d->program[0]); rank++) {
        guint a = wend_program_class_of(d->program[0], rank), b = wend_program_class_of(d->program[1], rank);
        gint64 key = (gint64)((guint64)a << 32 | b);
        Block *block = g_hash_table_lookup(index, &key);
        if (a == G_MAXUINT || b == G_MAXUINT)
            continue; /* see compare_presence */
        if (block == NULL) {
            block = g_new(Block, 1);
            *block = (Block){{a, b}, g_array_new(FALSE, FALSE, sizeof(guint))};
            g_ptr_array_add(blocks, block);
            g_hash_table_insert(index, g_memdup2(&key, sizeof key), block);
        }
        g_array_append_val(block->ranks, rank);
    }
    g_hash_table_unref(index);
    return blocks;
}

static gint compare_ranks(gconstpointer a, gconstpointer b)
{
    guint x = *(const guint *)a, y = *(const guint *)b;
    return x < y ? -1 : x > y;
}

/* A recording of a run that ended early may have nothing of some ranks. TRUE: both have this one. */
static gboolean compare_presence(Diff *d, guint rank)
{
    gboolean there[2];
    for (guint i = 0; i < 2; i++)
        there[i] = wend_program_class_of(d->program[i], rank) != G_MAXUINT;
    if (there[0] != there[1] && !enough(d) && differ(d)) {
        text_rank(d->out, d->program[0], rank);
        g_string_append_printf(d->out, ": only in %s\n", d->name[there[0] ? 0 : 1]);
        flush(d);
    }
    return there[0] && there[1];
}

/* The ranks whose calls are not told equal by the grammars alone, ascending. */
static GArray *ranks_to_walk(Diff *d)
{
    guint n = wend_program_ranks(d->program[0]);
    GArray *walk = g_array_new(FALSE, FALSE, sizeof(guint));
    if (d->outcomes) {
        for (guint rank = 0; rank < n; rank++)
            if (compare_presence(d, rank))
                g_array_append_val(walk, rank);
        return walk;
    }
    for (guint rank = 0; rank < n; rank++)
        compare_presence(d, rank);
    GPtrArray *blocks = find_blocks(d);
    for (guint i = 0; i < blocks->len; i++) {
        const Block *block = blocks->pdata[i];
        const guint *ranks = (const guint *)(void *)block->ranks->data;
        if (same_ranks(d->same, block->class[0], block->class[1], ranks, block->ranks->len))
            continue;
        for (guint r = 0; r < block->ranks->len; r++)
            if (block->ranks->len == 1 || !same_ranks(d->same, block->class[0], block->class[1], &ranks[r], 1))
                g_array_append_val(walk, ranks[r]);
    }
    g_array_sort(walk, compare_ranks);
    g_ptr_array_unref(blocks);
    return walk;
}

/* Are there as many worlds, and as many ranks in each? */
static gboolean compare_sizes(Diff *d)
{
    guint worlds[2] = {wend_program_n_worlds(d->program[0]), wend_program_n_worlds(d->program[1])};
    if (worlds[0] != worlds[1]) {
        if (differ(d))
            g_string_append_printf(d->out, "%s has %u worlds, %s has %u\n", d->name[0], worlds[0], d->name[1], worlds[1]);
        flush(d);
        return FALSE;
    }
    for (guint i = 0; i < worlds[0]; i++) {
        guint n[2] = {wend_program_world(d->program[0], i)->ranks, wend_program_world(d->program[1], i)->ranks};
        if (n[0] == n[1])
            continue;
        if (differ(d)) {
            if (worlds[0] > 1)
                g_string_append_printf(d->out, "world %u: ", i);
            g_string_append_printf(d->out, "%s has %u ranks, %s has %u\n", d->name[0], n[0], d->name[1], n[1]);
        }
        flush(d);
        return FALSE;
    }
    return TRUE;
}

static void compare(Diff *d)
{
    if (!compare_sizes(d))
        return;
    Identity *identity = identity_new(d->program[0], d->program[1]);
    GArray *walk = ranks_to_walk(d);
    for (guint i = 0; i < walk->len && !enough(d); i++) {
        wend_command_progress("comparing", i, walk->len);
        compare_rank(d, identity, g_array_index(walk, guint, i));
    }
    g_array_unref(walk);
    identity_free(identity);
}

static void conclude(Diff *d)
{
    if (d->quiet)
        return;
    if (d->found == 0) {
        g_string_append(d->out, d->outcomes ? "equal, outcomes too: " : "equal: ");
        guint n = wend_program_ranks(d->program[0]), worlds = wend_program_n_worlds(d->program[0]);
        if (worlds > 1)
            g_string_append_printf(d->out, "%u worlds, ", worlds);
        text_count(d->out, n);
        g_string_append(d->out, n == 1 ? " rank, " : " ranks, ");
        WendTotals totals[2] = {counts_totals(d->counts[0]), counts_totals(d->counts[1])};
        guint64 polls[2] = {totals[0].polls, totals[1].polls};
        totals[0].polls = 0;
        g_autofree char *text = wend_merge_totals_text(&totals[0]);
        g_string_append(d->out, text);
        if (polls[0] > 0 || polls[1] > 0) {
            g_string_append(d->out, "; not compared: ");
            text_count(d->out, polls[0]);
            g_string_append(d->out, " and ");
            text_count(d->out, polls[1]);
            g_string_append(d->out, " unsuccessful polls");
        }
        g_string_append_c(d->out, '\n');
    } else if (enough(d)) {
        g_string_append_printf(d->out, "differ: stopped after %" G_GUINT64_FORMAT " difference%s (--max)\n", d->found, d->found == 1 ? "" : "s");
    } else {
        g_string_append_printf(d->out, "differ: %" G_GUINT64_FORMAT " difference%s\n", d->found, d->found == 1 ? "" : "s");
    }
    flush(d);
}

int wend_diff_main(int argc, char **argv)
{
    Diff d = {.max = 10};
    gint64 max = 10;
    gint world = -1;
    const GOptionEntry entries[] = {
        {"outcomes", 'o', 0, G_OPTION_ARG_NONE, &d.outcomes, "Compare what the runs decided too: order of completions, statuses, flags", NULL},
        {"max", 'm', 0, G_OPTION_ARG_INT64, &max, "Stop after this many differences (10; 0: never)", "N"},
        {"world", 'w', 0, G_OPTION_ARG_INT, &world, "Only this one of several worlds, from 0", "N"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &d.quiet, "Print nothing; the exit code says it", NULL},
        G_OPTION_ENTRY_NULL};
    int status;
    GError *error = NULL;
    WendProgram *programs[2] = {NULL, NULL};
    g_autofree char *names[2] = {NULL, NULL};

    if (!wend_command_options(COMMAND, "RECORDING RECORDING", "Compare two recordings.", "Exit code: 0 equal, 1 different, 2 and more: errors.",
                              entries, &argc, &argv, &status))
        return status;
    if (argc != 3)
        return wend_command_usage(COMMAND, "two recordings are compared");
    if (max < 0)
        return wend_command_usage(COMMAND, "--max takes a number from 0");
    d.max = d.quiet ? 1 : max == 0 ? G_MAXUINT64 : (guint64)max;
    for (guint i = 0; i < 2; i++) {
        programs[i] = world >= 0 ? wend_program_open_world(argv[1 + i], (guint)world, &error) : wend_program_open(argv[1 + i], &error);
        if (programs[i] == NULL) {
            status = wend_command_fail(COMMAND, error);
            goto end;
        }
        d.program[i] = programs[i];
        d.name[i] = names[i] = text_foreign_new(argv[1 + i]);
        d.counts[i] = counts_new(programs[i]);
    }
    d.out = g_string_new(NULL);
    d.same = same_new(programs[0], programs[1]);
    compare(&d);
    conclude(&d);
    same_free(d.same);
    g_string_free(d.out, TRUE);
    status = wend_command_finish(COMMAND, d.found == 0 ? WEND_EXIT_OK : WEND_EXIT_DIFFERS);
end:
    for (guint i = 0; i < 2; i++) {
        counts_free(d.counts[i]);
        if (programs[i] != NULL)
            wend_program_free(programs[i]);
    }
    return status;
}
