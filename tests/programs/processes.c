/* SPDX-License-Identifier: BSD-3-Clause */
/* processes: programs that become others, and that start others. Whatever it is, the MPI calls are
 * the same: a ring of messages, half of them before and half after.
 *
 *   processes [none]       the ring alone
 *   processes exec-first   becomes itself before MPI_Init, and has forked before that
 *   processes exec-last    becomes echo after MPI_Finalize
 *   processes children     starts all kinds of children between the halves */
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void ring(int times)
{
    int rank, size, out = 0, in;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < times; i++) {
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT,
                     (rank + size - 1) % size, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        out = in + 1;
    }
}

static void wait_for(const char *what, pid_t child, int expected)
{
    int status = -1;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)
        || WEXITSTATUS(status) != expected)
        printf("%s: status %d\n", what, status);
}

/* A child that goes on for a while, with memory and files of its own, and ends as a program
 * does. */
static void work_on(int status)
{
    FILE *f = tmpfile();
    for (int i = 1; i < 1000; i++) {
        char *p = malloc((size_t)i);
        memset(p, 0, (size_t)i);
        if (f)
            fwrite(p, 1, (size_t)i, f);
        free(p);
    }
    usleep(100000);
    exit(status);
}

static void have_children(void)
{
    char *const arguments[] = {"sh", "-c", "exit 4", NULL};
    char line[64] = "";
    pid_t child;
    fflush(stdout);
    if ((child = fork()) == 0)
        work_on(2);
    wait_for("fork", child, 2);
    if ((child = fork()) == 0)
        _exit(3);
    wait_for("fork and _exit", child, 3);
    if ((child = fork()) == 0) {
        execvp("sh", arguments);
        _exit(127);
    }
    wait_for("fork and exec", child, 4);
    if ((child = vfork()) == 0) {
        execvp("sh", arguments);
        _exit(127);
    }
    wait_for("vfork and exec", child, 4);
    if (posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) == 0)
        wait_for("posix_spawn", child, 4);
    if ((child = fork()) == 0) { /* a daemon: goes on when the program is gone */
        if (fork() == 0) {
            for (int fd = 0; fd < 3; fd++)
                close(fd);
            setsid();
            sleep(2);
            exit(5);
        }
        _exit(6);
    }
    wait_for("daemon", child, 6);
    if (WEXITSTATUS(system("exit 7")) != 7)
        printf("system\n");
    FILE *f = popen("echo from a pipe", "r");
    if (!f || !fgets(line, sizeof line, f) || strcmp(line, "from a pipe\n") != 0 || pclose(f) != 0)
        printf("popen: %s\n", line);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "none";
    int rank;
    if (strcmp(what, "exec-first") == 0) {
        pid_t child = fork();
        if (child == 0)
            exit(0);
        wait_for("fork before MPI", child, 0);
        execl("/proc/self/exe", argv[0], (char *)NULL);
        return 1;
    }
    MPI_Init(&argc, &argv);
    ring(20);
    if (strcmp(what, "children") == 0)
        have_children();
    ring(20);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Finalize();
    if (rank == 0) {
        printf("done\n");
        fflush(stdout);
    }
    if (strcmp(what, "exec-last") == 0)
        execlp("true", "true", (char *)NULL);
    return 0;
}
