/* trace.c: wend trace: stands before a program, sets what the tracer reads, and becomes the program. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "file-write.h"
#include "library.h"
#include "merge.h"
#include "program.h"
#include "src/tracer/launcher.h"
#include "src/tracer/settings.h"

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
static char *given_number[SETTINGS];  /* as text: the tracer's own reader judges it */
static char *given_family;            /* not the tracer's: it says which tracer */

static const GOptionEntry options[] = {
#define ENTRY_STRING G_OPTION_ARG_FILENAME, given_string
#define ENTRY_NUMBER G_OPTION_ARG_STRING, given_number
#define ENTRY_SIZE ENTRY_NUMBER
#define ENTRY_SWITCH G_OPTION_ARG_NONE, given_switch
#define ENTRY(name, letter, arg, data, index, doc, argument) {name, letter, 0, arg, &data[index], doc, argument},
#define ENTRY_OF(...) ENTRY(__VA_ARGS__)
#define X(field, variable, type, default_value, option, letter, argument, doc) \
    ENTRY_OF(option, letter, ENTRY_##type, SETTING_##field, doc " [" variable "]", argument)
    WEND_SETTINGS(X)
#undef X
    {"mpi", 0, 0, G_OPTION_ARG_STRING, &given_family, "family of MPI libraries that PROGRAM uses: mpich or openmpi (default: what it is linked with)", "NAME"},
    G_OPTION_ENTRY_NULL};

static void set_string(const char *variable, int setting, const char *otherwise)
{
    (void)otherwise;
    if (given_string[setting])
        g_setenv(variable, given_string[setting], TRUE);
}

static void set_number(const char *variable, int setting, long otherwise)
{
    (void)otherwise;
    if (given_number[setting])
        g_setenv(variable, given_number[setting], TRUE);
}

static void set_switch(const char *variable, int setting, gboolean otherwise)
{
    if (given_switch[setting])
        g_setenv(variable, otherwise ? "OFF" : "ON", TRUE);
}

static void set_variables(void)
{
    /* Absolute: the program, or a script around it, may change the directory before MPI starts. */
    if (given_string[SETTING_output]) {
        char *path = g_canonicalize_filename(given_string[SETTING_output], NULL);
        g_free(given_string[SETTING_output]);
        given_string[SETTING_output] = path;
    }
#define SET_STRING set_string
#define SET_NUMBER set_number
#define SET_SIZE set_number
#define SET_SWITCH set_switch
#define X(field, variable, type, default_value, ...) SET_##type(variable, SETTING_##field, default_value);
    WEND_SETTINGS(X)
#undef X
}

/* -- what is wrong is said by one process of a job -- */

static int fail(GError *error)
{
    int status = error->code;
    if (launcher_speaks())
        return wend_command_fail(COMMAND, error);
    g_error_free(error);
    return status;
}

/* -- the library -- */

/* First of those that are preloaded already, and once. */
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

/* -- the output, as far as it can be judged by each process alone: other ranks may be further, and have made the directory -- */

/* The first folder of PATH that is missing is made and removed again: file systems have more reasons to refuse than permissions. 0 or why not. */
static int try_making(const char *path)
{
    char *missing = g_strdup(path);
    for (;;) {
        char *parent = g_path_get_dirname(missing);
        gboolean there = g_file_test(parent, G_FILE_TEST_EXISTS);
        if (!there && strcmp(parent, missing) != 0) {
            g_free(missing);
            missing = parent;
            continue;
        }
        g_free(parent);
        break;
    }
    int why = mkdir(missing, 0777) == 0 || errno == EEXIST ? 0 : errno;
    if (why == 0)
        rmdir(missing); /* stays if another process has put something there by now */
    g_free(missing);
    return why;
}

static gboolean check_output(GError **error)
{
    const char *output = settings()->output;
    if (!output)
        return TRUE; /* a new name, by the tracer */
    struct stat info;
    if (stat(output, &info) != 0) {
        int why = errno == ENOENT && launcher_speaks() ? try_making(output) : errno == ENOENT ? 0 : errno;
        if (why != 0)
            g_set_error(error, WEND_ERROR, wend_error_of_output(why), "%s: %s", output,
                        g_strerror(why));
        return why == 0;
    }
    if (!S_ISDIR(info.st_mode)) {
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: exists and is not a directory", output);
        return FALSE;
    }
    char *archive = g_build_filename(output, "trace.tar.zst", NULL);
    gboolean there = g_file_test(archive, G_FILE_TEST_EXISTS);
    g_free(archive);
    if (there && !settings()->force) {
        g_set_error(error, WEND_ERROR, WEND_ERROR_INPUT, "%s: has a recording; give another name or --force", output);
        return FALSE;
    }
    return TRUE;
}

int wend_trace_main(int argc, char **argv)
{
    GError *error = NULL;
    int status;
    if (!wend_command_options_before(
            COMMAND, "PROGRAM [ARGUMENT…]", "Runs PROGRAM and records its MPI calls: mpirun -n 8 wend trace -o DIR ./app",
            "Each option sets an environment variable, given in brackets, which can be set instead. One recording holds all ranks; rank 0 writes\n"
            "it at MPI_Finalize. Without wend: LD_PRELOAD=libwend.so, or link with -lwend.\n\n"
            "Exit status: PROGRAM's. If it is not run: 2 wrong usage; 3 the output exists, or PROGRAM cannot be traced; 4 there is\n"
            "no such program, it is not executable (a shell says 127 and 126), or the output cannot be written.",
            options, &argc, &argv, &status))
        return status;
    char **program = argv + 1;
    if (*program && strcmp(*program, "--") == 0)
        program++;
    if (!*program)
        return wend_command_usage(COMMAND, "no program given");
    set_variables();
    if (settings_problem())
        return wend_command_usage(COMMAND, "%s", settings_problem());

    char *file = program_find(*program, &error);
    if (!file)
        return fail(error);
    const char *obstacle = program_obstacle(file);
    if (obstacle) {
        g_set_error(&error, WEND_ERROR, WEND_ERROR_INPUT, "%s %s: it cannot be traced", file, obstacle);
        return fail(error);
    }
    char *library = check_output(&error) ? library_for(file, given_family, &error) : NULL;
    if (!library)
        return fail(error);
    preload(library);
    /* The process whose end the tracer comments on, if nothing was recorded; and since when recordings are its own. */
    struct rusage children = {0};
    struct timespec now;
    getrusage(RUSAGE_CHILDREN, &children); /* of a shell that exec'ed wend */
    clock_gettime(CLOCK_REALTIME_COARSE, &now); /* files have their times from this clock */
    char *top = g_strdup_printf("%ld:%ld:%lld", (long)getpid(), children.ru_minflt + children.ru_majflt, now.tv_sec * 1000000000LL + now.tv_nsec);
    g_setenv("WEND_TOP", top, TRUE);
    execvp(*program, program);
    g_set_error(&error, WEND_ERROR, WEND_ERROR_SYSTEM, "%s: %s", file, g_strerror(errno));
    return fail(error);
}
