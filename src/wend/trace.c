/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c: wend trace: sets the variables of the tracer, and executes the program. With --symbols
 * the command of rank 0 stays, and adds the names of call sites to the archive. The commands of all
 * ranks stay if the launcher would otherwise kill the ranks before they can save anything. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "lib/base/error.h"
#include "lib/record/world-files.h"
#include "src/command/command.h"
#include "src/tracer/process/settings.h"
#include "src/tracer/process/launcher.h"
#include "wend.h"

#define COMMAND "trace"

static char *given_family; /* no setting of the tracer: it selects the tracer */
static gboolean symbols, no_symbols;

static const GOptionEntry more_options[] = {
    {"mpi", 0, 0, G_OPTION_ARG_STRING, &given_family,
     "family of the MPI library: mpich or openmpi (default: that of PROGRAM's library)", "NAME"},
    {"symbols", 0, 0, G_OPTION_ARG_NONE, &symbols,
     "store the names of call sites in the recording: the command of rank 0 stays for that until "
     "the program has ended (default: wend merge --symbols does it later); needs --output",
     NULL},
    {"no-symbols", 0, 0, G_OPTION_ARG_NONE, &no_symbols, "do not (default)", NULL},
    G_OPTION_ENTRY_NULL};

/* -- names -- */

/* Adds the names to the archive that the run has left since START. A run that died has none: wend
 * merge makes it. */
static void add_names(const char *directory, time_t start)
{
    g_autofree char *archive = g_build_filename(directory, "trace" WORLD_FILE_SUFFIX, NULL);
    GStatBuf info;
    guint64 bytes;
    Error *error = NULL;
    if (g_stat(archive, &info) != 0 || info.st_mtime < start)
        return;
    if (!site_store(directory, COMMAND, SITE_STORE_ALL, &bytes, &error))
        command_fail(COMMAND, error);
}

/* Whether the launcher kills the ranks of other hosts at once when a rank ends: MPICH's Hydra does.
 * It says by PMI_FD how a rank reaches it, and by a variable of its own how many this host has. */
static gboolean launcher_kills(void)
{
    return g_getenv("PMI_FD") && g_getenv("MPI_LOCALNRANKS")
           && launcher_local_size() < launcher_size();
}

/* Becomes two processes: the child returns, to execute the program. The parent is its attendant
 * (src/tracer/lifecycle/watcher.c), and NAMES the call sites at the end. */
static void attend(gboolean names)
{
    g_autofree char *directory = names ? g_canonicalize_filename(settings()->output, NULL) : NULL;
    g_autofree char *own = g_strdup_printf("%ld", (long)getpid());
    time_t start = time(NULL);
    if (launcher_kills())
        g_setenv(LAUNCHER_ATTENDANT, own, TRUE);
    pid_t child = launch_fork();
    if (child < 0 && names)
        command_say(COMMAND, "no process can be made: names of call sites are not stored");
    if (child <= 0)
        return;
    int status = launch_wait(child);
    if (names)
        add_names(directory, start);
    launch_end(status);
}

int trace_main(int argc, char **argv)
{
    Error *error = NULL;
    int status;
    g_autofree GOptionEntry *options = setting_options(SETTING_OPTIONS_TRACE, more_options);
    if (!command_options_before(
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
            options, &argc, &argv, &status, &error))
        return error ? launch_fail(COMMAND, error) : status;
    char **program = launch_program(COMMAND, argv + 1, &status);
    if (!program)
        return status;
    const char *output = settings()->output;
    if (symbols && no_symbols)
        return launch_fail_usage(COMMAND, "--symbols and --no-symbols exclude each other");
    if (symbols && (!output || *output == '\0'))
        return launch_fail_usage(COMMAND, "--symbols needs --output");
    char *file = launch_find(*program, &error);
    char *library = file && setting_options_check_output(&error)
                        ? library_for(file, given_family, &error)
                        : NULL;
    if (!library)
        return launch_fail(COMMAND, error);
    gboolean names = symbols && launcher_is_first();
    if (names || launcher_kills())
        attend(names);
    return launch(COMMAND, file, library, program);
}
