/* SPDX-License-Identifier: BSD-3-Clause */
/* watcher.c: see lifecycle.h. It reads data of the application's threads (recorder.h says when it
 * may). Meanwhile these may be at any point, even stopped for good in malloc. So it makes system
 * calls only, and has memory of its own (system.h).
 *
 * The ranks of a host announce their end to each other with datagrams, on sockets without a file.
 * Their names are derived from what the launcher says of the job. */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/record/checkpoint-file.h"
#include "lifecycle.h"
#include "output/output.h"
#include "process/process.h"
#include "recorder/recorder.h"
#include "process/settings.h"
#include "process/launcher.h"

/* -- the attendant -- */

/* The process of wend trace that stays as the parent of this one (src/wend/launch.c), if the
 * launcher is one that kills all ranks at once when another rank ends.
 *
 * Hydra kills the process group of the process that it has started, the attendant. While the
 * recorder has something to save, this process has a process group of its own. Its watcher sees the
 * end of the attendant, saves the part, and ends the process, too.
 *
 * The kernel kills this process when its parent ends (PR_SET_PDEATHSIG), except while it
 * has a process group of its own. */

static KeptFile attendant_end = KEPT_NONE; /* readable once the attendant has ended */
static pid_t attendant, group;             /* GROUP 0: this process has not left it */

static bool is_orphan(void)
{
    return syscall(SYS_getppid) != attendant;
}

/* application: leaves the process group of the attendant, if that is the parent */
static void attendant_leave_group(void)
{
    const char *given = getenv(LAUNCHER_ATTENDANT);
    int signal_at_end = 0;
    attendant = given ? (pid_t)strtol(given, NULL, 10) : 0;
    /* Only the main thread can switch off the signal. */
    if (attendant <= 1 || is_orphan() || syscall(SYS_gettid) != getpid()
        || prctl(PR_GET_PDEATHSIG, &signal_at_end) != 0 || signal_at_end != SIGKILL)
        return;
    pid_t before = getpgrp();
    if (before != getpgid(attendant)
        || !kept_file_take(&attendant_end, (int)syscall(SYS_pidfd_open, attendant, 0U)))
        return;
    if (setpgid(0, 0) != 0) {
        kept_file_close(&attendant_end);
        return;
    }
    group = before;
    prctl(PR_SET_PDEATHSIG, 0);
}

/* Kills this process and its children, as the launcher would have. */
static void attendant_follow(void)
{
    if (syscall(SYS_getpgid, 0) == syscall(SYS_getpid))
        syscall(SYS_kill, 0, SIGKILL);
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
}

/* application: joins it again. The process ends at once if the attendant has ended */
static void attendant_join_group(void)
{
    if (group == 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, group);
    kept_file_close(&attendant_end);
    if (is_orphan())
        attendant_follow();
    group = 0;
}

static void attendant_in_child(void)
{
    group = 0;
    kept_file_close(&attendant_end);
}

/* A descriptor that may be readable once the attendant has ended. -1: there is none. */
static int attendant_file(void)
{
    return kept_file_number(&attendant_end);
}

/* if not, there is no descriptor any more */
static bool attendant_has_ended(void)
{
    if (!is_orphan())
        attendant_end.number = -1; /* the number is that of another file */
    return is_orphan();
}

#define SECOND INT64_C(1000000000)
#define OTHERS_LIMIT (2 * SECOND) /* time for the host's other ranks to save */
#define SAVE_LIMIT (10 * SECOND)  /* time for a process that is about to end */
#define COME_LIMIT (2 * SECOND)   /* time from MPI_Init for ranks that come later from theirs */
#define MAKE_LIMIT (SECOND / 5)   /* time for another rank to make a folder for the host */
#define LEAST_SHARE 200           /* checkpoints take at most 1 / 200 of the processor's time */

enum { STACK_BYTES = 1 << 20, PAUSE = 5000000 };

enum { IDLE, REQUESTED, SAVED, NOT_SAVED };

static _Atomic uint32_t request; /* futex; passes through the states above once */
static char request_ended[WEND_ENDED_ROOM];
static bool request_all;
static _Atomic uint32_t wake;   /* futex */
static _Atomic uint32_t saving; /* futex: a checkpoint is running */
static _Atomic bool opened, quiet, at_end, closing;
static pthread_t thread;
static int64_t came;    /* when MPI_Init had returned */
static int local_ranks; /* that the launcher started on this host; 0: unknown */

/* -- the socket -- */

/* Its number is the same in the application's table of files and in the watcher's, if the watcher
 * has its own. */
static KeptFile sock = KEPT_NONE;
static _Atomic bool sock_bound;

static void name_of(int rank, struct sockaddr_un *a, socklen_t *n)
{
    static const char digits[] = "0123456789abcdef";
    const uint64_t parts[] = {parts_job(), (uint64_t)rank};
    char *p = a->sun_path;
    memset(a, 0, sizeof *a);
    a->sun_family = AF_UNIX;
    *p++ = '\0';
    memcpy(p, "wend", 4);
    p += 4;
    for (int i = 0; i < 2; i++) {
        *p++ = '-';
        for (int shift = 60; shift >= 0; shift -= 4)
            *p++ = digits[parts[i] >> shift & 15];
    }
    *n = (socklen_t)(p - (char *)a);
}

/* Makes the socket, in the application's thread, so that both tables have it. */
static void sock_make(void)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;
    if (fd >= 0) /* any user may write to it, so each datagram carries the sender's credentials */
        setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    struct sockaddr_un a;
    socklen_t n;
    name_of(state()->world_rank, &a, &n);
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&a, n) == 0;
    atomic_store(&sock_bound, kept_file_take(&sock, fd) && bound);
}

/* -1: no datagram can arrive */
static int sock_get(void)
{
    return atomic_load(&sock_bound) ? kept_file_number(&sock) : -1;
}

static bool sock_send(int fd, int rank, char what)
{
    struct sockaddr_un a;
    socklen_t n;
    name_of(rank, &a, &n);
    return syscall(SYS_sendto, fd, &what, 1L, MSG_DONTWAIT | MSG_NOSIGNAL, &a, n) == 1;
}

enum { NOTHING = 0, SAVE = 's', DONE = 'd', LOOK = 'l', STRANGE = 'x' };

/* Whether the datagram is from this user. Others are ignored. */
static bool is_ours(struct msghdr *m)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(m);
    struct ucred who;
    if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS
        || c->cmsg_len < CMSG_LEN(sizeof who))
        return false;
    memcpy(&who, CMSG_DATA(c), sizeof who);
    return (long)who.uid == syscall(SYS_getuid);
}

/* Reads a datagram of this rank or another one. FROM is the address for an answer. */
static char sock_take(int fd, struct sockaddr_un *from, socklen_t *n)
{
    char what;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec piece = {&what, 1};
    struct msghdr m = {.msg_name = from,
                       .msg_namelen = sizeof *from,
                       .msg_iov = &piece,
                       .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    if (syscall(SYS_recvmsg, fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
        return NOTHING;
    *n = m.msg_namelen;
    return is_ours(&m) ? what : STRANGE;
}

static void sock_answer(int fd, const struct sockaddr_un *to, socklen_t n)
{
    char what = DONE;
    syscall(SYS_sendto, fd, &what, 1L, MSG_DONTWAIT | MSG_NOSIGNAL, to, n);
}

/* -- time -- */

static int64_t now(void)
{
    return (int64_t)clock_nanoseconds();
}

/* The processor time of this thread, which is what it takes from the application. Waiting takes
 * nothing. */
static int64_t own_time(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static void pause_for(int64_t ns)
{
    struct timespec t = futex_span(ns);
    syscall(SYS_nanosleep, &t, NULL);
}

/* -- saving -- */

static bool save(const char *ended)
{
    State *s = state();
    WendBuf part = {.resize = scratch_resize};
    if (s->finished || s->refused || !parts_find())
        return false;
    const char *why = atomic_load(&s->broken) ? atomic_load(&s->broken_why) : NULL;
    if (!recorder_hold())
        return false;
    rank_part_write(&part, why ? why : *ended ? ended : NULL);
    recorder_release();
    bool good = !part.failed && parts_write(part.data, part.len);
    scratch_clear();
    return good;
}

/* Tells those of the other ranks to save that are not TOLD yet, and returns how many. Sockets of
 * other hosts' ranks do not exist here. */
static int send_save(bool *told, int fd)
{
    const State *s = state();
    int n = 0;
    for (int rank = 0; rank < s->world_size; rank++)
        if (rank != s->world_rank && !told[rank])
            n += told[rank] = sock_send(fd, rank, SAVE);
    return n;
}

/* Waits for an answer, for at most NS nanoseconds. Returns whether it has come. */
static bool wait_for_answer(int fd, int64_t ns)
{
    struct sockaddr_un from;
    socklen_t n;
    struct pollfd p = {fd, POLLIN, 0};
    struct timespec t = futex_span(ns);
    syscall(SYS_ppoll, &p, 1L, &t, NULL, 0L);
    char what = sock_take(fd, &from, &n);
    if (what == SAVE)
        sock_answer(fd, &from, n); /* that rank ends, too; this one has saved */
    return what == DONE;
}

/* Tells the other ranks of this host to save, and waits for their answers. In the first seconds a
 * rank may still be in MPI_Init, or not have found the folder: it is told later. */
static void tell_others(void)
{
    const size_t ranks = (size_t)state()->world_size;
    bool *told = scratch_resize(NULL, 0, ranks);
    int fd = sock_get(), known = 0, answers = 0;
    if (fd < 0 || !told)
        return;
    memset(told, 0, ranks);
    int64_t end = now() + OTHERS_LIMIT, pause = PAUSE, next = 0;
    for (int64_t t; (t = now()) < end;) {
        bool come = known < local_ranks - 1 && t < came + COME_LIMIT;
        if (next == 0 || (come && t >= next)) {
            known += send_save(told, fd);
            next = t + pause;
            pause *= 2;
        }
        if (!come && answers >= known)
            break;
        answers += wait_for_answer(fd, (come && next < end ? next : end) - t);
    }
    scratch_clear();
}

/* Finds the folder of the parts, for a process that is about to end. Rank 0 may be late. A host
 * that cannot see the folder gets one of its own from the first of its ranks. */
static void find_or_make(void)
{
    const State *s = state();
    if (s->finished || s->refused)
        return;
    bool hosts = local_ranks > 0 && local_ranks < s->world_size;
    int64_t until = came + (hosts ? COME_LIMIT / 2 : COME_LIMIT);
    for (int64_t pause = PAUSE; !parts_find() && now() < until; pause *= 2)
        pause_for(pause);
    if (parts_find() || !hosts || parts_make_own())
        return;
    for (int64_t end = now() + MAKE_LIMIT; !parts_find() && now() < end;)
        pause_for(PAUSE);
}

/* Saves the part, as far as is known for the last time. */
static bool save_last(const char *ended)
{
    find_or_make();
    return save(ended);
}

static void serve_request(void)
{
    if (atomic_load(&request) != REQUESTED)
        return;
    bool good = save_last(request_ended);
    if (request_all)
        tell_others();
    atomic_store(&request, good ? SAVED : NOT_SAVED);
    futex_wake(&request);
}

/* Saves a checkpoint, unless a merge is running: its end removes the files. */
static void checkpoint(void)
{
    atomic_store(&saving, 1);
    if (!atomic_load(&quiet) && atomic_load(&request) == IDLE)
        save(WEND_ENDED_UNKNOWN);
    atomic_store(&saving, 0);
    futex_wake(&saving);
}

static void take_datagrams(int fd)
{
    struct sockaddr_un from;
    socklen_t n;
    for (char what; (what = sock_take(fd, &from, &n)) != NOTHING;) {
        if (what == SAVE) {
            /* otherwise this rank ends, too, and its saved part says how */
            if (atomic_load(&request) == IDLE)
                save_last(WEND_ENDED_UNKNOWN);
            sock_answer(fd, &from, n);
        }
    }
}

/* Waits for a datagram, a request or the end of the attendant, at most NS nanoseconds. */
static void rest(int64_t ns)
{
    int fd = sock_get();
    uint32_t before = atomic_load(&wake);
    /* set before the wake could be noticed */
    if (atomic_load(&request) == REQUESTED || atomic_load(&closing))
        return;
    if (fd < 0) {
        futex_wait(&wake, before, ns);
        return;
    }
    struct pollfd p[] = {{fd, POLLIN, 0}, {attendant_file(), POLLIN, 0}};
    struct timespec t = futex_span(ns);
    syscall(SYS_ppoll, p, 2L, &t, NULL, 0L);
    take_datagrams(fd);
    if (p[1].revents == 0 || !attendant_has_ended())
        return;
    if (atomic_load(&request) == IDLE)
        save_last(WEND_ENDED_UNKNOWN);
    serve_request();
    attendant_follow();
}

static void close_files(int first, int last)
{
    struct rlimit files;
    if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
        return;
    getrlimit(RLIMIT_NOFILE, &files);
    for (int fd = first; fd <= last && (rlim_t)fd < files.rlim_cur; fd++)
        syscall(SYS_close, fd);
}

/* Gives the watcher a table of files of its own. Then its files take no numbers that the
 * application may be about to get, and the application's writes to a closed number do not reach
 * them. It can also open files if the application has used up its own. A container may forbid this.
 * The copies of the application's files are closed, because a pipe would otherwise not end. */
static void take_own_files(void)
{
    if (syscall(SYS_unshare, CLONE_FILES) != 0)
        return;
    int kept = kept_file_number(&sock), other = attendant_file();
    int low = kept < other ? kept : other, high = kept < other ? other : kept;
    close_files(0, low - 1);
    close_files(low + 1, high - 1);
    close_files(high + 1, INT_MAX);
}

static void show_name(void)
{
    syscall(SYS_prctl, PR_SET_NAME, atomic_load(&at_end) ? NODE_WATCHER_AT_END : NODE_WATCHER_NAME,
            0L, 0L, 0L);
}

static void *watch(void *unused)
{
    (void)unused;
    show_name();
    take_own_files();
    int64_t period = settings()->checkpoint * SECOND, due = now() + period;
    int64_t look = SECOND / 10, next_look = now();
    bool found = false;
    while (serve_request(), !atomic_load(&closing)) {
        int64_t t = now();
        if (atomic_load(&at_end))
            show_name();
        if (!found && t >= next_look) { /* rank 0 may be late */
            found = parts_find();
            next_look = t + look;
            look = look < 30 * SECOND ? 2 * look : look;
        }
        if (period > 0 && t >= due) {
            int64_t before = own_time();
            checkpoint();
            int64_t took = own_time() - before;
            due = now() + (took * LEAST_SHARE > period ? took * LEAST_SHARE : period);
        }
        t = now();
        int64_t until = period > 0 && !atomic_load(&quiet) ? due - t : 3600 * SECOND;
        if (!found && next_look - t < until)
            until = next_look - t;
        rest(until > 0 ? until : 0);
    }
    return NULL;
}

/* -- functions for the application's threads -- */

static bool start(void)
{
    pthread_attr_t attributes;
    bool good = false;
    if (pthread_attr_init(&attributes) == 0) {
        pthread_attr_setstacksize(&attributes, STACK_BYTES);
        good = pthread_create(&thread, &attributes, watch, NULL) == 0;
        pthread_attr_destroy(&attributes);
    }
    /* the application's thread-local data may need a larger stack */
    return good || pthread_create(&thread, NULL, watch, NULL) == 0;
}

/* Wakes the watcher. */
static void wake_watcher(void)
{
    int fd = kept_file_number(&sock);
    bool there = fd >= 0;
    atomic_fetch_add(&wake, 1);
    futex_wake(&wake);
    if (!atomic_load(&sock_bound))
        return;
    if (!there) /* the application has closed it */
        fd = (int)syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0)
        sock_send(fd, state()->world_rank, LOOK);
    if (fd >= 0 && !there)
        syscall(SYS_close, fd);
}

void watcher_open(void)
{
    State *s = state();
    sigset_t all, before;
    if (atomic_load(&opened))
        return;
    parts_open();
    if (s->world_rank == 0)
        parts_make();
    facts_collect();
    came = now();
    local_ranks =
        launcher_local_size() < s->world_size ? (int)launcher_local_size() : s->world_size;
    sock_make();
    syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0);
    if (sock_get() >= 0)
        attendant_leave_group();
    sigfillset(&all);
    /* signals of the application are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&closing, false);
    atomic_store(&opened, start());
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void watcher_quiet(void)
{
    atomic_store(&quiet, true);
    for (int64_t end = now() + SAVE_LIMIT, left; atomic_load(&saving) && (left = end - now()) > 0;)
        futex_wait(&saving, 1, left);
}

void watcher_at_end(void)
{
    atomic_store(&at_end, true);
    wake_watcher();
}

void watcher_close(void)
{
    struct timespec end;
    if (!atomic_exchange(&opened, false))
        return;
    atomic_store(&closing, true);
    wake_watcher();
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += SAVE_LIMIT / SECOND;
    if (pthread_timedjoin_np(thread, NULL, &end) != 0)
        pthread_detach(thread); /* a disk does not answer */
    attendant_join_group();
    kept_file_close(&sock);
}

void watcher_in_child(void)
{
    atomic_store(&opened, false);
    atomic_store(&state()->hold, 0); /* no thread would release it */
    attendant_in_child();
    kept_file_close(&sock);
}

static bool watched(void)
{
    const State *s = state();
    return atomic_load(&opened) && !s->finished && !s->refused && !state_inherited();
}

bool watcher_save(const char *ended, bool all)
{
    static _Atomic bool taken;
    if (!watched())
        return false;
    if (!atomic_exchange(&taken, true)) {
        size_t n = strlen(ended);
        memcpy(request_ended, ended, n < sizeof request_ended ? n : sizeof request_ended - 1);
        request_all = all;
        atomic_store(&request, REQUESTED);
        wake_watcher();
    }
    uint32_t is;
    for (int64_t end = now() + SAVE_LIMIT, left;
         (is = atomic_load(&request)) < SAVED && (left = end - now()) > 0;)
        futex_wait(&request, is, left);
    return is == SAVED;
}

const char *watcher_news(void)
{
    return parts_first() ? parts_directory_said() : NULL;
}
