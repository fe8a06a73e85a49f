/* SPDX-License-Identifier: BSD-3-Clause */
/* helpers-files.c: files in a directory of the run, and the names of ports, which go through it. */
#include <dirent.h> /* opendir */
#include <errno.h>  /* errno */
#include <fcntl.h>  /* open */

#include "src/proxygen/runtime/runtime.h"

/* Files: all of them are in a directory of this run, removed at the end. $WEND_PROXY_DIR says where
 * it is made. */
char scratch_dir[4096];

char *scratch_file(int number)
{
    static _Thread_local char name[sizeof scratch_dir + 64];
    snprintf(name, sizeof name, "%s/%s", scratch_dir, scratch_files[number].name);
    return name;
}

/* Makes a file, of so many bytes at least, which are all zero. */
static void scratch_make(int number, long long bytes)
{
    int file = open(scratch_file(number), O_WRONLY | O_CREAT, 0666);
    if (file < 0 || (lseek(file, 0, SEEK_END) < bytes && ftruncate(file, bytes) != 0)) {
        fprintf(stderr, "proxy: cannot make %s of %lld bytes: %s\n", scratch_file(number), bytes,
                strerror(errno));
        PMPI_Abort(MPI_COMM_WORLD, 4);
    }
    close(file);
}

/* The next call found so many bytes under that name (-1: no file), and no MPI call had left it so:
 * something else had made or removed the file. */
void scratch_found(MPI_Comm which, int number, long long bytes)
{
    int self = 0;
    PMPI_Comm_rank(which, &self);
    if (self == 0 && bytes == -1)
        unlink(scratch_file(number));
    if (self == 0 && bytes >= 0)
        scratch_make(number, bytes);
    PMPI_Barrier(which);
}

void scratch_begin(MPI_Comm all)
{
    if (rank == 0) {
        const char *dir = getenv("WEND_PROXY_DIR"), *tmp = getenv("TMPDIR");
        snprintf(scratch_dir, sizeof scratch_dir - 64, "%s/wend-proxy-XXXXXX",
                 dir   ? dir
                 : tmp ? tmp
                       : "/tmp");
        if (!mkdtemp(scratch_dir)) {
            fprintf(stderr, "proxy: cannot make a scratch directory %s: %s\n", scratch_dir,
                    strerror(errno));
            scratch_dir[0] = '\0';
        }
    }
    PMPI_Bcast(scratch_dir, sizeof scratch_dir, MPI_CHAR, 0, all);
    if (!*scratch_dir) { /* not MPI_Abort: launchers may lose what was said just before */
        int started;
        if (PMPI_Initialized(&started) == MPI_SUCCESS && started)
            PMPI_Finalize();
        exit(4);
    }
}

/* Makes the files that were there before the application ran. */
void scratch_fill(MPI_Comm all)
{
    for (int i = 0; rank == 0 && i < SCRATCH_FILES; i++)
        if (scratch_files[i].bytes >= 0)
            scratch_make(i, scratch_files[i].bytes);
    PMPI_Barrier(all);
}

/* After all ranks have done their calls. */
void scratch_end(void)
{
    DIR *dir = opendir(scratch_dir);
    char name[sizeof scratch_dir + 258];
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        snprintf(name, sizeof name, "%s/%s", scratch_dir, entry->d_name);
        unlink(name);
    }
    closedir(dir);
    rmdir(scratch_dir);
}

/* A file that is none. Some libraries give MPI_FILE_NULL for a number that is no file's; there it
 * is memory in which the library does not find a file. */
MPI_File no_file(void)
{
    static _Alignas(64) char nothing[4096];
    MPI_File file = PMPI_File_f2c(-1);
    return file == MPI_FILE_NULL ? (MPI_File)(void *)nothing : file;
}

/* -- ports -- */

char port[PORT_NAMES][MPI_MAX_PORT_NAME + 1];

/* In the scratch directory for the processes of this job; in $WEND_PROXY_DIR for those of other
 * jobs, if it says so. */
static void port_path(char *path, size_t room, int number, int of_others)
{
    const char *dir = getenv("WEND_PROXY_DIR");
    *path = '\0';
    if (!of_others)
        snprintf(path, room, "%s/port-%d", scratch_dir, number);
    else if (dir)
        snprintf(path, room, "%s/wend-port-%s", dir, known_ports[number].key);
}

static char port_told[PORT_NAMES]; /* to other jobs */

static void ports_forget(void)
{
    char path[sizeof scratch_dir + 64];
    for (int i = 0; i < PORT_NAMES; i++)
        if (port_told[i]) {
            port_path(path, sizeof path, i, 1);
            unlink(path);
        }
}

/* Who got a port writes its name where the others find it; who opened it, where other jobs do. */
void port_tell(int number, int opened)
{
    for (int of_others = 0; of_others <= opened; of_others++) {
        char whole[sizeof scratch_dir + 64], path[sizeof whole + 32];
        port_path(whole, sizeof whole, number, of_others);
        snprintf(path, sizeof path, "%s.%ld", whole, (long)getpid());
        FILE *out = *whole ? fopen(path, "w") : NULL;
        if (!out)
            continue;
        fputs(port[number], out);
        fclose(out);
        rename(path, whole);
        if (of_others && !port_told[number]) {
            port_told[number] = 1;
            atexit(ports_forget);
        }
    }
}

char *port_wait(int number)
{
    char path[sizeof scratch_dir + 64];
    port_path(path, sizeof path, number, !known_ports[number].here);
    if (!*path) {
        fputs("proxy: another job opened the port that this one connects to: run the proxies of "
              "both with one WEND_PROXY_DIR\n",
              stderr);
        PMPI_Abort(MPI_COMM_WORLD, 4);
    }
    for (;;) {
        FILE *in = fopen(path, "r");
        if (in) {
            char *line = fgets(port[number], sizeof port[number], in);
            fclose(in);
            if (line)
                return line;
        }
        usleep(1000);
    }
}
