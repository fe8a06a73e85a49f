/* SPDX-License-Identifier: BSD-3-Clause */
/* trace.c: wend trace: sets the variables of the tracer, and executes the program. */
#include "launch.h"
#include "library.h"
#include "output-check.h"
#include "setting-options.h"
#include "src/command/command.h"
#include "wend.h"

#define COMMAND "trace"

static char *given_family; /* no setting of the tracer: it selects the tracer */

static const GOptionEntry more_options[] = {
    {"mpi", 0, 0, G_OPTION_ARG_STRING, &given_family,
     "family of the MPI library: mpich or openmpi (default: that of PROGRAM's library)", "NAME"},
    G_OPTION_ENTRY_NULL};

int wend_trace_main(int argc, char **argv)
{
    GError *error = NULL;
    int status;
    g_autofree GOptionEntry *options = setting_options(SETTING_OPTIONS_TRACE, more_options);
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
    char **program = launch_program(COMMAND, argv + 1, &status);
    if (!program)
        return status;
    char *file = launch_find(*program, &error);
    char *library = file && output_check(&error) ? library_for(file, given_family, &error) : NULL;
    if (!library)
        return launch_fail(COMMAND, error);
    return launch(COMMAND, file, library, program);
}
