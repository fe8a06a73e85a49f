/* SPDX-License-Identifier: BSD-3-Clause */
/* rank-times.c: how long each rank was in each function: what is read is what was recorded, up to
 * 3 %, in whatever order ranks are merged. */
#include "recorded.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* Seconds of a rank in MPI_Barrier and MPI_Comm_size; the latter is called by every third rank. */
static double in_barrier(guint rank)
{
    return 20 * (1e-5 + 1e-3 * (rank % 37));
}

static double in_size(guint rank)
{
    return rank % 3 == 0 ? 2e-6 * (1 + rank) : -1;
}

/* A rank that is so many seconds in MPI_Barrier, and in MPI_Comm_size unless these are negative. */
static SimulatedRank *rank_with(guint rank, guint n, double barrier, double size)
{
    SimulatedRank *r = simulated_new(rank, n, TRUE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    for (guint i = 0; i < 20; i++) {
        call(s, "MPI_Barrier");
        slot(s, rank);
        shape(s, constant("MPI_COMM_WORLD"));
        end(r, s, barrier / 20);
    }
    if (size > 0) {
        call(s, "MPI_Comm_size");
        slot(s, rank);
        shape(s, constant("MPI_COMM_WORLD"));
        slot(s, n);
        end(r, s, size);
    }
    return r;
}

static SimulatedRank *rank_of(guint rank, guint n)
{
    return rank_with(rank, n, in_barrier(rank), in_size(rank));
}

static void assert_near(double a, double b)
{
    g_assert_cmpfloat(fabs(a - b), <=, 0.032 * b);
}

static WendProgram *recording_of(guint n, GRand *order)
{
    GPtrArray *ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < n; rank++)
        g_ptr_array_add(ranks, rank_of(rank, n));
    char *dir = record(ranks, order, NULL);
    Error *error = NULL;
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    discard(dir);
    g_ptr_array_unref(ranks);
    return p;
}

static void check_function(const WendRankTimes *t, guint n, double (*seconds)(guint rank))
{
    guint at = 0;
    double least = INFINITY, most = 0;
    guint counted = 0, called = 0;
    for (guint rank = 0; rank < n; rank++) {
        if (seconds(rank) < 0)
            continue;
        called++;
        least = MIN(least, seconds(rank));
        most = MAX(most, seconds(rank));
        if (t->ranks) {
            g_assert_cmpuint(t->ranks[at], ==, rank);
            assert_near(t->seconds[at++], seconds(rank));
        }
    }
    if (t->ranks) {
        g_assert_cmpuint(at, ==, t->n);
        return;
    }
    for (guint i = 0; i < t->n; i++) {
        counted += t->counts[i];
        g_assert_true(i == 0 || t->seconds[i] > t->seconds[i - 1]);
    }
    g_assert_cmpuint(counted, ==, called);
    assert_near(t->seconds[0], least);
    assert_near(t->seconds[t->n - 1], most);
    assert_near(seconds(t->fastest), least);
    assert_near(seconds(t->slowest), most);
}

static void test_world(gconstpointer data)
{
    guint n = GPOINTER_TO_UINT(data), functions;
    GRand *order = g_rand_new_with_seed(n);
    for (int i = 0; i < (n < 100 ? 5 : 1); i++) {
        WendProgram *p = recording_of(n, i ? order : NULL);
        const WendRankTimes *t = program_rank_times(p, 0, &functions);
        g_assert_cmpuint(functions, ==, 2);
        for (guint k = 0; k < functions; k++) {
            g_assert_true((t[k].ranks != NULL) == (n <= 1024));
            check_function(&t[k], n,
                           strcmp(t[k].function->name, "MPI_Barrier") == 0 ? in_barrier : in_size);
        }
        program_free(p);
    }
    g_rand_free(order);
}

/* Of N ranks whose times have nothing in common, from microseconds to minutes. */
static gsize archive_bytes(guint n)
{
    WendArchiveResult result;
    GRand *rand = g_rand_new_with_seed(n);
    GPtrArray *ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < n; rank++) {
        double barrier = exp(g_rand_double_range(rand, log(1e-5), log(100)));
        g_ptr_array_add(ranks,
                        rank_with(rank, n, barrier, barrier * g_rand_double_range(rand, 0.1, 10)));
    }
    char *dir = record(ranks, NULL, &result);
    discard(dir);
    g_ptr_array_unref(ranks);
    g_rand_free(rand);
    return result.bytes;
}

/* An archive grows by at most 3 bytes for each rank and function. */
static void test_bytes(void)
{
    enum { FEW = 16, MANY = 1024, FUNCTIONS = 2 };
    gsize few = archive_bytes(FEW), many = archive_bytes(MANY);
    g_test_message("%zu and %zu bytes", few, many);
    g_assert_cmpuint(many, <=, few + 3 * FUNCTIONS * (MANY - FEW));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rank-times/bytes", test_bytes);
    static const guint worlds[] = {1, 2, 16, 100, 1024, 1025, 2000};
    for (guint i = 0; i < G_N_ELEMENTS(worlds); i++) {
        g_autofree char *name = g_strdup_printf("/rank-times/%u", worlds[i]);
        g_test_add_data_func(name, GUINT_TO_POINTER(worlds[i]), test_world);
    }
    return g_test_run();
}
