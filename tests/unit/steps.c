/* SPDX-License-Identifier: BSD-3-Clause */
/* steps.c: the merge as an application's process has it: short of memory at any allocation it
 * says so by its value, gives everything back and works again; and what it writes is, byte for
 * byte, what the merge
 * with GLib writes. */
#include "../../lib/archive/container.h"
#include "../../lib/archive/steps.h"
#include "recorded.h"

#include <glib.h>
#include <string.h>

/* -- memory that is short -- */

static guint64 asked, refused_from = G_MAXUINT64, refused_to;

/* Each time that the system is to give some. */
static bool has_room(uint64_t bytes)
{
    g_assert_cmpuint(bytes, >, 0);
    asked++;
    return asked < refused_from || asked > refused_to;
}

static void be_short(guint64 from, guint64 to)
{
    asked = 0;
    refused_from = from;
    refused_to = to;
    wend_step_limit(G_MAXUINT64, has_room);
}

/* -- a merge -- */

/* The first rank reads the parts of TOGETHER ranks, its own included. */
static gboolean merge(const GPtrArray *parts, guint together, const char *dir,
                      WendStepResult *result)
{
    g_autoptr(GPtrArray) encoded = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    gboolean good = TRUE;
    /* one process for each: what they are is known from here on as bytes */
    for (guint i = together; good && i < parts->len; i++) {
        const GByteArray *part = g_ptr_array_index(parts, i);
        const void *bytes;
        size_t n;
        good = wend_step_part(part->data, part->len) && wend_step_encode(&bytes, &n);
        if (good)
            g_ptr_array_add(encoded, g_bytes_new(bytes, n));
        wend_step_end();
    }
    for (guint i = 0; good && i < together; i++) {
        const GByteArray *part = g_ptr_array_index(parts, i);
        good = wend_step_part(part->data, part->len);
    }
    for (guint i = 0; good && i < encoded->len; i++) {
        gsize n;
        gconstpointer bytes = g_bytes_get_data(g_ptr_array_index(encoded, i), &n);
        void *received = wend_step_memory(n);
        if (received)
            memcpy(received, bytes, n);
        good = received && wend_step_absorb(received, n);
    }
    good = good && wend_step_write(dir, NULL, result);
    wend_step_end();
    g_assert_cmpuint(wend_step_held(), ==, 0);
    return good;
}

static GPtrArray *parts_of(const GPtrArray *ranks)
{
    GPtrArray *parts = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    for (guint i = 0; i < ranks->len; i++)
        g_ptr_array_add(parts, simulated_part(g_ptr_array_index(ranks, i)));
    return parts;
}

static gboolean is_empty(const char *dir)
{
    g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
    return !g_dir_read_name(d);
}

/* -- what they are of -- */

static GPtrArray *stencil(void)
{
    GPtrArray *ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < 9; rank++)
        g_ptr_array_add(ranks, simulated_stencil(rank, 3, 3, 50, FALSE));
    return ranks;
}

static GPtrArray *chance(void)
{
    GPtrArray *ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < 4; rank++)
        g_ptr_array_add(ranks,
                        simulated_chance(rank, 4, 3000, 0, rank < 2 ? G_MAXINT32 : 4000, FALSE));
    return ranks;
}

/* A root that calls each, polls, outcomes that differ, hosts and names that say little. */
static GPtrArray *tree(void)
{
    GPtrArray *ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < 5; rank++) {
        SimulatedRank *r = simulated_new(rank, 5, FALSE);
        r->noise = g_rand_new_with_seed(rank);
        for (gint64 thread = 0; thread < 2; thread++) {
            SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, thread);
            for (gint i = 0; i < 300; i++) {
                gint64 request =
                    sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), i, 10, rank, i % 5);
                for (guint k = 0; k < (rank + (guint)i) % 3; k++)
                    sim_test(r, s, request, FALSE);
                sim_test(r, s, request, TRUE);
                if (rank == 0)
                    sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 4, i % 4 + 1, i);
                else
                    sim_recv(r, s, 4, 0, i, 0, i, 4 * (i % 7 == 0));
                if (i % 50 == 0)
                    sim_allreduce(r, s, 1);
            }
        }
        g_ptr_array_add(ranks, r);
    }
    return ranks;
}

static GPtrArray *(*const kinds[])(void) = {stencil, chance, tree};

/* -- tests -- */

static void test_same_bytes(void)
{
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
        g_autoptr(GPtrArray) ranks = kinds[k](), parts = parts_of(ranks);
        WendArchiveResult with;
        char *dir = record(ranks, NULL, &with);
        gsize n, m;
        g_autofree char *a = recorded_bytes(dir, &n);
        g_autofree char *totals = totals_text(&with.totals);
        be_short(G_MAXUINT64, 0);
        for (guint together = 1; together <= parts->len; together++) {
            WendStepResult without;
            char *other = recorded_folder();
            g_assert_true(merge(parts, together, other, &without));
            g_autofree char *b = recorded_bytes(other, &m);
            g_assert_cmpmem(a, n, b, m);
            g_assert_cmpstr(without.totals, ==, totals);
            g_assert_cmpuint(with.bytes, ==, without.bytes);
            g_assert_cmpuint(without.stopped, ==, 0);
            g_assert_cmpstr(without.unrecorded, ==, "");
            discard(other);
        }
        discard(dir);
    }
}

static void test_short(void)
{
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
        g_autoptr(GPtrArray) ranks = kinds[k](), parts = parts_of(ranks);
        WendStepResult result;
        char *dir = recorded_folder();
        be_short(G_MAXUINT64, 0);
        g_assert_true(merge(parts, 1 + k, dir, &result));
        discard(dir);
        guint64 all = asked, failed = 0;
        g_assert_cmpuint(all, >, ranks->len);
        for (guint64 at = 1; at <= all; at++)
            for (int for_ever = 0; for_ever < 2; for_ever++) {
                dir = recorded_folder();
                be_short(at, for_ever ? G_MAXUINT64 : at);
                gboolean good = merge(parts, 1 + k, dir, &result);
                g_assert_true(good || is_empty(dir));
                if (!good)
                    g_assert_true(g_str_has_prefix(wend_step_problem(),
                                                   "merging takes more memory than the "));
                g_assert_false(good && for_ever);
                failed += !good;
                discard(dir);
            }
        g_assert_cmpuint(failed, >, all);
    }
}

/* Wherever a limit is, it holds. */
static void test_limit(void)
{
    enum { STEP = 24 << 10 };
    for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
        g_autoptr(GPtrArray) ranks = kinds[k](), parts = parts_of(ranks);
        const GByteArray *part = g_ptr_array_index(parts, 0);
        WendStepResult result;
        guint64 limit = 0;
        char *dir = recorded_folder();
        for (gboolean good = FALSE; !good; limit += STEP + limit / 16) {
            wend_step_limit(limit, NULL);
            good = wend_step_part(part->data, part->len) && wend_step_write(dir, NULL, &result);
            g_assert_cmpuint(wend_step_held(), <=, limit);
            g_assert_true(good || (wend_step_held() == 0 && is_empty(dir)));
            wend_step_end();
        }
        g_assert_cmpuint(limit, >, 10 * STEP);
        discard(dir);
    }
    wend_step_limit(1 << 20, NULL);
    g_assert_null(wend_step_memory(2 << 20));
    g_assert_cmpstr(wend_step_problem(), ==,
                    "merging takes more memory than the 1 MB that there are to spare");
}

/* Steps that have nothing to go on with, and bytes that are nothing. */
static void test_wrong(void)
{
    WendStepResult result;
    const void *bytes;
    size_t n;
    be_short(G_MAXUINT64, 0);
    g_assert_false(wend_step_absorb("x", 1));
    g_assert_false(wend_step_encode(&bytes, &n));
    g_assert_false(wend_step_write("/nonexistent", NULL, &result));
    g_assert_false(wend_step_part("x", 1));
    g_assert_cmpstr(wend_step_problem(), ==,
                    "a rank's part is damaged or of another version of Wend");
    g_autoptr(GPtrArray) ranks = stencil(), parts = parts_of(ranks);
    const GByteArray *part = g_ptr_array_index(parts, 0);
    g_assert_true(wend_step_part(part->data, part->len));
    g_assert_false(wend_step_write("/nonexistent", NULL, &result));
    g_assert_true(strstr(wend_step_problem(), "/nonexistent"));
    g_assert_cmpuint(wend_step_held(), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/steps/same-bytes", test_same_bytes);
    g_test_add_func("/steps/short", test_short);
    g_test_add_func("/steps/limit", test_limit);
    g_test_add_func("/steps/wrong", test_wrong);
    return g_test_run();
}
