/* SPDX-License-Identifier: BSD-3-Clause */
/* class-alignment.c: ranks that leave out calls that others make. */
#include "recorded.h"

#include <glib.h>

/* Cycles over levels of which each has half as many ranks as the one before, in two dimensions, and
 * what the first rank does beside. */
static SimulatedRank *levels(guint rank, guint width, guint height)
{
    SimulatedRank *r = simulated_new(rank, width * height, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    gint64 x = rank % width, y = rank / width;
    r->noise = g_rand_new_with_seed(rank);
    for (int cycle = 0; cycle < 25; cycle++) {
        for (guint level = 0; 1u << level < width; level++) {
            gint64 step = 1 << level, count = 1024 >> level;
            for (int axis = 0; axis < 2; axis++) {
                if ((axis ? y : x) % step)
                    continue;
                gint64 right =
                    axis ? ((y + step) % height) * width + x : y * width + (x + step) % width;
                gint64 left = axis ? ((y + height - step) % height) * width + x
                                   : y * width + (x + width - step) % width;
                gint64 request = sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 8 * axis,
                                           count, left, axis);
                sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 8 * axis, count, right, axis);
                sim_waitall(r, s, 1, &request);
            }
        }
        sim_allreduce(r, s, 1);
        if (rank == 0 && cycle % 5 == 4)
            sim_recv(r, s, 1, 1, 7, 1, 7, 8);
        if (rank == 1 && cycle % 5 == 4)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 0, 1, 0, 7);
    }
    return r;
}

/* What few ranks do takes what a condition does, not what classes of calls, values and rules do. */
static void test_levels(void)
{
    gsize bytes[2];
    GRand *rand = g_rand_new_with_seed(5);
    for (guint k = 0; k < 2; k++) {
        guint side = k ? 16 : 8;
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        for (guint rank = 0; rank < side * side; rank++)
            g_ptr_array_add(ranks, levels(rank, side, side));
        WendArchiveResult result = in_any_order(ranks, rand);
        g_assert_cmpuint(result.classes, <=, 4); /* of 7 and 9 */
        bytes[k] = result.bytes;
    }
    g_test_message("%zu and %zu bytes", bytes[0], bytes[1]);
    /* Classes by themselves take 1,383 and 2,216, and then there are the times of 64 and 256 ranks
     * in four functions, five bits each. */
    g_assert_cmpuint(bytes[0], <, 1250 + 64 * 4 * 5 / 8);
    g_assert_cmpuint(bytes[1], <, 2000 + 256 * 4 * 5 / 8);
    g_rand_free(rand);
}

/* On a torus all send to the next rank of the row. Some do so again with other sizes: those of each
 * third column, of the upper half, of odd columns and rows. */
static SimulatedRank *again(guint rank, guint width)
{
    SimulatedRank *r = simulated_new(rank, width * width, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    guint x = rank % width, y = rank / width;
    const gboolean also[] = {TRUE, TRUE, TRUE, TRUE, x % 3 == 0, y < width / 2, x % 2 && y % 2};
    for (int cycle = 0; cycle < 25; cycle++) {
        sim_allreduce(r, s, 1);
        for (guint k = 0; k < G_N_ELEMENTS(also); k++)
            if (also[k])
                sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 0, 100 + 7 * k,
                         y * width + (x + 1) % width, k);
    }
    return r;
}

/* The neighbour is told once, and not anew for each set of ranks. */
static void test_again(void)
{
    GRand *rand = g_rand_new_with_seed(6);
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < 16 * 16; rank++)
        g_ptr_array_add(ranks, again(rank, 16));
    WendArchiveResult result = in_any_order(ranks, rand);
    g_assert_cmpuint(result.classes, <=, 2); /* of 8 */
    /* 758 with tables of their own, and about 40 for the times of ranks */
    g_assert_cmpuint(result.bytes, <, 740 + 40);
    g_rand_free(rand);
}

/* -- programs by chance -- */

typedef enum { ALL, ODD, FIRST, LATER, THIRD, INNER, CONDITIONS } Condition;

static gboolean holds(Condition c, guint rank, guint world)
{
    switch (c) {
    case ODD:
        return rank % 2 == 1;
    case FIRST:
        return rank == 0;
    case LATER:
        return rank >= world / 2;
    case THIRD:
        return rank % 3 == 0;
    case INNER:
        return rank > 0 && rank + 1 < world;
    default:
        return TRUE;
    }
}

/* Some calls, each maybe under a condition, and loops of such, to some depth. DRAW is the same on
 * all ranks, CHANCE is not. */
static void run_block(SimulatedRank *r, SimulatedSequence *s, GRand *draw, GRand *chance, int depth,
                      gboolean runs)
{
    guint n = g_rand_int_range(draw, 1, 6);
    for (guint i = 0; i < n; i++) {
        gboolean here =
            runs && holds((Condition)g_rand_int_range(draw, 0, CONDITIONS), r->rank, r->world);
        gint64 count = g_rand_int_range(draw, 1, 4), shift = g_rand_int_range(draw, 1, 3),
               tag = g_rand_int_range(draw, 0, 3);
        gint64 peer = (r->rank + shift) % r->world;
        gint kind = g_rand_int_range(draw, 0, depth > 0 ? 7 : 5);
        guint32 seed = g_rand_int(draw);
        if (kind >= 5) {
            gint trips = g_rand_int_range(draw, 1, 9);
            for (gint t = 0; t < (here ? trips : 0); t++) {
                GRand *again = g_rand_new_with_seed(seed); /* the body is the same each time */
                run_block(r, s, again, chance, depth - 1, TRUE);
                g_rand_free(again);
            }
            continue;
        }
        if (!here)
            continue;
        if (kind == 0)
            sim_allreduce(r, s, count);
        if (kind == 1)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 8 * (gint64)r->rank, count, peer,
                     tag);
        if (kind == 2)
            sim_recv(r, s, count, constant("MPI_ANY_SOURCE"), tag,
                     g_rand_int_range(chance, 0, (gint32)r->world), tag, 8 * count);
        if (kind >= 3) {
            gint64 request =
                sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 0, count, peer, tag);
            for (gint polls = kind == 4 ? g_rand_int_range(chance, 0, 3) : 0; polls > 0; polls--)
                sim_test(r, s, request, FALSE);
            sim_test(r, s, request, TRUE);
        }
    }
}

static SimulatedRank *by_chance(guint rank, guint world, guint32 seed)
{
    SimulatedRank *r = simulated_new(rank, world, TRUE);
    GRand *chance = g_rand_new_with_seed(seed + 1000 * (rank + 1));
    guint n = seed % 3 == 0 ? 2 : 1; /* threads */
    r->noise = g_rand_new_with_seed(rank);
    for (guint thread = 0; thread < n; thread++) {
        GRand *draw = g_rand_new_with_seed(seed + thread);
        run_block(r, simulated_sequence(r, WEND_SEQUENCE_THREAD, thread), draw, chance, 3, TRUE);
        g_rand_free(draw);
    }
    g_rand_free(chance);
    return r;
}

static void test_chance(void)
{
    guint most = 0, aligned = 0;
    for (guint32 seed = 0; seed < 150; seed++) {
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        GRand *rand = g_rand_new_with_seed(seed);
        guint world = 2 + seed % 12;
        for (guint rank = 0; rank < world; rank++)
            g_ptr_array_add(ranks, by_chance(rank, world, seed));
        WendArchiveResult result;
        char *dir = record(ranks, rand, &result);
        check(dir, ranks);
        check_times(dir);
        WendProgram *p = program_open(dir, NULL);
        aligned += program_n_classes(p) > result.classes;
        most = MAX(most, program_n_classes(p));
        program_free(p);
        discard(dir);
        g_rand_free(rand);
    }
    /* else this tests something else */
    g_assert_cmpuint(most, >, 6);
    g_assert_cmpuint(aligned, >, 30);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/aligned/levels", test_levels);
    g_test_add_func("/aligned/again", test_again);
    g_test_add_func("/aligned/chance", test_chance);
    return g_test_run();
}
