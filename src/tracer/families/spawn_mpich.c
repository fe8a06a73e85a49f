/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn_mpich.c: MPICH passes command, arguments and Info of a new process to its launcher, but no
 * environment. So the command becomes "env WEND_WORLD=0.1 … command". When MPI begins in the
 * process, it is the application's program. */
#include "spawn.h"

#ifndef OPEN_MPI

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpich-ucx.h"
#include "own.gen.h"
#include "shared/shared.h"
#include "spawned.h"

#define OWN "WEND_"

/* A line of PMI has 1,024 bytes, and Hydra has room for 1,000 arguments. Neither Hydra nor MPICH
 * checks these limits. */
enum { LINE_ROOM = 900, ARGUMENTS_ROOM = 900 };

extern char **environ;

void spawn_load(void)
{
}

/* -- data of a call -- */

/* For the call that this thread is in. */
typedef struct {
    char **settings; /* "NAME=value", for all its commands */
    size_t n_settings, room;
    int n;
    char **commands, ***argvs, **programs; /* PROGRAMS: made by Wend, or NULL */
    MPI_Info *infos, *made;                /* MADE: made by Wend, or MPI_INFO_NULL */
} GivenCommands;
static _Thread_local GivenCommands given;

/* Adds ENTRY, and takes it. Returns false if memory is short; ENTRY may then be NULL. */
static bool add_setting(char *entry)
{
    if (entry && given.n_settings == given.room) {
        size_t room = given.room ? given.room * 2 : 16;
        char **more = realloc(given.settings, room * sizeof *more);
        if (more) {
            given.settings = more;
            given.room = room;
        }
    }
    if (!entry || given.n_settings == given.room) {
        free(entry);
        return false;
    }
    given.settings[given.n_settings++] = entry;
    if (strlen(entry) <= LINE_ROOM && !strchr(entry, '\n'))
        return true;
    spawned_say_too_long();
    return false;
}

static char *setting(const char *name, const char *value)
{
    char *entry;
    return asprintf(&entry, "%s=%s", name, value) < 0 ? NULL : entry;
}

static bool is_setting_of(const char *entry, const char *name)
{
    size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

/* Collects Wend's settings of this process, the recording's directory, and the variables by which
 * Wend was loaded, if it was loaded by them. */
static bool collect_settings(const ActiveCall *c)
{
    char world[256];
    const char *preload = getenv("LD_PRELOAD"), *output = spawned_directory();
    spawned_name(c, world, sizeof world);
    bool good = add_setting(setting(LAUNCHER_WORLD, world));
    for (char **entry = environ; good && entry && *entry; entry++)
        if (strncmp(*entry, OWN, strlen(OWN)) == 0 && strchr(*entry, '=')
            && !is_setting_of(*entry, LAUNCHER_WORLD)
            && !(output && is_setting_of(*entry, "WEND_OUTPUT")))
            good = add_setting(strdup(*entry));
    return good && (!output || add_setting(setting("WEND_OUTPUT", output)))
           && (!preload || add_setting(setting("LD_PRELOAD", preload)));
}

/* -- the program -- */

static const char *env_program(void)
{
    static const char *const places[] = {"/usr/bin/env", "/bin/env"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (access(places[i], X_OK) == 0)
            return places[i];
    return NULL;
}

static bool info_value(MPI_Info info, const char *key, char value[MPI_MAX_INFO_VAL + 1])
{
    int known = 0;
    return info != MPI_INFO_NULL
           && PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &known) == MPI_SUCCESS && known;
}

/* The program for env to execute, found by the Info key "path", which would otherwise apply to env
 * itself. NULL if it is not on this host; the library then reports its own error. */
static char *find_program(const char *command, MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL + 1], file[PATH_MAX];
    bool here;
    if (!*command || strchr(command, '=')) /* env would take it for a variable */
        return NULL;
    if (info_value(info, "path", value))
        return program_file_find(value, command, file) && !strchr(file, '=') ? strdup(file) : NULL;
    if (!strchr(command, '/'))
        here = program_file_find(getenv("PATH"), command, file);
    else if (*command != '/' && info_value(info, "wdir", value))
        here = snprintf(file, sizeof file, "%s/%s", value, command) < (int)sizeof file
               && program_file_is(file);
    else
        here = program_file_is(command);
    return here ? strdup(command) : NULL;
}

/* -- calls -- */

/* Changes command I. Returns false if it stays unchanged. */
static bool wrap(int i, const Spawn *spawn, const char *env)
{
    size_t n_arguments = 0, n = 0;
    char **arguments = spawn->argvs ? spawn->argvs[i] : NULL;
    MPI_Info info = spawn->infos ? spawn->infos[i] : MPI_INFO_NULL;
    while (arguments && arguments[n_arguments])
        n_arguments++;
    if (!spawn->commands[i] || given.n_settings + n_arguments > ARGUMENTS_ROOM)
        return false;
    char **all = malloc((given.n_settings + n_arguments + 2) * sizeof *all),
         path[MPI_MAX_INFO_VAL + 1];
    if (!all || !(given.programs[i] = find_program(spawn->commands[i], info))) {
        free(all);
        return false;
    }
    for (size_t k = 0; k < given.n_settings; k++)
        all[n++] = given.settings[k];
    all[n++] = given.programs[i];
    for (size_t k = 0; k < n_arguments; k++)
        all[n++] = arguments[k];
    all[n] = NULL;
    if (info_value(info, "path", path) && PMPI_Info_dup(info, &given.made[i]) == MPI_SUCCESS) {
        PMPI_Info_delete(given.made[i], "path");
        given.infos[i] = given.made[i];
    }
    given.commands[i] = (char *)env;
    given.argvs[i] = all;
    return true;
}

void spawn_wrap(const ActiveCall *c, int n, Spawn *spawn)
{
    /* Before MPICH 4.3 its UCX device starts no processes, and its error message contains the
     * command, which must then stay the application's. */
    const char *env = mpich_ucx_before(4, 3) ? NULL : env_program();
    size_t rows = (size_t)n;
    given = (GivenCommands){.n = n,
                            .commands = calloc(rows, sizeof(char *)),
                            .argvs = calloc(rows, sizeof(char **)),
                            .programs = calloc(rows, sizeof(char *)),
                            .infos = calloc(rows, sizeof(MPI_Info)),
                            .made = calloc(rows, sizeof(MPI_Info))};
    bool good = env && given.commands && given.argvs && given.programs && given.infos && given.made;
    for (int i = 0; given.made && i < n; i++)
        given.made[i] = MPI_INFO_NULL;
    if (!good || !collect_settings(c))
        return;
    for (int i = 0; i < n; i++) {
        given.infos[i] = spawn->infos ? spawn->infos[i] : MPI_INFO_NULL;
        if (!wrap(i, spawn, env)) {
            given.commands[i] = spawn->commands[i];
            given.argvs[i] = spawn->argvs ? spawn->argvs[i] : NULL;
        }
    }
    *spawn = (Spawn){given.commands, given.argvs, given.infos};
}

void spawn_unwrap(void)
{
    for (size_t i = 0; i < given.n_settings; i++)
        free(given.settings[i]);
    for (int i = 0; i < given.n; i++) {
        if (given.programs && given.programs[i]) {
            free(given.programs[i]);
            free(given.argvs[i]);
        }
        if (given.made && given.made[i] != MPI_INFO_NULL)
            PMPI_Info_free(&given.made[i]);
    }
    free(given.settings);
    free(given.commands);
    free(given.argvs);
    free(given.programs);
    free(given.infos);
    free(given.made);
    given = (GivenCommands){0};
}

#endif
