/* SPDX-License-Identifier: BSD-3-Clause */
/* spawn_openmpi.c: Open MPI adds two kinds of variables to the environment of new processes: those
 * in the Info key "env" (255 bytes), and all variables of the calling process whose names begin
 * with OMPI_MCA_. Settings take the second way, from the start. Variables that concern one world
 * take the first. */
#include "spawn.h"

#ifdef OPEN_MPI

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/interpose.h"
#include "own.gen.h"
#include "shared/shared.h"
#include "spawned.h"

#define ENVIRONMENT_PREFIX "OMPI_MCA_"
#define OWN "WEND_"

extern char **environ;

/* Sets a variable that came by the second way, unless it exists. Those of the first way are of this
 * world. */
static void arrive(const char *entry)
{
    size_t n = strcspn(entry, "=");
    char *name = entry[n] == '=' ? strndup(entry, n) : NULL;
    if (name)
        setenv(name, entry + n + 1, 0);
    free(name);
}

static void hand_on(const char *entry)
{
    size_t n = strcspn(entry, "=");
    char *name;
    if (entry[n] != '=' || strncmp(entry, LAUNCHER_WORLD "=", sizeof LAUNCHER_WORLD) == 0
        || asprintf(&name, ENVIRONMENT_PREFIX "%.*s", (int)n, entry) < 0)
        return;
    setenv(name, entry + n + 1, 1);
    free(name);
}

/* Visits all variables with PREFIX. A visit may move the environment. */
static void each_variable(const char *prefix, size_t skipped, void (*visit)(const char *entry))
{
    for (size_t i = 0; environ && environ[i]; i++)
        if (strncmp(environ[i], prefix, strlen(prefix)) == 0)
            visit(environ[i] + skipped);
}

void spawn_load(void)
{
    each_variable(ENVIRONMENT_PREFIX OWN, strlen(ENVIRONMENT_PREFIX), arrive);
    each_variable(OWN, 0, hand_on);
}

/* For the call that this thread is in. */
typedef struct {
    MPI_Info *made;
    int n;
} GivenInfos;
static _Thread_local GivenInfos given;

/* The Info key. Open MPI 5, which has sessions, warns about the key of 4.1. */
static const char *key(void)
{
    return mpi_library_symbol("PMPI_Session_init") ? "PMIX_ENVAR" : "env";
}

/* The value of that key: VALUE has the entry of INFO before, and Wend's variables. Returns false if
 * it is too long. */
static bool environment(const ActiveCall *c, MPI_Info info, char value[MPI_MAX_INFO_VAL + 1])
{
    char name[256], before[MPI_MAX_INFO_VAL + 1] = "";
    const char *given_preload = getenv("LD_PRELOAD"),
               *preloads[] = {given_preload, module_own_file()}, *output = spawned_directory();
    int known = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, key(), MPI_MAX_INFO_VAL, before, &known);
    if (!given_preload || strstr(before, "LD_PRELOAD="))
        /* Wend is part of the program, or the application loads it itself */
        preloads[0] = preloads[1] = NULL;
    spawned_name(c, name, sizeof name);
    /* All variables that are wanted, or as many as fit. The settings have the directory's name as
     * it was given. */
    for (int less = output ? 0 : 1; less < 4; less++) {
        const char *preload = preloads[less / 2];
        bool with_output = output && less % 2 == 0;
        if (snprintf(value, MPI_MAX_INFO_VAL + 1, "%s%s%s%s%s" LAUNCHER_WORLD "=%s%s%s", before,
                     known ? "\n" : "", preload ? "LD_PRELOAD=" : "", preload ? preload : "",
                     preload ? "\n" : "", name, with_output ? "\nWEND_OUTPUT=" : "",
                     with_output ? output : "")
            < MPI_MAX_INFO_VAL)
            return true;
    }
    return false;
}

static MPI_Info with_environment(const ActiveCall *c, MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info made = MPI_INFO_NULL;
    if (!environment(c, info, value)) {
        spawned_say_too_long();
        return info;
    }
    if ((info == MPI_INFO_NULL ? PMPI_Info_create(&made) : PMPI_Info_dup(info, &made))
        != MPI_SUCCESS)
        return info;
    if (PMPI_Info_set(made, key(), value) != MPI_SUCCESS) {
        PMPI_Info_free(&made);
        return info;
    }
    return made;
}

void spawn_wrap(const ActiveCall *c, int n, Spawn *spawn)
{
    given = (GivenInfos){malloc((size_t)n * 2 * sizeof *given.made), 0};
    if (!given.made)
        return;
    for (int i = 0; i < n; i++) {
        MPI_Info info = spawn->infos ? spawn->infos[i] : MPI_INFO_NULL;
        given.made[i] = with_environment(c, info);
        given.made[n + i] = info;
    }
    given.n = n;
    spawn->infos = given.made;
}

void spawn_unwrap(void)
{
    for (int i = 0; i < given.n; i++)
        if (given.made[i] != given.made[given.n + i])
            PMPI_Info_free(&given.made[i]);
    free(given.made);
    given = (GivenInfos){NULL, 0};
}

#endif
