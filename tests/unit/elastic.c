/* SPDX-License-Identifier: BSD-3-Clause */
/* elastic.c: shapes whose calls are values in a stream while they are recorded: nobody can tell
 * afterwards. */
#include "recorded.h"

#include <glib.h>

#include "../../lib/merge/class.h"

/* -- programs by chance -- */

typedef enum { SAME, CHANCE, FEW, STRIDE, PERIOD, WALK, STRETCHES, PATTERNS } Pattern;

typedef struct {
    Pattern pattern;
    gint64 first, step;
    guint period;
    gint64 now;
    guint n;
} Varying;

static Varying varying(GRand *draw)
{
    Varying v = {.pattern = g_rand_int_range(draw, 0, PATTERNS),
                 .first = g_rand_int_range(draw, 0, 1000),
                 .step = g_rand_int_range(draw, -3, 4),
                 .period = g_rand_int_range(draw, 1, 90)};
    v.now = v.first;
    return v;
}

static gint64 next(Varying *v, GRand *chance)
{
    guint i = v->n++;
    switch (v->pattern) {
    case CHANCE:
        return g_rand_int_range(chance, 0, 1 << 20);
    case FEW:
        return g_rand_int_range(chance, 0, 60);
    case STRIDE:
        return v->first + v->step * i;
    case PERIOD:
        return v->first + i % v->period;
    case WALK:
        return v->now += g_rand_int_range(chance, -2, 3);
    case STRETCHES:
        return i / v->period % 2 ? g_rand_int_range(chance, 0, 1000) : v->first;
    default:
        return v->first;
    }
}

/* Calls of a few shapes, each with slots that vary in a way of their own; requests and failing
 * polls between them; and now and then something regular, so that loops are left and entered
 * again. */
static void run(SimulatedRank *r, SimulatedSequence *s, GRand *draw, GRand *chance, guint calls)
{
    Varying count[3], peer[3], offset = varying(draw), constant_now = {.pattern = SAME, .first = 7};
    for (guint k = 0; k < 3; k++) {
        count[k] = varying(draw);
        peer[k] = g_rand_boolean(draw) ? varying(draw) : constant_now;
    }
    for (guint i = 0; i < calls; i++) {
        gint kind = g_rand_int_range(draw, 0, 6);
        if (kind == 0)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), next(&offset, chance),
                     next(&count[0], chance), next(&peer[0], chance), 3);
        if (kind == 1)
            sim_recv(r, s, next(&count[1], chance), constant("MPI_ANY_SOURCE"), 3,
                     g_rand_int_range(chance, 0, 4), 3, 8);
        if (kind == 2)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 0, 10,
                     g_rand_int_range(chance, 0, 2) ? next(&peer[1], chance)
                                                    : constant("MPI_PROC_NULL"),
                     4);
        if (kind == 3) {
            gint64 request = sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 0,
                                       next(&count[2], chance), 1, 5);
            for (gint polls = g_rand_int_range(chance, 0, 3); polls > 0; polls--)
                sim_test(r, s, request, FALSE);
            sim_test(r, s, request, TRUE);
        }
        if (kind == 4 && i % 40 == 0)
            for (guint k = 0; k < 30; k++)
                sim_allreduce(r, s, 1);
        if (kind == 5)
            sim_allreduce(r, s, i < calls / 2 ? 1 : next(&count[0], chance));
    }
}

static SimulatedRank *by_chance(guint rank, guint world, guint32 seed)
{
    SimulatedRank *r = simulated_new(rank, world, TRUE);
    GRand *chance = g_rand_new_with_seed(seed + 1000 * (rank + 1)),
          *draw = g_rand_new_with_seed(seed);
    r->noise = g_rand_new_with_seed(rank);
    for (guint thread = 0; thread < 1 + seed % 2; thread++)
        run(r, simulated_sequence(r, WEND_SEQUENCE_THREAD, thread), draw, chance,
            300 + 200 * (seed % 4));
    g_rand_free(chance);
    g_rand_free(draw);
    return r;
}

static guint64 elastic_calls(const SimulatedRank *r)
{
    guint64 all = 0;
    for (guint q = 0; q < r->sequences->len; q++)
        all += cst_elastic_calls(
            ((const SimulatedSequence *)g_ptr_array_index(r->sequences, q))->calls);
    return all;
}

/* The archive of a program that was recorded with so much patience; ELASTIC: how many of its calls
 * were values in streams. */
static char *bytes_with(gsize patience, guint32 seed, gsize *n, guint64 *elastic)
{
    gsize before = cst_patience;
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    cst_patience = patience;
    for (guint rank = 0; rank < 3; rank++)
        g_ptr_array_add(ranks, by_chance(rank, 3, seed));
    cst_patience = before;
    *elastic = 0;
    for (guint i = 0; i < ranks->len; i++)
        *elastic += elastic_calls(ranks->pdata[i]);
    char *dir = record(ranks, NULL, NULL), *bytes = recorded_bytes(dir, n);
    check(dir, ranks);
    check_times(dir);
    discard(dir);
    return bytes;
}

static void test_chance(void)
{
    guint seen = 0;
    for (guint32 seed = 0; seed < 60; seed++) {
        gsize n, m, l;
        guint64 none, some, early;
        g_autofree char *plain = bytes_with(G_MAXSIZE, seed, &n, &none),
                        *at_once = bytes_with(0, seed, &m, &early),
                        *later = bytes_with(16384, seed, &l, &some);
        g_assert_cmpuint(none, ==, 0);
        g_assert_cmpmem(plain, n, at_once, m);
        g_assert_cmpmem(plain, n, later, l);
        seen += early > some && some > 0;
    }
    g_assert_cmpuint(seen, >, 20); /* else this tests something else */
}

/* -- what it is for -- */

/* Bytes for each call of the recorder's tables. */
static double memory_of_call(gsize patience, gint32 values, guint calls)
{
    gsize before = cst_patience;
    cst_patience = patience;
    SimulatedRank *r = simulated_chance(0, 1, calls, 0, values, FALSE);
    cst_patience = before;
    const SimulatedSequence *s = g_ptr_array_index(r->sequences, 0);
    double all = (double)cst_memory(s->calls) + (double)grammar_memory(s->grammar);
    simulated_free(r);
    g_test_message("%.1f bytes a call", all / calls);
    return all / calls;
}

static void test_memory(void)
{
    gsize patience = cst_patience;
    /* new each time; one of many; one of few, which is what tables are for */
    g_assert_cmpfloat(memory_of_call(G_MAXSIZE, 1 << 30, 100000), >, 150);
    g_assert_cmpfloat(memory_of_call(patience, 1 << 30, 100000), <, 30);
    g_assert_cmpfloat(memory_of_call(patience, 4096, 100000), <, 30);
    g_assert_cmpfloat(memory_of_call(patience, 20, 100000), ==,
                      memory_of_call(G_MAXSIZE, 20, 100000));
}

/* A loop over many partners is one of values that come again: it takes no more, however long. */
static gsize loop_memory(guint iterations)
{
    SimulatedRank *r = simulated_new(0, 1, FALSE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    for (guint i = 0; i < iterations; i++)
        for (gint64 peer = 0; peer < 3001; peer++)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 10, peer * 1361 % 3001, 1);
    gsize all = cst_memory(s->calls) + grammar_memory(s->grammar);
    g_assert_cmpuint(elastic_calls(r), >, 0);
    simulated_free(r);
    return all;
}

static void test_loop(void)
{
    g_assert_cmpuint(loop_memory(400), ==, loop_memory(40));
}

/* Each iteration has a tag of its own, and some of its requests are completed in the next one. */
static SimulatedRank *tags(guint iterations, gboolean keep)
{
    SimulatedRank *r = simulated_new(0, 1, keep);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    gint64 before = 0;
    for (guint i = 0; i < iterations; i++) {
        gint64 requests[3] = {sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 10, 1, i),
                              sim_isend(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 0, 10, 1, i),
                              before};
        before = sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 2), 0, 10, 2, 2 * i);
        sim_waitall(r, s, i ? 3 : 2, requests);
    }
    sim_waitall(r, s, 1, &before);
    return r;
}

static gsize tags_memory(guint iterations)
{
    SimulatedRank *r = tags(iterations, FALSE);
    const SimulatedSequence *s = g_ptr_array_index(r->sequences, 0);
    gsize all = cst_memory(s->calls) + grammar_memory(s->grammar);
    simulated_free(r);
    return all;
}

/* A pool for each tag would be a number, a shape and a stream for each. */
static void test_tags(void)
{
    g_assert_cmpuint(tags_memory(40000), ==, tags_memory(10000));
    for (guint early = 0; early < 2; early++) {
        gsize patience = cst_patience;
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        if (early)
            cst_patience = 0;
        g_ptr_array_add(ranks, tags(early ? 300 : 2000, TRUE));
        cst_patience = patience;
        char *dir = record(ranks, NULL, NULL);
        check(dir, ranks);
        check_times(dir);
        discard(dir);
    }
}

/* -- rows of calls -- */

/* A loop over N places, often; in the midst of it there may be a call that is not the row's next
 * one. */
static void loop_over(SimulatedRank *r, SimulatedSequence *s, guint kind, guint n, gint64 first,
                      gint64 step, guint iterations, gint64 midst, gboolean between)
{
    const gint64 buffer = WEND_SEGMENT(WEND_SEGMENT_HEAP, 0);
    for (guint i = 0; i < iterations; i++) {
        guint end = kind == 4 ? n - 20 * MIN(i, 3) : n; /* each time fewer */
        for (guint k = 0; k < end; k++) {
            gint64 at = first + step * k;
            if (kind == 0 || kind == 4)
                sim_send(r, s, buffer, 8 * k, 10, at, 3);
            if (kind == 1)
                sim_recv(r, s, 10, constant("MPI_ANY_SOURCE"), 3, k, 3, 8);
            if (kind == 1)
                sim_send(r, s, buffer, 0, k, at, 3);
            if (kind == 2) {
                gint64 requests[] = {sim_irecv(r, s, buffer, k, 10, at, 4),
                                     sim_isend(r, s, buffer, k, 10, at, 4)};
                sim_waitall(r, s, 2, requests);
            }
            if (kind == 3)
                sim_allreduce(r, s, at > 0 ? at : 1);
            if (k == midst)
                sim_send(r, s, buffer, 0, 10, 77, 3);
        }
        if (between)
            sim_allreduce(r, s, 1);
    }
}

/* What one rank does to all others, or some do, or all, in steps of their own or not; each loop by
 * itself and one after the other. */
static void test_rows(void)
{
    GRand *draw = g_rand_new_with_seed(23);
    gsize patience = cst_patience;
    for (guint i = 0; i < 150; i++) {
        guint world = g_rand_int_range(draw, 1, 6), n_loops = g_rand_int_range(draw, 1, 5);
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        for (guint rank = 0; rank < world; rank++)
            g_ptr_array_add(ranks, simulated_new(rank, world, TRUE));
        cst_patience = i % 3 ? 0 : 4096;
        for (guint l = 0; l < n_loops; l++) {
            guint who = g_rand_int_range(draw, 0, 4), kind = g_rand_int_range(draw, 0, 5),
                  n = g_rand_int_range(draw, 60, 200), iterations = g_rand_int_range(draw, 1, 5);
            gint64 first = g_rand_int_range(draw, 0, 50), step = g_rand_int_range(draw, -2, 4),
                   midst = g_rand_boolean(draw) ? g_rand_int_range(draw, 0, 200) : -1;
            gboolean between = g_rand_boolean(draw);
            for (guint rank = 0; rank < world; rank++) {
                SimulatedRank *r = ranks->pdata[rank];
                SimulatedSequence *s = l ? g_ptr_array_index(r->sequences, 0)
                                         : simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
                if ((who == 0 && rank > 0) || (who == 1 && rank % 2))
                    continue;
                loop_over(r, s, kind, n, first, who == 2 ? step * (gint64)rank : step, iterations,
                          midst, between);
            }
        }
        cst_patience = patience;
        in_any_order(ranks, draw);
    }
    g_rand_free(draw);
}

/* Two loops' rows take turns, and hardly ever begin together. */
static void test_rows_out_of_step(void)
{
    GRand *rand = g_rand_new_with_seed(29);
    gsize patience = cst_patience;
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    SimulatedRank *r = simulated_new(0, 1, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    g_ptr_array_add(ranks, r);
    cst_patience = 0;
    for (guint i = 0; i < 5000; i++) {
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 10, i % 100, 3);
        sim_allreduce(r, s, 1 + i % 130);
    }
    cst_patience = patience;
    in_any_order(ranks, rand);
    g_rand_free(rand);
}

/* Many turns, each with an outcome of its own: who came. */
static void test_many_turns(void)
{
    GRand *rand = g_rand_new_with_seed(31);
    for (guint world = 1; world <= 2; world++) {
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        for (guint rank = 0; rank < world; rank++) {
            SimulatedRank *r = simulated_new(rank, world, TRUE);
            g_ptr_array_add(ranks, r);
            loop_over(r, simulated_sequence(r, WEND_SEQUENCE_THREAD, 0), 1, 100, 1, 1, 1000, -1,
                      FALSE);
        }
        g_assert_cmpuint(in_any_order(ranks, rand).bytes, <, 3000);
    }
    g_rand_free(rand);
}

/* The bytes that the merge has of a root that calls so many ranks, and those of its archive. */
static gsize root_memory(gint64 others, gsize *bytes)
{
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    Error *error = NULL;
    SimulatedRank *r = simulated_new(0, 1, FALSE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    g_ptr_array_add(ranks, r);
    for (guint i = 0; i < 5; i++)
        loop_over(r, s, 2, others, 1, 1, 3, -1, TRUE);
    GByteArray *part = simulated_part(r);
    WendMerge *m = merge_from_part(part->data, part->len, G_MAXUINT64, &error);
    g_assert_null(error);
    gsize memory = merge_memory(m);
    merge_free(m);
    g_byte_array_unref(part);
    char *dir = record(ranks, NULL, NULL);
    g_free(recorded_bytes(dir, bytes));
    discard(dir);
    return memory;
}

/* A root that calls 30,000 ranks takes less than 50 MB, and its archive does not grow with them. */
static void test_root(void)
{
    gsize small, large;
    root_memory(3000, &small);
    g_assert_cmpuint(root_memory(30000, &large), <, 50 << 20);
    g_assert_cmpuint(large, <=, small + 32); /* some numbers have one digit more */
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/elastic/chance", test_chance);
    g_test_add_func("/elastic/memory", test_memory);
    g_test_add_func("/elastic/loop", test_loop);
    g_test_add_func("/elastic/tags", test_tags);
    g_test_add_func("/elastic/rows", test_rows);
    g_test_add_func("/elastic/rows-out-of-step", test_rows_out_of_step);
    g_test_add_func("/elastic/many-turns", test_many_turns);
    g_test_add_func("/elastic/root", test_root);
    return g_test_run();
}
