/* SPDX-License-Identifier: BSD-3-Clause */
/* interface.c: libwend-read as a program of its own uses it.
 *
 *     interface misuse RECORDING…   wrong arguments are refused with one line, and harm nothing
 *     interface threads RECORDING…  several threads read them all, each with readers of its own
 *     interface completed RECORDING…  the ranks of the job that completed requests were with
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercise-read.h"

enum { THREADS = 4, ROUNDS = 3 };

#define CHECK(condition)                                                    \
    do {                                                                    \
        if (!(condition)) {                                                 \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                        \
        }                                                                   \
    } while (0)

static WendRead *open_one(const char *path)
{
    WendRead *r = wend_read_new();
    if (wend_read_open(r, path) < 0) {
        fprintf(stderr, "%s\n", wend_read_message(r));
        exit(1);
    }
    return r;
}

/* -- misuse -- */

/* The last failure said something, on one line. */
static void check_refused(const WendRead *r, int status, int expected)
{
    const char *message = wend_read_message(r);
    CHECK(status == expected);
    CHECK(*message != '\0' && !strchr(message, '\n'));
}

static void misuse_nothing_open(void)
{
    const WendReadFacts *facts = NULL;
    const WendReadTotals *totals = NULL;
    WendRead *r = wend_read_new();
    CHECK(strcmp(wend_read_message(r), "") == 0);
    check_refused(r, wend_read_facts(r, 0, &facts), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_totals(r, &totals), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_open(r, NULL), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_open(r, "/nonexistent/trace.dir"), WEND_READ_ERROR_INPUT);
    CHECK(strstr(wend_read_message(r), "/nonexistent/trace.dir") != NULL);
    CHECK(!facts && !totals);
    CHECK(wend_read_open(NULL, "x") == WEND_READ_ERROR_USAGE);
    CHECK(wend_read_facts(NULL, 0, &facts) == WEND_READ_ERROR_USAGE);
    CHECK(*wend_read_message(NULL) != '\0');
    wend_read_free(r);
    wend_read_free(NULL);
    wend_read_calls_free(NULL);
}

static void misuse_messages(WendRead *r)
{
    WendReadMessages *messages = NULL;
    WendReadMessageFacts facts;
    const WendReadMessage *m;
    WendRead *closed = wend_read_new();
    check_refused(closed, wend_read_messages(closed, &messages), WEND_READ_ERROR_USAGE);
    wend_read_free(closed);
    check_refused(r, wend_read_messages(r, NULL), WEND_READ_ERROR_USAGE);
    CHECK(!messages && wend_read_messages(NULL, &messages) == WEND_READ_ERROR_USAGE);
    CHECK(wend_read_next_message(NULL, &m) == WEND_READ_ERROR_USAGE);
    CHECK(wend_read_message_facts(NULL, &facts) == WEND_READ_ERROR_USAGE);
    wend_read_messages_free(NULL);
    CHECK(wend_read_messages(r, &messages) == 0);
    check_refused(r, wend_read_next_message(messages, NULL), WEND_READ_ERROR_USAGE);
    CHECK(wend_read_message_facts(messages, NULL) == WEND_READ_ERROR_USAGE);
    do
        CHECK(wend_read_next_message(messages, &m) == 0);
    while (m != NULL);
    CHECK(wend_read_next_message(messages, &m) == 0 && !m);
    wend_read_messages_free(messages);
}

static void misuse_indices(WendRead *r)
{
    const WendReadRank *rank;
    const WendReadRule *rule;
    const WendReadCall *call;
    const WendReadClass *class;
    const WendReadWorld *world;
    const WendReadFunction *function;
    const WendReadCommunicator *comm;
    const WendReadPair *pairs;
    WendReadCalls *calls;
    WendReadSymbol symbol;
    uint64_t n;
    check_refused(r, wend_read_rank(r, 1u << 30, &rank), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_rule(r, 1u << 30, &rule), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_symbol(r, 0, 1u << 30, &symbol), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_signature(r, 0, 1u << 30, &call), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_class(r, 1u << 30, &class), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_world(r, 7, &world), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_communicator(r, 1u << 30, &comm), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_calls(r, 0, 99, 0, &calls), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_matrix(r, WEND_READ_FILE_READS, &pairs, &n), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_function(r, 1u << 30, &function), WEND_READ_ERROR_NONE);
    check_refused(r, wend_read_function_named(r, "MPI_Nothing", &function), WEND_READ_ERROR_NONE);
    check_refused(r, wend_read_rank(r, 0, NULL), WEND_READ_ERROR_USAGE);
    CHECK(wend_read_function_named(r, "MPI_Send", &function) == 0);
    CHECK(wend_read_parameter_named(function, "dest") != WEND_READ_NO_INDEX);
    CHECK(wend_read_parameter_named(function, "nothing") == WEND_READ_NO_INDEX);
    CHECK(!wend_read_parameter(function, 99));
}

static void misuse_values(WendRead *r)
{
    WendReadCalls *calls;
    const WendReadCall *call;
    WendReadValue v = {.type = WEND_READ_NUMBER}, element;
    CHECK(wend_read_calls(r, 0, 0, 0, &calls) == 0);
    CHECK(wend_read_next(calls, &call) == 0 && call != NULL);
    check_refused(r, wend_read_input(call, 99, &v), WEND_READ_ERROR_USAGE);
    CHECK(wend_read_input(NULL, 0, &v) == WEND_READ_ERROR_USAGE);
    CHECK(wend_read_element(&v, 0, &element) == WEND_READ_ERROR_USAGE);
    CHECK(wend_read_transfer(call, NULL) == WEND_READ_ERROR_USAGE);
    CHECK(wend_read_completed(call, &v) == 0 && v.length == 0);
    check_refused(r, wend_read_element(&v, 0, &element), WEND_READ_ERROR_USAGE);
    while (wend_read_next(calls, &call) == 0 && call != NULL)
        continue;
    CHECK(wend_read_next(calls, &call) == 0 && !call); /* and again */
    wend_read_calls_free(calls);
}

static void misuse_sites(WendRead *r)
{
    const WendReadSite *site;
    const WendReadSiteTotals *totals;
    WendReadCalls *calls;
    const WendReadCall *call;
    uint32_t n;
    CHECK(wend_read_n_sites(r, &n) == 0 && n == 0); /* the recording has none */
    check_refused(r, wend_read_n_sites(r, NULL), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_site(r, 0, &site), WEND_READ_ERROR_USAGE);
    const WendReadStack *stack;
    check_refused(r, wend_read_stack(r, 0, &stack), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_stack(r, 0, NULL), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_stack_frame(r, 0, 0, &site), WEND_READ_ERROR_USAGE);
    check_refused(r, wend_read_group_sites(r, &n, 1), WEND_READ_ERROR_USAGE);
    CHECK(wend_read_group_sites(r, NULL, 0) == 0);
    check_refused(r, wend_read_site_totals(r, 1u << 30, &totals), WEND_READ_ERROR_NONE);
    CHECK(wend_read_site_totals(r, 0, &totals) == 0 && totals->site == WEND_READ_NO_INDEX);
    CHECK(wend_read_calls(r, 0, 0, WEND_READ_WITH_SITES, &calls) == 0);
    CHECK(wend_read_next(calls, &call) == 0 && call->site == WEND_READ_NO_INDEX);
    wend_read_calls_free(calls);
}

static void misuse(const char *path)
{
    misuse_nothing_open();
    WendRead *r = open_one(path);
    uint64_t before = exercise_read(r, true);
    misuse_messages(r);
    misuse_indices(r);
    misuse_values(r);
    misuse_sites(r);
    CHECK(exercise_read(r, true) == before);
    CHECK(wend_read_open(r, path) == 0); /* again, in place of what was open */
    CHECK(exercise_read(r, true) == before);
    CHECK(wend_read_set_memory(r, 1000) == 0);
    check_refused(r, wend_read_open(r, path), WEND_READ_ERROR_INPUT);
    CHECK(strstr(wend_read_message(r), path) != NULL);
    wend_read_free(r);
}

/* -- threads -- */

static char **recordings;

/* *HASH: of what they have. */
static void *read_all(void *hash)
{
    uint64_t *all = hash;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t sum = 0;
        for (int i = 0; recordings[i] != NULL; i++) {
            WendRead *r = open_one(recordings[i]);
            sum += exercise_read(r, true);
            wend_read_free(r);
        }
        CHECK(round == 0 || sum == *all);
        *all = sum;
    }
    return NULL;
}

/* No reader was there before, so that the threads meet where things are made once. */
static void threads(void)
{
    pthread_t all[THREADS];
    uint64_t hashes[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&all[i], NULL, read_all, &hashes[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    for (int i = 1; i < THREADS; i++)
        CHECK(hashes[i] == hashes[0]);
}

/* -- completions -- */

static void print_partners(const WendReadCall *call)
{
    WendReadValue list;
    WendReadTransfer t;
    CHECK(wend_read_completed(call, &list) == 0);
    if (list.length == 0)
        return;
    printf("%u %s:", call->rank, call->function->name);
    for (uint32_t i = 0; i < list.length; i++) {
        CHECK(wend_read_completed_transfer(call, i, &t) == 0);
        CHECK(t.bytes == WEND_READ_ABSENT);
        printf(" %d", t.peer_world >= 0 ? (int)t.peer_world : -1);
    }
    CHECK(wend_read_completed_transfer(call, (uint32_t)list.length, &t) == WEND_READ_ERROR_USAGE);
    printf("\n");
}

/* Of rank RANK's first sequence. */
static void print_completions(WendRead *r, uint32_t rank, unsigned flags)
{
    WendReadCalls *calls;
    const WendReadCall *call;
    WendReadTransfer t;
    CHECK(wend_read_calls(r, rank, 0, flags, &calls) == 0);
    while (wend_read_next(calls, &call) == 0 && call != NULL) {
        if (flags == 0)
            print_partners(call);
        else if ((call->function->flags & WEND_READ_COMPLETES) != 0)
            check_refused(r, wend_read_completed_transfer(call, 0, &t), WEND_READ_ERROR_NONE);
    }
    wend_read_calls_free(calls);
}

static void completed(const char *path)
{
    const WendReadFacts *facts;
    WendRead *r = open_one(path);
    CHECK(wend_read_facts(r, WEND_READ_JOB, &facts) == 0);
    for (uint32_t rank = 0; rank < facts->n_ranks; rank++) {
        print_completions(r, rank, 0);
        print_completions(r, rank, WEND_READ_WITHOUT_TRANSFERS);
    }
    CHECK(wend_read_completed_transfer(NULL, 0, NULL) == WEND_READ_ERROR_USAGE);
    wend_read_free(r);
}

int main(int argc, char **argv)
{
    CHECK(argc > 2);
    recordings = argv + 2;
    if (strcmp(argv[1], "threads") == 0)
        threads();
    for (int i = 2; i < argc && strcmp(argv[1], "misuse") == 0; i++)
        misuse(argv[i]);
    for (int i = 2; i < argc && strcmp(argv[1], "completed") == 0; i++)
        completed(argv[i]);
    return 0;
}
