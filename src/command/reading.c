/* SPDX-License-Identifier: BSD-3-Clause */
/* reading.c: see reading.h. */
#include "config.h"

#include "reading.h"

#include <string.h>
#include <unistd.h>

#include "lib/base/allowance.h"
#include "lib/base/shortage.h"
#include "lib/base/error.h"
#include "lib/read/program.h"
#include "message.h"
#include "src/tracer/shared/shared.h"

static guint64 limit;

gboolean reading_max_size(const char *name, const char *value, gpointer unused, GError **error)
{
    long bytes;
    (void)unused;
    if (settings_size(value, &bytes) && bytes > 0) {
        limit = (guint64)bytes;
        return TRUE;
    }
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "%s=%s: not a number of bytes from 1 on, such as 64M", name, value);
    return FALSE;
}

guint64 reading_limit(void)
{
    return limit;
}

WendProgram *reading_open(const char *path, int world, GError **error)
{
    if (world >= 0)
        return wend_program_open_world(path, (guint)world, limit, error);
    return wend_program_open_within(path, limit, error);
}

guint64 reading_room(guint64 bytes)
{
    if (limit > 0)
        return limit;
    return bytes > ALLOWANCE_MOST / ALLOWANCE_FACTOR
               ? ALLOWANCE_MOST
               : MAX(bytes * ALLOWANCE_FACTOR, ALLOWANCE_LEAST);
}

/* GLib's handler of fatal messages: there is no memory, or an assertion failed. */
static void end_command(const char *domain, GLogLevelFlags level, const char *message,
                        gpointer unused)
{
    if (!(level & G_LOG_LEVEL_ERROR)) {
        g_log_default_handler(domain, level, message, unused);
        return;
    }
    if (strstr(message, "failed to allocate"))
        wend_shortage();
    message_print(g_get_prgname(), "%s", message);
    _exit(WEND_ERROR_SYSTEM);
}

void reading_guard(void)
{
    g_log_set_default_handler(end_command, NULL);
}
