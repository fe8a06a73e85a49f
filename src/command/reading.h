/* SPDX-License-Identifier: BSD-3-Clause */
/* reading.h: opening recordings for the commands, and the memory that an archive may take. */
#ifndef WEND_READING_H
#define WEND_READING_H

#include <glib.h>

/* The option --max-size, for a command's table of options. */
#define READING_OPTION                                                                           \
    {                                                                                            \
        "max-size", 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)reading_max_size,                     \
            "Limit the memory of a recording, also 64M or 2G (default: 1024 times its size, 1G " \
            "to "                                                                                \
            "8G)",                                                                               \
            "SIZE"                                                                               \
    }
gboolean reading_max_size(const char *name, const char *value, gpointer unused, GError **error);
guint64 reading_limit(void); /* bytes; 0 if the option was not given */
/* The memory that an archive or a part of so many bytes may take: the option's limit, or the
 * default. */
guint64 reading_room(guint64 bytes);

/* Opens the recording at PATH, or one of its worlds (WORLD >= 0), within that limit. The caller
 * frees the program. On failure returns NULL with an error that names the file. */
struct WendProgram *reading_open(const char *path, int world, GError **error);

/* Makes the command end as wend_shortage does (shortage.h) if GLib has no memory left. GLib would
 * abort. */
void reading_guard(void);

#endif
