/* SPDX-License-Identifier: BSD-3-Clause */
/* unlucky: ends well, in a state in which calls and writes of others would not. Each argument is a
 * state:
 *
 *   contexts   MPI has no communicator left to give
 *   handlers   an error handler for MPI_COMM_WORLD and MPI_COMM_SELF prints and ends the process
 *   copy       what a copy of MPI_COMM_WORLD does upon an error, the handler of which nobody has
 *              set
 *   infos      an Info object that is none is handed to MPI_Comm_spawn: the handler counts its runs
 *   codes      callbacks return, and handlers are called with, numbers that are no error codes
 *   calls      many calls, so that there is much to record
 *   group N    the process becomes group N's
 *   user N     the process becomes user N's
 *   ring       a small message goes from each rank to the next one, five times
 *   files      all files that it may open are open
 *   size N     no file may become larger than N bytes
 *   closed N   for N seconds, file 1 is closed: writes to it fail, and it is what open gives
 *   data FILE  file 2 is FILE, open before MPI is
 *   standard FILE  FILE gets what files 0 to 2 are, and which number a new file gets */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank, size, runs;

static void last_words(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    printf("rank %d: an error handler ran: %d\n", rank, *code);
    fflush(stdout);
    _exit(9);
}

static void count_run(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    runs++;
}

static void set_handlers(MPI_Comm_errhandler_function *function)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(function, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    MPI_Errhandler_free(&handler);
}

/* MPICH tells a handler that was set from the one that is there from the start, though they be the
 * same: then copies have the handler that MPI_COMM_WORLD gets later. */
static void fail_on_copy(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    printf("rank %d: %s\n", rank,
           MPI_Comm_split(comm, 0, 0, NULL) == MPI_SUCCESS ? "none" : "error");
    MPI_Comm_free(&comm);
}

static void use_contexts(void)
{
    MPI_Errhandler before;
    MPI_Comm comm;
    int n = 0;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS)
        n++;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
    printf("rank %d: %d communicators\n", rank, n);
}

static int refuse(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return 123456;
}

static int refuse_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out;
    *flag = 0;
    return -77;
}

static int free_nothing(void *extra)
{
    (void)extra;
    return 654321;
}

static int query_nothing(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return 7654321;
}

static int cancel_nothing(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void use_codes(void)
{
    MPI_Comm comm, copy = MPI_COMM_NULL;
    MPI_Request request;
    int key;
    set_handlers(count_run);
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_create_keyval(refuse_copy, refuse, &key, NULL);
    MPI_Comm_set_attr(comm, key, NULL);
    int failed = MPI_Comm_dup(comm, &copy) != MPI_SUCCESS;
    failed += MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS;
    for (int code = -5; code < 100000000; code = 7 * code + 54321)
        MPI_Comm_call_errhandler(MPI_COMM_SELF, code);
    MPI_Grequest_start(query_nothing, free_nothing, cancel_nothing, NULL, &request);
    MPI_Grequest_complete(request);
    failed += MPI_Wait(&request, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    printf("rank %d: %d failed, the handler ran %d times\n", rank, failed, runs);
}

static void use_infos(void)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Info info, copy;
    set_handlers(count_run);
    MPI_Info_create(&info);
    copy = info;
    MPI_Info_free(&info);
    int rc = MPI_Comm_spawn("./nosuch", MPI_ARGV_NULL, 1, copy, 0, MPI_COMM_SELF, &made,
                            MPI_ERRCODES_IGNORE);
    int failed = rc != MPI_SUCCESS;
    printf("rank %d: %d failed, the handler ran %d times\n", rank, failed, runs);
}

static void make_calls(void)
{
    for (int i = 0; i < 20000; i++) {
        int value = i, tag = (int)((unsigned)(rank + 1) * 2654435761u * (unsigned)(i + 7) >> 18);
        MPI_Sendrecv_replace(&value, 1, MPI_INT, rank, tag, rank, tag, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
}

static void send_around(void)
{
    for (int i = 0; i < 5; i++) {
        int in, next = (rank + 1) % size, before = (rank + size - 1) % size;
        MPI_Sendrecv(&i, 1, MPI_INT, next, 3, &in, 1, MPI_INT, before, 3, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
}

static void use_files(void)
{
    struct rlimit limit = {256, 256};
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    printf("rank %d: %s\n", rank, strerror(errno));
}

static void limit_size(long bytes)
{
    struct rlimit limit = {(rlim_t)bytes, (rlim_t)bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* How many threads of the process share the file's number with this one. */
static int threads_with(int fd)
{
    DIR *tasks = opendir("/proc/self/task");
    int n = 0;
    for (const struct dirent *task; (task = readdir(tasks));) {
        char path[300];
        struct stat info;
        snprintf(path, sizeof path, "/proc/self/task/%s/fd/%d", task->d_name, fd);
        n += lstat(path, &info) == 0;
    }
    closedir(tasks);
    return n;
}

/* For others to get in between: hardly ever is number 1 this function's own. */
static void close_output(double seconds)
{
    enum { WRITES = 1000 };
    int before = dup(1);
    long written = 0, taken = 0;
    close(1);
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
        for (int i = 0; i < WRITES; i++)
            written += write(1, "x", 1) == 1;
        int fd = open("/dev/null", O_RDONLY);
        taken += fd != 1;
        close(fd);
    }
    dup2(before, 1);
    close(before);
    printf("rank %d: %ld written, %ld taken, %d threads have it\n", rank, written, taken,
           threads_with(1));
}

static void note_standard_files(const char *file)
{
    struct stat info[3];
    int there[3], next = open("/dev/null", O_RDONLY);
    close(next);
    for (int fd = 0; fd < 3; fd++)
        there[fd] = fstat(fd, &info[fd]) == 0;
    FILE *out = fopen(file, "w");
    for (int fd = 0; fd < 3; fd++)
        fprintf(out, "%d: type %o\n", fd, there[fd] ? info[fd].st_mode & S_IFMT : 0);
    fprintf(out, "next: %d\n", next);
    fclose(out);
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], "data") == 0 && open(argv[i + 1], O_WRONLY | O_CREAT, 0666) != 2)
            return 77;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "0";
        if (strcmp(argv[i], "handlers") == 0)
            set_handlers(last_words);
        else if (strcmp(argv[i], "contexts") == 0)
            use_contexts();
        else if (strcmp(argv[i], "copy") == 0)
            fail_on_copy();
        else if (strcmp(argv[i], "codes") == 0)
            use_codes();
        else if (strcmp(argv[i], "infos") == 0)
            use_infos();
        else if (strcmp(argv[i], "calls") == 0)
            make_calls();
        else if (strcmp(argv[i], "user") == 0 && setuid((uid_t)atoi(next)) != 0)
            return 77;
        else if (strcmp(argv[i], "group") == 0 && setgid((gid_t)atoi(next)) != 0)
            return 77;
        else if (strcmp(argv[i], "ring") == 0)
            send_around();
        else if (strcmp(argv[i], "files") == 0)
            use_files();
        else if (strcmp(argv[i], "size") == 0)
            limit_size(atol(next));
        else if (strcmp(argv[i], "closed") == 0)
            close_output(atof(next));
        else if (strcmp(argv[i], "standard") == 0)
            note_standard_files(next);
        else if (strcmp(argv[i], "data") == 0 && write(2, "data\n", 5) != 5)
            return 77;
    }
    printf("rank %d of %d ends\n", rank, size);
    fflush(stdout);
    MPI_Finalize();
    return 3;
}
