/* SPDX-License-Identifier: BSD-3-Clause */
/* random-ranks.c: see random-ranks.h. */
#include "random-ranks.h"

#include <glib.h>

/* Ranks draw from a common generator what they do and from one of their own how they differ. */
static void random_step(SimulatedRank *r, SimulatedSequence *s, GRand *common, GRand *own)
{
    gint64 none = constant("MPI_PROC_NULL"), any = constant("MPI_ANY_SOURCE"), rank = r->rank,
           world = r->world;
    gint64 peers[] = {(rank + 1) % world,
                      (rank + world - 1) % world,
                      rank ? rank - 1 : none,
                      0,
                      rank ^ 1,
                      g_rand_int_range(own, 0, world),
                      3,
                      none};
    gint64 peer = peers[g_rand_int_range(common, 0, 8)], requests[3];
    gint64 offset = g_rand_int_range(common, 0, 2) ? 64 : rank * 1000 + 64;
    switch (g_rand_int_range(common, 0, 7)) {
    case 0:
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 2), offset, 10, peer, 5);
        break;
    case 1: {
        gint64 got = g_rand_int_range(own, 0, world);
        sim_recv(r, s, 100, any, constant("MPI_ANY_TAG"), got, 7,
                 8 * g_rand_int_range(own, 0, 100));
        break;
    }
    case 2: {
        guint n = g_rand_int_range(common, 1, 4);
        for (guint i = 0; i < n; i++)
            requests[i] = sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_STATIC, 1), offset + 800 * i,
                                    100, peer, i);
        sim_waitall(r, s, n, requests);
        break;
    }
    case 3: {
        gint64 request = sim_isend(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 0, 4, peer, 1);
        for (int polls = g_rand_int_range(own, 0, 6); polls > 0; polls--)
            sim_test(r, s, request, FALSE);
        sim_test(r, s, request, TRUE);
        break;
    }
    case 4:
        sim_allreduce(r, s, g_rand_int_range(common, 1, 3));
        break;
    case 5: /* polls with a slot that differs by rank */
        for (int polls = g_rand_int_range(own, 0, 3); polls > 0; polls--) {
            call(s, "MPI_Iprobe");
            slot(s, rank);
            slot(s, any);
            slot(s, constant("MPI_ANY_TAG"));
            shape(s, constant("MPI_COMM_WORLD"));
            shape(s, 0);
            end_poll(r, s);
        }
        break;
    default:
        call(s, "MPI_Send");
        slot(s, rank);
        shape(s, WEND_UNKNOWN);
        slot(s, 1);
        shape(s, constant("MPI_DATATYPE_NULL"));
        slot(s, peer);
        slot(s, G_MAXINT64 - rank);
        shape(s, constant("MPI_COMM_WORLD"));
        end_failed(r, s, 3);
    }
}

GPtrArray *random_ranks(guint32 seed, guint world)
{
    GPtrArray *ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < world; rank++) {
        SimulatedRank *r = simulated_new(rank, world, TRUE);
        GRand *own = g_rand_new_with_seed(seed * 1000 + rank);
        guint threads = rank % 5 == 4 ? 2 : 1;
        for (guint thread = 0; thread < threads; thread++) {
            SimulatedSequence *s =
                simulated_sequence(r, WEND_SEQUENCE_THREAD, threads - 1 - thread);
            GRand *common =
                g_rand_new_with_seed(seed + 77 * thread + (seed % 3 == 0 ? 1000 * (rank % 2) : 0));
            for (guint block = g_rand_int_range(common, 0, 4); block > 0; block--) {
                guint32 body = g_rand_int(common);
                for (guint times = g_rand_int_range(common, 1, 12); times > 0; times--) {
                    GRand *again = g_rand_new_with_seed(body);
                    for (guint n = g_rand_int_range(again, 1, 8); n > 0; n--)
                        random_step(r, s, again, own);
                    g_rand_free(again);
                }
            }
            g_rand_free(common);
        }
        if (rank % 3 == 1) {
            SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_CALLBACK, 4);
            for (guint i = 0; i < 5 + rank % 2; i++)
                sim_allreduce(r, s, 9);
        }
        g_rand_free(own);
        g_ptr_array_add(ranks, r);
    }
    return ranks;
}
