/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c: exit codes, error lines, options, progress and the end of standard output, for all
 * subcommands. */
#include "config.h"

#include "command.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/base/printable.h"
#include "reading.h"

/* -- messages and standard output -- */

static int write_error; /* errno of the first failed write */

void command_print(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *raw = g_strdup_printf("%s: %s", command, message);
    gboolean utf8 = printable_utf8();
    gsize n = strlen(raw), length = printable_text((char[1]){0}, 1, raw, n, utf8);
    g_autofree char *line = g_malloc(length + 2);
    printable_text(line, length + 1, raw, n, utf8);
    line[length] = '\n';
    fwrite(line, 1, length + 1, stderr);
    fflush(stderr);
}

void command_ignore_pipe(void)
{
    signal(SIGPIPE, SIG_IGN);
}

gboolean command_write(const char *text, gsize n)
{
    errno = 0;
    if (fwrite(text, 1, n, stdout) == n)
        return TRUE;
    if (write_error == 0)
        write_error = errno != 0 ? errno : EIO;
    return FALSE;
}

int command_close_output(const char *command, int status)
{
    errno = 0;
    if (fclose(stdout) != 0 && write_error == 0)
        write_error = errno != 0 ? errno : EIO;
    if (write_error == 0 || write_error == EPIPE)
        return status;
    command_print(command, "cannot write the output: %s", g_strerror(write_error));
    return WEND_ERROR_SYSTEM;
}

void command_end_short_of_memory(void)
{
    static const char line[] = ": out of memory\n";
    const char *name = program_invocation_short_name;
    if (write(STDERR_FILENO, name, strlen(name)) > 0)
        (void)!write(STDERR_FILENO, line, strlen(line));
    _exit(WEND_ERROR_SYSTEM);
}

/* -- options beyond GLib's parser -- */

static const GOptionEntry *entry_of_letter(const GOptionEntry *entries, char letter)
{
    for (; entries->long_name; entries++)
        if (entries->short_name == letter)
            return entries;
    return NULL;
}

static const GOptionEntry *entry_of_name(const GOptionEntry *entries, const char *name)
{
    for (; entries->long_name; entries++)
        if (strcmp(entries->long_name, name) == 0)
            return entries;
    return NULL;
}

static gboolean takes_argument(const GOptionEntry *e)
{
    return e && e->arg != G_OPTION_ARG_NONE
           && !(e->flags & (G_OPTION_FLAG_NO_ARG | G_OPTION_FLAG_OPTIONAL_ARG));
}

/* Adds WORD, which is "-" and letters, in parts. Returns TRUE if the next word is the argument of
 * its last letter. */
static gboolean add_letters(GPtrArray *all, const GOptionEntry *entries, char *word)
{
    for (char *letter = word + 1; *letter; letter++) {
        if (!takes_argument(entry_of_letter(entries, *letter)))
            continue;
        if (letter[1] == '\0')
            break;
        if (letter > word + 1)
            g_ptr_array_add(all, g_strndup(word, (gsize)(letter - word)));
        g_ptr_array_add(all, g_strdup_printf("-%c", *letter));
        g_ptr_array_add(all, letter + 1);
        return FALSE;
    }
    g_ptr_array_add(all, word);
    return takes_argument(entry_of_letter(entries, word[strlen(word) - 1]));
}

char **command_part_options(const GOptionEntry *entries, gboolean before, int *argc, char **argv)
{
    GPtrArray *all = g_ptr_array_new();
    gboolean over = FALSE, argument = FALSE;
    for (int i = 0; i < *argc; i++) {
        char *word = argv[i];
        gboolean option = i > 0 && !over && !argument && word[0] == '-' && word[1] != '\0';
        over |= i > 0 && !argument && (strcmp(word, "--") == 0 || (before && !option));
        argument = FALSE;
        if (option && word[1] != '-') {
            argument = add_letters(all, entries, word);
            continue;
        }
        if (option && !over)
            argument = takes_argument(entry_of_name(entries, word + 2));
        g_ptr_array_add(all, word);
    }
    *argc = (int)all->len;
    g_ptr_array_add(all, NULL);
    return (char **)g_ptr_array_free(all, FALSE);
}

void command_end_options(int *argc, char **argv)
{
    if (*argc < 2 || strcmp(argv[1], "--") != 0)
        return;
    (*argc)--;
    memmove(&argv[1], &argv[2], (size_t)*argc * sizeof *argv); /* the NULL, too */
}

/* -- places -- */

static char *own_folder(void)
{
    char *exe = g_file_read_link("/proc/self/exe", NULL);
    char *folder = exe ? g_path_get_dirname(exe) : NULL;
    g_free(exe);
    return folder;
}

/* FOLDER as seen from BINDIR: ../lib. NULL if they have no folder in common. */
static char *relative(const char *folder)
{
    const char *bin = WEND_BINDIR;
    size_t common = 0;
    for (size_t i = 0; bin[i] == folder[i]; i++) {
        if (bin[i] == '/')
            common = i;
        if (bin[i] == '\0')
            return NULL;
    }
    if (common == 0)
        return NULL;
    GString *path = g_string_new(NULL);
    for (const char *p = bin + common; *p; p++)
        if (*p == '/')
            g_string_append(path, "../");
    g_string_append(path, folder + common + 1);
    return g_string_free(path, FALSE);
}

char **command_places(const char *folder, const char *const *uninstalled)
{
    GPtrArray *places = g_ptr_array_new();
    char *own = own_folder(), *moved = relative(folder);
    for (; own && *uninstalled; uninstalled++)
        g_ptr_array_add(places, g_build_filename(own, *uninstalled, NULL));
    if (own && moved)
        g_ptr_array_add(places, g_build_filename(own, moved, NULL));
    g_ptr_array_add(places, g_strdup(folder));
    g_ptr_array_add(places, NULL);
    g_free(own);
    g_free(moved);
    return (char **)g_ptr_array_free(places, FALSE);
}

/* -- what the subcommands share -- */

gboolean command_take_error(Error **at, GError *e)
{
    error_set(at, e->domain == G_OPTION_ERROR ? WEND_ERROR_USAGE : WEND_ERROR_SYSTEM, "%s",
              e->message);
    g_error_free(e);
    return FALSE;
}

int command_fail(const char *command, Error *error)
{
    int status = (int)error->code;
    command_say(command, "%s", error->message);
    error_free(error);
    return status;
}

void command_say(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args),
                    *name = g_strdup_printf("wend %s", command);
    va_end(args);
    command_progress(NULL, 0, 0);
    command_print(name, "%s", message);
}

Error *command_usage_error(const char *command, const char *problem)
{
    Error *error = NULL;
    error_set(&error, WEND_ERROR_USAGE, "%s (see wend %s --help)", problem, command);
    return error;
}

int command_usage(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *problem = g_strdup_vprintf(format, args);
    va_end(args);
    return command_fail(command, command_usage_error(command, problem));
}

/* USAGE_ERROR: NULL, or for command_options_before. */
static gboolean parse(const char *command, const char *parameters, const char *summary,
                      const char *description, const GOptionEntry *entries, int *argc, char ***argv,
                      int *status, Error **usage_error)
{
    gboolean strict = usage_error != NULL;
    char *name = g_strdup_printf("wend %s", command);
    g_set_prgname(name); /* the synopsis begins with the program's name */
    g_free(name);
    GOptionContext *context = g_option_context_new(parameters);
    g_option_context_set_summary(context, summary);
    g_option_context_set_description(context, description);
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_strict_posix(context, strict);

    gboolean help = FALSE, version = FALSE;
    const GOptionEntry common_entries[] = {
        {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "Print this help and exit", NULL},
        {"version", 'V', 0, G_OPTION_ARG_NONE, &version, "Print the version and exit", NULL},
        G_OPTION_ENTRY_NULL};
    g_option_context_add_main_entries(context, common_entries, NULL);
    *argv = command_part_options(entries, strict, argc, *argv);

    GError *error = NULL;
    gboolean go_on = TRUE;
    if (!strict) /* other commands execute no program */
        command_ignore_pipe();
    if (!g_option_context_parse(context, argc, argv, &error)) {
        if (strict)
            *usage_error = command_usage_error(command, error->message);
        else
            *status = command_usage(command, "%s", error->message);
        g_error_free(error);
        go_on = FALSE;
    } else if (help) {
        char *text = g_option_context_get_help(context, FALSE, NULL);
        command_ignore_pipe();
        command_write(text, strlen(text));
        if (!g_str_has_suffix(text, "\n"))
            command_write("\n", 1);
        g_free(text);
        *status = command_finish(command, WEND_EXIT_OK);
        go_on = FALSE;
    } else if (version) {
        g_autofree char *text = g_strdup_printf("wend %s " PACKAGE_VERSION "\n", command);
        command_ignore_pipe();
        command_write(text, strlen(text));
        *status = command_finish(command, WEND_EXIT_OK);
        go_on = FALSE;
    }
    if (go_on && !strict)
        command_end_options(argc, *argv);
    g_option_context_free(context);
    return go_on;
}

gboolean command_options(const char *command, const char *parameters, const char *summary,
                         const char *description, const GOptionEntry *entries, int *argc,
                         char ***argv, int *status)
{
    return parse(command, parameters, summary, description, entries, argc, argv, status, NULL);
}

gboolean command_options_before(const char *command, const char *parameters, const char *summary,
                                const char *description, const GOptionEntry *entries, int *argc,
                                char ***argv, int *status, Error **error)
{
    return parse(command, parameters, summary, description, entries, argc, argv, status, error);
}

void command_progress(const char *what, guint64 done, guint64 all)
{
    static int terminal = -1;
    static gboolean shown;
    static gint64 last;
    if (terminal < 0)
        terminal = isatty(STDERR_FILENO);
    if (!terminal)
        return;
    if (!what) {
        if (shown)
            fputs("\r\033[K", stderr);
        shown = FALSE;
        return;
    }
    gint64 now = g_get_monotonic_time();
    if (now - last < G_USEC_PER_SEC / 4)
        return;
    last = now;
    shown = TRUE;
    fprintf(stderr, "\r%s: %d %%\033[K", what,
            all > 0 ? (int)(100.0 * (double)done / (double)all) : 0);
    fflush(stderr);
}

int command_finish(const char *command, int status)
{
    g_autofree char *name = g_strdup_printf("wend %s", command);
    command_progress(NULL, 0, 0);
    return command_close_output(name, status);
}

WendRead *command_open(const char *command, const char *path, int world, int *status)
{
    WendRead *r = wend_read_new();
    wend_read_set_memory(r, reading_limit());
    int result =
        world >= 0 ? wend_read_open_world(r, path, (guint32)world) : wend_read_open(r, path);
    if (result == WEND_READ_OK)
        return r;
    command_say(command, "%s", wend_read_message(r));
    wend_read_free(r);
    *status = -result;
    return NULL;
}
