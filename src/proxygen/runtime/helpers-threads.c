/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers-threads.c: starting and joining threads, and waiting for objects that another thread
 * makes or uses. */
#include "src/proxygen/runtime/runtime.h"

/* The threads of this process but the main one. They have the numbers in which they are created. */
ProxyThread *threads;
int n_threads;

static ProxyThread *thread_of_number(int number)
{
    for (int i = 0; i < n_threads; i++)
        if (threads[i].number == number)
            return &threads[i];
    return NULL;
}

static _Thread_local int in_thread;

static void *run_thread(void *argument)
{
    ProxyThread *thread = argument;
    in_thread = 1;
    void *result = thread->run(NULL);
    thread->ended = 1;
    return result;
}

/* For wend trace, if it records this run: which thread is created next. */
void wend_proxy_creates(int number) __attribute__((weak));

static int create_thread(pthread_t *id, int number, size_t stack, void *(*run)(void *),
                         void *argument)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    if (stack)
        pthread_attr_setstacksize(&attributes, stack);
    if (wend_proxy_creates)
        wend_proxy_creates(number);
    int runs = pthread_create(id, &attributes, run, argument) == 0;
    pthread_attr_destroy(&attributes);
    return runs;
}

void start_thread(int number)
{
    ProxyThread *thread = thread_of_number(number);
    if (!thread)
        return;
    thread->ended = 0;
    thread->runs = create_thread(&thread->id, number, thread->stack, run_thread, thread);
}

void join_thread(int number)
{
    ProxyThread *thread = thread_of_number(number);
    if (thread && thread->runs)
        pthread_join(thread->id, NULL);
    if (thread)
        thread->runs = 0;
}

/* Those that nobody joined: they have ended when MPI does, or a session of the main thread. */
void join_threads(void)
{
    for (int i = 0; i < n_threads && !in_thread; i++)
        while (threads[i].runs && !threads[i].ended)
            usleep(20);
    for (int i = 0; i < n_threads && !in_thread; i++) {
        if (threads[i].runs)
            pthread_detach(threads[i].id);
        threads[i].runs = 0;
    }
}

_Atomic int main_ended;

/* For wend trace: where the application joined the thread with number 0. */
void wend_proxy_joins_main(void) __attribute__((weak));

void join_main(void)
{
    while (!main_ended)
        usleep(20);
    if (wend_proxy_joins_main)
        wend_proxy_joins_main();
}

void *thread_without_calls(void *unused_argument)
{
    return unused_argument;
}

/* -- threads that exist before MPI_Init -- */

/* Threads that exist before MPI_Init. They wait until MPI runs. One that starts MPI waits until the
 * main thread has called it. */
static EarlyThread *early_threads;
static int n_early_threads;

_Atomic int early_may_run, early_may_start;

static _Atomic int early_met;

static void *run_early(void *argument)
{
    const EarlyThread *own = argument;
    while (!early_met || !(own->inits ? early_may_start : early_may_run))
        usleep(20);
    return run_thread(thread_of_number(own->number));
}

void start_early(EarlyThread *early, int n)
{
    early_threads = early;
    n_early_threads = n;
    for (; n > 0; n--, early++)
        early->runs = create_thread(&early->id, early->number, early->stack, run_early, early);
}

void meet_early(void)
{
    for (int i = 0; i < n_early_threads; i++) {
        ProxyThread *thread = thread_of_number(early_threads[i].number);
        thread->id = early_threads[i].id;
        thread->runs = early_threads[i].runs;
    }
    early_met = 1;
}

/* -- what several threads use -- */

/* What several threads use: it is made before others use it, freed after they have, and its number
 * is another's after that. */
static struct {
    _Atomic long made, used, ended;
} shared[SHARED];

_Thread_local int thread_number, thread_place;

/* For each shared thing and each thread; all without uses: they differ from life to life. */
const Share *shares;
int n_shares;

#define AWAIT(condition)   \
    while (!(condition)) { \
        usleep(20);        \
    }

void shared_make(int i)
{
    AWAIT(shared[i].made == shared[i].ended);
}

void shared_made(int i)
{
    shared[i].made++;
}

/* Uses before this one were of so many lives of it; -1: nobody knows. */
static long lives_used(int i)
{
    static _Thread_local long uses[SHARED];
    const Share *own = shares ? &shares[i * n_shares + thread_place] : NULL;
    return own && own->uses ? own->from + uses[i]++ / own->uses : -1;
}

/* Uses that nobody waits for, those by the thread that frees it, do not count. */
void shared_used(int i)
{
    if (shares && shares[i * n_shares + thread_place].uses)
        shared[i].used++;
}

void shared_use(int i)
{
    long lives = lives_used(i);
    AWAIT(shared[i].made > (lives < 0 ? (long)shared[i].ended : lives));
}

void shared_use_memory(int i)
{
    long lives = lives_used(i);
    AWAIT(lives < 0 || shared[i].ended >= lives);
}

void shared_end(int i)
{
    long due = 0, lives = shared[i].ended + 1;
    for (int t = 0; shares && t < n_shares; t++) {
        const Share *its = &shares[i * n_shares + t];
        if (lives > its->from)
            due += its->uses * ((lives < its->until ? lives : its->until) - its->from);
    }
    AWAIT(shared[i].used >= due);
}

void shared_ended(int i)
{
    shared[i].ended++;
}

/* A request of another thread; in a call that completes some of several it may have completed
 * before. */
void shared_request(int i, int maker, int of_several)
{
    if (thread_number != maker)
        AWAIT(shared[i].made > (of_several ? 0 : (long)shared[i].ended));
}

void shared_request_used(int i, MPI_Request now)
{
    if (now == MPI_REQUEST_NULL && shared[i].ended < shared[i].made)
        shared[i].ended++;
}

/* Memory goes when these requests, which use it, have been completed by whichever thread does
 * that. */
void shared_requests_done(int first, int n)
{
    for (int i = first; i < first + n; i++)
        AWAIT(shared[i].ended >= shared[i].made);
}
