/* SPDX-License-Identifier: BSD-3-Clause */
/* setting-options.c: see wend.h. */
#include "wend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/file-write.h"
#include "src/tracer/output/output.h"
#include "src/tracer/process/settings.h"
#include "src/tracer/process/launcher.h"

enum {
#define X(field, ...) SETTING_##field,
    WEND_SETTINGS(X) REPLAY_SETTINGS(X)
#undef X
        SETTINGS
};

static char *given_string[SETTINGS];
static gboolean given_switch[SETTINGS];
static char *given_number[SETTINGS]; /* as text: the tracer's own code parses it */

/* --noise without a seed. GLib would take the word that follows for an optional value. */
static gboolean take_noise(const char *name, const char *value, gpointer data, GError **error)
{
    (void)name, (void)value, (void)data, (void)error;
    g_free(given_number[SETTING_noise]);
    given_number[SETTING_noise] = g_strdup_printf("%u", 1 + g_random_int() / 2);
    return TRUE;
}

/* --stacks without a depth, likewise. */
static gboolean take_stacks(const char *name, const char *value, gpointer data, GError **error)
{
    (void)name, (void)value, (void)data, (void)error;
    g_free(given_number[SETTING_stacks]);
    given_number[SETTING_stacks] = g_strdup("64");
    return TRUE;
}

#define WITHOUT_VALUE(name, take)                                                    \
    {                                                                                \
        name, 0, G_OPTION_FLAG_NO_ARG | G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_CALLBACK, \
            (gpointer)take, NULL, NULL                                               \
    }
static const GOptionEntry without_value[] = {WITHOUT_VALUE("noise", take_noise),
                                             WITHOUT_VALUE("stacks", take_stacks)};

#define ENTRY_STRING(i) G_OPTION_ARG_FILENAME, &given_string[i]
#define ENTRY_NUMBER(i) G_OPTION_ARG_STRING, &given_number[i]
#define ENTRY_PERCENT ENTRY_NUMBER
#define ENTRY_SIZE ENTRY_NUMBER
#define ENTRY_SWITCH(i) G_OPTION_ARG_NONE, &given_switch[i]
#define X(field, variable, type, default_value, option, letter, argument, doc) \
    {option, letter, 0, ENTRY_##type(SETTING_##field), doc " [" variable "]", argument},
static const GOptionEntry of_recording[] = {WEND_SETTINGS(X)}, of_replay[] = {REPLAY_SETTINGS(X)};
#undef X

GOptionEntry *setting_options(SettingOptions which, const GOptionEntry *more)
{
    const guint first = G_N_ELEMENTS(without_value);
    const guint replay = which == SETTING_OPTIONS_REPLAY ? G_N_ELEMENTS(of_replay) : 0;
    guint n = 0;
    while (more[n].long_name)
        n++;
    GOptionEntry *all = g_new0(GOptionEntry, first + replay + G_N_ELEMENTS(of_recording) + n + 1);
    GOptionEntry *recording = all + first + replay;
    memcpy(all, without_value, sizeof without_value); /* these come before those with a value */
    memcpy(all + first, of_replay, replay * sizeof *all);
    memcpy(recording, of_recording, sizeof of_recording);
    memcpy(recording + G_N_ELEMENTS(of_recording), more, n * sizeof *all);
    return all;
}

gboolean setting_options_has_output(void)
{
    return given_string[SETTING_output] != NULL;
}

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

/* PROBLEM begins with VARIABLE=. If OPTION was given, the user wrote that: the message says so. */
static void name_option(char **problem, const char *variable, const char *option, gboolean given)
{
    const size_t length = strlen(variable);
    if (given && strncmp(*problem, variable, length) == 0 && (*problem)[length] == '=') {
        char *named = g_strdup_printf("--%s%s", option, *problem + length);
        g_free(*problem);
        *problem = named;
    }
}

char *setting_options_apply(void)
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
    REPLAY_SETTINGS(X)
#undef X
    if (empty_option)
        return g_strdup_printf("--%s: its argument is empty", empty_option);
    char *problem = g_strdup(settings_problem());
    if (problem) {
#define GIVEN_STRING given_string
#define GIVEN_NUMBER given_number
#define GIVEN_PERCENT given_number
#define GIVEN_SIZE given_number
#define GIVEN_SWITCH given_switch
#define X(field, variable, type, default_value, option, ...) \
    name_option(&problem, variable, option, GIVEN_##type[SETTING_##field] != 0);
        WEND_SETTINGS(X)
        REPLAY_SETTINGS(X)
#undef X
    }
    return problem;
}

/* -- the directory of the setting output -- */

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

static gboolean refuse(Error **error, int code, const char *path, const char *why)
{
    error_set(error, code, "%s: %s", path, why);
    return FALSE;
}

/* Refuses a folder with other files than those of a recording. */
static gboolean check_contents(const char *path, Error **error)
{
    int why;
    char *foreign = marker_foreign(path, &why);
    if (foreign)
        error_set(error, WEND_ERROR_INPUT, "%s: " MARKER_REFUSAL, path, foreign);
    else if (why)
        refuse(error, error_of_output(why), path, g_strerror(why));
    gboolean good = !foreign && !why;
    free(foreign);
    return good;
}

static gboolean check_place(const char *path, Error **error)
{
    struct stat info;
    if (lstat(path, &info) != 0) {
        int why = errno == ENOENT ? try_making(path) : errno;
        return why == 0 || refuse(error, error_of_output(why), path, g_strerror(why));
    }
    if (stat(path, &info) != 0 && errno != ENOENT)
        return refuse(error, error_of_output(errno), path, g_strerror(errno));
    if (!S_ISDIR(info.st_mode)) /* or is a dangling symbolic link */
        return refuse(error, WEND_ERROR_INPUT, path, "exists and is not a directory");
    g_autofree char *archive = g_build_filename(path, "trace.tar.zst", NULL);
    if (g_file_test(archive, G_FILE_TEST_EXISTS) && !settings()->force)
        return refuse(error, WEND_ERROR_INPUT, path,
                      "has a recording: give another name, or --force to replace it");
    if (!check_contents(path, error))
        return FALSE;
    if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) != 0)
        return refuse(error, error_of_output(errno), path, g_strerror(errno));
    return TRUE;
}

gboolean setting_options_check_output(Error **error)
{
    if (!all_see_the_same())
        return TRUE;
    if (settings()->output)
        return check_place(settings()->output, error);
    g_autofree char *here = g_get_current_dir();
    g_autofree char *name = g_build_filename(here, OUTPUT_PREFIX "new", NULL);
    return check_place(name, error);
}
