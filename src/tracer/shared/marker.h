/* SPDX-License-Identifier: BSD-3-Clause */
/* marker.h: what Wend has made in a recording's directory, so that it removes nothing else.
 *
 * The directory has a file, MARKER_FILE, with the name of each archive and each folder of parts on
 * a line of its own, written before the archive or folder is. A name counts only if it is one that
 * Wend gives, and stands for what Wend makes: a regular file, or a folder with files of parts and
 * nothing else. Symbolic links are never followed. Also used by wend. C11 and POSIX, no GLib. */
#ifndef WEND_MARKER_H
#define WEND_MARKER_H

#include <stdbool.h>

#define MARKER_FILE ".wend"
/* Why no recording goes to a directory, of what marker_foreign found. */
#define MARKER_REFUSAL "has \"%s\", which is not part of a recording: give another name"

bool marker_add(const char *directory, const char *name); /* false: it cannot be written; errno */

/* What is in DIRECTORY that is not Wend's, or that Wend does not know to be: the name of one such
 * thing, malloc'ed. NULL: there is none, or (*ERROR, an errno) the directory cannot be read. */
char *marker_foreign(const char *directory, int *error);

/* Removes what is Wend's, but the archive of the first world, which the next one replaces. */
void marker_remove(const char *directory);

/* Removes what is Wend's in a folder of parts, and the folder if nothing is left in it. */
void marker_remove_parts(const char *folder);

#endif
