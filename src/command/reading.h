/* SPDX-License-Identifier: BSD-3-Clause */
/* reading.h: opening recordings for the commands: the memory that an archive may take, and what a
 * recording lacks. */
#ifndef WEND_READING_H
#define WEND_READING_H

#include <glib.h>

#include "lib/base/error.h"
#include "wend/read.h"

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
struct WendProgram *reading_open(const char *path, int world, Error **error);

/* Makes the command end as memory_short does (memory.h) if GLib has no memory left. GLib would
 * abort. */
void reading_guard(void);

/* What a recording lacks, as its own calls tell: the calls of some rank did not come to Wend, or
 * recording was off. */
typedef struct {
    guint64 left_out; /* calls that were made while recording was off (MPI_Pcontrol) */
    guint64 unsent;   /* receives that completed, and whose sends are not there */
    /* calls that returned, and waited for a call that is not there: of a collective operation, or a
     * receive that MPI_Ssend needs */
    guint64 waiting;
} Missing;

/* Finds what R lacks. Sends that nobody received do not count: MPI lets them be. Nothing is found
 * of a run in which a rank did not come to MPI_Finalize. It takes time in proportion to the calls:
 * with more than MOST of them the last two are not looked for. Returns a status of wend/read.h. */
int missing_find(WendRead *r, guint64 most, Missing *missing);

/* Text for people: "10 receives have no send". NULL: UNSENT and WAITING are 0. Newly allocated. */
char *missing_text(const Missing *missing);

#endif
