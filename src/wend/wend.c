/* SPDX-License-Identifier: BSD-3-Clause */
/* wend.c: the command wend: runs a subcommand. */
#include "config.h"

#include <locale.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/memory.h"
#include "src/command/command.h"
#include "src/command/reading.h"
#include "src/decoder/decoder.h"
#include "src/diff/diff.h"
#include "src/export/export.h"
#include "wend.h"

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *what;
} commands[] = {
    {"trace", trace_main, "run a program and record its MPI calls"},
    {"replay", replay_command_main, "run a program again, its messages in the recorded order"},
    {"merge", merge_command_main, "make the recording of a run that ended early"},
    {"show", show_main, "print a summary of a recording"},
    {"dump", dump_main, "print every call of every rank, with all arguments"},
    {"diff", diff_main, "compare two recordings and explain their differences"},
    {"export", export_main, "write a recording in a format that other tools read"},
};

static int print(const char *text)
{
    command_ignore_pipe();
    command_write(text, strlen(text));
    return command_close_output("wend", WEND_EXIT_OK);
}

static int help(void)
{
    g_autoptr(GString) text = g_string_new(
        "Usage: wend COMMAND [OPTION…] …\n\n"
        "Records the communication of MPI programs, and prints and compares recordings.\n\n");
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        g_string_append_printf(text, "  wend %-8s %s\n", commands[i].name, commands[i].what);
    g_string_append(text, "\nOptions:\n"
                          "  -h, --help      print this help; after a command, its options\n"
                          "  -V, --version   print the version\n\n"
                          "Exit status: 0 done; 1 the recordings differ (diff); 2 wrong usage; "
                          "3 bad input; 4 the system refused.\n"
                          "The exit status of wend trace is that of the program.\n");
    return print(text->str);
}

static int run(const char *name, int argc, char **argv)
{
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        if (strcmp(name, commands[i].name) == 0)
            return commands[i].main(argc, argv);
    command_print("wend", "there is no command %s (see wend --help)", name);
    return WEND_EXIT_USAGE;
}

/* "wend help COMMAND" */
static int help_of(const char *name)
{
    char *words[] = {(char *)name, (char *)"--help", NULL};
    return run(name, 2, words);
}

int main(int argc, char **argv)
{
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C"); /* 1,234 are never one and a quarter */
    memory_ends(command_end_short_of_memory);
    reading_guard();
    const char *name = argc > 1 ? argv[1] : NULL;
    if (!name) {
        command_print("wend", "no command given (see wend --help)");
        return WEND_EXIT_USAGE;
    }
    if (strcmp(name, "help") == 0 && argc > 3) {
        command_print("wend", "wend help takes one command (see wend --help)");
        return WEND_EXIT_USAGE;
    }
    if (strcmp(name, "help") == 0 && argc == 3)
        return help_of(argv[2]);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help();
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0)
        return print("wend " PACKAGE_VERSION "\n");
    if (strcmp(name, "trace") != 0
        && strcmp(name, "replay") != 0) /* the program that it executes would inherit this */
        signal(SIGXFSZ, SIG_IGN);       /* the write fails instead, and the command prints why */
    return run(name, argc - 1, argv + 1);
}
