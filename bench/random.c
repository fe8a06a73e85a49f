/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/random: a recording of one rank whose calls are random, for bench/proxygen.py: random DIR
 * CALLS DIFFERENT. DIR is made. No MPI: the rank is simulated (tests/unit/simulated.h). Each call
 * is one of DIFFERENT sends, so hardly any two in a row come again, and the grammar has as many
 * symbols as calls. */
#include "../lib/merge/merge.h"
#include "../tests/unit/simulated.h"

#include <glib/gstdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc != 4) {
        g_printerr("usage: random DIR CALLS DIFFERENT\n");
        return 2;
    }
    guint64 calls = g_ascii_strtoull(argv[2], NULL, 10);
    gint different = atoi(argv[3]);
    GError *error = NULL;
    GRand *dice = g_rand_new_with_seed(1);
    SimulatedRank *r = simulated_new(0, 1, FALSE);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    call(s, "MPI_Init");
    end(r, s, 1e-3);
    for (guint64 i = 0; i < calls; i++) {
        gint32 which = g_rand_int_range(dice, 0, different);
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 1 + which % 100,
                 constant("MPI_PROC_NULL"), which / 100);
    }
    call(s, "MPI_Finalize");
    end(r, s, 1e-3);
    g_rand_free(dice);
    GByteArray *part = simulated_part(r);
    simulated_free(r);
    WendMerge *m = wend_merge_from_part(part->data, part->len, G_MAXUINT64, &error);
    WendMergeResult result;
    if (!m || g_mkdir_with_parents(argv[1], 0777) != 0
        || !wend_merge_write(m, argv[1], NULL, &result, &error)) {
        g_printerr("random: %s\n", error ? error->message : "cannot make the directory");
        return 4;
    }
    g_byte_array_unref(part);
    wend_merge_free(m);
    return 0;
}
