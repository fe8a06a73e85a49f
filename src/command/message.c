/* SPDX-License-Identifier: BSD-3-Clause */
/* message.c: see message.h. */
#include "config.h"

#include "message.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/printable.h"
#include "lib/base/error.h"

static int write_error; /* errno of the first failed write */

void message_print(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    g_autofree char *raw = g_strdup_printf("%s: %s", command, message);
    gboolean utf8 = wend_printable_utf8();
    gsize n = strlen(raw), length = wend_printable((char[1]){0}, 1, raw, n, utf8);
    g_autofree char *line = g_malloc(length + 2);
    wend_printable(line, length + 1, raw, n, utf8);
    line[length] = '\n';
    fwrite(line, 1, length + 1, stderr);
    fflush(stderr);
}

void message_ignore_pipe(void)
{
    signal(SIGPIPE, SIG_IGN);
}

gboolean message_write(const char *text, gsize n)
{
    errno = 0;
    if (fwrite(text, 1, n, stdout) == n)
        return TRUE;
    if (write_error == 0)
        write_error = errno != 0 ? errno : EIO;
    return FALSE;
}

int message_finish(const char *command, int status)
{
    errno = 0;
    if (fclose(stdout) != 0 && write_error == 0)
        write_error = errno != 0 ? errno : EIO;
    if (write_error == 0 || write_error == EPIPE)
        return status;
    message_print(command, "cannot write the output: %s", g_strerror(write_error));
    return WEND_ERROR_SYSTEM;
}

void message_end_short_of_memory(void)
{
    static const char line[] = ": out of memory\n";
    const char *name = program_invocation_short_name;
    if (write(STDERR_FILENO, name, strlen(name)) > 0)
        (void)!write(STDERR_FILENO, line, strlen(line));
    _exit(WEND_ERROR_SYSTEM);
}
