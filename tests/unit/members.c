/* SPDX-License-Identifier: BSD-3-Clause */
/* members.c: which communicator a handle is, and who is in it: two halves of four ranks, and an
 * intercommunicator between them, whose handle is used again; and two worlds. */
#include "recorded.h"

#include <glib/gstdio.h>

#include "lib/analysis/analysis.h"
#include "lib/archive/container.h"
#include "lib/read/world-starts.h"

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
        g_assert_cmpint(members_process(m, comm, rank, dest), ==, to[i][dest]);
    g_assert_cmpint(members_process(m, comm, rank, sizes[i]), ==, -1);
    g_assert_cmpint(members_size(m, comm, rank), ==, sizes[i]);
    g_assert_cmpint(members_local_size(m, comm, rank), ==, sizes[i]);
    g_assert_cmpint(members_local_process(m, comm, rank, i == 3 ? rank / 2 : 0), ==,
                    i == 3 ? (gint)rank : to[i][0]);
    g_assert_true(members_is_inter(m, comm, rank) == (i == 3));
    g_assert_true(members_all(m, comm, rank) == (i == 1));
}

static void test_walk(void)
{
    Error *error = NULL;
    char *dir = record_halves();
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    WendMembers *m = members_new(p);
    guint first[RANKS], last[RANKS];
    for (guint rank = 0; rank < RANKS; rank++) {
        WendWalk *walk = walk_new(p, rank, 0, WEND_WALK_MAIN);
        const WendCall *c;
        guint n = 0;
        while ((c = walk_next(walk)) != NULL) {
            if (strcmp(c->function->name, "MPI_Send") != 0)
                continue;
            guint comm = members_of_walk(m, walk, rank, call_arg(c, "comm")->in[0]);
            if (n == 0)
                first[rank] = comm;
            last[rank] = comm;
            check_send(m, n++, comm, rank);
        }
        g_assert_cmpuint(n, ==, 5);
        walk_free(walk);
    }
    /* One number for the members of a communicator, and another one for others. */
    g_assert_cmpuint(first[0], ==, first[2]);
    g_assert_cmpuint(first[1], ==, first[3]);
    g_assert_cmpuint(first[0], !=, first[1]);
    g_assert_cmpuint(first[0], !=, last[0]);
    members_free(m);
    program_free(p);
    discard(dir);
}

/* Without a walk of each rank: one pass over the class. */
static void test_pass(void)
{
    char *dir = record_halves();
    WendProgram *p = program_open(dir, NULL);
    WendMembers *m = members_new(p);
    for (guint i = 0; i < program_n_classes(p); i++) {
        const WendClass *class = program_class(p, i);
        WendMembersPass *pass = members_pass_new(m, i, 0);
        WendWalk *walk = walk_new(p, class->ranks[0], 0, WEND_WALK_MAIN);
        const WendCall *c;
        guint n = 0;
        while ((c = walk_next(walk)) != NULL) {
            if (comm_made_parameter(c->function) >= 0)
                members_pass_made(pass, c->terminal, 1, FALSE);
            if (strcmp(c->function->name, "MPI_Send") != 0)
                continue;
            gint64 handle = call_arg(c, "comm")->in[0];
            guint now = members_pass_now(pass, handle);
            for (guint k = 0; k < class->n_ranks; k++) {
                guint rank = class->ranks[k];
                check_send(m, n, members_number(m, rank, 0, handle, now), rank);
            }
            n++;
        }
        g_assert_cmpuint(n, ==, 5);
        g_assert_true(members_pass_complete(pass));
        walk_free(walk);
        members_pass_free(pass);
    }
    members_free(m);
    program_free(p);
    discard(dir);
}

/* -- two worlds: rank 1 of the first one starts the second one -- */

enum { PARENTS = 2, CHILDREN = 3, PARENT = 0, MERGED = 1 };

static void give_facts(SimulatedSequence *s, gint64 handle, const gint64 facts[5])
{
    shape(s, WEND_HANDLE(0, handle));
    for (guint i = 0; i < 5; i++)
        slot(s, facts[i]);
}

static void spawn(SimulatedRank *r, SimulatedSequence *s)
{
    const gint64 facts[] = {PARENTS, r->rank, 0, CHILDREN, -1};
    gboolean root = r->rank == 1;
    call(s, "MPI_Comm_spawn");
    slot(s, r->rank);
    shape(s, root ? 1 : WEND_ABSENT);
    if (root)
        shape(s, 'x');
    shape(s, root ? -1 : WEND_ABSENT);
    slot(s, root ? CHILDREN : WEND_ABSENT);
    shape(s, root ? constant("MPI_INFO_NULL") : WEND_ABSENT);
    slot(s, 1);
    shape(s, constant("MPI_COMM_WORLD"));
    give_facts(s, PARENT, facts);
    shape(s, WEND_IGNORE);
    end(r, s, 1e-6);
}

static void get_parent(SimulatedRank *r, SimulatedSequence *s)
{
    const gint64 facts[] = {CHILDREN, r->rank, 0, PARENTS, -1};
    call(s, "MPI_Comm_get_parent");
    give_facts(s, PARENT, facts);
    end(r, s, 1e-6);
}

/* The parents come first. */
static void merge_worlds(SimulatedRank *r, SimulatedSequence *s, gboolean child)
{
    const gint64 facts[] = {PARENTS + CHILDREN, r->rank + (child ? PARENTS : 0), child ? -1 : 0, -1,
                            -1};
    call(s, "MPI_Intercomm_merge");
    slot(s, r->rank);
    shape(s, WEND_HANDLE(0, PARENT));
    shape(s, child);
    give_facts(s, MERGED, facts);
    end(r, s, 1e-6);
}

static char *record_world(guint n, gboolean child)
{
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < n; rank++) {
        SimulatedRank *r = simulated_new(rank, n, FALSE);
        SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
        g_ptr_array_add(ranks, r);
        if (child)
            get_parent(r, s);
        else
            spawn(r, s);
        merge_worlds(r, s, child);
    }
    return record(ranks, NULL, NULL);
}

static const WendCommMade *comms_of(const WendProgram *p, guint rank)
{
    guint n;
    const WendCommMade *made = program_comms(p, rank, 0, &n);
    g_assert_cmpuint(n, ==, 2);
    return made;
}

/* Of the program, rank by rank. NAME is that of the second world. */
static void check_worlds(const char *dir, const char *name, gboolean together)
{
    Error *error = NULL;
    WendProgram *p = program_open(dir, &error);
    g_assert_null(error);
    WendMembers *m = members_new(p);
    const WendCommMade *first = comms_of(p, 0);
    g_autofree WendWorldStarter *starters = world_starters(p);
    g_assert_cmpstr(program_world(p, 1)->name, ==, name);
    g_assert_cmpuint(starters[0].rank, ==, G_MAXUINT);
    g_assert_cmpuint(starters[1].rank, ==, together ? 1 : G_MAXUINT);
    g_assert_cmpuint(program_n_comms(p), ==, together ? 2 : 4);
    for (guint rank = 0; rank < PARENTS + CHILDREN; rank++) {
        const WendCommMade *made = comms_of(p, rank);
        gboolean child = rank >= PARENTS, known = together || !child;
        for (guint i = 0; i < 2; i++)
            g_assert_true((made[i].number == first[i].number) == known);
        for (guint k = 0; k < PARENTS + CHILDREN; k++)
            g_assert_cmpint(members_process(m, made[MERGED].number, rank, k), ==,
                            together || (k >= PARENTS) == child ? (gint)k : -1);
        for (guint k = 0; k < CHILDREN; k++) {
            gint own = k < (child ? CHILDREN : PARENTS) ? (gint)(k + (child ? PARENTS : 0)) : -1;
            gint other = k < (child ? PARENTS : CHILDREN) ? (gint)(k + (child ? 0 : PARENTS)) : -1;
            guint number = made[PARENT].number;
            g_assert_cmpint(members_local_process(m, number, rank, k), ==, own);
            g_assert_cmpint(members_process(m, number, rank, k), ==, together ? other : -1);
        }
        if (together)
            g_assert_cmpint(made[MERGED].leader, ==, 0);
    }
    members_free(m);
    program_free(p);
}

static void test_worlds(void)
{
    char *dir = record_world(PARENTS, FALSE), *child = record_world(CHILDREN, TRUE);
    g_autofree char *from = g_build_filename(child, CONTAINER_FILE, NULL),
                    *started = g_build_filename(dir, "world-1.1.tar.zst", NULL),
                    *unknown = g_build_filename(dir, "world-1.7x.tar.zst", NULL);
    g_assert_cmpint(g_rename(from, started), ==, 0);
    check_worlds(dir, "1.1", TRUE);
    g_assert_cmpint(g_rename(started, unknown), ==, 0);
    check_worlds(dir, "1.7x", FALSE);
    g_unlink(unknown);
    g_assert_cmpint(g_rmdir(child), ==, 0);
    g_free(child);
    discard(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/members/walk", test_walk);
    g_test_add_func("/members/pass", test_pass);
    g_test_add_func("/members/worlds", test_worlds);
    return g_test_run();
}
