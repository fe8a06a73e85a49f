/* SPDX-License-Identifier: BSD-3-Clause */
/* births CASE: threads that begin and end in other ways than between MPI_Init and MPI_Finalize, by
 * the thread that started MPI. MPI_THREAD_MULTIPLE.
 *
 *   early     threads that exist before MPI_Init, and call MPI after it
 *   some      likewise, and rank 0 has one more
 *   idle      threads before MPI_Init that never call MPI: one has ended, one goes on
 *   family    threads before MPI_Init that create others there
 *   creators  two threads that create others at the same time, while a third creates and joins
 *   first     a thread calls MPI_Init, and the initial thread joins it and goes on
 *   among     likewise, while others exist and the initial thread creates more
 *   asked     the initial thread calls MPI, then a thread calls MPI_Init
 *   exit      the initial thread ends, another one joins it and calls MPI_Finalize
 *   joins     threads are joined in all ways, by others than their creators, too
 *   c11       threads of C11 */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { COMMS = 4, ROUNDS = 10 };
static MPI_Comm comms[COMMS];
static int numbers[COMMS] = {0, 1, 2, 3};
static pthread_t initial;

/* -- a gate, which some wait for -- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_open;

static void gate_open(void)
{
    pthread_mutex_lock(&lock);
    is_open = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void gate_pass(void)
{
    pthread_mutex_lock(&lock);
    while (!is_open)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* -- what threads do -- */

static void init(void)
{
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 6);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
}

static void finish(void)
{
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
    MPI_Finalize();
}

static void *sum(void *number)
{
    int i = *(int *)number, all;
    MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, comms[i]);
    return number;
}

static void *wait_and_sum(void *number)
{
    gate_pass();
    return sum(number);
}

static void *nothing(void *unused)
{
    return unused;
}

static void *wait_only(void *unused)
{
    gate_pass();
    return unused;
}

static pthread_t begin(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, argument) != 0)
        abort();
    return thread;
}

static void end(pthread_t thread)
{
    if (pthread_join(thread, NULL) != 0)
        abort();
}

/* -- before MPI_Init -- */

static int launched_as_first(void)
{
    static const char *const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i])) == 0;
    return 0;
}

static void early(int some)
{
    pthread_t threads[COMMS];
    int one_more = some && launched_as_first();
    if (one_more)
        threads[3] = begin(wait_and_sum, &numbers[3]);
    for (int i = 0; i < 2; i++)
        threads[i] = begin(wait_and_sum, &numbers[i]);
    init();
    gate_open();
    threads[2] = begin(sum, &numbers[2]);
    if (some && !one_more)
        sum(&numbers[3]);
    for (int i = 0; i < 3 + one_more; i++)
        end(threads[i]);
    finish();
}

static void idle(void)
{
    end(begin(nothing, NULL));
    pthread_t late = begin(wait_only, NULL), thread;
    pthread_detach(begin(nothing, NULL));
    init();
    thread = begin(sum, &numbers[1]);
    end(thread);
    gate_open();
    end(late);
    finish();
}

static void *parent(void *number)
{
    end(begin(nothing, NULL));
    pthread_t child = begin(wait_and_sum, (int *)number + 1);
    wait_and_sum(number);
    end(child);
    return number;
}

static void family(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        threads[i] = begin(parent, &numbers[2 * i]);
    init();
    gate_open();
    for (int i = 0; i < 2; i++)
        end(threads[i]);
    finish();
}

/* -- several that create -- */

static void *create(void *number)
{
    for (int i = 0; i < ROUNDS; i++)
        end(begin(sum, number));
    return number;
}

static void *create_idle(void *number)
{
    for (int i = 0; i < 3 * ROUNDS; i++)
        end(begin(nothing, NULL));
    return sum(number);
}

static void creators(void)
{
    pthread_t threads[3];
    init();
    for (int i = 0; i < 2; i++)
        threads[i] = begin(create, &numbers[i]);
    threads[2] = begin(create_idle, &numbers[2]);
    for (int i = 0; i < 3; i++)
        end(threads[i]);
    finish();
}

/* -- others that start and end MPI -- */

static void *init_and_sum(void *number)
{
    init();
    end(begin(sum, &numbers[1]));
    return sum(number);
}

static void first(int asks, int among)
{
    pthread_t others[2];
    int flag;
    if (asks)
        MPI_Initialized(&flag);
    if (among)
        others[0] = begin(wait_only, NULL);
    pthread_t thread = begin(init_and_sum, &numbers[0]);
    if (among)
        others[1] = begin(wait_and_sum, &numbers[2]);
    end(thread);
    gate_open();
    for (int i = 0; among && i < 2; i++)
        end(others[i]);
    end(begin(sum, &numbers[3]));
    for (int i = 0; i < ROUNDS; i++)
        sum(&numbers[0]);
    finish();
}

static void *join_initial(void *unused)
{
    end(initial);
    for (int i = 0; i < ROUNDS; i++)
        sum(&numbers[0]);
    finish();
    return unused;
}

/* -- ways to join -- */

static void *join_of_other(void *thread)
{
    end(*(pthread_t *)thread);
    return sum(&numbers[1]);
}

static void joins(void)
{
    struct timespec until;
    init();
    pthread_t thread = begin(sum, &numbers[0]);
    while (pthread_tryjoin_np(thread, NULL) != 0)
        usleep(100);
    sum(&numbers[0]);
    thread = begin(sum, &numbers[0]);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1000;
    if (pthread_timedjoin_np(thread, NULL, &until) != 0)
        abort();
    sum(&numbers[0]);
    thread = begin(sum, &numbers[1]);
    end(begin(join_of_other, &thread));
    sum(&numbers[1]);
    finish();
}

/* -- C11 -- */

static int sum_c11(void *number)
{
    gate_pass();
    sum(number);
    return 7;
}

static void c11(void)
{
    thrd_t threads[3];
    int result;
    thrd_create(&threads[0], sum_c11, &numbers[0]);
    init();
    gate_open();
    for (int i = 1; i < 3; i++)
        thrd_create(&threads[i], sum_c11, &numbers[i]);
    for (int i = 0; i < 3; i++)
        if (thrd_join(threads[i], &result) != thrd_success || result != 7)
            abort();
    finish();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    initial = pthread_self();
    if (strcmp(what, "early") == 0 || strcmp(what, "some") == 0)
        early(strcmp(what, "some") == 0);
    else if (strcmp(what, "idle") == 0)
        idle();
    else if (strcmp(what, "family") == 0)
        family();
    else if (strcmp(what, "creators") == 0)
        creators();
    else if (strcmp(what, "first") == 0)
        first(0, 0);
    else if (strcmp(what, "among") == 0)
        first(0, 1);
    else if (strcmp(what, "asked") == 0)
        first(1, 0);
    else if (strcmp(what, "joins") == 0)
        joins();
    else if (strcmp(what, "c11") == 0)
        c11();
    else if (strcmp(what, "exit") == 0) {
        init();
        begin(join_initial, NULL);
        pthread_exit(NULL);
    } else
        return 9;
    return 0;
}
