/* SPDX-License-Identifier: BSD-3-Clause */
/* supervise.c: see replay-private.h. A rank makes no progress while it is in one call. The replay
 * ends when no rank has made any for as long as --patience says. A rank that computes is in no
 * call, so it never counts as waiting. The first rank of each host speaks for it (other-hosts.c),
 * and rank 0 decides. If there is no connection, the first rank of a host decides for its host
 * alone. Before MPI has started, hosts cannot be connected: then only a host that has all ranks
 * decides. */

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "divergence.h"
#include "replay-private.h"
#include "interpose/interpose.h"
#include "process/process.h"
#include "recorder/recorder.h"
#include "process/settings.h"
#include "process/launcher.h"
#include "stop-place.h"

/* -- pages -- */

/* What each rank of a replay shows to the others of its host: a page of memory that all can read.
 *
 * A page is a file in memory, which other ranks find by its name (system.h). */

typedef enum {
    PAGE_RUNS,
    PAGE_WAITS,   /* in a call, for as long as the replay has patience */
    PAGE_STOPPED, /* at --until */
    PAGE_ENDED,   /* where the recording of a run that died ends */
    PAGE_LEFT     /* its last call is made; nobody looks after the rank any more */
} PageState;

typedef struct {
    _Atomic uint32_t state;
    _Atomic bool freed; /* --on-divergence=free: no rank follows the recording any more */
    int32_t process;
    CallText text; /* the call at hand; PAGE_ENDED: where the rank is */
} Page;

static long launcher;
static uint32_t own_rank, n_ranks;
static Page *own;
static KeptFile own_file = KEPT_NONE;
static const Page **pages; /* by rank */
static uint64_t look_again;

/* Allocates the page. A limit on the size of files applies. */
static bool allocate(int file)
{
    WriteSignals blocked;
    write_signals_block(&blocked);
    bool good = fallocate(file, 0, 0, sizeof *own) == 0;
    write_signals_restore(&blocked);
    return good;
}

static void page_close(void)
{
    if (own)
        munmap(own, sizeof *own);
    own = NULL;
    kept_file_close(&own_file);
    for (uint32_t i = 0; pages && i < n_ranks; i++)
        if (pages[i] && i != own_rank)
            munmap((void *)(uintptr_t)pages[i], sizeof **pages);
    free(pages);
    pages = NULL;
}

/* Makes the page of this rank. Other ranks find it only if the launcher is known. Returns NULL if
 * there is no memory. */
static Page *page_open(void)
{
    char name[64];
    launcher = node_launcher();
    snprintf(name, sizeof name, "wend-replay-%ld-%u", launcher, own_rank);
    pages = calloc(n_ranks, sizeof *pages);
    void *p = MAP_FAILED;
    if (pages && kept_file_take(&own_file, memfd_create(name, MFD_CLOEXEC))
        && allocate(own_file.number))
        p = mmap(NULL, sizeof *own, PROT_READ | PROT_WRITE, MAP_SHARED, own_file.number, 0);
    if (p == MAP_FAILED) {
        page_close();
        return NULL;
    }
    own = p;
    own->process = getpid();
    pages[own_rank] = own;
    return own;
}

/* Takes a page of this job (memory_files_find). */
static void take_page(unsigned long rank, int folder, const char *entry)
{
    struct stat info;
    int fd = rank < n_ranks && !pages[rank] ? openat(folder, entry, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0)
        return;
    void *p = fstat(fd, &info) == 0 && info.st_size >= (off_t)sizeof **pages
                  ? mmap(NULL, sizeof **pages, PROT_READ, MAP_SHARED, fd, 0)
                  : MAP_FAILED;
    close(fd);
    pages[rank] = p == MAP_FAILED ? NULL : p;
}

/* The page of another rank of this host, or NULL if it has not been found. Searches at most ten
 * times a second. Only one thread may call it. */
static const Page *page_of(uint32_t rank)
{
    if (!pages || rank >= n_ranks || pages[rank] || launcher < 0)
        return pages && rank < n_ranks ? pages[rank] : NULL;
    if (clock_nanoseconds() < look_again)
        return NULL;
    char prefix[48];
    snprintf(prefix, sizeof prefix, "wend-replay-%ld-", launcher);
    memory_files_find(prefix, take_page);
    look_again = clock_nanoseconds() + UINT64_C(100000000);
    return pages[rank];
}

enum { AGREED = 3 }; /* looks in a row at which all hosts wait */
enum { PERIOD_MS = 50, LOOK_MS = 500, END_MS = 2000, READ_MS = 500, TELL_MS = 15000 };
enum { REPORTED = 64 };

static StopPlace at;
static _Atomic bool stops; /* it is to stop there */
static bool debugged;      /* this rank waits for a debugger */
static bool frees;         /* --on-divergence=free */
static _Atomic bool freed;
static Page *page;
static _Atomic uint64_t calls; /* begun in any thread */
static pthread_t thread;
static _Atomic bool opened, closing;
static char host[65];
static HostsView others; /* of the first rank of a host */
static bool connected;   /* OTHERS is valid */
static long local_ranks; /* of this host; 0 or less if unknown */
/* MPI_Init has returned: all ranks have made a call, and the hosts know each other if they can. */
static _Atomic bool met;
/* Whether this rank speaks for its host; and it has said that one has stopped. */
static _Atomic enum { REPORTS_PERHAPS, REPORTS, REPORTS_NOT } reports;
static _Atomic bool told_stop;
static unsigned agreed;

/* -- settings -- */

bool supervise_settings(uint32_t rank, uint32_t size, const char **why)
{
    const char *until = settings()->until, *debug = settings()->debug;
    own_rank = rank;
    n_ranks = size;
    gethostname(host, sizeof host - 1);
    frees = strcmp(settings()->on_divergence, "free") == 0;
    stops = until != NULL;
    if (until && !stop_place_read(until, size, &at)) {
        *why = STOP_PLACE_WRONG;
        return false;
    }
    if (debug && !rank_list_has(debug, rank, &debugged)) {
        *why = RANK_LIST_WRONG;
        return false;
    }
    return true;
}

static void wait_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

void supervise_debug(void)
{
    if (!debugged)
        return;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* any process of this user may attach */
    state_say("rank %" PRIu32 " waits for a debugger on %s: gdb -p %d", own_rank, host,
              (int)getpid());
    while (kernel_number_of("/proc/self/status", "TracerPid:", 0) == 0)
        wait_ms(100);
}

/* -- the call at hand -- */

static CallWords words_of(const ActiveCall *c)
{
    return (CallWords){c->function, c->shape.w, c->slots.w, c->shape.n, c->slots.n};
}

/* Whether a thread is in a call; its text goes to the page. */
static bool show_call(void)
{
    const CallSequence *q = __atomic_load_n(&state()->sequences, __ATOMIC_ACQUIRE);
    for (; q; q = __atomic_load_n(&q->next, __ATOMIC_ACQUIRE)) {
        const Thread *t = __atomic_load_n(&q->owner, __ATOMIC_ACQUIRE);
        const ActiveCall *c = t ? __atomic_load_n(&t->call, __ATOMIC_ACQUIRE) : NULL;
        if (!c || !atomic_load_explicit(&c->running, memory_order_acquire))
            continue;
        CallWords words = words_of(c);
        call_text(&page->text, &words);
        size_t n = strlen(page->text.text);
        if (atomic_load_explicit(&c->waits_for_turn, memory_order_relaxed))
            snprintf(page->text.text + n, sizeof page->text.text - n,
                     " for its turn behind another thread");
        return true;
    }
    return false;
}

static void exchange(void);

/* -- stopping -- */

/* The page of the host's first rank that has not left. It is the own one if no lower rank is
 * known. */
static const Page *first_page(void)
{
    for (uint32_t i = 0; i < own_rank; i++)
        if (page_of(i) && atomic_load(&page_of(i)->state) != PAGE_LEFT)
            return page_of(i);
    return page;
}

static bool is_first(void)
{
    return first_page() == page;
}

/* The thread that exchanges stops with the process. Before that, other hosts must know. */
static void tell_stop(void)
{
    bool exchanges = pthread_equal(pthread_self(), thread);
    for (long waited = 0;
         other_hosts_known() && reports != REPORTS_NOT && !told_stop && waited < TELL_MS;
         waited += PERIOD_MS) {
        if (exchanges)
            exchange();
        wait_ms(PERIOD_MS);
    }
}

/* Returns when the process goes on. The kernel would give a signal of kill() to the main thread,
 * and this one would go on until all have stopped. */
static void stop_here(void)
{
    raise(SIGSTOP);
}

static void stop_process(void)
{
    atomic_store(&page->state, PAGE_STOPPED);
    tell_stop();
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    stop_here();
    atomic_store(&page->state, PAGE_RUNS); /* it goes on */
}

void supervise_call(int64_t thread_number, uint64_t number, const CallWords *call)
{
    atomic_fetch_add_explicit(&calls, 1, memory_order_relaxed);
    if (__builtin_expect(!stops, 1) || at.rank != own_rank || at.thread != thread_number
        || at.call != number)
        return;
    stops = false;
    CallText text;
    char of_thread[32] = "";
    if (thread_number != 0)
        snprintf(of_thread, sizeof of_thread, " of thread %" PRId64, thread_number);
    state_say("rank %" PRIu32 " is stopped before call %" PRIu64 "%s, %s, on %s: gdb -p %d; kill "
              "-CONT %d goes on",
              own_rank, number, of_thread, call_text(&text, call), host, (int)getpid(),
              (int)getpid());
    if (page)
        stop_process();
    else
        stop_here();
}

static bool is_stopped(const Page *other)
{
    return other && atomic_load(&other->state) == PAGE_STOPPED;
}

/* Stops this rank when the one that is to stop has: it is on this host, or the first rank of this
 * host knows of it. */
static void follow_stop(void)
{
    if (!stops || at.rank == own_rank
        || !(others.stopped || is_stopped(page_of(at.rank)) || is_stopped(first_page())))
        return;
    stops = false;
    bool in_call = show_call();
    state_say("rank %" PRIu32 " is stopped %s%s on %s: gdb -p %d; kill -CONT %d goes on", own_rank,
              in_call ? "in " : "outside MPI", in_call ? page->text.text : "", host, (int)getpid(),
              (int)getpid());
    stop_process();
}

/* -- freeing -- */

void supervise_free(void)
{
    atomic_store(&freed, true);
    channels_give_up();
}

bool supervise_is_free(void)
{
    return atomic_load_explicit(&freed, memory_order_relaxed);
}

static bool any_freed(void)
{
    for (uint32_t i = 0; i < n_ranks; i++) {
        const Page *p = page_of(i);
        if (p && atomic_load(&p->freed))
            return true;
    }
    return false;
}

/* Tells the others that this rank is free, or hears it of them. */
static void follow_free(void)
{
    if (!frees || page->freed)
        return;
    if (!freed && (others.freed || any_freed()))
        supervise_free();
    if (freed)
        atomic_store(&page->freed, true);
}

/* -- the end of a run that died -- */

static void show_end(const char *how, const CallWords *call)
{
    CallText text;
    if (!page)
        return;
    snprintf(page->text.text, sizeof page->text.text, "%s %.*s", how,
             (int)(sizeof page->text.text - strlen(how) - 2), call_text(&text, call));
    atomic_store(&page->state, PAGE_ENDED);
}

void supervise_unfinished(const CallWords *call)
{
    show_end("waits in", call);
}

void supervise_returned(void)
{
    if (page)
        atomic_store(&page->state, PAGE_RUNS);
}

/* Whether this host may end the job, or speaks with the one that may. */
static bool has_say(void)
{
    return atomic_load(&met) || n_ranks == 1 || local_ranks == (long)n_ranks;
}

void supervise_end(const CallWords *call)
{
    show_end("is at its end, before", call);
    while (atomic_load(&opened) && has_say())
        wait_ms(1000);
    CallText text;
    state_say("rank %" PRIu32 ": the recording ends before %s", own_rank, call_text(&text, call));
    supervise_end_job(1);
}

/* -- patience -- */

/* Whether a rank has come to the end of its recording. */
static bool any_ended(void)
{
    for (uint32_t i = 0; i < n_ranks; i++) {
        const Page *p = page_of(i);
        if (p && atomic_load(&p->state) == PAGE_ENDED)
            return true;
    }
    return false;
}

static void report_ranks(void)
{
    uint32_t said = 0;
    for (uint32_t i = 0; i < n_ranks && said < REPORTED; i++) {
        const Page *p = page_of(i);
        if (!p && !atomic_load(&met)) {
            state_say("  rank %" PRIu32 " has ended without a call of MPI", i);
            said++;
        }
        /* a rank of this host that has met the others may have left before it was looked for */
        if (!p && !(atomic_load(&met) && local_ranks == (long)n_ranks))
            continue;
        CallText text = p ? p->text : (CallText){.text = ""};
        text.text[sizeof text.text - 1] = '\0';
        uint32_t is = p ? atomic_load(&p->state) : PAGE_LEFT;
        if (is == PAGE_LEFT)
            state_say("  rank %" PRIu32 " has made its last call", i);
        else
            state_say("  rank %" PRIu32 " %s%s", i, is == PAGE_ENDED ? "" : "waits in ", text.text);
        said++;
    }
    if (said == REPORTED)
        state_say("  and so do others");
}

static void report(void)
{
    if (any_ended() || others.ended)
        state_say("the replay is where the recorded run ended:");
    else
        state_say("the replay makes no progress for %ld s (--patience):", settings()->patience);
    report_ranks();
    other_hosts_end(END_MS);
}

/* Whether no rank of the host that is known makes progress. */
static bool all_wait(void)
{
    for (uint32_t i = 0; i < n_ranks; i++) {
        const Page *p = page_of(i);
        uint32_t is = p ? atomic_load(&p->state) : PAGE_WAITS;
        if (is != PAGE_WAITS && is != PAGE_ENDED && is != PAGE_LEFT)
            return false;
    }
    return true;
}

/* Whether a rank of this host that has made no call yet may still come. */
static bool one_may_come(void)
{
    NodeRanks node;
    int called = 0;
    if (atomic_load(&met) || n_ranks == 1)
        return false;
    for (uint32_t i = 0; i < n_ranks; i++)
        called += page_of(i) != NULL;
    return called < local_ranks && (!node_ranks(module_own_file(), &node) || node.all > called);
}

/* A launcher drops unread output of a job that ends, so it gets the time to read what was printed.
 * The launchers that speak PMI kill the other ranks, and would say how these ended, unless they are
 * told. */
void supervise_end_job(int status)
{
    char abort[48];
    const char *given = getenv("PMI_FD");
    struct stat info;
    int fd = given ? atoi(given) : -1;
    int n = snprintf(abort, sizeof abort, "cmd=abort exitcode=%d\n", status);
    wait_ms(READ_MS);
    if (fd > 2 && fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode)
        && send(fd, abort, (size_t)n, MSG_NOSIGNAL) > 0)
        wait_ms(1000); /* the launcher ends this process, too */
    _exit(status);
}

/* How long a rank waits until it says so. Where the recorded run has ended, the others come to
 * where they stood at once. */
static long patience_ms(void)
{
    return any_ended() || others.ended ? END_MS : settings()->patience * 1000;
}

static void watch_progress(uint64_t *seen, long *waited)
{
    uint64_t now = atomic_load(&calls);
    bool ended = atomic_load(&page->state) == PAGE_ENDED;
    if (is_stopped(page))
        return; /* it is about to stop */
    if (now != *seen && !ended) {
        *seen = now;
        *waited = 0;
        atomic_store(&page->state, PAGE_RUNS);
        return;
    }
    *waited += PERIOD_MS;
    long patience = *waited % LOOK_MS == 0 ? patience_ms() : 0;
    if (patience == 0 || *waited < patience)
        return;
    if (!ended && !show_call()) {
        *waited = 0;
        return;
    }
    if (!ended)
        atomic_store(&page->state, PAGE_WAITS);
    bool first = is_first(), all = all_wait();
    /* The others have the time to show that they wait, too. */
    if (*waited < patience + 2 * LOOK_MS || !first || !all)
        return;
    /* A host that rank 0 does not hear of has no say for long. */
    if (connected
        && (own_rank > 0 || !others.wait
            || (others.complete ? agreed < AGREED : *waited < 3 * patience + END_MS)))
        return;
    if (!has_say() || one_may_come())
        return;
    report();
    supervise_end_job(1);
}

/* The first rank of a host says how it is there, and hears of the others. */
static void exchange(void)
{
    if (!other_hosts_known())
        return;
    reports = is_first() ? REPORTS : REPORTS_NOT;
    if (reports == REPORTS_NOT) {
        other_hosts_leave();
        connected = false;
        others = (HostsView){0};
        return;
    }
    HostNote own = {.waits = all_wait(), .ended = any_ended()};
    for (uint32_t i = 0; i < n_ranks; i++) {
        const Page *p = page_of(i);
        own.ranks += p != NULL;
        own.stopped |= is_stopped(p);
    }
    own.freed = freed;
    connected = other_hosts_exchange(&own, &others);
    if (own.stopped && connected && (own_rank > 0 || others.complete))
        told_stop = true;
    agreed = own.waits && others.complete && others.wait ? agreed + 1 : 0;
    if (!others.ends)
        return;
    report_ranks();
    other_hosts_close();
    wait_ms(END_MS); /* rank 0 ends the job */
    supervise_end_job(1);
}

/* Without the recorder nothing is enforced. */
static void notice_break(void)
{
    static bool said;
    if (said || !atomic_load(&state()->broken))
        return;
    said = true;
    state_say("rank %" PRIu32 ": %s: from here on the run does not follow the recording", own_rank,
              atomic_load(&state()->broken_why));
}

static void *supervise(void *unused)
{
    (void)unused;
    uint64_t seen = 0;
    long waited = 0;
    unsigned looks = 0; /* at first the ranks of the host do not know each other */
    prctl(PR_SET_NAME, "wend replay");
    while (!atomic_load(&closing)) {
        wait_ms(PERIOD_MS);
        notice_break();
        if (++looks % (LOOK_MS / PERIOD_MS) == 0 && looks > 2 * LOOK_MS / PERIOD_MS)
            exchange();
        follow_stop();
        follow_free();
        watch_progress(&seen, &waited);
    }
    follow_free();
    return NULL;
}

void supervise_open(void)
{
    sigset_t all, before;
    local_ranks = launcher_local_size();
    page = page_open();
    if (!page)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* they are the application's */
    atomic_store(&opened, pthread_create(&thread, NULL, supervise, NULL) == 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void supervise_met(void)
{
    atomic_store(&met, true);
}

void supervise_close(void)
{
    if (!atomic_exchange(&opened, false))
        return;
    atomic_store(&closing, true);
    pthread_join(thread, NULL);
    atomic_store(&page->state, PAGE_LEFT); /* others may keep the page open */
    page_close();
}
