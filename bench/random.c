/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/random: a recording of one rank whose calls are random, for bench/proxygen.py: random DIR
 * CALLS DIFFERENT [waits]. DIR is made. No MPI: the rank is simulated (tests/unit/simulated.h).
 * Each call is one of DIFFERENT sends, so hardly any two in a row come again, and the grammar has
 * as many symbols as calls. With "waits" every second call is an MPI_Waitany for three of 64
 * requests instead, chosen at random, and a proxy has to choose at each of them. */
#include "../lib/archive/write.h"
#include "../lib/merge/merge.h"
#include "../tests/unit/simulated.h"

#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

static void random_sends(SimulatedRank *r, SimulatedSequence *s, GRand *dice, guint64 calls,
                         gint32 different)
{
    for (guint64 i = 0; i < calls; i++) {
        gint32 which = g_rand_int_range(dice, 0, different);
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 1 + which % 100,
                 constant("MPI_PROC_NULL"), which / 100);
    }
}

static gint64 random_isend(SimulatedRank *r, SimulatedSequence *s, GRand *dice, gint32 different)
{
    gint32 which = g_rand_int_range(dice, 0, different);
    return sim_isend(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 1 + which % 100,
                     constant("MPI_PROC_NULL"), which / 100);
}

enum { REQUESTS = 64, CHOSEN = 3 };

static void random_waits(SimulatedRank *r, SimulatedSequence *s, GRand *dice, guint64 calls,
                         gint32 different)
{
    gint64 requests[REQUESTS];
    for (guint i = 0; i < REQUESTS; i++)
        requests[i] = random_isend(r, s, dice, different);
    for (guint64 i = REQUESTS; i + 1 < calls; i += 2) {
        guint first = g_rand_int_range(dice, 0, REQUESTS), at[CHOSEN];
        gint64 chosen[CHOSEN];
        for (guint k = 0; k < CHOSEN; k++) { /* one of each of three parts: they are different */
            at[k] = (first + k * (REQUESTS / CHOSEN) + g_rand_int_range(dice, 0, REQUESTS / CHOSEN))
                    % REQUESTS;
            chosen[k] = requests[at[k]];
        }
        guint done = g_rand_int_range(dice, 0, CHOSEN);
        sim_waitany(r, s, CHOSEN, chosen, done);
        requests[at[done]] = random_isend(r, s, dice, different);
    }
    sim_waitall(r, s, REQUESTS, requests);
}

int main(int argc, char **argv)
{
    gboolean waits = argc == 5 && strcmp(argv[4], "waits") == 0;
    if (argc != 4 && !waits) {
        g_printerr("usage: random DIR CALLS DIFFERENT [waits]\n");
        return 2;
    }
    guint64 calls = g_ascii_strtoull(argv[2], NULL, 10);
    gint different = atoi(argv[3]);
    Error *error = NULL;
    GRand *dice = g_rand_new_with_seed(1);
    SimulatedRank *r = simulated_new(0, 1, FALSE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    call(s, "MPI_Init");
    end(r, s, 1e-3);
    if (waits)
        random_waits(r, s, dice, calls, different);
    else
        random_sends(r, s, dice, calls, different);
    call(s, "MPI_Finalize");
    end(r, s, 1e-3);
    g_rand_free(dice);
    GByteArray *part = simulated_part(r);
    simulated_free(r);
    WendMerge *m = merge_from_part(part->data, part->len, G_MAXUINT64, &error);
    WendArchiveResult result;
    if (!m || g_mkdir_with_parents(argv[1], 0777) != 0
        || !write_archive(m, argv[1], NULL, &result, &error)) {
        g_printerr("random: %s\n", error ? error->message : "cannot make the directory");
        return 4;
    }
    g_byte_array_unref(part);
    merge_free(m);
    return 0;
}
