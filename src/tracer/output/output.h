/* SPDX-License-Identifier: BSD-3-Clause */
/* output.h: the directory of the recording. Only rank 0 uses it. */
#ifndef WEND_OUTPUT_H
#define WEND_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OUTPUT_PREFIX "wend-" /* of the default name */
#define OUTPUT_NEXT "-" /* followed by 2, 3, … for a further job under the same wend trace */

/* Finds the name, and makes the directory and those above it. Returns NULL on failure, with the
 * reason in *PROBLEM (malloc'ed; NULL: no memory). SPAWNED: this world was started by another one.
 * If it has the same output name, it gets an archive of its own in that directory. */
char *output_open(bool spawned, char **problem);
/* removes the directory if output_open made it and it is empty, because nothing was written */
void output_abandon(void);
bool output_is_claimed(void);       /* whether the folder for parts exists */
const char *output_directory(void); /* NULL before output_open */
const char *output_file(void);      /* name of the archive; NULL: that of the first world */
char *output_default_name(void);    /* malloc'ed; NULL: no memory */
const char *output_job(void);       /* the batch system's job id, or NULL */

/* -- parts.c -- */

/* The checkpoint files of this rank (lib/record/checkpoint-file.h): their place, owner and size.
 *
 * Ranks send each other no messages while the application runs, and only rank 0 knows the
 * recording's directory. So rank 0 makes a folder in it with a file that identifies the job. The
 * other ranks look for that file, and write only into that folder.
 *
 * parts_open and functions marked "application" run in the application's thread. All others run
 * in the watcher, and use system calls only. */

void parts_open(void); /* application: notes the rank, and where to look */
void parts_make(void); /* application, rank 0: makes the folder in the directory */
/* application, rank 0: all data is in the archive, or is not to be kept */
void parts_remove(void);

bool parts_find(void);                  /* looks for the folder; false: it is not there (yet) */
const char *parts_directory(void);      /* directory of the recording; NULL: not found */
const char *parts_directory_said(void); /* the same as a word of a command (printable.h) */
/* Makes a folder of the parts if none was found, and nothing has the directory's name: this host
 * cannot see the file system of rank 0. Returns whether there is a folder. */
bool parts_make_own(void);
/* A number that ranks of the same job on one host have in common. */
uint64_t parts_job(void);
/* With WEND_FORCE, another run may have begun in the directory since: the parts are of that run. */
bool parts_replaced(void);
bool parts_any(void); /* whether a rank has saved its part; also in signal handlers */
/* whether this rank is the first that asks; never, if no file can be made */
bool parts_first(void);
/* false: there is no room, or not enough within the share of WEND_DISK */
bool parts_write(const void *part, size_t bytes);

/* -- marker.c -- */

/* The list of files that Wend has made in a recording's directory, so that it removes nothing
 * else.
 *
 * The directory has a file MARKER_FILE with the name of each archive and each folder of parts on
 * a line of its own. A name is written before the archive or folder is made. It counts only if it
 * is a name that Wend gives, and stands for a file that Wend makes: a regular file, or a folder
 * that has only files of parts. Symbolic links are never followed. wend uses it, too. C11 and
 * POSIX, no GLib. */

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
