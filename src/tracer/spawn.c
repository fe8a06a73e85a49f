/* spawn.c: see spawn.h. */
#include "spawn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "module.h"
#include "output.h"
#include "own.gen.h"
#include "parts.h"
#include "state.h"

#define VARIABLE "WEND_WORLD"

const char *spawn_world(void)
{
    const char *name = getenv(VARIABLE);
    return name && *name && strspn(name, "0123456789.-t") == strlen(name) && strlen(name) < 200 ? name : NULL;
}

#ifdef OPEN_MPI

#define CARRIER "OMPI_MCA_"
#define OWN "WEND_"

extern char **environ;

/* What comes by the first way counts: it is of this world. */
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
    if (entry[n] != '=' || strncmp(entry, VARIABLE "=", sizeof VARIABLE) == 0 || asprintf(&name, CARRIER "%.*s", (int)n, entry) < 0)
        return;
    setenv(name, entry + n + 1, 1);
    free(name);
}

/* Each change may move the environment. */
static void each_variable(const char *prefix, size_t skipped, void (*visit)(const char *entry))
{
    for (size_t i = 0; environ && environ[i]; i++)
        if (strncmp(environ[i], prefix, strlen(prefix)) == 0)
            visit(environ[i] + skipped);
}

void spawn_load(void)
{
    each_variable(CARRIER OWN, strlen(CARRIER), arrive);
    each_variable(OWN, 0, hand_on);
}

/* Of the call that this thread is in. */
typedef struct { MPI_Info *made; int n; } Given;
static _Thread_local Given given;

/* The recording's directory: rank 0 knows it, others may have found it. */
static const char *directory(void)
{
    if (state()->world_rank == 0)
        return output_directory();
    /* Rank 0 may have been in MPI_Init a moment ago. */
    for (int tries = 0; tries < 50 && !parts_directory(); tries++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    return parts_directory();
}

static int name_of_next(const Call *c, char *out, size_t room)
{
    const char *own = state()->spawned ? spawn_world() : NULL;
    char thread[24] = "";
    if (c->sequence->tid != 0)
        snprintf(thread, sizeof thread, "t%u", c->sequence->tid);
    return snprintf(out, room, "%s%s%d%s.%u", own ? own : "", own ? "-" : "", state()->world_rank, thread, c->sequence->spawned + 1);
}

/* The value of the key "env", with what INFO has there before. False: it would be too long. */
static bool environment(const Call *c, MPI_Info info, char value[MPI_MAX_INFO_VAL + 1])
{
    char name[256], before[MPI_MAX_INFO_VAL + 1] = "";
    const char *given_preload = getenv("LD_PRELOAD"), *preloads[] = {given_preload, module_own_file()}, *output = directory();
    int known = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, "env", MPI_MAX_INFO_VAL, before, &known);
    if (!given_preload || strstr(before, "LD_PRELOAD="))
        preloads[0] = preloads[1] = NULL; /* Wend is part of the program; or it is the application's own business */
    name_of_next(c, name, sizeof name);
    /* What was asked for; else as much of it as fits: the settings have the directory's name as it was given. */
    for (int less = output ? 0 : 1; less < 4; less++) {
        const char *preload = preloads[less / 2];
        bool with_output = output && less % 2 == 0;
        if (snprintf(value, MPI_MAX_INFO_VAL + 1, "%s%s%s%s%s" VARIABLE "=%s%s%s", before, known ? "\n" : "", preload ? "LD_PRELOAD=" : "",
                     preload ? preload : "", preload ? "\n" : "", name, with_output ? "\nWEND_OUTPUT=" : "", with_output ? output : "") < MPI_MAX_INFO_VAL)
            return true;
    }
    return false;
}

static MPI_Info with_environment(const Call *c, MPI_Info info)
{
    char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info made = MPI_INFO_NULL;
    if (!environment(c, info, value)) {
        static _Atomic bool said;
        if (!atomic_exchange(&said, true))
            state_say("the paths in LD_PRELOAD are too long for what the MPI library passes on: processes that the application starts are not recorded");
        return info;
    }
    if ((info == MPI_INFO_NULL ? PMPI_Info_create(&made) : PMPI_Info_dup(info, &made)) != MPI_SUCCESS)
        return info;
    if (PMPI_Info_set(made, "env", value) != MPI_SUCCESS) {
        PMPI_Info_free(&made);
        return info;
    }
    return made;
}

const MPI_Info *spawn_infos(Call *c, bool at_root, int n, const MPI_Info *infos)
{
    given = (Given){NULL, 0};
    if (!at_root || n <= 0 || !state()->world || !(given.made = malloc((size_t)n * 2 * sizeof *given.made)))
        return infos;
    for (int i = 0; i < n; i++) {
        MPI_Info info = infos ? infos[i] : MPI_INFO_NULL;
        given.made[i] = with_environment(c, info);
        given.made[n + i] = info;
    }
    given.n = n;
    return given.made;
}

MPI_Info spawn_info(Call *c, bool at_root, MPI_Info info)
{
    const MPI_Info *infos = spawn_infos(c, at_root, 1, &info);
    return infos == &info ? info : infos[0];
}

void spawn_end(Call *c, bool at_root)
{
    for (int i = 0; i < given.n; i++)
        if (given.made[i] != given.made[given.n + i])
            PMPI_Info_free(&given.made[i]);
    free(given.made);
    given = (Given){NULL, 0};
    if (at_root && call_ok(c))
        c->sequence->spawned++;
}

#else

/* What reaches the processes is what mpirun's own environment has. */
void spawn_load(void) {}
MPI_Info spawn_info(Call *c, bool at_root, MPI_Info info) { (void)c, (void)at_root; return info; }
const MPI_Info *spawn_infos(Call *c, bool at_root, int n, const MPI_Info *infos) { (void)c, (void)at_root, (void)n; return infos; }
void spawn_end(Call *c, bool at_root) { (void)c, (void)at_root; }

#endif
