/* SPDX-License-Identifier: BSD-3-Clause */
/* mpich.c: what is particular to MPICH (families.h). Empty in a build for another family. */
#include "families.h"

#ifndef OPEN_MPI

#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/record/functions.h"
#include "encode/encode.h"
#include "interpose/interpose.h"
#include "own.gen.h"
#include "process/launcher.h"
#include "process/program-file.h"
#include "recorder/recorder.h"

/* -- spawned processes -- */

/* MPICH passes command, arguments and Info of a new process to its launcher, but no environment.
 * So the command becomes "env WEND_WORLD=0.1 … command". When MPI begins in the process, it is
 * the application's program. */

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
    spawn_say_too_long();
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
    const char *preload = getenv("LD_PRELOAD"), *output = spawn_directory();
    spawn_name(c, world, sizeof world);
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

/* -- the Fortran layer -- */

/* MPICH's Fortran layer. In libmpichfort, mpi_send_ calls MPI_Send. But "use mpi_f08" calls
 * PMPI_Comm_rank and so on, for all functions without a choice buffer. For attributes, all
 * Fortran interfaces call internal functions, MPII_Comm_set_attr…, which know that a value is an
 * integer. */

/* The last argument is the type of the value: MPICH's MPIR_Attr_type, a C enum. */
#define EACH_OBJECT_WITH_ATTRIBUTES(DO)                        \
    DO(Comm, MPI_Comm, HANDLE_COMM, comm_metadata(object))     \
    DO(Win, MPI_Win, HANDLE_WIN, comm_metadata_of_win(object)) \
    DO(Type, MPI_Datatype, HANDLE_DATATYPE, NULL)

/* The word of a key. In Fortran the predefined keys have other values, each one more than in C. */
static int64_t keyval_word(int keyval)
{
    int64_t word = handle_word(HANDLE_KEYVAL, HANDLE_VALUE(keyval));
    if (word == WEND_UNKNOWN && keyval - 1 != MPI_KEYVAL_INVALID) {
        int64_t c = handle_word(HANDLE_KEYVAL, HANDLE_VALUE(keyval - 1));
        return word_is_const(c) ? c : word;
    }
    return word;
}

static void begin_words(ActiveCall *c, bool has_self, const CommMetadata *facts, int64_t object,
                        int keyval)
{
    if (has_self)
        call_put_slot(c, facts ? facts->rank : -1);
    call_put_shape(c, object);
    call_put_shape(c, keyval_word(keyval));
}

#define DEFINE(OBJECT, CTYPE, KIND, FACTS)                                                      \
    extern int MPII_##OBJECT##_set_attr(CTYPE, int, void *, int) __attribute__((weak));         \
    extern int MPII_##OBJECT##_get_attr(CTYPE, int, void *, int *, int) __attribute__((weak));  \
                                                                                                \
    static int set_##OBJECT(CTYPE object, int keyval, void *value, int type)                    \
    {                                                                                           \
        ActiveCall *c = call_begin(WEND_FN_MPI_##OBJECT##_set_attr);                            \
        if (!c)                                                                                 \
            return MPII_##OBJECT##_set_attr(object, keyval, value, type);                       \
        begin_words(c, KIND != HANDLE_DATATYPE, FACTS, handle_word(KIND, HANDLE_VALUE(object)), \
                    keyval);                                                                    \
        encode_in_address(c, (MPI_Aint)value);                                                  \
        call_start(c);                                                                          \
        int rc = MPII_##OBJECT##_set_attr(object, keyval, value, type);                         \
        call_stop(c, rc);                                                                       \
        call_end(c);                                                                            \
        return rc;                                                                              \
    }                                                                                           \
                                                                                                \
    static int get_##OBJECT(CTYPE object, int keyval, void *value, int *flag, int type)         \
    {                                                                                           \
        ActiveCall *c = call_begin(WEND_FN_MPI_##OBJECT##_get_attr);                            \
        if (!c)                                                                                 \
            return MPII_##OBJECT##_get_attr(object, keyval, value, flag, type);                 \
        begin_words(c, KIND != HANDLE_DATATYPE, FACTS, handle_word(KIND, HANDLE_VALUE(object)), \
                    keyval);                                                                    \
        call_start(c);                                                                          \
        int rc = MPII_##OBJECT##_get_attr(object, keyval, value, flag, type);                   \
        call_stop(c, rc);                                                                       \
        if (call_ok(c)) {                                                                       \
            if (*flag)                                                                          \
                /* a predefined one, too: it is not behind a pointer, as in C */                \
                encode_out_kept(c, *(MPI_Aint *)value);                                         \
            else                                                                                \
                call_put_outcome(c, WEND_ABSENT);                                               \
            call_put_outcome(c, *flag != 0);                                                    \
        }                                                                                       \
        call_end(c);                                                                            \
        return rc;                                                                              \
    }

EACH_OBJECT_WITH_ATTRIBUTES(DEFINE)

void *families_fortran_internal(const char *name)
{
#define ROW(OBJECT, CTYPE, KIND, FACTS)                  \
    {"MPII_" #OBJECT "_set_attr", (void *)set_##OBJECT}, \
        {"MPII_" #OBJECT "_get_attr", (void *)get_##OBJECT},
    static const struct {
        const char *name;
        void *wrapper;
    } rows[] = {EACH_OBJECT_WITH_ATTRIBUTES(ROW)};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(name, rows[i].name) == 0)
            return rows[i].wrapper;
    return NULL;
}

/* Whether the module is the layer, or a program that is linked with it statically. No other module
 * refers to this function. */
bool families_is_fortran_layer(const Module *m)
{
    return module_refers(m, "MPII_Grequest_set_lang_f77");
}

const char *const families_fortran_names[] = {NULL};

/* -- UCX -- */

/* In MPI_Finalize, MPICH before 4.2 closes its connections (ucp_disconnect_nb). When they are
 * closed, it enters a barrier of the launcher, in which UCX makes no progress. UCX closes a
 * connection by TCP once the other rank has confirmed what this rank has sent. A rank that is in
 * the barrier confirms nothing, so ranks that close later wait for ever. A rank enters the barrier
 * early in two cases:
 * - It has sent nothing to them.
 * - They have confirmed what it has sent, although they have not yet begun to close. They do this
 *   in any MPI call that waits, such as those of the merge.
 *
 * The remedy: all ranks have received all messages, so nothing needs to be confirmed. The
 * connections stay open in MPI_Finalize. UCX closes them with all it has, after the barrier. */

bool mpich_ucx_before(int major, int minor)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n, first, second;
    if (PMPI_Get_library_version(text, &n) != MPI_SUCCESS || !strstr(text, "ch4:ucx"))
        return false;
    const char *number = strpbrk(text, "0123456789");
    return number && sscanf(number, "%d.%d", &first, &second) == 2
           && (first < major || (first == major && second < minor));
}

typedef void *(*Disconnect)(void *endpoint);
static _Atomic Disconnect disconnect; /* UCX's function */
static atomic_bool stay_connected;

/* In place of ucp_disconnect_nb. NULL: it is done. */
static void *disconnect_at_end(void *endpoint)
{
    return atomic_load(&stay_connected) ? NULL : atomic_load(&disconnect)(endpoint);
}

static void *wrapper_of(const char *name, void *now, void *unused)
{
    (void)unused;
    if (strcmp(name, "ucp_disconnect_nb") != 0 || now == (void *)disconnect_at_end)
        return NULL;
    atomic_store(&disconnect, (Disconnect)now);
    return (void *)disconnect_at_end;
}

static void redirect(const Module *m, void *unused)
{
    module_redirect_from(m, wrapper_of, unused);
}

void mpich_ucx_finalize(void)
{
    if (!mpich_ucx_before(4, 2))
        return;
    atomic_store(&stay_connected, true);
    modules_each(redirect, NULL);
}

void mpich_ucx_finalized(void)
{
    atomic_store(&stay_connected, false);
}

#else

void mpich_ucx_finalize(void)
{
}

void mpich_ucx_finalized(void)
{
}

#endif
