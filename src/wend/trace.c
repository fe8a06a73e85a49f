/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c: wend trace: sets the variables of the tracer, and executes the program. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "executable.h"
#include "lib/base/file-write.h"
#include "lib/merge/merge.h"
#include "library.h"
#include "src/command/command.h"
#include "src/tracer/output/output.h"
#include "src/tracer/shared/shared.h"

#define COMMAND "trace"

/* -- options: one for each setting -- */

enum {
#define X(field, ...) SETTING_##field,
    WEND_SETTINGS(X)
#undef X
        SETTINGS
};

static char *given_string[SETTINGS];
static gboolean given_switch[SETTINGS];
static char *given_number[SETTINGS]; /* as text: the tracer's own code parses it */
static char *given_family;           /* no setting of the tracer: it selects the tracer */

static const GOptionEntry options[] = {
#define ENTRY_STRING G_OPTION_ARG_FILENAME, given_string
#define ENTRY_NUMBER G_OPTION_ARG_STRING, given_number
#define ENTRY_PERCENT ENTRY_NUMBER
#define ENTRY_SIZE ENTRY_NUMBER
#define ENTRY_SWITCH G_OPTION_ARG_NONE, given_switch
#define ENTRY(name, letter, arg, data, index, doc, argument) \
    {name, letter, 0, arg, &data[index], doc, argument},
#define ENTRY_OF(...) ENTRY(__VA_ARGS__)
#define X(field, variable, type, default_value, option, letter, argument, doc) \
    ENTRY_OF(option, letter, ENTRY_##type, SETTING_##field, doc " [" variable "]", argument)
    WEND_SETTINGS(X)
#undef X
        {"mpi", 0, 0, G_OPTION_ARG_STRING, &given_family,
         "family of the MPI library: mpich or openmpi (default: that of PROGRAM's library)",
         "NAME"},
    G_OPTION_ENTRY_NULL};

/* an option with the value "", which means "not given" in a variable */
static const char *empty_option;

static void set_text(const char *variable, const char *option, const char *given)
{
    if (given && *given)
        g_setenv(variable, given, TRUE);
    else if (given)
        empty_option = option;
}

static void set_string(const char *variable, const char *option, int setting, const char *otherwise)
{
    (void)otherwise;
    set_text(variable, option, given_string[setting]);
}

static void set_number(const char *variable, const char *option, int setting, long otherwise)
{
    (void)otherwise;
    set_text(variable, option, given_number[setting]);
}

static void set_switch(const char *variable, const char *option, int setting, gboolean otherwise)
{
    (void)option;
    if (given_switch[setting])
        g_setenv(variable, otherwise ? "OFF" : "ON", TRUE);
}

static void set_variables(void)
{
    /* The path must be absolute, because the program or a script may change the directory before
     * MPI starts. */
    if (given_string[SETTING_output] && *given_string[SETTING_output]) {
        char *path = g_canonicalize_filename(given_string[SETTING_output], NULL);
        g_free(given_string[SETTING_output]);
        given_string[SETTING_output] = path;
    }
#define SET_STRING set_string
#define SET_NUMBER set_number
#define SET_PERCENT set_number
#define SET_SIZE set_number
#define SET_SWITCH set_switch
#define X(field, variable, type, default_value, option, ...) \
    SET_##type(variable, option, SETTING_##field, default_value);
    WEND_SETTINGS(X)
#undef X
}

/* -- errors: one process of a job prints them -- */

/* Whether a launcher has started this process directly. If the parent has a rank, too, it may go on
 * after this process. */
static gboolean is_of_launcher(const char *variable)
{
    g_autofree char *path = g_strdup_printf("/proc/%ld/environ", (long)getppid());
    g_autofree char *environment = NULL;
    g_autofree char *wanted = g_strdup_printf("%s=", variable);
    gsize n;
    if (!g_file_get_contents(path, &environment, &n, NULL))
        return TRUE; /* the parent belongs to another user */
    for (const char *p = environment; p < environment + n; p += strlen(p) + 1)
        if (g_str_has_prefix(p, wanted))
            return FALSE;
    return TRUE;
}

/* The launcher's socket, if the launcher must be told to end the job; else -1. */
static int launcher_socket(void)
{
    const char *given = g_getenv("PMI_FD");
    guint64 fd;
    struct stat info;
    gboolean there = given && g_ascii_string_to_unsigned(given, 10, 0, G_MAXINT, &fd, NULL)
                     && fstat((int)fd, &info) == 0 && S_ISSOCK(info.st_mode);
    return there && is_of_launcher("PMI_RANK") ? (int)fd : -1;
}

/* Reports an error, in place of running the program. Other processes of the job may run the program
 * (without wend, or with other options), and would wait for this one in MPI_Init, because some
 * launchers accept a process that ends before it. So this process tells its launcher by PMI to end
 * the job, after a delay in which its message is read. If all processes fail, the first prints the
 * reason and ends the job. A process that still exists after a while has failed alone, and prints
 * its reason itself. */
static int fail(GError *error)
{
    int status = error->code, launcher = launcher_socket();
    gboolean speaks = launcher_speaks();
    signal(SIGPIPE, SIG_IGN); /* the exit status is enough if nobody reads the line */
    /* Open MPI's launcher ends a job as soon as one process fails. */
    if (!speaks && (launcher >= 0 || g_getenv("OMPI_COMM_WORLD_SIZE"))) {
        g_usleep(2 * G_USEC_PER_SEC);
        speaks = TRUE;
    }
    if (speaks)
        wend_command_fail(COMMAND, error);
    else
        g_error_free(error);
    if (launcher >= 0) {
        g_autofree char *abort = g_strdup_printf("cmd=abort exitcode=%d\n", status);
        g_usleep(G_USEC_PER_SEC / 10);
        if (write(launcher, abort, strlen(abort)) < 0)
            return status; /* the launcher has ended */
    }
    return status;
}

/* Reports a usage error. Takes MESSAGE. */
static int fail_usage(char *message)
{
    GError *error =
        g_error_new(WEND_ERROR, WEND_ERROR_USAGE, "%s (see wend trace --help)", message);
    g_free(message);
    return fail(error);
}

/* -- the library -- */

/* Puts LIBRARY before all libraries that are preloaded already, once. */
static void preload(const char *library)
{
    const char *before = g_getenv("LD_PRELOAD");
    GString *all = g_string_new(library);
    char **others = g_strsplit_set(before ? before : "", ": ", -1);
    for (char **other = others; *other; other++)
        if (**other && strcmp(*other, library) != 0)
            g_string_append_printf(all, ":%s", *other);
    g_setenv("LD_PRELOAD", all->str, TRUE);
    g_strfreev(others);
    g_string_free(all, TRUE);
}

/* -- the output -- */

/* Whether all processes of the job come to the same decision. Processes that wait for each other in
 * MPI_Init must all run the program, or none. On one host each process decides by the state before
 * the first of them was started. Several hosts may see different folders, and the parent of a
 * process that MPI_Comm_spawn starts waits for it. In these cases the program runs, and rank 0 of
 * the recorder prints that it is not recorded. */
static gboolean all_see_the_same(void)
{
    long size = launcher_size();
    return size <= launcher_local_size() && !g_getenv("PMI_SPAWNED") && !g_getenv("WEND_WORLD");
}

/* The first missing folder of PATH. *PARENT becomes the folder that it would be in. */
static char *first_missing(const char *path, char **parent)
{
    char *missing = g_strdup(path);
    for (;;) {
        *parent = g_path_get_dirname(missing);
        if (g_file_test(*parent, G_FILE_TEST_EXISTS) || strcmp(*parent, missing) == 0)
            return missing;
        g_free(missing);
        missing = *parent;
    }
}

/* Tests whether a folder can be made at PATH, where there is none. Returns 0 or an errno. File
 * systems refuse for other reasons than permissions, so a process without a launcher makes the
 * first missing folder, and removes it. Processes of a job would see each other's folders. */
static int try_making(const char *path)
{
    g_autofree char *parent = NULL, *missing = first_missing(path, &parent);
    if (faccessat(AT_FDCWD, parent, W_OK | X_OK, AT_EACCESS) != 0)
        return errno;
    if (launcher_rank_variable())
        return 0;
    if (mkdir(missing, 0777) == 0)
        rmdir(missing); /* fails if another process has used it by now */
    else if (errno != EEXIST)
        return errno;
    return 0;
}

static gboolean refuse(GError **error, int code, const char *path, const char *why)
{
    g_set_error(error, WEND_ERROR, code, "%s: %s", path, why);
    return FALSE;
}

/* Refuses a folder with other files than those of a recording. */
static gboolean check_contents(const char *path, GError **error)
{
    int why;
    char *foreign = marker_foreign(path, &why);
    if (foreign)
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: " MARKER_REFUSAL, path, foreign);
    else if (why)
        refuse(error, wend_error_of_output(why), path, g_strerror(why));
    gboolean good = !foreign && !why;
    free(foreign);
    return good;
}

static gboolean check_place(const char *path, GError **error)
{
    struct stat info;
    if (lstat(path, &info) != 0) {
        int why = errno == ENOENT ? try_making(path) : errno;
        return why == 0 || refuse(error, wend_error_of_output(why), path, g_strerror(why));
    }
    if (stat(path, &info) != 0 && errno != ENOENT)
        return refuse(error, wend_error_of_output(errno), path, g_strerror(errno));
    if (!S_ISDIR(info.st_mode)) /* or is a dangling symbolic link */
        return refuse(error, WEND_ERROR_INPUT, path, "exists and is not a directory");
    g_autofree char *archive = g_build_filename(path, "trace.tar.zst", NULL);
    if (g_file_test(archive, G_FILE_TEST_EXISTS) && !settings()->force)
        return refuse(error, WEND_ERROR_INPUT, path,
                      "has a recording: give another name, or --force to replace it");
    if (!check_contents(path, error))
        return FALSE;
    if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0)
        return refuse(error, wend_error_of_output(errno), path, g_strerror(errno));
    return TRUE;
}

/* Without --output the recorder makes a new name in the current folder. */
static gboolean check_output(GError **error)
{
    if (!all_see_the_same())
        return TRUE;
    if (settings()->output)
        return check_place(settings()->output, error);
    g_autofree char *here = g_get_current_dir();
    g_autofree char *name = g_build_filename(here, OUTPUT_PREFIX "new", NULL);
    return check_place(name, error);
}

int wend_trace_main(int argc, char **argv)
{
    GError *error = NULL;
    int status;
    if (!wend_command_options_before(
            COMMAND, "PROGRAM [ARGUMENT…]",
            "Runs PROGRAM and records its MPI calls: mpirun -n 8 wend trace -o DIR ./app",
            "Each option sets the environment variable in brackets. One recording holds all "
            "ranks; rank 0 writes it in\n"
            "MPI_Finalize. Without wend trace, set LD_PRELOAD=libwend.so or link with -lwend, and "
            "set the variables.\n\n"
            "Exit status: that of PROGRAM. If PROGRAM is not run: 2 wrong usage; 3 the output "
            "exists, or PROGRAM cannot\n"
            "be traced; 4 there is no such program, it cannot be executed, or the output cannot "
            "be written.",
            options, &argc, &argv, &status))
        return status;
    char **program = argv + 1;
    if (*program && strcmp(*program, "--") == 0)
        program++;
    if (!*program)
        return wend_command_usage(COMMAND, "no program given");
    set_variables();
    if (empty_option)
        return fail_usage(g_strdup_printf("--%s: its argument is empty", empty_option));
    if (settings_problem())
        return fail_usage(g_strdup(settings_problem()));

    char *file = executable_find(*program, &error);
    if (!file)
        return fail(error);
    const char *obstacle = executable_obstacle(file);
    if (obstacle) {
        g_set_error(&error, WEND_ERROR, WEND_ERROR_INPUT, "%s %s: it cannot be traced", file,
                    obstacle);
        return fail(error);
    }
    char *library = check_output(&error) ? library_for(file, given_family, &error) : NULL;
    if (!library)
        return fail(error);
    preload(library);
    /* WEND_TOP: the process at whose end the tracer prints that nothing was recorded, and the time
     * from which on recordings are its own. */
    struct rusage children = {0};
    struct timespec now;
    getrusage(RUSAGE_CHILDREN, &children);      /* children of a shell that executed wend */
    clock_gettime(CLOCK_REALTIME_COARSE, &now); /* the clock of file times */
    char *top =
        g_strdup_printf("%ld:%ld:%lld", (long)getpid(), children.ru_minflt + children.ru_majflt,
                        now.tv_sec * 1000000000LL + now.tv_nsec);
    g_setenv("WEND_TOP", top, TRUE);
    execvp(*program, program);
    g_set_error(&error, WEND_ERROR, WEND_ERROR_SYSTEM, "%s: %s", file, g_strerror(errno));
    return fail(error);
}
