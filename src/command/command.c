/* SPDX-License-Identifier: BSD-3-Clause */
/* command.c: exit codes, error lines, options, progress and the end of standard output, for all
 * subcommands. */
#include "config.h"

#include "command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "message.h"
#include "options.h"
#include "reading.h"

int wend_command_status(const GError *error)
{
    if (error->domain == WEND_ERROR)
        return error->code;
    return error->domain == G_OPTION_ERROR ? WEND_EXIT_USAGE : WEND_EXIT_SYSTEM;
}

int wend_command_fail(const char *command, GError *error)
{
    int status = wend_command_status(error);
    wend_command_say(command, "%s", error->message);
    g_error_free(error);
    return status;
}

void wend_command_say(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args),
                    *name = g_strdup_printf("wend %s", command);
    va_end(args);
    wend_command_progress(NULL, 0, 0);
    message_print(name, "%s", message);
}

GError *wend_command_usage_error(const char *command, const char *problem)
{
    return g_error_new(WEND_ERROR, WEND_ERROR_USAGE, "%s (see wend %s --help)", problem, command);
}

int wend_command_usage(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *problem = g_strdup_vprintf(format, args);
    va_end(args);
    return wend_command_fail(command, wend_command_usage_error(command, problem));
}

/* USAGE_ERROR: NULL, or for wend_command_options_before. */
static gboolean parse(const char *command, const char *parameters, const char *summary,
                      const char *description, const GOptionEntry *entries, int *argc, char ***argv,
                      int *status, GError **usage_error)
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
    *argv = options_part(entries, strict, argc, *argv);

    GError *error = NULL;
    gboolean go_on = TRUE;
    if (!strict) /* other commands execute no program */
        message_ignore_pipe();
    if (!g_option_context_parse(context, argc, argv, &error)) {
        if (strict)
            *usage_error = wend_command_usage_error(command, error->message);
        else
            *status = wend_command_usage(command, "%s", error->message);
        g_error_free(error);
        go_on = FALSE;
    } else if (help) {
        char *text = g_option_context_get_help(context, FALSE, NULL);
        message_ignore_pipe();
        message_write(text, strlen(text));
        if (!g_str_has_suffix(text, "\n"))
            message_write("\n", 1);
        g_free(text);
        *status = wend_command_finish(command, WEND_EXIT_OK);
        go_on = FALSE;
    } else if (version) {
        g_autofree char *text = g_strdup_printf("wend %s " PACKAGE_VERSION "\n", command);
        message_ignore_pipe();
        message_write(text, strlen(text));
        *status = wend_command_finish(command, WEND_EXIT_OK);
        go_on = FALSE;
    }
    if (go_on && !strict)
        options_end(argc, *argv);
    g_option_context_free(context);
    return go_on;
}

gboolean wend_command_options(const char *command, const char *parameters, const char *summary,
                              const char *description, const GOptionEntry *entries, int *argc,
                              char ***argv, int *status)
{
    return parse(command, parameters, summary, description, entries, argc, argv, status, NULL);
}

gboolean wend_command_options_before(const char *command, const char *parameters,
                                     const char *summary, const char *description,
                                     const GOptionEntry *entries, int *argc, char ***argv,
                                     int *status, GError **error)
{
    return parse(command, parameters, summary, description, entries, argc, argv, status, error);
}

void wend_command_progress(const char *what, guint64 done, guint64 all)
{
    static int terminal = -1;
    static gboolean shown;
    static gint64 last;
    if (terminal < 0)
        terminal = isatty(STDERR_FILENO);
    if (!terminal)
        return;
    if (what == NULL) {
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

gboolean wend_command_write(const char *text, gsize n)
{
    return message_write(text, n);
}

int wend_command_finish(const char *command, int status)
{
    g_autofree char *name = g_strdup_printf("wend %s", command);
    wend_command_progress(NULL, 0, 0);
    return message_finish(name, status);
}

WendRead *wend_command_open(const char *command, const char *path, int world, int *status)
{
    WendRead *r = wend_read_new();
    wend_read_set_memory(r, reading_limit());
    int result =
        world >= 0 ? wend_read_open_world(r, path, (guint32)world) : wend_read_open(r, path);
    if (result == WEND_READ_OK)
        return r;
    wend_command_say(command, "%s", wend_read_message(r));
    wend_read_free(r);
    *status = -result;
    return NULL;
}
