/* SPDX-License-Identifier: BSD-3-Clause */
/* marker.h: the list of files that Wend has made in a recording's directory, so that it removes
 * nothing else.
 *
 * The directory has a file MARKER_FILE with the name of each archive and each folder of parts on a
 * line of its own. A name is written before the archive or folder is made. It counts only if it is
 * a name that Wend gives, and stands for a file that Wend makes: a regular file, or a folder that
 * has only files of parts. Symbolic links are never followed. wend uses it, too. C11 and POSIX, no
 * GLib. */
#ifndef WEND_MARKER_H
#define WEND_MARKER_H

#include <stdbool.h>

#define MARKER_FILE ".wend"
/* The message for a directory in which marker_foreign found another file. */
#define MARKER_REFUSAL "has \"%s\", which is not part of a recording: give another name"

bool marker_add(const char *directory, const char *name); /* false: cannot be written; sets errno */

/* The name of a file in DIRECTORY that is not known to be Wend's, malloc'ed. NULL if there is none,
 * or if the directory cannot be read; *ERROR is then an errno. */
char *marker_foreign(const char *directory, int *error);

/* Removes Wend's files: from now on nobody reads what an earlier run has left. */
void marker_remove(const char *directory);

/* Removes Wend's files in a folder of parts, and the folder if it is then empty. */
void marker_remove_parts(const char *folder);

#endif
