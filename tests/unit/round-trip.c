/* SPDX-License-Identifier: BSD-3-Clause */
/* round-trip.c: what is recorded is what is read, call by call and word by word; and it is the same
 * bytes in whatever order ranks are merged. */
#include "random-ranks.h"
#include "recorded.h"

#include "../../lib/archive/container.h"
#include "../../lib/record/codec.h"
#include "src/command/value.h"
#include "src/read/wrap.h"

#include <glib.h>
#include <malloc.h>
#include <string.h>

/* -- random programs -- */

static void test_random(void)
{
    GRand *rand = g_rand_new_with_seed(17);
    for (guint32 seed = 1; seed <= 120; seed++) {
        g_autoptr(GPtrArray) ranks = random_ranks(seed, 1 + seed % 23);
        /* one is missing */
        if (seed % 7 == 0 && ranks->len > 3)
            g_ptr_array_remove_range(ranks, ranks->len / 2, 1);
        char *dir = record(ranks, NULL, NULL), *other = record(ranks, rand, NULL);
        check(dir, ranks);
        gsize n, m;
        g_autofree char *a = recorded_bytes(dir, &n), *b = recorded_bytes(other, &m);
        g_assert_cmpmem(a, n, b, m);
        discard(dir);
        discard(other);
    }
    g_rand_free(rand);
}

/* -- memory -- */

static gsize allocated(void)
{
    struct mallinfo2 m = mallinfo2();
    return m.uordblks + m.hblkhd;
}

/* What a merge says that it takes is what it takes, near enough to decide by. */
static void test_memory(void)
{
    if (allocated() == 0) {
        g_test_skip("the allocator does not count");
        return;
    }
    for (gint different = 200; different <= 20000; different *= 10) {
        SimulatedRank *r = simulated_new(0, 1, FALSE);
        SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
        /* no row of equal steps: that would be one */
        for (gint i = 0; i < 20000; i++)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 1 + i % different,
                     constant("MPI_PROC_NULL"), (i % different) * 7919 % different);
        GByteArray *part = simulated_part(r);
        simulated_free(r);
        Error *error = NULL;
        gsize before = allocated();
        WendMerge *m = merge_from_part(part->data, part->len, G_MAXUINT64, &error);
        gsize taken = allocated() - before;
        g_assert_null(error);
        g_assert_cmpuint(merge_memory(m), >, taken / 2);
        g_assert_cmpuint(merge_memory(m), <, taken + taken / 2);
        g_byte_array_unref(part);
        merge_free(m);
    }
}

/* -- the stencil -- */

static void test_stencil(void)
{
    gsize bytes[3];
    guint widths[] = {3, 5, 8};
    for (int i = 0; i < 3; i++) {
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        for (guint rank = 0; rank < widths[i] * widths[i]; rank++)
            g_ptr_array_add(ranks, simulated_stencil(rank, widths[i], widths[i], 50, TRUE));
        WendArchiveResult result;
        char *dir = record(ranks, NULL, &result);
        check(dir, ranks);
        g_assert_cmpuint(result.classes, ==, 1);
        g_assert_cmpuint(result.totals.mpi_calls, ==, ranks->len * (4 + 50 * 9 + 4));
        g_assert_cmpuint(result.totals.frees, ==, ranks->len);
        bytes[i] = result.bytes;
        g_assert_cmpuint(bytes[i], <, 3000);
        discard(dir);
    }
    g_assert_cmpuint(bytes[2], <, bytes[0] + 300);
}

/* -- functions that a reader knows in another way, or not -- */

/* The member "program" with MPI_Send called NAME, or with another digest. */
static Bytes *renamed(Bytes *member, const char *name)
{
    WendCursor c = cursor_of(member->data, member->n);
    WendBuf out = WEND_BUF_INIT;
    g_assert_cmpuint(cursor_unsigned(&c), ==, 1);
    WendCursor text = cursor_block(&c);
    g_assert_cmpmem(text.p, text.end - text.p, "Send", 4);
    buf_unsigned(&out, 1);
    codec_put_name(&out, name ? name : "MPI_Send");
    guint8 first = *c.p ^ !name;
    buf_bytes(&out, &first, 1);
    buf_bytes(&out, c.p + 1, (gsize)(c.end - c.p) - 1);
    Bytes *made = bytes_new(out.data, out.len);
    buf_clear(&out);
    return made;
}

/* The archive in DIR with a program that says so of its one function is refused for it. */
static void refused(const char *dir, const char *name, const char *why)
{
    Container *b = container_open(dir, NULL);
    AUTO(Vector) names = container_names(b);
    ContainerWriter *w = container_writer_new(0);
    g_assert_false(container_has(b, "notes"));
    for (guint i = 0; i < names->len; i++) {
        const char *member = VECTOR_POINTER(names, i);
        AUTO(Bytes) right = container_member(b, member, NULL);
        AUTO(Bytes)
        bytes = strcmp(member, "program") == 0 ? renamed(right, name) : bytes_ref(right);
        container_add(w, member, bytes->data, bytes->n);
    }
    container_free(b);
    g_assert_true(container_finish(w, dir, CONTAINER_FILE, NULL, NULL));
    Error *error = NULL;
    g_assert_null(program_open(dir, &error));
    g_assert_true(error && error->code == WEND_ERROR_INPUT);
    if (!strstr(error->message, why))
        g_error("\"%s\" does not say \"%s\"", error->message, why);
    error_free(error);
}

static void test_functions(void)
{
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    for (guint rank = 0; rank < 2; rank++) {
        SimulatedRank *r = simulated_new(rank, 2, TRUE);
        SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 8, 5, !rank, 3);
        g_ptr_array_add(ranks, r);
    }
    WendArchiveResult result;
    char *dir = record(ranks, NULL, &result);
    check(dir, ranks);
    refused(dir, NULL, "member program, functions: what its functions take is not what this");
    discard(dir);

    dir = record(ranks, NULL, &result);
    refused(dir, "MPI_Sent", "member program, functions: has a function that this version of Wend");
    discard(dir);
}

/* -- loops whose iterations differ -- */

static void halo(SimulatedRank *r, SimulatedSequence *s, gint64 count)
{
    gint64 requests[2], next = (r->rank + 1) % r->world;
    requests[0] = sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 1000, next, 1);
    requests[1] = sim_isend(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 8000, count, next, 1);
    sim_waitall(r, s, 2, requests);
}

/* ScalaTrace II, figure 1: calls that only some iterations make. */
static void extra_calls(SimulatedRank *r, SimulatedSequence *s, int n)
{
    for (int i = 0; i < n; i++) {
        sim_allreduce(r, s, 1);
        if (i % 7 == 0)
            halo(r, s, 10);
        if (i % 5 == 1)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 10, (r->rank + 1) % r->world, 1);
        sim_allreduce(r, s, 2);
    }
}

/* Figure 2: an inner loop whose trip count follows from the outer one's, and sizes that do. */
static void trip_counts(SimulatedRank *r, SimulatedSequence *s, int n)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 2 + i; k++)
            halo(r, s, 10);
        halo(r, s, 20 + i);
        sim_allreduce(r, s, 1);
    }
}

static void test_loops(gconstpointer trips)
{
    void (*run)(SimulatedRank *, SimulatedSequence *, int) = trips ? trip_counts : extra_calls;
    gsize bytes[2];
    for (int i = 0; i < 2; i++) {
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        for (guint rank = 0; rank < 6; rank++) {
            SimulatedRank *r = simulated_new(rank, 6, TRUE);
            run(r, simulated_sequence(r, WEND_SEQUENCE_THREAD, 0), i ? 160 : 40);
            g_ptr_array_add(ranks, r);
        }
        WendArchiveResult result;
        char *dir = record(ranks, NULL, &result);
        check(dir, ranks);
        g_assert_cmpuint(result.classes, ==, 1);
        bytes[i] = result.bytes;
        discard(dir);
    }
    g_assert_cmpuint(bytes[1], <, bytes[0] + 40);
}

/* -- trip counts by rank -- */

/* Figure 4 of the same paper: each rank has a trip count of its own. */
static void trips_by_rank(SimulatedRank *r, SimulatedSequence *s, guint world)
{
    for (guint i = 0; i < 5 + r->rank; i++) {
        sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 10, (r->rank + 1) % world, 1);
        sim_recv(r, s, 10, constant("MPI_ANY_SOURCE"), 1, (r->rank + world - 1) % world, 1, 80);
    }
    sim_allreduce(r, s, 1);
}

/* Several loops in loops and in callbacks, trip counts that some ranks share, outcomes that depend
 * on them, and polls. */
static void many_trips(SimulatedRank *r, SimulatedSequence *s, guint world)
{
    gint64 tested = sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 1), 0, 10, 0, 3);
    for (guint i = 0; i < 2 + r->rank % 3; i++) {
        for (guint k = 0; k < 4 + r->rank / 2; k++)
            sim_send(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 10, (r->rank + 1) % world, 1);
        for (guint k = 0; k < 3; k++)
            sim_allreduce(r, s, 2);
        sim_recv(r, s, 10, constant("MPI_ANY_SOURCE"), 2, (r->rank + i) % world, 2, 80);
    }
    for (guint i = 0; i < r->rank; i++)
        sim_test(r, s, tested, FALSE);
    sim_test(r, s, tested, TRUE);
    SimulatedSequence *callback = simulated_sequence(r, WEND_SEQUENCE_CALLBACK, 4);
    for (guint i = 0; i < 3 + r->rank % 4; i++)
        sim_allreduce(r, callback, 9);
}

static void test_trips(gconstpointer many)
{
    GRand *rand = g_rand_new_with_seed(23);
    static const guint worlds[2] = {12, 60};
    gsize bytes[2];
    for (int i = 0; i < 2; i++) {
        guint world = worlds[i];
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        for (guint rank = 0; rank < world; rank++) {
            SimulatedRank *r = simulated_new(rank, world, TRUE);
            SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
            if (many)
                many_trips(r, s, world);
            else
                trips_by_rank(r, s, world);
            g_ptr_array_add(ranks, r);
        }
        bytes[i] = one_class(ranks, rand);
    }
    g_rand_free(rand);
    /* The time of each rank, which has no pattern, takes less than a byte. */
    if (!many)
        g_assert_cmpuint(bytes[1], <, bytes[0] + 20 + (worlds[1] - worlds[0]));
}

/* -- outcomes in turn -- */

/* Messages of anybody come from one after the other, and so many of three requests are complete at
 * a time: one, two, three, one, … */
static SimulatedRank *in_turn(guint rank, guint world, guint times, gboolean keep)
{
    SimulatedRank *r = simulated_new(rank, world, keep);
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    for (guint i = 0; i < times; i++) {
        gint64 requests[3];
        guint n = i % 3 + 1;
        for (guint k = 0; k < 3; k++)
            requests[k] = sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 800 * k, 100, k, 5);
        call(s, "MPI_Waitsome");
        slot(s, 3);
        shape(s, 3);
        for (guint k = 0; k < 3; k++)
            shape(s, requests[k]);
        shape(s, WEND_IGNORE);
        outcome(s, n);
        outcome(s, n);
        for (guint k = 0; k < n; k++)
            outcome(s, k);
        outcome(s, n);
        for (guint k = 0; k < 4 * n; k++)
            outcome(s, 0);
        end(r, s, 1e-6);
        for (guint k = 0; k < n; k++)
            release(s, requests[k]);
        if (n < 3)
            sim_waitall(r, s, 3 - n, requests + n);
        sim_recv(r, s, 100, constant("MPI_ANY_SOURCE"), 7, (rank + i / 2) % world, 7, 800);
    }
    return r;
}

static void test_in_turn(void)
{
    gsize bytes[2];
    for (int i = 0; i < 2; i++) {
        g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
        for (guint rank = 0; rank < 4; rank++)
            g_ptr_array_add(ranks, in_turn(rank, 4, i ? 60000 : 6000, !i));
        WendArchiveResult result;
        char *dir = record(ranks, NULL, &result);
        if (!i)
            check(dir, ranks);
        bytes[i] = result.bytes;
        discard(dir);
    }
    g_assert_cmpuint(bytes[1], <, bytes[0] + 40);
}

/* -- what a walk makes of outcomes -- */

static const WendArg *arg_of(const WendCall *c, const char *name)
{
    for (guint i = 0; i < c->n_args; i++)
        if (strcmp(c->args[i].param->name, name) == 0)
            return &c->args[i];
    g_error("%s has no %s", c->function->name, name);
}

static const WendCall *next(WendWalk *w, const char *function)
{
    const WendCall *c = walk_next(w);
    g_assert_nonnull(c);
    g_assert_cmpstr(c->function->name, ==, function);
    return c;
}

static void status_is(const gint64 *s, gint64 source, gint64 tag, gint64 bytes)
{
    g_assert_cmpint(s[0], ==, source);
    g_assert_cmpint(s[1], ==, tag);
    g_assert_cmpint(s[2], ==, bytes);
}

static void test_walk(void)
{
    gint64 any = constant("MPI_ANY_SOURCE"), any_tag = constant("MPI_ANY_TAG"),
           none = constant("MPI_PROC_NULL"), null = constant("MPI_REQUEST_NULL");
    g_autoptr(GPtrArray) ranks = g_ptr_array_new_with_free_func((GDestroyNotify)simulated_free);
    SimulatedRank *r = simulated_new(2, 4, TRUE);
    g_ptr_array_add(ranks, r); /* the others are missing */
    SimulatedSequence *s = simulated_sequence(r, WEND_SEQUENCE_THREAD, 0);
    sim_recv(r, s, 10, any, any_tag, 3, 42, 16);
    gint64 a = sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 100, any, 5),
           b = sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 100, 1, any_tag);
    gint64 c = sim_irecv(r, s, WEND_SEGMENT(WEND_SEGMENT_HEAP, 0), 0, 100, none, 6);
    /* Waitsome: the second and the third */
    call(s, "MPI_Waitsome");
    slot(s, 4);
    shape(s, 4);
    shape(s, a);
    shape(s, b);
    shape(s, c);
    shape(s, null);
    shape(s, 4);   /* of the statuses, an out word: after the in words */
    outcome(s, 2); /* outcount */
    outcome(s, 2); /* indices: length, then elements */
    outcome(s, 1);
    outcome(s, 2);
    outcome(s, 2); /* statuses: count, then four words each */
    outcome(s, 0);
    outcome(s, 9);
    outcome(s, 800 - 24);
    outcome(s, 0);
    outcome(s, 0);
    outcome(s, 0);
    outcome(s, 0);
    outcome(s, 0);
    end(r, s, 1e-6);
    release(s, b);
    release(s, c);
    /* Waitall over what is left: the first, and two that are inactive by now */
    call(s, "MPI_Waitall");
    slot(s, 3);
    shape(s, 3);
    shape(s, a);
    shape(s, b);
    shape(s, null);
    shape(s, 3);
    outcome(s, 3);
    outcome(s, 1);
    outcome(s, 0);
    outcome(s, 0);
    outcome(s, 0);
    for (int i = 0; i < 8; i++)
        outcome(s, 0);
    end(r, s, 1e-6);
    release(s, a);

    char *dir = record(ranks, NULL, NULL);
    check(dir, ranks);
    WendProgram *p = program_open(dir, NULL);
    g_assert_false(g_key_file_get_boolean(program_meta(p), "recording", "complete", NULL));
    g_autofree char *missing = g_key_file_get_string(program_meta(p), "recording", "missing", NULL);
    g_assert_cmpstr(missing, ==, "0-1;3");
    g_assert_cmpuint(program_class(p, program_class_of(p, 3))->n_sequences, ==, 0);
    g_assert_null(walk_new(p, 0, 0, WEND_WALK_MAIN));
    WendWalk *w = walk_new(p, 2, 0, WEND_WALK_POLLS);
    guint n;
    WendRequestState state;
    status_is(arg_of(next(w, "MPI_Recv"), "status")->out, 3, 42, 16);
    for (int i = 0; i < 3; i++)
        next(w, "MPI_Irecv");
    g_assert_true(walk_request(w, c, &state));
    g_assert_true(state.active && !state.persistent);
    g_assert_cmpuint(state.created, ==, 3);
    g_assert_false(walk_request(w, WEND_HANDLE(0, 3), &state));

    const WendCall *some = next(w, "MPI_Waitsome");
    const WendArg *statuses = arg_of(some, "array_of_statuses"),
                  *indices = arg_of(some, "array_of_indices");
    g_assert_cmpint(indices->n_out, ==, 2);
    g_assert_cmpint(indices->out[0], ==, 1);
    g_assert_cmpint(indices->out[1], ==, 2);
    g_assert_cmpint(statuses->n_out, ==, 2);
    status_is(statuses->out, 1, 9, 24);
    status_is(statuses->out + 4, none, any_tag, 0);
    const gint64 *completed = walk_completed(w, &n);
    g_assert_cmpuint(n, ==, 2);
    g_assert_cmpint(completed[0], ==, b);
    g_assert_cmpint(completed[1], ==, c);
    /* the call's effects come after it */
    g_assert_true(walk_request(w, b, &state) && state.active);

    const WendCall *all = next(w, "MPI_Waitall");
    g_assert_true(walk_request(w, b, &state) && !state.active);
    statuses = arg_of(all, "array_of_statuses");
    status_is(statuses->out, 3, 5, 800);
    status_is(statuses->out + 4, any, any_tag, 0);
    status_is(statuses->out + 8, any, any_tag, 0);
    completed = walk_completed(w, &n);
    g_assert_cmpuint(n, ==, 1);
    g_assert_cmpint(completed[0], ==, a);
    g_autoptr(GString) text = g_string_new(NULL);
    WendRead *reader = read_wrap(p);
    const WendReadCall *wrapped = read_wrap_call(reader, w, all);
    WendReadValue requests;
    g_assert_true(value_argument(wrapped, 1, &requests));
    value_append(text, wrapped, 1, &requests, VALUE_TEXT);
    wend_read_free(reader);
    g_assert_cmpstr(text->str, ==, "[req#0, req#1, MPI_REQUEST_NULL]");
    g_assert_null(walk_next(w));
    walk_free(w);
    program_free(p);
    discard(dir);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/round-trip/stencil", test_stencil);
    g_test_add_func("/round-trip/functions", test_functions);
    g_test_add_data_func("/round-trip/loops/extra-calls", GINT_TO_POINTER(0), test_loops);
    g_test_add_data_func("/round-trip/loops/trip-counts", GINT_TO_POINTER(1), test_loops);
    g_test_add_data_func("/round-trip/trips/by-rank", GINT_TO_POINTER(0), test_trips);
    g_test_add_data_func("/round-trip/trips/many", GINT_TO_POINTER(1), test_trips);
    g_test_add_func("/round-trip/in-turn", test_in_turn);
    g_test_add_func("/round-trip/walk", test_walk);
    g_test_add_func("/round-trip/memory", test_memory);
    g_test_add_func("/round-trip/random", test_random);
    return g_test_run();
}
