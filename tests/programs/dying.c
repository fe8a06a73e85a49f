/* SPDX-License-Identifier: BSD-3-Clause */
/* dying: a ring of messages, and then one rank ends without MPI_Finalize, in the way that the first
 * argument says; the others wait for it in a barrier. For ever: all go on until somebody ends them,
 * and the file progress-RANK says when how many calls had been made. In some ways nobody dies but a
 * child, or all come to MPI_Finalize. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void ring(int times)
{
    for (int i = 0; i < times; i++) {
        int out = i, in;
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, 7, &in, 1, MPI_INT,
                     (rank + size - 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void own_handler(int number)
{
    (void)number;
    static const char text[] = "caught\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
        _exit(9);
    _exit(8);
}

static volatile int *volatile nowhere;
static volatile int depth;
static int overflow(int n)
{
    volatile char room[4096];
    room[n % 4096] = (char)n;
    depth = n;
    if (depth < 0)
        return 0;
    return overflow(n + 1) + room[n % 4096];
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* sigset */
/* What a program sees of the dispositions: nothing of Wend's. */
static void default_comes_back(void)
{
    sighandler_t (*const functions[])(int, sighandler_t) = {signal, sysv_signal, __sysv_signal,
                                                            sigset};
    struct sigaction before;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (functions[i](SIGTERM, own_handler) != SIG_DFL
            || functions[i](SIGTERM, SIG_DFL) != own_handler
            || sigaction(SIGTERM, NULL, &before) != 0 || before.sa_handler != SIG_DFL)
            printf("%zu: not the default\n", i), fflush(stdout);
}

/* Children that end by _exit, in memory that is still the parent's and in a copy that nobody was
 * told of. */
static void have_children(void)
{
    int status = 0;
    pid_t child = vfork();
    if (child == 0) {
        execl("/nonexistent", "nonexistent", (char *)NULL);
        _exit(127);
    }
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 127)
        printf("vfork: status %d\n", status);
    for (int by_signal = 0; by_signal < 2; by_signal++) {
        if ((child = _Fork()) == 0) {
            if (by_signal)
                raise(SIGTERM);
            exit(3);
        }
        if (waitpid(child, &status, 0) != child
            || (by_signal ? WTERMSIG(status) != SIGTERM : WEXITSTATUS(status) != 3))
            printf("_Fork: status %d\n", status);
    }
    fflush(stdout);
}

/* Two threads wait for what never comes, the second for more than the first. */
static void *wait_for_ever(void *tag)
{
    int in[2];
    MPI_Recv(in, *(int *)tag, MPI_INT, 0, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void end_with_threads(void)
{
    static int tags[] = {1, 2};
    pthread_t thread;
    for (int i = 0; i < 2; i++) {
        pthread_create(&thread, NULL, wait_for_ever, &tags[i]);
        usleep(100000);
    }
    raise(SIGTERM);
}

static void deadly_sum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int mine;
    (void)in, (void)inout, (void)n, (void)type;
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    MPI_Probe(mine, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* within it comes the alarm */
}

static void end_in_callback(void)
{
    MPI_Op op;
    int one = 1, sum;
    MPI_Op_create(deadly_sum, 1, &op);
    alarm(1);
    MPI_Reduce_local(&one, &sum, 1, MPI_INT, op);
}

/* The disk that a.dir is on is full from now on. */
static void fill(void)
{
    static char zeros[1 << 16];
    int fd = open("a.dir/full", O_WRONLY | O_CREAT, 0666);
    size_t n = sizeof zeros;
    while (n > 0)
        if (write(fd, zeros, n) <= 0)
            n /= 2;
    close(fd);
}

static const char *successor = "true"; /* that "exec" becomes */

static void end(const char *how)
{
    usleep(300000); /* the others get to where they wait */
    if (strcmp(how, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    else if (strcmp(how, "SIGKILL") == 0)
        raise(SIGKILL);
    else if (strcmp(how, "SIGSEGV") == 0)
        *nowhere = 1;
    else if (strcmp(how, "SIGFPE") == 0)
        raise(SIGFPE);
    else if (strcmp(how, "SIGABRT") == 0)
        abort();
    else if (strcmp(how, "SIGTERM") == 0)
        raise(SIGTERM);
    else if (strcmp(how, "overflow") == 0)
        overflow(0);
    else if (strcmp(how, "exit") == 0)
        exit(5);
    else if (strcmp(how, "_exit") == 0)
        _exit(6);
    else if (strcmp(how, "fatal") == 0)
        MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
    else if (strcmp(how, "block") == 0) { /* no archive can have that name */
        if (mkdir("a.dir/trace.tar.zst", 0777) != 0 || mkdir("a.dir/trace.tar.zst/full", 0777) != 0)
            exit(7);
    } else if (strcmp(how, "default") == 0) {
        default_comes_back();
        raise(SIGTERM);
    } else if (strcmp(how, "exec") == 0) {
        execl("/nonexistent", "nonexistent", (char *)NULL);
        execl("/", "folder", (char *)NULL);
        execlp("nonexistent", "nonexistent", (char *)NULL);
        execlp(successor, successor, (char *)NULL);
    } else if (strcmp(how, "children") == 0) {
        have_children();
    } else if (strcmp(how, "threads") == 0) {
        end_with_threads();
    } else if (strcmp(how, "callback") == 0) {
        end_in_callback();
    } else if (strcmp(how, "full") == 0) {
        fill();
    } else if (strcmp(how, "full and SIGTERM") == 0) {
        fill();
        raise(SIGTERM);
    } else if (strcmp(how, "handler") == 0) {
        signal(SIGTERM, own_handler);
        raise(SIGTERM);
    }
}

static void go_on(void)
{
    char name[32];
    snprintf(name, sizeof name, "progress-%d", rank);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    for (long calls = 3;;) {
        struct timespec now;
        ring(100);
        MPI_Barrier(MPI_COMM_WORLD);
        calls += 101;
        clock_gettime(CLOCK_REALTIME, &now);
        dprintf(fd, "%ld.%09ld %ld\n", (long)now.tv_sec, now.tv_nsec, calls);
        usleep(5000);
    }
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv,
                    argc > 1 && strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE
                                                                : MPI_THREAD_SINGLE,
                    &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "ever") == 0) {
        printf("rank %d is %ld\n", rank, (long)getpid());
        fflush(stdout);
        go_on();
    }
    ring(50);
    if (argc > 2)
        sleep((unsigned)atoi(argv[2]));
    if (argc > 3)
        successor = argv[3];
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "SIGKILL all") == 0)
        raise(SIGKILL);
    if (rank == 1)
        end(how);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (strcmp(how, "last thread") == 0)
        pthread_exit(NULL); /* then the program ends with its last thread */
    return 0;
}
