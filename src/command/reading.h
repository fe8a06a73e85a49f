/* SPDX-License-Identifier: BSD-3-Clause */
/* reading.h: what the commands that read recordings share: how much memory an archive may take,
 * opening, and the end if there is none. */
#ifndef WEND_READING_H
#define WEND_READING_H

#include <glib.h>

/* The option --max-size, for a command's table of options. */
#define READING_OPTION                                                                            \
    {                                                                                             \
        "max-size", 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)reading_max_size,                      \
            "Memory that a recording may take, also 64M or 2G (default: 1024 times its size, 1G " \
            "to 8G)",                                                                             \
            "SIZE"                                                                                \
    }
gboolean reading_max_size(const char *name, const char *value, gpointer unused, GError **error);
guint64 reading_limit(void); /* bytes; 0: the option was not given */
/* what may be made of so many bytes: the limit, or by their size */
guint64 reading_room(guint64 bytes);

/* Opens the recording at PATH, or one of its worlds (WORLD >= 0), within that limit. */
struct WendProgram *reading_open(const char *path, int world, GError **error);

/* From now on, what GLib has no memory for ends the command as wend_shortage does (shortage.h).
 * GLib would abort. */
void reading_guard(void);

#endif
