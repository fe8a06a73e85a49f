/* SPDX-License-Identifier: BSD-3-Clause */
/* common.c: what ranks have in common, and what follows from something else, an archive has
 * once. */
#include "recorded.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* -- calls that are equal on other ranks -- */

/* Sizes that follow from the place in a grid which the ranks do not divide evenly: which of them
 * are equal is another matter on each. */
static SimulatedRank *uneven(guint rank, guint width, guint height)
{
    static const gint64 sizes[] = {5, 5, 6, 7, 5, 6, 8};
    SimulatedRank *r = simulated_new(rank, width * height, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    guint x = rank % width, y = rank / width;
    r->noise = g_rand_new_with_seed(rank);
    for (int step = 0; step < 30; step++)
        for (guint stage = 0; stage < 3; stage++) {
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, sizes[(x + stage) % 7] * 22,
                     (rank + 1) % r->world, 1);
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, sizes[(y + 2 * stage) % 7] * 22,
                     (rank + 1) % r->world, 1);
            if (step % 10 == 9)
                sim_allreduce(r, s, 1);
        }
    return r;
}

/* Classes of ranks that differ in where they send, with two calls of one shape each, whose times
 * are about so many microseconds. Gives the archive's bytes. */
enum { TIME_CLASSES = 4, TIME_CALLS = 2 };
static gsize times_of_classes(double about[TIME_CLASSES][TIME_CALLS])
{
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < 4 * TIME_CLASSES; rank++) {
        SimulatedRank *r = simulated_new(rank, 4 * TIME_CLASSES, TRUE);
        SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
        guint class = rank % TIME_CLASSES;
        r->noise = g_rand_new_with_seed(rank);
        if (class & 1)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 1, 0, 1);
        for (int i = 0; i < 500; i++)
            for (guint c = 0; c < TIME_CALLS; c++)
                sim_allreduce_in(r, s, c, about[class][c] * 1e-6);
        if (class & 2)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 1, 0, 1);
        g_ptr_array_add(ranks, r);
    }
    WendArchiveResult result;
    char *dir = record(ranks, NULL, &result);
    check_times(dir);
    g_assert_cmpuint(result.classes, ==, TIME_CLASSES);
    Error *error = NULL;
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    for (guint rank = 0; rank < TIME_CLASSES; rank++)
        for (guint t = 0; t < program_n_terminals(p); t++) {
            const WendTerminal *terminal = program_terminal(p, t);
            if (strcmp(program_shape(p, terminal->shape)->function->name, "MPI_Allreduce") != 0)
                continue;
            WendTiming duration, interval;
            program_timing(p, program_class_of(p, rank), 0, t, &duration, &interval);
            gint64 c = program_slot(p, t, terminal->n_slots - 1, rank);
            /* of 2^u, u evenly from -1 to 3 */
            double mean = about[rank][c] * 1e-6 * 7.5 / (4 * log(2));
            g_assert_cmpuint(duration.count, ==, 2000);
            g_assert_cmpfloat(fabs(duration.mean - mean), <, 0.1 * mean);
            g_assert_cmpfloat(fabs(interval.mean - 3 * mean), <, 0.3 * mean);
        }
    program_free(p);
    discard(dir);
    return result.bytes;
}

/* Times that cannot be told apart take their bytes once. */
static void test_times(void)
{
    double alike[TIME_CLASSES][TIME_CALLS] = {{1, 1}, {1, 3}, {3, 1}, {3, 3}},
           apart[TIME_CLASSES][TIME_CALLS];
    for (guint i = 0; i < TIME_CLASSES * TIME_CALLS; i++)
        apart[i / TIME_CALLS][i % TIME_CALLS] = exp2(i);
    g_assert_cmpuint(times_of_classes(alike) + 40, <, times_of_classes(apart));
}

static void test_coincidences(void)
{
    GRand *rand = g_rand_new_with_seed(4);
    gsize bytes[2];
    for (int i = 0; i < 2; i++) {
        guint width = i ? 9 : 4, height = i ? 8 : 5;
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        for (guint rank = 0; rank < width * height; rank++)
            g_ptr_array_add(ranks, uneven(rank, width, height));
        bytes[i] = one_class(ranks, rand);
    }
    g_assert_cmpuint(bytes[1], <, bytes[0] + 300);
    g_rand_free(rand);
}

/* By chance, of so many values: in common they would have each call for itself. */
static void test_apart(gconstpointer values)
{
    GRand *rand = g_rand_new_with_seed(5);
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < 12; rank++) {
        SimulatedRank *r = simulated_new(rank, 12, TRUE);
        SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
        GRand *dice = g_rand_new_with_seed(rank % 9); /* some are equal even so */
        for (int i = 0; i < 500; i++)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 10, (rank + 1) % 12,
                     g_rand_int_range(dice, 0, GPOINTER_TO_INT(values)));
        g_rand_free(dice);
        g_ptr_array_add(ranks, r);
    }
    for (int i = 0; i < 5; i++) {
        WendArchiveResult result;
        char *dir = record(ranks, i ? rand : NULL, &result);
        check(dir, ranks);
        g_assert_cmpuint(result.classes, ==, 9); /* those that are equal find each other */
        discard(dir);
    }
    g_rand_free(rand);
}

/* Few ranks, and sizes by chance, which take what they have in bits: what stands before a row of
 * them, and what its coder learns, is there once for many. */
static void test_few(void)
{
    enum { RANKS = 5, CALLS = 1000, BITS = 12 };
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < RANKS; rank++) {
        SimulatedRank *r = simulated_new(rank, RANKS, TRUE);
        SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
        GRand *sizes = g_rand_new_with_seed(rank);
        for (int i = 0; i < CALLS; i++)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0,
                     70000 + g_rand_int_range(sizes, 0, 1 << BITS),
                     rank ? rank - 1 : constant("MPI_PROC_NULL"),
                     g_rand_int_range(sizes, 0, 1 << BITS));
        g_rand_free(sizes);
        g_ptr_array_add(ranks, r);
    }
    WendArchiveResult result;
    char *dir = record(ranks, NULL, &result);
    check(dir, ranks);
    check_times(dir);
    g_assert_cmpuint(result.classes, ==, 1);
    g_assert_cmpuint(result.bytes, <, 1000 + 1.04 * 2 * RANKS * CALLS * BITS / 8);
    discard(dir);
}

/* -- rows of counts, and what follows from them -- */

static void put_row(SimulatedSequence *s, const gint64 *row, guint n)
{
    shape(s, n);
    for (guint i = 0; i < n; i++)
        slot(s, row[i]);
}

enum { MATCHED, GAP, UNMATCHED };

/* MPI_Alltoallv with counts by chance: displacements are their running sums, and what one receives
 * is what the others send; both take nothing more. GAP: on one rank there is one between two
 * displacements; UNMATCHED: what is received is by chance, too (as it is where types differ). Both
 * are kept. */
static void test_counts(gconstpointer kind)
{
    enum { RANKS = 24, CALLS = 3, BITS = 12 };
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    GRand *sizes = g_rand_new_with_seed(5);
    gint64 counts[CALLS][2][RANKS][RANKS];
    for (int i = 0; i < CALLS; i++)
        for (guint from = 0; from < RANKS; from++)
            for (guint to = 0; to < RANKS; to++) {
                counts[i][0][from][to] = counts[i][1][to][from] =
                    1 + g_rand_int_range(sizes, 0, 1 << BITS);
                if (GPOINTER_TO_INT(kind) == UNMATCHED)
                    counts[i][1][to][from] = 1 + g_rand_int_range(sizes, 0, 1 << BITS);
            }
    g_rand_free(sizes);
    for (guint rank = 0; rank < RANKS; rank++) {
        SimulatedRank *r = simulated_new(rank, RANKS, TRUE);
        SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
        for (int i = 0; i < CALLS; i++) {
            call(s, "MPI_Alltoallv");
            slot(s, rank);
            for (int half = 0; half < 2; half++) {
                gint64 displs[RANKS], at = 0;
                for (guint k = 0; k < RANKS; k++) {
                    displs[k] = at;
                    at += counts[i][half][rank][k]
                          + (GPOINTER_TO_INT(kind) == GAP && rank == 7 && k == 11);
                }
                shape(s, WEND_SEGMENT(WEND_SEGMENT_HEAP, half));
                slot(s, 0);
                put_row(s, counts[i][half][rank], RANKS);
                put_row(s, displs, RANKS);
                shape(s, constant("MPI_DOUBLE"));
            }
            shape(s, constant("MPI_COMM_WORLD"));
            end(r, s, 1e-5);
        }
        g_ptr_array_add(ranks, r);
    }
    WendArchiveResult result;
    char *dir = record(ranks, NULL, &result);
    check(dir, ranks);
    g_assert_cmpuint(result.classes, ==, 1);
    gsize bytes = (GPOINTER_TO_INT(kind) == UNMATCHED ? 2 : 1) * CALLS * RANKS * RANKS * BITS / 8;
    g_assert_cmpuint(result.bytes, <, 900 + (GPOINTER_TO_INT(kind) == GAP ? 1.4 : 1.1) * bytes);
    discard(dir);
}

/* -- a root -- */

/* What varies from call to call: sources, sizes by chance, and who came when. */
static SimulatedRank *gathering(guint rank, guint world)
{
    SimulatedRank *r = simulated_new(rank, world, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    GRand *dice = g_rand_new_with_seed(rank);
    gint64 any = constant("MPI_ANY_SOURCE");
    r->noise = g_rand_new_with_seed(rank);
    for (guint i = 1; rank == 0 && i < world; i++) {
        sim_recv(r, s, 100, i, 5, i, 5, 800);
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 800 * i, 100, world - i, 6);
    }
    for (guint i = 0; rank == 0 && i < 2 * world; i++) {
        sim_recv(r, s, 5000, any, 7, g_rand_int_range(dice, 1, world), 7,
                 8 * g_rand_int_range(dice, 0, 5000));
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, g_rand_int_range(dice, 0, 5000),
                 1 + i % (world - 1), 8);
    }
    for (guint i = 0; rank > 0 && i < 3; i++)
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 100 + i, 0, 5);
    g_rand_free(dice);
    return r;
}

static void test_root(void)
{
    guint64 bytes[2];
    for (guint k = 0; k < 2; k++) {
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        guint world = k ? 400 : 100;
        for (guint rank = 0; rank < world; rank++)
            g_ptr_array_add(ranks, gathering(rank, world));
        WendArchiveResult result;
        char *dir = record(ranks, NULL, &result);
        check(dir, ranks);
        check_times(dir);
        bytes[k] = result.bytes;
        discard(dir);
    }
    /* 1,200 messages of sizes and 600 of sources by chance more: 13 bits, 13 and 9 each; what is
     * regular costs nothing more. The time of each of 300 ranks more, by chance, takes a byte at
     * most. */
    g_assert_cmpuint(bytes[1] - bytes[0], <, 600 * (13 + 13 + 9) / 8 * 5 / 4 + 300);
}

/* -- classes that share -- */

/* A chain without MPI_PROC_NULL: the ends and the middle are three classes, whose calls are the
 * same but for those left out. */
static SimulatedRank *chain(guint rank, guint world)
{
    SimulatedRank *r = simulated_new(rank, world, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    for (int i = 0; i < 40; i++) {
        gint64 requests[4];
        guint n = 0;
        sim_allreduce(r, s, 1);
        sim_allreduce(r, s, 2);
        sim_allreduce(r, s, 3);
        if (rank > 0)
            requests[n++] =
                sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 8, (gint64)rank - 1, 1);
        if (rank + 1 < world)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 8, rank + 1, 1);
        sim_waitall(r, s, n, requests);
        if (i % 4 == 3 && rank == 0)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 0, 8, world - 1, 2);
    }
    return r;
}

static void test_shared(void)
{
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < 9; rank++)
        g_ptr_array_add(ranks, chain(rank, 9));
    WendArchiveResult result;
    char *dir = record(ranks, NULL, &result);
    check(dir, ranks);
    g_assert_cmpuint(result.classes, ==, 3);
    WendProgram *p = program_open(dir, NULL);
    /* allreduce x 3, irecv, send to the right, waitall of 0 and of 1, the first rank's send to the
     * last */
    g_assert_cmpuint(program_n_terminals(p), ==, 8);
    g_assert_cmpuint(program_n_shapes(p), ==, 6);
    guint sends = 0;
    for (guint t = 0; t < program_n_terminals(p); t++) {
        const WendTerminal *terminal = program_terminal(p, t);
        if (strcmp(program_shape(p, terminal->shape)->function->name, "MPI_Send") != 0)
            continue;
        const WendSlot *dest = &terminal->slots[3];
        if (dest->form == WEND_SLOT_SELF && dest->value == 1)
            sends++;
        g_assert_cmpint(terminal->slots[0].form, ==, WEND_SLOT_SELF);
    }
    g_assert_cmpuint(sends, ==, 1);
    /* the three allreduces are one rule that all classes use */
    guint rules = 0, users = 0;
    for (guint r = 0; r < program_n_rules(p); r++) {
        const WendRule *rule = program_rule(p, r);
        gboolean is_it = rule->n == 3;
        for (guint k = 0; k < rule->n; k++)
            is_it &= !rule->symbols[k].is_rule
                     && strcmp(program_shape(p, program_terminal(p, rule->symbols[k].id)->shape)
                                   ->function->name,
                               "MPI_Allreduce")
                            == 0;
        if (!is_it)
            continue;
        rules++;
        for (guint u = 0; u < program_n_rules(p); u++)
            for (guint k = 0; k < program_rule(p, u)->n; k++)
                users += program_rule(p, u)->symbols[k].is_rule
                         && program_rule(p, u)->symbols[k].id == r;
    }
    g_assert_cmpuint(rules, ==, 1);
    g_assert_cmpuint(users, >=, 2);
    program_free(p);
    discard(dir);
}

/* -- values that come again -- */

/* One rank, and values by chance of which half are new: a call takes what a value has in bits, and
 * what says whether it is new. */
static void test_again(void)
{
    enum { CALLS = 20000, BITS = 14 };
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    g_ptr_array_add(ranks, simulated_chance(0, 1, CALLS, 70000, 1 << BITS, TRUE));
    WendArchiveResult result;
    char *dir = record(ranks, NULL, &result);
    check(dir, ranks);
    check_times(dir);
    g_assert_cmpuint(result.bytes, <, 500 + 1.08 * CALLS * BITS / 8);
    discard(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/common/coincidences", test_coincidences);
    g_test_add_func("/common/times", test_times);
    g_test_add_data_func("/common/apart/few", GINT_TO_POINTER(4), test_apart);
    g_test_add_data_func("/common/apart/many", GINT_TO_POINTER(40), test_apart);
    g_test_add_func("/common/few", test_few);
    g_test_add_data_func("/common/counts/matched", GINT_TO_POINTER(MATCHED), test_counts);
    g_test_add_data_func("/common/counts/gap", GINT_TO_POINTER(GAP), test_counts);
    g_test_add_data_func("/common/counts/unmatched", GINT_TO_POINTER(UNMATCHED), test_counts);
    g_test_add_func("/common/again", test_again);
    g_test_add_func("/common/root", test_root);
    g_test_add_func("/common/shared", test_shared);
    return g_test_run();
}
