/* SPDX-License-Identifier: BSD-3-Clause */
/* members.c: which communicator a handle is, and who is in it: two halves of four ranks, and an
 * intercommunicator between them, whose handle is used again. */
#include "recorded.h"

#include "lib/analysis/analysis.h"

enum { RANKS = 4 };

/* Odd and even ranks are a half each; the lowest rank leads. */
static void give_comm(SimulatedSequence *s, gint64 handle, guint rank, gboolean inter)
{
    shape(s, WEND_HANDLE(0, handle));
    slot(s, RANKS / 2);
    slot(s, rank / 2);
    slot(s, rank % 2);
    slot(s, inter ? RANKS / 2 : -1);
    slot(s, inter ? (gint)(1 - rank % 2) : -1);
}

static void split_world(SimulatedRank *r, SimulatedSequence *s, gint64 handle)
{
    call(s, "MPI_Comm_split");
    slot(s, r->rank); /* self */
    shape(s, constant("MPI_COMM_WORLD"));
    slot(s, r->rank % 2);
    slot(s, 0);
    give_comm(s, handle, r->rank, FALSE);
    end(r, s, 1e-6);
}

static void bridge(SimulatedRank *r, SimulatedSequence *s, gint64 half, gint64 handle)
{
    call(s, "MPI_Intercomm_create");
    slot(s, r->rank / 2);
    shape(s, WEND_HANDLE(0, half));
    slot(s, 0);
    shape(s, r->rank < 2 ? constant("MPI_COMM_WORLD") : WEND_ABSENT);
    slot(s, r->rank < 2 ? 1 - r->rank : WEND_ABSENT);
    slot(s, 7);
    give_comm(s, handle, r->rank, TRUE);
    end(r, s, 1e-6);
}

static void send_on(SimulatedRank *r, SimulatedSequence *s, gint64 handle)
{
    call(s, "MPI_Send");
    slot(s, r->rank);
    shape(s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0));
    slot(s, 0);
    slot(s, 1);
    shape(s, constant("MPI_DOUBLE"));
    slot(s, 1);
    slot(s, 0);
    shape(s, handle < 0 ? handle : WEND_HANDLE(0, handle));
    end(r, s, 1e-6);
}

static char *record_halves(void)
{
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < RANKS; rank++) {
        SimulatedRank *r = simulated_new(rank, RANKS, FALSE);
        SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
        g_ptr_array_add(ranks, r);
        split_world(r, s, 0);
        send_on(r, s, 0);
        send_on(r, s, constant("MPI_COMM_WORLD"));
        send_on(r, s, constant("MPI_COMM_SELF"));
        bridge(r, s, 0, 1);
        send_on(r, s, 1);
        split_world(r, s, 1); /* the handle was free again */
        send_on(r, s, 1);
    }
    return record(ranks, NULL, NULL);
}

/* What the sends of each rank are to be on, in their order: by rank of the communicator, the ranks
 * of the job for "dest" 0 and 1; how many there are to send to, and in the own group. */
static void check_send(const WendMembers *m, guint i, guint comm, guint rank)
{
    const guint odd = rank % 2;
    const gint to[][2] = {{odd, odd + 2}, {0, 1}, {rank, -1}, {1 - odd, 3 - odd}, {odd, odd + 2}};
    const gint64 sizes[] = {2, RANKS, 1, 2, 2};
    for (guint dest = 0; dest < 2; dest++)
        g_assert_cmpint(wend_members_process(m, comm, rank, dest), ==, to[i][dest]);
    g_assert_cmpint(wend_members_process(m, comm, rank, sizes[i]), ==, -1);
    g_assert_cmpint(wend_members_size(m, comm, rank), ==, sizes[i]);
    g_assert_cmpint(wend_members_local_size(m, comm, rank), ==, sizes[i]);
    g_assert_cmpint(wend_members_local_process(m, comm, rank, i == 3 ? rank / 2 : 0), ==,
                    i == 3 ? (gint)rank : to[i][0]);
    g_assert_true(wend_members_is_inter(m, comm, rank) == (i == 3));
    g_assert_true(wend_members_all(m, comm, rank) == (i == 1));
}

static void test_walk(void)
{
    GError *error = NULL;
    char *dir = record_halves();
    WendProgram *p = wend_program_open(dir, &error);
    g_assert_no_error(error);
    WendMembers *m = wend_members_new(p);
    guint first[RANKS], last[RANKS];
    for (guint rank = 0; rank < RANKS; rank++) {
        WendWalk *walk = wend_walk_new(p, rank, 0, WEND_WALK_MAIN);
        const WendCall *c;
        guint n = 0;
        while ((c = wend_walk_next(walk)) != NULL) {
            if (strcmp(c->function->name, "MPI_Send") != 0)
                continue;
            guint comm = wend_members_of_walk(m, walk, rank, wend_call_arg(c, "comm")->in[0]);
            if (n == 0)
                first[rank] = comm;
            last[rank] = comm;
            check_send(m, n++, comm, rank);
        }
        g_assert_cmpuint(n, ==, 5);
        wend_walk_free(walk);
    }
    /* One number for the members of a communicator, and another one for others. */
    g_assert_cmpuint(first[0], ==, first[2]);
    g_assert_cmpuint(first[1], ==, first[3]);
    g_assert_cmpuint(first[0], !=, first[1]);
    g_assert_cmpuint(first[0], !=, last[0]);
    wend_members_free(m);
    wend_program_free(p);
    discard(dir);
}

/* Without a walk of each rank: one pass over the class. */
static void test_pass(void)
{
    char *dir = record_halves();
    WendProgram *p = wend_program_open(dir, NULL);
    WendMembers *m = wend_members_new(p);
    for (guint i = 0; i < wend_program_n_classes(p); i++) {
        const WendClass *class = wend_program_class(p, i);
        WendMembersPass *pass = wend_members_pass_new(m, i, 0);
        WendWalk *walk = wend_walk_new(p, class->ranks[0], 0, WEND_WALK_MAIN);
        const WendCall *c;
        guint n = 0;
        while ((c = wend_walk_next(walk)) != NULL) {
            if (wend_function_comm_made(c->function) >= 0)
                wend_members_pass_made(pass, c->terminal, 1, FALSE);
            if (strcmp(c->function->name, "MPI_Send") != 0)
                continue;
            gint64 handle = wend_call_arg(c, "comm")->in[0];
            guint now = wend_members_pass_now(pass, handle);
            for (guint k = 0; k < class->n_ranks; k++) {
                guint rank = class->ranks[k];
                check_send(m, n, wend_members_number(m, rank, 0, handle, now), rank);
            }
            n++;
        }
        g_assert_cmpuint(n, ==, 5);
        g_assert_true(wend_members_pass_complete(pass));
        wend_walk_free(walk);
        wend_members_pass_free(pass);
    }
    wend_members_free(m);
    wend_program_free(p);
    discard(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/members/walk", test_walk);
    g_test_add_func("/members/pass", test_pass);
    return g_test_run();
}
