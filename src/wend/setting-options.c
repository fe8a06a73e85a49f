/* SPDX-License-Identifier: BSD-3-Clause */
/* setting-options.c: see setting-options.h. */
#include "setting-options.h"

#include <string.h>

#include "src/tracer/shared/settings.h"

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
