/* SPDX-License-Identifier: BSD-3-Clause */
/* requests.c: which request a variable holds, when the library gives one handle value to many. No
 * MPI runs here: handles are plain numbers, as a library might give them, and the test plays the
 * wrappers. */
#include <glib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "lifecycle/lifecycle.h"
#include "objects/objects.h"
#include "recorder/recorder.h"

/* What live-requests.c and the recorder need of the rest. */
const PredefinedHandle mpi_predefined[] = {{HANDLE_REQUEST, 7, (uintptr_t)MPI_REQUEST_NULL}};
const size_t mpi_n_predefined = 1;
void *const *tools_own;
int error_code_note(int rc)
{
    return rc;
}
void late_mpi_open(void)
{
}
void termination_prepare_thread(void)
{
}
void comm_arrived(struct CommEntry *e)
{
    (void)e;
}

#define NULL_WORD WEND_CONST(7)

/* Values of a library: SHARED is given many times over. */
static MPI_Request value(int n)
{
    return (MPI_Request)(intptr_t)(0x1000 + n);
}
#define SHARED value(0)

static int64_t isend(MPI_Request *variable, MPI_Request handle, int tag)
{
    ActiveCall *c = call_begin(1);
    call_put_slot(c, tag);
    call_start(c);
    *variable = handle;
    call_stop(c, MPI_SUCCESS);
    live_request_end_call(c, variable, &(struct RequestMetadata){.type = REQUEST_SEND});
    return c->shape.w[c->shape.n - 1];
}

/* A wait for all N: their words go to WORDS. */
static void waitall(int n, MPI_Request *variables, int64_t *words)
{
    ActiveCall *c = call_begin(2);
    live_requests_encode(c, n, variables, true);
    g_assert_cmpint(c->shape.w[1], ==, n);
    memcpy(words, c->shape.w + 2, (size_t)n * sizeof *words);
    call_start(c);
    for (int i = 0; i < n; i++)
        variables[i] = MPI_REQUEST_NULL;
    call_stop(c, MPI_SUCCESS);
    for (int i = 0; i < n; i++)
        request_event(c, (size_t)i, &variables[i], REQUEST_COMPLETED, false);
    call_end(c);
}

static int64_t wait_one(MPI_Request *variable)
{
    int64_t word;
    waitall(1, variable, &word);
    return word;
}

/* A Waitany over N that completes number CHOSEN. */
static void waitany(int n, MPI_Request *variables, int chosen, int64_t *words)
{
    ActiveCall *c = call_begin(3);
    live_requests_encode(c, n, variables, true);
    memcpy(words, c->shape.w + 2, (size_t)n * sizeof *words);
    call_start(c);
    variables[chosen] = MPI_REQUEST_NULL;
    call_stop(c, MPI_SUCCESS);
    request_event(c, (size_t)chosen, &variables[chosen], REQUEST_COMPLETED, true);
    call_end(c);
}

/* Requests of few values in few variables, which are overwritten; in the second half some are
 * waited for through copies. The words that were seen, in order. */
static GArray *by_chance(uint32_t seed)
{
    enum { VARIABLES = 12, STEPS = 400 };
    GRand *rand = g_rand_new_with_seed(seed);
    MPI_Request variables[VARIABLES], copy;
    GArray *live = g_array_new(FALSE, FALSE, sizeof copy),
           *words = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (int i = 0; i < VARIABLES; i++)
        variables[i] = MPI_REQUEST_NULL;
    for (int step = 0; step < STEPS; step++) {
        MPI_Request *variable = &variables[g_rand_int_range(rand, 0, VARIABLES)];
        bool copied = step >= STEPS / 2 && g_rand_boolean(rand);
        int64_t word;
        if (copied && live->len > 0) {
            guint i = (guint)g_rand_int_range(rand, 0, (gint32)live->len);
            copy = g_array_index(live, MPI_Request, i);
            g_array_remove_index(live, i);
            word = wait_one(&copy);
        } else if (!copied && *variable != MPI_REQUEST_NULL && g_rand_boolean(rand)) {
            for (guint i = 0; i < live->len; i++)
                if (g_array_index(live, MPI_Request, i) == *variable) {
                    g_array_remove_index(live, i);
                    break;
                }
            word = wait_one(variable);
        } else {
            word = isend(variable, value(g_rand_int_range(rand, 0, 4)), 150 + step % 3);
            g_array_append_val(live, *variable);
        }
        g_array_append_val(words, word);
    }
    for (guint i = 0; i < live->len; i++) {
        int64_t word = wait_one(&g_array_index(live, MPI_Request, i));
        g_array_append_val(words, word);
    }
    g_array_free(live, TRUE);
    g_rand_free(rand);
    return words;
}

/* The first copy of all makes the table of values: which requests are found is the same as if it
 * had always been there. Has to run first. */
static void first_copy(void)
{
    GArray *made_late = by_chance(1), *there = by_chance(1);
    g_assert_cmpuint(made_late->len, >, 400);
    g_assert_cmpmem(made_late->data, made_late->len * sizeof(int64_t), there->data,
                    there->len * sizeof(int64_t));
    g_array_free(made_late, TRUE);
    g_array_free(there, TRUE);
}

static void shared_in_array(void)
{
    MPI_Request r[4];
    int64_t made[4];
    for (int i = 0; i < 4; i++)
        made[i] = isend(&r[i], SHARED, 100 + i);
    for (int i = 3; i >= 0; i--)
        g_assert_cmpint(wait_one(&r[i]), ==, made[i]);
}

static void shared_through_one_variable(void)
{
    MPI_Request list[5], r;
    int64_t made[5], words[5];
    for (int i = 0; i < 5; i++) {
        made[i] = isend(&r, i == 2 ? value(1) : SHARED, 200 + i);
        list[i] = r;
    }
    waitall(5, list, words);
    for (int i = 0; i < 5; i++)
        g_assert_cmpint(words[i], ==, made[i]);
}

static void moved_to_another_array(void)
{
    MPI_Request a[3], b[3];
    int64_t made[3], words[3];
    for (int i = 0; i < 3; i++)
        made[i] = isend(&a[i], SHARED, 300 + i);
    memcpy(b, a, sizeof a);
    waitall(3, b, words);
    for (int i = 0; i < 3; i++)
        g_assert_cmpint(words[i], ==, made[i]);
}

/* A copy of what is in the array too: never the same request twice in one call. */
static void one_moved_within_the_array(void)
{
    MPI_Request a[3], elsewhere;
    int64_t made[3], words[3];
    made[0] = isend(&a[0], SHARED, 400);
    made[1] = isend(&elsewhere, SHARED, 401);
    a[1] = elsewhere;
    made[2] = isend(&a[2], SHARED, 402);
    waitall(3, a, words);
    for (int i = 0; i < 3; i++)
        g_assert_cmpint(words[i], ==, made[i]);
}

static void numbers_are_reused(void)
{
    MPI_Request r, s;
    int64_t first = isend(&r, value(5), 500);
    int64_t second = isend(&s, value(6), 500);
    g_assert_cmpint(first, !=, second);
    g_assert_cmpint(wait_one(&r), ==, first);
    g_assert_cmpint(isend(&r, value(7), 500), ==, first);
    /* The order of completion leaves no mark. */
    g_assert_cmpint(wait_one(&s), ==, second);
    g_assert_cmpint(wait_one(&r), ==, first);
    g_assert_cmpint(isend(&s, value(5), 500), ==, first);
    g_assert_cmpint(wait_one(&s), ==, first);
}

static void nulled_by_choice_is_remembered(void)
{
    MPI_Request r[3];
    int64_t made[3], words[3];
    for (int i = 0; i < 3; i++)
        made[i] = isend(&r[i], SHARED, 600 + i);
    waitany(3, r, 1, words);
    for (int i = 0; i < 3; i++)
        g_assert_cmpint(words[i], ==, made[i]);
    waitany(3, r, 0, words);
    g_assert_cmpint(words[1], ==, made[1]);
    /* In use again elsewhere: then the variable is only null. */
    MPI_Request again;
    g_assert_cmpint(isend(&again, SHARED, 601), ==, made[1]);
    waitall(3, r, words);
    g_assert_cmpint(words[0], ==, made[0]);
    g_assert_cmpint(words[1], ==, NULL_WORD);
    g_assert_cmpint(words[2], ==, made[2]);
    /* A Waitall is no choice. */
    waitall(3, r, words);
    g_assert_cmpint(words[2], ==, NULL_WORD);
    g_assert_cmpint(wait_one(&again), ==, made[1]);
}

static void unknown_values(void)
{
    MPI_Request r = value(99), null = MPI_REQUEST_NULL;
    g_assert_cmpint(wait_one(&r), ==, WEND_UNKNOWN);
    g_assert_cmpint(wait_one(&null), ==, NULL_WORD);
}

static void persistent(void)
{
    MPI_Request r;
    ActiveCall *c = call_begin(4);
    call_put_slot(c, 1);
    call_start(c);
    r = value(20);
    call_stop(c, MPI_SUCCESS);
    live_request_end_call(
        c, &r,
        &(struct RequestMetadata){
            .type = REQUEST_RECV, .persistent = true, .source = 3, .tag = 9, .bytes = 40});
    int64_t word = c->shape.w[c->shape.n - 1];
    MPI_Status status;
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = 3;
    status.MPI_TAG = 9;
    for (int i = 0; i < 2; i++) {
        c = call_begin(5);
        live_requests_encode(c, 1, &r, false);
        g_assert_cmpint(c->shape.w[1], ==, word);
        if (i == 0)
            request_event(c, 0, &r, REQUEST_STARTED, false);
        call_end(c);
        c = call_begin(6);
        live_requests_encode(c, 1, &r, false);
        size_t before = c->outcome.n;
        live_request_encode_status(c, 0, &status);
        g_assert_cmpint(c->outcome.w[before], ==, 0);
        /* inactive the second time: no message */
        g_assert_cmpint(c->outcome.w[before + 2], ==, i == 0 ? 40 : 0);
        request_event(c, 0, &r, REQUEST_COMPLETED, true);
        call_end(c);
    }
    c = call_begin(7);
    live_requests_encode(c, 1, &r, false);
    request_event(c, 0, &r, REQUEST_FREED, false);
    call_end(c);
    g_assert_cmpint(wait_one(&r), ==, WEND_UNKNOWN);
}

/* A hundred thousand in flight behind one value: in steps that grew with their number this would
 * take minutes. */
static void many(void)
{
    enum { N = 100000 };
    MPI_Request *r = g_new(MPI_Request, N), *copy = g_new(MPI_Request, N);
    int64_t *made = g_new(int64_t, N), *words = g_new(int64_t, N);
    for (int i = 0; i < N; i++)
        made[i] = isend(&r[i], SHARED, 1000);
    memcpy(copy, r, N * sizeof *r);
    waitall(N, copy, words);
    for (int i = 0; i < N; i++)
        g_assert_cmpint(words[i], ==, made[i]);
    for (int i = 0; i < N; i++)
        made[i] = isend(&r[i], SHARED, 1000);
    for (int i = N - 1; i >= 0; i--)
        g_assert_cmpint(wait_one(&r[i]), ==, made[i]);
    g_free(r);
    g_free(copy);
    g_free(made);
    g_free(words);
}

/* Requests made in one thread and completed in another: all are found, and none is left. */
enum { HANDED = 20000 };
static GAsyncQueue *handed;

static gpointer maker(gpointer user)
{
    for (int i = 0; i < HANDED; i++) {
        MPI_Request *r = g_new(MPI_Request, 1);
        isend(r, i % 3 ? SHARED : value(GPOINTER_TO_INT(user)), i % 7);
        g_async_queue_push(handed, r);
    }
    return NULL;
}

static gpointer completer(gpointer user)
{
    (void)user;
    for (int i = 0; i < HANDED; i++) {
        MPI_Request *r = g_async_queue_pop(handed);
        g_assert_cmpint(wait_one(r), !=, WEND_UNKNOWN);
        g_free(r);
    }
    return NULL;
}

static void between_threads(void)
{
    GThread *threads[4];
    handed = g_async_queue_new();
    for (int i = 0; i < 4; i++)
        threads[i] = g_thread_new(NULL, i % 2 ? completer : maker, GINT_TO_POINTER(50 + i));
    for (int i = 0; i < 4; i++)
        g_thread_join(threads[i]);
    g_async_queue_unref(handed);
    MPI_Request none = SHARED;
    g_assert_cmpint(wait_one(&none), ==, WEND_UNKNOWN);
}

/* While recording is off: a request that ends then leaves no trace, one that is pending when it
 * goes on is there before what follows. */
static void made_while_off(void)
{
    MPI_Request over, pending;
    uint64_t before = thread_self()->sequence->calls;
    state()->recording = false;
    isend(&over, value(70), 700);
    isend(&pending, value(71), 701);
    wait_one(&over);
    g_assert_cmpuint(this_thread->sequence->calls, ==, before);
    state()->recording = true;
    wait_one(&pending);
    g_assert_cmpuint(this_thread->sequence->calls, ==, before + 2);
    /* Made while on, ended while off: the end is there. */
    isend(&over, value(70), 700);
    state()->recording = false;
    wait_one(&over);
    state()->recording = true;
    g_assert_cmpuint(this_thread->sequence->calls, ==, before + 4);
}

/* -- a replay -- */

static int64_t recorded[3];
static const RecordedCall *enforce_nothing(ActiveCall *c)
{
    (void)c;
    return NULL;
}
static void after_call(ActiveCall *c)
{
    (void)c;
}
static void left_call(void)
{
}
static const int64_t *recorded_call(ActiveCall *c, size_t *n)
{
    (void)c;
    *n = G_N_ELEMENTS(recorded);
    return recorded;
}
static const ReplayHooks hooks = {.before = enforce_nothing,
                                  .after = after_call,
                                  .left = left_call,
                                  .recorded_shape = recorded_call};

/* A copy of a handle that many requests have is of the recorded one. */
static void as_recorded(void)
{
    MPI_Request a, b, c, copy = SHARED;
    int64_t first = isend(&a, SHARED, 1), second = isend(&b, SHARED, 1),
            third = isend(&c, value(1), 1);
    state()->replay = &hooks;
    recorded[1] = 1;
    recorded[2] = second;
    g_assert_cmpint(wait_one(&copy), ==, second);
    g_assert_cmpint(wait_one(&copy), ==, second); /* null, and recorded as what was there */
    recorded[2] = NULL_WORD;
    g_assert_cmpint(wait_one(&copy), ==, NULL_WORD);
    recorded[2] = third; /* has another value */
    copy = SHARED;
    g_assert_cmpint(wait_one(&copy), ==, first);
    g_assert_cmpint(wait_one(&c), ==, third);
    state()->replay = NULL;
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    state()->thread_new = thread_start;
    clock_open();
    state()->active = state()->recording = true;
    g_test_add_func("/requests/first-copy", first_copy);
    g_test_add_func("/requests/shared-in-array", shared_in_array);
    g_test_add_func("/requests/shared-through-one-variable", shared_through_one_variable);
    g_test_add_func("/requests/moved", moved_to_another_array);
    g_test_add_func("/requests/one-moved", one_moved_within_the_array);
    g_test_add_func("/requests/reused", numbers_are_reused);
    g_test_add_func("/requests/nulled", nulled_by_choice_is_remembered);
    g_test_add_func("/requests/unknown", unknown_values);
    g_test_add_func("/requests/persistent", persistent);
    g_test_add_func("/requests/many", many);
    g_test_add_func("/requests/off", made_while_off);
    g_test_add_func("/requests/between-threads", between_threads);
    g_test_add_func("/requests/as-recorded", as_recorded);
    return g_test_run();
}
