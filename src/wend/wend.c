/* wend.c: the command: finds the subcommand. */
#include "config.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"trace", wend_trace_main, "run a program and record its MPI calls"},
    {"merge", wend_merge_main, "the recording of a run that ended early"},
    {"show", wend_show_main, "a recording in one screen"},
    {"dump", wend_dump_main, "every call of every rank, with all arguments"},
    {"diff", wend_diff_main, "whether two recordings are equal, and where they part"},
};

static void help(void)
{
    puts("Usage: wend COMMAND [OPTION…] …\n\n"
         "Records the communication of MPI programs and puts the recording to work.\n");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        printf("  wend %-8s %s\n", commands[i].name, commands[i].what);
    puts("\nOptions:\n"
         "  -h, --help      this help; after a command, its options\n"
         "  --version       the version\n\n"
         "Exit status: 0 done; 1 the recordings differ (diff); 2 wrong usage; 3 bad input; 4 the system refused.\n"
         "wend trace ends as the program that it runs.");
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        fputs("wend: no command given (see wend --help)\n", stderr);
        return WEND_EXIT_USAGE;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        help();
        return wend_command_finish("help", WEND_EXIT_OK);
    }
    if (strcmp(name, "--version") == 0) {
        puts("wend " PACKAGE_VERSION);
        return wend_command_finish("version", WEND_EXIT_OK);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].main(argc - 1, argv + 1);
    fprintf(stderr, "wend: no command %s (see wend --help)\n", name);
    return WEND_EXIT_USAGE;
}
